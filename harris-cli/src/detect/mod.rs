//! Finds the corners of images. Writes a list as CSV, an image with the corners drawn in, or the
//! response map as .npy.
//!
//! ```sh
//! harris detect examples/data/camera.png --overlay corners.png
//! ```

use std::collections::BTreeMap;
use std::fs;
use std::io;
use std::path::{Path, PathBuf};
use std::process::ExitCode;
use std::time::{Duration, Instant};

use crate::input::ReadOptions;
use crate::options::{BackendOptions, ColorOptions, DetectorOptions, Kind};
use crate::{input, messages, output, overlay};
use anyhow::{Context, Result, ensure};
use harris_core::{Detector, ImageView, Keypoint};
use image::{DynamicImage, GrayImage};
use indicatif::{ProgressBar, ProgressStyle};

/// Finds the corners of images
#[derive(clap::Args)]
pub struct Args {
    /// Image files, or folders of them (PNG, JPEG, BMP, TIFF, WebP, PBM, PGM, PPM, PAM); - for an image
    /// on standard input
    #[arg(required = true, value_name = "INPUT")]
    inputs: Vec<PathBuf>,
    #[command(flatten)]
    detector: DetectorOptions,
    #[command(flatten)]
    backend: BackendOptions,
    #[command(flatten)]
    color: ColorOptions,
    #[command(flatten)]
    read: ReadOptions,
    /// Mask: image of the inputs' size; keypoints are sought where it is not zero
    #[arg(long, value_name = "FILE", help_heading = "Input")]
    mask: Option<PathBuf>,
    /// Write the keypoints as CSV; - for standard output; a folder for several inputs
    #[arg(long, value_name = "FILE|-", help_heading = "Outputs")]
    csv: Option<PathBuf>,
    /// Write the image with the keypoints drawn in; a folder for several inputs
    #[arg(long, value_name = "FILE.png", help_heading = "Outputs")]
    overlay: Option<PathBuf>,
    /// Write the response map as f32, shape (height, width); a folder for several inputs
    #[arg(long, value_name = "FILE.npy", help_heading = "Outputs")]
    response: Option<PathBuf>,
}

/// Runs the subcommand.
///
/// # Errors
/// What failed, for one line.
pub fn run(mut args: Args) -> Result<ExitCode> {
    let mut detector = args.backend.detector(&args.detector.detection()?)?;
    let inputs = input::expand(&args.inputs)?;
    let mask = args.mask.as_deref().map(|mask| input::read_mask(mask, &args.read)).transpose()?;
    let one = args.inputs.len() == 1 && !args.inputs[0].is_dir();
    let outputs = if one { Outputs::files(&args) } else { Outputs::folders(&args, &inputs)? };

    let progress = if one { ProgressBar::hidden() } else { progress_bar(inputs.len() as u64) };
    let mut failed = false;
    for path in &inputs {
        progress.set_message(input::name(path));
        match process(path, &args, mask.as_ref(), &outputs, &mut *detector) {
            Ok(summary) if !args.to_stdout() => progress.suspend(|| print(&summary))?,
            Ok(_) => {}
            Err(error) => {
                failed = true;
                progress.suspend(|| eprintln!("{}", messages::error_line(&error)));
            }
        }
        progress.inc(1);
    }
    progress.finish_and_clear();
    Ok(if failed { ExitCode::FAILURE } else { ExitCode::SUCCESS })
}

impl Args {
    fn to_stdout(&self) -> bool {
        self.csv.as_deref() == Some(Path::new("-"))
    }

    fn writes_nothing(&self) -> bool {
        self.csv.is_none() && self.overlay.is_none() && self.response.is_none()
    }
}

/// The output files of an input.
struct Outputs {
    csv: Option<PathBuf>,
    overlay: Option<PathBuf>,
    response: Option<PathBuf>,
    /// Whether the outputs are folders.
    folders: bool,
}

impl Outputs {
    fn files(args: &Args) -> Self {
        let (csv, overlay, response) = (args.csv.clone(), args.overlay.clone(), args.response.clone());
        Self { csv, overlay, response, folders: false }
    }

    /// Makes the folders. Inputs with equal names are an error, because they would write the same
    /// files.
    fn folders(args: &Args, inputs: &[PathBuf]) -> Result<Self> {
        ensure!(!args.to_stdout(), "several inputs need a folder for --csv");
        if !args.writes_nothing() {
            let mut stems = BTreeMap::new();
            for input in inputs {
                if let Some(other) = stems.insert(input.file_stem(), input) {
                    let (a, b) = (other.display(), input.display());
                    anyhow::bail!("{a} and {b} would write the same files; run them one at a time");
                }
            }
        }
        for folder in [&args.csv, &args.overlay, &args.response].into_iter().flatten() {
            fs::create_dir_all(folder)
                .with_context(|| format!("cannot make the folder {}", folder.display()))?;
        }
        Ok(Self { folders: true, ..Self::files(args) })
    }

    fn path(&self, output: Option<&PathBuf>, input: &Path, ending: &str) -> Option<PathBuf> {
        let output = output?;
        if !self.folders {
            return Some(output.clone());
        }
        let stem = input.file_stem().unwrap_or_default().to_string_lossy();
        Some(output.join(format!("{stem}.{ending}")))
    }
}

/// Detects keypoints in one file, writes the results and returns a summary.
fn process(
    path: &Path,
    args: &Args,
    mask: Option<&GrayImage>,
    outputs: &Outputs,
    detector: &mut dyn Detector,
) -> Result<String> {
    let image = input::read_image(path, args.color.color(&args.detector)?, &args.read)?;
    let name = || input::name(path);
    let mut view = ImageView::try_from(&image).with_context(name)?;
    if let Some(mask) = mask {
        view = view.with_mask(ImageView::try_from(mask)?).with_context(name)?;
    }
    let start = Instant::now();
    let keypoints = detector.detect(&view).with_context(name)?;
    let time = start.elapsed();
    let rejected = detector.rejected_peaks();

    if let Some(file) = outputs.path(outputs.response.as_ref(), path, "npy") {
        let response = detector.response(&view).with_context(name)?;
        output::whole(&file, |out| output::npy(&response, out))?;
    }
    if let Some(file) = outputs.path(outputs.overlay.as_ref(), path, "png") {
        output::whole(&file, |out| output::png(&overlay::draw(&image, &keypoints), out))?;
    }
    if args.to_stdout() {
        let mut list = Vec::new();
        output::csv(&keypoints, &mut list)?;
        print(&String::from_utf8(list)?)?;
    } else if let Some(file) = outputs.path(outputs.csv.as_ref(), path, "csv") {
        output::whole(&file, |out| Ok(output::csv(&keypoints, out)?))?;
    }
    let found = match (args.detector.detector, rejected) {
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
    let (path, milliseconds) = (input::name(path), time.as_secs_f64() * 1e3);
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

/// Prints to standard output. It is no error if the reader, such as `head`, has closed it.
fn print(text: &str) -> Result<()> {
    match io::Write::write_all(&mut io::stdout().lock(), text.as_bytes()) {
        Err(error) if error.kind() != io::ErrorKind::BrokenPipe => {
            Err(error).context("cannot write to standard output")
        }
        _ => Ok(()),
    }
}

fn progress_bar(length: u64) -> ProgressBar {
    let style = ProgressStyle::with_template("{bar:30} {pos}/{len} {wide_msg}")
        .unwrap_or(ProgressStyle::default_bar());
    ProgressBar::new(length).with_style(style)
}
