//! Memory on the device, kept from image to image.

use harris_core::Error;
use harris_gpu_kernels::Word;

use crate::device::{Buffer, Device};

/// What memory is for.
#[derive(Clone, Copy, Debug)]
pub(crate) enum Slot {
    Image,
    Mask,
    Taps,
    OtherTaps,
    Planes,
    OtherPlanes,
    GradientX,
    GradientY,
    Sums,
    OtherSums,
    Response,
    State,
    Counts,
    Candidates,
    Bins,
    Dividers,
    Keys,
    OtherKeys,
    Cells,
    Filed,
    Decisions,
    Shares,
    Keypoints,
    OtherKeypoints,
    KeypointMask,
    Integral,
    Bands,
    Layers,
    Triples,
    Frames,
    Tables,
    Descriptors,
    OtherDescriptors,
    Parts,
    Nearest,
}

const SLOTS: usize = Slot::Nearest as usize + 1;

/// One piece of memory a slot, as large as was ever needed.
#[derive(Debug)]
pub(crate) struct Workspace<D: Device> {
    slots: [Option<(D::Memory, usize)>; SLOTS],
    /// How many images' states, from the start of the slot `State` on, are as a walk needs them that makes lists by bins: these leave
    /// them so.
    pub(crate) clean_states: usize,
    /// Whether something may be foretold in them.
    pub(crate) foretold: bool,
}

impl<D: Device> Workspace<D> {
    pub(crate) fn new() -> Self {
        Self { slots: [const { None }; SLOTS], clean_states: 0, foretold: false }
    }

    /// Makes room for `len` words. What was there is lost where there was less room.
    pub(crate) fn fit<T: Word>(&mut self, device: &D, slot: Slot, len: usize) -> Result<(), Error> {
        // Whole words of 64 bits, and never nothing.
        let bytes = (T::BYTES * len).next_multiple_of(8).max(8);
        let place = &mut self.slots[slot as usize];
        if place.as_ref().is_some_and(|(_, room)| *room >= bytes) {
            return Ok(());
        }
        // First back, then anew: there may not be room for both.
        *place = None;
        *place = Some((device.allocate(bytes)?, bytes));
        Ok(())
    }

    /// The same, and what is new is zeros when the queue comes to it: for memory of which more is read than was written. Tells whether
    /// there is something new.
    pub(crate) fn fit_cleared<T: Word>(&mut self, device: &D, slot: Slot, len: usize) -> Result<bool, Error> {
        if self.room::<T>(slot) >= len {
            return Ok(false);
        }
        self.fit::<T>(device, slot, len)?;
        device.clear(self.buffer::<u32>(slot).memory, self.room::<u32>(slot))?;
        Ok(true)
    }

    /// Puts memory of others into a slot, until it is taken out; what was there is given back.
    pub(crate) fn put(&mut self, slot: Slot, memory: D::Memory, bytes: usize) {
        self.slots[slot as usize] = Some((memory, bytes));
    }

    /// Empties a slot.
    pub(crate) fn take(&mut self, slot: Slot) {
        self.slots[slot as usize] = None;
    }

    /// The memory of a slot.
    ///
    /// # Panics
    /// Where there is none.
    pub(crate) fn buffer<T: Word>(&self, slot: Slot) -> Buffer<'_, D::Memory, T> {
        let (memory, _) = self.slots[slot as usize].as_ref().expect("a slot is fitted before it is used");
        Buffer::new(memory)
    }

    /// Masks as kernels take them: the slot, or memory that is not looked at where rows are 0 bytes apart; and that distance.
    pub(crate) fn mask(&self, pitch: usize) -> (Buffer<'_, D::Memory, u8>, u32) {
        let slot = if pitch > 0 { Slot::Mask } else { Slot::State };
        (self.buffer(slot), pitch as u32)
    }

    /// The words that fit in a slot.
    pub(crate) fn room<T: Word>(&self, slot: Slot) -> usize {
        self.slots[slot as usize].as_ref().map_or(0, |(_, bytes)| bytes / T::BYTES)
    }
}
