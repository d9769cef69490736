//! The sweep down a strip, from samples to corners or to written responses.

use super::arguments::Settings;
use super::corners::Corners;
use super::lane::{EACH, Lane, Place};
use super::source::Front;
use super::write::Writer;
use crate::Simt;
use crate::abi::fused::{self, ROWS};
use crate::abi::{measure as measures, state};
use crate::kernels::mask::Mask;

/// Zeros for what counts the image's bins once the walk is done.
#[inline(always)]
fn clear<S: Simt>(s: S, state: S::Buffer<u32>, tables: u32, counters: u32) {
    let start = (tables + s.block_row() * counters) as usize;
    let mut i = s.index();
    while i < counters {
        s.store(state, start + i as usize, 0);
        i += s.stride();
    }
}

/// Collects corners that exceed the threshold as far as it is known, and the greatest response. The radius of suppression
/// is 1 to `MOST`.
#[inline(always)]
pub(super) fn walk<S: Simt, F: Front<S>, const MOST: usize>(
    s: S,
    image: S::Buffer<F::Sample>,
    mask: Mask<S>,
    state: S::Buffer<u32>,
    keys: S::Buffer<u64>,
    counts: S::Buffer<u32>,
    (response, tells_extent): (S::Buffer<f32>, bool),
    set: Settings,
    (tables, counters): (u32, u32),
) {
    s.admit_next();
    // The row of the corners is `reach` rows higher than the one that is loaded, and so many columns lead to the first.
    let reach = F::reach(&set) + set.radius as i32;
    let writes = set.writes_responses();
    let side = if writes { fused::side_of_map(reach as u32) } else { F::side(reach as u32) };
    let mut lane = Lane::new(s, set, side, F::AT_ONCE);
    let piece = s.block_row() as usize * set.pieces as usize + (set.piece + s.block()) as usize;
    s.await_last();
    lane.set = F::settle(s, state, set);
    // First or last, as registers allow: those walks that have no loop for leading rows have none to spare at the end.
    if !F::LEADS && !writes {
        clear(s, state, tables, counters);
    }
    let mut row = lane.top - reach;
    let mut corners = Corners::<S>::new(&lane, state, keys, piece * set.room as usize);
    let mut writer = Writer::<S>::new(response, tells_extent);
    let mut front = F::new(&lane, image, row);
    if writes {
        // All traces are great enough.
        front.listen(0.0);
    } else {
        let least = corners.learn(&lane);
        listen(&lane, &mut front, least);
    }
    front.lead(&lane, row);
    row = front.fill(&lane, row + (ROWS * F::leading(&set)) as i32);
    let inside = lane.rows.saturating_sub(F::reach(&set) as u32 + 2 * ROWS as u32);
    while row - reach < lane.bottom {
        if !writes && let Some(least) = corners.talk(&lane) {
            listen(&lane, &mut front, least);
        }
        front.take(&lane);
        let highest = row - F::reach(&lane.set);
        if F::AT_ONCE {
            // Twice, as nearly all are inside, where there is less to do.
            let responses = if ((highest - lane.set.frame as i32) as u32) < inside {
                respond_at_once(&lane, mask, &mut front, &mut corners, row, |_| Place::Inside)
            } else {
                let place = |i| Place::of(&lane, highest + i);
                respond_at_once(&lane, mask, &mut front, &mut corners, row, place)
            };
            if writes {
                writer.write(&lane, responses[0], highest);
                writer.write(&lane, responses[1], highest + 1);
                writer.write(&lane, responses[2], highest + 2);
            } else {
                let centre = highest - lane.set.radius as i32;
                corners.suppress::<MOST>(&lane, mask, true, responses[0], centre);
                corners.suppress::<MOST>(&lane, mask, true, responses[1], centre + 1);
                corners.suppress::<MOST>(&lane, mask, true, responses[2], centre + 2);
            }
        } else {
            // As many as most rings are long and one more: so many turns bring rows back to the registers they had.
            step::<S, F, MOST>(&lane, mask, &mut front, (&mut corners, &mut writer), row, 0);
            ask(&lane, &mut front, &mut corners, row, Place::Valid);
            step::<S, F, MOST>(&lane, mask, &mut front, (&mut corners, &mut writer), row + 1, 1);
            step::<S, F, MOST>(&lane, mask, &mut front, (&mut corners, &mut writer), row + 2, 2);
        }
        row += ROWS as i32;
    }
    if writes {
        writer.tell_extent(s, state);
    } else {
        corners.tell(&lane);
        if F::LEADS {
            clear(s, state, tables, counters);
        }
        if s.lane() == 0 {
            s.store(counts, piece, corners.found);
        }
    }
    if !front.is_valid() {
        s.atomic_max(state, s.block_row() as usize * state::WORDS + state::INVALID, 1);
    }
}

/// Tells what the trace of the sums around a corner reaches at least, whose response exceeds a number.
#[inline(always)]
fn listen<S: Simt, F: Front<S>>(lane: &Lane<S>, front: &mut F, exceeded: f32) {
    let set = &lane.set;
    // A root that is not asked for would be drawn all the same: compilers do not remove it.
    if F::asks_trace(set) {
        let root = if set.measure == measures::HARRIS { lane.s.sqrt(exceeded) } else { exceeded };
        front.listen(root * set.reach);
    }
}

/// One row down.
#[inline(always)]
fn step<S: Simt, F: Front<S>, const MOST: usize>(
    lane: &Lane<S>,
    mask: Mask<S>,
    front: &mut F,
    (corners, writer): (&mut Corners<S>, &mut Writer<S>),
    row: i32,
    i: usize,
) {
    let of_response = row - F::reach(&lane.set);
    let (strong, responses) = respond(lane, mask, (front, corners), row, i, Place::of(lane, of_response));
    if lane.set.writes_responses() {
        writer.write(lane, responses, of_response);
        return;
    }
    corners.suppress::<MOST>(lane, mask, strong, responses, of_response - lane.set.radius as i32);
}

/// [`ROWS`] rows down, from `row` on: the responses, by the places of the first, the second and the third row of them.
#[inline(always)]
fn respond_at_once<S: Simt, F: Front<S>>(
    lane: &Lane<S>,
    mask: Mask<S>,
    front: &mut F,
    corners: &mut Corners<S>,
    row: i32,
    place: impl Fn(i32) -> Place,
) -> [[f32; EACH]; ROWS] {
    let (_, first) = respond(lane, mask, (front, corners), row, 0, place(0));
    ask(lane, front, corners, row, place(0));
    let (_, second) = respond(lane, mask, (front, corners), row + 1, 1, place(1));
    let (_, third) = respond(lane, mask, (front, corners), row + 2, 2, place(2));
    [first, second, third]
}

/// Asks for what the next turn needs, after the first row of this one, so that no one waits for these words who waits for those that were
/// asked for before.
#[inline(always)]
fn ask<S: Simt, F: Front<S>>(
    lane: &Lane<S>,
    front: &mut F,
    corners: &mut Corners<S>,
    row: i32,
    place: Place,
) {
    front.ask(lane, row, place);
    if lane.set.writes_responses() {
        return;
    }
    // Always in its first rows, when there is most to learn, then in about a quarter of the turns: a word that all ask for all the time
    // takes longer to come. Walks without leading rows have no register to tell by.
    if !F::LEADS || row < lane.top + 9 || row & 12 == 0 {
        corners.ask(lane);
    }
}

/// One row down: [`Front::step`]. The greatest response inside a mask need not be a corner's: a greater one beyond it may
/// suppress it. So it is looked for here.
#[inline(always)]
fn respond<S: Simt, F: Front<S>>(
    lane: &Lane<S>,
    mask: Mask<S>,
    (front, corners): (&mut F, &mut Corners<S>),
    row: i32,
    i: usize,
    place: Place,
) -> (bool, [f32; EACH]) {
    let (strong, responses) = front.step(lane, row, i, place);
    if strong && place.is_valid() && mask.exists() {
        let y = row - F::reach(&lane.set);
        if lane.finds_in(y) {
            corners.see_inside(lane, mask, front.columns(lane), y as u32, responses);
        }
    }
    (strong, responses)
}
