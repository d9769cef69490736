//! A CUDA device as `harris-gpu` asks for it.

use std::time::Duration;

use harris_core::Error;
use harris_gpu::{Argument, Device, Mark};
use harris_gpu_kernels::abi::Kernel;
use rayon::prelude::*;

use crate::CudaError;
use crate::driver::{DeviceMemory, Gpu, Staging, Stream, Value};

/// The kernels; `cargo xtask ptx` makes them from `harris-gpu-kernels`.
pub(crate) const PTX: &str = include_str!("../ptx/harris.ptx");

/// The most that is staged at once.
const MOST_STAGED: usize = 64 << 20;

/// The least, for the small things that each image needs.
const LEAST_STAGED: usize = 64 << 10;

/// What one thread stages at a time; less is not worth another.
const SHARE: usize = 512 << 10;

/// A device, a stream on it and pinned memory on the way to it.
#[derive(Debug)]
pub(crate) struct CudaDevice {
    stream: Stream,
    staging: Option<Staging>,
    /// Bytes of the staging that copies may still be reading.
    staged: usize,
}

impl CudaDevice {
    pub(crate) fn open(ordinal: u32) -> Result<Self, CudaError> {
        Ok(Self { stream: Stream::new(&Gpu::open(ordinal)?)?, staging: None, staged: 0 })
    }

    pub(crate) fn stream(&self) -> &Stream {
        &self.stream
    }

    /// From the arrival of the last input in the device's memory to the complete list there.
    pub(crate) fn time(&self) -> Result<Duration, CudaError> {
        self.stream.between(Mark::Uploaded, Mark::Listed)
    }

    /// Room for at least `least` bytes that no copy reads any more, better for `wanted`, and where it starts.
    fn stage(&mut self, least: usize, wanted: usize) -> Result<(&mut Staging, usize), CudaError> {
        let wanted = wanted.clamp(LEAST_STAGED, MOST_STAGED).max(least);
        let room = self.staging.as_ref().map_or(0, Staging::bytes);
        if room < wanted {
            // Dropped only when the copies from it are done.
            self.stream.wait()?;
            self.staging = None;
            self.staging = Some(Staging::new(self.stream.gpu(), wanted)?);
            self.staged = 0;
        } else if room - self.staged < least {
            self.stream.wait()?;
            self.staged = 0;
        }
        let at = self.staged;
        Ok((self.staging.as_mut().expect("made above"), at))
    }
}

impl Device for CudaDevice {
    type Memory = DeviceMemory;

    fn allocate(&self, bytes: usize) -> Result<DeviceMemory, Error> {
        Ok(DeviceMemory::new(self.stream.gpu(), bytes)?)
    }

    fn upload<'a>(
        &mut self,
        memory: &DeviceMemory,
        pitch: usize,
        rows: impl ExactSizeIterator<Item = &'a [u8]>,
    ) -> Result<(), Error> {
        let rows: Vec<&[u8]> = rows.collect();
        let (mut rows, mut offset) = (rows.as_slice(), 0);
        // As many rows at once as can be staged.
        while !rows.is_empty() {
            let (staging, at) = self.stage(pitch, pitch * rows.len())?;
            let fitting = ((staging.bytes() - at) / pitch).min(rows.len());
            let (now, later) = rows.split_at(fitting);
            self.staged = at + fitting * pitch;
            let Self { stream, staging, staged } = self;
            let places = &mut staging.as_mut().expect("staged above").as_mut_slice()[at..*staged];
            let copy = |offset: usize, places: &mut [u8], rows: &[&[u8]]| {
                for (place, row) in places.chunks_exact_mut(pitch).zip(rows) {
                    place[..row.len()].copy_from_slice(row);
                }
                stream.upload(memory, offset, places)
            };
            if places.len() < 2 * SHARE {
                copy(offset, places, now)?;
            } else {
                // One thread stages more slowly than the device copies: several of rayon's shared pool do, and the device
                // copies what each has staged while they go on.
                let share = (SHARE / pitch).max(1);
                let shares = places.par_chunks_mut(share * pitch).zip(now.par_chunks(share)).enumerate();
                shares.try_for_each(|(i, (places, rows))| copy(offset + i * share * pitch, places, rows))?;
            }
            offset += fitting * pitch;
            rows = later;
        }
        Ok(())
    }

    fn download(&mut self, memory: &DeviceMemory, bytes: &mut [u8]) -> Result<(), Error> {
        if bytes.len() <= LEAST_STAGED {
            let (_, at) = self.stage(bytes.len(), bytes.len())?;
            let staging = self.staging.as_mut().expect("staged above");
            self.stream.fetch(memory, staging, at, bytes.len())?;
            bytes.copy_from_slice(&staging.as_mut_slice()[at..at + bytes.len()]);
        } else {
            self.stream.download(memory, bytes)?;
        }
        // All copies before are done.
        self.staged = 0;
        Ok(())
    }

    fn clear(&self, memory: &DeviceMemory, words: usize) -> Result<(), Error> {
        Ok(self.stream.clear(memory, words)?)
    }

    fn launch(
        &self,
        kernel: Kernel,
        grid: [u32; 2],
        arguments: &[Argument<'_, DeviceMemory>],
    ) -> Result<(), Error> {
        let values: Vec<_> = (arguments.iter())
            .map(|argument| match argument {
                Argument::Memory(memory) => Value::Memory(memory),
                Argument::Word(bits) => Value::Word(*bits),
            })
            .collect();
        Ok(self.stream.launch(kernel, grid, &values)?)
    }

    fn mark(&mut self, mark: Mark) -> Result<(), Error> {
        Ok(self.stream.mark(mark)?)
    }

    fn multiprocessors(&self) -> u32 {
        self.stream.gpu().multiprocessors()
    }

    fn describe(&self) -> String {
        format!("cuda: {}", self.stream.gpu().info().name)
    }
}
