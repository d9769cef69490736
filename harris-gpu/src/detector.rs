//! The detector: an image in, keypoints out.

use harris_core::{Detector, Error, HarrisConfig, ImageView, Keypoint};
use ndarray::Array2;

use crate::device::Device;
use crate::error::GpuError;
use crate::workspace::{Slot, Workspace};
use crate::{corners, staged};

/// Harris on a GPU.
///
/// ```
/// use harris_core::{Detector, HarrisConfig, ImageView};
/// use harris_gpu::GpuDetector;
/// use harris_gpu::host::HostDevice;
///
/// let mut detector = GpuDetector::new(HostDevice, HarrisConfig::default());
/// let samples = [0_u8; 32 * 32];
/// assert_eq!(detector.detect(&ImageView::gray(&samples, 32, 32)?)?, []);
/// # Ok::<(), harris_core::Error>(())
/// ```
#[derive(Debug)]
pub struct GpuDetector<D: Device> {
    device: D,
    config: HarrisConfig,
    workspace: Workspace<D>,
}

impl<D: Device> GpuDetector<D> {
    /// A detector on `device`.
    #[must_use]
    pub fn new(device: D, config: HarrisConfig) -> Self {
        Self { device, config, workspace: Workspace::new() }
    }

    /// The device.
    #[must_use]
    pub fn device(&self) -> &D {
        &self.device
    }

    /// The configuration.
    #[must_use]
    pub fn config(&self) -> &HarrisConfig {
        &self.config
    }

    fn respond(&mut self, image: &ImageView<'_>) -> Result<(), Error> {
        self.config.check_image(image)?;
        let (width, height) = (image.width(), image.height());
        if width * height > GpuError::MOST_PIXELS {
            return Err(GpuError::ImageTooLarge { width, height }.into());
        }
        staged::respond(&mut self.device, &mut self.workspace, &self.config, image)
    }
}

impl<D: Device> Detector for GpuDetector<D> {
    fn detect(&mut self, image: &ImageView<'_>) -> Result<Vec<Keypoint>, Error> {
        self.respond(image)?;
        corners::find(&mut self.device, &mut self.workspace, &self.config, image)
    }

    fn response(&mut self, image: &ImageView<'_>) -> Result<Array2<f32>, Error> {
        self.respond(image)?;
        let mut response = Array2::zeros((image.height(), image.width()));
        let bytes = bytemuck::cast_slice_mut(response.as_slice_mut().expect("a new array is contiguous"));
        self.device.download(self.workspace.buffer::<f32>(Slot::Response).memory, bytes)?;
        Ok(response)
    }

    fn describe(&self) -> String {
        self.device.describe()
    }
}
