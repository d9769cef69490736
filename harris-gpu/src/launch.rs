//! One typed function per kernel, and the grids of blocks they run on.

use harris_core::Error;
use harris_gpu_kernels::Word;
use harris_gpu_kernels::abi::{Kernel, plateau, threshold};

use crate::device::{Argument, Buffer, Device};
use crate::exec::tile_heights::TileHeights;
use crate::plan::Sweep;

/// The fewest rows of a thread, in thread-per-column kernels.
const MIN_COLUMN_ROWS: usize = 4;
/// The most rows of a thread, in thread-per-column kernels.
const MAX_COLUMN_ROWS: usize = 32;
/// Blocks for each multiprocessor that thread-per-column kernels aim at.
const COLUMN_BLOCKS: usize = 8;

/// Grid of a thread-per-column kernel on a stack of planes, and the rows of each thread.
///
/// All these kernels have blocks of one size.
pub(crate) fn thread_per_column<D: Device>(
    device: &D,
    (width, height): (u32, u32),
    planes: usize,
) -> ([u32; 2], u32) {
    let strips = (width as usize).div_ceil(Kernel::response_range.threads() as usize);
    let blocks = COLUMN_BLOCKS * device.multiprocessors() as usize;
    let rows = (strips * planes * height as usize / blocks).clamp(MIN_COLUMN_ROWS, MAX_COLUMN_ROWS);
    ([(strips * (height as usize).div_ceil(rows)) as u32, planes as u32], rows as u32)
}

/// Grid with a thread for each of `count` items, in each of `rows` rows of blocks.
pub(crate) fn grid(kernel: Kernel, count: usize, rows: usize) -> [u32; 2] {
    [count.div_ceil(kernel.threads() as usize) as u32, rows as u32]
}

macro_rules! parameter {
    ($device:ident, [$word:ident]) => { Buffer<'_, <$device as Device>::Memory, $word> };
    ($device:ident, $word:ident) => { $word };
}

macro_rules! argument {
    ($argument:ident, [$word:ident]) => {
        Argument::Memory($argument.memory)
    };
    ($argument:ident, $word:ident) => {
        Argument::Word($argument.into_bits())
    };
}

macro_rules! launches {
    ($($module:ident :: $name:ident [$threads:literal, $cells:literal] ($($argument:ident : $type:tt),*);)*) => {$(
        #[allow(dead_code, reason = "devices launch some themselves")]
        pub(crate) fn $name<D: Device>(
            device: &D,
            grid: [u32; 2],
            $($argument: parameter!(D, $type)),*
        ) -> Result<(), Error> {
            device.launch(Kernel::$name, grid, &[$(argument!($argument, $type)),*])
        }
    )*};
}

harris_gpu_kernels::for_each_kernel!(launches);

/// Memory that a fused sweep reads and writes. What it does not use may be any memory.
pub(crate) struct SweepBuffers<'a, D: Device> {
    /// Samples, or a response map.
    pub(crate) input: &'a D::Memory,
    pub(crate) state: Buffer<'a, D::Memory, u32>,
    /// Lists of candidates, and their lengths.
    pub(crate) keys: Buffer<'a, D::Memory, u64>,
    pub(crate) counts: Buffer<'a, D::Memory, u32>,
    pub(crate) response: Buffer<'a, D::Memory, f32>,
    /// The mask, and bytes from row to row; 0 without a mask.
    pub(crate) mask: (Buffer<'a, D::Memory, u8>, u32),
}

/// Size and layout of a sweep's images.
pub(crate) struct ImageLayout {
    pub(crate) width: u32,
    pub(crate) height: u32,
    /// Samples from row to row, and from image to image.
    pub(crate) pitch: u32,
    pub(crate) stride: u64,
}

/// The rows of a sweep, and the heights of its tiles.
pub(crate) struct TileRows {
    /// Range of rows; `last` is exclusive.
    pub(crate) first: u32,
    pub(crate) last: u32,
    pub(crate) heights: TileHeights,
}

/// From window sums to responses.
pub(crate) struct ResponseMeasure {
    /// Factor from window sums to the tensor.
    pub(crate) scale: f32,
    /// The measure, one of [`harris_gpu_kernels::abi::measure`], and its parameter.
    pub(crate) measure: u32,
    pub(crate) parameter: f32,
    /// Width of the frame of invalid pixels.
    pub(crate) frame: u32,
    /// Weights of the window, from the centre on.
    pub(crate) taps: [f32; 4],
}

/// Which responses are candidates.
pub(crate) struct CandidateRules {
    pub(crate) margin: u32,
    /// One of [`harris_gpu_kernels::abi::plateau`].
    pub(crate) plateau: u32,
    /// One of [`harris_gpu_kernels::abi::threshold`], and the value of this kind.
    pub(crate) threshold_kind: u32,
    pub(crate) threshold_value: f32,
    /// Factor from a threshold, or its square root, to the least trace of window sums.
    pub(crate) trace_factor: f32,
}

impl CandidateRules {
    /// For sweeps that write responses and find no candidates.
    pub(crate) const UNUSED: Self = Self {
        margin: 0,
        plateau: plateau::FIRST,
        threshold_kind: threshold::ABSOLUTE,
        threshold_value: 0.0,
        trace_factor: 0.0,
    };
}

/// The lists of candidates that a launch fills, one a tile.
pub(crate) struct TileLists {
    /// Number of the launch's first tile, and tiles of an image.
    pub(crate) first_tile: u32,
    pub(crate) tiles: u32,
    /// Keys that a list can hold.
    pub(crate) capacity: u32,
}

impl TileLists {
    /// For sweeps that write responses and find no candidates.
    pub(crate) const UNUSED: Self = Self { first_tile: 0, tiles: 0, capacity: 0 };
}

/// What a sweep clears or computes in the state besides.
pub(crate) struct StateUpdates {
    /// First word of the counters that are cleared, and their number for each image.
    pub(crate) counters_start: u32,
    pub(crate) counters: u32,
    /// Whether the range of the responses is wanted.
    pub(crate) finds_range: bool,
}

macro_rules! fused_launch {
    ($($name:ident [$blocks:literal, $of_responses:literal, $cells:literal] $word:ident: $input:ident, $weights:ident, $window:literal, $most:literal;)*) => {
        /// Launches a fused kernel. All of them have these arguments.
        pub(crate) fn fused<D: Device>(
            device: &D,
            sweep: Sweep,
            grid: [u32; 2],
            buffers: SweepBuffers<'_, D>,
            image: ImageLayout,
            rows: TileRows,
            response: ResponseMeasure,
            rules: CandidateRules,
            lists: TileLists,
            updates: StateUpdates,
        ) -> Result<(), Error> {
            let strips = sweep.layout(image.width);
            let [tap0, tap1, tap2, tap3] = response.taps;
            let (mask, mask_pitch) = buffers.mask;
            match sweep.kernel {
                $(Kernel::$name => $name(
                    device, grid, Buffer::new(buffers.input), buffers.state, buffers.keys, buffers.counts, buffers.response,
                    image.stride, image.width, image.height, image.pitch, strips.count, strips.columns,
                    rows.first, rows.last, rows.heights.tall as u32, rows.heights.tall_count as u32, rows.heights.short as u32,
                    response.scale, response.measure, response.parameter, response.frame,
                    sweep.smoothing, sweep.gradient, sweep.gradient_radius, sweep.window, sweep.suppression as u32,
                    rules.margin, rules.plateau, rules.threshold_kind, rules.threshold_value, rules.trace_factor,
                    lists.first_tile, lists.tiles, lists.capacity,
                    updates.counters_start, updates.counters, updates.finds_range.into(),
                    mask, mask_pitch, tap0, tap1, tap2, tap3,
                ),)*
                other => unreachable!("{other:?} is no fused kernel"),
            }
        }
    };
}

harris_gpu_kernels::for_each_fused!([fused_launch]);
