//! Finds the corners of a video's frames as they come, and reports the speed.
//!
//! ```sh
//! ffmpeg -i video.mp4 -pix_fmt gray -f yuv4mpegpipe - | harris stream -
//! ```

mod engine;
mod frames;

use std::ffi::OsStr;
use std::path::PathBuf;
use std::process::ExitCode;
use std::time::{Duration, Instant};

use crate::input::{Picture, ReadOptions};
use crate::messages::WrongArguments;
use crate::options::{BackendOptions, DetectorOptions};
use crate::output::{self, Format, OutputPlan};
use crate::overlay;
use anyhow::{Context, Result, bail};
use clap::value_parser;
use engine::{Done, Engine};
use frames::{Frames, Missing, Source};
use indicatif::{ProgressBar, ProgressStyle};
use serde::Serialize;

/// Finds the corners of a video's frames as they come, and reports the speed
///
/// A frame that cannot be read is reported and counted, and the exit code is then 1. So it is for a
/// video that does not end exactly after a frame, whose other frames are reported as usual.
#[derive(clap::Args)]
pub struct Args {
    /// Folder of images, image, or video in Y4M (luma of 8 to 16 bits, every colour space that
    /// ffmpeg writes); - for a video on standard input
    #[arg(value_name = "INPUT")]
    input: PathBuf,
    #[command(flatten)]
    read: ReadOptions,
    #[command(flatten)]
    detector: DetectorOptions,
    #[command(flatten)]
    backend: BackendOptions,
    /// Frames in flight on each GPU, 1 to 1024
    #[arg(long, value_name = "NUMBER", default_value_t = 6, value_parser = value_parser!(u16).range(1..=1024))]
    in_flight: u16,
    /// Maximum number of frames per second, 0.001 to 1000000; by default all are processed
    #[arg(long, value_name = "FRAMES", value_parser = rate)]
    rate: Option<f64>,
    /// Number of times to read the input, 1 to 1000000
    #[arg(long, value_name = "TIMES", default_value_t = 1, value_parser = value_parser!(u32).range(1..=1_000_000))]
    repeat: u32,
    /// Write each frame with its keypoints drawn in, as FOLDER/000000.png and so on
    #[arg(long, value_name = "FOLDER")]
    overlay: Option<PathBuf>,
    /// Print the summary as JSON
    #[arg(long)]
    json: bool,
}

fn rate(text: &str) -> Result<f64, String> {
    let rate = text.parse().ok().filter(|rate| (0.001..=1e6).contains(rate));
    rate.ok_or_else(|| "a rate is from 0.001 to 1000000 frames per second".to_owned())
}

/// A summary of all frames.
#[derive(Serialize)]
struct Summary {
    backend: String,
    frames: usize,
    failed: usize,
    seconds: f64,
    frames_per_s: f64,
    keypoints: usize,
    /// Latency from a frame's arrival to its list: median, 95th and 99th percentile, maximum.
    latency_ms: [f64; 4],
}

/// Runs the subcommand.
///
/// # Errors
/// What failed, for one line.
pub fn run(mut args: Args) -> Result<ExitCode> {
    if args.repeat > 1 && args.input.as_os_str() == "-" {
        bail!(WrongArguments("standard input can be read only once, without --repeat".to_owned()));
    }
    let choice = args.detector.choice()?;
    let source = Source::new(&args.input, choice.color, &args.read)?;
    let mut plan = OutputPlan::new();
    plan.reads("input", source.files());
    if let Some(folder) = &args.overlay {
        plan.folder("--overlay", folder, is_overlay)?;
    }
    plan.finish()?;
    let mut frames = source.open()?;
    let mut engine = Engine::new(&mut args.backend, &choice.detection, args.in_flight.into())?;
    let mut log = Log::new(args.overlay.clone(), args.rate);
    let mut ended = log.detect(&mut frames, &mut engine);
    for _ in 1..args.repeat {
        ended = ended.and_then(|()| log.detect(&mut source.open()?, &mut engine));
    }
    log.progress.finish_and_clear();
    // What was found is told before what ended it.
    let summary = log.summary(engine.describe());
    output::print(&if args.json {
        serde_json::to_string(&summary).context("a summary is JSON")? + "\n"
    } else {
        let Summary { backend, frames, failed, seconds, frames_per_s, keypoints, latency_ms } = &summary;
        let [median, p95, p99, most] = latency_ms;
        let each = keypoints / (frames - failed).max(1);
        format!(
            "{frames} frames in {seconds:.2} s, {frames_per_s:.1} a second, {failed} failed; {each} keypoints a frame  ({backend})\n\
             latency: median {median:.3} ms, 95 % {p95:.3}, 99 % {p99:.3}, longest {most:.3}\n"
        )
    })?;
    ended?;
    Ok(if summary.failed > 0 { ExitCode::FAILURE } else { ExitCode::SUCCESS })
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
struct Log {
    overlay: Option<PathBuf>,
    rate: Option<f64>,
    progress: ProgressBar,
    start: Instant,
    /// The number of frames given to the detector.
    taken: usize,
    /// The number of frames that are done, or cannot be read.
    done: usize,
    latencies: Vec<Duration>,
    failed: usize,
    keypoints: usize,
    /// The time of the last progress message, and the number of frames at that time.
    told: (Instant, usize),
}

impl Log {
    fn new(overlay: Option<PathBuf>, rate: Option<f64>) -> Self {
        let start = Instant::now();
        let style = ProgressStyle::with_template("{wide_msg}").unwrap_or(ProgressStyle::default_spinner());
        Self {
            overlay,
            rate,
            // Drawn on a terminal alone.
            progress: ProgressBar::new_spinner().with_style(style),
            start,
            taken: 0,
            done: 0,
            latencies: Vec::new(),
            failed: 0,
            keypoints: 0,
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
        let number = self.done;
        self.progress.suspend(|| output::message(format_args!("error: frame {number}: {error}")));
        self.failed += 1;
        self.done += 1;
    }

    /// Counts a frame, draws its overlay, and returns it.
    fn add(&mut self, done: Done) -> Result<Picture> {
        let number = self.done;
        self.latencies.push(done.latency);
        let found = match &done.keypoints {
            Ok(keypoints) => {
                self.keypoints += keypoints.len();
                self.done += 1;
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

    fn summary(mut self, backend: String) -> Summary {
        let seconds = self.start.elapsed().as_secs_f64();
        self.latencies.sort();
        let last = self.latencies.len().saturating_sub(1);
        let latency = |part: f64| {
            let i = (part * last as f64).round() as usize;
            self.latencies.get(i).map_or(0.0, |latency| latency.as_secs_f64() * 1e3)
        };
        Summary {
            backend,
            frames: self.done,
            failed: self.failed,
            seconds,
            frames_per_s: self.done as f64 / seconds,
            keypoints: self.keypoints,
            latency_ms: [0.5, 0.95, 0.99, 1.0].map(latency),
        }
    }
}
