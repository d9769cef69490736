//! Limits of every GPU backend.

use harris_core::Error;

/// Why a GPU cannot process an image.
///
/// It is inside [`Error::Backend`].
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum GpuError {
    /// Kernels number pixels in 31 bits.
    #[error("the image is too large for a GPU: {width} x {height} pixels, where {most} is the most", most = GpuError::MAX_PIXELS)]
    ImageTooLarge {
        /// Width of the image.
        width: usize,
        /// Height of the image.
        height: usize,
    },
    /// Kernels number the samples of all layers of the Fast-Hessian detector in 31 bits.
    #[error("the image is too large for a GPU: its layers have {samples} samples, where {most} is the most; a greater step has fewer", most = GpuError::MAX_PIXELS)]
    PyramidTooLarge {
        /// Samples of all layers.
        samples: usize,
    },
    /// Kernels number descriptors' values in 31 bits.
    #[error("{count} are too many keypoints or descriptors for a GPU, where {most} is the most", most = GpuError::MAX_DESCRIPTORS)]
    TooManyDescriptors {
        /// How many there are.
        count: usize,
    },
}

impl GpuError {
    /// The most pixels of an image.
    pub const MAX_PIXELS: usize = i32::MAX as usize;
    /// The most keypoints to describe, and descriptors to match.
    pub const MAX_DESCRIPTORS: usize = i32::MAX as usize / 64;

    pub(crate) fn check_image(image: &harris_core::ImageView<'_>) -> Result<(), GpuError> {
        Self::check_size(image.width(), image.height())
    }

    pub(crate) fn check_size(width: usize, height: usize) -> Result<(), GpuError> {
        if width * height > Self::MAX_PIXELS { Err(Self::ImageTooLarge { width, height }) } else { Ok(()) }
    }

    pub(crate) fn check_descriptors(count: usize) -> Result<(), GpuError> {
        if count > Self::MAX_DESCRIPTORS { Err(Self::TooManyDescriptors { count }) } else { Ok(()) }
    }
}

impl From<GpuError> for Error {
    fn from(error: GpuError) -> Self {
        Error::Backend(Box::new(error))
    }
}
