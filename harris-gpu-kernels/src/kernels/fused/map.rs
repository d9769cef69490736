//! The responses of all pixels, as a walk comes by them.

use super::{EACH, Front, Lane, NEVER, Place, ROWS, Settings};
use crate::Simt;
use crate::abi::{fused, state as states};
use crate::kernels::threshold::Extent;

/// Leaves the response of each pixel, row after row without gaps, 0 where it is not valid; and in the state whether there is a sample that
/// images may not have, and, where that is asked for, the extent of valid responses.
#[inline(always)]
pub(super) fn map<S: Simt, F: Front<S>>(
    s: S,
    image: S::Buffer<F::Sample>,
    state: S::Buffer<u32>,
    to: S::Buffer<f32>,
    (set, tells_extent): (Settings, bool),
) {
    let reach = F::reach(&set);
    let lane = Lane::new(s, set, fused::side_of_map(reach as u32), F::AT_ONCE);
    let mut row = lane.top - reach;
    let mut front = F::new(&lane, image, row);
    // All traces are as great.
    front.listen(0.0);
    front.lead(&lane, row);
    let mut extent = if tells_extent { Some(Extent::NONE) } else { None };
    row = front.fill(&lane, row + (ROWS * F::LEADING) as i32);
    while row - reach < lane.bottom {
        front.take(&lane);
        step(&lane, &mut front, &mut extent, to, row, 0);
        front.ask(&lane, row, Place::Valid);
        step(&lane, &mut front, &mut extent, to, row + 1, 1);
        step(&lane, &mut front, &mut extent, to, row + 2, 2);
        row += ROWS as i32;
    }
    if !front.is_valid() {
        s.atomic_max(state, states::INVALID, 1);
    }
    if let Some(extent) = extent {
        extent.tell(s, state);
    }
}

/// One row down.
#[inline(always)]
fn step<S: Simt, F: Front<S>>(
    lane: &Lane<S>,
    front: &mut F,
    extent: &mut Option<Extent>,
    to: S::Buffer<f32>,
    row: i32,
    i: usize,
) {
    let y = row - F::reach(&lane.set);
    let place = Place::of(lane, y);
    let (_, mut responses) = front.step(lane, row, i, place);
    let width = lane.set.size.width;
    // All of its columns or none: they, and those that only lead to others, are multiples of as many.
    if !(lane.finds_in(y) && lane.finds(0) && (lane.x as u32) < width) {
        return;
    }
    let column = |i: usize| lane.x as u32 + i as u32;
    let frame = lane.set.frame;
    for i in 0..EACH {
        if lane.at_edge && (column(i) < frame || column(i) >= width.max(frame) - frame) {
            responses[i] = NEVER;
        } else if place.is_valid()
            && let Some(extent) = extent
        {
            extent.widen(responses[i]);
        }
    }
    let first = y as usize * width as usize;
    if width.is_multiple_of(fused::EACH) {
        lane.s.store_four(to, first + column(0) as usize, responses);
    } else {
        for i in 0..EACH {
            if column(i) < width {
                lane.s.store(to, first + column(i) as usize, responses[i]);
            }
        }
    }
}
