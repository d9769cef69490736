//! What a GPU cannot do, whichever it is.

use harris_core::Error;

/// Why a GPU cannot take an image; comes inside [`Error::Backend`].
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum GpuError {
    /// Kernels number pixels in 31 bits.
    #[error("the image is too large for a GPU: {width} x {height} pixels, where {most} is the most", most = GpuError::MOST_PIXELS)]
    ImageTooLarge {
        /// Width of the image.
        width: usize,
        /// Height of the image.
        height: usize,
    },
}

impl GpuError {
    /// The most pixels of an image.
    pub const MOST_PIXELS: usize = i32::MAX as usize;
}

impl From<GpuError> for Error {
    fn from(error: GpuError) -> Self {
        Error::Backend(Box::new(error))
    }
}
