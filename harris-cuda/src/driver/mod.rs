//! CUDA's driver. Most of this crate's unsafe code is here; the rest is where callers give raw
//! pointers (`on_device`, `detector`, `features`, `descriptors`, `cust`).
//!
//! Some functions here state conditions for their callers in this crate: memory must outlive the
//! work on it, and nobody may read what the device is writing. These callers are `device`,
//! `staging`, `on_device`, `pinned` and harris-gpu's detectors.
//!
//! - [`library`] loads the driver's library when it is first needed.
//! - [`context`] makes a device's primary context current during a call, and then restores the
//!   caller's.
//! - [`gpu`] holds a device that is in use, with its context and its kernels.
//! - [`fork`] notices children of a process that has used CUDA, where the driver does not work.

#![allow(unsafe_code)]

mod context;
mod copy_rows;
mod devices;
mod ffi;
mod fork;
mod gpu;
mod library;
mod memory;
mod module;
mod non_temporal;
mod stream;

pub(crate) use context::ContextGuard;
pub(crate) use copy_rows::{copy_rows, device_of_address};
pub use devices::{DeviceInfo, devices, is_available};
pub(crate) use gpu::Gpu;
#[cfg(feature = "cust")]
pub(crate) use gpu::{device_of_context, device_of_pointer};
pub(crate) use memory::{DeviceMemory, PinnedBuffer, is_pinned};
pub(crate) use non_temporal::copy_non_temporal;
pub(crate) use stream::{CopyStream, PARTS, Queue, Recording, Stream, Value};

#[cfg(test)]
mod tests {
    use std::sync::{Arc, Mutex};

    use super::Gpu;
    use crate::CudaError;

    /// A lock for tests that measure the device's memory or use it up.
    pub(crate) static ALONE: Mutex<()> = Mutex::new(());

    /// Opens the first GPU. Without a GPU, tests print that and end; with HARRIS_REQUIRE_GPU=1 they
    /// fail. Any other failure is a failure of the test.
    pub(crate) fn gpu() -> Option<Arc<Gpu>> {
        match Gpu::open(0) {
            Ok(gpu) => Some(gpu),
            Err(error @ (CudaError::NoDevice | CudaError::NoDriver { .. })) => {
                let required = std::env::var("HARRIS_REQUIRE_GPU").is_ok_and(|value| value == "1");
                assert!(!required, "HARRIS_REQUIRE_GPU=1, but {error}");
                println!("not tested: {error}");
                None
            }
            Err(error) => panic!("{error}"),
        }
    }
}
