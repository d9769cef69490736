//! What is compared, and how it is timed.

use std::time::{Duration, Instant};

use anyhow::{Result, ensure};
use harris::Backend;
use harris_core::{HarrisConfig, ImageView};
use harris_examples::options::{BackendOptions, Detection, Timed};
use image::DynamicImage;
use indicatif::ProgressBar;

/// What every experiment has to work with.
pub(crate) struct Bench {
    pub(crate) photographs: Vec<(String, DynamicImage)>,
    pub(crate) engines: Engines,
    pub(crate) seconds: f64,
    pub(crate) largest: usize,
    pub(crate) progress: ProgressBar,
}

/// A backend and how it is run.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Engine {
    /// Plain code.
    Reference,
    /// The CPU backend on so many threads.
    Cpu(usize),
    /// The CUDA backend, one kernel a stage.
    GpuStaged,
    /// The CUDA backend as users have it.
    Gpu,
}

/// The engines that this machine has and the user wants.
pub(crate) struct Engines {
    reference: bool,
    /// 0 where the CPU backend takes no part.
    threads: usize,
    /// What the user allows, where he says it.
    most_threads: Option<usize>,
    gpu: Option<(u32, String)>,
}

/// How long a detection took, in milliseconds: medians.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Timing {
    /// The whole call.
    pub(crate) call: f64,
    /// The device's part.
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
                Err(error) => eprintln!("without a GPU: {error:#}"),
            }
        }
        Ok(engines)
    }

    pub(crate) fn threads(&self) -> usize {
        self.threads
    }

    /// The numbers of threads that an experiment tries and the machine's own, ascending: more than the machine runs at once, too,
    /// where the user has set no limit.
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

    /// The reference, the CPU on one thread and on all, the GPU in stages and as it is; those that take part.
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

    /// [`Engines::fast`], and the reference before them.
    pub(crate) fn with_reference(&self) -> Vec<Engine> {
        let reference = self.reference.then_some(Engine::Reference);
        reference.into_iter().chain(self.fast()).collect()
    }

    /// Without the reference and the staged GPU.
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

    /// The quickest for what is not timed.
    pub(crate) fn quickest(&self) -> Engine {
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
    /// Times detection of an image; the first call, which brings the memory, does not count.
    pub(crate) fn time(&self, detector: &mut dyn Timed, image: &ImageView<'_>) -> Result<Timing> {
        detector.set_timed(true);
        let keypoints = detector.detect(image)?.len();
        let has_device = detector.device_time().is_some();
        detector.set_timed(false);
        if has_device {
            detector.detect(image)?;
        }
        let call = self.median(|| Ok(detector.detect(image)?))?;
        // On its own, as it takes time to take the device's.
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

    /// The median time of calls, in milliseconds: for as long as a measurement may take, three at least, or one that takes
    /// longer than that by itself.
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

    /// Says what is being done.
    pub(crate) fn say(&self, what: impl Into<String>) {
        self.progress.set_message(what.into());
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
