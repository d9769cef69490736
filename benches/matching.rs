//! Exact matching alone: a line of JSON for each number of descriptors.
//!
//! ```sh
//! cargo bench -p harris-benches --bench matching -- 2000 10000 --threads 1 --seconds 1
//! ```
//!
//! As many descriptors are searched for as among. `matching.py` measures other programs on the same
//! ones, by turns with this.

use std::process::ExitCode;
use std::time::Instant;

use harris::Backend;
use harris_core::Error;
use harris_core::matching::{MatchConfig, Matcher};
use harris_core::surf::LENGTH;
use harris_cpu::CpuMatcher;
use ndarray::Array2;

/// What is measured, unless the arguments tell otherwise.
struct Options {
    counts: Vec<usize>,
    backend: Backend,
    /// Threads of the CPU; by default all.
    threads: Option<usize>,
    /// Least time for each number, after the first run.
    seconds: f64,
    /// Whether a filter lets this benchmark run.
    is_wanted: bool,
}

impl Options {
    fn parse(mut args: impl Iterator<Item = String>) -> Option<Self> {
        let mut options =
            Self { counts: Vec::new(), backend: Backend::Cpu, threads: None, seconds: 0.5, is_wanted: true };
        while let Some(arg) = args.next() {
            match arg.as_str() {
                // Cargo tells that it runs a benchmark.
                "--bench" => {}
                // As criterion's benchmarks: one short run.
                "--test" => (options.counts, options.seconds) = (vec![100], 0.0),
                "--backend" => options.backend = args.next()?.parse().ok()?,
                "--threads" => options.threads = Some(args.next()?.parse().ok()?),
                "--seconds" => options.seconds = args.next()?.parse().ok()?,
                // A filter of criterion's benchmarks, which run with the same arguments.
                filter if filter.starts_with(char::is_alphabetic) => {
                    options.is_wanted &= "matching".contains(filter);
                }
                count => options.counts.push(count.parse().ok()?),
            }
        }
        if options.counts.is_empty() {
            options.counts = vec![500, 2000];
        }
        Some(options)
    }

    /// Makes a matcher for which every nearest descriptor is a match.
    fn matcher(&self) -> Result<Box<dyn Matcher>, Error> {
        match (self.backend, self.threads) {
            (Backend::Cpu, Some(threads)) => {
                Ok(Box::new(CpuMatcher::with_threads(MatchConfig::nearest(), threads)?))
            }
            (backend, _) => harris::matcher(backend, MatchConfig::nearest()),
        }
    }
}

/// Returns descriptors of pseudo-random values from -0.5 to 0.5 (SplitMix64, its upper 24 bits).
fn descriptors(count: usize, seed: u64) -> Array2<f32> {
    Array2::from_shape_fn((count, LENGTH), |(i, j)| {
        let mut z =
            (seed << 40).wrapping_add((i * LENGTH + j) as u64 + 1).wrapping_mul(0x9e37_79b9_7f4a_7c15);
        z = (z ^ z >> 30).wrapping_mul(0xbf58_476d_1ce4_e5b9);
        z = (z ^ z >> 27).wrapping_mul(0x94d0_49bb_1331_11eb);
        ((z ^ z >> 31) >> 40) as f32 / 16_777_216.0 - 0.5
    })
}

fn measure(options: &Options) -> Result<(), Error> {
    let counts = if options.is_wanted { &options.counts[..] } else { &[] };
    for &count in counts {
        let (query, train) = (descriptors(count, 1), descriptors(count, 2));
        let mut matcher = options.matcher()?;
        let mut search = || {
            let start = Instant::now();
            let matches = matcher.matches(query.view(), train.view())?;
            Ok::<_, Error>((start.elapsed().as_secs_f64() * 1e3, matches))
        };
        let (first, matches) = search()?;
        // The first run takes memory. It counts only where it takes longer than the time for all.
        let (mut times, begin) = (Vec::new(), Instant::now());
        while first < options.seconds * 1e3
            && (times.len() < 3 || begin.elapsed().as_secs_f64() < options.seconds)
        {
            times.push(search()?.0);
        }
        if times.is_empty() {
            times.push(first);
        }
        times.sort_by(f64::total_cmp);
        // By which other programs are compared.
        let sum: usize = matches.iter().map(|found| found.train).sum();
        println!(
            "{{\"descriptors\": {count}, \"runs\": {}, \"median_ms\": {:.4}, \"min_ms\": {:.4}, \"sum\": {sum}}}",
            times.len(),
            times[times.len() / 2],
            times[0],
        );
    }
    Ok(())
}

fn main() -> ExitCode {
    let Some(options) = Options::parse(std::env::args().skip(1)) else {
        eprintln!("usage: matching [NUMBER...] [--backend NAME] [--threads NUMBER] [--seconds NUMBER]");
        return ExitCode::from(2);
    };
    match measure(&options) {
        Ok(()) => ExitCode::SUCCESS,
        Err(error) => {
            eprintln!("error: {error}");
            ExitCode::FAILURE
        }
    }
}
