//! The trait that every backend implements.

use std::time::Duration;

use ndarray::Array2;

use crate::error::Error;
use crate::image::ImageView;
use crate::keypoint::Keypoint;
use crate::memory;

/// A detector of keypoints, with its configuration and its memory.
///
/// All implementations give equal results, bit for bit, so callers may choose one at run time:
///
/// ```
/// use harris_core::{Detector, Error, HarrisConfig, ImageView, Keypoint, ReferenceDetector};
///
/// fn strongest(detector: &mut dyn Detector, image: &ImageView<'_>) -> Result<Option<Keypoint>, Error> {
///     Ok(detector.detect(image)?.first().copied())
/// }
///
/// let mut detector: Box<dyn Detector> = Box::new(ReferenceDetector::new(HarrisConfig::default()));
/// let image = [0_u8; 64 * 64];
/// assert_eq!(strongest(&mut *detector, &ImageView::gray(&image, 64, 64)?)?, None);
/// # Ok::<(), Error>(())
/// ```
///
/// Methods take `&mut self` because a detector keeps memory from one image to the next. A detector
/// belongs to one thread at a time: make one per thread.
pub trait Detector: Send {
    /// Detects the keypoints of `image`.
    ///
    /// Places are in pixels, and the centre of the first pixel is 0, 0. Responses are in the units
    /// of an image in 0..1. An image always gives the same list.
    ///
    /// Corners come in the configuration's [`Order`](crate::Order), blobs in the order of
    /// [`Keypoint`].
    ///
    /// # Errors
    /// [`Error::ImageTooSmall`], [`Error::NonFinite`], [`Error::SampleTooLarge`] and
    /// [`Error::RangeTooSmall`] for corners, [`Error::SampleOutOfRange`] for blobs;
    /// [`Error::OutOfMemory`]; [`Error::Backend`] where the backend itself fails. After an error
    /// the detector works for the next image.
    fn detect(&mut self, image: &ImageView<'_>) -> Result<Vec<Keypoint>, Error>;

    /// Detects the keypoints of each image. Sizes and sample types may differ.
    ///
    /// Backends overlap the work where they can.
    ///
    /// # Errors
    /// The first error of [`Detector::detect`] on any image.
    fn detect_batch(&mut self, images: &[ImageView<'_>]) -> Result<Vec<Vec<Keypoint>>, Error> {
        images.iter().map(|image| self.detect(image)).collect()
    }

    /// The response map of `image`, H × W, in the units of an image in 0..1.
    ///
    /// It is 0 where a response is not valid
    /// ([`HarrisConfig::invalid_frame`](crate::HarrisConfig::invalid_frame)). The mask is ignored.
    /// The Fast-Hessian detector gives the determinant under its smallest filter.
    ///
    /// # Errors
    /// The errors of [`Detector::detect`].
    fn response(&mut self, image: &ImageView<'_>) -> Result<Array2<f32>, Error>;

    /// Writes the response map of `image` into an array that the caller supplies.
    ///
    /// An array of the image's shape keeps its memory; else it becomes a new array. New memory of
    /// that size can cost as much time as the responses.
    ///
    /// ```
    /// use harris_core::{Detector, Error, HarrisConfig, ImageView, ReferenceDetector};
    /// use ndarray::Array2;
    ///
    /// let mut detector = ReferenceDetector::new(HarrisConfig::default());
    /// let mut map = Array2::default((0, 0));
    /// for frame in [[0_u8; 32 * 16], [255; 32 * 16]] {
    ///     detector.response_into(&ImageView::gray(&frame, 32, 16)?, &mut map)?;
    ///     assert_eq!(map.dim(), (16, 32));
    /// }
    /// # Ok::<(), Error>(())
    /// ```
    ///
    /// # Errors
    /// The errors of [`Detector::detect`]. An invalid image leaves the array unchanged.
    fn response_into(&mut self, image: &ImageView<'_>, map: &mut Array2<f32>) -> Result<(), Error> {
        *map = self.response(image)?;
        Ok(())
    }

    /// The keypoints of `image` as a binary mask, H × W: 1 at the nearest pixel of each keypoint,
    /// else 0.
    ///
    /// The keypoints are those of [`Detector::detect`], after suppression and selection. Keypoints
    /// that share a pixel give one 1. One whose nearest pixel ([`Keypoint::pixel`]) lies outside
    /// the image gives none. Responses, scales and the order are lost.
    ///
    /// ```
    /// use harris_core::{Detector, HarrisConfig, ImageView, ReferenceDetector};
    ///
    /// let image: Vec<u8> = (0..32 * 32).map(|i| if i % 32 > 9 && i / 32 > 9 { 255 } else { 0 }).collect();
    /// let image = ImageView::gray(&image, 32, 32)?;
    /// let mut detector = ReferenceDetector::new(HarrisConfig::default());
    /// let mask = detector.keypoint_mask(&image)?;
    /// assert_eq!(mask.dim(), (32, 32));
    /// for keypoint in detector.detect(&image)? {
    ///     let [x, y] = keypoint.pixel(32, 32).expect("corners at pixels lie in the image");
    ///     assert_eq!(mask[[y, x]], 1);
    /// }
    /// # Ok::<(), harris_core::Error>(())
    /// ```
    ///
    /// # Errors
    /// The errors of [`Detector::detect`].
    fn keypoint_mask(&mut self, image: &ImageView<'_>) -> Result<Array2<u8>, Error> {
        let mut mask = memory::zeros((image.height(), image.width()))?;
        for keypoint in self.detect(image)? {
            if let Some([x, y]) = keypoint.pixel(image.width(), image.height()) {
                mask[[y, x]] = 1;
            }
        }
        Ok(mask)
    }

    /// Number of peaks in the last image whose interpolated place was half a sample away or more.
    ///
    /// [`Detector::detect`] rejects such peaks of the Fast-Hessian detector. `None` for corner
    /// detectors, which reject none. After an error the number has no meaning.
    fn rejected_peaks(&self) -> Option<usize> {
        None
    }

    /// Gives back the memory that the detector keeps from one image to the next.
    ///
    /// A detector keeps memory for the largest image and the longest list that it had. After an
    /// image that was much larger than those to come, this frees it; the next image allocates what
    /// it needs, and results stay the same. Detectors that keep no memory do nothing.
    ///
    /// ```
    /// use harris_core::{Detector, HarrisConfig, ReferenceDetector};
    ///
    /// let mut detector: Box<dyn Detector> = Box::new(ReferenceDetector::new(HarrisConfig::default()));
    /// detector.shrink_to_fit();
    /// ```
    fn shrink_to_fit(&mut self) {}

    /// The backend and the hardware it runs on, as in `cpu: 8 threads`.
    fn describe(&self) -> String;
}

/// A detector in a box, such as one whose backend was chosen at run time.
impl<D: Detector + ?Sized> Detector for Box<D> {
    fn detect(&mut self, image: &ImageView<'_>) -> Result<Vec<Keypoint>, Error> {
        (**self).detect(image)
    }

    fn detect_batch(&mut self, images: &[ImageView<'_>]) -> Result<Vec<Vec<Keypoint>>, Error> {
        (**self).detect_batch(images)
    }

    fn response(&mut self, image: &ImageView<'_>) -> Result<Array2<f32>, Error> {
        (**self).response(image)
    }

    fn response_into(&mut self, image: &ImageView<'_>, map: &mut Array2<f32>) -> Result<(), Error> {
        (**self).response_into(image, map)
    }

    fn keypoint_mask(&mut self, image: &ImageView<'_>) -> Result<Array2<u8>, Error> {
        (**self).keypoint_mask(image)
    }

    fn rejected_peaks(&self) -> Option<usize> {
        (**self).rejected_peaks()
    }

    fn shrink_to_fit(&mut self) {
        (**self).shrink_to_fit();
    }

    fn describe(&self) -> String {
        (**self).describe()
    }
}

/// Duration of each stage of a Harris detection, for backends whose stages run one after the other.
///
/// Backends make it from [`StageTimes::default`], in which all are 0.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
#[non_exhaustive]
pub struct StageTimes {
    /// Smoothing, and the conversion of samples to the numbers of the stages.
    pub smoothing: Duration,
    /// The gradient.
    pub gradient: Duration,
    /// Products of the gradient, and their sums down the window or over all of it.
    pub tensor: Duration,
    /// The remaining window sums, and the measure.
    pub response: Duration,
    /// The threshold and non-maximum suppression.
    pub suppression: Duration,
    /// Order, selection and sub-pixel refinement.
    pub selection: Duration,
}
