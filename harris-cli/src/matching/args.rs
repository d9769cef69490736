//! The arguments of the subcommand `match`.

use std::path::PathBuf;

use super::location::HomographyOptions;
use super::pipeline::MatchingOptions;
use super::table::TableOptions;
use crate::input::ReadOptions;
use crate::options::{BackendOptions, ColorOptions, DetectorOptions, whole};

/// Finds an object in scenes by matching features
///
/// The object's keypoints and those of a scene are matched by their descriptors. If enough matches
/// agree, the object is found. Then a homography maps the pixels of the object, the first image, to
/// those of the scene, the second. Matches are from the scene (query) to the object (train).
#[derive(clap::Args)]
pub struct Args {
    /// Image of the object; - for standard input
    #[arg(value_name = "OBJECT")]
    pub(super) object: PathBuf,
    /// Images to find it in, or folders of them. Folders in folders are not searched
    #[arg(required = true, value_name = "SCENE")]
    pub(super) scenes: Vec<PathBuf>,
    /// Draw the matches side by side, as .png or .jpg; a folder for several scenes
    #[arg(short, long, value_name = "FILE", help_heading = "Outputs")]
    pub(super) out: Option<PathBuf>,
    /// Fraction of the matches that --out draws, the nearest first, above 0 and at most 1
    #[arg(
        long,
        value_name = "FRACTION",
        default_value_t = 0.1,
        value_parser = fraction,
        help_heading = "Outputs"
    )]
    pub(super) top: f64,
    /// Write the matches as .csv with the columns query_x, query_y, train_x, train_y, distance and
    /// inlier; - for standard output; a folder for several scenes. Query is a pixel of the scene, and
    /// train one of the object. An inlier (1, else 0) agrees with the homography
    #[arg(long, value_name = "FILE|-", help_heading = "Outputs")]
    pub(super) pairs: Option<PathBuf>,
    /// Print a line of JSON for the object and for each scene, or for each row of --sizes. A scene's
    /// homography, by rows, maps pixels of the object to pixels of the scene. Its corners are where
    /// those of the object lie
    #[arg(long, help_heading = "Outputs")]
    pub(super) json: bool,
    #[command(flatten)]
    pub(super) homography: HomographyOptions,
    /// Do not search for the object's outline
    #[arg(long, help_heading = "Homography")]
    pub(super) no_homography: bool,
    /// Number of runs for each scene, 1 to 10000; the medians of their times are printed
    #[arg(
        long,
        value_name = "NUMBER",
        default_value_t = 1,
        value_parser = whole::<u16>(1..=10_000),
        help_heading = "Input"
    )]
    pub(super) repeat: u16,
    #[command(flatten)]
    pub(super) color: ColorOptions,
    #[command(flatten)]
    pub(super) read: ReadOptions,
    #[command(flatten)]
    pub(super) matching: MatchingOptions,
    #[command(flatten)]
    pub(super) detector: DetectorOptions,
    #[command(flatten)]
    pub(super) backend: BackendOptions,
    #[command(flatten)]
    pub(super) table: TableOptions,
}

fn fraction(text: &str) -> Result<f64, String> {
    let fraction = text.parse().ok().filter(|fraction| *fraction > 0.0 && *fraction <= 1.0);
    fraction.ok_or_else(|| "a number above 0 and at most 1 is needed".to_owned())
}
