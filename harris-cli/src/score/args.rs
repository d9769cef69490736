//! The arguments of the subcommand `score`.

use std::path::PathBuf;

use crate::input::ReadOptions;
use crate::options::{BackendOptions, ColorOptions, DetectorOptions};

/// The largest tolerance, in pixels.
const MAX_TOLERANCE: f64 = 1e6;

/// Scores keypoints against known corners: precision, recall and localisation error
///
/// A keypoint is a hit if it is paired with a corner. Pairs are one to one, the nearest first, none
/// farther apart than the tolerance. Precision is the fraction of keypoints that are hits, and
/// recall the fraction of corners that are hit. The errors are the distances of hits from their
/// corners, in pixels.
///
/// Several images have one row each, and all of them together the last row. An image that cannot be
/// scored is reported and counted, and does not end the others; the exit code is then 1.
#[derive(clap::Args)]
pub struct Args {
    /// Image files, or folders of them (PNG, JPEG, BMP, TIFF, WebP, PNM); - for standard input.
    /// Folders in folders are not searched
    #[arg(required = true, value_name = "IMAGE")]
    pub(super) inputs: Vec<PathBuf>,
    /// Known corners: CSV with the columns x and y, and for several images file; or a folder with
    /// STEM.csv for each image. Rows are those of an image if file is its whole path, or else the
    /// one file of its name
    #[arg(long, value_name = "FILE|FOLDER", help_heading = "Scoring")]
    pub(super) truth: PathBuf,
    /// Score these keypoints instead of detecting: CSV or a folder, as --csv and --table of detect
    /// write them. Images are then read for --picture alone
    #[arg(
        long,
        value_name = "FILE|FOLDER",
        help_heading = "Scoring",
        conflicts_with_all = [
            "DetectorOptions", "ConfigOptions", "BlobOptions", "BackendOptions", "ColorOptions", "mask"
        ]
    )]
    pub(super) keypoints: Option<PathBuf>,
    /// Largest distance of a hit from its corner, in pixels
    #[arg(
        long,
        value_name = "PIXELS",
        default_value = "4",
        value_parser = tolerance,
        help_heading = "Scoring"
    )]
    pub(super) tolerance: f64,
    /// Write the image, as .png or .jpg, with green rings around hits, yellow rings around false
    /// keypoints, and red crosses on missed corners; a folder for several images
    #[arg(long, value_name = "FILE|FOLDER", help_heading = "Outputs")]
    pub(super) picture: Option<PathBuf>,
    /// Write the table as .csv; - for standard output
    #[arg(long, value_name = "FILE|-", help_heading = "Outputs")]
    pub(super) csv: Option<PathBuf>,
    /// Print a line of JSON for each image, and one for all
    #[arg(long, help_heading = "Outputs")]
    pub(super) json: bool,
    /// Mask: image of the inputs' size; keypoints are sought where it is not zero
    #[arg(long, value_name = "FILE", help_heading = "Input")]
    pub(super) mask: Option<PathBuf>,
    #[command(flatten)]
    pub(super) color: ColorOptions,
    #[command(flatten)]
    pub(super) read: ReadOptions,
    #[command(flatten)]
    pub(super) detector: DetectorOptions,
    #[command(flatten)]
    pub(super) backend: BackendOptions,
}

/// Parses a tolerance.
fn tolerance(text: &str) -> Result<f64, String> {
    match text.parse() {
        Ok(pixels) if (0.0..=MAX_TOLERANCE).contains(&pixels) => Ok(pixels),
        _ => Err(format!("a tolerance is a number of pixels from 0 to {MAX_TOLERANCE}")),
    }
}

#[cfg(test)]
mod tests {
    use super::tolerance;

    #[test]
    fn tolerances_are_finite_and_not_negative() {
        for (text, pixels) in [("0", 0.0), ("4", 4.0), ("0.5", 0.5), ("1e6", 1e6)] {
            assert_eq!(tolerance(text), Ok(pixels));
        }
        for text in ["-1", "-1e-9", "1000000.1", "inf", "nan", "", "four", "4 px"] {
            assert!(tolerance(text).is_err(), "{text}");
        }
    }
}
