//! Finds the corners of images. Writes a list as CSV, an image with the corners drawn in, or the
//! response map as .npy.
//!
//! ```sh
//! harris detect examples/data/camera.png --overlay corners.png
//! ```

use std::path::{Path, PathBuf};
use std::process::ExitCode;
use std::time::{Duration, Instant};

use crate::options::{BackendOptions, Choice, ColorOptions, DetectorOptions, Kind};
use crate::output::{self, KEYPOINTS, PICTURE, Plan, RESPONSE, Target};
use crate::{input, messages, overlay};
use anyhow::{Context, Result};
use harris_core::{Detector, ImageView, Keypoint};
use image::{DynamicImage, GrayImage};
use indicatif::{ProgressBar, ProgressStyle};

/// Finds the corners of images
#[derive(clap::Args)]
pub struct Args {
    /// Image files, or folders of them (PNG, JPEG, PGM, PPM; 8 or 16 bits)
    #[arg(required = true, value_name = "INPUT")]
    inputs: Vec<PathBuf>,
    #[command(flatten)]
    detector: DetectorOptions,
    #[command(flatten)]
    backend: BackendOptions,
    #[command(flatten)]
    color: ColorOptions,
    /// Mask: image of the inputs' size; keypoints are sought where it is not zero
    #[arg(long, value_name = "FILE", help_heading = "Input")]
    mask: Option<PathBuf>,
    /// Write the keypoints as CSV; - for standard output; a folder for several inputs
    #[arg(long, value_name = "FILE|-", help_heading = "Outputs")]
    csv: Option<PathBuf>,
    /// Write the image with the keypoints drawn in, as .png or .jpg; a folder for several inputs
    #[arg(long, value_name = "FILE", help_heading = "Outputs")]
    overlay: Option<PathBuf>,
    /// Write the response map as .npy or .tiff of f32, or as a .png to look at; a folder for
    /// several inputs
    #[arg(long, value_name = "FILE", help_heading = "Outputs")]
    response: Option<PathBuf>,
}

/// Runs the subcommand.
///
/// # Errors
/// What failed, for one line.
pub fn run(mut args: Args) -> Result<ExitCode> {
    let choice = args.detector.choice()?;
    let mut detector = args.backend.detector(&choice.detection)?;
    let inputs = input::expand(&args.inputs)?;
    let one = args.inputs.len() == 1 && !args.inputs[0].is_dir();
    let outputs = Outputs::plan(&args, &inputs, one)?;
    let mask = args.mask.as_deref().map(input::read_mask).transpose()?;

    let progress = if one { ProgressBar::hidden() } else { progress_bar(inputs.len() as u64) };
    let mut failed = false;
    for (i, path) in inputs.iter().enumerate() {
        progress.set_message(path.display().to_string());
        match process(path, &args, &choice, mask.as_ref(), &outputs.of(i), &mut *detector) {
            Ok(summary) if !outputs.to_stdout() => progress.suspend(|| output::print(&summary))?,
            Ok(_) => {}
            Err(error) => {
                failed = true;
                progress.suspend(|| output::message(messages::error_line(&error)));
            }
        }
        progress.inc(1);
    }
    progress.finish_and_clear();
    Ok(if failed { ExitCode::FAILURE } else { ExitCode::SUCCESS })
}

impl Args {
    fn writes_nothing(&self) -> bool {
        self.csv.is_none() && self.overlay.is_none() && self.response.is_none()
    }
}

/// The outputs of all inputs, in their order.
struct Outputs<T> {
    csv: T,
    overlay: T,
    response: T,
}

impl Outputs<Option<Vec<Target>>> {
    fn plan(args: &Args, inputs: &[PathBuf], one: bool) -> Result<Self> {
        let mut plan = Plan::new();
        plan.reads("input", inputs);
        plan.reads("mask", &args.mask);
        let mut results = |option, path: &Option<PathBuf>, kind| {
            path.as_ref().map(|path| plan.results(option, path, kind, inputs, one)).transpose()
        };
        let outputs = Self {
            csv: results("--csv", &args.csv, &KEYPOINTS)?,
            overlay: results("--overlay", &args.overlay, &PICTURE)?,
            response: results("--response", &args.response, &RESPONSE)?,
        };
        plan.finish()?;
        Ok(outputs)
    }

    /// Returns the outputs of one input.
    fn of(&self, i: usize) -> Outputs<Option<&Target>> {
        Outputs {
            csv: self.csv.as_ref().and_then(|all| all.get(i)),
            overlay: self.overlay.as_ref().and_then(|all| all.get(i)),
            response: self.response.as_ref().and_then(|all| all.get(i)),
        }
    }

    /// Whether an output goes to standard output.
    fn to_stdout(&self) -> bool {
        let all = [&self.csv, &self.overlay, &self.response];
        all.into_iter().flatten().flatten().any(Target::is_standard_output)
    }
}

/// Detects keypoints in one file, writes the results and returns a summary.
fn process(
    path: &Path,
    args: &Args,
    choice: &Choice,
    mask: Option<&GrayImage>,
    outputs: &Outputs<Option<&Target>>,
    detector: &mut dyn Detector,
) -> Result<String> {
    let image = input::read_image(path, args.color.color(choice))?;
    let name = || path.display().to_string();
    let mut view = ImageView::try_from(&image).with_context(name)?;
    if let Some(mask) = mask {
        view = view.with_mask(ImageView::try_from(mask)?).with_context(name)?;
    }
    let start = Instant::now();
    let keypoints = detector.detect(&view).with_context(name)?;
    let time = start.elapsed();
    let rejected = detector.rejected_peaks();

    if let Some(target) = outputs.response {
        let response = detector.response(&view).with_context(name)?;
        target.write(|out| output::response(&response, target.format(), out))?;
    }
    if let Some(target) = outputs.overlay {
        let picture = overlay::draw(&image, &keypoints);
        target.write(|out| output::picture(&picture, target.format(), out))?;
    }
    if let Some(target) = outputs.csv {
        target.write(|out| Ok(output::csv(&keypoints, out)?))?;
    }
    let found = match (choice.detection.kind(), rejected) {
        (Kind::Harris, _) => "corners".to_owned(),
        (Kind::FastHessian, None) => "blobs".to_owned(),
        (Kind::FastHessian, Some(rejected)) => format!("blobs ({rejected} more rejected between samples)"),
    };
    Ok(summary(path, &image, &found, &keypoints, time, &detector.describe(), args.writes_nothing()))
}

/// Formats one line, and the strongest few keypoints if nothing else is written.
fn summary(
    path: &Path,
    image: &DynamicImage,
    found: &str,
    keypoints: &[Keypoint],
    time: Duration,
    backend: &str,
    with_strongest: bool,
) -> String {
    let (width, height, number) = (image.width(), image.height(), keypoints.len());
    let (path, milliseconds) = (path.display(), time.as_secs_f64() * 1e3);
    let mut text =
        format!("{path}: {width} x {height}, {number} {found} in {milliseconds:.2} ms ({backend})\n");
    if with_strongest {
        let mut strongest: Vec<_> = keypoints.to_vec();
        strongest.sort_unstable();
        for Keypoint { x, y, response, .. } in strongest.iter().take(5) {
            text += &format!("  x {x:>8.2}  y {y:>8.2}  response {response:.3e}\n");
        }
    }
    text
}

fn progress_bar(length: u64) -> ProgressBar {
    let style = ProgressStyle::with_template("{bar:30} {pos}/{len} {wide_msg}")
        .unwrap_or(ProgressStyle::default_bar());
    ProgressBar::new(length).with_style(style)
}
