//! Features: keypoints together with their descriptors, found in one call.
//!
//! A [`DetectAndDescribe`] is configured by a [`FeatureConfig`]: corners or blobs, with SURF
//! descriptors.
//!
//! ```
//! use harris_core::features::{DetectAndDescribe, FeatureConfig, ReferenceFeatures};
//! use harris_core::ImageView;
//!
//! let samples: Vec<u8> = (0..96 * 96).map(|i| (i * i / 97 % 256) as u8).collect();
//! let mut features = ReferenceFeatures::new(FeatureConfig::default());
//! let found = features.detect_and_describe(&ImageView::gray(&samples, 96, 96)?)?;
//! assert_eq!(found.descriptors.dim(), (found.keypoints.len(), 64));
//! # Ok::<(), harris_core::Error>(())
//! ```

use ndarray::Array2;

use crate::config::HarrisConfig;
use crate::detector::Detector;
use crate::error::Error;
use crate::fast_hessian::{FastHessianConfig, ReferenceFastHessian};
use crate::image::ImageView;
use crate::keypoint::Keypoint;
use crate::memory;
use crate::reference::ReferenceDetector;
use crate::surf::{Extractor, ReferenceSurf, SurfConfig};

/// The keypoints of an image and their descriptors.
#[derive(Clone, Debug, Default, PartialEq)]
#[non_exhaustive]
pub struct Features {
    /// The keypoints, in the detector's order.
    pub keypoints: Vec<Keypoint>,
    /// The descriptors, N × 64: row i describes keypoint i.
    pub descriptors: Array2<f32>,
}

impl Features {
    /// Puts keypoints and their descriptors together: row i of `descriptors` describes keypoint i.
    ///
    /// # Panics
    /// If their numbers differ.
    #[must_use]
    pub fn new(keypoints: Vec<Keypoint>, descriptors: Array2<f32>) -> Self {
        assert_eq!(keypoints.len(), descriptors.nrows(), "a descriptor for each keypoint");
        Self { keypoints, descriptors }
    }
}

/// Which detector finds the keypoints of [`Features`].
#[derive(Clone, Debug, PartialEq)]
pub enum DetectorConfig {
    /// Corners. Their scale is 1, so choose a
    /// [`magnification`](crate::surf::SurfConfigBuilder::magnification).
    Harris(HarrisConfig),
    /// Blobs of several scales.
    FastHessian(FastHessianConfig),
}

impl From<HarrisConfig> for DetectorConfig {
    fn from(config: HarrisConfig) -> Self {
        Self::Harris(config)
    }
}

impl From<FastHessianConfig> for DetectorConfig {
    fn from(config: FastHessianConfig) -> Self {
        Self::FastHessian(config)
    }
}

/// A configuration of [`DetectAndDescribe`]: a detector, and the SURF descriptor.
///
/// The default is SURF: Fast-Hessian keypoints with rotated windows.
///
/// ```
/// use harris_core::features::FeatureConfig;
/// use harris_core::surf::SurfConfig;
/// use harris_core::HarrisConfig;
///
/// let surf = SurfConfig::builder().magnification(2.5).build()?;
/// let corners = FeatureConfig::new(HarrisConfig::default(), surf);
/// assert_ne!(corners, FeatureConfig::default());
/// # Ok::<(), harris_core::Error>(())
/// ```
#[derive(Clone, Debug, PartialEq)]
#[non_exhaustive]
pub struct FeatureConfig {
    /// What finds the keypoints.
    pub detector: DetectorConfig,
    /// What describes them.
    pub surf: SurfConfig,
}

impl FeatureConfig {
    /// Puts the configurations of a detector and of the descriptor together.
    #[must_use]
    pub fn new(detector: impl Into<DetectorConfig>, surf: SurfConfig) -> Self {
        Self { detector: detector.into(), surf }
    }
}

impl Default for FeatureConfig {
    fn default() -> Self {
        Self::new(FastHessianConfig::default(), SurfConfig::default())
    }
}

/// A detector with a descriptor extractor: an image in, keypoints and their descriptors out.
///
/// All implementations give equal results, bit for bit: those of [`Detector::detect`] followed by
/// [`Extractor::extract`]. A GPU gets the image once and sums it once.
pub trait DetectAndDescribe: Send {
    /// Detects the keypoints of `image` and describes them.
    ///
    /// # Errors
    /// The errors of [`Detector::detect`], then those of [`Extractor::extract`]. After an error
    /// the next image works.
    fn detect_and_describe(&mut self, image: &ImageView<'_>) -> Result<Features, Error>;

    /// Detects and describes the keypoints of each image. Sizes and sample types may differ.
    ///
    /// Backends overlap the work where they can.
    ///
    /// # Errors
    /// The first error of [`DetectAndDescribe::detect_and_describe`] on any image.
    fn detect_and_describe_batch(&mut self, images: &[ImageView<'_>]) -> Result<Vec<Features>, Error> {
        let mut all = Vec::new();
        memory::reserve_exact(&mut all, images.len())?;
        for image in images {
            all.push(self.detect_and_describe(image)?);
        }
        Ok(all)
    }

    /// Gives back the memory that is kept from one image to the next.
    fn shrink_to_fit(&mut self) {}

    /// The backend and the hardware it runs on, as in `cpu: 8 threads`.
    fn describe(&self) -> String;
}

/// A box with what detects and describes, such as one whose backend was chosen at run time.
impl<F: DetectAndDescribe + ?Sized> DetectAndDescribe for Box<F> {
    fn detect_and_describe(&mut self, image: &ImageView<'_>) -> Result<Features, Error> {
        (**self).detect_and_describe(image)
    }

    fn detect_and_describe_batch(&mut self, images: &[ImageView<'_>]) -> Result<Vec<Features>, Error> {
        (**self).detect_and_describe_batch(images)
    }

    fn shrink_to_fit(&mut self) {
        (**self).shrink_to_fit();
    }

    fn describe(&self) -> String {
        (**self).describe()
    }
}

/// Any detector with any extractor, called one after the other.
///
/// ```
/// use harris_core::fast_hessian::{FastHessianConfig, ReferenceFastHessian};
/// use harris_core::features::{DetectAndDescribe, DetectThenDescribe};
/// use harris_core::surf::{ReferenceSurf, SurfConfig};
/// use harris_core::ImageView;
///
/// // A light disc of radius 6 on black.
/// let disc: Vec<u8> = (0..64 * 64)
///     .map(|i| if (i % 64 - 32_i32).pow(2) + (i / 64 - 30_i32).pow(2) <= 36 { 255 } else { 0 })
///     .collect();
/// let detector = ReferenceFastHessian::new(FastHessianConfig::default());
/// let extractor = ReferenceSurf::new(SurfConfig::default());
/// let mut features = DetectThenDescribe::new(detector, extractor);
/// let found = features.detect_and_describe(&ImageView::gray(&disc, 64, 64)?)?;
/// assert_eq!(found.descriptors.dim(), (found.keypoints.len(), 64));
/// # Ok::<(), harris_core::Error>(())
/// ```
#[derive(Clone, Debug)]
pub struct DetectThenDescribe<D, E> {
    detector: D,
    extractor: E,
}

impl<D: Detector, E: Extractor> DetectThenDescribe<D, E> {
    /// Puts a detector and an extractor together.
    #[must_use]
    pub fn new(detector: D, extractor: E) -> Self {
        Self { detector, extractor }
    }
}

impl<D: Detector, E: Extractor> DetectAndDescribe for DetectThenDescribe<D, E> {
    fn detect_and_describe(&mut self, image: &ImageView<'_>) -> Result<Features, Error> {
        let keypoints = self.detector.detect(image)?;
        let descriptors = self.extractor.extract(image, &keypoints)?;
        Ok(Features::new(keypoints, descriptors))
    }

    fn shrink_to_fit(&mut self) {
        self.detector.shrink_to_fit();
        self.extractor.shrink_to_fit();
    }

    fn describe(&self) -> String {
        self.detector.describe()
    }
}

/// The reference implementation, with which every backend is compared: plain code, and slow.
#[derive(Clone, Debug)]
pub struct ReferenceFeatures {
    config: FeatureConfig,
}

impl ReferenceFeatures {
    /// Makes the reference of this configuration.
    #[must_use]
    pub fn new(config: FeatureConfig) -> Self {
        Self { config }
    }
}

impl DetectAndDescribe for ReferenceFeatures {
    fn detect_and_describe(&mut self, image: &ImageView<'_>) -> Result<Features, Error> {
        let surf = ReferenceSurf::new(self.config.surf.clone());
        match self.config.detector.clone() {
            DetectorConfig::Harris(config) => {
                DetectThenDescribe::new(ReferenceDetector::new(config), surf).detect_and_describe(image)
            }
            DetectorConfig::FastHessian(config) => {
                DetectThenDescribe::new(ReferenceFastHessian::new(config), surf).detect_and_describe(image)
            }
        }
    }

    fn describe(&self) -> String {
        "reference: plain code, 1 thread".to_owned()
    }
}
