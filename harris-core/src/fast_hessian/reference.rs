//! The reference Fast-Hessian detector, with which every backend is compared.

use ndarray::Array2;

use super::config::FastHessianConfig;
use super::extrema::{is_peak, offset};
use super::pyramid::{Layer, Pyramid};
use super::response::{Hessian, unit};
use crate::detector::Detector;
use crate::error::Error;
use crate::image::ImageView;
use crate::integral::{Integral, levels};
use crate::keypoint::Keypoint;
use crate::{float_mode, memory};

/// The reference implementation of the Fast-Hessian detector: plain code on one thread, and slow.
///
/// [`Detector::response`] is the determinant under the smallest filter, and 0 where that filter
/// does not lie in the image. The mask excludes keypoints whose sample lies outside it. Samples
/// outside still compete.
///
/// ```
/// use harris_core::fast_hessian::{FastHessianConfig, ReferenceFastHessian};
/// use harris_core::{Detector, ImageView};
///
/// // A light disc of radius 6 on black.
/// let disc: Vec<u8> = (0..64 * 64)
///     .map(|i| if (i % 64 - 32_i32).pow(2) + (i / 64 - 30_i32).pow(2) <= 36 { 255 } else { 0 })
///     .collect();
/// let mut detector = ReferenceFastHessian::new(FastHessianConfig::default());
/// let blobs = detector.detect(&ImageView::gray(&disc, 64, 64)?)?;
/// let strongest = blobs[0];
/// assert!((strongest.x - 32.0).abs() < 0.5 && (strongest.y - 30.0).abs() < 0.5);
/// assert!(strongest.response < 0.0 && strongest.scale > 2.5);
/// # Ok::<(), harris_core::Error>(())
/// ```
#[derive(Clone, Debug)]
pub struct ReferenceFastHessian {
    config: FastHessianConfig,
    rejected: usize,
}

impl ReferenceFastHessian {
    /// Makes a detector of this configuration.
    #[must_use]
    pub fn new(config: FastHessianConfig) -> Self {
        Self { config, rejected: 0 }
    }
}

impl ReferenceFastHessian {
    /// The list of keypoints.
    fn keypoints(&mut self, image: &ImageView<'_>) -> Result<Vec<Keypoint>, Error> {
        self.config.check_image(image)?;
        let integral = Integral::new(image)?;
        let pyramid = Pyramid::new(&self.config, image.width(), image.height());
        let least = self.config.min_determinant();
        let of_layer = |layer: &Layer| responses(&integral, layer, levels(image), least);
        let responses: Vec<_> = pyramid.layers.iter().map(of_layer).collect::<Result<_, _>>()?;
        let mut keypoints = Vec::new();
        self.rejected = 0;
        for triple in &pyramid.triples {
            let (columns, rows) = pyramid.search_range(triple);
            for (row, column) in rows.flat_map(|row| columns.clone().map(move |column| (row, column))) {
                let (x, y) = (triple.pixel(column), triple.pixel(row));
                if image.mask().is_some_and(|mask| mask.row(y)[x] == 0) {
                    continue;
                }
                let sample = |number: usize, column: usize, row: usize| {
                    let [row, column] = [row, column].map(|i| pyramid.place(triple, number, i));
                    responses[number][[row, column]]
                };
                let cube = [triple.bottom, triple.middle, triple.top].map(|number| {
                    [row - 1, row, row + 1]
                        .map(|row| [column - 1, column, column + 1].map(|column| sample(number, column, row)))
                });
                if cube[1][1][1] > self.config.threshold() && is_peak(&cube) {
                    let Some(offset) = offset(&cube) else {
                        self.rejected += 1;
                        continue;
                    };
                    let hessian = Hessian::at(&integral, pyramid.layers[triple.middle].filter, x, y);
                    let response = if hessian.is_dark() { cube[1][1][1] } else { -cube[1][1][1] };
                    memory::reserve(&mut keypoints, 1)?;
                    keypoints.push(pyramid.keypoint(triple, (column, row), offset, response));
                }
            }
        }
        keypoints.sort_unstable();
        keypoints.truncate(self.config.max_keypoints().unwrap_or(usize::MAX));
        Ok(keypoints)
    }

    /// The determinants under the smallest filter.
    fn determinants(&self, image: &ImageView<'_>) -> Result<Array2<f32>, Error> {
        self.config.check_image(image)?;
        let (width, height) = (image.width(), image.height());
        let layer = Layer { filter: Pyramid::FIRST_FILTER, step: 1, origin: 0, width, height };
        let least = self.config.min_determinant();
        let mut response = responses(&Integral::new(image)?, &layer, levels(image), least)?;
        let radius = layer.filter / 2;
        for ((y, x), value) in response.indexed_iter_mut() {
            if x.min(y) < radius || x + radius >= width || y + radius >= height {
                *value = 0.0;
            }
        }
        Ok(response)
    }
}

impl Detector for ReferenceFastHessian {
    fn detect(&mut self, image: &ImageView<'_>) -> Result<Vec<Keypoint>, Error> {
        float_mode::standard(|| self.keypoints(image))
    }

    fn response(&mut self, image: &ImageView<'_>) -> Result<Array2<f32>, Error> {
        float_mode::standard(|| self.determinants(image))
    }

    fn rejected_peaks(&self) -> Option<usize> {
        Some(self.rejected)
    }

    fn describe(&self) -> String {
        "reference: plain code, 1 thread".to_owned()
    }
}

/// The determinants at a layer's samples.
fn responses(integral: &Integral, layer: &Layer, levels: u32, least: f32) -> Result<Array2<f32>, Error> {
    let unit = unit(layer.filter, levels);
    memory::array_of((layer.height, layer.width), |row, column| {
        Hessian::at(integral, layer.filter, layer.pixel(column), layer.pixel(row)).determinant(unit, least)
    })
}
