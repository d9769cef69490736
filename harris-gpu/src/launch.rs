//! One typed function per kernel, and the grids of blocks they run on.

use harris_core::Error;
use harris_gpu_kernels::Word;
use harris_gpu_kernels::abi::Kernel;

use crate::device::{Argument, Buffer, Device};

/// Rows of a thread of kernels with a thread a column: as many as leave so many blocks to a
/// multiprocessor, within bounds.
const MIN_COLUMN_ROWS: usize = 4;
const MAX_COLUMN_ROWS: usize = 32;
const COLUMN_BLOCKS: usize = 8;

/// The grid of a kernel with a thread a column of so many planes, and the rows of each thread. All
/// of them have blocks of one size.
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

/// The grid with a thread for each of `count` items, `rows` times.
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
        /// Launches one of the fused kernels, which have the same arguments.
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
            (rows, whole, later): (u32, u32, u32),
            (scale, measure, parameter): (f32, u32, f32),
            frame: u32,
            (smoothing, gradient, gradient_radius, window, radius): (u32, u32, u32, u32, u32),
            (margin, plateau): (u32, u32),
            (threshold, value, reach): (u32, f32, f32),
            (piece, pieces, room): (u32, u32, u32),
            (tables, counters, extent): (u32, u32, u32),
            (mask, mask_pitch): (Buffer<'_, D::Memory, u8>, u32),
            [tap0, tap1, tap2, tap3]: [f32; 4],
        ) -> Result<(), Error> {
            match kernel {
                $(Kernel::$name => $name(
                    device, grid, Buffer::new(image), state, keys, counts, response, stride, width, height, pitch, strips, columns, first, last, rows, whole,
                    later, scale, measure, parameter, frame, smoothing, gradient, gradient_radius, window, radius, margin, plateau, threshold, value, reach, piece, pieces, room,
                    tables, counters, extent, mask, mask_pitch, tap0, tap1, tap2, tap3,
                ),)*
                other => unreachable!("{other:?} is no fused kernel"),
            }
        }
    };
}

harris_gpu_kernels::for_each_fused!([fused_launch]);
