//! The SURF descriptor: an image and keypoints in, descriptors out.

use harris_core::surf::{Extractor, LENGTH, SurfConfig, Tables};
use harris_core::{Error, ImageView, Keypoint, float_mode, memory};
use harris_gpu_kernels::abi::surf;
use ndarray::Array2;

use crate::device::{Device, Mark};
use crate::error::GpuError;
use crate::exec::upload;
use crate::exec::workspace::{Slot, Workspace};
use crate::integral::integrate;
use crate::launch;

/// The SURF descriptor on a GPU.
///
/// ```
/// use harris_core::surf::{Extractor, SurfConfig};
/// use harris_core::{ImageView, Keypoint};
/// use harris_gpu::GpuSurf;
/// use harris_gpu::host::HostDevice;
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
    config: SurfConfig,
    workspace: Workspace<D>,
    /// Whether the constants are on the device.
    has_tables: bool,
}

impl<D: Device> GpuSurf<D> {
    /// An extractor on `device`.
    #[must_use]
    pub fn new(device: D, config: SurfConfig) -> Self {
        Self { device, config, workspace: Workspace::new(), has_tables: false }
    }

    /// The device.
    #[must_use]
    pub fn device(&self) -> &D {
        &self.device
    }
}

impl<D: Device> Extractor for GpuSurf<D> {
    fn extract(&mut self, image: &ImageView<'_>, keypoints: &[Keypoint]) -> Result<Array2<f32>, Error> {
        self.config.check(image, keypoints)?;
        GpuError::check_image(image)?;
        GpuError::check_descriptors(keypoints.len())?;
        let mut descriptors = memory::zeros((keypoints.len(), LENGTH))?;
        if keypoints.is_empty() {
            return Ok(descriptors);
        }
        let Self { device, config, workspace, has_tables } = self;
        if !*has_tables {
            upload::words(device, workspace, Slot::SurfTables, &tables())?;
            *has_tables = true;
        }
        let frame = |k: &Keypoint| [k.x, k.y, k.scale * config.magnification()];
        let frames = float_mode::standard(|| memory::collect(keypoints.iter().flat_map(frame)))?;
        upload::words(device, workspace, Slot::KeypointFrames, &frames)?;
        workspace.fit::<f32>(device, Slot::Descriptors, keypoints.len() * LENGTH)?;
        let pitch = integrate(device, workspace, image)?;
        let out = workspace.buffer(Slot::Descriptors);
        launch::surf(
            device,
            [keypoints.len() as u32, 1],
            workspace.buffer(Slot::Integral),
            workspace.buffer(Slot::KeypointFrames),
            workspace.buffer(Slot::SurfTables),
            out,
            image.width() as u32,
            image.height() as u32,
            pitch,
            u32::from(config.upright()),
        )?;
        device.mark(Mark::Done)?;
        let bytes = bytemuck::cast_slice_mut(descriptors.as_slice_mut().expect("a new array is contiguous"));
        device.download(out.memory, bytes)?;
        Ok(descriptors)
    }

    /// Frees the device's memory.
    fn shrink_to_fit(&mut self) {
        (self.workspace, self.has_tables) = (Workspace::new(), false);
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
