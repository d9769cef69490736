//! Detectors that know the times of their device or steps.

use std::time::Duration;

use harris::cuda::{CudaDetector, CudaFastHessian};
use harris_core::fast_hessian::{ReferenceFastHessian, StepTimes};
use harris_core::{Detector, ReferenceDetector, StageTimes};
use harris_cpu::{CpuDetector, CpuFastHessian};

/// A detector that may know the times of its device or of its steps.
pub trait Timed: Detector {
    /// Sets whether the device's time is measured, which itself takes time.
    fn set_timed(&mut self, timed: bool) {
        let _ = timed;
    }

    /// Returns the time on the device for the last image, from its arrival there to the complete
    /// list, without transfers.
    fn device_time(&self) -> Option<Duration> {
        None
    }

    /// Returns the device's time for each stage of the last image, if the stages ran one after
    /// another.
    fn stage_times(&self) -> Option<StageTimes> {
        None
    }

    /// Returns the time of each step for the last image.
    fn step_times(&self) -> Option<StepTimes> {
        None
    }
}

impl Timed for ReferenceDetector {}

impl Timed for CpuDetector {}

impl Timed for ReferenceFastHessian {}

impl Timed for CpuFastHessian {
    fn step_times(&self) -> Option<StepTimes> {
        Some(CpuFastHessian::step_times(self))
    }
}

impl Timed for CudaDetector {
    fn set_timed(&mut self, timed: bool) {
        CudaDetector::set_timed(self, timed);
    }

    fn device_time(&self) -> Option<Duration> {
        CudaDetector::device_time(self).ok()
    }

    fn stage_times(&self) -> Option<StageTimes> {
        CudaDetector::stage_times(self).ok().flatten()
    }
}

impl Timed for CudaFastHessian {
    fn device_time(&self) -> Option<Duration> {
        CudaFastHessian::device_time(self).ok()
    }

    fn step_times(&self) -> Option<StepTimes> {
        CudaFastHessian::step_times(self).ok()
    }
}
