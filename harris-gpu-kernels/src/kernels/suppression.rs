//! Non-maximum suppression: corners are candidates with the greatest response in their
//! neighbourhood.

use super::geometry::Size;
use super::mask::Mask;
use super::thread_per_column::{ColumnSweep, ROWS_AT_ONCE, sweep_groups};
use super::threshold::{is_candidate_pixel, threshold_of_image};
use crate::Simt;
use crate::abi::fused::SUPPRESSION_WARPS;
use crate::abi::{plateau, state};
use crate::simt::WARP;

/// Greatest radius that a candidate's thread searches alone; the whole warp searches greater ones.
const MAX_THREAD_RADIUS: u32 = 4;

/// Appends the keys of corners to a list, in no particular order.
pub(crate) fn suppress<S: Simt>(
    s: S,
    response: S::Buffer<f32>,
    mask: S::Buffer<u8>,
    state: S::Buffer<u32>,
    keys: S::Buffer<u64>,
    capacity: u32,
    width: u32,
    height: u32,
    rows: u32,
    frame: u32,
    frame_behind: u32,
    margin: u32,
    radius: u32,
    plateau: u32,
    mask_pitch: u32,
) {
    let size = Size { width, height };
    let frame = (frame, frame_behind);
    let field = Field { s, response, mask: Mask::new(s, mask, mask_pitch), size, frame, plateau };
    let threshold = f32::from_bits(s.load(state, state::THRESHOLD));
    let sweep = ColumnSweep::new(s, size, rows);
    // All lanes of a warp process the same rows, also those whose column lies outside the image.
    let (top, bottom) = (sweep.top as i32, size.height.min(sweep.top + rows) as i32);
    let last = size.pixels() - 1;
    // For pixels outside the image this reads any response.
    let fetch = |y: i32| field.response(last.min(size.index(sweep.x, y as u32)));
    sweep_groups(top, bottom, fetch, |y, responses: [f32; ROWS_AT_ONCE]| {
        let mut candidates = 0;
        for i in 0..ROWS_AT_ONCE {
            candidates |= u32::from(responses[i] > threshold) << i;
        }
        // Most responses are below the threshold.
        candidates = if sweep.x < width { candidates } else { 0 };
        if !s.any(candidates != 0) {
            return;
        }
        for row in 0..ROWS_AT_ONCE as u32 {
            let (x, y) = (sweep.x, y as u32 + row);
            // All lanes of the warp leave together.
            if y >= bottom as u32 {
                break;
            }
            let i = size.index(x, y);
            let is_candidate =
                candidates >> row & 1 != 0 && size.within(margin, x, y) && field.is_candidate_pixel(x, y);
            let is_corner = is_maximum(field, is_candidate, (x, y), radius);
            append(s, state, keys, capacity, is_corner, || {
                u64::from(!field.response(i).to_bits()) << 32 | u64::from(i)
            });
        }
    });
}

/// Whether the thread has a candidate, at `x`, `y`, and it has the greatest response within
/// `radius`.
///
/// All lanes of a warp take part.
#[inline(always)]
fn is_maximum<S: Simt>(field: Field<S>, is_candidate: bool, (x, y): (u32, u32), radius: u32) -> bool {
    let i = field.size.index(x, y);
    let mut is_maximum = is_candidate && (radius == 0 || !field.has_greater_neighbour(x, y));
    // Ring by ring outwards (Loundagin's spiral): most candidates have a greater neighbour nearby.
    let mut ring = 1;
    while is_maximum && ring <= radius && ring <= MAX_THREAD_RADIUS {
        let side = 2 * ring;
        for step in 0..4 * side {
            // Around the ring, from its upper left pixel.
            let along = (step % side) as i32 - ring as i32;
            let distance = ring as i32;
            let (dx, dy) = match step / side {
                0 => (along, -distance),
                1 => (distance, along),
                2 => (-along, distance),
                _ => (-distance, -along),
            };
            if field.is_suppressed_by(i, x as i32, y as i32, dx, dy) {
                is_maximum = false;
                break;
            }
        }
        ring += 1;
    }
    if radius > MAX_THREAD_RADIUS {
        is_maximum_of_warp(field.s, field, is_maximum, i, radius)
    } else {
        is_maximum
    }
}

/// Whether the lane has a candidate, pixel `own`, and it has the greatest response within `radius`.
///
/// The lanes' candidates are processed one after another, each by all lanes.
#[inline(always)]
fn is_maximum_of_warp<S: Simt>(s: S, field: Field<S>, is_candidate: bool, own: u32, radius: u32) -> bool {
    let mut is_maximum = is_candidate;
    let mut undecided = s.ballot(is_maximum);
    while undecided != 0 {
        let lane = 31 - (undecided & undecided.wrapping_neg()).leading_zeros();
        undecided &= undecided - 1;
        let suppressed = is_suppressed(s, field, s.shuffle(own, lane), radius);
        if s.lane() == lane && suppressed {
            is_maximum = false;
        }
    }
    is_maximum
}

/// Whether the warp's candidate, pixel `i`, is suppressed by a pixel within `radius`.
///
/// All lanes search for one, a row of the neighbourhood at a time.
#[inline(always)]
fn is_suppressed<S: Simt>(s: S, field: Field<S>, i: u32, radius: u32) -> bool {
    let (x, y) = field.size.place(i);
    let least = |at: u32| at - at.min(radius);
    let most = |at: u32, len: u32| if len - 1 - at < radius { len - 1 } else { at + radius };
    let (left, right) = (least(x), most(x, field.size.width));
    let mut v = least(y);
    while v <= most(y, field.size.height) {
        let mut suppressed = false;
        let mut u = left + s.lane();
        while u <= right {
            suppressed |=
                field.is_suppressed_by(i, x as i32, y as i32, u as i32 - x as i32, v as i32 - y as i32);
            u += WARP;
        }
        if s.any(suppressed) {
            return true;
        }
        v += 1;
    }
    false
}

/// Replaces the keys of candidates that are suppressed by a pixel within `radius` by keys of no
/// response.
///
/// The fused kernels have suppressed within a smaller radius.
pub(crate) fn suppress_candidates<S: Simt>(
    s: S,
    response: S::Buffer<f32>,
    mask: S::Buffer<u8>,
    state: S::Buffer<u32>,
    keys: S::Buffer<u64>,
    counts: S::Buffer<u32>,
    tiles: u32,
    capacity: u32,
    width: u32,
    height: u32,
    frame: u32,
    radius: u32,
    plateau: u32,
    threshold_kind: u32,
    threshold_value: f64,
    mask_pitch: u32,
) {
    let size = Size { width, height };
    let frame = (frame, frame);
    let field = Field { s, response, mask: Mask::new(s, mask, mask_pitch), size, frame, plateau };
    let warp = s.index() / WARP;
    let tile = warp / SUPPRESSION_WARPS;
    if tile >= tiles {
        return;
    }
    let threshold = threshold_of_image(
        s,
        state,
        0,
        threshold_kind,
        threshold_value,
        s.load_constant(state, state::GREATEST_RESPONSE),
    );
    let count = s.load_constant(counts, tile as usize);
    let mut i = warp % SUPPRESSION_WARPS;
    while i < count {
        let at = tile as usize * capacity as usize + i as usize;
        // All lanes read the same key.
        let key = s.load(keys, at);
        let exceeds = f32::from_bits(!(key >> 32) as u32) > threshold;
        if exceeds && is_suppressed(s, field, key as u32, radius) && s.lane() == 0 {
            s.store(keys, at, u64::MAX);
        }
        i += SUPPRESSION_WARPS;
    }
}

/// Appends the keys of the threads that have one to the list. All lanes of a warp take part.
#[inline(always)]
fn append<S: Simt>(
    s: S,
    state: S::Buffer<u32>,
    keys: S::Buffer<u64>,
    capacity: u32,
    present: bool,
    key: impl Fn() -> u64,
) {
    let present_lanes = s.ballot(present);
    if present_lanes == 0 {
        return;
    }
    let mut first = 0;
    if s.lane() == 0 {
        first = s.atomic_add(state, state::LENGTH, present_lanes.count_ones());
    }
    let first = s.shuffle(first, 0);
    let index = first + (present_lanes & ((1 << s.lane()) - 1)).count_ones();
    if present && index < capacity {
        s.store(keys, index as usize, key());
    }
}

/// A response map, and the rules for corners in it.
#[derive(Clone, Copy)]
struct Field<S: Simt> {
    s: S,
    response: S::Buffer<f32>,
    mask: Mask<S>,
    size: Size,
    /// Width of the frame without valid responses: at the left and upper edges, and at the others.
    frame: (u32, u32),
    /// A rule of [`plateau`].
    plateau: u32,
}

impl<S: Simt> Field<S> {
    /// The response of pixel `i`.
    #[inline(always)]
    fn response(self, i: u32) -> f32 {
        self.s.load_constant(self.response, i as usize)
    }

    /// Whether a corner may lie at `x`, `y`.
    #[inline(always)]
    fn is_candidate_pixel(self, x: u32, y: u32) -> bool {
        is_candidate_pixel(self.mask, self.size, self.frame, x, y)
    }

    /// Whether one of the four nearest pixels has a greater response than the candidate at `x`,
    /// `y`.
    ///
    /// This rejects most candidates, with loads that overlap.
    #[inline(always)]
    fn has_greater_neighbour(self, x: u32, y: u32) -> bool {
        let Size { width, height } = self.size;
        let own = self.response(self.size.index(x, y));
        let neighbours =
            [(x.max(1) - 1, y), ((x + 1).min(width - 1), y), (x, y.max(1) - 1), (x, (y + 1).min(height - 1))];
        let [a, b, c, d] = neighbours.map(|(x, y)| self.response(self.size.index(x, y)));
        // Responses that are not valid are 0, less than those of candidates.
        a.max(b).max(c.max(d)) > own
    }

    /// Whether the pixel `dx` to the right and `dy` below suppresses the candidate at `x`, `y`,
    /// pixel `i`.
    ///
    /// It does if its response is greater; or equal, if it comes earlier and only the first pixel
    /// of a plateau is a corner.
    #[inline(always)]
    fn is_suppressed_by(self, i: u32, x: i32, y: i32, dx: i32, dy: i32) -> bool {
        let (u, v) = ((x + dx) as u32, (y + dy) as u32);
        if u >= self.size.width || v >= self.size.height || (dx, dy) == (0, 0) {
            return false;
        }
        if !self.size.within_frame(self.frame, u, v) {
            return false;
        }
        let other = self.size.index(u, v);
        let (own, other_response) = (self.response(i), self.response(other));
        other_response > own || self.plateau == plateau::FIRST && other_response == own && other < i
    }
}
