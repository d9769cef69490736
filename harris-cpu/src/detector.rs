//! The Harris detector: its plan, the threads that carry it out, and the list of corners.

use std::mem;

use harris_core::pipeline::{range, response, selection, subpixel, threshold};
use harris_core::{
    Detector, Error, HarrisConfig, ImageView, Keypoint, Raster, Samples, Subpixel, Threshold, float_mode,
    memory,
};
use ndarray::Array2;

use crate::forstner::Refine;
use crate::peaks::found::{SearchRules, SharedBound};
use crate::peaks::map::Map;
use crate::plan::{CornerSearch, Engine, Plan, SampleType, Shape, SweepEngine, Vectors};
use crate::staged;
use crate::sweep::run::{BandSweep, EngineSample, Scratch};
use crate::sweep::strip::Context;
use crate::workers::{Workers, constructors};
use crate::workspace::Workspace;

/// The least number of corners that a thread refines: fewer are not worth handing over.
const MIN_CORNERS: usize = 32;

/// Corner detector on the CPU, with threads and vector instructions.
///
/// The result depends on neither.
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
    /// The plan of the last image.
    last_plan: Option<Plan>,
}

constructors!(CpuDetector, HarrisConfig);

impl CpuDetector {
    pub(crate) fn on(config: HarrisConfig, workers: Workers) -> Self {
        Self { config, workers, workspace: Workspace::default(), last_plan: None }
    }
}

impl CpuDetector {
    /// The plan for images of `samples` with 1 or 3 channels and `width` × `height` pixels.
    #[doc(hidden)]
    #[must_use]
    pub fn plan(&self, samples: SampleType, channels: usize, [width, height]: [usize; 2]) -> Plan {
        let vectors = Vectors::of(self.workers.level);
        Plan::of(&Shape { samples, channels, width, height, vectors }, &self.config)
    }

    /// The plan for an image; it is what [`Detector::describe`] shows from then on.
    fn plan_for<T: EngineSample>(&mut self, samples: &Raster<'_, T>) -> Plan {
        let size = [samples.width(), samples.height()];
        let plan = self.plan(T::TYPE, samples.channels(), size);
        self.last_plan = Some(plan);
        plan
    }

    /// Writes the response map of `image` into a slice that the caller supplies, row after row.
    ///
    /// The values are those of [`Detector::response`]. What follows the map in the slice stays.
    ///
    /// # Errors
    /// The errors of [`Detector::response`], and [`Error::SliceTooShort`]. They leave the slice
    /// unchanged.
    pub fn response_into_slice(&mut self, image: &ImageView<'_>, map: &mut [f32]) -> Result<(), Error> {
        self.config.check_image(image)?;
        let (len, needed) = (map.len(), image.width() * image.height());
        let map = map.get_mut(..needed).ok_or(Error::SliceTooShort { len, needed })?;
        float_mode::standard(|| match image.samples() {
            Samples::U8(samples) => self.response_as(image, samples, map),
            Samples::U16(samples) => self.response_as(image, samples, map),
            Samples::F32(samples) => self.response_as(image, samples, map),
        })
    }

    fn detect_as<T: EngineSample>(
        &mut self,
        image: &ImageView<'_>,
        samples: Raster<'_, T>,
    ) -> Result<Vec<Keypoint>, Error> {
        self.config.check_size(image.width(), image.height())?;
        let mut map = mem::take(&mut self.workspace.map);
        let corners = self.corners(image, samples, &mut map);
        self.workspace.map = map;
        let corners = corners?;
        range::check(image, &self.config, &corners)?;
        Ok(corners)
    }

    /// Finds the corners with memory for a response map.
    fn corners<T: EngineSample>(
        &mut self,
        image: &ImageView<'_>,
        samples: Raster<'_, T>,
        map: &mut Vec<f32>,
    ) -> Result<Vec<Keypoint>, Error> {
        let plan = self.plan_for(&samples);
        let needs_map = match plan.corners {
            CornerSearch::Sweep => false,
            CornerSearch::SweepWithMap | CornerSearch::Map => true,
        };
        if needs_map {
            memory::resize(map, image.width() * image.height(), 0.0)?;
        }
        let mut corners = match (plan.corners, plan.engine) {
            (CornerSearch::Sweep | CornerSearch::SweepWithMap, Engine::Sweep(engine)) => {
                self.corners_of_sweep(image, samples, engine, needs_map.then_some(&mut map[..]))?
            }
            (CornerSearch::Map, _) | (_, Engine::Staged(_)) => {
                self.corners_of_map(image, samples, plan, map)?
            }
        };
        let merges = self.config.merges_places();
        let pixels = if merges { memory::collect(corners.iter().copied())? } else { Vec::new() };
        // Without a map no refinement asks for responses.
        let map_of = needs_map.then(|| Map::new(map, image, &self.config));
        self.refine(&mut corners, image, samples, |x, y| map_of?.at(x, y))?;
        if merges {
            selection::merge(&mut corners, &pixels, &self.config)?;
        }
        Ok(corners)
    }

    /// Finds corners during a sweep, which also writes the response map if there is one.
    fn corners_of_sweep<T: EngineSample>(
        &mut self,
        image: &ImageView<'_>,
        samples: Raster<'_, T>,
        engine: SweepEngine,
        mut map: Option<&mut [f32]>,
    ) -> Result<Vec<Keypoint>, Error> {
        let Self { config, workers, workspace: Workspace { scratch, shared, selection, .. }, .. } = self;
        let rules = SearchRules::of(config);
        let scratch = sweep(
            workers,
            (scratch, shared),
            (samples, image.mask()),
            (config, rules, engine),
            map.as_deref_mut(),
        )?;
        check(scratch, image)?;
        let greatest = scratch.iter().map(|scratch| scratch.found().greatest).fold(0.0, f32::max);
        let threshold = match config.threshold() {
            Threshold::Relative(quality) => threshold::relative(quality, greatest),
            Threshold::Rosin { bins } => {
                Map::new(map.unwrap_or_default(), image, config).rosin(bins, &workers.threads)?
            }
            // Sweeps apply it.
            Threshold::Absolute(_) | Threshold::None => Some(f32::NEG_INFINITY),
        };
        let found = scratch.iter().map(|scratch| &scratch.found().peaks[..]);
        // Where no threshold can be told there is no corner.
        selection::select_keys(selection, found, threshold.unwrap_or(f32::INFINITY), config)
    }

    /// Writes the response map, and finds corners in it.
    fn corners_of_map<T: EngineSample>(
        &mut self,
        image: &ImageView<'_>,
        samples: Raster<'_, T>,
        plan: Plan,
        map: &mut [f32],
    ) -> Result<Vec<Keypoint>, Error> {
        image.check_samples()?;
        self.fill(image, samples, plan, map)?;
        let corners = Map::new(map, image, &self.config).corners(&self.config, &self.workers.threads)?;
        selection::select_in(&mut self.workspace.selection, corners.into_iter(), &self.config)
    }

    /// Computes all responses of an image that is checked: H × W, 0 where pixels are not valid.
    fn fill<T: EngineSample>(
        &mut self,
        image: &ImageView<'_>,
        samples: Raster<'_, T>,
        plan: Plan,
        map: &mut [f32],
    ) -> Result<(), Error> {
        let Self { config, workers, workspace: Workspace { scratch, shared, buffers, .. }, .. } = self;
        let numbers = match plan.engine {
            Engine::Sweep(engine) => {
                let rules = SearchRules::NO_CORNERS;
                sweep(workers, (scratch, shared), (samples, None), (config, rules, engine), Some(map))?;
                return Ok(());
            }
            Engine::Staged(numbers) => numbers,
        };
        let (width, height) = (image.width(), image.height());
        let bands = workers.threads.bands(height);
        memory::grow(buffers, bands.len())?;
        let parts = bands.with_rows(map, width);
        workers.threads.share(parts, &mut buffers[..bands.len()], |(band, out), buffers| {
            if let Err(error) = staged::responses(image, (config, numbers), band, out, buffers) {
                buffers.failure = Some(error);
            }
        });
        if let Some(error) = buffers.iter_mut().find_map(|buffers| buffers.failure.take()) {
            return Err(error);
        }
        let [before, behind] = config.invalid_frame();
        for (y, row) in map.chunks_exact_mut(width).enumerate() {
            if (before..height - behind).contains(&y) {
                row[..before].fill(0.0);
                row[width - behind..].fill(0.0);
            } else {
                row.fill(0.0);
            }
        }
        Ok(())
    }

    fn response_as<T: EngineSample>(
        &mut self,
        image: &ImageView<'_>,
        samples: Raster<'_, T>,
        map: &mut [f32],
    ) -> Result<(), Error> {
        let plan = self.plan_for(&samples);
        self.fill(image, samples, plan, map)
    }

    /// Places corners between pixels, on all threads.
    fn refine<T: EngineSample>(
        &self,
        corners: &mut [Keypoint],
        image: &ImageView<'_>,
        samples: Raster<'_, T>,
        response: impl Fn(isize, isize) -> Option<f32> + Sync,
    ) -> Result<(), Error> {
        let choice = self.config.subpixel();
        if choice == Subpixel::None || corners.is_empty() {
            return Ok(());
        }
        let share = corners.len().div_ceil(self.workers.threads.count()).max(MIN_CORNERS);
        let shares = corners.chunks_mut(share).collect();
        let Workers { threads, level } = &self.workers;
        threads.map(shares, |corners| match choice {
            Subpixel::Forstner { radius } => level.call(Refine { corners, image: samples, radius }),
            Subpixel::None | Subpixel::Quadratic => subpixel::refine(corners, choice, image, &response),
        })?;
        Ok(())
    }
}

/// Sweeps over an image, and writes its responses into `map` if there is one. Returns the memory of
/// the threads that took part, with what they found.
fn sweep<'a, T: EngineSample>(
    workers: &Workers,
    (scratch, shared): (&'a mut Vec<Scratch>, &mut SharedBound),
    (image, mask): (Raster<'_, T>, Option<Raster<'_, u8>>),
    (config, rules, engine): (&HarrisConfig, SearchRules, SweepEngine),
    map: Option<&mut [f32]>,
) -> Result<&'a mut [Scratch], Error> {
    let bands = workers.threads.large_bands(image.height(), image.width());
    let thread_count = bands.len().min(workers.threads.count());
    memory::reserve_exact(scratch, thread_count.saturating_sub(scratch.len()))?;
    while scratch.len() < thread_count {
        scratch.push(Scratch::new()?);
    }
    let scratch = &mut scratch[..thread_count];
    scratch.iter_mut().enumerate().for_each(|(i, scratch)| scratch.begin(config, (i, thread_count)));
    shared.begin(thread_count);
    let scale = config.tensor_scale(T::FULL_SCALE);
    let context = Context { image, mask, config, rules, scale, shared: &*shared };
    let call = |rows, map, scratch: &mut Scratch| {
        workers.level.call(BandSweep { context, engine, rows, map, scratch });
    };
    match map {
        Some(map) => {
            let parts = bands.with_rows(map, image.width());
            workers.threads.share(parts, scratch, |(rows, map), scratch| call(rows, Some(map), scratch));
        }
        None => workers.threads.share(bands.iter(), scratch, |rows, scratch| call(rows, None, scratch)),
    }
    match scratch.iter_mut().find_map(Scratch::take_failure) {
        Some(error) => Err(error),
        None => Ok(scratch),
    }
}

/// Checks samples that a sweep has found not to be valid: a check of its own before would take a
/// tenth of its time.
fn check(scratch: &[Scratch], image: &ImageView<'_>) -> Result<(), Error> {
    if scratch.iter().any(Scratch::is_invalid) { image.check_samples() } else { Ok(()) }
}

impl Detector for CpuDetector {
    fn detect(&mut self, image: &ImageView<'_>) -> Result<Vec<Keypoint>, Error> {
        float_mode::standard(|| match image.samples() {
            Samples::U8(samples) => self.detect_as(image, samples),
            Samples::U16(samples) => self.detect_as(image, samples),
            Samples::F32(samples) => self.detect_as(image, samples),
        })
    }

    fn response(&mut self, image: &ImageView<'_>) -> Result<Array2<f32>, Error> {
        let mut map = Array2::default((0, 0));
        self.response_into(image, &mut map)?;
        Ok(map)
    }

    fn response_into(&mut self, image: &ImageView<'_>, map: &mut Array2<f32>) -> Result<(), Error> {
        // Before the array is touched.
        self.config.check_image(image)?;
        self.response_into_slice(image, response::reuse_map(map, image)?)
    }

    /// Frees the response map, the memory of the threads and that of lists. Threads of its own
    /// stay.
    fn shrink_to_fit(&mut self) {
        self.workspace = Workspace::default();
    }

    fn describe(&self) -> String {
        match &self.last_plan {
            Some(plan) => format!("{}: {plan}", self.workers.describe()),
            None => self.workers.describe(),
        }
    }
}
