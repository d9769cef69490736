//! The trait of what a pipeline runs on frames.

use std::fmt::Debug;

use harris_core::{Error, ImageView};

use crate::exec::upload::UploadMode;

/// Works on one frame at a time: begins without waiting for the device, and finishes later.
///
/// A pipeline finishes frames in their order, whichever workers they are with. It frees samples that
/// are borrowed once a frame is finished, its [`FrameWorker::begin`] has failed, or the worker is
/// dropped. So each of these waits until the device reads them no more, after a failure, too.
pub trait FrameWorker: Debug {
    /// The result for an image.
    type Output: Debug;

    /// How many of `images`, from the first on, can be one frame.
    fn batch_len(&self, images: &[ImageView<'_>]) -> usize;

    /// Begins work on a frame. Earlier work that was not finished is dropped.
    ///
    /// Samples that are borrowed stay unchanged until [`FrameWorker::finish`].
    ///
    /// # Errors
    /// The errors of the detector, or of the extractor, that works on the frame.
    ///
    /// # Panics
    /// Where there are no images, or more than [`FrameWorker::batch_len`] allows.
    fn begin(&mut self, images: &[ImageView<'_>], mode: UploadMode) -> Result<(), Error>;

    /// Whether what was begun is done, so that [`FrameWorker::finish`] hardly waits. Matches of
    /// features are begun by `finish`, and it waits for them.
    fn is_done(&self) -> bool;

    /// The results of the images that were begun.
    ///
    /// # Errors
    /// The errors of the detector, or of the extractor, that works on the frame.
    ///
    /// # Panics
    /// Where nothing was begun.
    fn finish(&mut self) -> Result<Vec<Self::Output>, Error>;

    /// The backend and the device's name, as in `cuda: NVIDIA H200`.
    fn describe_device(&self) -> String;
}

impl<W: FrameWorker + ?Sized> FrameWorker for Box<W> {
    type Output = W::Output;

    fn batch_len(&self, images: &[ImageView<'_>]) -> usize {
        (**self).batch_len(images)
    }

    fn begin(&mut self, images: &[ImageView<'_>], mode: UploadMode) -> Result<(), Error> {
        (**self).begin(images, mode)
    }

    fn is_done(&self) -> bool {
        (**self).is_done()
    }

    fn finish(&mut self) -> Result<Vec<Self::Output>, Error> {
        (**self).finish()
    }

    fn describe_device(&self) -> String {
        (**self).describe_device()
    }
}
