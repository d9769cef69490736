//! The provider that runs kernels on the CPU, for tests.
//!
//! A thread is a coroutine. The threads of a block take turns on the calling thread; each runs
//! until it waits for others. Blocks run one after another. Neither blocks nor threads run in the
//! order of their numbers, so a kernel whose result depends on the order fails its tests. A misuse
//! is a panic that names the kernel, the block and the thread.

mod memory;
mod schedule;
#[cfg(test)]
mod tests;
mod thread;

pub use memory::{Argument, Buffer, Memory};
pub(crate) use memory::{buffer, scalar};
pub use schedule::launch;
pub use thread::{Body, HostKernel, Thread};
