//! What every implementation of the descriptor can do.

use ndarray::Array2;

use crate::error::Error;
use crate::image::ImageView;
use crate::keypoint::Keypoint;

/// What computes descriptors; all implementations give the same to the bit.
pub trait Extractor: Send {
    /// The descriptors of `keypoints`, N × 64, a row each, in their order: of length 1, or all
    /// zeros where the image is flat.
    ///
    /// The image is taken to be 0 beyond its edges.
    ///
    /// # Errors
    /// [`Error::KeypointOutside`], [`Error::KeypointScale`]; [`Error::NonFinite`] and
    /// [`Error::SampleOutOfRange`] for float samples; [`Error::Backend`] where the backend itself
    /// fails.
    fn extract(&mut self, image: &ImageView<'_>, keypoints: &[Keypoint]) -> Result<Array2<f32>, Error>;
}
