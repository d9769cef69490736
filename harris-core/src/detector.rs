//! What every backend can do.

use std::time::Duration;

use ndarray::Array2;

use crate::error::Error;
use crate::image::ImageView;
use crate::keypoint::Keypoint;

/// A detector with its configuration and its memory.
///
/// All implementations give the same results to the bit, so that callers choose one at run time:
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
/// `&mut self` is for the memory that a detector keeps from one image to the next. A detector belongs to one
/// thread at a time; make one per thread.
pub trait Detector: Send {
    /// The keypoints of `image`: corners in the configuration's [`Order`](crate::Order), blobs in that of [`Keypoint`]. The
    /// same image always gives the same list.
    ///
    /// # Errors
    /// [`Error::ImageTooSmall`], [`Error::NonFinite`], [`Error::SampleTooLarge`] for corners, [`Error::SampleOutOfRange`]
    /// for blobs; [`Error::Backend`] where the backend itself fails. After an error the detector works for the next image.
    fn detect(&mut self, image: &ImageView<'_>) -> Result<Vec<Keypoint>, Error>;

    /// The keypoints of each image; sizes and sample types may differ. Backends overlap the work where they can.
    ///
    /// # Errors
    /// The first error, as [`Detector::detect`].
    fn detect_batch(&mut self, images: &[ImageView<'_>]) -> Result<Vec<Vec<Keypoint>>, Error> {
        images.iter().map(|image| self.detect(image)).collect()
    }

    /// The response of every pixel, H × W, in the units of an image in 0..1; 0 where it is not valid
    /// ([`HarrisConfig::invalid_frame`](crate::HarrisConfig::invalid_frame)). The mask has no part in it. Of the Fast-Hessian
    /// detector, the determinant under its smallest filter.
    ///
    /// # Errors
    /// As [`Detector::detect`].
    fn response(&mut self, image: &ImageView<'_>) -> Result<Array2<f32>, Error>;

    /// [`Detector::response`] in an array that is there. Where it has the image's shape backends use its memory (new memory of that size
    /// can cost as much time as the responses); else it becomes a new one.
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
    /// As [`Detector::detect`]. What an image is refused for leaves the array as it was.
    fn response_into(&mut self, image: &ImageView<'_>, map: &mut Array2<f32>) -> Result<(), Error> {
        *map = self.response(image)?;
        Ok(())
    }

    /// The keypoints of `image` as a binary mask, H × W: 1 where a keypoint that [`Detector::detect`] returns, after suppression and
    /// selection, has its nearest pixel ([`Keypoint::pixel`]), else 0.
    ///
    /// Keypoints that share a pixel give one 1; one whose nearest pixel lies outside the image gives none. Responses, scales and the
    /// order are not in it.
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
    /// As [`Detector::detect`].
    fn keypoint_mask(&mut self, image: &ImageView<'_>) -> Result<Array2<u8>, Error> {
        let mut mask = Array2::zeros((image.height(), image.width()));
        for keypoint in self.detect(image)? {
            if let Some([x, y]) = keypoint.pixel(image.width(), image.height()) {
                mask[[y, x]] = 1;
            }
        }
        Ok(mask)
    }

    /// How many peaks of the last image [`Detector::detect`] rejected, as the place between samples is half a sample away or
    /// more. `None` for detectors of corners, which reject none. After an error the number has no meaning.
    fn rejected_peaks(&self) -> Option<usize> {
        None
    }

    /// The backend and what it runs on, as in `cpu: 8 threads`.
    fn describe(&self) -> String;
}

/// How long each stage of a Harris detection took, where one comes after the other.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct StageTimes {
    /// Smoothing, and bringing samples to the form that the stages compute on.
    pub smoothing: Duration,
    /// The gradient.
    pub gradient: Duration,
    /// Its products and their sums down the window, or all over it.
    pub tensor: Duration,
    /// What is left of these sums, and the measure.
    pub response: Duration,
    /// The threshold and the suppression of what is not the strongest around.
    pub suppression: Duration,
    /// Order, selection and sub-pixel places.
    pub selection: Duration,
}
