//! The arguments of the subcommand `track`.

use std::path::PathBuf;

use crate::input::ReadOptions;
use crate::matching::{HomographyOptions, MatchingOptions};
use crate::options::{BackendOptions, ColorOptions, DetectorOptions};
use crate::stream::PaceOptions;

/// Finds an object in each frame of a video by matching features
///
/// Each frame is matched with the object by itself, as a scene of `match` is. A frame without the
/// object is no error. One that cannot be read is reported and counted, and the exit code is then 1,
/// as it is for a video that is cut off. Ctrl-C ends the program with the summary of the frames so
/// far, and without --out and --table.
#[derive(clap::Args)]
pub struct Args {
    /// Image of the object; - for standard input
    #[arg(value_name = "OBJECT")]
    pub(super) object: PathBuf,
    /// Folder of images, image, or video in Y4M (luma of 8 to 16 bits, every colour space that
    /// ffmpeg writes); - for a video on standard input. --raw is for the video alone
    #[arg(value_name = "VIDEO")]
    pub(super) video: PathBuf,
    /// Write the video with the object's outline as .y4m, with the colours and the rate of VIDEO; -
    /// for standard output. Images become a video of 25 frames a second, in gray without --color.
    /// A frame that cannot be read is left out
    #[arg(short, long, value_name = "FILE|-", help_heading = "Outputs")]
    pub(super) out: Option<PathBuf>,
    /// Write a row for each frame, as .csv with the columns frame, keypoints, matches, inliers,
    /// top_left_x, top_left_y, top_right_x, top_right_y, bottom_right_x, bottom_right_y,
    /// bottom_left_x, bottom_left_y and error; - for standard output. Frames are counted from 0.
    /// Without the object there are no inliers, and the corners are empty
    #[arg(long, value_name = "FILE|-", help_heading = "Outputs")]
    pub(super) table: Option<PathBuf>,
    /// Write each frame with the object's outline, as FOLDER/000000.png and so on; those of a video in
    /// gray
    #[arg(long, value_name = "FOLDER", help_heading = "Outputs")]
    pub(super) overlay: Option<PathBuf>,
    /// Print the summary as JSON
    #[arg(long, help_heading = "Outputs")]
    pub(super) json: bool,
    #[command(flatten)]
    pub(super) homography: HomographyOptions,
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
    pub(super) pace: PaceOptions,
}
