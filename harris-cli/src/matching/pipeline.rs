//! From images to matches, with the time of each stage.

use std::fmt;
use std::time::{Duration, Instant};

use crate::options::{BackendOptions, Detection, Timed};
use anyhow::Result;
use clap::Args;
use harris_core::matching::{Match, MatchConfig, Matcher};
use harris_core::surf::{Extractor, SurfConfig};
use harris_core::{ImageView, Keypoint};
use harris_cpu::ApproximateMatcher;
use ndarray::Array2;

/// Options for description and matching.
#[derive(Args, Clone, Debug)]
#[command(next_help_heading = "Description and matching")]
pub(crate) struct MatchingOptions {
    /// Use upright descriptors: faster, and better if images are not rotated
    #[arg(long)]
    pub(crate) upright: bool,
    /// Factor on scales for description; by default 2 for corners, which have the scale 1, and 1
    /// for blobs
    #[arg(long, value_name = "FACTOR")]
    pub(crate) magnification: Option<f32>,
    /// A match's distance must be less than this fraction of the second nearest's
    #[arg(long, default_value_t = 0.7)]
    pub(crate) ratio: f32,
    /// Keep only matches in which each is the other's nearest
    #[arg(long)]
    pub(crate) cross_check: bool,
    /// Search with an approximate index on the CPU, which finds most matches
    #[arg(long)]
    pub(crate) approximate: bool,
}

/// An image's keypoints and their descriptors.
pub(crate) struct Features {
    pub(crate) keypoints: Vec<Keypoint>,
    pub(crate) descriptors: Array2<f32>,
}

/// The time of each stage.
#[derive(Clone, Copy, Debug, Default)]
pub(crate) struct Times {
    pub(crate) detect: Duration,
    pub(crate) describe: Duration,
    pub(crate) find: Duration,
}

impl Times {
    pub(crate) fn total(&self) -> Duration {
        self.detect + self.describe + self.find
    }

    /// Returns the median of each stage.
    pub(crate) fn median(runs: &[Self]) -> Self {
        let of = |stage: fn(&Self) -> Duration| {
            let mut times: Vec<_> = runs.iter().map(stage).collect();
            times.sort_unstable();
            times[times.len() / 2]
        };
        Self { detect: of(|t| t.detect), describe: of(|t| t.describe), find: of(|t| t.find) }
    }
}

impl fmt::Display for Times {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        for (stage, time) in [
            ("detect", self.detect),
            ("describe", self.describe),
            ("match", self.find),
            ("all", self.total()),
        ] {
            writeln!(f, "  {stage:<10}{:>10.3} ms", time.as_secs_f64() * 1e3)?;
        }
        writeln!(f, "  {:<10}{:>10.1} a second", "frames", 1.0 / self.total().as_secs_f64())
    }
}

/// A detector, an extractor and a matcher.
pub(crate) struct Matching {
    detector: Box<dyn Timed>,
    extractor: Box<dyn Extractor>,
    matcher: Box<dyn Matcher>,
}

impl Matching {
    pub(crate) fn new(
        detection: Detection,
        options: &MatchingOptions,
        backend: &mut BackendOptions,
    ) -> Result<Self> {
        let magnification = options.magnification.unwrap_or(match detection {
            Detection::Harris(_) => 2.0,
            Detection::FastHessian(_) => 1.0,
        });
        let surf = SurfConfig::builder().upright(options.upright).magnification(magnification).build()?;
        let config = MatchConfig::default().with_ratio(options.ratio)?.with_cross_check(options.cross_check);
        Ok(Self {
            detector: backend.detector(&detection)?,
            extractor: backend.extractor(&surf)?,
            matcher: match options.approximate {
                true => Box::new(ApproximateMatcher::new(config)),
                false => backend.matcher(&config)?,
            },
        })
    }

    pub(crate) fn describe(&self) -> String {
        self.detector.describe()
    }

    /// Finds the features of an image, and returns their times.
    pub(crate) fn features(&mut self, image: &ImageView<'_>) -> Result<(Features, Times)> {
        let start = Instant::now();
        let keypoints = self.detector.detect(image)?;
        let detected = Instant::now();
        let descriptors = self.extractor.extract(image, &keypoints)?;
        let times = Times { detect: detected - start, describe: detected.elapsed(), ..Times::default() };
        Ok((Features { keypoints, descriptors }, times))
    }

    /// Finds the features of a scene and their matches among the trained ones.
    pub(crate) fn run(
        &mut self,
        scene: &ImageView<'_>,
        trained: &Features,
    ) -> Result<(Features, Vec<Match>, Times)> {
        let (found, times) = self.features(scene)?;
        let start = Instant::now();
        let matches = self.matcher.matches(found.descriptors.view(), trained.descriptors.view())?;
        Ok((found, matches, Times { find: start.elapsed(), ..times }))
    }
}
