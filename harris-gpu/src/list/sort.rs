//! Sorting of lists of keys on the device.

use harris_core::{Error, Ties};
use harris_gpu_kernels::abi::{Kernel, order};

use crate::device::Device;
use crate::exec::workspace::{Slot, Workspace};
use crate::launch::{self, grid};

/// The longest lists that are sorted by ranks alone, in keys.
const MAX_RANKED: usize = 8192;

/// The runs of longer lists: each is sorted by ranks, and runs are merged.
const RUN_KEYS: usize = 2048;

/// Lists of keys on the device, whose lengths are in the states.
#[derive(Clone, Copy)]
pub(crate) struct KeyLists {
    /// Number of lists.
    pub(crate) count: usize,
    /// Keys from one list to the next, which is what a list holds.
    pub(crate) pitch: usize,
    /// The first so many keys of a list are wanted.
    pub(crate) limit: usize,
}

/// What lists are sorted by.
#[derive(Clone, Copy, PartialEq)]
pub(crate) enum SortOrder {
    /// Descending responses, with a rule for ties.
    Response(Ties),
    /// Rows, then columns.
    Raster,
}

impl SortOrder {
    /// The order as kernels take it.
    pub(crate) fn code(self) -> u32 {
        match self {
            Self::Response(Ties::Ascending) => order::BY_RESPONSE,
            Self::Response(Ties::Descending) => order::BY_RESPONSE_LAST_FIRST,
            Self::Raster => order::BY_ROWS,
        }
    }
}

impl KeyLists {
    /// The most keys of a list that are wanted and that it holds.
    pub(crate) fn most(self) -> usize {
        self.limit.min(self.pitch)
    }

    /// The grid of a kernel with `threads` threads a key.
    pub(crate) fn grid(self, kernel: Kernel, threads: usize) -> [u32; 2] {
        grid(kernel, self.most() * threads, self.count)
    }

    /// Sorts the keys in the first slot by way of the other; returns the slot where they are, and
    /// the other one.
    pub(crate) fn sort<D: Device>(
        self,
        device: &D,
        workspace: &Workspace<D>,
        (mut keys, mut other): (Slot, Slot),
        order: SortOrder,
    ) -> Result<(Slot, Slot), Error> {
        let state = workspace.buffer(Slot::State);
        let (pitch, most) = (self.pitch as u32, self.most());
        let order = order.code();
        // As many merges as the longest lists need: so the host knows where the keys are.
        let mut run = if most <= MAX_RANKED { MAX_RANKED } else { RUN_KEYS };
        let grid = self.grid(Kernel::sort_runs, order::THREADS_PER_KEY as usize);
        let (from, to) = (workspace.buffer(keys), workspace.buffer(other));
        launch::sort_runs(device, grid, from, to, state, pitch, most as u32, run as u32, order)?;
        std::mem::swap(&mut keys, &mut other);
        while run < most {
            let (from, to) = (workspace.buffer(keys), workspace.buffer(other));
            let grid = self.grid(Kernel::merge_runs, 1);
            launch::merge_runs(device, grid, from, to, state, pitch, most as u32, run as u32, order)?;
            std::mem::swap(&mut keys, &mut other);
            run *= order::RUNS_PER_MERGE as usize;
        }
        Ok((keys, other))
    }
}
