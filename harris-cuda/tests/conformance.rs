//! The conformance suite, on the first GPU.

mod gpu;

use harris_cuda::{CudaDetector, CudaFastHessian, CudaFeatures, CudaMatcher, CudaSurf};

harris_conformance::suite!(cuda, |config| Box::new(CudaDetector::new(config).unwrap()), gpu::present);

harris_conformance::features!(
    cuda_features,
    harris_conformance::Features {
        detector: |config| Box::new(CudaFastHessian::new(config).unwrap()),
        extractor: |config| Box::new(CudaSurf::new(config).unwrap()),
        matcher: |config| Box::new(CudaMatcher::new(config).unwrap()),
        features: |config| Box::new(CudaFeatures::new(config).unwrap()),
    },
    gpu::present
);
