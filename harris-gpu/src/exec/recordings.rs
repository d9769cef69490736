//! Recordings of work that repeats: one call replays all of it.

use std::collections::VecDeque;

use harris_core::Error;

use super::context::{Execution, PendingLists};
use crate::device::Device;

/// Identifies work of a detector.
pub(crate) type Key = [u64; 9];

/// The most recordings of a detector: as many image sizes, or places in the device's memory, as an
/// application may alternate between.
const MAX_RECORDINGS: usize = 8;

/// A detector's recordings.
#[derive(Debug)]
pub(crate) struct Recordings<D: Device> {
    /// Keys of the latest work without a recording, latest first, with their epochs.
    recent: VecDeque<(Key, u64)>,
    /// Recordings; the one that was used last is at the end.
    recordings: Vec<Recorded<D>>,
}

#[derive(Debug)]
struct Recorded<D: Device> {
    work: (Key, u64),
    recording: D::Recording,
    lists: PendingLists<D>,
}

impl<D: Device> Recordings<D> {
    pub(crate) fn new() -> Self {
        Self { recent: VecDeque::new(), recordings: Vec::new() }
    }

    /// Does `work`, or replays a recording of it.
    ///
    /// Work of one key always makes the same calls; only the content of memory differs.
    pub(crate) fn run(
        &mut self,
        execution: &mut Execution<'_, D>,
        key: Key,
        work: impl FnOnce(&mut Execution<'_, D>) -> Result<PendingLists<D>, Error>,
    ) -> Result<PendingLists<D>, Error> {
        let this = (key, execution.device.recording_epoch());
        if let Some(place) = self.recordings.iter().position(|recorded| recorded.work == this) {
            self.recordings[place..].rotate_left(1);
            let recorded = self.recordings.last().expect("one at least");
            execution.device.replay(&recorded.recording)?;
            return Ok(recorded.lists.clone());
        }
        // A recording takes time to make: only what repeats is recorded.
        if !self.recent.contains(&this) {
            self.recent.truncate(MAX_RECORDINGS - 1);
            self.recent.push_front(this);
            return work(execution);
        }
        if !execution.device.begin_recording()? {
            return work(execution);
        }
        let lists = work(execution);
        // A failure ends the recording as well: else later calls would be recorded.
        let recording = execution.device.end_recording();
        let (lists, recording) = (lists?, recording?);
        execution.device.replay(&recording)?;
        // Recordings of earlier epochs cannot be replayed any more.
        self.recordings.retain(|recorded| recorded.work.1 == this.1);
        if self.recordings.len() == MAX_RECORDINGS {
            self.recordings.remove(0);
        }
        self.recordings.push(Recorded { work: this, recording, lists: lists.clone() });
        Ok(lists)
    }
}
