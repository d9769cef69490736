//! Options that choose a backend.

use anyhow::{Context, bail};
use clap::Args;
use harris::Backend;
use harris::cuda::{CudaDetector, CudaFastHessian, CudaFeatures, CudaMatcher, CudaSurf};
use harris_core::ReferenceDetector;
use harris_core::fast_hessian::ReferenceFastHessian;
use harris_core::features::{DetectAndDescribe, FeatureConfig, ReferenceFeatures};
use harris_core::matching::{MatchConfig, Matcher, ReferenceMatcher};
use harris_core::surf::{Extractor, ReferenceSurf, SurfConfig};
use harris_cpu::{CpuDetector, CpuFastHessian, CpuFeatures, CpuMatcher, CpuSurf, Level, MAX_THREADS};

use super::kind::Detection;
use super::timed::Timed;
use super::values::whole;
use crate::messages::wrong;
use crate::output;

/// A backend and its options.
#[derive(Args, Clone, Copy, Debug, Default)]
#[command(next_help_heading = "Backend")]
pub struct BackendOptions {
    /// Backend: auto (the first usable GPU, else the CPU), cpu, cuda, cuda:NUMBER or reference
    #[arg(long, default_value_t, value_name = "NAME")]
    pub backend: Backend,
    /// Threads of the CPU backend, 1 to 1024; by default one for each hardware thread
    #[arg(long, value_name = "NUMBER", value_parser = whole::<usize>(1..=MAX_THREADS as u64))]
    pub threads: Option<usize>,
    /// Instruction set of the CPU backend: avx512, avx2, sse2 or neon; by default the
    /// widest available
    #[arg(long, value_name = "NAME")]
    pub level: Option<Level>,
    /// Number of the GPU for the CUDA backend; by default the first
    #[arg(long, value_name = "NUMBER", value_parser = whole::<u32>(0..=u32::MAX.into()))]
    pub device: Option<u32>,
    /// Run each step by a kernel of its own on the CUDA backend, instead of several steps in one,
    /// to compare the two
    #[arg(long)]
    pub staged: bool,
    /// Tell why GPUs were not used, and how the backend computes each image
    #[arg(short, long)]
    pub verbose: bool,
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
            let skipped = match self.verbose && !skipped.is_empty() {
                true => format!(" (not {})", skipped.join("; ")),
                false => String::new(),
            };
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
        if of_cpu && of_cuda {
            bail!(wrong("--threads and --level belong to the CPU, --device and --staged to a GPU"));
        }
        self.backend = match (self.backend, self.device) {
            (Backend::Auto, _) if of_cpu => Backend::Cpu,
            (Backend::Auto, None) if of_cuda => Backend::Cuda { device: 0 },
            (Backend::Auto | Backend::Cuda { device: 0 }, Some(device)) => Backend::Cuda { device },
            (backend, _) => backend,
        };
        let name = self.name();
        let fault = match self.backend {
            Backend::Cuda { .. } | Backend::Auto | Backend::Reference if self.threads.unwrap_or(1) != 1 => {
                format!("the {name} backend has one thread")
            }
            Backend::Cuda { .. } | Backend::Auto | Backend::Reference if self.level.is_some() => {
                format!("the {name} backend has no instruction sets")
            }
            Backend::Cuda { device } => match self.device {
                Some(named) if named != device => {
                    format!("--backend selects GPU {device}, but --device selects GPU {named}")
                }
                Some(_) | None => return Ok(()),
            },
            Backend::Auto | Backend::Cpu | Backend::Reference if self.device.is_some() => {
                format!("the {name} backend has no devices")
            }
            Backend::Auto | Backend::Cpu | Backend::Reference if self.staged => {
                format!("the {name} backend has no fused kernels")
            }
            Backend::Auto | Backend::Cpu | Backend::Reference => return Ok(()),
        };
        Err(wrong(fault))
    }

    /// Returns what a detector tells of itself, without its plan for the last image unless the user
    /// wants to see it.
    #[must_use]
    pub fn shown(&self, description: String) -> String {
        match description.match_indices(": ").nth(1) {
            Some((end, _)) if !self.verbose => description[..end].to_owned(),
            Some(_) | None => description,
        }
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
                if self.staged {
                    bail!(wrong("the Fast-Hessian detector has no fused kernels"));
                }
                on_backend!(self, config, dyn Timed, ReferenceFastHessian, CpuFastHessian, CudaFastHessian)
            }
        }
    }

    /// Makes a detector with a SURF extractor of this backend.
    ///
    /// # Errors
    /// See [`BackendOptions::detector`].
    pub fn features(&mut self, config: &FeatureConfig) -> anyhow::Result<Box<dyn DetectAndDescribe>> {
        if self.staged {
            bail!(wrong("--staged belongs to corners without descriptors"));
        }
        on_backend!(self, config, dyn DetectAndDescribe, ReferenceFeatures, CpuFeatures, CudaFeatures)
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
