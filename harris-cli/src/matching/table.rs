//! A table of frames per second by image size, as table 5.3 of Loundagin 2015.

use std::time::{Duration, Instant};

use crate::options::{BackendOptions, DetectorOptions};
use crate::output;
use anyhow::{Result, ensure};
use clap::Args;
use harris::Backend;
use harris_core::ImageView;
use image::DynamicImage;
use image::imageops::FilterType;

use crate::matching::pipeline::{Matching, MatchingOptions, Times};

/// Options for the table.
#[derive(Args, Clone, Debug)]
#[command(next_help_heading = "Table of frames per second")]
pub(crate) struct TableOptions {
    /// Print frames per second for these sizes instead of matching; the object and the first scene
    /// are scaled to each
    #[arg(long, value_name = "SIDE,...", value_delimiter = ',', num_args = 0.., default_missing_value = "32,64,128,256,512,1024")]
    sizes: Option<Vec<u32>>,
    /// Backends of the table
    #[arg(long, value_enum, value_name = "NAME,...", value_delimiter = ',', default_value = "reference,cpu")]
    backends: Vec<Backend>,
    /// Time for each entry of the table, in seconds
    #[arg(long, value_name = "NUMBER", default_value_t = 0.5)]
    seconds: f64,
}

impl TableOptions {
    pub(crate) fn wanted(&self) -> bool {
        self.sizes.is_some()
    }
}

pub(crate) fn print(
    options: &TableOptions,
    object: &DynamicImage,
    scene: &DynamicImage,
    detector: &DetectorOptions,
    matching: &MatchingOptions,
    backend: BackendOptions,
) -> Result<()> {
    ensure!(options.sizes.iter().flatten().all(|side| *side >= 1), "sizes must be at least 1");
    output::print(&format!(
        "{:>6} {:>10} {:>9} {:>8} {:>10} {:>10} {:>10} {:>9}\n",
        "size", "backend", "keypoints", "matches", "detect ms", "describe", "match", "frames/s"
    ))?;
    for &side in options.sizes.iter().flatten() {
        for &name in &options.backends {
            let mut backend = BackendOptions { backend: name, ..backend };
            let resized = |image: &DynamicImage| image.resize_exact(side, side, FilterType::Triangle);
            let (object, scene) = (resized(object), resized(scene));
            let mut matching = Matching::new(detector.choice()?.detection, matching, &mut backend)?;
            let trained = matching.features(&ImageView::try_from(&object)?)?.0;
            let view = ImageView::try_from(&scene)?;
            // The first frame allocates memory.
            let (found, matches, _) = matching.run(&view, &trained)?;
            let (mut runs, begin) = (Vec::new(), Instant::now());
            while runs.len() < 3 || begin.elapsed() < Duration::from_secs_f64(options.seconds) {
                runs.push(matching.run(&view, &trained)?.2);
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
