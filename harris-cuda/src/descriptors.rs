//! Descriptors in a device's memory, and matches of them.

use harris_core::matching::{Match, check};
use harris_core::surf::LENGTH;
use harris_core::{Error, ImageView, Keypoint};
use harris_gpu::{DescriptorSet, Device, GpuFeatures, RowSource, Rows};
use ndarray::{Array2, ArrayView2};

use crate::device::CudaDevice;
use crate::driver::{ContextGuard, DeviceMemory, Gpu};
use crate::features::{CudaFeatures, CudaMatcher};
use crate::{AsCudaStream, CudaError, CudaImage};

/// Bytes of a descriptor.
const BYTES: usize = LENGTH * size_of::<f32>();

/// Descriptors in a GPU's memory, such as a fixed set that many images are matched with.
///
/// ```no_run
/// use harris_cuda::harris_core::features::FeatureConfig;
/// use harris_cuda::harris_core::matching::MatchConfig;
/// use harris_cuda::{CudaDescriptors, CudaFeatures, CudaMatcher, ImageView};
///
/// # let (object, frame) = (ndarray::Array2::zeros((10, 64)), vec![0_u8; 640 * 480]);
/// let object = CudaDescriptors::upload(0, object.view())?;
/// let mut features = CudaFeatures::on_device(0, FeatureConfig::default())?;
/// let mut matcher = CudaMatcher::on_device(0, MatchConfig::default())?;
/// let found = features.detect_and_describe_on_device(&ImageView::gray(&frame, 640, 480)?)?;
/// let matches = matcher.matches_on_device(&found, &object)?;
/// println!("{} of {} keypoints match", matches.len(), found.keypoints().len());
/// # Ok::<(), harris_cuda::Error>(())
/// ```
#[derive(Debug)]
pub struct CudaDescriptors {
    memory: DeviceMemory,
    ordinal: u32,
    len: usize,
}

impl CudaDescriptors {
    /// Copies descriptors, N × 64, to the memory of device number `ordinal`.
    ///
    /// # Errors
    /// [`Error::DescriptorLength`], [`Error::DescriptorValue`], and the errors of
    /// [`CudaMatcher::on_device`].
    pub fn upload(ordinal: u32, descriptors: ArrayView2<'_, f32>) -> Result<Self, Error> {
        let _context = ContextGuard::save();
        check(descriptors)?;
        let (len, rows) = (descriptors.nrows(), descriptors.as_standard_layout());
        let mut device = CudaDevice::open(ordinal)?;
        let memory = device.allocate((len * BYTES).max(BYTES))?;
        if let Some(values) = rows.as_slice().filter(|values| !values.is_empty()) {
            let images = &[RowSource::Packed(bytemuck::cast_slice(values), BYTES)];
            device.upload(&memory, Rows { images, rows: 0..len, pitch: BYTES, offset: 0, borrowed: true })?;
            device.wait()?;
        }
        Ok(Self { memory, ordinal, len })
    }

    /// Describes `len` descriptors in the memory of device number `ordinal`: 64 floats each, row
    /// after row without gaps.
    ///
    /// They are not checked.
    ///
    /// # Errors
    /// [`CudaError::Layout`] if the address is null or no multiple of 16, and the errors of
    /// [`CudaMatcher::on_device`].
    ///
    /// # Safety
    /// The memory is of that device, in its primary context, until the set is dropped. Work that
    /// wrote it has ended, and nothing writes it while a matcher reads it.
    #[allow(unsafe_code, reason = "the caller must promise that the pointer is valid")]
    pub unsafe fn from_raw(ordinal: u32, pointer: u64, len: usize) -> Result<Self, Error> {
        let _context = ContextGuard::save();
        let bytes = len.checked_mul(BYTES).filter(|_| pointer != 0 && pointer.is_multiple_of(16));
        let layout = CudaError::Layout { pointer, pitch: BYTES, width: LENGTH, height: len, channels: 1 };
        let memory = DeviceMemory::borrowed(&Gpu::open(ordinal)?, pointer, bytes.ok_or(layout)?);
        Ok(Self { memory, ordinal, len })
    }

    /// Returns the number of descriptors.
    #[must_use]
    pub fn len(&self) -> usize {
        self.len
    }

    /// Whether there are none.
    #[must_use]
    pub fn is_empty(&self) -> bool {
        self.len == 0
    }

    /// Returns the device address of the descriptors: 64 floats each, row after row without gaps.
    #[must_use]
    pub fn pointer(&self) -> u64 {
        self.memory.pointer()
    }
}

/// An image for [`CudaFeatures::detect_and_describe_on_device`]: an [`ImageView`] on the host, or a
/// [`CudaImage`] in a GPU's memory.
#[derive(Debug)]
pub struct CudaInput<'a> {
    place: InputPlace<'a>,
}

#[derive(Debug)]
enum InputPlace<'a> {
    Host(&'a ImageView<'a>),
    Device(&'a CudaImage),
}

impl<'a> From<&'a ImageView<'a>> for CudaInput<'a> {
    fn from(image: &'a ImageView<'a>) -> Self {
        Self { place: InputPlace::Host(image) }
    }
}

impl<'a> From<&'a CudaImage> for CudaInput<'a> {
    fn from(image: &'a CudaImage) -> Self {
        Self { place: InputPlace::Device(image) }
    }
}

/// The features of an image: keypoints on the host and on a GPU, descriptors in the GPU's memory.
///
/// They are valid until the next image.
#[derive(Debug)]
pub struct CudaFeaturesOnDevice<'a> {
    keypoints: Vec<Keypoint>,
    features: &'a mut GpuFeatures<CudaDevice>,
    ordinal: u32,
}

impl CudaFeaturesOnDevice<'_> {
    /// Returns the keypoints, in the detector's order.
    #[must_use]
    pub fn keypoints(&self) -> &[Keypoint] {
        &self.keypoints
    }

    /// Returns the device address of the keypoints, in the format of
    /// [`CudaKeypoints::pointer`](crate::CudaKeypoints::pointer).
    ///
    /// They are complete: kernels on any stream can read them.
    #[must_use]
    pub fn keypoint_pointer(&self) -> u64 {
        self.features.keypoints_on_device().pointer()
    }

    /// Returns the device address of the descriptors: 64 floats for each keypoint, row after row
    /// without gaps.
    ///
    /// They are complete: kernels on any stream can read them.
    #[must_use]
    pub fn descriptor_pointer(&self) -> u64 {
        self.features.descriptors_on_device().pointer()
    }

    /// Keeps the descriptors beyond the next image, where they are. Returns the keypoints, too.
    #[must_use]
    pub fn into_descriptors(self) -> (Vec<Keypoint>, CudaDescriptors) {
        let Self { keypoints, features, ordinal } = self;
        let len = keypoints.len();
        (keypoints, CudaDescriptors { memory: features.take_descriptors(), ordinal, len })
    }

    /// Copies the descriptors to the host, N × 64.
    ///
    /// # Errors
    /// [`CudaError::Driver`] if the device fails, [`Error::OutOfMemory`].
    pub fn descriptors(&mut self) -> Result<Array2<f32>, Error> {
        let _context = ContextGuard::save();
        self.features.read_descriptors(self.keypoints.len())
    }
}

impl CudaFeatures {
    /// Detects the keypoints of an image, on the host or in the memory of this device, and
    /// describes them.
    ///
    /// The descriptors stay in the device's memory, for [`CudaMatcher::matches_on_device`]. Returns
    /// when they are complete.
    ///
    /// # Errors
    /// As [`detect_and_describe`](harris_core::features::DetectAndDescribe::detect_and_describe),
    /// and [`CudaError::OtherDevice`]. Samples in the device's memory are not checked: floats are
    /// to be in 0..=1.
    pub fn detect_and_describe_on_device<'a>(
        &mut self,
        image: impl Into<CudaInput<'a>>,
    ) -> Result<CudaFeaturesOnDevice<'_>, Error> {
        let _context = ContextGuard::save();
        let (features, ordinal) = self.inner_and_ordinal();
        let keypoints = match image.into().place {
            InputPlace::Host(image) => features.describe_on_device(image)?,
            InputPlace::Device(image) => {
                image.check_ordinal(ordinal)?;
                features.begin_on_device(image.resident(), true)?;
                features.finish_on_device()?
            }
        };
        Ok(CudaFeaturesOnDevice { keypoints, features, ordinal })
    }

    /// Queues detection and description between other work on a CUDA stream, without waiting for
    /// them.
    ///
    /// The order of work is that of
    /// [`CudaDetector::detect_on_stream`](crate::CudaDetector::detect_on_stream).
    ///
    /// The call waits for the result where a list that was too short could need the image or its
    /// mask again: for corners as there, for blobs with a mask.
    ///
    /// # Errors
    /// The errors of [`CudaFeatures::detect_and_describe_on_device`], and [`CudaError::Driver`] if
    /// `stream` is of another context.
    ///
    /// ```no_run
    /// use harris_cuda::harris_core::features::FeatureConfig;
    /// use harris_cuda::harris_core::matching::MatchConfig;
    /// use harris_cuda::{CudaDescriptors, CudaFeatures, CudaImage, CudaMatcher};
    ///
    /// # let (pointer, stream, object) = (0_u64, 0_u64, ndarray::Array2::zeros((10, 64)));
    /// let mut features = CudaFeatures::new(FeatureConfig::default())?;
    /// let mut matcher = CudaMatcher::new(MatchConfig::default())?;
    /// let object = CudaDescriptors::upload(0, object.view())?;
    /// // SAFETY: the rows are floats of 0 to 1, 640 to a row, which work on `stream` writes.
    /// let image = unsafe { CudaImage::from_raw::<f32>(0, pointer, 4 * 640, 640, 480, 1) }?;
    /// // SAFETY: the stream is alive; no other stream writes the image.
    /// let pending = unsafe { features.detect_and_describe_on_stream(&image, stream) }?;
    /// // Kernels on the stream may now read min(count, capacity) descriptors. Later:
    /// let found = pending.finish()?;
    /// println!("{} matches", matcher.matches_on_device(&found, &object)?.len());
    /// # Ok::<(), harris_cuda::Error>(())
    /// ```
    ///
    /// # Safety
    /// The conditions of [`CudaDetector::detect_on_stream`](crate::CudaDetector::detect_on_stream).
    #[allow(unsafe_code, reason = "the caller must promise that the stream is alive")]
    pub unsafe fn detect_and_describe_on_stream<'a>(
        &'a mut self,
        image: &'a CudaImage,
        stream: impl AsCudaStream,
    ) -> Result<CudaPendingFeatures<'a>, Error> {
        let _context = ContextGuard::save();
        let (features, ordinal) = self.inner_and_ordinal();
        let stream = stream.as_cuda_stream();
        image.check_ordinal(ordinal)?;
        features.device().stream().follow(stream)?;
        features.begin_on_device(image.resident(), false)?;
        let (waits, capacity) = (features.may_read_again(), features.keypoint_capacity());
        let mut pending =
            CudaPendingFeatures { features: Some(features), keypoints: None, ordinal, capacity };
        if waits {
            pending.complete()?;
        }
        pending.features().device().stream().precede(stream)?;
        Ok(pending)
    }
}

/// Queued detection and description: see [`CudaFeatures::detect_and_describe_on_stream`].
///
/// Dropping it waits for its end.
#[derive(Debug)]
pub struct CudaPendingFeatures<'a> {
    /// None once it is finished.
    features: Option<&'a mut GpuFeatures<CudaDevice>>,
    /// The keypoints, once they are known.
    keypoints: Option<Vec<Keypoint>>,
    ordinal: u32,
    capacity: usize,
}

impl<'a> CudaPendingFeatures<'a> {
    fn features(&self) -> &GpuFeatures<CudaDevice> {
        self.features.as_deref().expect("there until it is finished")
    }

    /// Waits for the keypoints.
    fn complete(&mut self) -> Result<(), Error> {
        if self.keypoints.is_some() {
            return Ok(());
        }
        let features = self.features.as_mut().expect("there until it is finished");
        let keypoints = features.finish_on_device();
        self.capacity = features.keypoint_capacity();
        // After a failure, too, nothing is left to wait for.
        let (keypoints, result) = match keypoints {
            Ok(keypoints) => (keypoints, Ok(())),
            Err(error) => (Vec::new(), Err(error)),
        };
        self.keypoints = Some(keypoints);
        result
    }

    /// Returns the device address of the keypoints, in the format of
    /// [`CudaKeypoints::pointer`](crate::CudaKeypoints::pointer).
    #[must_use]
    pub fn keypoint_pointer(&self) -> u64 {
        self.features().keypoints_on_device().pointer()
    }

    /// Returns the device address of the descriptors, 64 floats for each keypoint.
    #[must_use]
    pub fn descriptor_pointer(&self) -> u64 {
        self.features().descriptors_on_device().pointer()
    }

    /// Returns the device address of the number of keypoints that were found, as
    /// [`CudaPending::count_pointer`](crate::CudaPending::count_pointer) does.
    ///
    /// Above [`CudaPendingFeatures::capacity`] the lists are not complete.
    #[must_use]
    pub fn count_pointer(&self) -> u64 {
        let (memory, at) = self.features().count_on_device();
        memory.pointer() + at as u64
    }

    /// Returns the capacity of the lists, in keypoints.
    #[must_use]
    pub fn capacity(&self) -> usize {
        self.capacity
    }

    /// Waits until keypoints and descriptors are complete.
    ///
    /// # Errors
    /// See [`CudaFeatures::detect_and_describe_on_device`].
    pub fn finish(mut self) -> Result<CudaFeaturesOnDevice<'a>, Error> {
        let _context = ContextGuard::save();
        self.complete()?;
        let features = self.features.take().expect("there until it is finished");
        let keypoints = self.keypoints.take().expect("complete");
        Ok(CudaFeaturesOnDevice { keypoints, features, ordinal: self.ordinal })
    }
}

impl Drop for CudaPendingFeatures<'_> {
    fn drop(&mut self) {
        if self.features.is_some() {
            let _context = ContextGuard::save();
            // Nobody is there to receive an error.
            let _ = self.complete();
        }
    }
}

/// Descriptors for a match: on the host, or in a GPU's memory.
///
/// Arrays, [`CudaDescriptors`] and [`CudaFeaturesOnDevice`] convert to it.
#[derive(Debug)]
pub struct CudaDescriptorSet<'a> {
    place: Place<'a>,
}

#[derive(Debug)]
enum Place<'a> {
    Host(ArrayView2<'a, f32>),
    Device { memory: &'a DeviceMemory, len: usize, ordinal: u32 },
}

impl<'a> From<ArrayView2<'a, f32>> for CudaDescriptorSet<'a> {
    fn from(descriptors: ArrayView2<'a, f32>) -> Self {
        Self { place: Place::Host(descriptors) }
    }
}

impl<'a> From<&'a Array2<f32>> for CudaDescriptorSet<'a> {
    fn from(descriptors: &'a Array2<f32>) -> Self {
        descriptors.view().into()
    }
}

impl<'a> From<&'a CudaDescriptors> for CudaDescriptorSet<'a> {
    fn from(CudaDescriptors { memory, ordinal, len }: &'a CudaDescriptors) -> Self {
        Self { place: Place::Device { memory, len: *len, ordinal: *ordinal } }
    }
}

impl<'a> From<&'a CudaFeaturesOnDevice<'_>> for CudaDescriptorSet<'a> {
    fn from(found: &'a CudaFeaturesOnDevice<'_>) -> Self {
        let (memory, len) = (found.features.descriptors_on_device(), found.keypoints.len());
        Self { place: Place::Device { memory, len, ordinal: found.ordinal } }
    }
}

impl CudaMatcher {
    /// Matches two sets, as [`matches`](harris_core::matching::Matcher::matches) does.
    ///
    /// Each is on the host or in the memory of the matcher's device.
    ///
    /// # Errors
    /// The errors of `matches`, and [`CudaError::DescriptorsOnOtherDevice`].
    pub fn matches_on_device<'a>(
        &mut self,
        query: impl Into<CudaDescriptorSet<'a>>,
        train: impl Into<CudaDescriptorSet<'a>>,
    ) -> Result<Vec<Match>, Error> {
        let _context = ContextGuard::save();
        let (matcher, matcher_ordinal) = self.inner_and_ordinal();
        let set = |set: CudaDescriptorSet<'a>| match set.place {
            Place::Host(descriptors) => Ok(DescriptorSet::Host(descriptors)),
            Place::Device { memory, len, ordinal } if ordinal == matcher_ordinal => {
                Ok(DescriptorSet::Device { memory: memory.alias(), len })
            }
            Place::Device { ordinal, .. } => {
                Err(CudaError::DescriptorsOnOtherDevice { descriptors: ordinal, matcher: matcher_ordinal })
            }
        };
        let (query, train) = (set(query.into())?, set(train.into())?);
        matcher.matches_of(query, train)
    }
}
