//! The detector: bands in, keypoints out.

use std::ops::Range;

use harris_core::pipeline::{selection, subpixel, threshold};
use harris_core::{Detector, Error, HarrisConfig, ImageView, Keypoint, Raster, Samples, Subpixel, Threshold};
use ndarray::Array2;

use crate::fused::{self, FusedSample, Scratch, Walk};
use crate::staged;
use crate::staged::peaks::Responses;
use crate::workers::{Workers, constructors};
use crate::workspace::Workspace;

/// Corners that a thread places between pixels at least: fewer are not worth handing over.
const LEAST_CORNERS: usize = 32;

/// Harris on the CPU, on as many threads as wanted; the result does not depend on how many.
///
/// ```
/// use harris_cpu::{CpuDetector, Detector, HarrisConfig, ImageView};
///
/// let samples = [0_u8; 32 * 32];
/// let image = ImageView::gray(&samples, 32, 32)?;
/// let mut one = CpuDetector::with_threads(HarrisConfig::default(), 1)?;
/// let mut two = CpuDetector::with_threads(HarrisConfig::default(), 2)?;
/// assert_eq!(one.detect(&image)?, two.detect(&image)?);
/// assert!(two.describe().starts_with("cpu: 2 threads, "));
/// # Ok::<(), harris_cpu::Error>(())
/// ```
#[derive(Debug)]
pub struct CpuDetector {
    config: HarrisConfig,
    workers: Workers,
    workspace: Workspace,
}

constructors!(CpuDetector, HarrisConfig);

impl CpuDetector {
    fn on(config: HarrisConfig, workers: Workers) -> Self {
        Self { config, workers, workspace: Workspace::default() }
    }

    /// Fills the workspace's responses, and returns the bands it was done in.
    fn compute_responses(&mut self, image: &ImageView<'_>) -> Result<Vec<Range<usize>>, Error> {
        self.config.check_image(image)?;
        let (width, height) = (image.width(), image.height());
        let bands: Vec<_> = self.workers.threads.bands(height).iter().collect();
        let Workspace { response, buffers, .. } = &mut self.workspace;
        response.resize(width * height, 0.0);
        if buffers.len() < bands.len() {
            buffers.resize_with(bands.len(), Default::default);
        }
        let mut rest = response.as_mut_slice();
        let mut work = Vec::with_capacity(bands.len());
        for (band, buffers) in bands.iter().zip(buffers) {
            let (out, below) = rest.split_at_mut(band.len() * width);
            work.push((band.clone(), out, buffers));
            rest = below;
        }
        let config = &self.config;
        self.workers
            .threads
            .map(work, |(band, out, buffers)| staged::responses(image, config, band, out, buffers));
        Ok(bands)
    }

    /// The threshold that a candidate exceeds; `None` where nothing can be one.
    fn threshold(&self, responses: Responses<'_>, bands: &[Range<usize>]) -> Option<f32> {
        let extent = || {
            let extents = self.workers.threads.map(bands.to_vec(), |band| responses.extent(band));
            threshold::extent(
                extents.into_iter().flatten().flat_map(|extent| [*extent.start(), *extent.end()]),
            )
        };
        match self.config.threshold() {
            Threshold::Absolute(value) => Some(value),
            Threshold::None => Some(0.0),
            Threshold::Relative(quality) => threshold::relative(quality, *extent()?.end()),
            Threshold::Rosin { bins } => {
                let binning = threshold::Binning::new(extent()?, bins)?;
                let histograms =
                    self.workers.threads.map(bands.to_vec(), |band| responses.histogram(band, binning, bins));
                let mut counts = vec![0; bins as usize];
                for histogram in histograms {
                    counts.iter_mut().zip(histogram).for_each(|(count, more)| *count += more);
                }
                Some(binning.threshold(&counts))
            }
        }
    }
}

/// The two ways from image to corners.
impl CpuDetector {
    /// By the fused path, where it does the configuration on such samples.
    fn detect_as<T: FusedSample>(
        &mut self,
        image: &ImageView<'_>,
        samples: Raster<'_, T>,
    ) -> Result<Vec<Keypoint>, Error> {
        if !fused::covers::<T>(&self.config, samples.channels()) {
            return self.detect_staged(image);
        }
        self.config.check_image(image)?;
        let bands = self.workers.threads.large_bands(image.height(), image.width());
        let (scratch, workers) = (&mut self.workspace.scratch, bands.len().min(self.workers.threads.count()));
        if scratch.len() < workers {
            scratch.resize_with(workers, Default::default);
        }
        let scratch = &mut scratch[..workers];
        scratch.iter_mut().for_each(Scratch::begin);
        let (config, level) = (&self.config, self.workers.level);
        let scale = config.tensor_scale(T::FULL_SCALE);
        self.workers.threads.share(bands, scratch, |rows, scratch| {
            level.call(Walk { image: samples, mask: image.mask(), config, rows, scale, scratch });
        });
        let greatest = scratch.iter().map(|scratch| scratch.found.greatest).fold(0.0, f32::max);
        let threshold = match config.threshold() {
            Threshold::Relative(quality) => threshold::relative(quality, greatest).unwrap_or(f32::INFINITY),
            // The walks know it.
            Threshold::Absolute(_) | Threshold::None | Threshold::Rosin { .. } => f32::NEG_INFINITY,
        };
        let found = scratch.iter().flat_map(|scratch| &scratch.found.peaks).copied();
        let found = found.filter(|peak| peak.response > threshold);
        let mut corners = selection::select_in(&mut self.workspace.selection, found, config);
        // What the fused path does needs no responses.
        self.refine(&mut corners, image, |_, _| None);
        Ok(corners)
    }

    fn detect_staged(&mut self, image: &ImageView<'_>) -> Result<Vec<Keypoint>, Error> {
        let bands = self.compute_responses(image)?;
        let config = &self.config;
        let responses = Responses::new(&self.workspace.response, image, config);
        let Some(threshold) = self.threshold(responses, &bands) else {
            return Ok(Vec::new());
        };
        let corners =
            self.workers.threads.map(bands, |band| responses.corners(band, config, threshold)).concat();
        let mut corners = selection::select(&corners, config);
        self.refine(&mut corners, image, |x, y| responses.at(x, y));
        Ok(corners)
    }

    /// Places corners between pixels, on all threads.
    fn refine(
        &self,
        corners: &mut [Keypoint],
        image: &ImageView<'_>,
        response: impl Fn(isize, isize) -> Option<f32> + Sync,
    ) {
        let choice = self.config.subpixel();
        if choice == Subpixel::None || corners.is_empty() {
            return;
        }
        let share = corners.len().div_ceil(self.workers.threads.count()).max(LEAST_CORNERS);
        let shares = corners.chunks_mut(share).collect();
        self.workers.threads.map(shares, |corners| subpixel::refine(corners, choice, image, &response));
    }
}

impl Detector for CpuDetector {
    fn detect(&mut self, image: &ImageView<'_>) -> Result<Vec<Keypoint>, Error> {
        match image.samples() {
            Samples::U8(samples) => self.detect_as(image, samples),
            Samples::U16(samples) => self.detect_as(image, samples),
            Samples::F32(samples) => self.detect_as(image, samples),
        }
    }

    fn response(&mut self, image: &ImageView<'_>) -> Result<Array2<f32>, Error> {
        self.compute_responses(image)?;
        let responses = Responses::new(&self.workspace.response, image, &self.config);
        let shape = (image.height(), image.width());
        Ok(Array2::from_shape_fn(shape, |(y, x)| responses.at(x as isize, y as isize).unwrap_or(0.0)))
    }

    fn describe(&self) -> String {
        self.workers.describe()
    }
}
