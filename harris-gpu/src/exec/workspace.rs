//! Memory on the device, reused from image to image.

use harris_core::Error;
use harris_gpu_kernels::Word;

use crate::device::{Buffer, Device, Resident};
use crate::plan::Shape;

/// The use of a piece of memory.
#[derive(Clone, Copy, Debug)]
pub(crate) enum Slot {
    /// Samples.
    Image,
    Mask,
    Taps,
    OtherTaps,
    /// Samples or smoothed samples, one plane a channel.
    Planes,
    OtherPlanes,
    GradientX,
    GradientY,
    Sums,
    OtherSums,
    /// The response map, or determinants of all layers.
    Response,
    /// States of images, followed by the counters of buckets.
    State,
    /// Candidates of each work tile, counted, or counts of a histogram.
    Counts,
    /// Candidates of each work tile.
    Candidates,
    /// Keys in buckets.
    Buckets,
    /// Keys between buckets.
    Splitters,
    Keys,
    OtherKeys,
    /// Keys in the cells of the grid for minimum distances.
    GridCells,
    GridCounts,
    /// Which corners stay.
    Decisions,
    /// Corners that stay in each share of a list, counted.
    ShareCounts,
    Keypoints,
    OtherKeypoints,
    KeypointMask,
    Integral,
    /// Totals of bands of the integral image.
    BandTotals,
    /// Tables of the Fast-Hessian detector.
    Layers,
    Triples,
    /// Constants of the SURF descriptor.
    SurfTables,
    Descriptors,
    OtherDescriptors,
    /// Nearest descriptors of each part.
    PartNearest,
    Nearest,
}

const SLOTS: usize = Slot::Nearest as usize + 1;

/// Images whose states an execution left as the next sweep needs them.
#[derive(Clone, Copy, Debug, Default)]
pub(crate) struct ReadyStates {
    /// How many, from the start of [`Slot::State`] on.
    pub(crate) images: usize,
    /// Whether they may hold a predicted threshold.
    pub(crate) have_prediction: bool,
}

/// One piece of memory a slot, as large as was ever needed.
#[derive(Debug)]
pub(crate) struct Workspace<D: Device> {
    slots: [Option<(D::Memory, usize)>; SLOTS],
    /// Slots whose memory is a caller's.
    lent: Vec<Slot>,
    pub(crate) ready: ReadyStates,
}

impl<D: Device> Workspace<D> {
    pub(crate) fn new() -> Self {
        Self { slots: [const { None }; SLOTS], lent: Vec::new(), ready: ReadyStates::default() }
    }

    /// Makes a slot hold at least `len` words. Where it held fewer, its content is lost.
    pub(crate) fn fit<T: Word>(&mut self, device: &D, slot: Slot, len: usize) -> Result<(), Error> {
        // Whole words of 64 bits, and at least one.
        let bytes = (T::BYTES * len).next_multiple_of(8).max(8);
        let place = &mut self.slots[slot as usize];
        if place.as_ref().is_some_and(|(_, capacity)| *capacity >= bytes) {
            return Ok(());
        }
        // The old memory is freed first: the device may not hold both.
        *place = None;
        *place = Some((device.allocate(bytes)?, bytes));
        Ok(())
    }

    /// Makes a slot hold at least `len` words, and clears new memory; returns whether it is new.
    ///
    /// For memory of which more is read than was written.
    pub(crate) fn fit_cleared<T: Word>(&mut self, device: &D, slot: Slot, len: usize) -> Result<bool, Error> {
        if self.capacity::<T>(slot) >= len {
            return Ok(false);
        }
        self.fit::<T>(device, slot, len)?;
        device.clear(self.buffer::<u32>(slot).memory, self.capacity::<u32>(slot))?;
        Ok(true)
    }

    /// Puts memory of a caller into a slot, until [`Workspace::return_lent`]. The slot's own memory
    /// is freed.
    pub(crate) fn lend(&mut self, slot: Slot, memory: D::Memory, bytes: usize) {
        self.slots[slot as usize] = Some((memory, bytes));
        self.lent.push(slot);
    }

    /// Puts a caller's image and its mask into their slots, until [`Workspace::return_lent`].
    pub(crate) fn lend_image(&mut self, image: Resident<D::Memory>) -> Shape {
        let shape = Shape::resident(&image);
        self.lend(Slot::Image, image.memory, image.pitch * image.height);
        if let Some((mask, pitch)) = image.mask {
            self.lend(Slot::Mask, mask, pitch * image.height);
        }
        shape
    }

    /// Takes the memory of callers out of its slots: nothing is written there any more.
    pub(crate) fn return_lent(&mut self) {
        for slot in self.lent.drain(..) {
            self.slots[slot as usize] = None;
        }
    }

    /// Takes the memory out of a slot, with its size in bytes.
    pub(crate) fn take(&mut self, slot: Slot) -> Option<(D::Memory, usize)> {
        self.slots[slot as usize].take()
    }

    /// Gives memory to a slot.
    pub(crate) fn give(&mut self, slot: Slot, memory: (D::Memory, usize)) {
        self.slots[slot as usize] = Some(memory);
    }

    /// The memory of a slot.
    ///
    /// # Panics
    /// Where there is none.
    pub(crate) fn buffer<T: Word>(&self, slot: Slot) -> Buffer<'_, D::Memory, T> {
        let (memory, _) = self.slots[slot as usize].as_ref().expect("a slot is fitted before it is used");
        Buffer::new(memory)
    }

    /// The address of a slot's memory on the device; 0 where there is none.
    pub(crate) fn address(&self, device: &D, slot: Slot) -> u64 {
        self.slots[slot as usize].as_ref().map_or(0, |(memory, _)| device.address(memory))
    }

    /// The mask and the bytes from row to row, as kernels take them. Where there is no mask, these
    /// are 0, and the memory is any.
    pub(crate) fn mask(&self, pitch: usize) -> (Buffer<'_, D::Memory, u8>, u32) {
        let slot = if pitch > 0 { Slot::Mask } else { Slot::State };
        (self.buffer(slot), pitch as u32)
    }

    /// Words that a slot holds.
    pub(crate) fn capacity<T: Word>(&self, slot: Slot) -> usize {
        self.slots[slot as usize].as_ref().map_or(0, |(_, bytes)| bytes / T::BYTES)
    }
}
