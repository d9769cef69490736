//! The time of reading images alone, many at once: the limit of detection in folders.

use std::path::Path;
use std::thread;
use std::time::Instant;

use anyhow::{Context, Result};
use rayon::prelude::*;
use serde::Serialize;

use crate::input::{self, ReadOptions};
use crate::output;

#[derive(Serialize)]
struct Rate {
    images: usize,
    failed: usize,
    jobs: usize,
    total_s: f64,
    images_per_s: f64,
    mpix_per_s: f64,
}

/// Reads all images of a folder and prints the rate. Files that cannot be read are counted.
pub(super) fn run(folder: &Path, jobs: Option<u16>, color: bool, json: bool) -> Result<()> {
    let files = input::expand(&[folder.to_owned()])?;
    let jobs = jobs.map_or_else(|| thread::available_parallelism().map_or(1, usize::from), usize::from);
    let pool = rayon::ThreadPoolBuilder::new().num_threads(jobs).build()?;
    let start = Instant::now();
    let pixels: Vec<Option<u64>> = pool.install(|| {
        let read = |file: &std::path::PathBuf| {
            let image = input::read_image(file, color, &ReadOptions::default()).ok()?;
            Some(u64::from(image.width()) * u64::from(image.height()))
        };
        files.par_iter().map(read).collect()
    });
    let seconds = start.elapsed().as_secs_f64();
    let failed = pixels.iter().filter(|pixels| pixels.is_none()).count();
    let rate = Rate {
        images: files.len(),
        failed,
        jobs,
        total_s: seconds,
        images_per_s: files.len() as f64 / seconds,
        mpix_per_s: pixels.iter().flatten().sum::<u64>() as f64 / 1e6 / seconds,
    };
    if json {
        return output::print(&(serde_json::to_string(&rate).context("a rate is JSON")? + "\n"));
    }
    let Rate { images, images_per_s, mpix_per_s, .. } = rate;
    output::print(&format!(
        "read {images} images in {seconds:.2} s, {images_per_s:.1} a second, {mpix_per_s:.0} Mpix/s, by {jobs} threads; {failed} failed\n"
    ))
}
