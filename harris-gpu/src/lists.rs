//! Lists of keys and how they are sorted.

use harris_core::{Error, Ties};
use harris_gpu_kernels::abi::{Kernel, order};

use crate::device::Device;
use crate::launch::{self, grid};
use crate::workspace::{Slot, Workspace};

/// The longest lists that are sorted by counting alone.
const COUNTED: usize = 8192;

/// The runs of longer ones.
const RUN: usize = 2048;

/// Lists of keys on the device, whose lengths the slot `State` has.
#[derive(Clone, Copy)]
pub(crate) struct Lists {
    /// How many.
    pub(crate) count: usize,
    /// Keys from one to the next, and the most that one has.
    pub(crate) pitch: usize,
    /// The first so many count.
    pub(crate) most: usize,
}

/// What lists are sorted by.
#[derive(Clone, Copy, PartialEq)]
pub(crate) enum Sorting {
    /// The strongest first.
    ByResponse(Ties),
    /// Row by row.
    ByRows,
}

impl Sorting {
    /// As kernels take it.
    pub(crate) fn as_number(self) -> u32 {
        match self {
            Self::ByResponse(Ties::Ascending) => order::BY_RESPONSE,
            Self::ByResponse(Ties::Descending) => order::BY_RESPONSE_LAST_FIRST,
            Self::ByRows => order::BY_ROWS,
        }
    }
}

impl Lists {
    /// The grid for `each` threads a key.
    pub(crate) fn grid(self, kernel: Kernel, each: usize) -> [u32; 2] {
        grid(kernel, self.most.min(self.pitch) * each, self.count)
    }

    /// Sorts and returns where the keys are, and the other slot.
    pub(crate) fn sort<D: Device>(
        self,
        device: &D,
        workspace: &Workspace<D>,
        (mut keys, mut other): (Slot, Slot),
        sorting: Sorting,
    ) -> Result<(Slot, Slot), Error> {
        let state = workspace.buffer(Slot::State);
        let (pitch, most) = (self.pitch as u32, self.most.min(self.pitch));
        let sorting = sorting.as_number();
        // By counting alone, or by counting in runs that are merged: as often as the longest lists need, so that it is known where
        // the keys are.
        let mut run = if most <= COUNTED { COUNTED } else { RUN };
        let grid = self.grid(Kernel::rank, order::PARTS as usize);
        let (from, to) = (workspace.buffer(keys), workspace.buffer(other));
        launch::rank(device, grid, from, to, state, pitch, most as u32, run as u32, sorting)?;
        std::mem::swap(&mut keys, &mut other);
        while run < most {
            let (from, to) = (workspace.buffer(keys), workspace.buffer(other));
            let grid = self.grid(Kernel::merge, 1);
            launch::merge(device, grid, from, to, state, pitch, most as u32, run as u32, sorting)?;
            std::mem::swap(&mut keys, &mut other);
            run *= order::WAYS as usize;
        }
        Ok((keys, other))
    }
}
