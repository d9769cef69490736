//! A table of frames per second by image size, as table 5.3 of Loundagin 2015.

use std::time::{Duration, Instant};

use anyhow::Result;
use harris::Backend;
use image::imageops::FilterType;

use super::pipeline::{Matching, MatchingOptions, Times};
use crate::input::Picture;
use crate::options::{BackendOptions, Detection, number, whole};
use crate::{messages, output};

/// Options for the table.
#[derive(clap::Args, Clone, Debug)]
#[command(next_help_heading = "Table of frames per second")]
pub(crate) struct TableOptions {
    /// Print frames per second for these sizes, 1 to 65536, instead of matching; the object and the
    /// first scene are scaled to each
    #[arg(
        long,
        value_name = "SIDE,...",
        value_delimiter = ',',
        num_args = 0..,
        default_missing_value = "32,64,128,256,512,1024",
        value_parser = whole::<u32>(1..=65_536),
        conflicts_with_all = [
            "out", "pairs", "top", "inlier_distance", "no_homography", "repeat", "backend"
        ]
    )]
    sizes: Option<Vec<u32>>,
    /// Backends of the table of --sizes
    #[arg(
        long,
        value_enum,
        value_name = "NAME,...",
        value_delimiter = ',',
        default_value = "reference,cpu",
        requires = "sizes"
    )]
    backends: Vec<Backend>,
    /// Time for each entry of the table of --sizes, 0 to 3600 seconds
    #[arg(
        long,
        value_name = "NUMBER",
        default_value_t = 0.5,
        value_parser = number(0.0..=3600.0, "seconds"),
        requires = "sizes"
    )]
    seconds: f64,
}

impl TableOptions {
    pub(crate) fn wanted(&self) -> bool {
        self.sizes.is_some()
    }
}

/// Prints a row for each size and backend: the medians of the stages' times.
///
/// # Errors
/// An image is too large or too small, or a backend cannot be used.
pub(super) fn print(
    options: &TableOptions,
    [object, scene]: [&Picture; 2],
    detection: &Detection,
    matching: &MatchingOptions,
    backend: BackendOptions,
    json: bool,
) -> Result<()> {
    let TableOptions { sizes, backends, seconds } = options;
    if !json {
        output::print(&format!(
            "{:>6} {:>10} {:>9} {:>8} {:>11} {:>10} {:>9}\n",
            "size", "backend", "keypoints", "matches", "features ms", "match", "frames/s"
        ))?;
    }
    for &side in sizes.iter().flatten() {
        for &name in backends {
            let mut backend = BackendOptions { backend: name, ..backend };
            let resized =
                |image: &Picture| Picture::from(image.resize_exact(side, side, FilterType::Triangle));
            let (object, scene) = (resized(object), resized(scene));
            let mut matching = Matching::new(detection, matching, &mut backend)?;
            let trained = matching.features(&object)?;
            // The first frame allocates memory.
            let (found, matches, _) = matching.run(&scene, &trained)?;
            let (mut runs, begin) = (Vec::new(), Instant::now());
            while runs.len() < 3 || begin.elapsed() < Duration::from_secs_f64(*seconds) {
                runs.push(matching.run(&scene, &trained)?.2);
            }
            let times = Times::median(&runs);
            let (features, find) =
                (messages::milliseconds(times.features), messages::milliseconds(times.matching));
            let (keypoints, matches) = (found.keypoints.len(), matches.len());
            let rate = 1.0 / times.total().as_secs_f64();
            output::print(&match json {
                true => {
                    let row = serde_json::json!({
                        "size": side,
                        "backend": backend.shown(matching.describe()),
                        "keypoints": keypoints,
                        "matches": matches,
                        "features_ms": features,
                        "match_ms": find,
                        "frames_per_s": rate,
                    });
                    format!("{row}\n")
                }
                false => format!(
                    "{side:>6} {:>10} {keypoints:>9} {matches:>8} {features:>11.3} {find:>10.3} {rate:>9.1}\n",
                    backend.name(),
                ),
            })?;
        }
    }
    Ok(())
}
