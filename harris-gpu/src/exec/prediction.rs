//! The states of images on the device, and the thresholds that one image predicts for the next.
//!
//! Under a relative threshold a sweep predicts a lower bound of the next image's greatest response,
//! and with it the threshold. The next sweep starts from it and verifies it. Where it does not
//! hold, the search is repeated without.

use harris_core::{Error, Threshold};
use harris_gpu_kernels::abi::{buckets, state};

use super::context::Execution;
use super::workspace::{ReadyStates, Slot};
use crate::device::{Device, RowSource, Rows};

impl<D: Device> Execution<'_, D> {
    /// Whether a sweep predicts the next image's threshold. An image `is_repeatable` where it stays
    /// on the device until the prediction that its own sweep used is verified.
    pub(crate) fn predicts_threshold(&self, is_repeatable: bool) -> bool {
        match self.context.config.threshold() {
            // Images of a batch need not be alike, and all would be searched again.
            Threshold::Relative(_) => is_repeatable && self.images() == 1,
            Threshold::Absolute(_) | Threshold::None | Threshold::Rosin { .. } => false,
        }
    }

    /// Where the counters of buckets begin, and how many words an image has of them. Sweeps clear
    /// them: so few words cost a sweep less time than a call to clear them.
    pub(crate) fn counters(&self) -> (u32, u32) {
        (self.state_words() as u32, self.counter_words())
    }

    /// Words of all states, behind which the counters of buckets lie.
    fn state_words(&self) -> usize {
        state::WORDS * self.images()
    }

    fn counter_words(&self) -> u32 {
        self.buckets().map_or(0, |buckets| buckets::counters(buckets as u32))
    }

    fn words(&self) -> usize {
        self.state_words() + self.counter_words() as usize * self.images()
    }

    /// Clears the states, and makes room for the counters of buckets.
    pub(crate) fn clear_states(&mut self) -> Result<(), Error> {
        self.workspace.ready.images = 0;
        let words = self.words();
        self.workspace.fit::<u32>(self.device, Slot::State, words)?;
        self.device.clear(self.workspace.buffer::<u32>(Slot::State).memory, self.state_words())
    }

    /// Prepares the states for a sweep: clears them unless the last execution left them ready.
    ///
    /// A prediction in them is used only where this execution `predicts` as well: only then the image
    /// stays until it is verified.
    pub(crate) fn prepare_states(&mut self, predicts: bool) -> Result<(), Error> {
        let fits = self.workspace.capacity::<u32>(Slot::State) >= self.words();
        let ready = self.workspace.ready.images;
        self.workspace.ready.images = 0;
        let is_usable = predicts || !self.workspace.ready.have_prediction;
        // Lists made by buckets only write their length, so that it need not be cleared.
        if fits && is_usable && ready >= self.images() && self.buckets().is_some() {
            Ok(())
        } else {
            self.clear_states()
        }
    }

    /// Notes that the lists asked for leave the states ready for the next sweep.
    pub(crate) fn keep_states(&mut self, predicts: bool) {
        if self.buckets().is_some() {
            self.workspace.ready = ReadyStates { images: self.images(), have_prediction: predicts };
        }
    }

    /// Writes the states.
    pub(crate) fn set_states(&mut self, states: &[[u32; state::WORDS]]) -> Result<(), Error> {
        self.workspace.ready.images = 0;
        let memory = self.workspace.buffer::<u32>(Slot::State).memory;
        self.device.upload(memory, Rows::copied(&RowSource::words(states), 1))
    }
}

/// Whether the prediction that a sweep used holds: the greatest response exceeds what was
/// predicted. True where it used none.
pub(crate) fn is_verified(state: &[u32; state::WORDS]) -> bool {
    state[state::PREDICTED] == 0 || state[state::GREATEST_RESPONSE] > state[state::PREDICTED]
}
