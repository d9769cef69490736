//! From images to matches, with the time of each stage.

use std::fmt;
use std::path::Path;
use std::time::{Duration, Instant};

use crate::input::{self, Picture, ReadOptions};
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
    let built = MatchConfig::default().with_ratio(ratio);
    built.map(|_| ratio).map_err(|error| error.to_string())
}

/// An image as the detector sees it, and in gray: descriptors use no colours.
pub(crate) struct Image {
    gray: Picture,
    color: Option<Picture>,
}

impl Image {
    /// Reads an image, with its colours if `color` is true.
    ///
    /// # Errors
    /// See [`input::read_image`].
    pub(crate) fn read(path: &Path, color: bool, options: &ReadOptions) -> Result<Self> {
        let colored = color.then(|| input::read_image(path, true, options)).transpose()?;
        Ok(Self { gray: input::read_image(path, false, options)?, color: colored })
    }

    /// Applies a function to the pixels.
    pub(crate) fn map(&self, to: impl Fn(&Picture) -> Picture) -> Self {
        Self { gray: to(&self.gray), color: self.color.as_ref().map(to) }
    }

    /// Returns the width and the height.
    pub(crate) fn size(&self) -> [u32; 2] {
        [self.gray.width(), self.gray.height()]
    }

    /// Returns the views for the detector and for descriptors.
    fn views(&self) -> Result<[ImageView<'_>; 2]> {
        let gray = ImageView::try_from(&self.gray)?;
        Ok([self.color.as_ref().map_or(Ok(gray), ImageView::try_from)?, gray])
    }
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
    pub(crate) fn features(&mut self, image: &Image) -> Result<(Features, Times)> {
        let [view, gray] = image.views()?;
        let start = Instant::now();
        let keypoints = self.detector.detect(&view)?;
        let detected = Instant::now();
        let descriptors = self.extractor.extract(&gray, &keypoints)?;
        let times = Times { detect: detected - start, describe: detected.elapsed(), ..Times::default() };
        Ok((Features { keypoints, descriptors }, times))
    }

    /// Finds the features of a scene and their matches among the trained ones.
    pub(crate) fn run(&mut self, scene: &Image, trained: &Features) -> Result<(Features, Vec<Match>, Times)> {
        let (found, times) = self.features(scene)?;
        let start = Instant::now();
        let matches = self.matcher.matches(found.descriptors.view(), trained.descriptors.view())?;
        Ok((found, matches, Times { find: start.elapsed(), ..times }))
    }
}
