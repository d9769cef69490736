//! How much memory lists get: by bounds, and by what earlier images had.

use harris_core::{HarrisConfig, Plateau};
use harris_gpu_kernels::abi::{border_band, buckets, state};

use crate::plan::{BorderBand, Shape};

/// The least number of buckets that lists are sorted by; all numbers are powers of two.
const MIN_BUCKETS: usize = 1024;

/// The shortest part of a list that is fetched together with its length, in keypoints.
const MIN_FETCHED: usize = 1024;

/// Keys that a bucket holds.
pub(crate) const KEYS_PER_BUCKET: usize = buckets::CAPACITY as usize;

/// The most keys that all buckets together hold: 128 MiB. Batches of very many small images are
/// sorted by merging.
const MAX_BUCKETED_KEYS: usize = 16 << 20;

/// Lists of candidates on the device, one a work tile.
#[derive(Clone, Copy, Debug)]
pub(crate) struct CandidateLists {
    /// Lists of each image.
    pub(crate) count: usize,
    /// Candidates that each list holds.
    pub(crate) capacity: usize,
}

/// Memory for the lists of images of one size, by what earlier images had.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Capacity {
    size: (u32, u32),
    /// Corners that the list of an image holds.
    pub(crate) corners: usize,
    /// Corners of the last list.
    pub(crate) last_corners: usize,
    /// Corners of the last list before those too near to others were removed.
    pub(crate) last_sorted: usize,
    /// The number of buckets, in equal steps of responses, at which one overflowed; 0 where none
    /// did.
    overflowed_buckets: usize,
    /// Images, from the first on, whose splitters are on the device.
    pub(crate) split_images: usize,
}

impl Capacity {
    /// As much as most images need. Where a list is longer, its length is counted and the work is
    /// done again.
    pub(crate) fn new(config: &HarrisConfig, shape: &Shape) -> Self {
        let most = |len: u32| most_in_line(len as usize, config, config.suppression_radius());
        Self {
            size: (shape.width, shape.height),
            corners: (most(shape.width) * most(shape.height)).min(shape.pixels() / 600 + 1024),
            last_corners: 0,
            last_sorted: 0,
            overflowed_buckets: 0,
            split_images: 0,
        }
    }

    /// Whether this is for images of the shape's size.
    pub(crate) fn is_for_size_of(&self, shape: &Shape) -> bool {
        self.size == (shape.width, shape.height)
    }

    /// Grows where lists or buckets overflowed; returns whether they did.
    pub(crate) fn grow(&mut self, states: &[[u32; state::WORDS]]) -> bool {
        let most = |word: usize| states.iter().map(|state| state[word] as usize).max().unwrap_or(0);
        if most(state::BUCKET_OVERFLOW) > 0 {
            // The length is then unknown. Where buckets between splitters overflowed, equal steps
            // are tried again.
            self.overflowed_buckets = if self.uses_splitters(states.len()) { 0 } else { self.buckets() };
            return true;
        }
        let corners = most(state::LENGTH);
        let overflowed = corners > self.corners;
        if overflowed {
            self.corners = corners + corners / 4;
        }
        overflowed
    }

    /// The number of buckets for the lists of `images` images; `None` where these would take too
    /// much memory.
    pub(crate) fn buckets_of(&self, images: usize) -> Option<usize> {
        let buckets = self.buckets();
        (buckets * KEYS_PER_BUCKET * images <= MAX_BUCKETED_KEYS).then_some(buckets)
    }

    /// The number of buckets that sorts lists best: a few keys each.
    fn buckets(&self) -> usize {
        (round_up(self.last_sorted) / 4).clamp(MIN_BUCKETS, buckets::MAX as usize)
    }

    /// Whether buckets in equal steps of responses overflowed.
    pub(crate) fn needs_splitters(&self) -> bool {
        self.buckets() <= self.overflowed_buckets
    }

    /// Whether the buckets of `images` images lie between splitters, keys of earlier lists that
    /// divide these evenly.
    pub(crate) fn uses_splitters(&self, images: usize) -> bool {
        self.needs_splitters() && images <= self.split_images
    }

    /// Keypoints that are fetched together with their number.
    pub(crate) fn expected_corners(&self) -> usize {
        round_up(self.last_corners).max(MIN_FETCHED)
    }

    /// Numbers that identify a recording: all of the capacity that launches depend on.
    pub(crate) fn key(&self, images: usize) -> [u64; 2] {
        let splits = u64::from(self.uses_splitters(images));
        [(self.corners as u64) << 32 | self.expected_corners() as u64, 2 * self.buckets() as u64 + splits]
    }
}

/// One number for many lists that follow each other: an eighth more, up to a power of two.
pub(crate) fn round_up(len: usize) -> usize {
    (len + len / 8).next_power_of_two()
}

/// Upper bound on the corners along a line of `len` pixels behind suppression within a radius.
///
/// Corners are farther apart than the radius, unless all of a plateau stay.
pub(crate) fn most_in_line(len: usize, config: &HarrisConfig, radius: usize) -> usize {
    match config.plateau() {
        Plateau::First => len.div_ceil(radius.min(len) + 1),
        Plateau::All => len,
    }
}

/// Upper bound on the candidates of a tile of a border band.
pub(crate) fn band_tile_capacity(band: BorderBand, config: &HarrisConfig) -> usize {
    let most = |len: usize| most_in_line(len, config, band.suppression);
    most(border_band::TILE as usize) * most(band.depth() as usize)
}
