//! Work that comes again and again, recorded to be asked for at once.

use std::collections::VecDeque;

use harris_core::Error;

use crate::corners::{Fetched, Search};
use crate::device::Device;

/// What tells work from other work of a detector.
pub(crate) type Key = [u64; 9];

/// Recordings that are kept: as many as an application may have of sizes, or of places in the device's memory where images lie by turns.
const MOST: usize = 8;

/// A detector's recordings.
#[derive(Debug)]
pub(crate) struct Recordings<D: Device> {
    /// What was asked for last, and not played.
    asked: VecDeque<(Key, u64)>,
    /// The one used last is the last.
    kept: Vec<Recorded<D>>,
}

#[derive(Debug)]
struct Recorded<D: Device> {
    work: (Key, u64),
    recording: D::Recording,
    fetched: Fetched<D>,
}

impl<D: Device> Recordings<D> {
    pub(crate) fn new() -> Self {
        Self { asked: VecDeque::new(), kept: Vec::new() }
    }

    /// Does `work`, which for one key asks for the same always, but for what memory holds.
    pub(crate) fn run(
        &mut self,
        search: &mut Search<'_, D>,
        key: Key,
        work: impl FnOnce(&mut Search<'_, D>) -> Result<Fetched<D>, Error>,
    ) -> Result<Fetched<D>, Error> {
        let this = (key, search.device.changes());
        if let Some(place) = self.kept.iter().position(|recorded| recorded.work == this) {
            self.kept[place..].rotate_left(1);
            let recorded = self.kept.last().expect("one at least");
            search.device.play(&recorded.recording)?;
            return Ok(recorded.fetched.clone());
        }
        // It takes time to record: it is done for what comes again.
        if !self.asked.contains(&this) {
            self.asked.truncate(MOST - 1);
            self.asked.push_front(this);
            return work(search);
        }
        if !search.device.record()? {
            return work(search);
        }
        let fetched = work(search);
        // In any case, or what comes next would be recorded, too.
        let recording = search.device.recorded();
        let (fetched, recording) = (fetched?, recording?);
        search.device.play(&recording)?;
        // Those of before a change are of no use any more.
        self.kept.retain(|recorded| recorded.work.1 == this.1);
        if self.kept.len() == MOST {
            self.kept.remove(0);
        }
        self.kept.push(Recorded { work: this, recording, fetched: fetched.clone() });
        Ok(fetched)
    }
}
