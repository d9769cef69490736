//! From images to matches, with the time of each stage.

use std::fmt;
use std::time::{Duration, Instant};

use crate::input::Picture;
use crate::options::{BackendOptions, Detection};
use anyhow::Result;
use clap::Args;
use harris_core::ImageView;
use harris_core::features::{DetectAndDescribe, FeatureConfig, Features};
use harris_core::matching::{Match, MatchConfig, Matcher};
use harris_core::surf::SurfConfig;
use harris_cpu::ApproximateMatcher;

/// Options for description and matching.
#[derive(Args, Clone, Debug)]
#[command(next_help_heading = "Description and matching")]
pub(crate) struct MatchingOptions {
    /// Use upright descriptors: faster, and better if images are not rotated
    #[arg(long)]
    pub(crate) upright: bool,
    /// Factor on scales for description, 0.1 to 64; by default 2 for corners, which have the scale
    /// 1, and 1 for blobs
    #[arg(long, value_name = "FACTOR", value_parser = magnification)]
    pub(crate) magnification: Option<f32>,
    /// A match's distance must be less than this fraction of the second nearest's, above 0 and at
    /// most 1
    #[arg(long, value_name = "FRACTION", default_value_t = 0.7, value_parser = ratio)]
    pub(crate) ratio: f32,
    /// Keep only matches in which each is the other's nearest
    #[arg(long)]
    pub(crate) cross_check: bool,
    /// Search with an approximate index on the CPU, which finds most matches. Making the index takes
    /// longer than an exact search, unless there are very many descriptors
    #[arg(long)]
    pub(crate) approximate: bool,
}

fn magnification(text: &str) -> Result<f32, String> {
    let factor = text.parse().map_err(|_| "a number is needed".to_owned())?;
    let built = SurfConfig::builder().magnification(factor).build();
    built.map(|_| factor).map_err(|error| error.to_string())
}

fn ratio(text: &str) -> Result<f32, String> {
    let ratio = text.parse().map_err(|_| "a number is needed".to_owned())?;
    let built = MatchConfig::builder().ratio(ratio).build();
    built.map(|_| ratio).map_err(|error| error.to_string())
}

impl MatchingOptions {
    /// Returns the configuration of a detector together with that of descriptors.
    ///
    /// # Errors
    /// The magnification is out of its range.
    pub(crate) fn features(&self, detection: &Detection) -> Result<FeatureConfig> {
        let magnification = self.magnification.unwrap_or(match detection {
            Detection::Harris(_) => 2.0,
            Detection::FastHessian(_) => 1.0,
        });
        let surf = SurfConfig::builder().upright(self.upright).magnification(magnification).build()?;
        Ok(match detection.clone() {
            Detection::Harris(config) => FeatureConfig::new(config, surf),
            Detection::FastHessian(config) => FeatureConfig::new(config, surf),
        })
    }

    /// Makes a matcher of a backend.
    ///
    /// # Errors
    /// The ratio is out of its range, or the backend cannot be used.
    pub(crate) fn matcher(&self, backend: &mut BackendOptions) -> Result<Box<dyn Matcher>> {
        let config = MatchConfig::builder().ratio(self.ratio).cross_check(self.cross_check).build()?;
        Ok(match self.approximate {
            true => Box::new(ApproximateMatcher::new(config)),
            false => backend.matcher(&config)?,
        })
    }
}

/// The time of each stage.
#[derive(Clone, Copy, Debug, Default)]
pub(crate) struct Times {
    /// Detection and description.
    pub(crate) features: Duration,
    pub(crate) matching: Duration,
}

impl Times {
    pub(crate) fn total(&self) -> Duration {
        self.features + self.matching
    }

    /// Returns the median of each stage.
    pub(crate) fn median(runs: &[Self]) -> Self {
        let of = |stage: fn(&Self) -> Duration| {
            let mut times: Vec<_> = runs.iter().map(stage).collect();
            times.sort_unstable();
            times[times.len() / 2]
        };
        Self { features: of(|t| t.features), matching: of(|t| t.matching) }
    }
}

impl fmt::Display for Times {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        for (stage, time) in [("features", self.features), ("match", self.matching), ("all", self.total())] {
            writeln!(f, "  {stage:<10}{:>10.3} ms", time.as_secs_f64() * 1e3)?;
        }
        writeln!(f, "  {:<10}{:>10.1} a second", "frames", 1.0 / self.total().as_secs_f64())
    }
}

/// What finds the features of images, and their matches.
pub(crate) struct Matching {
    features: Box<dyn DetectAndDescribe>,
    matcher: Box<dyn Matcher>,
}

impl Matching {
    pub(crate) fn new(
        detection: &Detection,
        options: &MatchingOptions,
        backend: &mut BackendOptions,
    ) -> Result<Self> {
        let config = options.features(detection)?;
        Ok(Self { features: backend.features(&config)?, matcher: options.matcher(backend)? })
    }

    pub(crate) fn describe(&self) -> String {
        self.features.describe()
    }

    /// Finds the features of an image.
    pub(crate) fn features(&mut self, image: &Picture) -> Result<Features> {
        Ok(self.features.detect_and_describe(&ImageView::try_from(image)?)?)
    }

    /// Finds the features of a scene and their matches among the trained ones.
    pub(crate) fn run(
        &mut self,
        scene: &Picture,
        trained: &Features,
    ) -> Result<(Features, Vec<Match>, Times)> {
        let start = Instant::now();
        let found = self.features(scene)?;
        let described = Instant::now();
        let matches = self.matcher.matches(found.descriptors.view(), trained.descriptors.view())?;
        let times = Times { features: described - start, matching: described.elapsed() };
        Ok((found, matches, times))
    }
}
