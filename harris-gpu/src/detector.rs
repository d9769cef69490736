//! The detector: an image in, keypoints out.

use harris_core::{Detector, Error, HarrisConfig, ImageView, Keypoint};
use ndarray::Array2;

use crate::device::Device;
use crate::error::GpuError;
use crate::workspace::{Slot, Workspace};
use crate::{corners, fused, staged};

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
    staged: bool,
    /// Whether the last image's corners were found stage by stage.
    in_stages: bool,
}

impl<D: Device> GpuDetector<D> {
    /// A detector on `device`.
    #[must_use]
    pub fn new(device: D, config: HarrisConfig) -> Self {
        Self { device, config, workspace: Workspace::new(), staged: false, in_stages: false }
    }

    /// The same detector with one kernel a stage also where there is a fused one, for comparing them.
    #[must_use]
    pub fn staged(self) -> Self {
        Self { staged: true, ..self }
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

    /// Whether the corners of the last image were found by one kernel a stage, so that the device passed the marks of all stages.
    #[must_use]
    pub fn in_stages(&self) -> bool {
        self.in_stages
    }

    fn check(&self, image: &ImageView<'_>) -> Result<(), Error> {
        self.config.check_image(image)?;
        Ok(GpuError::check_size(image)?)
    }
}

impl<D: Device> Detector for GpuDetector<D> {
    fn detect(&mut self, image: &ImageView<'_>) -> Result<Vec<Keypoint>, Error> {
        self.in_stages = false;
        self.check(image)?;
        let (device, workspace, config) = (&mut self.device, &mut self.workspace, &self.config);
        match fused::covered(image, config) {
            Some(way) if !self.staged => fused::detect(device, workspace, config, image, way),
            _ => {
                staged::respond(device, workspace, config, image)?;
                let corners = corners::find(device, workspace, config, image)?;
                self.in_stages = true;
                Ok(corners)
            }
        }
    }

    fn response(&mut self, image: &ImageView<'_>) -> Result<Array2<f32>, Error> {
        self.check(image)?;
        staged::respond(&mut self.device, &mut self.workspace, &self.config, image)?;
        let mut response = Array2::zeros((image.height(), image.width()));
        let bytes = bytemuck::cast_slice_mut(response.as_slice_mut().expect("a new array is contiguous"));
        self.device.download(self.workspace.buffer::<f32>(Slot::Response).memory, bytes)?;
        Ok(response)
    }

    fn describe(&self) -> String {
        self.device.describe()
    }
}
