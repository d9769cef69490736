//! The tests of every backend, on the first GPU.

mod gpu;

use harris_cuda::CudaDetector;

harris_conformance::suite!(cuda, |config| Box::new(CudaDetector::new(config).unwrap()), gpu::present);
