//! Finds the corners of a video's frames as they come, and reports the speed.
//!
//! ```sh
//! ffmpeg -i video.mp4 -pix_fmt gray -f yuv4mpegpipe - | harris stream -
//! ```

mod engine;
mod frames;
mod table;
mod tally;

use std::ffi::OsStr;
use std::io::Write;
use std::path::{Path, PathBuf};
use std::process::ExitCode;
use std::time::{Duration, Instant};

use crate::input::{Picture, ReadOptions};
use crate::messages::{self, wrong};
use crate::options::{BackendOptions, ColorOptions, DetectorOptions, number, whole};
use crate::output::{self, FRAMES, Format, OutputPlan, Target};
use crate::overlay;
use anyhow::{Result, bail};
use engine::{Done, Engine};
use frames::{Frames, Missing, Source};
use indicatif::{ProgressBar, ProgressStyle};
use table::Table;
use tally::{Summary, Tally};

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
    /// Maximum number of frames per second, 0.001 to 1000000; by default all are processed
    #[arg(
        long,
        value_name = "FRAMES",
        value_parser = number(0.001..=1e6, "frames per second"),
        help_heading = "Input"
    )]
    rate: Option<f64>,
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
    /// Frames in flight on each GPU, 1 to 1024; the CPU works on one frame at a time
    #[arg(
        long,
        value_name = "NUMBER",
        default_value_t = 6,
        value_parser = whole::<u16>(1..=1024),
        help_heading = "Backend"
    )]
    in_flight: u16,
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
        plan.folder("--overlay", folder, is_overlay)?;
    }
    let table = args.table.as_ref().map(|path| plan.file("--table", path, &FRAMES)).transpose()?;
    let to_stdout = table.as_ref().is_some_and(Target::is_standard_output);
    if args.json && to_stdout {
        bail!(wrong("--json needs standard output for itself"));
    }
    plan.finish()?;
    let frames = source.open()?;
    let mut engine = Engine::new(&mut args.backend, &choice.detection, args.in_flight.into())?;
    let mut found = None;
    let written = match &table {
        None => {
            found = Some(detect(&args, &source, frames, &mut engine, None::<Table<Vec<u8>>>)?);
            Ok(())
        }
        Some(target) => target.write(|out| {
            found = Some(detect(&args, &source, frames, &mut engine, Some(Table::new(out)?))?);
            Ok(())
        }),
    };
    // What was found is told before what ended it.
    let mut code = ExitCode::SUCCESS;
    if let Some((summary, ended)) = found {
        match to_stdout {
            true => summary.text().lines().for_each(output::message),
            false => summary.print(args.json)?,
        }
        if summary.failed > 0 {
            code = ExitCode::FAILURE;
        }
        // A table of the frames before a fault is complete.
        written.and(ended)?;
    } else {
        written?;
    }
    Ok(code)
}

/// Detects in all frames. Returns the summary, and what ended the video before its end.
///
/// # Errors
/// The table cannot be written.
fn detect<W: Write>(
    args: &Args,
    source: &Source,
    mut frames: Frames,
    engine: &mut Engine,
    table: Option<Table<W>>,
) -> Result<(Summary, Result<()>)> {
    let mut log = Log::new(args.overlay.clone(), args.rate, table);
    if args.table.as_deref() != Some(Path::new("-")) {
        log.tally.print_on_signals(args.backend.shown(engine.describe()), args.json);
    }
    let mut ended = log.detect(&mut frames, engine);
    for _ in 1..args.repeat {
        ended = ended.and_then(|()| log.detect(&mut source.open()?, engine));
    }
    log.progress.finish_and_clear();
    if let Some(table) = &mut log.table {
        table.finish()?;
    }
    let error = ended.as_ref().err().map(|error| format!("{error:#}"));
    Ok((log.tally.summary(args.backend.shown(engine.describe()), error), ended))
}

/// Returns the name of a frame's overlay.
fn overlay_name(number: usize) -> String {
    format!("{number:06}.png")
}

/// Whether a file may be a frame's overlay.
fn is_overlay(name: &OsStr) -> bool {
    let number = name.to_str().and_then(|name| name.strip_suffix(".png")?.parse().ok());
    number.is_some_and(|number| name == overlay_name(number).as_str())
}

/// The state of all frames so far.
struct Log<W: Write> {
    table: Option<Table<W>>,
    overlay: Option<PathBuf>,
    rate: Option<f64>,
    progress: ProgressBar,
    tally: Tally,
    start: Instant,
    /// The number of frames given to the detector.
    taken: usize,
    /// The time of the last progress message, and the number of frames at that time.
    told: (Instant, usize),
}

impl<W: Write> Log<W> {
    fn new(overlay: Option<PathBuf>, rate: Option<f64>, table: Option<Table<W>>) -> Self {
        let start = Instant::now();
        let style = ProgressStyle::with_template("{wide_msg}").unwrap_or(ProgressStyle::default_spinner());
        Self {
            table,
            overlay,
            rate,
            // Drawn on a terminal alone.
            progress: ProgressBar::new_spinner().with_style(style),
            tally: Tally::new(start),
            start,
            taken: 0,
            told: (start, 0),
        }
    }

    /// Detects in all frames of a source, and waits for the last.
    fn detect(&mut self, frames: &mut Frames, engine: &mut Engine) -> Result<()> {
        let ended = self.push_all(frames, engine);
        // Frames before a fault are reported, too.
        let waited = self.wait(frames, engine);
        ended.and(waited)
    }

    fn push_all(&mut self, frames: &mut Frames, engine: &mut Engine) -> Result<()> {
        while let Some(frame) = frames.next() {
            let frame = match frame {
                Ok(frame) => frame,
                Err(Missing::One(error)) => {
                    self.wait(frames, engine)?;
                    self.fail(&format!("{error:#}"));
                    self.taken += 1;
                    continue;
                }
                Err(Missing::All(error)) => return Err(error),
            };
            while let Some(done) = engine.poll() {
                frames.recycle(self.add(done)?);
            }
            // Wait until the frame is due.
            while let Some(rest) = self.rest() {
                match engine.poll() {
                    Some(done) => frames.recycle(self.add(done)?),
                    None => std::thread::sleep(rest.min(Duration::from_micros(50))),
                }
            }
            self.taken += 1;
            if let Some(done) = engine.push(frame) {
                frames.recycle(self.add(done)?);
            }
        }
        Ok(())
    }

    /// Waits for all frames in flight.
    fn wait(&mut self, frames: &mut Frames, engine: &mut Engine) -> Result<()> {
        while let Some(done) = engine.wait() {
            frames.recycle(self.add(done)?);
        }
        Ok(())
    }

    /// Returns the time until the next frame is due.
    fn rest(&self) -> Option<Duration> {
        let due = Duration::try_from_secs_f64(self.taken as f64 / self.rate?).ok()?;
        due.checked_sub(self.start.elapsed()).filter(|rest| !rest.is_zero())
    }

    /// Reports and counts a frame that failed.
    fn fail(&mut self, error: &str) {
        let number = self.tally.counts().done;
        let error = messages::one_line(error);
        self.progress.suspend(|| output::message(format_args!("error: frame {number}: {error}")));
        if let Some(table) = &mut self.table {
            table.add(number, Err(&error));
        }
        let mut counts = self.tally.counts();
        counts.failed += 1;
        counts.done += 1;
    }

    /// Counts a frame, writes its keypoints, draws its overlay, and returns it.
    fn add(&mut self, done: Done) -> Result<Picture> {
        let number = self.tally.counts().done;
        self.tally.counts().latencies.push(done.latency);
        let found = match &done.keypoints {
            Ok(keypoints) => {
                let mut counts = self.tally.counts();
                counts.keypoints += keypoints.len();
                counts.done += 1;
                drop(counts);
                if let Some(table) = &mut self.table {
                    table.add(number, Ok(keypoints));
                }
                if let Some(folder) = &self.overlay {
                    let picture = overlay::draw(&done.image, keypoints)?;
                    output::whole(&folder.join(overlay_name(number)), |out| {
                        output::picture(&picture, Format::Png, out)
                    })?;
                }
                keypoints.len()
            }
            Err(error) => {
                self.fail(&error.to_string());
                0
            }
        };
        let (told, before) = self.told;
        if told.elapsed() >= Duration::from_secs(1) {
            let rate = (number + 1 - before) as f64 / told.elapsed().as_secs_f64();
            self.progress
                .set_message(format!("frame {number}: {rate:.1} frames a second, {found} keypoints"));
            self.told = (Instant::now(), number + 1);
        }
        Ok(done.image)
    }
}
