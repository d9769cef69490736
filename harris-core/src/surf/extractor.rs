//! The trait of descriptor extractors.

use ndarray::Array2;

use crate::error::Error;
use crate::image::ImageView;
use crate::keypoint::Keypoint;

/// Extractor of descriptors.
///
/// All implementations give equal results, bit for bit.
pub trait Extractor: Send {
    /// The descriptors of `keypoints`, N × 64, a row each, in their order: of length 1, or all
    /// zeros where the image is flat.
    ///
    /// The image is taken to be 0 beyond its edges.
    ///
    /// # Errors
    /// [`Error::KeypointOutside`], [`Error::KeypointScale`]; [`Error::NonFinite`] and
    /// [`Error::SampleOutOfRange`] for float samples; [`Error::OutOfMemory`]; [`Error::Backend`]
    /// where the backend itself fails.
    fn extract(&mut self, image: &ImageView<'_>, keypoints: &[Keypoint]) -> Result<Array2<f32>, Error>;

    /// Gives back the memory that the extractor keeps from one image to the next.
    ///
    /// Extractors that keep no memory do nothing.
    fn shrink_to_fit(&mut self) {}
}

/// An extractor in a box, such as one whose backend was chosen at run time.
impl<E: Extractor + ?Sized> Extractor for Box<E> {
    fn extract(&mut self, image: &ImageView<'_>, keypoints: &[Keypoint]) -> Result<Array2<f32>, Error> {
        (**self).extract(image, keypoints)
    }

    fn shrink_to_fit(&mut self) {
        (**self).shrink_to_fit();
    }
}
