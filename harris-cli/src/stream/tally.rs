//! The counts and times of all frames so far, and the summary of them.

use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::time::{Duration, Instant};

use anyhow::{Context, Result};
use serde::Serialize;

use crate::{messages, output};

/// Counts of frames, which the end of the program by a signal reads, too.
#[derive(Clone)]
pub(crate) struct Tally(Arc<Mutex<Counts>>);

/// What is counted.
pub(crate) struct Counts {
    start: Instant,
    /// The number of frames that are done, or cannot be read.
    pub(crate) done: usize,
    pub(crate) latencies: Vec<Duration>,
    pub(crate) failed: usize,
    pub(crate) keypoints: usize,
    /// The number of frames with the object, if one is searched for.
    pub(crate) found: Option<usize>,
}

/// A summary of all frames.
#[derive(Serialize)]
pub(crate) struct Summary {
    backend: String,
    frames: usize,
    pub(crate) failed: usize,
    total_s: f64,
    frames_per_s: f64,
    keypoints: usize,
    /// The number of frames with the object.
    #[serde(skip_serializing_if = "Option::is_none")]
    found: Option<usize>,
    latency_ms: Latency,
    /// What ended the video before its end.
    #[serde(skip_serializing_if = "Option::is_none")]
    error: Option<String>,
}

/// Latency from a frame's arrival to its list, in milliseconds.
#[derive(Serialize)]
struct Latency {
    median: f64,
    p95: f64,
    p99: f64,
    max: f64,
}

impl Tally {
    /// Makes a tally without frames. `searches` tells whether an object is searched for.
    pub(crate) fn new(start: Instant, searches: bool) -> Self {
        let (latencies, found) = (Vec::new(), searches.then_some(0));
        Self(Arc::new(Mutex::new(Counts { start, done: 0, latencies, failed: 0, keypoints: 0, found })))
    }

    /// Returns the counts. Nobody else has them meanwhile.
    pub(crate) fn counts(&self) -> MutexGuard<'_, Counts> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Prints the summary if a signal ends the program before [`Tally::summary`].
    pub(crate) fn print_on_signals(&self, backend: String, json: bool) {
        let tally = self.clone();
        output::print_on_signals(move || {
            let summary = tally.counts().summary(backend, Some("a signal ended the program".to_owned()));
            // There is nobody to tell.
            let _ = summary.print(json);
        });
    }

    /// Returns the summary, and `error` with it: what ended the video before its end.
    pub(crate) fn summary(&self, backend: String, error: Option<String>) -> Summary {
        output::print_nothing_on_signals();
        self.counts().summary(backend, error)
    }
}

impl Counts {
    fn summary(&mut self, backend: String, error: Option<String>) -> Summary {
        let seconds = self.start.elapsed().as_secs_f64();
        self.latencies.sort();
        let last = self.latencies.len().saturating_sub(1);
        let latency = |part: f64| {
            let i = (part * last as f64).round() as usize;
            self.latencies.get(i).map_or(0.0, |latency| messages::milliseconds(*latency))
        };
        Summary {
            backend,
            frames: self.done,
            failed: self.failed,
            total_s: seconds,
            frames_per_s: self.done as f64 / seconds,
            keypoints: self.keypoints,
            found: self.found,
            latency_ms: Latency {
                median: latency(0.5),
                p95: latency(0.95),
                p99: latency(0.99),
                max: latency(1.0),
            },
            error,
        }
    }
}

impl Summary {
    /// Prints the summary as text, or as a line of JSON.
    pub(crate) fn print(&self, json: bool) -> Result<()> {
        if json {
            return output::print(&(serde_json::to_string(self).context("a summary is JSON")? + "\n"));
        }
        output::print(&self.text())
    }

    /// Formats two lines for people.
    pub(crate) fn text(&self) -> String {
        let Self { backend, frames, failed, total_s, frames_per_s, keypoints, found, latency_ms, .. } = self;
        let Latency { median, p95, p99, max } = latency_ms;
        let each = messages::count(keypoints / (frames - failed).max(1), "keypoint");
        let frames = messages::count(*frames, "frame");
        let found = found.map_or_else(String::new, |found| format!("the object is in {found}, "));
        format!(
            "{frames} in {total_s:.2} s, {frames_per_s:.1} a second, {found}{failed} failed; {each} a frame  ({backend})\n\
             latency: median {median:.3} ms, 95 % {p95:.3}, 99 % {p99:.3}, longest {max:.3}\n"
        )
    }
}
