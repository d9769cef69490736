//! Finds the corners of a video's frames as they come, and reports the speed.
//!
//! ```sh
//! ffmpeg -i video.mp4 -pix_fmt gray -f yuv4mpegpipe - | harris stream -
//! ```

mod engine;
mod frames;

use std::path::PathBuf;
use std::process::ExitCode;
use std::time::{Duration, Instant};

use crate::input::ReadOptions;
use crate::options::{BackendOptions, DetectorOptions};
use crate::{output, overlay};
use anyhow::{Context, Result, ensure};
use engine::{Done, Engine};
use frames::Frames;
use serde::Serialize;

/// Finds the corners of a video's frames as they come, and reports the speed
#[derive(clap::Args)]
pub struct Args {
    /// Folder of images, image, or video in Y4M (luma of 8 to 16 bits); - for such a video on
    /// standard input
    #[arg(value_name = "INPUT")]
    input: PathBuf,
    #[command(flatten)]
    detector: DetectorOptions,
    #[command(flatten)]
    backend: BackendOptions,
    #[command(flatten)]
    read: ReadOptions,
    /// Frames in flight on each GPU
    #[arg(long, value_name = "NUMBER", default_value_t = 6)]
    in_flight: usize,
    /// Maximum number of frames per second; by default all are processed
    #[arg(long, value_name = "FRAMES")]
    rate: Option<f64>,
    /// Number of times to read the input
    #[arg(long, value_name = "TIMES", default_value_t = 1)]
    repeat: u64,
    /// Write each frame with its keypoints drawn in, as FOLDER/000000.png and so on
    #[arg(long, value_name = "FOLDER")]
    overlay: Option<PathBuf>,
    /// Print the summary as JSON
    #[arg(long)]
    json: bool,
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
    ensure!(
        args.rate.is_none_or(|rate| rate > 0.0 && rate.is_finite()),
        "a rate must be more than 0 frames per second"
    );
    ensure!(args.repeat == 1 || args.input.as_os_str() != "-", "standard input can be read only once");
    if let Some(folder) = &args.overlay {
        std::fs::create_dir_all(folder).with_context(|| format!("cannot make {}", folder.display()))?;
    }
    let mut engine = Engine::new(&mut args.backend, &args.detector.detection()?, args.in_flight)?;
    let mut log = Log::new(args.overlay.clone());
    for _ in 0..args.repeat {
        let mut frames = Frames::open(&args.input, args.detector.color()?, &args.read)?;
        while let Some(frame) = frames.next() {
            let frame = frame?;
            // Wait until the frame is due.
            while let Some(done) = engine.poll() {
                log.add(done)?;
            }
            while let Some(rest) = log.rest(args.rate) {
                match engine.poll() {
                    Some(done) => log.add(done)?,
                    None => std::thread::sleep(rest.min(Duration::from_micros(50))),
                }
            }
            log.taken += 1;
            if let Some(done) = engine.push(frame) {
                log.add(done)?;
            }
        }
    }
    while let Some(done) = engine.wait() {
        log.add(done)?;
    }
    let summary = log.summary(engine.describe());
    if args.json {
        println!("{}", serde_json::to_string(&summary).context("a summary is JSON")?);
    } else {
        let Summary { backend, frames, failed, seconds, frames_per_s, keypoints, latency_ms } = &summary;
        let [median, p95, p99, most] = latency_ms;
        println!(
            "{frames} frames in {seconds:.2} s, {frames_per_s:.1} a second, {failed} failed; {} keypoints a frame  ({backend})",
            keypoints / (frames - failed).max(1)
        );
        println!("latency: median {median:.3} ms, 95 % {p95:.3}, 99 % {p99:.3}, longest {most:.3}");
    }
    Ok(if summary.failed > 0 { ExitCode::FAILURE } else { ExitCode::SUCCESS })
}

/// The state of all frames so far.
struct Log {
    overlay: Option<PathBuf>,
    start: Instant,
    /// The number of frames given to the detector.
    taken: usize,
    latencies: Vec<Duration>,
    failed: usize,
    keypoints: usize,
    /// The time of the last progress message, and the number of frames at that time.
    told: (Instant, usize),
}

impl Log {
    fn new(overlay: Option<PathBuf>) -> Self {
        let start = Instant::now();
        Self { overlay, start, taken: 0, latencies: Vec::new(), failed: 0, keypoints: 0, told: (start, 0) }
    }

    /// Returns the time until the next frame is due.
    fn rest(&self, rate: Option<f64>) -> Option<Duration> {
        let due = Duration::from_secs_f64(self.taken as f64 / rate?);
        due.checked_sub(self.start.elapsed()).filter(|rest| !rest.is_zero())
    }

    fn add(&mut self, done: Done) -> Result<()> {
        let number = self.latencies.len();
        self.latencies.push(done.latency);
        let found = match &done.keypoints {
            Ok(keypoints) => {
                self.keypoints += keypoints.len();
                if let Some(folder) = &self.overlay {
                    let picture = overlay::draw(&done.image, keypoints);
                    output::whole(&folder.join(format!("{number:06}.png")), |out| {
                        output::png(&picture, out)
                    })?;
                }
                keypoints.len()
            }
            Err(error) => {
                self.failed += 1;
                eprintln!("frame {number}: {error}");
                0
            }
        };
        let (told, before) = self.told;
        if told.elapsed() >= Duration::from_secs(1) {
            let rate = (number + 1 - before) as f64 / told.elapsed().as_secs_f64();
            eprintln!("frame {number}: {rate:.1} frames a second, {found} keypoints");
            self.told = (Instant::now(), number + 1);
        }
        Ok(())
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
            frames: self.latencies.len(),
            failed: self.failed,
            seconds,
            frames_per_s: self.latencies.len() as f64 / seconds,
            keypoints: self.keypoints,
            latency_ms: [0.5, 0.95, 0.99, 1.0].map(latency),
        }
    }
}
