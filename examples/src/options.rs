//! The options that choose a configuration and a backend.

use std::time::Duration;

#[cfg(feature = "cuda")]
use anyhow::Context;
use anyhow::ensure;
use clap::{Args, ValueEnum};
use harris_core::fast_hessian::{FastHessianConfig, ReferenceFastHessian, StepTimes};
use harris_core::matching::{MatchConfig, Matcher, ReferenceMatcher};
use harris_core::surf::{Extractor, ReferenceSurf, SurfConfig};
use harris_core::{
    Border, Detector, Error, Gradient, HarrisConfig, Measure, Order, ReferenceDetector, Smoothing,
    StageTimes, Subpixel, Threshold, Window, presets,
};
use harris_cpu::{CpuDetector, CpuFastHessian, CpuMatcher, CpuSurf, Level};

/// What is looked for.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, ValueEnum)]
pub enum Kind {
    /// Corners
    #[default]
    Harris,
    /// Blobs of several scales
    FastHessian,
}

/// The configuration of a detector.
#[derive(Clone, Debug)]
pub enum Detection {
    /// Corners.
    Harris(HarrisConfig),
    /// Blobs.
    FastHessian(FastHessianConfig),
}

/// Which detector, and its choices.
#[derive(Args, Clone, Debug, Default)]
pub struct DetectorOptions {
    /// What is looked for
    #[arg(long, value_enum, default_value_t, value_name = "KIND")]
    pub detector: Kind,
    #[command(flatten)]
    harris: ConfigOptions,
    #[command(flatten)]
    blobs: BlobOptions,
}

impl DetectorOptions {
    /// The configuration.
    ///
    /// # Errors
    /// An unknown preset, a value out of range, a choice of the other detector's.
    pub fn detection(&self) -> anyhow::Result<Detection> {
        Ok(match self.detector {
            Kind::Harris => {
                ensure!(
                    self.blobs.is_default(),
                    "choices of the Fast-Hessian detector need --detector fast-hessian"
                );
                Detection::Harris(self.harris.config()?)
            }
            Kind::FastHessian => {
                let most = self.harris.max_corners;
                let others = ConfigOptions { max_corners: None, ..self.harris.clone() };
                ensure!(
                    others == ConfigOptions::default(),
                    "choices of the Harris detector need --detector harris"
                );
                Detection::FastHessian(self.blobs.config(most)?)
            }
        })
    }
}

/// What differs from the default of the Fast-Hessian detector.
#[derive(Args, Clone, Debug, Default, PartialEq)]
#[command(next_help_heading = "Configuration of the Fast-Hessian detector")]
pub struct BlobOptions {
    /// Octaves, 1 to 7, as far as sums allow
    #[arg(long, value_name = "NUMBER")]
    pub octaves: Option<u32>,
    /// Filters of an octave, 3 to 15, as far as sums allow
    #[arg(long, value_name = "NUMBER")]
    pub intervals: Option<u32>,
    /// Pixels between the samples of the first octave, 1 to 6
    #[arg(long, value_name = "PIXELS")]
    pub step: Option<u32>,
    /// What the determinant of the Hessian must exceed
    #[arg(long, value_name = "VALUE", allow_negative_numbers = true)]
    pub determinant: Option<f32>,
}

impl BlobOptions {
    fn is_default(&self) -> bool {
        *self == Self::default()
    }

    fn config(&self, most: Option<usize>) -> Result<FastHessianConfig, Error> {
        let mut builder = FastHessianConfig::builder();
        if let Some(octaves) = self.octaves {
            builder = builder.octaves(octaves);
        }
        if let Some(intervals) = self.intervals {
            builder = builder.intervals(intervals);
        }
        if let Some(step) = self.step {
            builder = builder.step(step);
        }
        if let Some(threshold) = self.determinant {
            builder = builder.threshold(threshold);
        }
        builder.max_keypoints(most.filter(|most| *most > 0)).build()
    }
}

/// A preset, and what differs from it.
#[derive(Args, Clone, Debug, Default, PartialEq)]
#[command(next_help_heading = "Configuration of the Harris detector")]
pub struct ConfigOptions {
    /// Published system to start from: default, opencv_gftt, jobanputra_stentz, harris_phull_2011, lococo_2011, chahuara_2017
    #[arg(long, value_name = "NAME")]
    pub preset: Option<String>,
    /// none|binomial3|binomial5|gaussian:SIZE:SIGMA
    #[arg(long)]
    pub smoothing: Option<Smoothing>,
    /// sobel3|scharr3|central|box:SIZE|gaussian-derivative:SIZE:SIGMA
    #[arg(long)]
    pub gradient: Option<Gradient>,
    /// box:SIZE|binomial:SIZE|gaussian:SIZE:SIGMA
    #[arg(long)]
    pub window: Option<Window>,
    /// harris:K|shi-tomasi|noble:EPS
    #[arg(long)]
    pub measure: Option<Measure>,
    /// absolute:VALUE|relative:QUALITY|rosin:BINS|none
    #[arg(long)]
    pub threshold: Option<Threshold>,
    /// reflect101|replicate|zero|skip
    #[arg(long)]
    pub border: Option<Border>,
    /// Radius of the square in which a corner is the strongest, in pixels
    #[arg(long, value_name = "RADIUS")]
    pub nms_radius: Option<u32>,
    /// Pixels along the edges without corners
    #[arg(long, value_name = "PIXELS")]
    pub margin: Option<u32>,
    /// Least distance between corners, in pixels
    #[arg(long, value_name = "PIXELS", allow_negative_numbers = true)]
    pub min_distance: Option<f32>,
    /// The most keypoints of either detector, the strongest being kept; 0 for all
    #[arg(long, value_name = "NUMBER")]
    pub max_corners: Option<usize>,
    /// none|quadratic|forstner:RADIUS
    #[arg(long)]
    pub subpixel: Option<Subpixel>,
    /// response|raster
    #[arg(long)]
    pub order: Option<Order>,
}

impl ConfigOptions {
    /// The configuration.
    ///
    /// # Errors
    /// An unknown preset, or a value out of range.
    pub fn config(&self) -> Result<HarrisConfig, Error> {
        let preset = match &self.preset {
            Some(name) => presets::named(name)?,
            None => HarrisConfig::default(),
        };
        let mut builder = preset.to_builder();
        macro_rules! change {
            ($($option:ident => $setter:ident),*) => {
                $(if let Some(value) = self.$option {
                    builder = builder.$setter(value);
                })*
            };
        }
        change! {
            smoothing => smoothing, gradient => gradient, window => window, measure => measure,
            threshold => threshold, border => border, nms_radius => suppression_radius, margin => margin,
            min_distance => min_distance, subpixel => subpixel, order => order
        }
        if let Some(most) = self.max_corners {
            builder = builder.max_corners((most > 0).then_some(most));
        }
        builder.build()
    }
}

/// A backend and its threads.
#[derive(Args, Clone, Copy, Debug, Default)]
#[command(next_help_heading = "Backend")]
pub struct BackendOptions {
    /// What computes
    #[arg(long, value_enum, default_value_t)]
    pub backend: Backend,
    /// Threads of the CPU backend; as many as the machine runs at once by default
    #[arg(long, value_name = "NUMBER")]
    pub threads: Option<usize>,
    /// Instruction set of the CPU backend: avx512, avx2, sse2, neon or portable; the widest that there is by default
    #[arg(long, value_name = "NAME")]
    pub level: Option<Level>,
    /// Number of the CUDA backend's GPU; the first by default
    #[arg(long, value_name = "NUMBER")]
    pub device: Option<u32>,
    /// One kernel a stage on the CUDA backend, also where there is a fused one, for comparing them
    #[arg(long)]
    pub staged: bool,
}

/// A detector that may know how long its device or its steps took.
pub trait Timed: Detector {
    /// Whether the device's time is taken, which takes some itself.
    fn set_timed(&mut self, timed: bool) {
        let _ = timed;
    }

    /// The time on the device for the last image, from its arrival there to the complete list, without transfers.
    fn device_time(&self) -> Option<Duration> {
        None
    }

    /// The device's time for each stage of the last image, where one came after the other.
    fn stage_times(&self) -> Option<StageTimes> {
        None
    }

    /// The time of each step for the last image.
    fn step_times(&self) -> Option<StepTimes> {
        None
    }
}

impl Timed for ReferenceDetector {}

impl Timed for CpuDetector {}

impl Timed for ReferenceFastHessian {}

impl Timed for CpuFastHessian {
    fn step_times(&self) -> Option<StepTimes> {
        Some(CpuFastHessian::step_times(self))
    }
}

#[cfg(feature = "cuda")]
impl Timed for harris_cuda::CudaDetector {
    fn set_timed(&mut self, timed: bool) {
        harris_cuda::CudaDetector::set_timed(self, timed);
    }

    fn device_time(&self) -> Option<Duration> {
        harris_cuda::CudaDetector::device_time(self).ok()
    }

    fn stage_times(&self) -> Option<StageTimes> {
        harris_cuda::CudaDetector::stage_times(self).ok().flatten()
    }
}

#[cfg(feature = "cuda")]
impl Timed for harris_cuda::CudaFastHessian {
    fn device_time(&self) -> Option<Duration> {
        harris_cuda::CudaFastHessian::device_time(self).ok()
    }

    fn step_times(&self) -> Option<StepTimes> {
        harris_cuda::CudaFastHessian::step_times(self).ok()
    }
}

/// What computes.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, ValueEnum)]
pub enum Backend {
    /// Plain code, one thread
    Reference,
    /// All cores
    #[default]
    Cpu,
    /// An NVIDIA GPU; built with `--features cuda` alone
    Cuda,
}

/// Makes something on a backend: `Reference`, `Cpu` and `Cuda` are types, of whatever is configured so.
macro_rules! on_backend {
    ($options:expr, $config:expr, $reference:ident, $cpu:ident, $cuda:ident) => {{
        $options.check()?;
        match $options.backend {
            Backend::Reference => Box::new($reference::new($config)),
            Backend::Cpu => {
                let made = match $options.threads {
                    None => $cpu::new($config),
                    Some(threads) => $cpu::with_threads($config, threads)?,
                };
                Box::new(match $options.level {
                    None => made,
                    Some(level) => made.at_level(level),
                })
            }
            #[cfg(feature = "cuda")]
            Backend::Cuda => Box::new(
                harris_cuda::$cuda::on_device($options.device.unwrap_or(0), $config)
                    .context("cannot use the CUDA backend")?,
            ),
            #[cfg(not(feature = "cuda"))]
            Backend::Cuda => anyhow::bail!(
                "this program was built without the CUDA backend; build it with `cargo run --release --features cuda ...`"
            ),
        }
    }};
}

impl BackendOptions {
    /// The number of the GPU whose fused kernels are used, where there is one.
    #[cfg(feature = "cuda")]
    #[must_use]
    pub fn ordinal(&self) -> Option<u32> {
        (self.backend == Backend::Cuda && !self.staged).then_some(self.device.unwrap_or(0))
    }

    /// The numbers of the GPUs for a stream of frames, where there are some: all, or the one that was chosen.
    ///
    /// # Errors
    /// No GPU.
    #[cfg(feature = "cuda")]
    pub fn ordinals(&self) -> anyhow::Result<Option<Vec<u32>>> {
        self.check()?;
        if self.ordinal().is_none() {
            return Ok(None);
        }
        Ok(Some(match self.device {
            Some(device) => vec![device],
            None => {
                let devices = harris_cuda::devices().context("cannot use the CUDA backend")?;
                devices.iter().map(|device| device.ordinal).collect()
            }
        }))
    }

    /// A detector of this backend.
    ///
    /// # Errors
    /// Threads asked of a backend without, or that cannot be started; no GPU.
    pub fn detector(&self, detection: Detection) -> anyhow::Result<Box<dyn Timed>> {
        match detection {
            #[cfg(feature = "cuda")]
            Detection::Harris(config) if self.staged && self.backend == Backend::Cuda => {
                let detector = harris_cuda::CudaDetector::on_device(self.device.unwrap_or(0), config)
                    .context("cannot use the CUDA backend")?;
                Ok(Box::new(detector.staged()))
            }
            Detection::Harris(config) => {
                Ok(on_backend!(self, config, ReferenceDetector, CpuDetector, CudaDetector))
            }
            Detection::FastHessian(config) => {
                ensure!(!self.staged, "the Fast-Hessian detector has no fused kernels");
                Ok(on_backend!(self, config, ReferenceFastHessian, CpuFastHessian, CudaFastHessian))
            }
        }
    }

    /// What computes SURF descriptors on this backend.
    ///
    /// # Errors
    /// As [`BackendOptions::detector`].
    pub fn extractor(&self, config: SurfConfig) -> anyhow::Result<Box<dyn Extractor>> {
        Ok(on_backend!(self, config, ReferenceSurf, CpuSurf, CudaSurf))
    }

    /// What finds matches on this backend.
    ///
    /// # Errors
    /// As [`BackendOptions::detector`].
    pub fn matcher(&self, config: MatchConfig) -> anyhow::Result<Box<dyn Matcher>> {
        Ok(on_backend!(self, config, ReferenceMatcher, CpuMatcher, CudaMatcher))
    }

    /// The backend's name in words.
    #[must_use]
    pub fn name(&self) -> &'static str {
        match self.backend {
            Backend::Reference => "reference",
            Backend::Cpu => "CPU",
            Backend::Cuda => "CUDA",
        }
    }

    /// Checks that nothing is asked of a backend that it does not have.
    fn check(&self) -> anyhow::Result<()> {
        let name = self.name();
        if self.backend != Backend::Cpu {
            ensure!(self.threads.unwrap_or(1) == 1, "the {name} backend has one thread");
            ensure!(self.level.is_none(), "the {name} backend has no instruction sets");
        }
        if self.backend != Backend::Cuda {
            ensure!(self.device.is_none(), "the {name} backend has no devices");
            ensure!(!self.staged, "the {name} backend has no fused kernels");
        }
        Ok(())
    }
}
