//! The SURF descriptor, keypoints shared out among threads.

use harris_core::surf::{Extractor, Frame, LENGTH, SurfConfig, describe, direction};
use harris_core::{Error, ImageView, Keypoint};
use ndarray::Array2;

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

/// Keypoints that a thread describes before it looks for more.
const SHARE: usize = 16;

impl CpuSurf {
    fn on(config: SurfConfig, workers: Workers) -> Self {
        Self { config, workers, sums: Sums::default() }
    }
}

impl Extractor for CpuSurf {
    fn extract(&mut self, image: &ImageView<'_>, keypoints: &[Keypoint]) -> Result<Array2<f32>, Error> {
        self.config.check(image, keypoints)?;
        self.sums.fill(image, 1, &self.workers.threads);
        let (sums, config) = (&self.sums, &self.config);
        let haar = |x, y, half| haar(sums, x, y, half);
        let mut descriptors = Array2::zeros((keypoints.len(), LENGTH));
        let rows = descriptors.as_slice_mut().expect("a new array is contiguous");
        let work = rows.chunks_mut(SHARE * LENGTH).zip(keypoints.chunks(SHARE)).collect();
        self.workers.threads.map(work, |(rows, keypoints): (&mut [f32], &[Keypoint])| {
            for (row, keypoint) in rows.chunks_exact_mut(LENGTH).zip(keypoints) {
                let frame = Frame::new(keypoint, config.magnification());
                let direction = if config.upright() { [1.0, 0.0] } else { direction(&frame, haar) };
                row.copy_from_slice(&describe(&frame, direction, haar));
            }
        });
        Ok(descriptors)
    }
}

/// Haar's wavelets across and down at a pixel, over squares of side 2 · `half`, from sums in one part.
#[inline(always)]
fn haar(sums: &Sums, x: i32, y: i32, half: i32) -> [i32; 2] {
    let (x, y, half) = (x as isize, y as isize, half as isize);
    let rows = [sums.row(y - half), sums.row(y), sums.row(y + half)];
    let [[a, b, c], [d, _, e], [f, g, h]] =
        rows.map(|row| [x - half, x, x + half].map(|x| std::num::Wrapping(row.at(x))));
    let across = ((h - g) - (c - b)) - ((g - f) - (b - a));
    let down = ((h - e) - (f - d)) - ((e - c) - (d - a));
    [across.0, down.0]
}
