//! Harris corner detection and SURF features, on the best backend of the machine.
//!
//! ```
//! use harris::{Backend, HarrisConfig, ImageView};
//!
//! // A gray image: here a white square on black, as 8-bit samples.
//! let (width, height) = (64, 48);
//! let samples: Vec<u8> = (0..width * height)
//!     .map(|i| if (16..40).contains(&(i % width)) && (12..36).contains(&(i / width)) { 255 } else { 0 })
//!     .collect();
//! let image = ImageView::gray(&samples, width, height)?;
//!
//! let mut detector = harris::detector(Backend::Auto, HarrisConfig::default())?;
//! let corners = detector.detect(&image)?;
//! assert_eq!(corners.len(), 4);
//! assert_eq!((corners[0].x, corners[0].y), (16.0, 12.0));
//! # Ok::<(), harris::Error>(())
//! ```
//!
//! [`Backend`] names what computes: an NVIDIA GPU, the CPU, or the readable reference.
//!
//! | function | does |
//! | --- | --- |
//! | [`detector`] | finds corners |
//! | [`fast_hessian`](fn@fast_hessian) | finds blobs |
//! | [`surf`](fn@surf) | describes keypoints |
//! | [`features`](fn@features) | finds keypoints and describes them |
//! | [`matcher`] | matches descriptors |
//!
//! These functions return trait objects. Some features belong to one backend: threads of the CPU,
//! images in a GPU's memory, streams of frames. For these use the types in [`cpu`] and [`cuda`].
//!
//! CUDA does not work in a child of a process that has used it. Fork before a backend is chosen, or
//! start workers as new programs.
//!
//! # Features
//! - `cuda` (default): the backend for NVIDIA GPUs. It builds on every machine, and loads the
//!   driver's library at its first use.
//! - `image`: [`ImageView`] from buffers of the crate `image` 0.25, gray or RGB. For an image with
//!   an alpha channel, call `DynamicImage::to_rgb8()` or a similar conversion first.
//! - `serde`: serialization of configurations and keypoints, validated when read.
//! - `approximate`: an index in [`cpu`] for very many descriptors, which finds most matches.

#![forbid(unsafe_code)]
#![cfg_attr(docsrs, feature(doc_cfg))]

mod backend;

pub use backend::{Availability, Backend, CudaNotBuilt, OnBackend, UnknownBackend};
#[doc(no_inline)]
pub use harris_core::{
    Border, Detector, Error, Gradient, HarrisConfig, HarrisConfigBuilder, ImageView, Keypoint, Measure,
    Order, Raster, ReferenceDetector, Sample, Samples, Smoothing, StageTimes, Subpixel, Threshold, Window,
    config, fast_hessian, features, integral, matching, pipeline, presets, surf,
};
#[doc(no_inline)]
pub use harris_cpu as cpu;
#[cfg(feature = "cuda")]
#[doc(no_inline)]
pub use harris_cuda as cuda;
#[doc(no_inline)]
pub use ndarray;

use harris_core::fast_hessian::{FastHessianConfig, ReferenceFastHessian};
use harris_core::features::{DetectAndDescribe, FeatureConfig, ReferenceFeatures};
use harris_core::matching::{MatchConfig, Matcher, ReferenceMatcher};
use harris_core::surf::{Extractor, ReferenceSurf, SurfConfig};

/// Makes a value on a backend, with the type of each backend.
macro_rules! make {
    ($backend:expr, $config:expr, $trait:ty, $reference:ty, $cpu:ident, $cuda:ident) => {
        $backend
            .make(|backend| -> Result<Box<$trait>, Error> {
                let config = $config.clone();
                match backend {
                    Backend::Reference => Ok(Box::new(<$reference>::new(config))),
                    // `make` never passes `Auto`.
                    Backend::Cpu | Backend::Auto => Ok(Box::new(harris_cpu::$cpu::new(config))),
                    #[cfg(feature = "cuda")]
                    Backend::Cuda { device } => Ok(Box::new(harris_cuda::$cuda::on_device(device, config)?)),
                    #[cfg(not(feature = "cuda"))]
                    Backend::Cuda { .. } => Err(CudaNotBuilt.into()),
                }
            })
            .map(|made| made.value)
    };
}

/// Makes a detector of corners on a backend.
///
/// With [`Backend::Auto`] the choice is made here, and does not depend on the images.
/// [`Detector::describe`] tells the choice. [`Backend::make`] and [`Backend::available`] tell why a
/// GPU was not used.
///
/// # Errors
/// [`Error::Backend`] with the backend's own error if it cannot be used. [`Backend::Auto`],
/// [`Backend::Cpu`] and [`Backend::Reference`] never fail.
pub fn detector(backend: Backend, config: HarrisConfig) -> Result<Box<dyn Detector>, Error> {
    make!(backend, config, dyn Detector, ReferenceDetector, CpuDetector, CudaDetector)
}

/// Makes SURF's blob detector (Fast-Hessian) on a backend, chosen as by [`detector`].
///
/// ```
/// use harris::{Backend, ImageView, fast_hessian::FastHessianConfig};
///
/// let mut detector = harris::fast_hessian(Backend::Auto, FastHessianConfig::default())?;
/// let samples = vec![0_u8; 640 * 480];
/// assert!(detector.detect(&ImageView::gray(&samples, 640, 480)?)?.is_empty());
/// # Ok::<(), harris::Error>(())
/// ```
///
/// # Errors
/// See [`detector`].
pub fn fast_hessian(backend: Backend, config: FastHessianConfig) -> Result<Box<dyn Detector>, Error> {
    make!(backend, config, dyn Detector, ReferenceFastHessian, CpuFastHessian, CudaFastHessian)
}

/// Makes a detector with a SURF extractor on a backend, chosen as by [`detector`].
///
/// ```
/// use harris::features::FeatureConfig;
/// use harris::{Backend, ImageView};
///
/// let mut features = harris::features(Backend::Auto, FeatureConfig::default())?;
/// let samples = vec![0_u8; 640 * 480];
/// let found = features.detect_and_describe(&ImageView::gray(&samples, 640, 480)?)?;
/// assert_eq!(found.descriptors.dim(), (0, 64));
/// # Ok::<(), harris::Error>(())
/// ```
///
/// # Errors
/// See [`detector`].
pub fn features(backend: Backend, config: FeatureConfig) -> Result<Box<dyn DetectAndDescribe>, Error> {
    make!(backend, config, dyn DetectAndDescribe, ReferenceFeatures, CpuFeatures, CudaFeatures)
}

/// Makes a SURF extractor on a backend, chosen as by [`detector`].
///
/// # Errors
/// See [`detector`].
pub fn surf(backend: Backend, config: SurfConfig) -> Result<Box<dyn Extractor>, Error> {
    make!(backend, config, dyn Extractor, ReferenceSurf, CpuSurf, CudaSurf)
}

/// Makes a descriptor matcher on a backend, chosen as by [`detector`].
///
/// ```
/// use harris::matching::MatchConfig;
/// use harris::{Backend, ImageView, Keypoint, surf::SurfConfig};
///
/// let samples: Vec<u8> = (0..96 * 96).map(|i| (i * i % 251) as u8).collect();
/// let image = ImageView::gray(&samples, 96, 96)?;
/// let keypoints = [Keypoint::new(40.0, 40.0, 1.0), Keypoint::new(50.0, 44.0, 1.0)];
/// let descriptors = harris::surf(Backend::Auto, SurfConfig::default())?.extract(&image, &keypoints)?;
/// let matches = harris::matcher(Backend::Auto, MatchConfig::nearest())?
///     .matches(descriptors.view(), descriptors.view())?;
/// assert_eq!(matches.iter().map(|m| m.train).collect::<Vec<_>>(), [0, 1]);
/// # Ok::<(), harris::Error>(())
/// ```
///
/// # Errors
/// See [`detector`].
pub fn matcher(backend: Backend, config: MatchConfig) -> Result<Box<dyn Matcher>, Error> {
    make!(backend, config, dyn Matcher, ReferenceMatcher, CpuMatcher, CudaMatcher)
}

/// The README's examples run as tests.
#[cfg(doctest)]
#[doc = include_str!("../README.md")]
struct Readme;
