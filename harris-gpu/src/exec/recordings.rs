//! Recordings of work that repeats: one call replays all of it.

use std::collections::VecDeque;

use harris_core::Error;

use super::context::Execution;
use super::workspace::Workspace;
use crate::device::Device;

/// Identifies work of a detector.
pub(crate) type Key = [u64; 9];

/// The most recordings of a detector: as many image sizes, or places in the device's memory, as an
/// application may alternate between.
const MAX_RECORDINGS: usize = 8;

/// A detector's recordings of work that returns an `L`, such as pending lists.
#[derive(Debug)]
pub(crate) struct Recordings<D: Device, L> {
    /// Keys of the latest work without a recording, latest first, with their epochs.
    recent: VecDeque<(Key, u64)>,
    /// Recordings; the one that was used last is at the end.
    recordings: Vec<Recorded<D, L>>,
}

#[derive(Debug)]
struct Recorded<D: Device, L> {
    work: (Key, u64),
    recording: D::Recording,
    lists: L,
}

/// What work is done with.
pub(crate) trait HasDevice<D> {
    fn device(&mut self) -> &mut D;
}

impl<D: Device> HasDevice<D> for Execution<'_, D> {
    fn device(&mut self) -> &mut D {
        self.device
    }
}

/// A device and its memory.
impl<D: Device> HasDevice<D> for (&mut D, &mut Workspace<D>) {
    fn device(&mut self) -> &mut D {
        self.0
    }
}

impl<D: Device, L: Clone> Recordings<D, L> {
    pub(crate) fn new() -> Self {
        Self { recent: VecDeque::new(), recordings: Vec::new() }
    }

    /// Does `work`, or replays a recording of it.
    ///
    /// Work of one key always makes the same calls; only the content of memory differs.
    pub(crate) fn run<C: HasDevice<D>>(
        &mut self,
        context: &mut C,
        key: Key,
        work: impl FnOnce(&mut C) -> Result<L, Error>,
    ) -> Result<L, Error> {
        let this = (key, context.device().recording_epoch());
        if let Some(place) = self.recordings.iter().position(|recorded| recorded.work == this) {
            self.recordings[place..].rotate_left(1);
            let recorded = self.recordings.last().expect("one at least");
            context.device().replay(&recorded.recording)?;
            return Ok(recorded.lists.clone());
        }
        // A recording takes time to make: only what repeats is recorded.
        if !self.recent.contains(&this) {
            self.recent.truncate(MAX_RECORDINGS - 1);
            self.recent.push_front(this);
            return work(context);
        }
        if !context.device().begin_recording()? {
            return work(context);
        }
        let lists = work(context);
        // A failure ends the recording as well: else later calls would be recorded.
        let recording = context.device().end_recording();
        let (lists, recording) = (lists?, recording?);
        context.device().replay(&recording)?;
        // Recordings of earlier epochs cannot be replayed any more.
        self.recordings.retain(|recorded| recorded.work.1 == this.1);
        if self.recordings.len() == MAX_RECORDINGS {
            self.recordings.remove(0);
        }
        self.recordings.push(Recorded { work: this, recording, lists: lists.clone() });
        Ok(lists)
    }
}
