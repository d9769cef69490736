//! A device that runs kernels on the CPU and checks them.

use harris_core::Error;
use harris_gpu_kernels::abi::Kernel;
use harris_gpu_kernels::simt::host;

use crate::{Argument, Device};

/// The CPU as a GPU: slow, and a panic wherever a kernel does what a device would not define.
#[derive(Clone, Copy, Debug, Default)]
pub struct HostDevice;

impl Device for HostDevice {
    type Memory = host::Memory;

    fn allocate(&self, bytes: usize) -> Result<host::Memory, Error> {
        Ok(host::Memory::new(bytes))
    }

    fn upload<'a>(
        &mut self,
        memory: &host::Memory,
        pitch: usize,
        rows: impl ExactSizeIterator<Item = &'a [u8]>,
    ) -> Result<(), Error> {
        for (y, row) in rows.enumerate() {
            assert!(row.len() <= pitch, "a row of {} bytes, {pitch} apart", row.len());
            for (x, &byte) in row.iter().enumerate() {
                memory.set_byte(y * pitch + x, byte);
            }
        }
        Ok(())
    }

    fn download(&mut self, memory: &host::Memory, bytes: &mut [u8]) -> Result<(), Error> {
        for (i, byte) in bytes.iter_mut().enumerate() {
            *byte = memory.byte(i);
        }
        Ok(())
    }

    fn clear(&self, memory: &host::Memory, words: usize) -> Result<(), Error> {
        for i in 0..4 * words {
            memory.set_byte(i, 0);
        }
        Ok(())
    }

    fn launch(
        &self,
        kernel: Kernel,
        grid: [u32; 2],
        arguments: &[Argument<'_, host::Memory>],
    ) -> Result<(), Error> {
        let arguments = arguments.iter().map(|argument| match argument {
            Argument::Memory(memory) => host::Argument::Memory((*memory).clone()),
            Argument::Word(bits) => host::Argument::Word(*bits),
        });
        host::launch(kernel, grid, arguments.collect());
        Ok(())
    }

    fn multiprocessors(&self) -> u32 {
        1
    }

    fn describe(&self) -> String {
        "gpu kernels on the host".to_owned()
    }
}
