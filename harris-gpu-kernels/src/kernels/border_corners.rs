//! Corners among the responses of a tile of the border band.

use super::border_area::{Area, Field};
use super::geometry::Size;
use super::mask::Mask;
use super::number::to_ordered_bits;
use super::threshold::threshold_bound;
use crate::Simt;
use crate::abi::border_band::TILE;
use crate::abi::{plateau, state};
use crate::simt::WARP;

// Each lane has a column of a tile, and later a row.
const _: () = assert!(TILE == WARP);

/// The response of pixels where no corner may lie: corners have greater ones.
const NO_CANDIDATE: f32 = 0.0;

/// Where the kernel writes corners, or responses if `capacity` is 0.
#[derive(Clone, Copy)]
pub(super) struct Output<S: Simt> {
    pub(super) state: S::Buffer<u32>,
    pub(super) keys: S::Buffer<u64>,
    /// The number of corners of each block.
    pub(super) counts: S::Buffer<u32>,
    /// Least distance of corners from the edges.
    pub(super) margin: u32,
    /// A rule of [`plateau`].
    pub(super) plateau: u32,
    /// A kind of [`abi::threshold`](crate::abi::threshold), and its value.
    pub(super) threshold_kind: u32,
    pub(super) threshold_value: f32,
    /// Index of the first block's tile among the image's tiles, and their number.
    pub(super) first_tile: u32,
    pub(super) tiles: u32,
    /// Keys that the list of a tile can hold.
    pub(super) capacity: u32,
}

/// Writes the keys of the tile's corners, and updates the greatest response of the image.
#[inline(always)]
pub(super) fn find_corners<S: Simt>(
    s: S,
    tile: Area,
    responses: Field<S>,
    mask: Mask<S>,
    radius: u32,
    output: Output<S>,
) {
    let size = responses.size;
    let greatest_of_image = s.block_row() as usize * state::WORDS + state::GREATEST_RESPONSE;
    let found_so_far = s.load_relaxed(output.state, greatest_of_image);
    let bound = threshold_bound(output.threshold_kind, output.threshold_value, found_so_far);
    let mut greatest = NO_CANDIDATE;
    let mut row = s.warp();
    while row < TILE {
        let (x, y) = (tile.left + s.lane(), tile.top + row);
        let may_be_corner = tile.contains(x, y) && mask.allows_in_stack(size.height, x, y);
        let own = if may_be_corner { responses.get(x, y) } else { NO_CANDIDATE };
        greatest = if own > greatest { own } else { greatest };
        let is_corner = own > bound
            && size.within(output.margin, x, y)
            && is_strongest(responses, x, y, radius, output.plateau);
        let corners = s.ballot(is_corner);
        if s.lane() == 0 {
            s.set_shared_word(row, corners);
        }
        row += s.threads() / WARP;
    }
    let mut greatest = to_ordered_bits(greatest);
    if s.any(greatest > found_so_far.max(to_ordered_bits(NO_CANDIDATE))) {
        let mut delta = WARP / 2;
        while delta > 0 {
            greatest = greatest.max(s.shuffle_xor(greatest, delta));
            delta /= 2;
        }
        if s.lane() == 0 {
            s.atomic_max(output.state, greatest_of_image, greatest);
        }
    }
    s.barrier();
    if s.warp() == 0 {
        write_keys(s, tile, responses, output);
    }
}

/// Writes the keys of the corners found; each lane writes those of one row.
#[inline(always)]
fn write_keys<S: Simt>(s: S, tile: Area, responses: Field<S>, output: Output<S>) {
    let mut corners = s.shared_word(s.lane());
    let mut through = corners.count_ones();
    let mut delta = 1;
    while delta < WARP {
        through = s.add_lane_below(through, delta);
        delta *= 2;
    }
    let index_of_tile = (s.block_row() * output.tiles + output.first_tile + s.block()) as usize;
    let mut index = through - corners.count_ones();
    let y = tile.top + s.lane();
    while corners != 0 && index < output.capacity {
        let x = tile.left + 31 - (corners & corners.wrapping_neg()).leading_zeros();
        let response = responses.get::<u32>(x, y);
        let key = u64::from(!response) << 32 | u64::from(responses.size.index(x, y));
        s.store(output.keys, index_of_tile * output.capacity as usize + index as usize, key);
        corners &= corners - 1;
        index += 1;
    }
    if s.lane() == WARP - 1 {
        s.store(output.counts, index_of_tile, through);
    }
}

/// Whether no response within `radius` is greater than that at `x`, `y`.
///
/// If only the first pixel of a plateau is a corner, no earlier response may be equal either.
#[inline(always)]
fn is_strongest<S: Simt>(responses: Field<S>, x: u32, y: u32, radius: u32, plateau: u32) -> bool {
    let own: f32 = responses.get(x, y);
    let Size { width, height } = responses.size;
    let mut v = y.saturating_sub(radius);
    while v <= (y + radius).min(height - 1) {
        let mut u = x.saturating_sub(radius);
        while u <= (x + radius).min(width - 1) {
            let other: f32 = responses.get(u, v);
            let is_before = v < y || v == y && u < x;
            if other > own || plateau == plateau::FIRST && other == own && is_before {
                return false;
            }
            u += 1;
        }
        v += 1;
    }
    true
}
