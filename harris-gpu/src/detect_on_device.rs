//! The trait of detectors whose image is in the device's memory, and whose keypoints stay there.

use std::fmt::Debug;

use harris_core::Error;

use crate::device::{Device, Resident};

/// Finds keypoints in an image that is in the device's memory, and leaves them there.
///
/// ```
/// use harris_core::HarrisConfig;
/// use harris_gpu_host::HostDevice;
/// use harris_gpu::{Depth, DetectOnDevice, Device, GpuDetector, Resident};
///
/// let device = HostDevice;
/// let memory = device.allocate(32 * 32)?;
/// device.clear(&memory, 32 * 32 / 4)?;
/// let image = Resident {
///     memory,
///     width: 32,
///     height: 32,
///     channels: 1,
///     pitch: 32,
///     depth: Depth::U8,
///     mask: None,
/// };
/// let mut detector = GpuDetector::new(device, HarrisConfig::default());
/// assert_eq!(detector.detect_on_device(image)?, 0);
/// # Ok::<(), harris_core::Error>(())
/// ```
pub trait DetectOnDevice: Debug {
    /// The device.
    type Device: Device;

    /// Begins work on an image without waiting for the device. Earlier work that was not finished
    /// is dropped.
    ///
    /// The image's memory stays there until [`DetectOnDevice::finish_on_device`], or whatever is
    /// begun next. Where the image `is_repeatable`, its samples stay as they are until then.
    ///
    /// # Errors
    /// As [`Detector::detect`](harris_core::Detector::detect), but that samples are not checked,
    /// nor their range.
    fn begin_on_device(
        &mut self,
        image: Resident<<Self::Device as Device>::Memory>,
        is_repeatable: bool,
    ) -> Result<(), Error>;

    /// How many keypoints the image has that was begun, when all of them are in the device's
    /// memory.
    ///
    /// # Errors
    /// As [`Detector::detect`](harris_core::Detector::detect).
    ///
    /// # Panics
    /// Where none was begun.
    fn finish_on_device(&mut self) -> Result<usize, Error>;

    /// Finds the keypoints of an image. Returns how many they are.
    ///
    /// # Errors
    /// See [`DetectOnDevice::begin_on_device`].
    fn detect_on_device(
        &mut self,
        image: Resident<<Self::Device as Device>::Memory>,
    ) -> Result<usize, Error> {
        self.begin_on_device(image, true)?;
        self.finish_on_device()
    }

    /// The device.
    fn device(&self) -> &Self::Device;

    /// Keypoints of the image last begun.
    ///
    /// Each has x, y, scale and response as 32-bit floats. They are complete when the queue's work
    /// is done, and stay until the next image is begun.
    ///
    /// # Panics
    /// Where there was no image.
    fn keypoints_on_device(&self) -> &<Self::Device as Device>::Memory;

    /// Number of keypoints of the image last begun: the memory that has it as a 32-bit word, and
    /// the word's offset in bytes.
    ///
    /// It is greater than [`DetectOnDevice::keypoint_capacity`] where the list is not complete
    /// before [`DetectOnDevice::finish_on_device`].
    ///
    /// # Panics
    /// Where there was no image.
    fn count_on_device(&self) -> (&<Self::Device as Device>::Memory, usize);

    /// Capacity of [`DetectOnDevice::keypoints_on_device`], in keypoints; 0 before the first image.
    fn keypoint_capacity(&self) -> usize;

    /// Whether [`DetectOnDevice::finish_on_device`] may read the image that was begun again, or its
    /// mask, where its list overflowed.
    fn may_read_again(&self) -> bool;
}
