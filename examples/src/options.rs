//! The options that choose a configuration and a backend.

use std::time::Duration;

#[cfg(feature = "cuda")]
use anyhow::Context;
use anyhow::ensure;
use clap::{Args, ValueEnum};
use harris_core::{
    Border, Detector, Error, Gradient, HarrisConfig, Measure, Order, ReferenceDetector, Smoothing, Subpixel,
    Threshold, Window, presets,
};
use harris_cpu::{CpuDetector, Level};

/// A preset, and what differs from it.
#[derive(Args, Clone, Debug, Default)]
#[command(next_help_heading = "Configuration")]
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
    /// The most corners, the strongest being kept; 0 for all
    #[arg(long, value_name = "NUMBER")]
    pub max_corners: Option<usize>,
    /// none|quadratic
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
    /// Instruction set of the CPU backend: avx512, avx2, sse2 or portable; the widest that there is by default
    #[arg(long, value_name = "NAME")]
    pub level: Option<Level>,
    /// Number of the CUDA backend's GPU; the first by default
    #[arg(long, value_name = "NUMBER")]
    pub device: Option<u32>,
    /// One kernel a stage on the CUDA backend, also where there is a fused one, for comparing them
    #[arg(long)]
    pub staged: bool,
}

/// A detector that may know how long its device worked.
pub trait Timed: Detector {
    /// The time on the device for the last image, from its arrival there to the complete list, without transfers.
    fn device_time(&self) -> Option<Duration> {
        None
    }
}

impl Timed for ReferenceDetector {}

impl Timed for CpuDetector {}

#[cfg(feature = "cuda")]
impl Timed for harris_cuda::CudaDetector {
    fn device_time(&self) -> Option<Duration> {
        harris_cuda::CudaDetector::device_time(self).ok()
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

impl BackendOptions {
    /// A detector of this backend.
    ///
    /// # Errors
    /// Threads asked of a backend without, or that cannot be started.
    pub fn detector(&self, config: HarrisConfig) -> anyhow::Result<Box<dyn Timed>> {
        let name = match self.backend {
            Backend::Reference => "reference",
            Backend::Cpu => "CPU",
            Backend::Cuda => "CUDA",
        };
        if self.backend != Backend::Cpu {
            ensure!(self.threads.unwrap_or(1) == 1, "the {name} backend has one thread");
            ensure!(self.level.is_none(), "the {name} backend has no instruction sets");
        }
        if self.backend != Backend::Cuda {
            ensure!(self.device.is_none(), "the {name} backend has no devices");
            ensure!(!self.staged, "the {name} backend has no fused kernels");
        }
        match self.backend {
            Backend::Reference => Ok(Box::new(ReferenceDetector::new(config))),
            Backend::Cpu => {
                let detector = match self.threads {
                    None => CpuDetector::new(config),
                    Some(threads) => CpuDetector::with_threads(config, threads)?,
                };
                Ok(Box::new(match self.level {
                    None => detector,
                    Some(level) => detector.at_level(level),
                }))
            }
            Backend::Cuda => self.cuda(config),
        }
    }

    #[cfg(feature = "cuda")]
    fn cuda(&self, config: HarrisConfig) -> anyhow::Result<Box<dyn Timed>> {
        let detector = harris_cuda::CudaDetector::on_device(self.device.unwrap_or(0), config)
            .context("cannot use the CUDA backend")?;
        Ok(Box::new(if self.staged { detector.staged() } else { detector }))
    }

    #[cfg(not(feature = "cuda"))]
    fn cuda(&self, _: HarrisConfig) -> anyhow::Result<Box<dyn Timed>> {
        anyhow::bail!(
            "this program was built without the CUDA backend; build it with `cargo run --release --features cuda ...`"
        )
    }
}
