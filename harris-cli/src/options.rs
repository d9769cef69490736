//! Command-line options that choose a configuration and a backend.

use std::time::Duration;

use crate::output;
use anyhow::{Context, ensure};
use clap::{Args, ValueEnum};
use harris::Backend;
use harris::cuda::{CudaDetector, CudaFastHessian, CudaMatcher, CudaSurf};
use harris_core::fast_hessian::{self, FastHessianConfig, ReferenceFastHessian, Sampling, StepTimes};
use harris_core::matching::{MatchConfig, Matcher, ReferenceMatcher};
use harris_core::surf::{Extractor, ReferenceSurf, SurfConfig};
use harris_core::{
    Border, Detector, Error, Gradient, HarrisConfig, Measure, Order, Plateau, ReferenceDetector, Smoothing,
    StageTimes, Subpixel, Threshold, Ties, Window, presets,
};
use harris_cpu::{CpuDetector, CpuFastHessian, CpuMatcher, CpuSurf, Level};

/// A kind of detector.
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

/// The detector and its configuration.
#[derive(Args, Clone, Debug, Default)]
pub struct DetectorOptions {
    /// Kind of keypoints to detect
    #[arg(long, value_enum, default_value_t, value_name = "KIND")]
    pub detector: Kind,
    #[command(flatten)]
    harris: ConfigOptions,
    #[command(flatten)]
    blobs: BlobOptions,
}

impl DetectorOptions {
    /// Whether the preset uses the colours of colour images. If not, it uses their luma.
    ///
    /// # Errors
    /// An unknown preset.
    pub fn color(&self) -> Result<bool, Error> {
        match (self.detector, &self.harris.preset) {
            (Kind::Harris, Some(name)) => presets::find(name).map(|preset| preset.color),
            (Kind::Harris | Kind::FastHessian, _) => Ok(false),
        }
    }

    /// Returns the configuration.
    ///
    /// # Errors
    /// The preset is unknown, a value is out of range, or an option belongs to the other detector.
    pub fn detection(&self) -> anyhow::Result<Detection> {
        let preset = self.harris.preset.as_deref().unwrap_or_default();
        let of_corners = presets::named(preset).is_ok();
        let of_blobs = fast_hessian::presets::named(preset).is_ok();
        match self.detector {
            Kind::Harris => ensure!(
                of_corners || !of_blobs,
                "`{preset}` is a preset of the Fast-Hessian detector: add --detector fast-hessian"
            ),
            Kind::FastHessian => ensure!(
                of_blobs || !of_corners,
                "`{preset}` is a preset of the Harris detector: remove --detector fast-hessian"
            ),
        }
        Ok(match self.detector {
            Kind::Harris => {
                ensure!(
                    self.blobs.is_default(),
                    "options of the Fast-Hessian detector need --detector fast-hessian"
                );
                Detection::Harris(self.harris.config()?)
            }
            Kind::FastHessian => {
                let most = self.harris.max_corners;
                let preset = self.harris.preset.as_deref();
                let others = ConfigOptions { max_corners: None, preset: None, ..self.harris.clone() };
                ensure!(
                    others == ConfigOptions::default(),
                    "options of the Harris detector need --detector harris"
                );
                Detection::FastHessian(self.blobs.config(preset, most)?)
            }
        })
    }
}

/// Whether to use colours or luma.
#[derive(Args, Clone, Copy, Debug, Default)]
#[command(next_help_heading = "Input")]
pub struct ColorOptions {
    /// Use the colours of colour files, or with --color=false their luma; as the preset has it by
    /// default
    #[arg(long, value_name = "BOOL", num_args = 0..=1, require_equals = true, default_missing_value = "true")]
    color: Option<bool>,
}

impl ColorOptions {
    /// Returns whether colours are used.
    ///
    /// # Errors
    /// An unknown preset.
    pub fn color(self, detector: &DetectorOptions) -> Result<bool, Error> {
        self.color.map_or_else(|| detector.color(), Ok)
    }
}

/// Options of the Fast-Hessian detector.
#[derive(Args, Clone, Debug, Default, PartialEq)]
#[command(next_help_heading = "Configuration of the Fast-Hessian detector")]
pub struct BlobOptions {
    /// Number of octaves, 1 to 7; large filters may exceed the range of sums
    #[arg(long, value_name = "NUMBER")]
    pub octaves: Option<u32>,
    /// Filters of an octave, 3 to 15; large filters may exceed the range of sums
    #[arg(long, value_name = "NUMBER")]
    pub intervals: Option<u32>,
    /// Pixels between the samples of the first octave, 1 to 6
    #[arg(long, value_name = "PIXELS")]
    pub step: Option<u32>,
    /// Where an octave's samples start: multiples (of the step) or border (of the octave's largest
    /// filter)
    #[arg(long, value_name = "RULE")]
    pub sampling: Option<Sampling>,
    /// Replace negative determinants by 0
    #[arg(long, value_name = "BOOL")]
    pub clamp_negative: Option<bool>,
    /// Threshold that the determinant of the Hessian must exceed
    #[arg(long, value_name = "VALUE", allow_negative_numbers = true)]
    pub determinant: Option<f32>,
}

impl BlobOptions {
    fn is_default(&self) -> bool {
        *self == Self::default()
    }

    fn config(&self, preset: Option<&str>, most: Option<usize>) -> Result<FastHessianConfig, Error> {
        let preset = preset.map_or_else(|| Ok(FastHessianConfig::default()), fast_hessian::presets::named)?;
        let mut builder = preset.to_builder();
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
        if let Some(sampling) = self.sampling {
            builder = builder.sampling(sampling);
        }
        if let Some(clamp) = self.clamp_negative {
            builder = builder.clamp_negative(clamp);
        }
        builder.max_keypoints(most.filter(|most| *most > 0)).build()
    }
}

/// A preset, and options that change it.
#[derive(Args, Clone, Debug, Default, PartialEq)]
#[command(next_help_heading = "Configuration of the Harris detector")]
pub struct ConfigOptions {
    /// Published system to start from: default, opencv_gftt, loundagin_2015, jobanputra_stentz,
    /// harris_phull_2011, lococo_2011, chahuara_2017; with --detector fast-hessian: default,
    /// hofmann_2009
    #[arg(long, value_name = "NAME")]
    pub preset: Option<String>,
    /// none|binomial3|binomial3-exact|binomial5|gaussian:SIZE:SIGMA
    #[arg(long)]
    pub smoothing: Option<Smoothing>,
    /// sobel3|sobel5|sobel7|scharr3|central|box:SIZE|gaussian-derivative:SIZE:SIGMA
    #[arg(long)]
    pub gradient: Option<Gradient>,
    /// box:SIZE|binomial:SIZE|gaussian:SIZE:SIGMA
    #[arg(long)]
    pub window: Option<Window>,
    /// harris:K|shi-tomasi|noble:EPS|triggs:ALPHA
    #[arg(long)]
    pub measure: Option<Measure>,
    /// absolute:VALUE|relative:QUALITY|rosin:BINS|none
    #[arg(long)]
    pub threshold: Option<Threshold>,
    /// reflect101|replicate|zero|skip
    #[arg(long)]
    pub border: Option<Border>,
    /// Suppression radius: a corner is the maximum of a square of 2 * RADIUS + 1 pixels a side
    #[arg(long, value_name = "RADIUS")]
    pub nms_radius: Option<u32>,
    /// Which of equal neighbours stay: first|all
    #[arg(long, value_name = "RULE")]
    pub plateau: Option<Plateau>,
    /// Order of equal responses, by rows: ascending|descending
    #[arg(long)]
    pub ties: Option<Ties>,
    /// Width of the edge without corners, in pixels
    #[arg(long, value_name = "PIXELS")]
    pub margin: Option<u32>,
    /// Minimum distance between corners, in pixels
    #[arg(long, value_name = "PIXELS", allow_negative_numbers = true)]
    pub min_distance: Option<f64>,
    /// Maximum number of keypoints, the strongest being kept; 0 for all
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
    /// Returns the configuration.
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
            threshold => threshold, border => border, nms_radius => suppression_radius, plateau => plateau,
            ties => ties, margin => margin,
            min_distance => min_distance, subpixel => subpixel, order => order
        }
        if let Some(most) = self.max_corners {
            builder = builder.max_corners((most > 0).then_some(most));
        }
        builder.build()
    }
}

/// A backend and its options.
#[derive(Args, Clone, Copy, Debug, Default)]
#[command(next_help_heading = "Backend")]
pub struct BackendOptions {
    /// Backend: auto (the first usable GPU, else the CPU), cpu, cuda, cuda:NUMBER or reference
    #[arg(long, default_value_t, value_name = "NAME")]
    pub backend: Backend,
    /// Threads of the CPU backend; by default one for each hardware thread
    #[arg(long, value_name = "NUMBER")]
    pub threads: Option<usize>,
    /// Instruction set of the CPU backend: avx512, avx2, sse2, neon or portable; by default the
    /// widest available
    #[arg(long, value_name = "NAME")]
    pub level: Option<Level>,
    /// Number of the GPU for the CUDA backend; by default the first
    #[arg(long, value_name = "NUMBER")]
    pub device: Option<u32>,
    /// Use one kernel for each stage on the CUDA backend, instead of fused kernels, to compare the
    /// two
    #[arg(long)]
    pub staged: bool,
}

/// A detector that may know the times of its device or of its steps.
pub trait Timed: Detector {
    /// Sets whether the device's time is measured, which itself takes time.
    fn set_timed(&mut self, timed: bool) {
        let _ = timed;
    }

    /// Returns the time on the device for the last image, from its arrival there to the complete
    /// list, without transfers.
    fn device_time(&self) -> Option<Duration> {
        None
    }

    /// Returns the device's time for each stage of the last image, if the stages ran one after
    /// another.
    fn stage_times(&self) -> Option<StageTimes> {
        None
    }

    /// Returns the time of each step for the last image.
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

impl Timed for CudaDetector {
    fn set_timed(&mut self, timed: bool) {
        CudaDetector::set_timed(self, timed);
    }

    fn device_time(&self) -> Option<Duration> {
        CudaDetector::device_time(self).ok()
    }

    fn stage_times(&self) -> Option<StageTimes> {
        CudaDetector::stage_times(self).ok().flatten()
    }
}

impl Timed for CudaFastHessian {
    fn device_time(&self) -> Option<Duration> {
        CudaFastHessian::device_time(self).ok()
    }

    fn step_times(&self) -> Option<StepTimes> {
        CudaFastHessian::step_times(self).ok()
    }
}

/// Makes a value on a backend, with the type of each backend.
macro_rules! on_backend {
    ($options:expr, $config:expr, $trait:ty, $reference:ident, $cpu:ident, $cuda:ident) => {
        $options.make(|options, backend| -> anyhow::Result<Box<$trait>> {
            let config = $config.clone();
            Ok(match backend {
                Backend::Reference => Box::new($reference::new(config)),
                Backend::Cpu | Backend::Auto => {
                    let made = match options.threads {
                        None => $cpu::new(config),
                        Some(threads) => $cpu::with_threads(config, threads)?,
                    };
                    Box::new(match options.level {
                        None => made,
                        Some(level) => made.at_level(level),
                    })
                }
                Backend::Cuda { device } => {
                    Box::new($cuda::on_device(device, config).context("cannot use the CUDA backend")?)
                }
            })
        })
    };
}

impl BackendOptions {
    /// Makes a value on the chosen backend. For `auto`, prints the backend that was found to
    /// standard error. Later values are made on that one, too.
    ///
    /// # Errors
    /// The error of `make`, or an option that belongs to another backend.
    pub fn make<T>(
        &mut self,
        mut make: impl FnMut(&Self, Backend) -> anyhow::Result<T>,
    ) -> anyhow::Result<T> {
        self.resolve()?;
        let made = self.backend.make(|backend| make(self, backend))?;
        if self.backend == Backend::Auto {
            let skipped: Vec<_> =
                made.skipped.iter().map(|(backend, why)| format!("{backend}: {why:#}")).collect();
            let skipped =
                if skipped.is_empty() { String::new() } else { format!(" (not {})", skipped.join("; ")) };
            output::message(format_args!("backend: {}{skipped}", made.backend));
            self.backend = made.backend;
        }
        Ok(made.value)
    }

    /// Resolves `auto` if an option belongs to one backend only, and rejects options of other
    /// backends.
    fn resolve(&mut self) -> anyhow::Result<()> {
        let (of_cpu, of_cuda) =
            (self.threads.is_some() || self.level.is_some(), self.device.is_some() || self.staged);
        ensure!(
            !(of_cpu && of_cuda),
            "--threads and --level belong to the CPU, --device and --staged to a GPU"
        );
        self.backend = match (self.backend, self.device) {
            (Backend::Auto, _) if of_cpu => Backend::Cpu,
            (Backend::Auto, None) if of_cuda => Backend::Cuda { device: 0 },
            (Backend::Auto | Backend::Cuda { device: 0 }, Some(device)) => Backend::Cuda { device },
            (backend, _) => backend,
        };
        let name = self.name();
        if self.backend != Backend::Cpu {
            ensure!(self.threads.unwrap_or(1) == 1, "the {name} backend has one thread");
            ensure!(self.level.is_none(), "the {name} backend has no instruction sets");
        }
        match self.backend {
            Backend::Cuda { device } => {
                let named = self.device.unwrap_or(device);
                ensure!(named == device, "--backend selects GPU {device}, but --device selects GPU {named}");
            }
            Backend::Auto | Backend::Cpu | Backend::Reference => {
                ensure!(self.device.is_none(), "the {name} backend has no devices");
                ensure!(!self.staged, "the {name} backend has no fused kernels");
            }
        }
        Ok(())
    }

    /// Returns the number of the GPU, if fused kernels of a GPU are used. Call it after a value was
    /// made.
    #[must_use]
    pub fn ordinal(&self) -> Option<u32> {
        match self.backend {
            Backend::Cuda { device } if !self.staged => Some(device),
            _ => None,
        }
    }

    /// Makes a detector of this backend.
    ///
    /// # Errors
    /// The backend has no threads, or these cannot be started; there is no GPU.
    pub fn detector(&mut self, detection: &Detection) -> anyhow::Result<Box<dyn Timed>> {
        match detection {
            Detection::Harris(config) if self.staged => self.make(|_, backend| {
                let Backend::Cuda { device } = backend else {
                    unreachable!("only a GPU has the option --staged")
                };
                let made = CudaDetector::on_device(device, config.clone());
                Ok(Box::new(made.context("cannot use the CUDA backend")?.staged()) as Box<dyn Timed>)
            }),
            Detection::Harris(config) => {
                on_backend!(self, config, dyn Timed, ReferenceDetector, CpuDetector, CudaDetector)
            }
            Detection::FastHessian(config) => {
                ensure!(!self.staged, "the Fast-Hessian detector has no fused kernels");
                on_backend!(self, config, dyn Timed, ReferenceFastHessian, CpuFastHessian, CudaFastHessian)
            }
        }
    }

    /// Makes a SURF extractor of this backend.
    ///
    /// # Errors
    /// See [`BackendOptions::detector`].
    pub fn extractor(&mut self, config: &SurfConfig) -> anyhow::Result<Box<dyn Extractor>> {
        on_backend!(self, config, dyn Extractor, ReferenceSurf, CpuSurf, CudaSurf)
    }

    /// Makes a descriptor matcher of this backend.
    ///
    /// # Errors
    /// See [`BackendOptions::detector`].
    pub fn matcher(&mut self, config: &MatchConfig) -> anyhow::Result<Box<dyn Matcher>> {
        on_backend!(self, config, dyn Matcher, ReferenceMatcher, CpuMatcher, CudaMatcher)
    }

    /// Returns the backend's name in words.
    #[must_use]
    pub fn name(&self) -> &'static str {
        match self.backend {
            Backend::Auto => "automatic",
            Backend::Reference => "reference",
            Backend::Cpu => "CPU",
            Backend::Cuda { .. } => "CUDA",
        }
    }
}
