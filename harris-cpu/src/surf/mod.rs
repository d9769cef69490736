//! The SURF descriptor: keypoints shared out among threads.

mod describe;
mod wavelets;

use harris_core::surf::{Extractor, LENGTH, SurfConfig};
use harris_core::{Error, ImageView, Keypoint, float_mode, memory};
use ndarray::Array2;

use self::describe::Describe;
use self::wavelets::Wavelets;
use crate::integral::Sums;
use crate::workers::{Workers, constructors};

/// The SURF descriptor on the CPU.
///
/// ```
/// use harris_cpu::harris_core::surf::{Extractor, SurfConfig};
/// use harris_cpu::{CpuSurf, ImageView, Keypoint};
///
/// let samples: Vec<u8> = (0..64 * 64).map(|i| (i * i / 97 % 256) as u8).collect();
/// let image = ImageView::gray(&samples, 64, 64)?;
/// let descriptors = CpuSurf::new(SurfConfig::default()).extract(&image, &[Keypoint::new(30.0, 31.5, 1.0)])?;
/// assert_eq!(descriptors.dim(), (1, 64));
/// # Ok::<(), harris_cpu::Error>(())
/// ```
#[derive(Debug)]
pub struct CpuSurf {
    config: SurfConfig,
    workers: Workers,
    sums: Sums,
}

constructors!(CpuSurf, SurfConfig);

/// Keypoints that a thread takes at a time.
const KEYPOINTS_PER_TASK: usize = 16;

impl CpuSurf {
    pub(crate) fn on(config: SurfConfig, workers: Workers) -> Self {
        Self { config, workers, sums: Sums::default() }
    }

    fn descriptors(&mut self, image: &ImageView<'_>, keypoints: &[Keypoint]) -> Result<Array2<f32>, Error> {
        self.config.check(image, keypoints)?;
        self.sums.fill(image, 1, &self.workers.threads)?;
        let (config, level) = (&self.config, self.workers.level);
        let wavelets = Wavelets::new(&self.sums);
        let mut descriptors = memory::zeros((keypoints.len(), LENGTH))?;
        let rows = descriptors.as_slice_mut().expect("a new array is contiguous");
        let work = memory::collect(
            rows.chunks_mut(KEYPOINTS_PER_TASK * LENGTH).zip(keypoints.chunks(KEYPOINTS_PER_TASK)),
        )?;
        self.workers.threads.map(work, |(rows, keypoints)| {
            level.call(Describe { wavelets, config, keypoints, rows });
        })?;
        Ok(descriptors)
    }
}

impl Extractor for CpuSurf {
    fn extract(&mut self, image: &ImageView<'_>, keypoints: &[Keypoint]) -> Result<Array2<f32>, Error> {
        float_mode::standard(|| self.descriptors(image, keypoints))
    }

    /// Frees the integral image. Threads of its own stay.
    fn shrink_to_fit(&mut self) {
        self.sums = Sums::default();
    }
}
