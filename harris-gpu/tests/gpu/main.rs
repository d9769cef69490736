//! The GPU backend on devices for tests. One test program has all these tests, since each compiles the
//! detectors for its device anew.

mod bucket_overflow;
mod conformance;
mod device_failures;
mod limits;
mod on_device;
mod plan;
mod predicted_threshold;
mod replayed_recordings;
mod test_device;
