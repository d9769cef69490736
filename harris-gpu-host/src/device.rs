//! A device that runs kernels on the CPU and checks them.

use std::borrow::Cow;

use harris_core::Error;
use harris_gpu::{Argument, Device, Rows};
use harris_gpu_kernels::abi::Kernel;

use crate::memory::{self, Memory};

/// Bytes of the last block of overlapped uploads. Small images, too, then have several blocks.
const LAST_BLOCK_BYTES: usize = 2048;

/// A device that runs kernels on the CPU, for tests. It is slow.
///
/// It panics where a kernel does what is undefined on a GPU.
#[derive(Clone, Copy, Debug, Default)]
pub struct HostDevice;

/// Bytes fetched from the host device.
#[derive(Clone, Debug)]
pub enum Fetched {
    /// A copy of memory.
    Copied(Vec<u8>),
    /// Mapped memory, which kernels write, and its bytes.
    Mapped(Memory, usize),
}

/// Copies memory. Bytes that were never written become 255, so that floats made of them are NaN.
fn read(memory: &Memory, bytes: usize) -> Vec<u8> {
    (0..bytes).map(|i| memory.written(i).unwrap_or(u8::MAX)).collect()
}

impl Device for HostDevice {
    type Memory = Memory;
    type Fetched = Fetched;
    type Recording = ();

    fn allocate(&self, bytes: usize) -> Result<Memory, Error> {
        Ok(Memory::new(bytes))
    }

    fn upload(&mut self, memory: &Memory, rows: Rows<'_>) -> Result<(), Error> {
        let Rows { pitch, offset, .. } = rows;
        for y in 0..rows.count() {
            let row = rows.row(y);
            assert!(row.len() <= pitch, "a row of {} bytes, {pitch} apart", row.len());
            for (x, &byte) in row.iter().enumerate() {
                memory.set_byte(offset + y * pitch + x, byte);
            }
        }
        Ok(())
    }

    fn upload_on_copy_stream(&mut self, memory: &Memory, rows: Rows<'_>) -> Result<(), Error> {
        self.upload(memory, rows)
    }

    fn await_uploads(&mut self) -> Result<(), Error> {
        Ok(())
    }

    fn last_block_bytes(&self) -> usize {
        LAST_BLOCK_BYTES
    }

    fn fetch(&mut self, memory: &Memory, bytes: usize) -> Result<Fetched, Error> {
        Ok(Fetched::Copied(read(memory, bytes)))
    }

    fn mapped_memory(&mut self, bytes: usize) -> Result<(Memory, Fetched), Error> {
        let memory = Memory::new(bytes);
        Ok((memory.clone(), Fetched::Mapped(memory, bytes)))
    }

    fn fetched<'a>(&'a self, fetched: &'a Fetched) -> Cow<'a, [u8]> {
        match fetched {
            Fetched::Copied(bytes) => bytes.into(),
            Fetched::Mapped(memory, bytes) => read(memory, *bytes).into(),
        }
    }

    fn download(&mut self, memory: &Memory, bytes: &mut [u8]) -> Result<(), Error> {
        for (i, byte) in bytes.iter_mut().enumerate() {
            *byte = memory.byte(i);
        }
        Ok(())
    }

    fn wait(&mut self) -> Result<(), Error> {
        Ok(())
    }

    fn is_idle(&self) -> bool {
        true
    }

    fn clear(&self, memory: &Memory, words: usize) -> Result<(), Error> {
        for i in 0..4 * words {
            memory.set_byte(i, 0);
        }
        Ok(())
    }

    fn launch(
        &self,
        kernel: Kernel,
        grid: [u32; 2],
        arguments: &[Argument<'_, Memory>],
    ) -> Result<(), Error> {
        let arguments = arguments.iter().map(|argument| match argument {
            Argument::Memory(memory) => memory::Argument::Memory((*memory).clone()),
            Argument::Word(bits) => memory::Argument::Word(*bits),
        });
        crate::launch(kernel, grid, arguments.collect());
        Ok(())
    }

    fn address(&self, memory: &Memory) -> u64 {
        memory.address()
    }

    fn multiprocessors(&self) -> u32 {
        1
    }

    fn describe(&self) -> String {
        "gpu kernels on the host".to_owned()
    }
}
