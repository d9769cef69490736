//! CUDA's driver. Unsafe code of this crate is here, and where callers hand over raw pointers (`resident`, `detector`, `cust`).
//!
//! Some functions here tell what their callers in this crate must keep: that memory outlives the work on it, and that nobody looks at
//! what the device is writing. `device`, `staging`, `resident` and harris-gpu's detectors are these callers.
//!
//! [`library`] loads the driver's library when it is first needed. [`context`] makes a device's primary context
//! current for as long as its functions are called, and then gives the caller's own back. [`fork`] notices children of a
//! process that used CUDA, where the driver does not work.

#![allow(unsafe_code)]

mod context;
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

    /// Held by tests that look at the device's memory or use it up.
    pub(crate) static ALONE: Mutex<()> = Mutex::new(());

    /// The first GPU. Without one, tests say so and end; with HARRIS_REQUIRE_GPU=1 they fail. Anything but its absence is a
    /// failure.
    pub(crate) fn gpu() -> Option<Arc<Gpu>> {
        match Gpu::open(0) {
            Ok(gpu) => Some(gpu),
            Err(error @ (CudaError::NoDevice | CudaError::NoDriver { .. })) => {
                let required = std::env::var("HARRIS_REQUIRE_GPU").is_ok_and(|value| value == "1");
                assert!(!required, "HARRIS_REQUIRE_GPU=1, but {error}");
                println!("not tried: {error}");
                None
            }
            Err(error) => panic!("{error}"),
        }
    }
}
