//! The sweep by tiles: blocks of rows, tile by tile.

use std::ops::Range;

use harris_core::pipeline::border;
use harris_core::{Border, Error, Measure, memory};

use super::arithmetic::{
    ActiveRows, Block, CARRIED_ROWS, Carry, RowBlock, TileArithmetic, TileRows, Windows, window_taps,
    zero_pair,
};
use super::border::BlockBorder;
use crate::peaks::ring::{RING, ResponseRing};
use crate::plan::TilePlan;
use crate::rows::{BLOCK_ROWS, Rows, SAMPLE_ROW_LENGTH};
use crate::simd::{Simd, SimdKernel};
use crate::sweep::layout::TileLayout;
use crate::sweep::stage_kinds::{StageSmoothing, ThreeTaps};
use crate::sweep::strip::StripSweep;

/// A thread's memory for a kind of tiles.
#[derive(Debug)]
pub(crate) struct Memory<L: TileArithmetic> {
    /// A block of samples around the image's edges, a row for each channel.
    halo: Rows<L::Sample, SAMPLE_ROW_LENGTH>,
    /// A row of zeros as wide as the image, for `Zero`.
    zero_row: Vec<L::Sample>,
    /// The sign of gy in each column, 1 or −1; one row.
    signs: Rows<i16, SAMPLE_ROW_LENGTH>,
    /// What each tile carries from block to block, channel by channel.
    carry: Vec<Carry<L>>,
    /// The gradients of one tile at a time, of each channel.
    gradients: Vec<Block<L::Number>>,
    /// The taps of a Gaussian window.
    taps: Vec<f32>,
}

impl<L: TileArithmetic> Default for Memory<L> {
    fn default() -> Self {
        Self {
            halo: Rows::default(),
            zero_row: Vec::new(),
            signs: Rows::default(),
            carry: Vec::new(),
            gradients: Vec::new(),
            taps: Vec::new(),
        }
    }
}

impl<L: TileArithmetic> Memory<L> {
    /// Begins a strip of so many tiles, with a row of so many zeros.
    fn begin(&mut self, channels: usize, tiles: usize, zeros: usize) -> Result<(), Error> {
        self.halo.reserve(BLOCK_ROWS * channels)?;
        self.signs.reserve(1)?;
        self.carry.clear();
        memory::reserve_exact(&mut self.carry, channels * tiles)?;
        self.carry.resize_with(channels * tiles, Carry::zero);
        if self.gradients.is_empty() {
            self.gradients = memory::filled(3, [zero_pair(); CARRIED_ROWS + BLOCK_ROWS])?;
        }
        memory::resize(&mut self.zero_row, zeros, L::Sample::default())
    }
}

/// Sweeps down a strip.
pub(crate) fn sweep_strip<L: TileArithmetic, V: Simd>(
    sweep: &mut StripSweep<'_, L::Sample>,
    memory: &mut Memory<L>,
    v: V,
    strip: &Range<usize>,
    plan: TilePlan,
) {
    let (config, image) = (sweep.context.config, sweep.context.image);
    let columns = sweep.context.columns(strip);
    let (window, support, channels) = (config.window().radius(), config.support_radius(), image.channels());
    let smoothing =
        StageSmoothing::of(config.smoothing()).expect("plans have no tiles with a Gaussian smoothing");
    let gradient =
        ThreeTaps::of(config.gradient()).expect("plans have tiles with gradients of three taps alone");
    let layout = TileLayout::new(
        (&columns.responses, columns.place(columns.responses.start as isize)),
        (support, config.border()),
        (plan.columns, 2 * V::LANES + smoothing.extra_columns()),
        &image,
    );
    let words = layout.words;
    let zeros = match config.border() {
        Border::Zero => image.width() * channels,
        Border::Reflect101 | Border::Replicate | Border::Skip => 0,
    };
    if let Err(error) = memory.begin(channels, words.count, zeros) {
        return sweep.fail(error);
    }
    memory.taps = window_taps(config);
    let Memory { halo, zero_row, signs, carry, gradients, taps } = memory;
    let signs = signs.row_mut(0);
    let gradients: &mut [_; 3] = (&mut gradients[..]).try_into().expect("a block for each of 3 channels");
    let gradient_column = columns.responses.start as isize - window as isize;
    let signed = (words.count - 1) * plan.columns + 2 * V::LANES;
    let any_negated = set_signs(&mut signs[..signed], config.border(), gradient_column, image.width());
    let extends_stages = match config.border() {
        Border::Replicate | Border::Zero => true,
        Border::Reflect101 | Border::Skip => false,
    };

    let rows = sweep.computed_rows();
    let first = rows.start as isize - support as isize;
    // Rows of samples before the first that completes a row of responses.
    let latency = L::latency::<V>(smoothing);
    let warm_up = 2 * support + latency;
    let mut collection = sweep.begin(words);
    let (mut consumed, mut complete, mut current) = (0, rows.start, 0);
    let zero_row = &zero_row[..];
    // The rows of a block, and those of the next one, by turns.
    let mut blocks: [[&[L::Sample]; RING]; 2] = [[&[]; RING]; 2];
    let find_rows = |rows: &mut [_; RING], top: isize| {
        for (row, y) in rows[..BLOCK_ROWS].iter_mut().zip(top..) {
            *row = match border::inside(config.border(), y, image.height()) {
                Some(y) => image.row(y),
                None => match config.border() {
                    Border::Zero => zero_row,
                    // No valid pixel depends on it.
                    Border::Reflect101 | Border::Replicate | Border::Skip => image.row(0),
                },
            };
        }
    };
    find_rows(&mut blocks[0], first);
    while complete < rows.end {
        let top = first + consumed as isize;
        let block_rows = BLOCK_ROWS.min(rows.len() + warm_up - consumed);
        find_rows(&mut blocks[1 - current], top + BLOCK_ROWS as isize);
        let [block, ahead] = [&blocks[current], &blocks[1 - current]];
        let gradient_row = top - (config.smoothing().radius() + 1 + latency) as isize;
        let mut negated_rows = 0;
        for i in 0..block_rows {
            for columns in layout.halos() {
                if channels == 1 {
                    columns.copy(block[i], halo.row_mut(i));
                } else {
                    columns.split(v, block[i], halo.rows_mut(3 * i));
                }
                columns.prefetch(v, ahead[i], channels);
            }
            let negated = is_mirrored(config.border(), gradient_row + i as isize, image.height());
            negated_rows |= u64::from(negated) << i;
        }
        let threshold = sweep.threshold();
        let block = RowBlock {
            threshold,
            rows: block_rows,
            image: block,
            ahead,
            first: layout.first,
            inside: layout.inside.clone(),
            halo,
            signs,
            any_negated,
            negated_rows,
            border: extends_stages.then_some(BlockBorder {
                border: config.border(),
                width: image.width(),
                height: image.height(),
                row: gradient_row,
                column: gradient_column,
            }),
            warm_up: warm_up.saturating_sub(consumed),
            slot: complete % RING,
            words,
            width: columns.responses.len(),
        };
        let bounds = L::bounds(sweep, plan.numbers, threshold, taps);
        let is_valid = v.enter(Tiles::<L> {
            smoothing,
            gradient,
            measure: config.measure(),
            radius: window,
            channels,
            scale: sweep.context.scale,
            bounds,
            block,
            carry,
            gradients,
            responses: &mut sweep.memory.responses,
        });
        sweep.memory.is_invalid |= !is_valid;
        consumed += block_rows;
        current = 1 - current;
        let end = (rows.start + consumed.saturating_sub(warm_up)).min(rows.end);
        for y in complete..end {
            sweep.finish_row(&columns, strip, y, words);
        }
        complete = end;
        sweep.collect_until(v, &columns, strip, complete, &mut collection);
    }
}

/// Computes the responses of a block of rows, and marks candidates; returns whether all samples are
/// valid.
struct Tiles<'a, L: TileArithmetic> {
    smoothing: StageSmoothing,
    gradient: ThreeTaps,
    measure: Measure,
    /// The window's radius.
    radius: usize,
    channels: usize,
    scale: f32,
    bounds: L::Bounds<'a>,
    block: RowBlock<'a, L::Sample>,
    /// What each tile carries from block to block, channel by channel.
    carry: &'a mut [Carry<L>],
    /// The gradients of one tile at a time, of each channel.
    gradients: &'a mut [Block<L::Number>; 3],
    responses: &'a mut ResponseRing,
}

impl<L: TileArithmetic> SimdKernel for Tiles<'_, L> {
    type Output = bool;

    #[inline(always)]
    fn run<V: Simd>(mut self, v: V) -> bool {
        let mut are_valid = true;
        for tile in 0..self.block.words.count {
            are_valid &= self.tile(v, tile);
        }
        are_valid
    }
}

impl<L: TileArithmetic> Tiles<'_, L> {
    #[inline(always)]
    fn tile<V: Simd>(&mut self, v: V, tile: usize) -> bool {
        let block = &self.block;
        let channels = if L::CHANNELS > 0 { L::CHANNELS } else { self.channels };
        let column = tile * block.words.step;
        let columns = block.words.step.min(block.width - column);
        let (carried, rows) = (2 * self.radius, block.rows);
        let gate = L::gate(v, self.bounds, self.radius, columns);
        let signs = &block.signs[column..column + 2 * V::LANES];
        let negated = block.any_negated && signs.contains(&-1);
        let is_inside = channels == 1 && block.inside.contains(&tile);
        let kinds = (self.smoothing, self.gradient);
        let read = 2 * V::LANES + self.smoothing.extra_columns();
        let border = block.border.map(|border| border.of_tile(rows, column, 2 * V::LANES));
        let (mut active, mut any_changed, mut are_valid) = (0, false, true);
        for channel in 0..channels {
            let carry = &mut self.carry[tile * channels + channel];
            let gradients = &mut self.gradients[channel];
            for (row, carried) in gradients[..carried].iter_mut().zip(&carry.gradients) {
                L::copy(v, carried, row);
            }
            let out = &mut gradients[carried..][..rows];
            let (mut from, mut new, mut last) = (0, 0, zero_pair());
            while from < rows {
                let mut until = rows;
                if let Some(border) = &border {
                    until = border.run_end(from, rows);
                    L::start_or_finish_image(v, self.gradient, border, from, &mut carry.stages, &mut last);
                }
                let samples =
                    TileRows { block, column, read, channel, channels, is_inside, iterations: from..until };
                let (run, valid) =
                    L::run_stages(v, kinds, gate, &mut carry.stages, samples, &mut out[from..until]);
                if let Some(border) = &border {
                    L::extend_smoothed(border, &mut carry.stages);
                }
                new |= run << from;
                are_valid &= valid;
                from = until;
            }
            if negated || block.negated_rows != 0 {
                L::negate(v, out, signs, negated, block.negated_rows);
            }
            let changed = match &border {
                Some(border) => border.extend_gradients(&mut gradients[..carried + rows], carried, last),
                None => false,
            };
            any_changed |= changed;
            let found = ActiveRows { before: carry.active, new, changed };
            let own = L::channel_active(v, gate, &gradients[..carried + rows], carried, found);
            for (row, carried) in gradients[rows..][..carried].iter().zip(&mut carry.gradients) {
                L::copy(v, row, carried);
            }
            carry.active = own >> rows;
            active |= own;
        }
        let active = L::all_active(v, gate, self.gradients, [carried, rows], active, any_changed);
        let Some([all, active]) = block.active_rows(active, carried + 1) else { return are_valid };
        let word = (tile, block.words.start + column);
        let mut computed = 0;
        if active != 0 {
            let windows = Windows {
                measure: self.measure,
                scale: self.scale,
                threshold: block.threshold,
                bounds: self.bounds,
                radius: self.radius,
                gradients: self.gradients,
                channels,
                first: block.warm_up,
                active,
                responses: self.responses,
                slot: block.slot,
                word,
                columns,
            };
            computed = L::respond(v, windows);
        }
        self.responses.finish_tile(v, word, block.slot, (all, computed));
        are_valid
    }
}

/// Sets the sign of gy in the columns from `start` on; returns whether any is negative.
fn set_signs(signs: &mut [i16], border: Border, start: isize, width: usize) -> bool {
    signs.fill(1);
    let end = start + signs.len() as isize;
    let mut any = false;
    for x in (start..0).chain((width as isize).max(start)..end).filter(|&x| is_mirrored(border, x, width)) {
        signs[(x - start) as usize] = -1;
        any = true;
    }
    any
}

/// Whether the order of samples is reversed at place `i` of a line of `len`: mirrored samples give
/// gradients of the opposite sign along the line, where the products' extension asks for equal
/// ones.
fn is_mirrored(border: Border, i: isize, len: usize) -> bool {
    let period = 2 * (len as isize - 1);
    let is_inside = (0..len as isize).contains(&i);
    match border {
        Border::Reflect101 => !is_inside && period > 0 && i.rem_euclid(period) > len as isize - 1,
        Border::Replicate | Border::Zero | Border::Skip => false,
    }
}
