//! Rows of floats in a warp's strip: loads, border rules, partial sums and writes.

use core::array;

use super::lane::LANE_COLUMNS;
use crate::Simt;
use crate::abi::fused::{COLUMNS, LANE_COLUMNS as LANE};
use crate::abi::gaussians;
use crate::kernels::geometry::{Size, inside};
use crate::kernels::threshold::ResponseRange;

/// Values of a lane's columns.
pub(super) type Row = [f32; LANE_COLUMNS];

/// Values of the lane before, of the lane itself, and of the lane after.
pub(super) type Neighbourhood = [f32; 3 * LANE_COLUMNS];

/// Layout of shared memory. Each column of the strip has a word with the column to read in its
/// place. Rows follow, each with a zero at its end, and then rows of products.
const SOURCE_COLUMNS: u32 = 0;
const BORDER_ROWS: u32 = SOURCE_COLUMNS + COLUMNS;
const ROW_WORDS: u32 = COLUMNS + 2;
pub(super) const CARRIED_PRODUCTS: u32 = BORDER_ROWS + ROWS_TOGETHER as u32 * ROW_WORDS;

/// Most rows to which a border rule is applied together.
const ROWS_TOGETHER: usize = 3;

/// Weights of a sum, from the centre outwards.
pub(super) type Weights = [f32; gaussians::MAX_RADIUS as usize + 1];

/// The image, the response map, and the arguments that all kernels share.
#[derive(Clone, Copy)]
pub(super) struct ResponseMap<S: Simt> {
    pub(super) image: S::Buffer<u8>,
    pub(super) to: S::Buffer<f32>,
    pub(super) size: Size,
    pub(super) pitch: u32,
    /// Range of rows whose responses are written, with `last` exclusive, and rows of a tile.
    pub(super) first: u32,
    pub(super) last: u32,
    pub(super) rows: u32,
    pub(super) border: u32,
    pub(super) scale: f32,
    pub(super) kind: u32,
    pub(super) parameter: f32,
    pub(super) frame: u32,
}

/// Strip of columns of a warp.
pub(super) struct Strip<S: Simt> {
    pub(super) s: S,
    pub(super) map: ResponseMap<S>,
    /// Columns at each side of the strip that overlap its neighbours.
    pub(super) overlap: u32,
    /// Column of the lane's first pixel.
    pub(super) x: i32,
    /// Whether some columns lie outside the image.
    pub(super) at_edge: bool,
}

impl<S: Simt> Strip<S> {
    /// Strip of this thread, and the rows of its tile.
    #[inline(always)]
    pub(super) fn new(s: S, map: ResponseMap<S>, overlap: u32) -> (Self, [i32; 2]) {
        let (own, width) = (COLUMNS - 2 * overlap, map.size.width);
        let strips = width.div_ceil(own).max(1);
        let (strip, row_block) = (s.block() % strips, s.block() / strips);
        let top = map.first + row_block * map.rows;
        let rows = [top, map.last.min(top + map.rows)].map(|row| row as i32);
        let left = (strip * own) as i32 - overlap as i32;
        let x = left + (LANE * s.lane()) as i32;
        let at_edge = left < 0 || left + COLUMNS as i32 > width as i32;
        if at_edge {
            for i in 0..LANE {
                let source = match inside(map.border, x + i as i32, width) {
                    // No response depends on columns farther outside.
                    Some(column) => (column as i32 - left).clamp(0, COLUMNS as i32 - 1) as u32,
                    None => COLUMNS,
                };
                s.set_shared_word(SOURCE_COLUMNS + LANE * s.lane() + i, source);
            }
            if s.lane() < ROWS_TOGETHER as u32 {
                s.set_shared_word(BORDER_ROWS + ROW_WORDS * s.lane() + COLUMNS, 0);
            }
        }
        (Self { s, map, overlap, x, at_edge }, rows)
    }

    /// Replaces columns outside the image by what the border rule puts there.
    #[inline(always)]
    pub(super) fn with_border<const ROWS: usize>(&self, rows: [Row; ROWS]) -> [Row; ROWS] {
        if !self.at_edge {
            return rows;
        }
        const { assert!(ROWS <= ROWS_TOGETHER, "the rows fit in shared memory") };
        let (s, first) = (self.s, LANE * self.s.lane());
        let sources: [u32; LANE_COLUMNS] =
            array::from_fn(|i| s.shared_word(SOURCE_COLUMNS + first + i as u32));
        let position = |row: usize| BORDER_ROWS + ROW_WORDS * row as u32;
        // All lanes must have read the previous rows.
        s.warp_barrier();
        for row in 0..ROWS {
            for i in 0..LANE_COLUMNS {
                s.set_shared_word(position(row) + first + i as u32, rows[row][i].to_bits());
            }
        }
        s.warp_barrier();
        array::from_fn(|row| sources.map(|source| f32::from_bits(s.shared_word(position(row) + source))))
    }

    /// Neighbourhood of a row, with values up to `RADIUS` columns away.
    #[inline(always)]
    pub(super) fn neighbourhood<const RADIUS: usize>(&self, own: Row) -> Neighbourhood {
        let exchanged = |number: f32, shuffle: fn(S, u32, u32) -> u32| {
            f32::from_bits(shuffle(self.s, number.to_bits(), 1))
        };
        array::from_fn(|i| match i / LANE_COLUMNS {
            0 if i + RADIUS >= LANE_COLUMNS => exchanged(own[i], S::shuffle_up),
            1 => own[i - LANE_COLUMNS],
            2 if i < 2 * LANE_COLUMNS + RADIUS => exchanged(own[i - 2 * LANE_COLUMNS], S::shuffle_down),
            _ => 0.0,
        })
    }

    /// Applies `sum` to the neighbourhood of each column, with values up to `RADIUS` columns away.
    #[inline(always)]
    pub(super) fn across<const RADIUS: usize>(
        &self,
        own: Row,
        sum: impl Fn(Neighbourhood, usize) -> f32,
    ) -> Row {
        let neighbourhood = self.neighbourhood::<RADIUS>(own);
        array::from_fn(|i| sum(neighbourhood, LANE_COLUMNS + i))
    }

    /// Writes the responses of a row, and includes the valid ones in the range.
    #[inline(always)]
    pub(super) fn store(&self, y: u32, mut values: Row, range: &mut Option<ResponseRange>) {
        let (Size { width, height }, frame) = (self.map.size, self.map.frame);
        // A lane writes all of its columns or none: overlaps are multiples of a lane's columns.
        let is_own = (LANE * self.s.lane()).wrapping_sub(self.overlap) < COLUMNS - 2 * self.overlap;
        if !is_own || self.x as u32 >= width {
            return;
        }
        let column = |i: usize| self.x as u32 + i as u32;
        let is_valid = y.wrapping_sub(frame) < height.saturating_sub(2 * frame);
        for i in 0..LANE_COLUMNS {
            let is_beside = self.at_edge && (column(i) < frame || column(i) >= width.max(frame) - frame);
            if !is_valid || is_beside {
                values[i] = 0.0;
            } else if let Some(range) = range {
                range.include(values[i]);
            }
        }
        let first = self.map.size.index(column(0), y) as usize;
        if width.is_multiple_of(LANE) {
            self.s.store_four_words(self.map.to, first, values);
        } else {
            for i in 0..LANE_COLUMNS {
                if column(i) < width {
                    self.s.store(self.map.to, first + i, values[i]);
                }
            }
        }
    }
}

/// Prefetched samples of a lane, row after row, with as many words as a pixel has bytes.
pub(super) struct SampleRows<S: Simt, const WORDS: usize> {
    pub(super) s: S,
    pub(super) map: ResponseMap<S>,
    /// Byte offsets of the words in a row.
    pub(super) positions: [u32; WORDS],
    /// Next row to load, and the words of the row before it.
    pub(super) next: i32,
    pub(super) ahead: [u32; WORDS],
}

impl<S: Simt, const WORDS: usize> SampleRows<S, WORDS> {
    /// Samples of a strip, from row `next` on.
    #[inline(always)]
    pub(super) fn new(strip: &Strip<S>, next: i32) -> Self {
        let (s, map, width) = (strip.s, strip.map, strip.map.size.width);
        // Columns outside hold arbitrary samples until the border rule replaces them.
        let first = (strip.x.clamp(0, width as i32 - 1) as u32 & !3) * WORDS as u32;
        let last = (WORDS as u32 * width - 1) & !3;
        let positions = array::from_fn(|word| (first + 4 * word as u32).min(last));
        let mut samples = Self { s, map, positions, next, ahead: [0; WORDS] };
        samples.prefetch();
        samples
    }

    /// Loads the words of the next row, or zeros outside the image.
    #[inline(always)]
    pub(super) fn prefetch(&mut self) {
        let words = match inside(self.map.border, self.next, self.map.size.height) {
            Some(y) => {
                let start = self.s.mul_wide(y, self.map.pitch) as usize;
                self.positions
                    .map(|position| self.s.load_four_bytes(self.map.image, start + position as usize))
            }
            None => [0; WORDS],
        };
        self.ahead = words;
        self.next += 1;
    }

    /// Returns the words of the current row, and loads the next.
    #[inline(always)]
    pub(super) fn take_row(&mut self) -> [u32; WORDS] {
        let words = self.ahead;
        // Only now, so that the words go to the same registers. Assemblers otherwise move them, and
        // wait for the load to do so.
        self.prefetch();
        words
    }
}

/// Sum with symmetric weights around position `i`, from left to right.
#[inline(always)]
pub(super) fn symmetric_sum<const RADIUS: usize>(weights: &Weights, row: Neighbourhood, i: usize) -> f32 {
    let mut sum = weights[RADIUS] * row[i - RADIUS];
    for at in 1..=2 * RADIUS {
        sum += weights[at.abs_diff(RADIUS)] * row[i + at - RADIUS];
    }
    sum
}

/// Sum with antisymmetric weights around position `i`, from left to right. Weights before the
/// centre are negated, and the centre's is 0.
#[inline(always)]
pub(super) fn antisymmetric_sum<const RADIUS: usize>(weights: &Weights, row: Neighbourhood, i: usize) -> f32 {
    let mut sum = -weights[RADIUS] * row[i - RADIUS];
    for at in 1..=2 * RADIUS {
        let weighted = weights[at.abs_diff(RADIUS)] * row[i + at - RADIUS];
        sum = if at < RADIUS {
            sum - weighted
        } else if at > RADIUS {
            sum + weighted
        } else {
            sum
        };
    }
    sum
}

/// Partial column sums of the windows that end with the next rows, the next one first. `COUNT` is
/// twice the radius.
#[derive(Clone, Copy)]
pub(super) struct PartialSums<const RADIUS: usize, const COUNT: usize>(pub(super) [Row; COUNT]);

impl<const RADIUS: usize, const COUNT: usize> PartialSums<RADIUS, COUNT> {
    pub(super) const NONE: Self = Self([[0.0; LANE_COLUMNS]; COUNT]);

    /// Adds a row, and returns the sum of the window that ends with it. `first` begins a sum. `add`
    /// continues one, and takes the distance of the row below the window's centre.
    #[inline(always)]
    pub(super) fn push(&mut self, first: impl Fn(usize) -> f32, add: impl Fn(f32, i32, usize) -> f32) -> Row {
        const {
            assert!(
                COUNT == 2 * RADIUS && RADIUS >= 1 && RADIUS <= LANE_COLUMNS,
                "neighbours are in adjacent lanes"
            );
        };
        let plus = |sums: Row, below: i32| -> Row { array::from_fn(|i| add(sums[i], below, i)) };
        let ended = plus(self.0[0], RADIUS as i32);
        for window in 1..COUNT {
            self.0[window - 1] = plus(self.0[window], RADIUS as i32 - window as i32);
        }
        self.0[COUNT - 1] = array::from_fn(first);
        ended
    }

    /// Adds a row with symmetric weights: see [`symmetric_sum`].
    #[inline(always)]
    pub(super) fn push_symmetric(&mut self, weights: &Weights, row: Row) -> Row {
        self.push(
            |i| weights[RADIUS] * row[i],
            |sum, below, i| sum + weights[below.unsigned_abs() as usize] * row[i],
        )
    }

    /// Adds a row with antisymmetric weights: see [`antisymmetric_sum`].
    #[inline(always)]
    pub(super) fn push_antisymmetric(&mut self, weights: &Weights, row: Row) -> Row {
        self.push(
            |i| -weights[RADIUS] * row[i],
            |sum, below, i| match below {
                0 => sum,
                1.. => sum + weights[below as usize] * row[i],
                _ => sum - weights[below.unsigned_abs() as usize] * row[i],
            },
        )
    }
}
