//! The time of reading images alone, many at once: the limit of detection in folders.

use std::path::Path;
use std::process::ExitCode;
use std::thread;
use std::time::Instant;

use anyhow::{Context, Result};
use rayon::prelude::*;
use serde::Serialize;

use crate::input::{self, ReadOptions};
use crate::{messages, output};

#[derive(Serialize)]
struct Rate {
    images: usize,
    failed: usize,
    jobs: usize,
    total_s: f64,
    images_per_s: f64,
    mpix_per_s: f64,
}

/// Reads all images of a folder and prints the rate. Files that cannot be read are named and
/// counted; the exit code is then 1.
pub(super) fn run(folder: &Path, jobs: Option<u16>, color: bool, json: bool) -> Result<ExitCode> {
    let files = input::expand(&[folder.to_owned()])?;
    let jobs = jobs.map_or_else(|| thread::available_parallelism().map_or(1, usize::from), usize::from);
    let pool = rayon::ThreadPoolBuilder::new().num_threads(jobs).build()?;
    let start = Instant::now();
    let pixels: Vec<Result<u64>> = pool.install(|| {
        let read = |file: &std::path::PathBuf| {
            let image = input::read_image(file, color, &ReadOptions::default())?;
            Ok(u64::from(image.width()) * u64::from(image.height()))
        };
        files.par_iter().map(read).collect()
    });
    let seconds = start.elapsed().as_secs_f64();
    let mut failed = 0;
    for error in pixels.iter().filter_map(|pixels| pixels.as_ref().err()) {
        output::message(messages::error_line(error));
        failed += 1;
    }
    let rate = Rate {
        images: files.len(),
        failed,
        jobs,
        total_s: seconds,
        images_per_s: files.len() as f64 / seconds,
        mpix_per_s: pixels.iter().flatten().sum::<u64>() as f64 / 1e6 / seconds,
    };
    let code = if failed > 0 { ExitCode::FAILURE } else { ExitCode::SUCCESS };
    if json {
        output::print(&(serde_json::to_string(&rate).context("a rate is JSON")? + "\n"))?;
        return Ok(code);
    }
    let Rate { images, images_per_s, mpix_per_s, .. } = rate;
    let (images, threads) = (messages::count(images, "image"), messages::count(jobs, "thread"));
    output::print(&format!(
        "read {images} in {seconds:.2} s, {images_per_s:.1} a second, {mpix_per_s:.0} Mpix/s, by {threads}; {failed} failed\n"
    ))?;
    Ok(code)
}
