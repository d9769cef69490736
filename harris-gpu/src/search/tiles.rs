//! How a sweep to corners is divided into tiles, and the lists that these fill.

use harris_core::{MAX_SAMPLE, Threshold};
use harris_gpu_kernels::abi::fused;

use crate::device::Device;
use crate::exec::capacity::{CandidateLists, band_tile_capacity, most_in_line};
use crate::exec::context::{Destination, Execution};
use crate::exec::overlap::{BlockSizes, RowBlock};
use crate::exec::recordings::Key;
use crate::exec::tile_heights::TileHeights;
use crate::exec::workspace::Slot;
use crate::plan::{BorderBand, Responses, Search, Sweep};

// Kernels reject the samples that images may not have.
const _: () = assert!(fused::MAX_SAMPLE == MAX_SAMPLE);

/// The tiles of images, one a warp, each with a list of candidates.
#[derive(Clone, Copy, Debug)]
pub(crate) struct WorkTiles {
    pub(crate) sweep: Sweep,
    /// Whether the sweep looks at the response map.
    pub(crate) reads_responses: bool,
    /// How the response map is computed before, if it is needed.
    pub(crate) map: Option<Responses>,
    pub(crate) border_band: Option<BorderBand>,
    /// Row blocks in which an image arrives, and whether work waits for the last of them.
    blocks: BlockSizes,
    pub(crate) is_overlapped: bool,
    /// Whether the search needs the whole map.
    needs_whole_map: bool,
    /// Whether the kernel that computes the map finds the range of all responses, too.
    pub(crate) finds_range: bool,
    /// Images, strips of all of them, and the device's multiprocessors, by which rows become
    /// [`TileHeights`].
    images: usize,
    strips: usize,
    multiprocessors: usize,
    /// The lists: of the sweep's tiles, then of the border band's.
    pub(crate) lists: CandidateLists,
    /// Whether an image predicts the threshold of the next one.
    pub(crate) predicts: bool,
}

/// What remains to be done of images: all rows from one on.
#[derive(Clone, Copy, Debug)]
pub(crate) struct RemainingRows {
    /// The first row whose responses are to be written, if the map is needed.
    pub(crate) unmapped: usize,
    /// The first row that is to be swept, and the number of its first tile.
    pub(crate) unswept: usize,
    pub(crate) tile: usize,
    /// Whether the states are prepared.
    pub(crate) has_states: bool,
}

impl RemainingRows {
    /// All rows.
    pub(crate) const ALL: Self = Self { unmapped: 0, unswept: 0, tile: 0, has_states: false };
}

impl WorkTiles {
    /// The tiles of an execution; `None` where its plan has no sweep to corners.
    ///
    /// The upload of a single image is `overlapped` where work begins before it is over. An image
    /// `is_repeatable` where it stays on the device until its lists are known to be complete.
    pub(crate) fn new<D: Device>(
        execution: &Execution<'_, D>,
        overlapped: bool,
        is_repeatable: bool,
    ) -> Option<Self> {
        let plan = &execution.context.plan;
        let (sweep, border_band, reads_responses) = match plan.search {
            Search::FusedSweep { sweep, border_band, .. } => (sweep, border_band, false),
            Search::MapSweep(sweep) => (sweep, None, true),
            Search::ThreadPerColumn => return None,
        };
        // A map that is computed stage by stage is complete before the search begins.
        let map = plan.map().copied().filter(|map| !map.is_staged());
        let (config, shape) = (execution.context.config, &execution.context.shape);
        let height = shape.height as usize;
        let needs_histogram = match config.threshold() {
            Threshold::Rosin { .. } => true,
            Threshold::Absolute(_) | Threshold::Relative(_) | Threshold::None => false,
        };
        let has_band = map.is_some_and(|map| map.has_border_band());
        let blocks = if overlapped {
            BlockSizes::overlapped(shape, execution.device.last_block_bytes(), map.as_ref())
        } else {
            BlockSizes::whole(height)
        };
        let strips = sweep.strips(shape.width);
        let mut tiles = Self {
            sweep,
            reads_responses,
            map,
            border_band,
            blocks,
            is_overlapped: overlapped,
            needs_whole_map: reads_responses && (needs_histogram || has_band),
            // The kernel sees neither the responses of a border band nor what a mask excludes.
            finds_range: needs_histogram
                && map.is_some_and(|map| map.finds_range())
                && !has_band
                && !shape.is_masked(),
            images: shape.images,
            strips: strips * shape.images,
            multiprocessors: execution.device.multiprocessors() as usize,
            lists: CandidateLists { count: 0, capacity: 0 },
            predicts: execution.predicts_threshold(is_repeatable),
        };
        let most = |len: usize| most_in_line(len, config, sweep.suppression);
        let columns = most(sweep.layout(shape.width).columns as usize);
        let mut swept = 0;
        for block in tiles.row_blocks(height) {
            let rows = block.searched - swept;
            let heights = tiles.heights(rows);
            tiles.lists.count += strips * heights.count(rows);
            tiles.lists.capacity = tiles.lists.capacity.max(columns * most(heights.tall));
            swept = block.searched;
        }
        if let Some(band) = border_band {
            tiles.lists.count += band.tiles(shape);
            tiles.lists.capacity = tiles.lists.capacity.max(band_tile_capacity(band, config));
        }
        Some(tiles)
    }

    /// The blocks of an image of so many rows.
    pub(crate) fn row_blocks(&self, height: usize) -> impl Iterator<Item = RowBlock> + use<> {
        let Self { sweep, map, needs_whole_map, reads_responses, .. } = *self;
        self.blocks.block_ends(height).into_iter().map(move |end| {
            if end == height {
                return RowBlock { end, mapped: height, searched: height };
            }
            let mapped = map.map_or(end, |map| end.saturating_sub(map.lookahead()));
            let complete = if reads_responses { mapped } else { end };
            let searched = if needs_whole_map { 0 } else { complete.saturating_sub(sweep.lookahead()) };
            RowBlock { end, mapped, searched }
        })
    }

    /// The heights of the tiles of so many rows that are swept at once.
    pub(crate) fn heights(&self, rows: usize) -> TileHeights {
        TileHeights::new(self.sweep, rows, self.strips, self.images == 1, self.multiprocessors)
    }

    /// Identifies the execution's work among all work of its detector, with keypoints to their `destination`
    /// or not.
    pub(crate) fn key<D: Device>(&self, execution: &Execution<'_, D>, destination: Destination) -> Key {
        let shape = &execution.context.shape;
        let address = |slot| execution.device.address(execution.workspace.buffer::<u8>(slot).memory);
        let mask = if shape.is_masked() { address(Slot::Mask) } else { 0 };
        let [corners, expected] = execution.capacity.key(self.images);
        let size = u64::from(shape.width) << 32 | u64::from(shape.height);
        let map = self.map.and_then(|map| map.kernel()).map_or(0, |kernel| kernel as u64 + 1);
        let kernels = map << 32 | self.sweep.kernel as u64;
        let kind = u64::from(self.predicts) << 3 | (destination as u64) << 1 | u64::from(self.is_overlapped);
        [
            size,
            self.images as u64,
            kernels << 3 | kind,
            address(Slot::Image),
            shape.stride as u64,
            mask,
            shape.mask_pitch as u64,
            corners,
            expected,
        ]
    }
}
