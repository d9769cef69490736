//! CUDA's driver: the only place that names cust, and the only one with unsafe code.
//!
//! cust finds the driver, its devices and their primary contexts. What is done often or can fail in ways that are newer
//! than cust 0.3.2 is called directly ([`ffi`]): cust's `CUresult` is an enum that ends at CUDA 11.4, its streams wait
//! for the NULL stream, its context is released under live memory, its modules tell no log.

#![allow(unsafe_code)]

mod context;
mod ffi;
mod gpu;
mod memory;
mod module;
mod past_caches;
mod stream;

pub(crate) use context::Gpu;
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
