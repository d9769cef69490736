//! Harris corner detection and SURF features on the CPU and on NVIDIA GPUs, with equal results.
//!
//! A detector takes an [`ImageView`] and gives a list of [`Keypoint`]s. The backend is chosen at
//! run time, and changes no bit of a result.
//!
//! ```
//! use harris::{Backend, HarrisConfig, ImageView, Keypoint};
//!
//! let photograph = image::open("../examples/data/camera.png")?.to_luma8();
//! let (width, height) = (photograph.width() as usize, photograph.height() as usize);
//! let image = ImageView::gray(photograph.as_raw(), width, height)?;
//!
//! // The 100 strongest corners, at least 10 pixels apart, on the first usable GPU or on the CPU.
//! let config = HarrisConfig::builder().min_distance(10.0).max_corners(100).build()?;
//! let mut detector = harris::detector(Backend::Auto, config)?;
//! let corners = detector.detect(&image)?;
//! assert_eq!(corners.len(), 100);
//! for Keypoint { x, y, response, .. } in &corners[..3] {
//!     println!("x {x}, y {y}: {response}");
//! }
//! # Ok::<(), Box<dyn std::error::Error>>(())
//! ```
//!
//! # Where to start
//!
//! | function | makes | configured by |
//! | --- | --- | --- |
//! | [`detector`] | a [`Detector`] of corners | [`HarrisConfig`], [`presets`] |
//! | [`fast_hessian`](fn@fast_hessian) | a [`Detector`] of blobs | [`FastHessianConfig`] |
//! | [`surf`](fn@surf) | an [`Extractor`]: describes keypoints | [`SurfConfig`] |
//! | [`features`](fn@features) | a [`DetectAndDescribe`]: finds keypoints and describes them | [`FeatureConfig`] |
//! | [`matcher`] | a [`Matcher`] of descriptors | [`MatchConfig`] |
//!
//! [`Homography::ransac`](matching::Homography::ransac) finds the map between two images from
//! matches. [`Error`] has a variant for each cause, and its page says what a caller can do.
//!
//! # Backends
//!
//! [`Backend`] names what computes: an NVIDIA GPU, the CPU, or the readable reference.
//! [`Backend::available`] lists those of a machine. The functions above return trait objects. Some
//! abilities belong to one backend, and are methods of its types:
//!
//! | module | for |
//! | --- | --- |
//! | [`cpu`] | threads, vector instructions, indices of very many descriptors |
//! | [`cuda`] | images and results in a GPU's memory, streams of frames, several GPUs |
//!
//! CUDA does not work in a child of a process that has used it. Fork before a backend is chosen, or
//! start workers as new programs.
//!
//! # Features
//!
//! | feature | default | adds |
//! | --- | --- | --- |
//! | `cuda` | yes | the backend for NVIDIA GPUs; it needs only Rust to build, and loads the driver at its first use |
//! | `image` | no | [`ImageView`] from buffers of the crate `image` 0.25, gray or RGB; for an image with an alpha channel, call `to_rgb8()` or a similar conversion first |
//! | `serde` | no | `Serialize` and `Deserialize` of the crate `serde` for configurations, keypoints and matches; configurations are validated when read |
//! | `approximate` | no | an index in [`cpu`] for very many descriptors, which finds most matches |
//!
//! Most types are those of the crate `harris-core`. In the examples on their pages, read
//! `harris_core` as `harris`.
//!
//! [`FastHessianConfig`]: fast_hessian::FastHessianConfig
//! [`Extractor`]: surf::Extractor
//! [`SurfConfig`]: surf::SurfConfig
//! [`DetectAndDescribe`]: features::DetectAndDescribe
//! [`FeatureConfig`]: features::FeatureConfig
//! [`Matcher`]: matching::Matcher
//! [`MatchConfig`]: matching::MatchConfig

#![forbid(unsafe_code)]
#![cfg_attr(docsrs, feature(doc_cfg))]

mod backend;

pub use backend::{Availability, Backend, CudaNotBuilt, OnBackend, UnknownBackend};
#[doc(inline)]
pub use harris_core::{
    Border, Detector, Error, Gradient, HarrisConfig, HarrisConfigBuilder, ImageView, Keypoint, Measure,
    Order, Plateau, Raster, ReferenceDetector, Sample, Samples, Smoothing, StageTimes, Subpixel, Threshold,
    Ties, Window, config, fast_hessian, features, matching, presets, surf,
};
#[doc(no_inline)]
pub use harris_core::{integral, pipeline};
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
/// let photograph = image::open("../examples/data/coffee.png")?.to_luma8();
/// let (width, height) = (photograph.width() as usize, photograph.height() as usize);
/// let image = ImageView::gray(photograph.as_raw(), width, height)?;
///
/// let config = FastHessianConfig::builder().max_keypoints(50).build()?;
/// let blobs = harris::fast_hessian(Backend::Auto, config)?.detect(&image)?;
/// assert_eq!(blobs.len(), 50);
/// // Dark blobs have positive responses, light ones negative.
/// assert!(blobs.iter().any(|blob| blob.response < 0.0));
/// # Ok::<(), Box<dyn std::error::Error>>(())
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
/// let photograph = image::open("../examples/data/coffee.png")?.to_luma8();
/// let (width, height) = (photograph.width() as usize, photograph.height() as usize);
/// let image = ImageView::gray(photograph.as_raw(), width, height)?;
///
/// let mut features = harris::features(Backend::Auto, FeatureConfig::default())?;
/// let found = features.detect_and_describe(&image)?;
/// // A row of 64 numbers for each keypoint.
/// assert_eq!(found.descriptors.dim(), (found.keypoints.len(), 64));
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
///
/// # Errors
/// See [`detector`].
pub fn features(backend: Backend, config: FeatureConfig) -> Result<Box<dyn DetectAndDescribe>, Error> {
    make!(backend, config, dyn DetectAndDescribe, ReferenceFeatures, CpuFeatures, CudaFeatures)
}

/// Makes a SURF extractor on a backend, chosen as by [`detector`].
///
/// It describes keypoints from anywhere. To describe those that a detector finds,
/// [`features`](fn@features) is faster on a GPU.
///
/// ```
/// use harris::{Backend, ImageView, Keypoint, surf::SurfConfig};
///
/// let photograph = image::open("../examples/data/camera.png")?.to_luma8();
/// let (width, height) = (photograph.width() as usize, photograph.height() as usize);
/// let image = ImageView::gray(photograph.as_raw(), width, height)?;
/// let places = [Keypoint::new(200.0, 100.0, 1.0), Keypoint::new(220.5, 130.0, 1.0)];
/// let descriptors = harris::surf(Backend::Auto, SurfConfig::default())?.extract(&image, &places)?;
/// assert_eq!(descriptors.dim(), (2, 64));
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
///
/// # Errors
/// See [`detector`].
pub fn surf(backend: Backend, config: SurfConfig) -> Result<Box<dyn Extractor>, Error> {
    make!(backend, config, dyn Extractor, ReferenceSurf, CpuSurf, CudaSurf)
}

/// Makes a descriptor matcher on a backend, chosen as by [`detector`].
///
/// ```
/// use harris::features::FeatureConfig;
/// use harris::matching::{Homography, MatchConfig, Ransac, matched_pairs};
/// use harris::{Backend, ImageView};
///
/// let photograph = image::open("../examples/data/coffee.png")?.to_luma8();
/// let turned = image::imageops::rotate90(&photograph);
/// let mut features = harris::features(Backend::Auto, FeatureConfig::default())?;
/// let mut found = Vec::new();
/// for picture in [&photograph, &turned] {
///     let (width, height) = (picture.width() as usize, picture.height() as usize);
///     found.push(features.detect_and_describe(&ImageView::gray(picture.as_raw(), width, height)?)?);
/// }
/// let [object, scene] = &found[..] else { unreachable!("two pictures") };
///
/// let config = MatchConfig::builder().cross_check(true).build()?;
/// let mut matcher = harris::matcher(Backend::Auto, config)?;
/// let matches = matcher.matches(scene.descriptors.view(), object.descriptors.view())?;
/// let pairs = matched_pairs(&matches, &scene.keypoints, &object.keypoints)?;
/// let fit = Homography::ransac(&pairs, &Ransac::default())?.expect("a turned photograph matches");
/// // The top left corner of the photograph is the top right one of the turned picture.
/// let [x, y] = fit.homography.map([0.0, 0.0]).expect("no horizon in a picture");
/// assert!((x - f64::from(turned.width() - 1)).abs() < 2.0 && y.abs() < 2.0);
/// # Ok::<(), Box<dyn std::error::Error>>(())
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
