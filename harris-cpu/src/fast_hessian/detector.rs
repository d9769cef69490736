//! The Fast-Hessian detector: from an image to keypoints.

use std::time::Instant;

use harris_core::fast_hessian::{FastHessianConfig, Layer, Pyramid, StepTimes, unit};
use harris_core::integral::levels;
use harris_core::{Detector, Error, ImageView, Keypoint, float_mode, memory};
use ndarray::Array2;

use super::peaks::{self, Search};
use super::responses::{Respond, Rows};
use crate::buffers::spread_pitch;
use crate::integral::Sums;
use crate::workers::{Workers, constructors};

/// SURF's Fast-Hessian detector on the CPU.
///
/// The result does not depend on the number of threads.
///
/// ```
/// use harris_cpu::harris_core::fast_hessian::FastHessianConfig;
/// use harris_cpu::{CpuFastHessian, Detector, ImageView};
///
/// let samples = [0_u8; 64 * 64];
/// let mut detector = CpuFastHessian::new(FastHessianConfig::default());
/// assert_eq!(detector.detect(&ImageView::gray(&samples, 64, 64)?)?, []);
/// # Ok::<(), harris_cpu::Error>(())
/// ```
#[derive(Debug)]
pub struct CpuFastHessian {
    config: FastHessianConfig,
    workers: Workers,
    sums: Sums,
    responses: Vec<Vec<f32>>,
    rejected: usize,
    times: StepTimes,
}

constructors!(CpuFastHessian, FastHessianConfig);

impl CpuFastHessian {
    pub(crate) fn on(config: FastHessianConfig, workers: Workers) -> Self {
        let (sums, times) = (Sums::default(), StepTimes::default());
        Self { config, workers, sums, responses: Vec::new(), rejected: 0, times }
    }

    /// Times of the stages for the last image that [`Detector::detect`] had.
    #[must_use]
    pub fn step_times(&self) -> StepTimes {
        self.times
    }

    /// Computes the determinants of all layers that comparisons read.
    fn respond(&mut self, image: &ImageView<'_>, pyramid: &Pyramid) -> Result<(), Error> {
        let sums = &self.sums;
        let reads: Vec<_> = (0..pyramid.layers.len()).map(|layer| pyramid.read(layer)).collect();
        self.responses.resize_with(pyramid.layers.len(), Vec::new);
        for (layer, responses) in pyramid.layers.iter().zip(&mut self.responses) {
            memory::resize(responses, spread_pitch(layer.width) * layer.height, 0.0)?;
        }
        let bands = self.workers.threads.bands(image.height());
        let least = self.config.min_determinant();
        let mut work: Vec<_> = bands.iter().map(|_| Vec::new()).collect();
        for ((layer, responses), (columns, rows)) in pyramid.layers.iter().zip(&mut self.responses).zip(reads)
        {
            let pitch = spread_pitch(layer.width);
            let mut rest = &mut responses[rows.start * pitch..rows.end * pitch];
            let mut row = rows.start;
            for (band, work) in bands.iter().zip(&mut work) {
                let end = band.end.saturating_sub(layer.origin).div_ceil(layer.step).clamp(row, rows.end);
                let (out, below) = rest.split_at_mut((end - row) * pitch);
                let unit = unit(layer.filter, levels(image));
                let (columns, rows) = (columns.clone(), row..end);
                work.push(Rows { layer: *layer, columns, rows, unit, least, out, pitch });
                (rest, row) = (below, end);
            }
        }
        let level = self.workers.level;
        let filled = self.workers.threads.map(work, |layers| level.call(Respond { sums, layers }))?;
        filled.into_iter().collect()
    }

    /// The list of keypoints.
    fn keypoints(&mut self, image: &ImageView<'_>) -> Result<Vec<Keypoint>, Error> {
        self.config.check_image(image)?;
        let start = Instant::now();
        self.sums.fill(image, self.config.step(), &self.workers.threads)?;
        let integral = Instant::now();
        let pyramid = Pyramid::new(&self.config, image.width(), image.height());
        self.respond(image, &pyramid)?;
        let responses = Instant::now();
        let search = Search {
            pyramid: &pyramid,
            sums: &self.sums,
            responses: &self.responses,
            mask: image.mask(),
            threshold: self.config.threshold(),
        };
        let level = self.workers.level;
        let mut work = Vec::new();
        for triple in &pyramid.triples {
            let (_, rows) = pyramid.search_range(triple);
            let bands = self.workers.threads.bands(rows.len());
            work.extend(bands.iter().map(|band| (triple, rows.start + band.start..rows.start + band.end)));
        }
        let search = |(triple, rows)| level.call(peaks::Rows { search, triple, rows });
        let found = self.workers.threads.map(work, search)?.into_iter().collect::<Result<Vec<_>, _>>()?;
        let (found, rejected): (Vec<_>, Vec<usize>) = found.into_iter().unzip();
        let mut keypoints = memory::concat(&found)?;
        self.rejected = rejected.into_iter().sum();
        let peaks = Instant::now();
        keypoints.sort_unstable();
        keypoints.truncate(self.config.max_keypoints().unwrap_or(usize::MAX));
        self.times.integral = integral - start;
        self.times.responses = responses - integral;
        self.times.peaks = peaks - responses;
        self.times.list = peaks.elapsed();
        Ok(keypoints)
    }

    /// The determinants under the smallest filter.
    fn determinants(&mut self, image: &ImageView<'_>) -> Result<Array2<f32>, Error> {
        self.config.check_image(image)?;
        let (width, height) = (image.width(), image.height());
        self.sums.fill(image, 1, &self.workers.threads)?;
        let filter = Pyramid::FIRST_FILTER;
        let layer = Layer { filter, step: 1, origin: 0, width, height };
        let mut response = memory::zeros((height, width))?;
        let out = response.as_slice_mut().expect("a new array is contiguous");
        let inside = |len: usize| filter / 2..len - filter / 2;
        let (columns, rows) = (inside(width), inside(height));
        let out = &mut out[rows.start * width..rows.end * width];
        let (unit, least) = (unit(filter, levels(image)), self.config.min_determinant());
        let rows = Rows { layer, columns, rows, unit, least, out, pitch: width };
        self.workers.level.call(Respond { sums: &self.sums, layers: vec![rows] })?;
        Ok(response)
    }
}

impl Detector for CpuFastHessian {
    fn detect(&mut self, image: &ImageView<'_>) -> Result<Vec<Keypoint>, Error> {
        float_mode::standard(|| self.keypoints(image))
    }

    fn response(&mut self, image: &ImageView<'_>) -> Result<Array2<f32>, Error> {
        float_mode::standard(|| self.determinants(image))
    }

    /// Frees the integral image and the determinants. Threads of its own stay.
    fn shrink_to_fit(&mut self) {
        (self.sums, self.responses) = (Sums::default(), Vec::new());
    }

    fn rejected_peaks(&self) -> Option<usize> {
        Some(self.rejected)
    }

    fn describe(&self) -> String {
        self.workers.describe()
    }
}
