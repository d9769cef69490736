//! What a thread has found, and the bounds that the threads of an image share.

use std::sync::atomic::{AtomicU32, Ordering};

use harris_core::pipeline::selection::Key;
use harris_core::pipeline::threshold;
use harris_core::{Error, HarrisConfig, Plateau, Threshold};

use super::list_bound::{CertainResponses, ListBound, SearchedArea};

/// The rules by which a sweep takes candidates and corners.
#[derive(Clone, Copy, Debug)]
pub(crate) struct SearchRules {
    /// Suppression radius in pixels.
    pub(crate) radius: usize,
    pub(crate) plateau: Plateau,
    /// Pixels along the image's edges without corners.
    pub(crate) margin: usize,
    pub(crate) threshold: Threshold,
}

impl SearchRules {
    /// Of a sweep that only writes a response map.
    pub(crate) const NO_CORNERS: Self =
        Self { radius: 0, plateau: Plateau::First, margin: 0, threshold: Threshold::Absolute(f32::MAX) };

    pub(crate) fn of(config: &HarrisConfig) -> Self {
        Self {
            radius: config.suppression_radius(),
            plateau: config.plateau(),
            margin: config.margin(),
            threshold: config.threshold(),
        }
    }
}

/// What a thread has found.
#[derive(Debug, Default)]
pub(crate) struct Peaks {
    /// Peaks above the threshold as far as the thread knows it, in no order.
    pub(crate) peaks: Vec<Key>,
    /// The greatest response where corners are sought, as far as the thread knows it; 0 where none
    /// is positive.
    pub(crate) greatest: f32,
    /// A bound that all corners of a list cut short by `max_corners` exceed, as far as the thread
    /// knows it.
    floor: f32,
    pub(crate) list_bound: ListBound,
    /// The number of the thread among those that share the image.
    pub(crate) thread: usize,
}

impl Peaks {
    /// Begins an image as thread `thread` of `threads`.
    pub(crate) fn begin(&mut self, config: &HarrisConfig, (thread, threads): (usize, usize)) {
        self.peaks.clear();
        (self.greatest, self.floor) = (0.0, 0.0);
        self.list_bound.begin(config, threads);
        self.thread = thread;
    }

    /// Raises the floor of a list that `max_corners` cuts short, where the corners of `area` allow
    /// it.
    pub(crate) fn raise_floor(
        &mut self,
        config: &HarrisConfig,
        area: &SearchedArea,
        shared: &SharedBound,
    ) -> Result<(), Error> {
        let Self { peaks, floor, list_bound, .. } = self;
        if let Some(raised) = list_bound.raised_floor(peaks, config, *floor, area, &shared.certain)? {
            *floor = floor.max(raised);
        }
        Ok(())
    }

    /// A lower bound on the final threshold: no corner of the list has a response at or below it.
    pub(crate) fn threshold(&self, threshold: Threshold) -> f32 {
        let threshold = match threshold {
            Threshold::Absolute(value) => value,
            Threshold::Relative(quality) => threshold::relative(quality, self.greatest).unwrap_or(0.0),
            Threshold::Rosin { .. } | Threshold::None => 0.0,
        };
        threshold.max(self.floor)
    }
}

/// Bounds that all threads of an image share: what one has found spares the others candidates.
#[derive(Debug, Default)]
pub(crate) struct SharedBound {
    greatest: AtomicMax,
    floor: AtomicMax,
    certain: CertainResponses,
}

impl SharedBound {
    /// Begins an image that so many threads share.
    pub(crate) fn begin(&mut self, threads: usize) {
        (self.greatest, self.floor) = Default::default();
        self.certain.begin(threads);
    }

    /// Raises the shared bounds to those of a thread, and the thread's to the shared ones.
    pub(crate) fn exchange(&self, found: &mut Peaks) {
        found.greatest = self.greatest.raise(found.greatest);
        found.floor = self.floor.raise(found.floor);
    }
}

/// The greatest of some numbers, none of which is negative.
#[derive(Debug, Default)]
struct AtomicMax(AtomicU32);

impl AtomicMax {
    /// Raises it to `other` where that is greater; returns the greater of both.
    fn raise(&self, other: f32) -> f32 {
        // The bits of floats that are not negative are ordered as the floats are.
        let greatest = f32::from_bits(self.0.load(Ordering::Relaxed));
        if other > greatest {
            self.0.fetch_max(other.to_bits(), Ordering::Relaxed);
        }
        other.max(greatest)
    }
}
