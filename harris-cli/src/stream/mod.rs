//! Finds the corners of a video's frames as they come, and reports the speed.
//!
//! ```sh
//! ffmpeg -i video.mp4 -pix_fmt gray -f yuv4mpegpipe - | harris stream -
//! ```

mod engine;
mod frames;
mod run;
mod table;
mod tally;

use std::io::Write;
use std::path::PathBuf;
use std::process::ExitCode;

use crate::input::ReadOptions;
use crate::messages::{self, wrong};
use crate::options::{BackendOptions, ColorOptions, DetectorOptions, whole};
use crate::output::{self, FRAMES, OutputPlan, Target};
use crate::overlay;
use anyhow::{Result, bail};
use harris_core::{Error, Keypoint};
use table::Table;

pub(crate) use engine::Engine;
pub(crate) use frames::{Frame, Source};
pub(crate) use run::{Ended, Overlays, PaceOptions, Report, Run, RunOptions};
pub(crate) use table::Rows;
pub(crate) use tally::Counts;

/// Finds the corners of a video's frames as they come, and reports the speed
///
/// A frame that cannot be read is reported and counted, and the exit code is then 1. So it is for a
/// video that does not end exactly after a frame, whose other frames are reported as usual. Ctrl-C
/// ends the program with the summary of the frames so far.
#[derive(clap::Args)]
pub struct Args {
    /// Folder of images, image, or video in Y4M (luma of 8 to 16 bits, every colour space that
    /// ffmpeg writes); - for a video on standard input
    #[arg(value_name = "INPUT")]
    input: PathBuf,
    /// Write the keypoints of all frames to one table, as .csv with the columns frame, x, y,
    /// response, scale and error; - for standard output. Frames are counted from 0
    #[arg(long, value_name = "FILE|-", help_heading = "Outputs")]
    table: Option<PathBuf>,
    /// Write each frame with its keypoints drawn in, as FOLDER/000000.png and so on
    #[arg(long, value_name = "FOLDER", help_heading = "Outputs")]
    overlay: Option<PathBuf>,
    /// Print the summary as JSON
    #[arg(long, help_heading = "Outputs")]
    json: bool,
    /// Number of times to read the input, 1 to 1000000
    #[arg(
        long,
        value_name = "TIMES",
        default_value_t = 1,
        value_parser = whole::<u32>(1..=1_000_000),
        help_heading = "Input"
    )]
    repeat: u32,
    #[command(flatten)]
    color: ColorOptions,
    #[command(flatten)]
    read: ReadOptions,
    #[command(flatten)]
    detector: DetectorOptions,
    #[command(flatten)]
    backend: BackendOptions,
    #[command(flatten)]
    pace: PaceOptions,
}

/// Runs the subcommand.
///
/// # Errors
/// What failed, for one line.
pub fn run(mut args: Args) -> Result<ExitCode> {
    if args.repeat > 1 && args.input.as_os_str() == "-" {
        bail!(wrong("standard input can be read only once, without --repeat"));
    }
    args.detector.check_stdin([&args.input])?;
    let choice = args.detector.choice()?;
    let source = Source::new(&args.input, args.color.color(&choice), &args.read)?;
    let mut plan = OutputPlan::new();
    plan.reads("input", source.files());
    if let Some(folder) = &args.overlay {
        plan.folder("--overlay", folder, Overlays::takes)?;
    }
    let table = args.table.as_ref().map(|path| plan.file("--table", path, &FRAMES)).transpose()?;
    let to_stdout = table.as_ref().is_some_and(Target::is_standard_output);
    if args.json && to_stdout {
        bail!(wrong("--json needs standard output for itself"));
    }
    plan.finish()?;
    let frames = source.open(false)?;
    let in_flight = args.pace.in_flight.into();
    let mut engine = Engine::detector(&mut args.backend, &choice.detection, in_flight)?;
    let options = RunOptions {
        backend: &args.backend,
        rate: args.pace.rate,
        repeat: args.repeat,
        searches: false,
        keep_planes: false,
        print_on_signals: (!to_stdout).then_some(args.json),
    };
    let mut ended = None;
    let written = write_to(table.as_ref(), |out| {
        let table = out.map(Table::new).transpose()?;
        let report = KeypointReport { table, overlays: args.overlay.clone().map(Overlays) };
        let (mut report, how) = Run::all(report, &source, frames, &mut engine, &options);
        ended = Some(how);
        report.table.as_mut().map_or(Ok(()), Table::finish)
    });
    conclude(ended, written, to_stdout, args.json)
}

/// Writes to the place of a result, if there is one.
///
/// # Errors
/// See [`Target::write`].
pub(crate) fn write_to(
    target: Option<&Target>,
    content: impl FnOnce(Option<&mut dyn Write>) -> Result<()>,
) -> Result<()> {
    match target {
        None => content(None),
        Some(target) => target.write(|out| content(Some(out))),
    }
}

/// Prints the summary of a run that has begun. Then tells what ended it, and whether its results
/// could be written.
///
/// # Errors
/// A result could not be written, or the run ended before the last frame.
pub(crate) fn conclude(
    ended: Option<Ended>,
    written: Result<()>,
    to_stdout: bool,
    json: bool,
) -> Result<ExitCode> {
    // What was found is told before what ended it.
    let Some((summary, ended)) = ended else { return written.map(|()| ExitCode::SUCCESS) };
    match to_stdout {
        true => summary.text().lines().for_each(output::message),
        false => summary.print(json)?,
    }
    // A table of the frames before a fault is complete.
    written.and(ended)?;
    Ok(if summary.failed > 0 { ExitCode::FAILURE } else { ExitCode::SUCCESS })
}

/// The keypoints of frames, as a table and as overlays.
struct KeypointReport<W: Write> {
    table: Option<Table<W>>,
    overlays: Option<Overlays>,
}

impl<W: Write> Report for KeypointReport<W> {
    type Output = Vec<Keypoint>;
    type Found = Vec<Keypoint>;

    fn examine(&mut self, keypoints: Vec<Keypoint>) -> Result<Vec<Keypoint>, Error> {
        Ok(keypoints)
    }

    fn count(&self, keypoints: &Vec<Keypoint>, counts: &mut Counts) -> String {
        counts.keypoints += keypoints.len();
        messages::count(keypoints.len(), "keypoint")
    }

    fn write(
        &mut self,
        number: usize,
        frame: Option<&mut Frame>,
        found: Result<&Vec<Keypoint>, &str>,
    ) -> Result<()> {
        if let Some(table) = &mut self.table {
            table.add(number, found.map(Vec::as_slice));
        }
        if let (Some(overlays), Some(frame), Ok(keypoints)) = (&self.overlays, frame, found) {
            overlays.write(number, &overlay::draw(&frame.picture, keypoints)?)?;
        }
        Ok(())
    }
}
