//! The arguments of the subcommand `detect`.

use std::path::PathBuf;

use super::shard::Shard;
use crate::input::ReadOptions;
use crate::options::{BackendOptions, ColorOptions, DetectorOptions, Format, whole};

/// Finds corners, or blobs, in images
///
/// Several images are worked on at once. One that cannot be read is reported and counted, and does not
/// end the others; the exit code is then 1.
#[derive(clap::Args)]
pub struct Args {
    /// Image files, or folders of them (PNG, JPEG, BMP, TIFF, WebP, PNM); - for standard input.
    /// Folders in folders are not searched
    #[arg(required_unless_present = "print_config", value_name = "INPUT")]
    pub(super) inputs: Vec<PathBuf>,
    /// Write the keypoints as .csv; - for standard output; a folder for several inputs
    #[arg(long, value_name = "FILE|-", help_heading = "Outputs")]
    pub(super) csv: Option<PathBuf>,
    /// Write the image with the keypoints drawn in, as .png or .jpg; a folder for several inputs
    #[arg(long, value_name = "FILE", help_heading = "Outputs")]
    pub(super) overlay: Option<PathBuf>,
    /// Write the response map as .npy or .tiff (f32), or as a picture of it (.png); a folder for
    /// several inputs
    #[arg(long, value_name = "FILE", help_heading = "Outputs")]
    pub(super) response: Option<PathBuf>,
    #[cfg_attr(
        feature = "parquet",
        doc = "Write the keypoints of all inputs to one table, as .csv or .parquet"
    )]
    #[cfg_attr(not(feature = "parquet"), doc = "Write the keypoints of all inputs to one table, as .csv")]
    #[arg(long, value_name = "FILE", help_heading = "Outputs")]
    pub(super) table: Option<PathBuf>,
    /// Leave out what an earlier run with --resume has done, with the same options
    ///
    /// What is done is kept in TABLE.part or, without --table, in the first output's name and .part.
    /// The file stays there, and can be removed when the work is over. An image is done again if
    /// its size or its time of change is another one, if it failed, or if its outputs are not as
    /// they were written. Images may be added between runs, but not taken away.
    ///
    /// Temporary files of killed runs, called .harris- and six letters, are removed from the
    /// folders of the outputs.
    #[arg(long, help_heading = "Outputs")]
    pub(super) resume: bool,
    /// Print a line of JSON for each input, and one for all
    #[arg(long, help_heading = "Outputs")]
    pub(super) json: bool,
    /// Print the configuration as a file for --config, and do nothing else
    #[arg(long, value_name = "FORMAT", num_args = 0..=1, default_missing_value = "toml", help_heading = "Outputs")]
    pub(super) print_config: Option<Format>,
    /// Mask: image of the inputs' size; keypoints are sought where it is not zero
    #[arg(long, value_name = "FILE", help_heading = "Input")]
    pub(super) mask: Option<PathBuf>,
    /// Take one part of N of the inputs, such as 1/4: for several machines
    #[arg(long, value_name = "I/N", help_heading = "Input")]
    pub(super) shard: Option<Shard>,
    /// Images to work on at once, 1 to 1024; by default one for each hardware thread
    #[arg(long, value_name = "NUMBER", value_parser = whole::<u16>(1..=1024), help_heading = "Input")]
    pub(super) jobs: Option<u16>,
    #[command(flatten)]
    pub(super) color: ColorOptions,
    #[command(flatten)]
    pub(super) read: ReadOptions,
    #[command(flatten)]
    pub(super) detector: DetectorOptions,
    #[command(flatten)]
    pub(super) backend: BackendOptions,
}
