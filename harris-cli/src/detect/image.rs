//! Detection in one image, and its files.

use std::path::Path;
use std::time::{Duration, Instant};

use anyhow::{Context, Result};
use harris_core::{Detector, ImageView, Keypoint};
use image::GrayImage;

use super::outputs::OneOutput;
use crate::input::{self, ReadOptions};
use crate::options::{BackendOptions, Kind};
use crate::{output, overlay};

/// How each image is read.
pub(crate) struct Work<'a> {
    pub(crate) color: bool,
    pub(crate) read: &'a ReadOptions,
    pub(crate) mask: Option<&'a GrayImage>,
    pub(crate) kind: Kind,
    pub(crate) backend: BackendOptions,
}

/// What was found in an image.
pub(crate) struct Found {
    pub(crate) width: u32,
    pub(crate) height: u32,
    pub(crate) keypoints: Vec<Keypoint>,
    /// The number of peaks that refinement rejected, for detectors that do so.
    pub(crate) rejected: Option<usize>,
    /// The time of detection alone.
    pub(crate) time: Duration,
    pub(crate) backend: String,
}

/// Detects keypoints in one file and writes its results.
pub(crate) fn process(
    path: &Path,
    work: &Work<'_>,
    outputs: &OneOutput<'_>,
    detector: &mut dyn Detector,
) -> Result<Found> {
    let image = input::read_image(path, work.color, work.read)?;
    let name = || input::name(path);
    let mut view = ImageView::try_from(&image).with_context(name)?;
    if let Some(mask) = work.mask {
        view = view.with_mask(ImageView::try_from(mask)?).with_context(name)?;
    }
    let start = Instant::now();
    let keypoints = detector.detect(&view).with_context(name)?;
    let time = start.elapsed();
    let rejected = detector.rejected_peaks();

    if let Some(target) = outputs.response {
        let response = detector.response(&view).with_context(name)?;
        target.write(|out| output::response(&response, target.format(), out))?;
    }
    if let Some(target) = outputs.overlay {
        let picture = overlay::draw(&image, &keypoints).with_context(name)?;
        target.write(|out| output::picture(&picture, target.format(), out))?;
    }
    if let Some(target) = outputs.csv {
        target.write(|out| Ok(output::csv(&keypoints, out)?))?;
    }
    let (width, height) = (image.width(), image.height());
    let backend = work.backend.shown(detector.describe());
    Ok(Found { width, height, keypoints, rejected, time, backend })
}
