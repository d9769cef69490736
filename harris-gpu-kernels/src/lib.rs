//! Device code of Harris corner detection, in Rust.
//!
//! A kernel's body is a function generic over [`Simt`], what a thread of a GPU can do. Providers of it:
//!
//! - rustc's NVPTX backend, when this crate is compiled for `nvptx64-nvidia-cuda`: each kernel becomes an entry
//!   point of the PTX that `harris-cuda` carries;
//! - `simt::rust_cuda`, behind the feature `rust-cuda`: Rust-CUDA's `cuda_std`, type-checked and not yet compiled to PTX;
//! - the crate `harris-gpu-host`, for tests: threads are coroutines on the CPU, barriers and exchanges between
//!   lanes are real, and a divergent barrier, an access beyond a buffer, a read of what nothing wrote or a race in
//!   shared memory is a panic that names block and thread. With it all kernels are tested on any machine.
//!
//! [`abi`] lists the kernels with their arguments, once for all sides. [`run`] runs the body of one of them.
//!
//! The crate computes nothing by itself: `harris-gpu` strings kernels together, `harris-cuda` runs them.

#![no_std]
#![deny(unsafe_code)]
#![cfg_attr(
    target_arch = "nvptx64",
    feature(abi_ptx, stdarch_nvptx, asm_experimental_arch, link_llvm_intrinsics)
)]

#[cfg(not(target_arch = "nvptx64"))]
extern crate alloc;

#[macro_use]
pub mod abi;
#[cfg(target_arch = "nvptx64")]
mod entry;
mod kernels;
#[cfg(not(target_arch = "nvptx64"))]
mod run;
pub mod simt;

#[cfg(not(target_arch = "nvptx64"))]
pub use run::{KernelArguments, run};
pub use simt::{Simt, Word};

#[cfg(target_arch = "nvptx64")]
#[panic_handler]
fn panic(_: &core::panic::PanicInfo<'_>) -> ! {
    loop {}
}
