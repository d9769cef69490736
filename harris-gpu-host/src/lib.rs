//! A GPU for tests: runs kernels on the CPU, and checks what they do.
//!
//! [`HostDevice`] is a [`Device`](harris_gpu::Device) on which all detectors of `harris-gpu` run,
//! thousands of times slower than on a GPU. [`launch`] runs a single kernel.
//!
//! A thread is a coroutine. The threads of a block take turns on the calling thread; each runs
//! until it waits for others. Blocks run one after another. Neither blocks nor threads run in the
//! order of their numbers, so a kernel whose result depends on the order fails its tests.
//!
//! A misuse is a panic that names the kernel, the block and the thread: a divergent barrier, an
//! access beyond a buffer, a read of what nothing wrote, or a race in shared memory.
//!
//! The crate is a part of no release: a program that uses the library does not compile it.

#![forbid(unsafe_code)]

mod device;
mod memory;
mod schedule;
#[cfg(test)]
mod tests;
mod thread;

pub use device::{Fetched, HostDevice};
pub use memory::{Argument, Buffer, Memory};
pub use schedule::launch;
pub use thread::{HostKernel, Thread};
