//! Measures the time of detection, from image to sorted list, on a photograph tiled to several
//! sizes.
//!
//! ```sh
//! harris bench --threads 1 --sizes 512x512,1920x1080,4096x4096
//! ```

mod decode;
mod transfers;

use std::path::PathBuf;
use std::process::ExitCode;
use std::str::FromStr;
use std::time::{Duration, Instant};

use crate::input::ReadOptions;
use crate::options::{BackendOptions, ColorOptions, Detection, DetectorOptions, Timed};
use crate::{input, messages, output, photographs};
use anyhow::{Context, Result};
use harris_core::fast_hessian::StepTimes;
use harris_core::{Error, ImageView, Sample, memory};
use serde::Serialize;

/// Measures the time of detection, from image to sorted list
#[derive(clap::Args)]
pub struct Args {
    /// Sizes to tile the photograph to
    #[arg(
        long,
        value_name = "WxH,...",
        value_delimiter = ',',
        default_value = "512x512,1920x1080,4096x4096"
    )]
    sizes: Vec<Size>,
    /// Photograph; by default one that comes with the program
    #[arg(long, value_name = "FILE")]
    image: Option<PathBuf>,
    /// Measure the reading of a folder's images alone, without detection; folders in it are not
    /// searched
    #[arg(
        long,
        value_name = "FOLDER",
        conflicts_with_all = [
            "sizes", "image", "mask", "response", "depth", "seconds", "stream_seconds", "BackendOptions"
        ]
    )]
    decode: Option<PathBuf>,
    /// Images to read at once with --decode, 1 to 1024; by default one for each hardware thread
    #[arg(long, value_name = "NUMBER", requires = "decode", value_parser = crate::options::whole::<u16>(1..=1024))]
    jobs: Option<u16>,
    /// Mask: corners are sought where this image is not 0; it is tiled, too
    #[arg(long, value_name = "FILE")]
    mask: Option<PathBuf>,
    /// Measure the response map, written to an existing array, instead of the list of corners
    #[arg(long)]
    response: bool,
    /// Sample type to convert the photograph to: u8, u16 or f32
    #[arg(long, value_name = "TYPE", default_value = "u8")]
    depth: Depth,
    /// Duration of the measurement for each size, in seconds
    #[arg(long, default_value = "1", value_parser = seconds)]
    seconds: Duration,
    /// Duration of the measurement for streams on a GPU, in seconds; by default as for the others.
    /// The CPU has no streams
    #[arg(long, value_name = "SECONDS", value_parser = seconds)]
    stream_seconds: Option<Duration>,
    /// Print a line of JSON for each size
    #[arg(long)]
    json: bool,
    #[command(flatten)]
    color: ColorOptions,
    #[command(flatten)]
    detector: DetectorOptions,
    #[command(flatten)]
    backend: BackendOptions,
}

fn seconds(text: &str) -> Result<Duration, String> {
    let seconds = text.parse().ok().filter(|seconds| (0.0..=3600.0).contains(seconds));
    let message = || "a duration must be a number of seconds, 0 to 3600".to_owned();
    seconds.map(Duration::from_secs_f64).ok_or_else(message)
}

#[derive(Clone, Copy)]
struct Size {
    width: usize,
    height: usize,
}

impl FromStr for Size {
    type Err = String;

    fn from_str(text: &str) -> Result<Self, String> {
        let sides = text.split_once('x').and_then(|(w, h)| Some((w.parse().ok()?, h.parse().ok()?)));
        match sides {
            Some((width @ 1..=65536, height @ 1..=65536)) => Ok(Self { width, height }),
            _ => Err("a size must be WIDTHxHEIGHT, each from 1 to 65536".to_owned()),
        }
    }
}

#[derive(Clone, Copy)]
enum Depth {
    U8,
    U16,
    F32,
}

impl FromStr for Depth {
    type Err = String;

    fn from_str(text: &str) -> Result<Self, String> {
        match text {
            "u8" => Ok(Self::U8),
            "u16" => Ok(Self::U16),
            "f32" => Ok(Self::F32),
            _ => Err("a sample type must be u8, u16 or f32".to_owned()),
        }
    }
}

/// The results for one size.
#[derive(Serialize)]
struct Timing {
    backend: String,
    width: usize,
    height: usize,
    median_ms: f64,
    min_ms: f64,
    max_ms: f64,
    runs: usize,
    /// Speed at the median time.
    mpix_per_s: f64,
    /// Speed at the shortest time.
    best_mpix_per_s: f64,
    /// Median time on the device alone, if the backend has one.
    #[serde(skip_serializing_if = "Option::is_none")]
    device_ms: Option<f64>,
    /// Median times of integral image, determinants, peaks and list, if the detector knows them.
    #[serde(skip_serializing_if = "Option::is_none")]
    steps_ms: Option<[f64; 4]>,
    /// Times with and without copies, if the backend has a device.
    #[serde(flatten)]
    transfers: Option<transfers::Transfers>,
    /// The number of keypoints, if a list is made.
    #[serde(skip_serializing_if = "Option::is_none")]
    keypoints: Option<usize>,
}

/// Runs the subcommand.
///
/// # Errors
/// What failed, for one line.
pub fn run(mut args: Args) -> Result<ExitCode> {
    let choice = args.detector.choice()?;
    let color = args.color.color(&choice);
    if let Some(folder) = &args.decode {
        return decode::run(folder, args.jobs, color, args.json);
    }
    let detection = choice.detection;
    let mut detector = args.backend.detector(&detection)?;
    let photograph = match &args.image {
        Some(file) => input::read_image(file, color, &ReadOptions::default())?,
        None => photographs::named("camera")?.into(),
    };
    let view = ImageView::try_from(&photograph)?;
    let mask =
        args.mask.as_deref().map(|mask| input::read_mask(mask, &ReadOptions::default())).transpose()?;
    for &size in &args.sizes {
        // 8 bits first, which convert to each type exactly.
        let samples: Vec<u8> = if view.channels() == 1 {
            photograph.to_luma8().into_raw()
        } else {
            photograph.to_rgb8().into_raw()
        };
        let channels = samples.len() / (view.width() * view.height());
        let tiled = tile(&samples, view.width() * channels, view.height(), channels, size)?;
        let mask = (mask.as_ref())
            .map(|mask| tile(mask, mask.width() as usize, mask.height() as usize, 1, size))
            .transpose()?;
        let mask = mask.as_deref();
        macro_rules! time {
            ($samples:expr) => {{
                let samples = &$samples[..];
                if args.response {
                    time_response(samples, channels, size, &mut *detector, args.seconds)?
                } else {
                    let timing = time(samples, channels, size, mask, &mut *detector, args.seconds)?;
                    Timing {
                        transfers: transfers(samples, channels, size, mask, &detection, &args)?,
                        ..timing
                    }
                }
            }};
        }
        let timing = match args.depth {
            Depth::U8 => time!(tiled),
            Depth::U16 => time!(convert(&tiled, |v| u16::from(v) * 257)?),
            Depth::F32 => time!(convert(&tiled, |v| f32::from(v) / 255.0)?),
        };
        if args.json {
            let line = serde_json::to_string(&timing).context("a timing is JSON")?;
            output::print(&format!("{line}\n"))?;
        } else {
            output::print(&text(&timing))?;
        }
    }
    Ok(ExitCode::SUCCESS)
}

/// Measures the transfers, on a backend that has them.
fn transfers<T: Sample>(
    samples: &[T],
    channels: usize,
    size: Size,
    mask: Option<&[u8]>,
    detection: &Detection,
    args: &Args,
) -> Result<Option<transfers::Transfers>, Error> {
    let (Some(ordinal), Detection::Harris(config)) = (args.backend.ordinal(), detection) else {
        return Ok(None);
    };
    let size = (size.width, size.height);
    let seconds = (args.seconds, args.stream_seconds.unwrap_or(args.seconds));
    transfers::time(samples, channels, size, mask, config, ordinal, seconds).map(Some)
}

/// Tiles a photograph, with rows of `row` samples, to a size.
fn tile(samples: &[u8], row: usize, height: usize, channels: usize, size: Size) -> Result<Vec<u8>, Error> {
    let mut tiled = Vec::new();
    memory::reserve_exact(&mut tiled, size.width.saturating_mul(size.height).saturating_mul(channels))?;
    for y in 0..size.height {
        let line = &samples[y % height * row..][..row];
        tiled.extend(line.iter().cycle().take(size.width * channels));
    }
    Ok(tiled)
}

fn convert<T>(samples: &[u8], to: impl Fn(u8) -> T) -> Result<Vec<T>, Error> {
    memory::collect(samples.iter().map(|&v| to(v)))
}

/// The most images whose time on the device is measured.
const DEVICE_TIMES: usize = 100;

fn time<T: Sample>(
    samples: &[T],
    channels: usize,
    size: Size,
    mask: Option<&[u8]>,
    detector: &mut dyn Timed,
    seconds: Duration,
) -> Result<Timing, Error> {
    let Size { width, height } = size;
    let mut image = ImageView::strided(samples, width, height, channels, width * channels)?;
    if let Some(mask) = mask {
        image = image.with_mask(ImageView::gray(mask, width, height)?)?;
    }
    // The first frame allocates memory.
    let keypoints = detector.detect(&image)?.len();
    let mut steps = [const { Vec::new() }; 4];
    let times = repeat(seconds, || {
        let start = Instant::now();
        std::hint::black_box(detector.detect(&image)?);
        let time = start.elapsed();
        if let Some(StepTimes { integral, responses, peaks, list, .. }) = detector.step_times() {
            for (times, time) in steps.iter_mut().zip([integral, responses, peaks, list]) {
                times.push(time.as_secs_f64());
            }
        }
        Ok(time)
    })?;
    let device_ms = device_ms(detector, times.len(), |detector| detector.detect(&image).map(drop))?;
    let [a, b, c, d] = steps.map(median_ms);
    Ok(Timing {
        device_ms,
        steps_ms: a.zip(b).zip(c.zip(d)).map(|((a, b), (c, d))| [a, b, c, d]),
        keypoints: Some(keypoints),
        ..Timing::of(detector, size, &times)
    })
}

/// Measures the response map, written to an existing array.
fn time_response<T: Sample>(
    samples: &[T],
    channels: usize,
    size: Size,
    detector: &mut dyn Timed,
    seconds: Duration,
) -> Result<Timing, Error> {
    let image = ImageView::strided(samples, size.width, size.height, channels, size.width * channels)?;
    let mut map = detector.response(&image)?;
    let times = repeat(seconds, || {
        let start = Instant::now();
        detector.response_into(&image, &mut map)?;
        Ok(start.elapsed())
    })?;
    let device_ms = device_ms(detector, times.len(), |detector| detector.response_into(&image, &mut map))?;
    std::hint::black_box(map);
    Ok(Timing { device_ms, ..Timing::of(detector, size, &times) })
}

/// Returns the median time on the device of some calls, if the device has one. These calls are
/// separate, because measuring takes time.
fn device_ms(
    detector: &mut dyn Timed,
    calls: usize,
    mut call: impl FnMut(&mut dyn Timed) -> Result<(), Error>,
) -> Result<Option<f64>, Error> {
    detector.set_timed(true);
    call(detector)?;
    let mut times = Vec::new();
    while detector.device_time().is_some() && times.len() < calls.min(DEVICE_TIMES) {
        call(detector)?;
        times.extend(detector.device_time().map(|time| time.as_secs_f64()));
    }
    detector.set_timed(false);
    Ok(median_ms(times))
}

/// Returns results in milliseconds from times in seconds.
fn median_ms(mut times: Vec<f64>) -> Option<f64> {
    times.sort_by(f64::total_cmp);
    times.get(times.len() / 2).map(|&time| messages::rounded_milliseconds(time))
}

/// Calls `call` for some time, at least five times, and returns the times that it returns, in
/// seconds and sorted.
fn repeat(seconds: Duration, mut call: impl FnMut() -> Result<Duration, Error>) -> Result<Vec<f64>, Error> {
    let mut times = Vec::new();
    let begin = Instant::now();
    while times.len() < 5 || begin.elapsed() < seconds {
        times.push(call()?.as_secs_f64());
    }
    times.sort_by(f64::total_cmp);
    Ok(times)
}

impl Timing {
    /// Makes the results from sorted times in seconds.
    fn of(detector: &dyn Timed, Size { width, height }: Size, times: &[f64]) -> Self {
        let [median, min, max] = [times.len() / 2, 0, times.len() - 1].map(|i| times[i]);
        Self {
            backend: detector.describe(),
            width,
            height,
            median_ms: messages::rounded_milliseconds(median),
            min_ms: messages::rounded_milliseconds(min),
            max_ms: messages::rounded_milliseconds(max),
            runs: times.len(),
            mpix_per_s: (width * height) as f64 / median / 1e6,
            best_mpix_per_s: (width * height) as f64 / min / 1e6,
            device_ms: None,
            steps_ms: None,
            transfers: None,
            keypoints: None,
        }
    }
}

/// Formats the results for people.
fn text(timing: &Timing) -> String {
    let Timing {
        backend,
        width,
        height,
        median_ms,
        min_ms,
        max_ms,
        mpix_per_s,
        best_mpix_per_s,
        device_ms,
        steps_ms,
        transfers,
        keypoints,
        ..
    } = timing;
    let device = device_ms.map_or_else(String::new, |device| format!("  on the device {device:.3} ms"));
    let keypoints = keypoints.map_or_else(String::new, |number| format!("  {number:>7} keypoints"));
    let mut text = format!(
        "{width:>5} x {height:<5} median {median_ms:>9.3} ms  min {min_ms:>9.3}  max {max_ms:>9.3}  \
         {mpix_per_s:>7.1} Mpix/s, best {best_mpix_per_s:>7.1}{device}{keypoints}  ({backend})\n"
    );
    if let Some(times) = transfers {
        let transfers::Transfers {
            resident_ms,
            resident_behind_ms,
            resident_call_ms,
            copy_ms,
            pinned_ms,
            ..
        } = times;
        let transfers::Transfers { streaming_ms, copies_ms, batch_ms, .. } = times;
        let [median, p99] = times.latency_ms;
        text += &format!(
            "{:>13} resident image {resident_ms:.4} ms, behind other work {resident_behind_ms:.4}, whole call {resident_call_ms:.4}\n",
            ""
        );
        text += &format!(
            "{:>13} pinned image: copy alone {copy_ms:.4} ms, copy and detection {pinned_ms:.4}\n",
            ""
        );
        text += &format!(
            "{:>13} streamed frame {streaming_ms:.4} ms; latency at half that rate: median {median:.4}, 99 % below {p99:.4}\n",
            ""
        );
        text += &format!("{:>13} image of a batch {batch_ms:.4} ms, copies alone {copies_ms:.4}\n", "");
        if let Some(time) = times.on_all_ms {
            text += &format!("{:>13} streamed frame on all GPUs {time:.4} ms\n", "");
        }
    }
    if let Some([integral, responses, peaks, list]) = steps_ms {
        text += &format!(
            "{:>13} integral image {integral:.3} ms, determinants {responses:.3}, peaks {peaks:.3}, list {list:.3}\n",
            ""
        );
    }
    text
}
