//! Thresholds that depend on the whole response map: its range, or its histogram.

use harris_core::{Error, Threshold};

use crate::device::Device;
use crate::exec::context::{Context, Run};
use crate::exec::workspace::Slot;
use crate::launch::{self, thread_per_column};
use crate::plan::arguments::simple_threshold;

/// Counters of all copies of a histogram. The fewer bins, the more copies: what is added in one
/// place is added one after the other.
const HISTOGRAM_COUNTERS: u32 = 1024;

/// Computes the threshold, into the state. The states are clear.
pub(crate) fn find<D: Device>(run: &mut Run<'_, D>) -> Result<(), Error> {
    match run.context.config.threshold() {
        Threshold::Absolute(_) | Threshold::None => {}
        Threshold::Relative(_) => find_range(run)?,
        Threshold::Rosin { bins } => return find_by_histogram(run, bins, false),
    }
    let (kind, value) = simple_threshold(run.context.config).expect("Rosin's is handled above");
    launch::set_threshold(run.device, [1, 1], run.workspace.buffer(Slot::State), kind, value)
}

/// Computes Rosin's threshold, into the state. The range of the responses may be there already.
pub(crate) fn find_by_histogram<D: Device>(
    run: &mut Run<'_, D>,
    bins: u32,
    has_range: bool,
) -> Result<(), Error> {
    if !has_range {
        find_range(run)?;
    }
    let copies = (HISTOGRAM_COUNTERS / bins).max(1);
    let words = (copies * bins) as usize;
    run.workspace.fit::<u32>(run.device, Slot::Counts, words)?;
    let counts = run.workspace.buffer(Slot::Counts);
    run.device.clear(counts.memory, words)?;
    let Context { shape, .. } = run.context;
    let frame = run.context.frame();
    let (response, (mask, mask_pitch)) = (run.workspace.buffer(Slot::Response), run.mask());
    let state = run.workspace.buffer(Slot::State);
    let (grid, rows) = thread_per_column(run.device, (shape.width, shape.height), 1);
    launch::response_histogram(
        run.device,
        grid,
        response,
        mask,
        state,
        counts,
        bins,
        copies,
        shape.width,
        shape.height,
        rows,
        frame[0],
        frame[1],
        mask_pitch,
    )?;
    launch::rosin_threshold(run.device, [1, 1], state, counts, bins, copies)
}

/// Finds the least and the greatest response, into the state.
fn find_range<D: Device>(run: &Run<'_, D>) -> Result<(), Error> {
    let Context { shape, .. } = run.context;
    let frame = run.context.frame();
    let (response, (mask, mask_pitch)) = (run.workspace.buffer(Slot::Response), run.mask());
    let state = run.workspace.buffer(Slot::State);
    let (grid, rows) = thread_per_column(run.device, (shape.width, shape.height), 1);
    launch::response_range(
        run.device,
        grid,
        response,
        mask,
        state,
        shape.width,
        shape.height,
        rows,
        frame[0],
        frame[1],
        mask_pitch,
    )
}
