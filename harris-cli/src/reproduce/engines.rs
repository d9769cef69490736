//! The engines that are compared, and the measurement of their times.

use std::cell::Cell;
use std::time::{Duration, Instant};

use crate::options::{BackendOptions, Detection, Timed};
use crate::output;
use anyhow::{Result, ensure};
use harris::Backend;
use harris_core::{HarrisConfig, ImageView};
use image::DynamicImage;
use indicatif::ProgressBar;

/// The engines, settings and progress bar that every experiment uses.
pub(crate) struct Bench {
    pub(crate) photographs: Vec<(String, DynamicImage)>,
    pub(crate) engines: Engines,
    pub(crate) seconds: f64,
    pub(crate) largest: usize,
    pub(crate) progress: ProgressBar,
    /// When the last line was printed in place of the progress bar.
    pub(crate) last_line: Cell<Option<Instant>>,
}

/// The least time between two lines of progress that are printed in place of the bar.
const PROGRESS_INTERVAL: Duration = Duration::from_secs(5);

/// A backend and the way it runs.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Engine {
    /// The reference backend.
    Reference,
    /// The CPU backend with a number of threads.
    Cpu(usize),
    /// The CUDA backend with one kernel for each stage.
    GpuStaged,
    /// The CUDA backend with its defaults.
    Gpu,
}

/// The engines that this machine has and that were chosen on the command line.
pub(crate) struct Engines {
    reference: bool,
    /// The number of threads; 0 if the CPU backend is not chosen.
    threads: usize,
    /// The limit on the command line, if there is one.
    most_threads: Option<usize>,
    gpu: Option<(u32, String)>,
}

/// The median times of a detection, in milliseconds.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Timing {
    /// The time of the whole call.
    pub(crate) call: f64,
    /// The time on the device.
    pub(crate) device: Option<f64>,
    pub(crate) keypoints: usize,
}

impl Engines {
    pub(crate) fn new(wanted: &[Backend], threads: Option<usize>, device: u32) -> Result<Self> {
        ensure!(threads != Some(0), "at least one thread is needed");
        let all = wanted.is_empty();
        let has = |backend| all || wanted.contains(&backend);
        let most = threads
            .unwrap_or_else(|| std::thread::available_parallelism().map_or(1, std::num::NonZeroUsize::get));
        let mut engines = Self {
            reference: has(Backend::Reference),
            threads: if has(Backend::Cpu) { most } else { 0 },
            most_threads: threads,
            gpu: None,
        };
        if all || wanted.iter().any(|backend| matches!(backend, Backend::Cuda { .. })) {
            let mut options = BackendOptions { backend: Backend::Cuda { device }, ..Default::default() };
            match options.detector(&Detection::Harris(HarrisConfig::default())) {
                Ok(detector) => engines.gpu = Some((device, detector.describe())),
                Err(error) if !all => return Err(error),
                Err(error) => output::message(format_args!("without a GPU: {error:#}")),
            }
        }
        Ok(engines)
    }

    pub(crate) fn threads(&self) -> usize {
        self.threads
    }

    /// Returns the numbers of threads that an experiment tries and the machine's own, ascending.
    /// Without a limit on the command line, they may exceed those of the machine.
    pub(crate) fn thread_counts(&self, tried: impl IntoIterator<Item = usize>) -> Vec<usize> {
        let most = if self.threads == 0 { 0 } else { self.most_threads.unwrap_or(usize::MAX) };
        let mut counts: Vec<_> = tried.into_iter().chain([self.threads]).collect();
        counts.retain(|count| (1..=most).contains(count));
        counts.sort_unstable();
        counts.dedup();
        counts
    }

    pub(crate) fn ordinal(&self) -> Option<u32> {
        self.gpu.as_ref().map(|(ordinal, _)| *ordinal)
    }

    pub(crate) fn gpu(&self) -> Option<&str> {
        self.gpu.as_ref().map(|(_, name)| name.as_str())
    }

    pub(crate) fn reference(&self) -> bool {
        self.reference
    }

    /// Returns the chosen engines among: the reference, the CPU on one thread and on all, the GPU
    /// in stages and with its defaults.
    pub(crate) fn all(&self) -> Vec<Engine> {
        let mut all = Vec::new();
        if self.reference {
            all.push(Engine::Reference);
        }
        all.extend(self.fast());
        if self.gpu.is_some() {
            all.insert(all.len() - 1, Engine::GpuStaged);
        }
        all
    }

    /// Returns the reference and [`Engines::fast`].
    pub(crate) fn with_reference(&self) -> Vec<Engine> {
        let reference = self.reference.then_some(Engine::Reference);
        reference.into_iter().chain(self.fast()).collect()
    }

    /// Returns the engines without the reference and the staged GPU.
    pub(crate) fn fast(&self) -> Vec<Engine> {
        let mut fast = Vec::new();
        if self.threads >= 1 {
            fast.push(Engine::Cpu(1));
        }
        if self.threads > 1 {
            fast.push(Engine::Cpu(self.threads));
        }
        if self.gpu.is_some() {
            fast.push(Engine::Gpu);
        }
        fast
    }

    /// Returns the fastest engine, for work that is not measured.
    pub(crate) fn fastest(&self) -> Engine {
        match self.threads {
            0 if self.gpu.is_some() => Engine::Gpu,
            0 => Engine::Reference,
            threads => Engine::Cpu(threads),
        }
    }

    pub(crate) fn detector(&self, engine: Engine, detection: Detection) -> Result<Box<dyn Timed>> {
        self.options(engine).detector(&detection)
    }

    pub(crate) fn options(&self, engine: Engine) -> BackendOptions {
        let device = self.ordinal().unwrap_or(0);
        match engine {
            Engine::Reference => BackendOptions { backend: Backend::Reference, ..Default::default() },
            Engine::Cpu(threads) => {
                BackendOptions { backend: Backend::Cpu, threads: Some(threads), ..Default::default() }
            }
            Engine::GpuStaged | Engine::Gpu => BackendOptions {
                backend: Backend::Cuda { device },
                staged: engine == Engine::GpuStaged,
                ..Default::default()
            },
        }
    }
}

impl Engine {
    pub(crate) fn name(self) -> String {
        match self {
            Self::Reference => "reference".to_owned(),
            Self::Cpu(1) => "CPU, 1 thread".to_owned(),
            Self::Cpu(threads) => format!("CPU, {threads} threads"),
            Self::GpuStaged => "GPU, staged".to_owned(),
            Self::Gpu => "GPU".to_owned(),
        }
    }
}

impl Bench {
    /// Measures the detection of an image. The first call, which allocates memory, does not count.
    pub(crate) fn time(&self, detector: &mut dyn Timed, image: &ImageView<'_>) -> Result<Timing> {
        detector.set_timed(true);
        let keypoints = detector.detect(image)?.len();
        let has_device = detector.device_time().is_some();
        detector.set_timed(false);
        if has_device {
            detector.detect(image)?;
        }
        let call = self.median(|| Ok(detector.detect(image)?))?;
        // The device's time is measured in separate calls, because measuring takes time.
        let mut device = Vec::new();
        if has_device {
            detector.set_timed(true);
            detector.detect(image)?;
            self.median(|| {
                detector.detect(image)?;
                device.extend(detector.device_time().map(milliseconds));
                Ok(())
            })?;
            detector.set_timed(false);
        }
        Ok(Timing { call, device: median(device), keypoints })
    }

    /// Returns the median time of calls in milliseconds. There are at least three calls, unless one
    /// exceeds the duration of a measurement by itself.
    pub(crate) fn median<T>(&self, mut call: impl FnMut() -> Result<T>) -> Result<f64> {
        let (mut times, begin) = (Vec::new(), Instant::now());
        let enough = Duration::from_secs_f64(self.seconds);
        while begin.elapsed() < enough || (times.len() < 3 && begin.elapsed() < 3 * enough) {
            let start = Instant::now();
            drop(std::hint::black_box(call()?));
            times.push(milliseconds(start.elapsed()));
        }
        Ok(median(times).unwrap_or_default())
    }

    /// Shows what is being measured.
    pub(crate) fn show(&self, what: impl Into<String>) {
        let what = what.into();
        // Without a terminal there is no spinner, but a line now and then.
        if self.progress.is_hidden()
            && self.last_line.get().is_none_or(|last| last.elapsed() >= PROGRESS_INTERVAL)
        {
            output::message(&what);
            self.last_line.set(Some(Instant::now()));
        }
        self.progress.set_message(what);
    }
}

pub(crate) fn mean(values: &[f64]) -> Option<f64> {
    (!values.is_empty()).then(|| values.iter().sum::<f64>() / values.len() as f64)
}

pub(crate) fn milliseconds(time: Duration) -> f64 {
    time.as_secs_f64() * 1e3
}

pub(crate) fn median(mut values: Vec<f64>) -> Option<f64> {
    values.sort_by(f64::total_cmp);
    values.get(values.len() / 2).copied()
}
