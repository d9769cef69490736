//! Lines for people and lines of JSON about each image and about all.

use std::path::Path;
use std::time::Duration;

use anyhow::Result;
use harris_core::Keypoint;
use serde_json::json;

use super::image::Found;
use crate::options::Kind;
use crate::{input, messages};

/// Formats one line about an image, and the strongest few keypoints if `with_strongest` is true.
pub(crate) fn text(path: &Path, found: &Found, kind: Kind, with_strongest: bool) -> String {
    let Found { width, height, keypoints, rejected, time, backend } = found;
    let what = match (kind, rejected) {
        (Kind::Harris, _) => messages::count(keypoints.len(), "corner"),
        (Kind::FastHessian, None) => messages::count(keypoints.len(), "blob"),
        (Kind::FastHessian, Some(rejected)) => {
            let blobs = messages::count(keypoints.len(), "blob");
            format!("{blobs} ({rejected} more rejected between samples)")
        }
    };
    let (path, milliseconds) = (input::name(path), messages::milliseconds(*time));
    let mut text = format!("{path}: {width} x {height}, {what} in {milliseconds:.2} ms ({backend})\n");
    if with_strongest {
        let mut strongest = keypoints.clone();
        strongest.sort_unstable();
        for Keypoint { x, y, response, .. } in strongest.iter().take(5) {
            text += &format!("  x {x:>8.2}  y {y:>8.2}  response {response:.3e}\n");
        }
    }
    text
}

/// Formats a line of JSON about an image.
pub(crate) fn json(path: &Path, found: &Result<Found>) -> String {
    let file = input::name_for_programs(path);
    let line = match found {
        Ok(found) => json!({
            "file": file,
            "width": found.width,
            "height": found.height,
            "keypoints": found.keypoints.len(),
            "detect_ms": messages::milliseconds(found.time),
            "backend": found.backend,
        }),
        Err(error) => json!({ "file": file, "error": format!("{error:#}") }),
    };
    format!("{line}\n")
}

/// The totals of a run.
#[derive(Default)]
pub(crate) struct Totals {
    /// Images of this run.
    pub(crate) images: usize,
    /// Images that could not be read or written.
    pub(crate) failed: usize,
    pub(crate) keypoints: usize,
    /// Images that an earlier run had done.
    pub(crate) done_before: usize,
}

impl Totals {
    /// Formats one line about all images.
    pub(crate) fn text(&self, time: Duration) -> String {
        let Self { images, failed, keypoints, done_before } = self;
        let seconds = time.as_secs_f64();
        let rate = *images as f64 / seconds.max(1e-9);
        let before = match done_before {
            0 => String::new(),
            1 => "; 1 more was done before".to_owned(),
            before => format!("; {before} more were done before"),
        };
        format!(
            "{} in {seconds:.2} s, {rate:.1} a second, {failed} failed; {}{before}\n",
            messages::count(*images, "image"),
            messages::count(*keypoints, "keypoint"),
        )
    }

    /// Formats a line of JSON about all images.
    pub(crate) fn json(&self, time: Duration) -> String {
        let line = json!({
            "images": self.images,
            "failed": self.failed,
            "keypoints": self.keypoints,
            "done_before": self.done_before,
            "total_s": time.as_secs_f64(),
        });
        format!("{line}\n")
    }
}
