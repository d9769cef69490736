//! The reference detector: the stages called in order, with which every backend is compared.

use ndarray::Array2;

use crate::config::HarrisConfig;
use crate::detector::Detector;
use crate::error::Error;
use crate::image::ImageView;
use crate::keypoint::Keypoint;
use crate::pipeline::plane::Plane;
use crate::pipeline::suppression::{Region, suppress};
use crate::pipeline::{gradient, range, response, selection, smoothing, subpixel, tensor, threshold};
use crate::{float_mode, memory};

/// The reference implementation of every configuration: plain code on one thread, and slow.
///
/// ```
/// use harris_core::{Detector, HarrisConfig, ImageView, ReferenceDetector};
///
/// // A white square on black has four corners.
/// let image: Vec<u8> = (0..32 * 32)
///     .map(|i| if (8..24).contains(&(i % 32)) && (8..24).contains(&(i / 32)) { 255 } else { 0 })
///     .collect();
/// let corners = ReferenceDetector::new(HarrisConfig::default()).detect(&ImageView::gray(&image, 32, 32)?)?;
/// let places: Vec<_> = corners.iter().map(|k| (k.x, k.y)).collect();
/// assert_eq!(places, [(8.0, 8.0), (23.0, 8.0), (8.0, 23.0), (23.0, 23.0)]);
/// # Ok::<(), harris_core::Error>(())
/// ```
#[derive(Clone, Debug)]
pub struct ReferenceDetector {
    config: HarrisConfig,
}

impl ReferenceDetector {
    /// Makes a detector of this configuration.
    #[must_use]
    pub fn new(config: HarrisConfig) -> Self {
        Self { config }
    }
}

impl Detector for ReferenceDetector {
    fn detect(&mut self, image: &ImageView<'_>) -> Result<Vec<Keypoint>, Error> {
        float_mode::standard(|| {
            let corners = corners(image, &self.config)?;
            range::check(image, &self.config, &corners)?;
            Ok(corners)
        })
    }

    fn response(&mut self, image: &ImageView<'_>) -> Result<Array2<f32>, Error> {
        float_mode::standard(|| response_map(image, &self.config))
    }

    fn describe(&self) -> String {
        "reference: plain code, 1 thread".to_owned()
    }
}

/// The list of corners.
fn corners(image: &ImageView<'_>, config: &HarrisConfig) -> Result<Vec<Keypoint>, Error> {
    let response = response_map(image, config)?;
    let region = Region::new(image, config);
    let searched = || region.pixels().map(|(x, y)| response[[y, x]]);
    let Some(threshold) = threshold::threshold(config.threshold(), searched)? else {
        return Ok(Vec::new());
    };
    let corners = suppress(&response, region, config, threshold)?;
    let pixels = selection::select(&corners, config)?;
    let mut corners = memory::collect(pixels.iter().copied())?;
    subpixel::refine(&mut corners, config.subpixel(), image, |x, y| {
        let (x, y) = (usize::try_from(x).ok()?, usize::try_from(y).ok()?);
        region.is_valid(x, y).then(|| response[[y, x]])
    });
    selection::merge(&mut corners, &pixels, config)?;
    Ok(corners)
}

/// The response map, 0 where it is not valid.
fn response_map(image: &ImageView<'_>, config: &HarrisConfig) -> Result<Array2<f32>, Error> {
    config.check_image(image)?;
    let border = config.border();
    let gradients: Result<Vec<_>, Error> = Plane::channels(image)?
        .iter()
        .map(|channel| {
            let smoothed = smoothing::smooth(channel, config.smoothing(), border)?;
            gradient::gradient(&smoothed, config.gradient(), border)
        })
        .collect();
    let scale = config.tensor_scale(image.full_scale());
    let tensor = tensor::tensor(&gradients?, config.window(), border, scale)?;
    let mut response = response::response(&tensor, config.measure())?;
    let region = Region::new(image, config);
    for ((y, x), value) in response.indexed_iter_mut() {
        if !region.is_valid(x, y) {
            *value = 0.0;
        }
    }
    Ok(response)
}
