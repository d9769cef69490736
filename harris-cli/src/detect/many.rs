//! Many images at once: a pool of workers, each with its own detector.

use std::panic::{self, AssertUnwindSafe};
use std::path::{Path, PathBuf};
use std::process::ExitCode;
use std::sync::{Mutex, PoisonError};
use std::thread;
use std::time::Instant;

use anyhow::{Result, anyhow};
use harris::Backend;
use indicatif::{ProgressBar, ProgressStyle};
use rayon::prelude::*;

use super::args::Args;
use super::image::{Found, Work, process};
use super::journal::{Journal, Record};
use super::outputs::{OneOutput, Outputs};
use super::report::{self, Totals};
use super::shard::Shard;
use super::table;
use crate::options::{BackendOptions, Choice, Detection, Timed};
use crate::{input, messages, output};

/// Images that a worker does before its results are told, in order.
const IMAGES_A_TURN: usize = 4;

/// Threads that work on one image each, and detectors for them.
pub(crate) struct Workers {
    pool: rayon::ThreadPool,
    detectors: Mutex<Vec<Box<dyn Timed>>>,
    backend: BackendOptions,
    detection: Detection,
}

impl Workers {
    /// Makes the threads and the first detector. Hardware threads that the images leave are used
    /// within them, by the CPU backend.
    pub(crate) fn new(
        backend: &mut BackendOptions,
        detection: &Detection,
        jobs: Option<u16>,
        images: usize,
    ) -> Result<Self> {
        let cores = thread::available_parallelism().map_or(1, usize::from);
        let jobs = jobs.map_or(cores / backend.threads.unwrap_or(1).clamp(1, cores), usize::from);
        let jobs = jobs.clamp(1, images.max(1));
        let first = backend.detector(detection)?;
        let mut backend = *backend;
        let first = if backend.backend == Backend::Cpu && backend.threads.is_none() && jobs > 1 {
            backend.threads = Some((cores / jobs).max(1));
            backend.detector(detection)?
        } else {
            first
        };
        let pool = rayon::ThreadPoolBuilder::new().num_threads(jobs).build()?;
        Ok(Self { pool, detectors: Mutex::new(vec![first]), backend, detection: detection.clone() })
    }

    /// Detects in one file. A panic, which would be a fault of this program, is that file's error.
    fn process(&self, path: &Path, work: &Work<'_>, outputs: &OneOutput<'_>) -> Result<Found> {
        let kept = self.detectors.lock().unwrap_or_else(PoisonError::into_inner).pop();
        let mut detector = match kept {
            Some(detector) => detector,
            None => {
                let mut backend = self.backend;
                backend.detector(&self.detection)?
            }
        };
        let found = panic::catch_unwind(AssertUnwindSafe(|| process(path, work, outputs, &mut *detector)));
        match found {
            Ok(found) => {
                self.detectors.lock().unwrap_or_else(PoisonError::into_inner).push(detector);
                found
            }
            Err(_) => Err(anyhow!("{}: a fault of this program; please report it", input::name(path))),
        }
    }
}

/// Detects in all inputs of this part that are not done yet, and writes the table.
pub(crate) fn detect(
    args: &Args,
    choice: &Choice,
    inputs: &[PathBuf],
    outputs: &Outputs,
    work: &Work<'_>,
    workers: &Workers,
) -> Result<ExitCode> {
    let start = Instant::now();
    let shard = args.shard.unwrap_or(Shard::ALL);
    let mut journal = match &outputs.table {
        Some(target) => match Journal::open(args, choice, inputs, target)? {
            Some(journal) => Some(journal),
            None => {
                output::print("the table is complete; remove it to start again\n")?;
                return Ok(ExitCode::SUCCESS);
            }
        },
        None => None,
    };
    let mut totals = Totals::default();
    let is_done = |place: usize| match &journal {
        Some(journal) => journal.has(place),
        None => args.resume && outputs.of(place).exist(),
    };
    let mine: Vec<usize> = (0..inputs.len()).filter(|&place| shard.has(place)).collect();
    let left: Vec<usize> = mine.iter().copied().filter(|&place| !is_done(place)).collect();
    totals.done_before = mine.len() - left.len();

    let progress = if inputs.len() == 1 { ProgressBar::hidden() } else { progress_bar(left.len() as u64) };
    for turn in left.chunks(IMAGES_A_TURN * workers.pool.current_num_threads()) {
        let found: Vec<Result<Found>> = workers.pool.install(|| {
            turn.par_iter()
                .map(|&place| {
                    let found = workers.process(&inputs[place], work, &outputs.of(place));
                    progress.inc(1);
                    found
                })
                .collect()
        });
        for (&place, found) in turn.iter().zip(&found) {
            tell(args, &inputs[place], found, outputs, work, &progress, &mut totals)?;
        }
        if let Some(journal) = &mut journal {
            let records = turn.iter().zip(&found).map(|(&place, found)| Record::new(place, found));
            journal.add(records)?;
        }
    }
    progress.finish_and_clear();
    if let (Some(journal), Some(target)) = (journal, &outputs.table) {
        let mut failed = 0;
        target.write(|out| {
            failed = table::write(&journal, inputs, target.format(), out)?;
            Ok(())
        })?;
        totals.failed = failed;
        journal.remove()?;
    }
    if inputs.len() > 1 && !outputs.to_stdout() {
        let time = start.elapsed();
        output::print(&if args.json { totals.json(time) } else { totals.text(time) })?;
    }
    Ok(if totals.failed > 0 { ExitCode::FAILURE } else { ExitCode::SUCCESS })
}

/// Tells what was found in an image, and counts it.
fn tell(
    args: &Args,
    path: &Path,
    found: &Result<Found>,
    outputs: &Outputs,
    work: &Work<'_>,
    progress: &ProgressBar,
    totals: &mut Totals,
) -> Result<()> {
    totals.images += 1;
    match found {
        Ok(found) => totals.keypoints += found.keypoints.len(),
        Err(error) => {
            totals.failed += 1;
            progress.suspend(|| output::message(messages::error_line(error)));
        }
    }
    match found {
        _ if args.json => progress.suspend(|| output::print(&report::json(path, found))),
        Ok(found) if !outputs.to_stdout() => {
            let text = report::text(path, found, work.kind, outputs.writes_nothing());
            progress.suspend(|| output::print(&text))
        }
        Ok(_) | Err(_) => Ok(()),
    }
}

fn progress_bar(length: u64) -> ProgressBar {
    let style = ProgressStyle::with_template("{bar:30} {pos}/{len} {per_sec} {eta}")
        .unwrap_or(ProgressStyle::default_bar());
    ProgressBar::new(length).with_style(style)
}
