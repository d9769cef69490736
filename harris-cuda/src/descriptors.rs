//! Descriptors in a device's memory, and matches of them.

use harris_core::matching::{Match, check};
use harris_core::surf::LENGTH;
use harris_core::{Error, ImageView, Keypoint};
use harris_gpu::{DescriptorSet, Device, GpuFeatures, RowSource, Rows};
use ndarray::{Array2, ArrayView2};

use crate::CudaError;
use crate::device::CudaDevice;
use crate::driver::{ContextGuard, DeviceMemory};
use crate::features::{CudaFeatures, CudaMatcher};

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
/// let found = features.describe_on_device(&ImageView::gray(&frame, 640, 480)?)?;
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

/// The features of an image: keypoints on the host, descriptors in a GPU's memory. They are valid
/// until the next image.
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

    /// Returns the device address of the descriptors: 64 floats for each keypoint, row after row
    /// without gaps. They are complete: kernels on any stream can read them.
    #[must_use]
    pub fn pointer(&self) -> u64 {
        self.features.descriptors_on_device().pointer()
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
    /// Detects the keypoints of an image and describes them. The descriptors stay in the device's
    /// memory, for [`CudaMatcher::matches_on_device`]. Returns when they are complete.
    ///
    /// # Errors
    /// As [`detect_and_describe`](harris_core::features::DetectAndDescribe::detect_and_describe).
    pub fn describe_on_device(&mut self, image: &ImageView<'_>) -> Result<CudaFeaturesOnDevice<'_>, Error> {
        let _context = ContextGuard::save();
        let (features, ordinal) = self.inner_and_ordinal();
        let keypoints = features.describe_on_device(image)?;
        Ok(CudaFeaturesOnDevice { keypoints, features, ordinal })
    }
}

/// Descriptors for a match: on the host, or in a GPU's memory. Arrays, [`CudaDescriptors`] and
/// [`CudaFeaturesOnDevice`] convert to it.
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
    /// Matches two sets, as [`matches`](harris_core::matching::Matcher::matches) does. Each is on
    /// the host or in the memory of the matcher's device.
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
