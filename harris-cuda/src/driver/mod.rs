//! CUDA's driver: the only module with unsafe code but that of raw pointers from callers.
//!
//! [`library`] loads the driver's library when it is first needed. [`context`] makes a device's primary context
//! current for as long as its functions are called, and then gives the caller's own back. [`fork`] notices children of a
//! process that used CUDA, where the driver does not work.

#![allow(unsafe_code)]

mod context;
mod ffi;
mod fork;
mod gpu;
mod library;
mod memory;
mod module;
mod past_caches;
mod stream;

pub(crate) use context::{CallersContext, Gpu};
#[cfg(feature = "cust")]
pub(crate) use context::{device_of_context, device_of_pointer};
pub use gpu::{DeviceInfo, devices, is_available};
pub(crate) use memory::{DeviceMemory, Staging, is_pinned};
pub(crate) use past_caches::copy_past_caches;
pub(crate) use stream::{Ahead, PARTS, Queue, Recording, Stream, Value};

#[cfg(test)]
mod tests {
    use std::sync::Mutex;

    /// Held by tests that look at the device's memory or use it up.
    pub(crate) static ALONE: Mutex<()> = Mutex::new(());
}
