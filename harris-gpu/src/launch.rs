//! One typed function per kernel, and the grids of blocks they run on.

use harris_core::Error;
use harris_gpu_kernels::Word;
use harris_gpu_kernels::abi::Kernel;

use crate::device::{Argument, Buffer, Device};

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

macro_rules! fused_launch {
    ($($name:ident [$blocks:literal, $of_responses:literal, $cells:literal] $word:ident: $samples:ident, $weights:ident, $window:literal, $most:literal;)*) => {
        /// Launches a fused kernel. All of them have these arguments.
        pub(crate) fn fused<D: Device>(
            device: &D,
            kernel: Kernel,
            grid: [u32; 2],
            image: &D::Memory,
            state: Buffer<'_, D::Memory, u32>,
            keys: Buffer<'_, D::Memory, u64>,
            counts: Buffer<'_, D::Memory, u32>,
            response: Buffer<'_, D::Memory, f32>,
            (stride, width, height, pitch): (u64, u32, u32, u32),
            (strips, columns): (u32, u32),
            (first, last): (u32, u32),
            (rows, full_tiles, tail_rows): (u32, u32, u32),
            (scale, measure, parameter): (f32, u32, f32),
            frame: u32,
            (smoothing, gradient, gradient_radius, window, radius): (u32, u32, u32, u32, u32),
            (margin, plateau): (u32, u32),
            (threshold, value, trace_factor): (u32, f32, f32),
            (first_tile, tiles, capacity): (u32, u32, u32),
            (counters_start, counters, finds_range): (u32, u32, u32),
            (mask, mask_pitch): (Buffer<'_, D::Memory, u8>, u32),
            [tap0, tap1, tap2, tap3]: [f32; 4],
        ) -> Result<(), Error> {
            match kernel {
                $(Kernel::$name => $name(
                    device, grid, Buffer::new(image), state, keys, counts, response, stride, width, height, pitch, strips, columns, first, last, rows, full_tiles,
                    tail_rows, scale, measure, parameter, frame, smoothing, gradient, gradient_radius, window, radius, margin, plateau, threshold, value, trace_factor, first_tile, tiles, capacity,
                    counters_start, counters, finds_range, mask, mask_pitch, tap0, tap1, tap2, tap3,
                ),)*
                other => unreachable!("{other:?} is no fused kernel"),
            }
        }
    };
}

harris_gpu_kernels::for_each_fused!([fused_launch]);
