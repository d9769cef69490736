//! Many images at once: threads with a detector each.

use std::collections::BTreeMap;
use std::panic::{self, AssertUnwindSafe};
use std::path::{Path, PathBuf};
use std::process::ExitCode;
use std::sync::{Mutex, PoisonError, mpsc};
use std::thread;
use std::time::Instant;

use anyhow::{Context, Result, anyhow};
use harris::Backend;
use indicatif::{ProgressBar, ProgressStyle};

use super::args::Args;
use super::image::{Found, Work, process};
use super::journal::{self, Journal};
use super::outputs::{OneOutput, Outputs};
use super::report::{self, Totals};
use super::shard::Shard;
use super::stamp::{Checked, Stamp};
use super::table;
use crate::options::{BackendOptions, Choice, Detection, Timed};
use crate::output::Target;
use crate::{input, messages, output};

/// Images for each thread that may be begun before the first of them is done.
const IMAGES_AHEAD: usize = 16;

/// Threads that work on one image each, and detectors for them.
pub(crate) struct Workers {
    threads: usize,
    detectors: Mutex<Vec<Box<dyn Timed>>>,
    backend: BackendOptions,
    detection: Detection,
}

impl Workers {
    /// Chooses the number of threads, and makes the first detector. Hardware threads that the images leave are used
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
        let detectors = Mutex::new(vec![first]);
        Ok(Self { threads: jobs, detectors, backend, detection: detection.clone() })
    }

    /// Does the work on images of the numbers from 0 to `images`, several at once. Passes the
    /// results to `take` in the order of the images.
    ///
    /// The threads are not rayon's: one of its threads that waits for a part of its image would
    /// begin another image meanwhile.
    fn in_order<T: Send>(
        &self,
        images: usize,
        work: impl Fn(usize) -> T + Sync,
        mut take: impl FnMut(usize, T) -> Result<()>,
    ) -> Result<()> {
        thread::scope(|scope| {
            // Both channels end with this closure, also after an error, and the threads with them.
            let (numbers, queue) = mpsc::channel();
            let (sender, results) = mpsc::channel();
            let queue = std::sync::Arc::new(Mutex::new(queue));
            for _ in 0..self.threads.min(images) {
                let (queue, sender, work) = (queue.clone(), sender.clone(), &work);
                let run = move || {
                    loop {
                        let Ok(image) = queue.lock().unwrap_or_else(PoisonError::into_inner).recv() else {
                            break;
                        };
                        if sender.send((image, work(image))).is_err() {
                            break;
                        }
                    }
                };
                thread::Builder::new().spawn_scoped(scope, run).context("cannot start a thread")?;
            }
            let mut begun = images.min(IMAGES_AHEAD * self.threads);
            (0..begun).try_for_each(|image| numbers.send(image))?;
            let mut early = BTreeMap::new();
            for due in 0..images {
                let result = loop {
                    match early.remove(&due) {
                        Some(result) => break result,
                        None => early.extend([results.recv()?]),
                    }
                };
                take(due, result)?;
                if begun < images {
                    numbers.send(begun)?;
                    begun += 1;
                }
            }
            Ok(())
        })
    }

    /// Detects in one file. A panic, which would be a fault of this program, is that file's error.
    fn process(&self, path: &Path, work: &Work<'_>, outputs: &OneOutput<'_>) -> Result<Found> {
        let detect = || {
            let kept = self.detectors.lock().unwrap_or_else(PoisonError::into_inner).pop();
            let mut detector = match kept {
                Some(detector) => detector,
                None => {
                    let mut backend = self.backend;
                    backend.detector(&self.detection)?
                }
            };
            let found = process(path, work, outputs, &mut *detector);
            self.detectors.lock().unwrap_or_else(PoisonError::into_inner).push(detector);
            found
        };
        panic::catch_unwind(AssertUnwindSafe(detect)).unwrap_or_else(|_| {
            Err(anyhow!("{}: a fault of this program; please report it", input::name(path)))
        })
    }
}

/// Detects in all inputs of this part that are not done yet, and writes the table. `one` tells
/// whether there is one input that is named by itself.
pub(crate) fn detect(
    args: &Args,
    choice: &Choice,
    inputs: &[PathBuf],
    outputs: &Outputs,
    work: &Work<'_>,
    workers: &Workers,
    one: bool,
) -> Result<ExitCode> {
    let start = Instant::now();
    let shard = args.shard.unwrap_or(Shard::ALL);
    let mut journal = match (&outputs.journal, &outputs.table) {
        (Some(path), table) => {
            let table = table.as_ref().and_then(Target::path);
            let journal = Journal::open(path, args, choice, inputs, table)?;
            // Nobody else has the journal, so what a killed run left is of no use to anybody.
            outputs.folders().iter().for_each(|folder| output::remove_abandoned(folder));
            Some(journal)
        }
        (None, Some(_)) => Some(Journal::temporary()?),
        (None, None) => None,
    };
    let mut totals = Totals::default();
    let is_done = |place: usize| {
        args.resume && journal.as_ref().is_some_and(|journal| journal.has(&inputs[place], &outputs.of(place)))
    };
    let mine: Vec<usize> = (0..inputs.len()).filter(|&place| shard.has(place)).collect();
    let left: Vec<usize> = mine.iter().copied().filter(|&place| !is_done(place)).collect();
    totals.done_before = mine.len() - left.len();

    let progress = if inputs.len() == 1 { ProgressBar::hidden() } else { progress_bar(left.len() as u64) };
    let process = |i: usize| {
        let stamp = Stamp::of(&inputs[left[i]]);
        let found = workers.process(&inputs[left[i]], work, &outputs.of(left[i]));
        progress.inc(1);
        (stamp, found)
    };
    workers.in_order(left.len(), process, |i, (stamp, found)| {
        let place = left[i];
        tell(args, &inputs[place], &found, outputs, work, &progress, &mut totals)?;
        match &mut journal {
            Some(journal) => journal.add(&inputs[place], stamp, &outputs.of(place), &found),
            None => Ok(()),
        }
    })?;
    progress.finish_and_clear();
    if let (Some(journal), Some(target)) = (&mut journal, &outputs.table) {
        if left.is_empty() && journal.has_table() {
            let path = target.path().unwrap_or(Path::new("")).display();
            output::message(format_args!("{path} is complete: its images have not changed since"));
        } else {
            let images: Vec<&Path> = mine.iter().map(|&place| inputs[place].as_path()).collect();
            totals.failed = write_table(journal, &images, target)?;
        }
    }
    if (args.json || !one) && !outputs.to_stdout() {
        let time = start.elapsed();
        output::print(&if args.json { totals.json(time) } else { totals.text(time) })?;
    }
    Ok(if totals.failed > 0 { ExitCode::FAILURE } else { ExitCode::SUCCESS })
}

/// Writes the table. Returns the number of images that could not be read.
fn write_table(journal: &mut Journal, images: &[&Path], target: &Target) -> Result<usize> {
    let mut failed = 0;
    target.write(|out| {
        let mut out = Checked::new(out);
        failed = table::write(journal, images, target.format(), &mut out)?;
        journal.add_table(out.content())
    })?;
    if let (false, Some(path)) = (journal.lasts(), target.path()) {
        journal::remove_old(path);
    }
    Ok(failed)
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
