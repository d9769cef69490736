//! The detector: bands in, keypoints out.

use std::mem;

use harris_core::pipeline::{response, selection, subpixel, threshold};
use harris_core::{Detector, Error, HarrisConfig, ImageView, Keypoint, Raster, Samples, Subpixel, Threshold};
use ndarray::Array2;

use crate::forstner::Refine;
use crate::fused::{self, FusedSample, Known, Scratch, Walk};
use crate::map::Map;
use crate::staged;
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
}

/// The ways from image to corners.
impl CpuDetector {
    fn detect_as<T: FusedSample>(
        &mut self,
        image: &ImageView<'_>,
        samples: Raster<'_, T>,
    ) -> Result<Vec<Keypoint>, Error> {
        self.config.check_size(image.width(), image.height())?;
        let config = &self.config;
        let in_walk = fused::finds(config, image) && fused::computes::<T>(config, samples.channels());
        let needs_map = !in_walk
            || matches!(config.threshold(), Threshold::Rosin { .. })
            || config.subpixel() == Subpixel::Quadratic;
        let mut map = mem::take(&mut self.workspace.map);
        if needs_map {
            map.resize(image.width() * image.height(), 0.0);
        }
        if !in_walk {
            image.check_samples()?;
            self.fill(image, samples, &mut map);
        }
        let Workspace { scratch, known, selection, .. } = &mut self.workspace;
        let mut corners = if in_walk {
            let config = &self.config;
            let scratch = walk(
                &self.workers,
                (scratch, known),
                (samples, image.mask()),
                config,
                needs_map.then_some(&mut map[..]),
            );
            check(scratch, image)?;
            let greatest = scratch.iter().map(|scratch| scratch.found.greatest).fold(0.0, f32::max);
            let threshold = match config.threshold() {
                Threshold::Relative(quality) => threshold::relative(quality, greatest),
                Threshold::Rosin { bins } => Map::new(&map, image, config).rosin(bins, &self.workers.threads),
                // The walks know it.
                Threshold::Absolute(_) | Threshold::None => Some(f32::NEG_INFINITY),
            };
            let found = scratch.iter().map(|scratch| &scratch.found.peaks[..]);
            // Without a threshold there is no corner.
            selection::select_keys(selection, found, threshold.unwrap_or(f32::INFINITY), config)
        } else {
            let corners = Map::new(&map, image, &self.config).corners(&self.config, &self.workers.threads);
            selection::select_in(selection, corners.into_iter(), &self.config)
        };
        // Without a map no one asks for responses.
        let pixels = self.config.merges_places().then(|| corners.clone());
        let map_of = needs_map.then(|| Map::new(&map, image, &self.config));
        self.refine(&mut corners, image, samples, |x, y| map_of?.at(x, y));
        if let Some(pixels) = pixels {
            selection::merge(&mut corners, &pixels, &self.config);
        }
        self.workspace.map = map;
        Ok(corners)
    }

    /// Computes all responses of an image that is checked: H × W, 0 where there are none.
    fn fill<T: FusedSample>(&mut self, image: &ImageView<'_>, samples: Raster<'_, T>, map: &mut [f32]) {
        let Self { config, workers, workspace: Workspace { scratch, known, buffers, .. } } = self;
        if fused::computes::<T>(config, samples.channels()) {
            walk(workers, (scratch, known), (samples, None), &fused::without_corners(config), Some(map));
            return;
        }
        let (width, height) = (image.width(), image.height());
        let bands = workers.threads.bands(height);
        if buffers.len() < bands.len() {
            buffers.resize_with(bands.len(), Default::default);
        }
        let parts = bands.with_rows(map, width);
        workers.threads.share(parts, &mut buffers[..bands.len()], |(band, out), buffers| {
            staged::responses(image, config, band, out, buffers);
        });
        let [before, behind] = config.invalid_frame();
        for (y, row) in map.chunks_exact_mut(width).enumerate() {
            if (before..height - behind).contains(&y) {
                row[..before].fill(0.0);
                row[width - behind..].fill(0.0);
            } else {
                row.fill(0.0);
            }
        }
    }

    /// Places corners between pixels, on all threads.
    fn refine<T: FusedSample>(
        &self,
        corners: &mut [Keypoint],
        image: &ImageView<'_>,
        samples: Raster<'_, T>,
        response: impl Fn(isize, isize) -> Option<f32> + Sync,
    ) {
        let choice = self.config.subpixel();
        if choice == Subpixel::None || corners.is_empty() {
            return;
        }
        let share = corners.len().div_ceil(self.workers.threads.count()).max(LEAST_CORNERS);
        let shares = corners.chunks_mut(share).collect();
        let Workers { threads, level } = &self.workers;
        threads.map(shares, |corners| match choice {
            Subpixel::Forstner { radius } => level.call(Refine { corners, image: samples, radius }),
            Subpixel::None | Subpixel::Quadratic => subpixel::refine(corners, choice, image, &response),
        });
    }
}

/// Walks over an image, whose responses go into `map` if there is one; returns the memory of those who did, with what they found.
fn walk<'a, T: FusedSample>(
    workers: &Workers,
    (scratch, known): (&'a mut Vec<Scratch>, &mut Known),
    (image, mask): (Raster<'_, T>, Option<Raster<'_, u8>>),
    config: &HarrisConfig,
    map: Option<&mut [f32]>,
) -> &'a mut [Scratch] {
    let bands = workers.threads.large_bands(image.height(), image.width());
    let number = bands.len().min(workers.threads.count());
    if scratch.len() < number {
        scratch.resize_with(number, Default::default);
    }
    let scratch = &mut scratch[..number];
    scratch.iter_mut().enumerate().for_each(|(i, scratch)| scratch.begin(config, (i, number)));
    known.begin(number);
    let (known, scale) = (&*known, config.tensor_scale(T::FULL_SCALE));
    let call = |rows, map, scratch: &mut Scratch| {
        workers.level.call(Walk { image, mask, config, rows, scale, map, known, scratch });
    };
    match map {
        Some(map) => {
            let parts = bands.with_rows(map, image.width());
            workers.threads.share(parts, scratch, |(rows, map), scratch| call(rows, Some(map), scratch));
        }
        None => workers.threads.share(bands.iter(), scratch, |rows, scratch| call(rows, None, scratch)),
    }
    scratch
}

/// Checks samples that a walk has looked at on the way: a look at them by themselves would take a tenth of its time.
fn check(scratch: &[Scratch], image: &ImageView<'_>) -> Result<(), Error> {
    if scratch.iter().any(|scratch| scratch.is_invalid) { image.check_samples() } else { Ok(()) }
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
        let mut map = Array2::default((0, 0));
        self.response_into(image, &mut map)?;
        Ok(map)
    }

    fn response_into(&mut self, image: &ImageView<'_>, map: &mut Array2<f32>) -> Result<(), Error> {
        // Before the array is touched.
        self.config.check_image(image)?;
        let map = response::room(map, image);
        match image.samples() {
            Samples::U8(samples) => self.fill(image, samples, map),
            Samples::U16(samples) => self.fill(image, samples, map),
            Samples::F32(samples) => self.fill(image, samples, map),
        }
        Ok(())
    }

    fn describe(&self) -> String {
        self.workers.describe()
    }
}
