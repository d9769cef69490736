//! Keypoints and their descriptors in one call.

use harris_core::features::{DetectAndDescribe, DetectorConfig, FeatureConfig, Features};
use harris_core::surf::Extractor;
use harris_core::{Detector, Error, ImageView};

use crate::detector::CpuDetector;
use crate::fast_hessian::CpuFastHessian;
use crate::surf::CpuSurf;
use crate::workers::{Workers, constructors};

/// Corners or blobs with SURF descriptors, on the CPU.
///
/// ```
/// use harris_cpu::harris_core::features::{DetectAndDescribe, FeatureConfig};
/// use harris_cpu::{CpuFeatures, ImageView};
///
/// // A light disc of radius 6 on black.
/// let disc: Vec<u8> = (0..64 * 64)
///     .map(|i| if (i % 64 - 32_i32).pow(2) + (i / 64 - 30_i32).pow(2) <= 36 { 255 } else { 0 })
///     .collect();
/// let mut features = CpuFeatures::new(FeatureConfig::default());
/// let found = features.detect_and_describe(&ImageView::gray(&disc, 64, 64)?)?;
/// assert_eq!(found.descriptors.dim(), (found.keypoints.len(), 64));
/// # Ok::<(), harris_cpu::Error>(())
/// ```
#[derive(Debug)]
pub struct CpuFeatures {
    workers: Workers,
    detector: AnyDetector,
    surf: CpuSurf,
}

#[derive(Debug)]
enum AnyDetector {
    Harris(CpuDetector),
    FastHessian(CpuFastHessian),
}

constructors!(CpuFeatures, FeatureConfig);

impl CpuFeatures {
    fn on(config: FeatureConfig, workers: Workers) -> Self {
        let detector = match config.detector {
            DetectorConfig::Harris(config) => AnyDetector::Harris(CpuDetector::on(config, workers.clone())),
            DetectorConfig::FastHessian(config) => {
                AnyDetector::FastHessian(CpuFastHessian::on(config, workers.clone()))
            }
        };
        Self { detector, surf: CpuSurf::on(config.surf, workers.clone()), workers }
    }
}

impl DetectAndDescribe for CpuFeatures {
    fn detect_and_describe(&mut self, image: &ImageView<'_>) -> Result<Features, Error> {
        let Self { workers, detector, surf } = self;
        surf.set_level(workers.level);
        let keypoints = match detector {
            AnyDetector::Harris(detector) => {
                detector.set_level(workers.level);
                detector.detect(image)?
            }
            AnyDetector::FastHessian(detector) => {
                detector.set_level(workers.level);
                detector.detect(image)?
            }
        };
        // The detector's integral image has columns in two phases. Descriptors read single columns,
        // which takes longer there than another integral image.
        let descriptors = surf.extract(image, &keypoints)?;
        Ok(Features::new(keypoints, descriptors))
    }

    /// Frees what depends on the size of images. Threads of its own stay.
    fn shrink_to_fit(&mut self) {
        match &mut self.detector {
            AnyDetector::Harris(detector) => detector.shrink_to_fit(),
            AnyDetector::FastHessian(detector) => detector.shrink_to_fit(),
        }
        self.surf.shrink_to_fit();
    }

    fn describe(&self) -> String {
        self.workers.describe()
    }
}
