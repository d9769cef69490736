//! Tiles of 16-bit gradients and 32-bit sums: 8-bit samples, box and binomial windows.

use harris_core::Window;

use super::arithmetic::{ActiveRows, Block, Pair, TileArithmetic, TileRows, Windows};
use super::border::TileBorder;
use super::i16_stages::{self, Stages, load, put};
use super::i16_windows::{self, Bounds, RowGate};
use crate::plan::TileNumbers;
use crate::simd::Simd;
use crate::sweep::stage_kinds::{StageSmoothing, ThreeTaps, specialize};
use crate::sweep::strip::StripSweep;

/// Tiles of i16 for images of `C` channels.
#[derive(Debug)]
pub(crate) struct I16Arithmetic<const C: usize>;

impl<const C: usize> TileArithmetic for I16Arithmetic<C> {
    type Sample = u8;
    type Number = i16;
    type Carry = i16_stages::Carry;
    type Bounds<'a> = Bounds;
    type Gate<V: Simd> = RowGate;
    const CHANNELS: usize = C;

    fn zero_carry() -> Self::Carry {
        i16_stages::ZERO_CARRY
    }

    fn latency<V: Simd>(smoothing: StageSmoothing) -> usize {
        i16_stages::latency::<V>(smoothing)
    }

    fn bounds(sweep: &StripSweep<'_, u8>, _: TileNumbers, threshold: f32, _: &[f32]) -> Bounds {
        let is_binomial = match sweep.context.config.window() {
            Window::Binomial { .. } => true,
            Window::Box { .. } | Window::Gaussian { .. } => false,
        };
        Bounds { rejection: sweep.rejection_bound(threshold), is_binomial }
    }

    #[inline(always)]
    fn gate<V: Simd>(_: V, bounds: Bounds, radius: usize, columns: usize) -> RowGate {
        RowGate::new(bounds.rejection, (radius, bounds.is_binomial), columns)
    }

    #[inline(always)]
    fn run_stages<V: Simd>(
        v: V,
        kinds: (StageSmoothing, ThreeTaps),
        gate: RowGate,
        carry: &mut Self::Carry,
        rows: TileRows<'_, '_, u8>,
        out: &mut [Pair<i16>],
    ) -> (u64, bool) {
        let run = StageRun { kinds, gate, carry, out };
        // Iterators hold values, not a reference to `rows`, whose fields each row would load anew.
        let TileRows { block, column, read, channel, is_inside, iterations, .. } = rows;
        // `C` is a constant, so that tiles of colours have no code for samples of the image itself.
        let active = if C == 1 && is_inside {
            let column = (block.first + column as isize) as usize;
            let (image, ahead) = (&block.image[iterations.clone()], &block.ahead[iterations]);
            let rows = image.iter().zip(ahead).map(move |(row, ahead)| {
                v.prefetch(ahead, column);
                &row[column..column + read]
            });
            run.run(v, rows)
        } else {
            let halo = block.halo;
            run.run(v, iterations.map(move |i| &halo.row(i * C + channel)[column..column + read]))
        };
        (active, true)
    }

    #[inline(always)]
    fn start_or_finish_image<V: Simd>(
        v: V,
        gradient: ThreeTaps,
        border: &TileBorder,
        iteration: usize,
        carry: &mut Self::Carry,
        last: &mut Pair<i16>,
    ) {
        if iteration == border.first || iteration == border.last {
            let mut stages = Stages::new(v);
            stages.load(v, carry);
            if iteration == border.first {
                stages.start_image(v, gradient, border);
            }
            if iteration == border.last {
                put(v, stages.finish_image(v, gradient, border), last);
            }
            stages.store(v, carry);
        }
    }

    fn extend_smoothed(border: &TileBorder, carry: &mut Self::Carry) {
        i16_stages::extend(border, carry);
    }

    #[inline(always)]
    fn negate<V: Simd>(v: V, out: &mut [Pair<i16>], signs: &[i16], any: bool, rows: u64) {
        for (row, pair) in out.iter_mut().enumerate() {
            let [x, mut y] = load(v, pair);
            if any {
                y = v.mul_i16(y, v.load_i16(signs, 0));
            }
            if rows >> row & 1 == 1 {
                y = v.sub_i16(v.splat_i16(0), y);
            }
            put(v, [x, y], pair);
        }
    }

    #[inline(always)]
    fn copy<V: Simd>(v: V, from: &Pair<i16>, to: &mut Pair<i16>) {
        put(v, load(v, from), to);
    }

    /// One channel of colours tells nothing: 0 is a constant, so that stages of colours compare
    /// nothing.
    #[inline(always)]
    fn channel_active<V: Simd>(_: V, _: RowGate, _: &[Pair<i16>], carried: usize, active: ActiveRows) -> u64 {
        if C == 1 { active.new << carried } else { 0 }
    }

    /// Compares sums over the channels: of gray images only carried rows are left, as the bound may
    /// have risen.
    #[inline(always)]
    fn all_active<V: Simd>(
        v: V,
        gate: RowGate,
        blocks: &[Block<i16>; 3],
        [carried, rows]: [usize; 2],
        active: u64,
        changed: bool,
    ) -> u64 {
        if C == 1 && !changed {
            active | gate.active_rows::<V, C>(v, blocks, carried)
        } else {
            gate.active_rows::<V, C>(v, blocks, carried + rows)
        }
    }

    #[inline(always)]
    fn respond<V: Simd>(v: V, windows: Windows<'_, i16, Bounds>) -> u64 {
        i16_windows::respond::<V, C>(v, windows)
    }
}

/// A run of stages over rows of a channel.
struct StageRun<'a> {
    kinds: (StageSmoothing, ThreeTaps),
    gate: RowGate,
    carry: &'a mut i16_stages::Carry,
    out: &'a mut [Pair<i16>],
}

impl StageRun<'_> {
    /// Takes rows of samples, and puts as many rows of gradients; returns the active ones, as bits.
    #[inline(always)]
    fn run<'r, V: Simd>(self, v: V, rows: impl Iterator<Item = &'r [u8]>) -> u64 {
        let (smoothing, gradient) = self.kinds;
        let mut stages = Stages::new(v);
        stages.load(v, self.carry);
        let mut active = 0;
        specialize!(smoothing, gradient, kinds => {
            for (samples, out) in rows.zip(&mut *self.out) {
                let [x, y] = stages.push_row(v, kinds, samples);
                put(v, [x, y], out);
                let squares = v.dot_add(v.dot(x, x), y, y);
                active = active << 1 | u64::from(self.gate.is_active(v, squares));
            }
        });
        stages.store(v, self.carry);
        // The last row's bit is the lowest.
        u64::reverse_bits(active) >> (64 - self.out.len())
    }
}
