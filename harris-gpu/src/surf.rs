//! The SURF descriptor: an image and keypoints in, descriptors out.

use harris_core::surf::{Extractor, LENGTH, SurfConfig, Tables};
use harris_core::{Error, ImageView, Keypoint, memory};
use harris_gpu_kernels::abi::{state, surf};
use ndarray::Array2;

use crate::device::{Device, Mark};
use crate::error::GpuError;
use crate::exec::upload;
use crate::exec::workspace::{Slot, Workspace};
use crate::fast_hessian::search::Integrated;
use crate::integral::upload_and_integrate;
use crate::launch;
use crate::plan::Shape;

/// Bytes of a descriptor.
const DESCRIPTOR_BYTES: usize = size_of::<[f32; LENGTH]>();

/// Describes keypoints that are on the device.
#[derive(Debug)]
pub(crate) struct Describer {
    pub(crate) config: SurfConfig,
    /// Whether the constants are on the device.
    has_tables: bool,
}

/// A list of keypoints on the device, which the state counts.
#[derive(Clone, Copy)]
pub(crate) struct KeypointList {
    /// Where the keypoints are.
    pub(crate) slot: Slot,
    /// How many the list holds. It is not complete where there are more.
    pub(crate) capacity: usize,
    /// The first so many are wanted.
    pub(crate) most: usize,
}

impl Describer {
    pub(crate) fn new(config: SurfConfig) -> Self {
        Self { config, has_tables: false }
    }

    /// Forgets what is on the device.
    pub(crate) fn clear(&mut self) {
        self.has_tables = false;
    }

    /// Uploads the constants, unless they are on the device.
    pub(crate) fn set_tables<D: Device>(
        &mut self,
        device: &mut D,
        workspace: &mut Workspace<D>,
    ) -> Result<(), Error> {
        if !self.has_tables {
            upload::words(device, workspace, Slot::SurfTables, &tables())?;
            self.has_tables = true;
        }
        Ok(())
    }

    /// Asks for the descriptors, in [`Slot::Descriptors`], of keypoints of an image.
    pub(crate) fn enqueue<D: Device>(
        &self,
        device: &mut D,
        workspace: &mut Workspace<D>,
        image: Integrated,
        list: KeypointList,
    ) -> Result<(), Error> {
        let most = list.most.min(list.capacity);
        // More of them are fetched than there are.
        workspace.fit_cleared::<f32>(device, Slot::Descriptors, most * LENGTH)?;
        launch::surf(
            device,
            [most as u32, 1],
            workspace.buffer(Slot::Integral),
            workspace.buffer(list.slot),
            workspace.buffer(Slot::SurfTables),
            workspace.buffer(Slot::Descriptors),
            workspace.buffer(Slot::State),
            image.shape.width,
            image.shape.height,
            image.pitch,
            u32::from(self.config.upright()),
            self.config.magnification(),
            list.capacity as u32,
            most as u32,
        )?;
        device.mark(Mark::Done)
    }
}

/// Fetches the first `count` descriptors.
pub(crate) fn fetch<D: Device>(
    device: &mut D,
    workspace: &Workspace<D>,
    count: usize,
) -> Result<D::Fetched, Error> {
    device.fetch(workspace.buffer::<f32>(Slot::Descriptors).memory, DESCRIPTOR_BYTES * count)
}

/// Descriptors as the rows of an array, from bytes that were fetched.
pub(crate) fn of_bytes(bytes: &[u8], count: usize) -> Result<Array2<f32>, Error> {
    let (words, _) = bytes[..DESCRIPTOR_BYTES * count].as_chunks();
    let values = memory::collect(words.iter().map(|&word| f32::from_ne_bytes(word)))?;
    Ok(Array2::from_shape_vec((count, LENGTH), values).expect("64 values for each"))
}

/// Waits for the first `count` descriptors.
pub(crate) fn download<D: Device>(
    device: &mut D,
    workspace: &Workspace<D>,
    count: usize,
) -> Result<Array2<f32>, Error> {
    let mut descriptors = memory::zeros((count, LENGTH))?;
    let values = descriptors.as_slice_mut().expect("a new array is contiguous");
    device.download(workspace.buffer::<f32>(Slot::Descriptors).memory, bytemuck::cast_slice_mut(values))?;
    Ok(descriptors)
}

/// The SURF descriptor on any [`Device`].
///
/// ```
/// use harris_core::surf::{Extractor, SurfConfig};
/// use harris_core::{ImageView, Keypoint};
/// use harris_gpu::GpuSurf;
/// use harris_gpu_host::HostDevice;
///
/// let samples: Vec<u8> = (0..64 * 64).map(|i| (i * i / 97 % 256) as u8).collect();
/// let image = ImageView::gray(&samples, 64, 64)?;
/// let mut extractor = GpuSurf::new(HostDevice, SurfConfig::default());
/// assert_eq!(extractor.extract(&image, &[Keypoint::new(30.0, 31.5, 1.0)])?.dim(), (1, 64));
/// # Ok::<(), harris_core::Error>(())
/// ```
#[derive(Debug)]
pub struct GpuSurf<D: Device> {
    device: D,
    workspace: Workspace<D>,
    describer: Describer,
}

impl<D: Device> GpuSurf<D> {
    /// An extractor on `device`.
    #[must_use]
    pub fn new(device: D, config: SurfConfig) -> Self {
        Self { device, workspace: Workspace::new(), describer: Describer::new(config) }
    }

    /// The device.
    #[must_use]
    pub fn device(&self) -> &D {
        &self.device
    }
}

impl<D: Device> Extractor for GpuSurf<D> {
    fn extract(&mut self, image: &ImageView<'_>, keypoints: &[Keypoint]) -> Result<Array2<f32>, Error> {
        let Self { device, workspace, describer } = self;
        describer.config.check(image, keypoints)?;
        GpuError::check_image(image)?;
        let count = keypoints.len();
        GpuError::check_descriptors(count)?;
        if count == 0 {
            return memory::zeros((0, LENGTH));
        }
        describer.set_tables(device, workspace)?;
        let words = memory::collect(keypoints.iter().flat_map(|k| [k.x, k.y, k.scale, k.response]))?;
        upload::words(device, workspace, Slot::Keypoints, &words)?;
        let mut state = [0_u32; state::WORDS];
        state[state::LENGTH] = count as u32;
        upload::words(device, workspace, Slot::State, &state)?;
        let pitch = upload_and_integrate(device, workspace, image, true)?;
        let image = Integrated { shape: Shape::new(image, 1), pitch };
        let list = KeypointList { slot: Slot::Keypoints, capacity: count, most: count };
        describer.enqueue(device, workspace, image, list)?;
        download(device, workspace, count)
    }

    /// Frees the device's memory.
    fn shrink_to_fit(&mut self) {
        self.workspace = Workspace::new();
        self.describer.clear();
    }
}

/// The constants in the kernel's order.
fn tables() -> Vec<f32> {
    let tables = Tables::get();
    let mut words = Vec::with_capacity(surf::TABLE as usize);
    words.extend(tables.circle.iter().flat_map(|&(u, v, weight)| [u as f32, v as f32, weight]));
    words.extend(tables.sectors.as_flattened().as_flattened());
    words.extend(tables.region);
    words.extend(tables.regions);
    assert_eq!(words.len(), surf::TABLE as usize);
    words
}
