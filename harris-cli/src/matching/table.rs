//! A table of frames per second by image size, as table 5.3 of Loundagin 2015.

use std::time::{Duration, Instant};

use crate::options::{BackendOptions, Detection, number, whole};
use crate::output;
use anyhow::Result;
use clap::Args;
use harris::Backend;
use image::imageops::FilterType;

use crate::matching::pipeline::{Image, Matching, MatchingOptions, Times};

/// Options for the table.
#[derive(Args, Clone, Debug)]
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
            "out", "pairs", "json", "top", "inlier_distance", "no_homography", "repeat", "backend"
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

pub(crate) fn print(
    options: &TableOptions,
    object: &Image,
    scene: &Image,
    detection: &Detection,
    matching: &MatchingOptions,
    backend: BackendOptions,
) -> Result<()> {
    output::print(&format!(
        "{:>6} {:>10} {:>9} {:>8} {:>10} {:>10} {:>10} {:>9}\n",
        "size", "backend", "keypoints", "matches", "detect ms", "describe", "match", "frames/s"
    ))?;
    for &side in options.sizes.iter().flatten() {
        for &name in &options.backends {
            let mut backend = BackendOptions { backend: name, ..backend };
            let resized = |image: &Image| {
                image.map(|picture| picture.resize_exact(side, side, FilterType::Triangle).into())
            };
            let (object, scene) = (resized(object), resized(scene));
            let mut matching = Matching::new(detection.clone(), matching, &mut backend)?;
            let trained = matching.features(&object)?.0;
            // The first frame allocates memory.
            let (found, matches, _) = matching.run(&scene, &trained)?;
            let (mut runs, begin) = (Vec::new(), Instant::now());
            while runs.len() < 3 || begin.elapsed() < Duration::from_secs_f64(options.seconds) {
                runs.push(matching.run(&scene, &trained)?.2);
            }
            let times = Times::median(&runs);
            let ms = |time: Duration| time.as_secs_f64() * 1e3;
            output::print(&format!(
                "{side:>6} {:>10} {:>9} {:>8} {:>10.3} {:>10.3} {:>10.3} {:>9.1}\n",
                backend.name(),
                found.keypoints.len(),
                matches.len(),
                ms(times.detect),
                ms(times.describe),
                ms(times.find),
                1.0 / times.total().as_secs_f64(),
            ))?;
        }
    }
    Ok(())
}
