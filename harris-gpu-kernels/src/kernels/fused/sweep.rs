//! The sweep down a strip, from samples to corners or to written responses.

use super::arguments::SweepArguments;
use super::corner_suppression::CornerSuppression;
use super::lane::{LANE_COLUMNS, Lane, RowKind};
use super::response_writer::ResponseWriter;
use super::source::ResponseSource;
use crate::Simt;
use crate::abi::fused::{self, ROWS};
use crate::abi::{measure as measures, state};
use crate::kernels::choices::knows_all_measures;
use crate::kernels::mask::Mask;

/// Clears the counters of the image's buckets.
#[inline(always)]
fn clear<S: Simt>(s: S, state: S::Buffer<u32>, counters_start: u32, counters: u32) {
    let start = (counters_start + s.block_row() * counters) as usize;
    let mut i = s.index();
    while i < counters {
        s.store(state, start + i as usize, 0);
        i += s.stride();
    }
}

/// Finds the corners of a tile, or writes its responses.
///
/// Candidates exceed the best threshold known at the time. The radius of suppression is at most
/// `MAX_RADIUS`.
#[inline(always)]
pub(super) fn sweep<S: Simt, F: ResponseSource<S>, const MAX_RADIUS: usize>(
    s: S,
    image: S::Buffer<F::Sample>,
    mask: Mask<S>,
    state: S::Buffer<u32>,
    keys: S::Buffer<u64>,
    counts: S::Buffer<u32>,
    (response, finds_range): (S::Buffer<f32>, bool),
    args: SweepArguments,
    (counters_start, counters): (u32, u32),
) {
    s.allow_next_kernel();
    // Rows from a corner to the lowest sample it depends on, and columns to each side.
    let support_radius = F::support_radius(&args) + args.suppression_radius as i32;
    let writes = args.writes_responses();
    let overlap =
        if writes { fused::overlap_of_map(support_radius as u32) } else { F::overlap(support_radius as u32) };
    let mut lane = Lane::new(s, args, overlap, F::BATCHES_ROWS);
    let tile = s.block_row() as usize * args.tiles as usize + (args.first_tile + s.block()) as usize;
    s.wait_for_previous_kernels();
    lane.args = F::resolve_threshold(s, state, args);
    // At the start or at the end, as registers allow: sweeps without warm-up rows have none to
    // spare at the end.
    if !F::HAS_WARM_UP && !writes {
        clear(s, state, counters_start, counters);
    }
    let mut row = lane.top - support_radius;
    let mut corners = CornerSuppression::<S>::new(&lane, state, keys, tile * args.capacity as usize);
    let mut writer = ResponseWriter::<S>::new(response, finds_range);
    let mut source = F::new(&lane, image, row);
    if writes {
        // Written responses are all computed.
        source.set_trace_bound(0.0);
    } else {
        let trace_bound = corners.update_bound(&lane);
        update_trace_bound(&lane, &mut source, trace_bound);
    }
    source.warm_up(&lane, row);
    row = source.fill_window(&lane, row + (ROWS * F::warm_up_batches(&args)) as i32);
    let inside = lane.rows.saturating_sub(F::support_radius(&args) as u32 + 2 * ROWS as u32);
    while row - support_radius < lane.bottom {
        if !writes && let Some(trace_bound) = corners.exchange_bound(&lane) {
            update_trace_bound(&lane, &mut source, trace_bound);
        }
        source.take_prefetched(&lane);
        let highest = row - F::support_radius(&lane.args);
        if F::BATCHES_ROWS {
            // Two copies of the code: nearly all rows are interior, where there is less to do.
            let responses = if ((highest - lane.args.frame as i32) as u32) < inside {
                batch_responses(&lane, mask, &mut source, &mut corners, row, |_| RowKind::Interior)
            } else {
                let row_kind = |i| RowKind::of(&lane, highest + i);
                batch_responses(&lane, mask, &mut source, &mut corners, row, row_kind)
            };
            if writes {
                writer.write(&lane, responses[0], highest);
                writer.write(&lane, responses[1], highest + 1);
                writer.write(&lane, responses[2], highest + 2);
            } else {
                let centre = highest - lane.args.suppression_radius as i32;
                corners.suppress::<MAX_RADIUS>(&lane, mask, true, responses[0], centre);
                corners.suppress::<MAX_RADIUS>(&lane, mask, true, responses[1], centre + 1);
                corners.suppress::<MAX_RADIUS>(&lane, mask, true, responses[2], centre + 2);
            }
        } else {
            // Most rings have two rows, so three steps bring every row back to its register without
            // copies.
            sweep_row::<S, F, MAX_RADIUS>(&lane, mask, &mut source, (&mut corners, &mut writer), row, 0);
            prefetch(&lane, &mut source, &mut corners, row, RowKind::Valid);
            sweep_row::<S, F, MAX_RADIUS>(&lane, mask, &mut source, (&mut corners, &mut writer), row + 1, 1);
            sweep_row::<S, F, MAX_RADIUS>(&lane, mask, &mut source, (&mut corners, &mut writer), row + 2, 2);
        }
        row += ROWS as i32;
    }
    if writes {
        writer.report_range(s, state);
    } else {
        corners.publish_greatest(&lane);
        if F::HAS_WARM_UP {
            clear(s, state, counters_start, counters);
        }
        if s.lane() == 0 {
            s.store(counts, tile, corners.found);
        }
    }
    if !source.is_valid() {
        s.atomic_max(state, s.block_row() as usize * state::WORDS + state::INVALID, 1);
    }
}

/// Passes the source the least trace of a pixel whose response exceeds `exceeded`.
#[inline(always)]
fn update_trace_bound<S: Simt, F: ResponseSource<S>>(lane: &Lane<S>, source: &mut F, exceeded: f32) {
    let args = &lane.args;
    // Compilers do not remove an unused square root.
    if F::uses_trace_bound(args) {
        knows_all_measures!();
        let root = if args.measure == measures::HARRIS { lane.s.sqrt(exceeded) } else { exceeded };
        source.set_trace_bound(root * args.trace_factor);
    }
}

/// Advances by one row, then suppresses or writes a row of responses.
#[inline(always)]
fn sweep_row<S: Simt, F: ResponseSource<S>, const MAX_RADIUS: usize>(
    lane: &Lane<S>,
    mask: Mask<S>,
    source: &mut F,
    (corners, writer): (&mut CornerSuppression<S>, &mut ResponseWriter<S>),
    row: i32,
    i: usize,
) {
    let of_response = row - F::support_radius(&lane.args);
    let (has_candidates, responses) =
        step_responses(lane, mask, (source, corners), row, i, RowKind::of(lane, of_response));
    if lane.args.writes_responses() {
        writer.write(lane, responses, of_response);
        return;
    }
    corners.suppress::<MAX_RADIUS>(
        lane,
        mask,
        has_candidates,
        responses,
        of_response - lane.args.suppression_radius as i32,
    );
}

/// Computes the responses of [`ROWS`] rows. `row_kind` tells the kind of each by its number.
#[inline(always)]
fn batch_responses<S: Simt, F: ResponseSource<S>>(
    lane: &Lane<S>,
    mask: Mask<S>,
    source: &mut F,
    corners: &mut CornerSuppression<S>,
    row: i32,
    row_kind: impl Fn(i32) -> RowKind,
) -> [[f32; LANE_COLUMNS]; ROWS] {
    let (_, first) = step_responses(lane, mask, (source, corners), row, 0, row_kind(0));
    prefetch(lane, source, corners, row, row_kind(0));
    let (_, second) = step_responses(lane, mask, (source, corners), row + 1, 1, row_kind(1));
    let (_, third) = step_responses(lane, mask, (source, corners), row + 2, 2, row_kind(2));
    [first, second, third]
}

/// Starts the loads of the next batch, after the first row of this one. Waiting for the previous
/// loads thus does not include waiting for these.
#[inline(always)]
fn prefetch<S: Simt, F: ResponseSource<S>>(
    lane: &Lane<S>,
    source: &mut F,
    corners: &mut CornerSuppression<S>,
    row: i32,
    row_kind: RowKind,
) {
    source.prefetch(lane, row, row_kind);
    if lane.args.writes_responses() {
        return;
    }
    // In each of the first rows, when the bound grows most, then in about a quarter of the batches.
    // Loads of one word by all warps take longer if they are frequent. Sweeps without warm-up rows
    // have no register for the test.
    if !F::HAS_WARM_UP || row < lane.top + 9 || row & 12 == 0 {
        corners.prefetch_bound(lane);
    }
}

/// Advances the source by one row: [`ResponseSource::step`].
///
/// With a mask, the greatest response inside it need not belong to a corner, as a greater one
/// outside may suppress it. So it is recorded here.
#[inline(always)]
fn step_responses<S: Simt, F: ResponseSource<S>>(
    lane: &Lane<S>,
    mask: Mask<S>,
    (source, corners): (&mut F, &mut CornerSuppression<S>),
    row: i32,
    i: usize,
    row_kind: RowKind,
) -> (bool, [f32; LANE_COLUMNS]) {
    let (has_candidates, responses) = source.step(lane, row, i, row_kind);
    if has_candidates && row_kind.is_valid() && mask.exists() {
        let y = row - F::support_radius(&lane.args);
        if lane.owns_row(y) {
            corners.include_masked_row(lane, mask, source.byte_columns(lane), y as u32, responses);
        }
    }
    (has_candidates, responses)
}
