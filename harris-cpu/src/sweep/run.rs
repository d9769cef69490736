//! The sweep over a band of rows: strips, and the engine that the plan chooses for each.

use std::ops::Range;

use harris_core::{Error, HarrisConfig, Threshold};

use super::row::{F32Memory, I16Memory, f32_sweep, i16_sweep};
use super::strip::{Context, StripMemory, StripSweep};
use super::tile::driver::{self, sweep_strip};
use super::tile::f32_arithmetic::{F32Arithmetic, TileSample};
use super::tile::i16_arithmetic::I16Arithmetic;
use crate::peaks::found::Peaks;
use crate::plan::{RowPlan, SweepEngine, TileNumbers, TilePlan, has_f32_tiles, has_i16_tiles};
use crate::rows::STRIP_COLUMNS;
use crate::simd::{Simd, WithSimd};

/// Rows and columns of a probe: about a tile and half a block of the usual configurations.
const PROBE_SIDE: usize = 20;
/// Pixels of an image for each pixel that probes compute, support included.
const PIXELS_PER_PROBED_PIXEL: usize = 128;

/// A thread's memory for sweeps: about 700 KiB, of which an engine uses what it needs, and what a
/// configuration adds.
#[derive(Debug)]
pub(crate) struct Scratch {
    strip: StripMemory,
    engines: Engines,
    found: Peaks,
}

/// The memory of each engine.
#[derive(Debug, Default)]
pub(crate) struct Engines {
    gray_tiles: driver::Memory<I16Arithmetic<1>>,
    color_tiles: driver::Memory<I16Arithmetic<3>>,
    u8_tiles: driver::Memory<F32Arithmetic<u8>>,
    u16_tiles: driver::Memory<F32Arithmetic<u16>>,
    f32_tiles: driver::Memory<F32Arithmetic<f32>>,
    i16_rows: I16Memory,
    f32_rows: F32Memory,
}

impl Scratch {
    pub(crate) fn new() -> Result<Self, Error> {
        Ok(Self { strip: StripMemory::new()?, engines: Engines::default(), found: Peaks::default() })
    }

    /// Begins an image as thread `thread` of `threads`.
    pub(crate) fn begin(&mut self, config: &HarrisConfig, (thread, threads): (usize, usize)) {
        self.found.begin(config, (thread, threads));
        (self.strip.is_invalid, self.strip.failure) = (false, None);
    }

    /// What the thread has found.
    pub(crate) fn found(&self) -> &Peaks {
        &self.found
    }

    /// Why the sweep failed, if it did; then no other result means anything.
    pub(crate) fn take_failure(&mut self) -> Option<Error> {
        self.strip.failure.take()
    }

    /// Whether a sample was not valid; then no other result means anything.
    pub(crate) fn is_invalid(&self) -> bool {
        self.strip.is_invalid
    }
}

/// The work on one band of rows. Its results are left in the scratch memory.
pub(crate) struct BandSweep<'a, T> {
    pub(crate) context: Context<'a, T>,
    pub(crate) engine: SweepEngine,
    /// The rows of the band.
    pub(crate) rows: Range<usize>,
    /// The rows of the response map that are the band's, if all responses are asked for.
    pub(crate) map: Option<&'a mut [f32]>,
    pub(crate) scratch: &'a mut Scratch,
}

impl<T: EngineSample> WithSimd for BandSweep<'_, T> {
    type Output = ();

    fn with<V: Simd>(self, v: V) {
        let Self { context, engine, rows, map, scratch: Scratch { strip: memory, engines, found } } = self;
        let width = context.image.width();
        // Another band may have raised the bound already.
        context.shared.exchange(found);
        let mut sweep = StripSweep { context, rows, map, memory, found };
        match context.rules.threshold {
            Threshold::Relative(_) if sweep.found.greatest == 0.0 => {
                probe(&mut sweep, engines, engine, v);
            }
            Threshold::Relative(_) | Threshold::Absolute(_) | Threshold::Rosin { .. } | Threshold::None => {}
        }
        for start in (0..width).step_by(STRIP_COLUMNS) {
            let strip = start..(start + STRIP_COLUMNS).min(width);
            sweep_by_engine(&mut sweep, engines, engine, v, &strip);
        }
        context.shared.exchange(sweep.found);
    }
}

/// Searches small squares all over the band for a response that bounds the relative threshold from
/// the start: else faint texture at the top would be full of candidates.
fn probe<T: EngineSample, V: Simd>(
    sweep: &mut StripSweep<'_, T>,
    engines: &mut Engines,
    engine: SweepEngine,
    v: V,
) {
    let (band, map, image) = (sweep.rows.clone(), sweep.map.take(), sweep.context.image);
    let (width, peaks) = (image.width(), sweep.found.peaks.len());
    // Corners of probes are found again later, so they must not count.
    let list_bound = std::mem::take(&mut sweep.found.list_bound);
    let side = PROBE_SIDE + 2 * sweep.context.config.support_radius();
    let probes = if band.len() < PROBE_SIDE {
        0
    } else {
        band.len() * width / (PIXELS_PER_PROBED_PIXEL * side * side)
    };
    let place = |i: usize| {
        let top = band.start + (band.len() - PROBE_SIDE) * i / probes;
        // Multiples of the golden ratio spread evenly.
        let left = ((i as f64 * 0.618_034).fract() * (width - PROBE_SIDE.min(width)) as f64) as usize;
        (top, left)
    };
    for i in 0..probes {
        let (top, left) = place(i + 1);
        for y in top..(top + PROBE_SIDE).min(image.height()) {
            v.prefetch(image.row(y), left * image.channels());
        }
        let (top, left) = place(i);
        sweep.rows = top..top + PROBE_SIDE;
        sweep_by_engine(sweep, engines, engine, v, &(left..(left + PROBE_SIDE).min(width)));
    }
    (sweep.rows, sweep.map) = (band, map);
    sweep.found.peaks.truncate(peaks);
    sweep.found.list_bound = list_bound;
}

/// Sweeps down a strip by the engine of the plan.
fn sweep_by_engine<T: EngineSample, V: Simd>(
    sweep: &mut StripSweep<'_, T>,
    engines: &mut Engines,
    engine: SweepEngine,
    v: V,
    strip: &Range<usize>,
) {
    match engine {
        SweepEngine::Tile(tile) => T::by_tiles(sweep, engines, tile, v, strip),
        SweepEngine::Row(row) => T::by_rows(sweep, engines, row, v, strip),
        SweepEngine::TileOrRow { tile, above, row } => {
            let threshold = sweep.threshold();
            if sweep.least_trace(threshold) > above {
                T::by_tiles(sweep, engines, tile, v, strip);
            } else {
                T::by_rows(sweep, engines, row, v, strip);
            }
        }
    }
}

/// A sample type and its engines.
pub(crate) trait EngineSample: TileSample {
    /// Sweeps down a strip by tiles.
    fn by_tiles<V: Simd>(
        sweep: &mut StripSweep<'_, Self>,
        engines: &mut Engines,
        tile: TilePlan,
        v: V,
        strip: &Range<usize>,
    ) {
        match tile.numbers {
            TileNumbers::F32Exact | TileNumbers::F32Rounded => {
                // A constant, so that no tiles are compiled for shorter vectors.
                if const { has_f32_tiles::<V>() } {
                    sweep_strip::<F32Arithmetic<Self>, V>(sweep, Self::tile_memory(engines), v, strip, tile);
                } else {
                    unreachable!("plans have tiles of f32 for the longest vectors alone");
                }
            }
            TileNumbers::I16 => unreachable!("plans have tiles of i16 for 8-bit samples alone"),
        }
    }

    /// Sweeps down a strip by rows.
    fn by_rows<V: Simd>(
        sweep: &mut StripSweep<'_, Self>,
        engines: &mut Engines,
        row: RowPlan,
        v: V,
        strip: &Range<usize>,
    ) {
        match row {
            RowPlan::F32Exact { sums } => {
                f32_sweep::sweep_strip(sweep, &mut engines.f32_rows, v, strip, Some(sums));
            }
            RowPlan::F32Rounded => f32_sweep::sweep_strip(sweep, &mut engines.f32_rows, v, strip, None),
            RowPlan::I16 { .. } => unreachable!("plans have rows of i16 for 8-bit samples alone"),
        }
    }

    /// The memory of tiles of f32.
    fn tile_memory(engines: &mut Engines) -> &mut driver::Memory<F32Arithmetic<Self>>;
}

impl EngineSample for u8 {
    fn by_tiles<V: Simd>(
        sweep: &mut StripSweep<'_, u8>,
        engines: &mut Engines,
        tile: TilePlan,
        v: V,
        strip: &Range<usize>,
    ) {
        match tile.numbers {
            TileNumbers::I16 => {
                if const { has_i16_tiles::<V>() } {
                    match sweep.context.image.channels() {
                        1 => {
                            sweep_strip::<I16Arithmetic<1>, V>(
                                sweep,
                                &mut engines.gray_tiles,
                                v,
                                strip,
                                tile,
                            );
                        }
                        _ => sweep_strip::<I16Arithmetic<3>, V>(
                            sweep,
                            &mut engines.color_tiles,
                            v,
                            strip,
                            tile,
                        ),
                    }
                } else {
                    unreachable!("plans have tiles of i16 for vectors that are long enough");
                }
            }
            TileNumbers::F32Exact | TileNumbers::F32Rounded => {
                if const { has_f32_tiles::<V>() } {
                    sweep_strip::<F32Arithmetic<u8>, V>(sweep, &mut engines.u8_tiles, v, strip, tile);
                } else {
                    unreachable!("plans have tiles of f32 for the longest vectors alone");
                }
            }
        }
    }

    fn by_rows<V: Simd>(
        sweep: &mut StripSweep<'_, u8>,
        engines: &mut Engines,
        row: RowPlan,
        v: V,
        strip: &Range<usize>,
    ) {
        match row {
            RowPlan::I16 { gradients, sums } => {
                i16_sweep::sweep_strip(sweep, &mut engines.i16_rows, v, strip, (gradients, sums));
            }
            RowPlan::F32Exact { sums } => {
                f32_sweep::sweep_strip(sweep, &mut engines.f32_rows, v, strip, Some(sums));
            }
            RowPlan::F32Rounded => f32_sweep::sweep_strip(sweep, &mut engines.f32_rows, v, strip, None),
        }
    }

    fn tile_memory(engines: &mut Engines) -> &mut driver::Memory<F32Arithmetic<u8>> {
        &mut engines.u8_tiles
    }
}

impl EngineSample for u16 {
    fn tile_memory(engines: &mut Engines) -> &mut driver::Memory<F32Arithmetic<u16>> {
        &mut engines.u16_tiles
    }
}

impl EngineSample for f32 {
    fn tile_memory(engines: &mut Engines) -> &mut driver::Memory<F32Arithmetic<f32>> {
        &mut engines.f32_tiles
    }
}
