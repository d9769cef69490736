//! Runs the experiments of the published systems that this library contains, and writes tables
//! (CSV), charts (SVG) and a report (Markdown) for each: the papers' figures beside ours.
//!
//! ```sh
//! harris reproduce all --out results
//! ```

mod chahuara;
mod engines;
mod hofmann;
mod jobanputra;
mod loundagin;
mod machine;
mod photographs;
mod phull;
mod published;
mod quality;
mod report;
mod summary;

use std::ffi::OsStr;
use std::path::PathBuf;
use std::process::ExitCode;

use crate::input;
use crate::output::{self, OutputPlan};
use anyhow::{Context, Result, ensure};
use clap::ValueEnum;
use harris::Backend;
use indicatif::{ProgressBar, ProgressDrawTarget, ProgressStyle};

use crate::reproduce::engines::{Bench, Engines};
use crate::reproduce::report::Report;

/// Runs the experiments of the published systems that this library contains
#[derive(clap::Args)]
pub struct Args {
    /// Experiment to run
    #[arg(value_enum)]
    experiment: Experiment,
    /// Backends to measure; by default all that this machine has
    #[arg(long, value_delimiter = ',', value_name = "NAME,...")]
    backend: Vec<Backend>,
    /// Maximum number of threads of the CPU backend; by default the number of hardware threads, and
    /// in jobanputra also the numbers of the paper
    #[arg(long, value_name = "NUMBER")]
    threads: Option<usize>,
    /// Number of the GPU
    #[arg(long, value_name = "NUMBER", default_value_t = 0)]
    device: u32,
    /// Photographs; by default those that come with the program
    #[arg(long, value_name = "FOLDER")]
    images: Option<PathBuf>,
    /// Output folder; created if it does not exist
    #[arg(long, value_name = "DIR", default_value = "results")]
    out: PathBuf,
    /// Duration of each measurement, in seconds
    #[arg(long, value_name = "NUMBER", default_value_t = 0.05)]
    seconds: f64,
    /// Longest side of an image; a small one shortens the run
    #[arg(long, value_name = "PIXELS", default_value_t = 4096)]
    largest: usize,
}

/// The experiments.
#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
enum Experiment {
    /// Stages, whole pipeline and feature matching by image size
    Loundagin,
    /// Frames per second, speed-up by threads, steps of the GPU, masks against a list
    Jobanputra,
    /// LoCoCo against Harris by image and kernel size
    Phull,
    /// Chessboards in gray and colour, photographs, precision and recall, Rosin's threshold
    Chahuara,
    /// The Fast-Hessian detector by image size and step
    Hofmann,
    /// Repeatability and localisation by measure, preset and subpixel mode
    Quality,
    /// The times of the whole pipeline of all papers and of this library, in one chart
    Summary,
    /// All experiments
    All,
}

impl Experiment {
    const EACH: [Self; 7] = [
        Self::Loundagin,
        Self::Jobanputra,
        Self::Phull,
        Self::Chahuara,
        Self::Hofmann,
        Self::Quality,
        Self::Summary,
    ];

    fn run(self, report: &mut Report, bench: &Bench) -> Result<()> {
        match self {
            Self::Loundagin => loundagin::run(report, bench),
            Self::Jobanputra => jobanputra::run(report, bench),
            Self::Phull => phull::run(report, bench),
            Self::Chahuara => chahuara::run(report, bench),
            Self::Hofmann => hofmann::run(report, bench),
            Self::Quality => quality::run(report, bench),
            Self::Summary => summary::run(report, bench),
            Self::All => unreachable!("all are run one by one"),
        }
    }

    fn name(self) -> String {
        self.to_possible_value().map(|value| value.get_name().to_owned()).unwrap_or_default()
    }
}

/// Runs the subcommand.
///
/// # Errors
/// What failed, for one line.
pub fn run(args: Args) -> Result<ExitCode> {
    ensure!(args.seconds > 0.0 && args.seconds.is_finite(), "the time for a measurement must be above 0");
    ensure!(args.largest >= 128, "the longest side must be at least 128");
    let mut plan = OutputPlan::new();
    if let Some(folder) = &args.images {
        plan.reads("photograph", input::expand(std::slice::from_ref(folder))?);
    }
    plan.folder("--out", &args.out, is_result)?;
    let photographs = photographs::read(args.images.as_deref())?;
    let engines = Engines::new(&args.backend, args.threads, args.device)?;
    plan.finish()?;
    let bench =
        Bench { photographs, engines, seconds: args.seconds, largest: args.largest, progress: spinner() };
    let experiments = match args.experiment {
        Experiment::All => Experiment::EACH.to_vec(),
        one => vec![one],
    };
    for experiment in experiments {
        let name = experiment.name();
        let mut report = Report::new(&name, machine::describe(&bench.engines));
        experiment.run(&mut report, &bench).with_context(|| format!("the experiment {name} failed"))?;
        let path = report.write(&args.out)?;
        bench.progress.suspend(|| output::print(&format!("{}\n", path.display())))?;
    }
    bench.progress.finish_and_clear();
    Ok(ExitCode::SUCCESS)
}

/// Whether a file of the output folder may be one of ours.
fn is_result(name: &OsStr) -> bool {
    let name = name.to_string_lossy();
    Experiment::EACH.iter().any(|experiment| name.starts_with(&experiment.name()))
        && [".csv", ".md", ".svg"].iter().any(|ending| name.ends_with(ending))
}

fn spinner() -> ProgressBar {
    let style = ProgressStyle::with_template("{elapsed:>4} {wide_msg}").expect("the template is valid");
    let progress = ProgressBar::with_draw_target(None, ProgressDrawTarget::stderr()).with_style(style);
    progress.enable_steady_tick(std::time::Duration::from_millis(200));
    progress
}
