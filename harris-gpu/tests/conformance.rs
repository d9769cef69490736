//! The tests of every backend, with kernels run and checked on the CPU.

use harris_gpu::GpuDetector;
use harris_gpu::host::HostDevice;

harris_conformance::suite!(host, |config| Box::new(GpuDetector::new(HostDevice, config)));
