//! Tiles of 32-bit gradients: 16-bit and float samples, and 8-bit ones with Gaussian windows or
//! sums of more than 32 bits.

use std::fmt::Debug;
use std::marker::PhantomData;

use harris_core::Window;

use super::arithmetic::{ActiveRows, Block, Pair, TileArithmetic, TileRows, Windows};
use super::border::TileBorder;
use super::f32_stages::{self, FloatSums, IntegerSums, Stages, Sums, TwoVectors, both, load, put};
use super::f32_windows::{self, Bounds};
use crate::plan::{TILE_LANES, TileNumbers};
use crate::simd::Simd;
use crate::sweep::lines::Weights;
use crate::sweep::sample::SweepSample;
use crate::sweep::stage_kinds::{StageSmoothing, ThreeTaps, specialize};
use crate::sweep::strip::StripSweep;

/// Tiles of f32.
#[derive(Debug)]
pub(crate) struct F32Arithmetic<T>(PhantomData<T>);

/// Samples of tiles of f32.
pub(crate) trait TileSample: SweepSample {
    /// A vector of sums of samples.
    type Sums<V: Simd>: Sums<V, Sample = Self, Number = Self::SumNumber>;
    /// A number of these.
    type SumNumber: Copy + Default + Debug;
}

impl TileSample for u8 {
    type Sums<V: Simd> = IntegerSums<V, u8>;
    type SumNumber = i32;
}

impl TileSample for u16 {
    type Sums<V: Simd> = IntegerSums<V, u16>;
    type SumNumber = i32;
}

impl TileSample for f32 {
    type Sums<V: Simd> = FloatSums<V>;
    type SumNumber = f32;
}

impl<T: TileSample> TileArithmetic for F32Arithmetic<T> {
    type Sample = T;
    type Number = f32;
    type Carry = f32_stages::Carry<T::SumNumber>;
    type Bounds<'a> = Bounds<'a>;
    /// The bound in lanes that windows read, infinity in others.
    type Gate<V: Simd> = TwoVectors<V::F32>;
    // One kernel serves gray and colour images: two would double the code.
    const CHANNELS: usize = 0;

    fn zero_carry() -> Self::Carry {
        f32_stages::Carry::zero()
    }

    fn latency<V: Simd>(smoothing: StageSmoothing) -> usize {
        f32_stages::latency(smoothing)
    }

    fn bounds<'a>(
        sweep: &StripSweep<'_, T>,
        numbers: TileNumbers,
        threshold: f32,
        taps: &'a [f32],
    ) -> Bounds<'a> {
        Bounds {
            // All gradients are active where a response map is asked for.
            gradient: sweep.gradient_bound(threshold).unwrap_or(-1.0),
            reject_below: if sweep.map.is_some() { f32::NEG_INFINITY } else { threshold },
            weights: match sweep.context.config.window() {
                Window::Box { .. } => Weights::Box,
                Window::Binomial { .. } => Weights::Binomial,
                Window::Gaussian { .. } => Weights::Taps(taps),
            },
            is_exact: match numbers {
                TileNumbers::F32Exact => true,
                TileNumbers::F32Rounded | TileNumbers::I16 => false,
            },
        }
    }

    #[inline(always)]
    fn gate<V: Simd>(v: V, bounds: Bounds<'_>, radius: usize, columns: usize) -> Self::Gate<V> {
        let mut lanes = [f32::INFINITY; TILE_LANES];
        lanes[..columns + 2 * radius].fill(bounds.gradient);
        [v.load_f32(&lanes, 0), v.load_f32(&lanes, V::LANES)]
    }

    #[inline(always)]
    fn run_stages<V: Simd>(
        v: V,
        kinds: (StageSmoothing, ThreeTaps),
        gate: Self::Gate<V>,
        carry: &mut Self::Carry,
        rows: TileRows<'_, '_, T>,
        out: &mut [Pair<f32>],
    ) -> (u64, bool) {
        let row_count = out.len();
        let stages = Stages::<V, T::Sums<V>>::load(v, carry);
        let mut run = StageRun { stages, gate, active: 0, are_valid: true };
        run.run(v, kinds, &rows, out);
        run.stages.store(v, carry);
        (run.active.reverse_bits() >> (64 - row_count), run.are_valid)
    }

    #[inline(always)]
    fn start_or_finish_image<V: Simd>(
        v: V,
        gradient: ThreeTaps,
        border: &TileBorder,
        iteration: usize,
        carry: &mut Self::Carry,
        last: &mut Pair<f32>,
    ) {
        if iteration == border.first || iteration == border.last {
            let mut stages = Stages::<V, T::Sums<V>>::load(v, carry);
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
        f32_stages::extend(border, carry);
    }

    #[inline(always)]
    fn negate<V: Simd>(v: V, out: &mut [Pair<f32>], signs: &[i16], _: bool, rows: u64) {
        let mut lanes = [1.0; TILE_LANES];
        for (lane, &sign) in lanes.iter_mut().zip(signs) {
            *lane = sign.into();
        }
        let signs = [v.load_f32(&lanes, 0), v.load_f32(&lanes, V::LANES)];
        for (row, pair) in out.iter_mut().enumerate() {
            let sign = v.splat_f32(if rows >> row & 1 == 1 { -1.0 } else { 1.0 });
            let [x, y] = load(v, pair);
            put(v, [x, both!(h => v.mul(y[h], v.mul(signs[h], sign)))], pair);
        }
    }

    #[inline(always)]
    fn copy<V: Simd>(v: V, from: &Pair<f32>, to: &mut Pair<f32>) {
        put(v, load(v, from), to);
    }

    #[inline(always)]
    fn channel_active<V: Simd>(
        v: V,
        gate: Self::Gate<V>,
        rows: &[Pair<f32>],
        carried: usize,
        active: ActiveRows,
    ) -> u64 {
        if !active.changed {
            return active.before | active.new << carried;
        }
        let mut all = 0;
        for (row, pair) in rows.iter().enumerate() {
            all |= u64::from(is_active(v, gate, load(v, pair))) << row;
        }
        all
    }

    #[inline(always)]
    fn all_active<V: Simd>(
        _: V,
        _: Self::Gate<V>,
        _: &[Block<f32>; 3],
        _: [usize; 2],
        active: u64,
        _: bool,
    ) -> u64 {
        active
    }

    #[inline(always)]
    fn respond<V: Simd>(v: V, windows: Windows<'_, f32, Bounds<'_>>) -> u64 {
        f32_windows::respond(v, windows)
    }
}

/// A run of stages over rows of a channel.
struct StageRun<V: Simd, S> {
    stages: Stages<V, S>,
    gate: TwoVectors<V::F32>,
    /// The active rows as bits, the last row's the lowest.
    active: u64,
    are_valid: bool,
}

impl<V: Simd, S: Sums<V>> StageRun<V, S> {
    /// Takes rows of samples, and puts as many rows of gradients.
    #[inline(always)]
    fn run(
        &mut self,
        v: V,
        (smoothing, gradient): (StageSmoothing, ThreeTaps),
        rows: &TileRows<'_, '_, S::Sample>,
        out: &mut [Pair<f32>],
    ) {
        if smoothing.keeps_sums() {
            specialize!(@ StageSmoothing::Binomial3Exact, gradient, kinds => self.run_kinds(v, kinds, rows, out));
        } else {
            specialize!(smoothing, gradient, kinds => self.run_kinds(v, kinds, rows, out));
        }
    }

    #[inline(always)]
    fn run_kinds(
        &mut self,
        v: V,
        kinds: (StageSmoothing, ThreeTaps),
        rows: &TileRows<'_, '_, S::Sample>,
        out: &mut [Pair<f32>],
    ) {
        for (i, out) in rows.iterations.clone().zip(out) {
            let samples = if rows.is_inside {
                let [samples, ahead] = rows.of_image(i);
                v.prefetch(ahead, 0);
                v.prefetch(ahead, 64 / size_of::<S::Sample>());
                samples
            } else {
                rows.of_halo(i)
            };
            let gradients = self.stages.push_row(v, kinds, samples);
            put(v, gradients, out);
            self.active = self.active << 1 | u64::from(is_active(v, self.gate, gradients));
            // Samples that are read beyond these belong to the next tile or strip, or stand for
            // other samples.
            self.are_valid &= S::load(v, samples, 0).are_valid(v);
            self.are_valid &= S::load(v, samples, V::LANES).are_valid(v);
        }
    }
}

/// Whether any gx² + gy² exceeds its bound.
#[inline(always)]
fn is_active<V: Simd>(v: V, gate: TwoVectors<V::F32>, [x, y]: [TwoVectors<V::F32>; 2]) -> bool {
    let squares = both!(h => v.add(v.mul(x[h], x[h]), v.mul(y[h], y[h])));
    let above = both!(h => v.greater(squares[h], gate[h]));
    above[0] | above[1] != 0
}
