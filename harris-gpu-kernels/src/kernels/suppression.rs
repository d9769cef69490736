//! Corners: candidates that are the strongest around.

use super::geometry::Size;
use super::mask::Mask;
use super::thread_per_column::{AT_ONCE, Run, at_once};
use super::threshold::{is_sought, of_state};
use crate::Simt;
use crate::abi::fused::THINNING;
use crate::abi::{plateau, state};
use crate::simt::WARP;

/// Rings around a candidate that its thread looks through alone; the others the whole warp looks
/// through.
const ALONE: u32 = 4;

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
    behind: u32,
    margin: u32,
    radius: u32,
    plateau: u32,
    mask_pitch: u32,
) {
    let size = Size { width, height };
    let frame = (frame, behind);
    let field = Field { s, response, mask: Mask::new(s, mask, mask_pitch), size, frame, plateau };
    let threshold = f32::from_bits(s.load(state, state::THRESHOLD));
    let run = Run::new(s, size, rows);
    // All lanes of a warp go down as far, also those that are beyond the right edge.
    let (top, bottom) = (run.top as i32, size.height.min(run.top + rows) as i32);
    let last = size.pixels() - 1;
    // Of what lies beyond the edges any.
    let fetch = |y: i32| field.response(last.min(size.number(run.x, y as u32)));
    at_once(top, bottom, fetch, |y, responses: [f32; AT_ONCE]| {
        let mut strong = 0;
        for i in 0..AT_ONCE {
            strong |= u32::from(responses[i] > threshold) << i;
        }
        // Most are too small.
        strong = if run.x < width { strong } else { 0 };
        if !s.any(strong != 0) {
            return;
        }
        for row in 0..AT_ONCE as u32 {
            let (x, y) = (run.x, y as u32 + row);
            // As do all lanes of the warp.
            if y >= bottom as u32 {
                break;
            }
            let i = size.number(x, y);
            let is_candidate = strong >> row & 1 != 0 && size.within(margin, x, y) && field.is_sought(x, y);
            let stays = stays(field, is_candidate, (x, y), radius);
            append(s, state, keys, capacity, stays, || {
                u64::from(!field.response(i).to_bits()) << 32 | u64::from(i)
            });
        }
    });
}

/// Whether the candidate at x, y, if the thread has one, is the strongest around. All lanes of a
/// warp take part.
#[inline(always)]
fn stays<S: Simt>(field: Field<S>, is_candidate: bool, (x, y): (u32, u32), radius: u32) -> bool {
    let i = field.size.number(x, y);
    let mut stays = is_candidate && (radius == 0 || !field.is_exceeded(x, y));
    // From ring to ring outwards (Loundagin's spiral): most candidates lose to a neighbour.
    let mut ring = 1;
    while stays && ring <= radius && ring <= ALONE {
        let side = 2 * ring;
        for step in 0..4 * side {
            // Once around, from the upper left corner.
            let along = (step % side) as i32 - ring as i32;
            let far = ring as i32;
            let (dx, dy) = match step / side {
                0 => (along, -far),
                1 => (far, along),
                2 => (-along, far),
                _ => (-far, -along),
            };
            if field.beaten(i, x as i32, y as i32, dx, dy) {
                stays = false;
                break;
            }
        }
        ring += 1;
    }
    if radius > ALONE { stays_farther(field.s, field, stays, i, radius) } else { stays }
}

/// The lanes' candidates one after another, each with all lanes, a row of the neighbourhood at a
/// time.
#[inline(always)]
fn stays_farther<S: Simt>(s: S, field: Field<S>, stays: bool, own: u32, radius: u32) -> bool {
    let mut stays = stays;
    let mut open = s.ballot(stays);
    while open != 0 {
        let lane = 31 - (open & open.wrapping_neg()).leading_zeros();
        open &= open - 1;
        let beaten = is_beaten(s, field, s.shuffle(own, lane), radius);
        if s.lane() == lane && beaten {
            stays = false;
        }
    }
    stays
}

/// Whether the warp's candidate `i` loses to another, that all lanes look for, a row of the
/// neighbourhood at a time.
#[inline(always)]
fn is_beaten<S: Simt>(s: S, field: Field<S>, i: u32, radius: u32) -> bool {
    let (x, y) = field.size.place(i);
    let least = |at: u32| at - at.min(radius);
    let most = |at: u32, len: u32| if len - 1 - at < radius { len - 1 } else { at + radius };
    let (left, right) = (least(x), most(x, field.size.width));
    let mut v = least(y);
    while v <= most(y, field.size.height) {
        let mut beaten = false;
        let mut u = left + s.lane();
        while u <= right {
            beaten |= field.beaten(i, x as i32, y as i32, u as i32 - x as i32, v as i32 - y as i32);
            u += WARP;
        }
        if s.any(beaten) {
            return true;
        }
        v += 1;
    }
    false
}

pub(crate) fn thin<S: Simt>(
    s: S,
    response: S::Buffer<f32>,
    mask: S::Buffer<u8>,
    state: S::Buffer<u32>,
    keys: S::Buffer<u64>,
    counts: S::Buffer<u32>,
    pieces: u32,
    room: u32,
    width: u32,
    height: u32,
    frame: u32,
    radius: u32,
    plateau: u32,
    kind: u32,
    value: f64,
    mask_pitch: u32,
) {
    let size = Size { width, height };
    let frame = (frame, frame);
    let field = Field { s, response, mask: Mask::new(s, mask, mask_pitch), size, frame, plateau };
    let warp = s.index() / WARP;
    let piece = warp / THINNING;
    if piece >= pieces {
        return;
    }
    let threshold = of_state(s, state, 0, kind, value, s.load_constant(state, state::GREATEST));
    let count = s.load_constant(counts, piece as usize);
    let mut i = warp % THINNING;
    while i < count {
        let at = piece as usize * room as usize + i as usize;
        // The same for all lanes.
        let key = s.load(keys, at);
        let exceeds = f32::from_bits(!(key >> 32) as u32) > threshold;
        if exceeds && is_beaten(s, field, key as u32, radius) && s.lane() == 0 {
            s.store(keys, at, u64::MAX);
        }
        i += THINNING;
    }
}

/// Adds to the list the key of every thread that has one. All lanes of a warp take part.
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
        first = s.atomic_add(state, state::KEPT, present_lanes.count_ones());
    }
    let first = s.shuffle(first, 0);
    let place = first + (present_lanes & ((1 << s.lane()) - 1)).count_ones();
    if present && place < capacity {
        s.store(keys, place as usize, key());
    }
}

/// Responses, and where corners are sought among them.
#[derive(Clone, Copy)]
struct Field<S: Simt> {
    s: S,
    response: S::Buffer<f32>,
    mask: Mask<S>,
    size: Size,
    /// Widths of the frame that is not valid: before and behind.
    frame: (u32, u32),
    /// Of [`plateau`].
    plateau: u32,
}

impl<S: Simt> Field<S> {
    #[inline(always)]
    fn response(self, i: u32) -> f32 {
        self.s.load_constant(self.response, i as usize)
    }

    #[inline(always)]
    fn is_sought(self, x: u32, y: u32) -> bool {
        is_sought(self.mask, self.size, self.frame, x, y)
    }

    /// Whether one of the four next to the candidate at x, y has a greater response, as far as that
    /// is seen at once: most lose so, and wait for the four together.
    #[inline(always)]
    fn is_exceeded(self, x: u32, y: u32) -> bool {
        let Size { width, height } = self.size;
        let own = self.response(self.size.number(x, y));
        let beside =
            [(x.max(1) - 1, y), ((x + 1).min(width - 1), y), (x, y.max(1) - 1), (x, (y + 1).min(height - 1))];
        let [a, b, c, d] = beside.map(|(x, y)| self.response(self.size.number(x, y)));
        // What is not valid is 0, which exceeds no candidate.
        a.max(b).max(c.max(d)) > own
    }

    /// Whether the candidate `i` at x, y loses to the pixel dx, dy away: to a greater response, or,
    /// where one pixel of a plateau stays, to an equal one that comes before it.
    #[inline(always)]
    fn beaten(self, i: u32, x: i32, y: i32, dx: i32, dy: i32) -> bool {
        let (u, v) = ((x + dx) as u32, (y + dy) as u32);
        if u >= self.size.width || v >= self.size.height || (dx, dy) == (0, 0) {
            return false;
        }
        if !self.size.within_frame(self.frame, u, v) {
            return false;
        }
        let other = self.size.number(u, v);
        let (own, other_response) = (self.response(i), self.response(other));
        other_response > own || self.plateau == plateau::FIRST && other_response == own && other < i
    }
}
