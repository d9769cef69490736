//! Thresholds that depend on the whole response map: its range, or its histogram.

use harris_core::{Error, Threshold};

use crate::device::Device;
use crate::exec::context::{Context, Execution};
use crate::exec::workspace::Slot;
use crate::launch::{self, thread_per_column};
use crate::plan::arguments::simple_threshold;

/// Counters of all copies of a histogram. The fewer bins, the more copies: what is added in one
/// place is added one after the other.
const HISTOGRAM_COUNTERS: u32 = 1024;

/// Computes the threshold, into the state. The states are clear.
pub(crate) fn find<D: Device>(execution: &mut Execution<'_, D>) -> Result<(), Error> {
    match execution.context.config.threshold() {
        Threshold::Absolute(_) | Threshold::None => {}
        Threshold::Relative(_) => find_range(execution)?,
        Threshold::Rosin { bins } => return find_by_histogram(execution, bins, false),
    }
    let (kind, value) = simple_threshold(execution.context.config).expect("Rosin's is handled above");
    launch::set_threshold(execution.device, [1, 1], execution.workspace.buffer(Slot::State), kind, value)
}

/// Computes Rosin's threshold, into the state. The range of the responses may be there already.
pub(crate) fn find_by_histogram<D: Device>(
    execution: &mut Execution<'_, D>,
    bins: u32,
    has_range: bool,
) -> Result<(), Error> {
    if !has_range {
        find_range(execution)?;
    }
    let copies = (HISTOGRAM_COUNTERS / bins).max(1);
    let words = (copies * bins) as usize;
    execution.workspace.fit::<u32>(execution.device, Slot::Counts, words)?;
    let counts = execution.workspace.buffer(Slot::Counts);
    execution.device.clear(counts.memory, words)?;
    let Context { shape, .. } = execution.context;
    let frame = execution.context.frame();
    let (response, (mask, mask_pitch)) = (execution.workspace.buffer(Slot::Response), execution.mask());
    let state = execution.workspace.buffer(Slot::State);
    let (grid, rows) = thread_per_column(execution.device, (shape.width, shape.height), 1);
    launch::response_histogram(
        execution.device,
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
    launch::rosin_threshold(execution.device, [1, 1], state, counts, bins, copies)
}

/// Finds the least and the greatest response, into the state.
fn find_range<D: Device>(execution: &Execution<'_, D>) -> Result<(), Error> {
    let Context { shape, .. } = execution.context;
    let frame = execution.context.frame();
    let (response, (mask, mask_pitch)) = (execution.workspace.buffer(Slot::Response), execution.mask());
    let state = execution.workspace.buffer(Slot::State);
    let (grid, rows) = thread_per_column(execution.device, (shape.width, shape.height), 1);
    launch::response_range(
        execution.device,
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
