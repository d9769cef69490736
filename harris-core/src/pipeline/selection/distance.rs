//! The least distance between corners.

use super::order::Listed;
use crate::error::Error;
use crate::memory;

/// Side of a block of pixels: one bit a pixel makes one word a row.
const SIDE: usize = 64;

/// Keeps, in the order given, each corner that is at least `distance` from all corners kept before.
///
/// At most `most` corners are kept. Each takes the pixels that are nearer to it than `distance`.
pub(super) fn keep_apart<T: Listed>(
    corners: &mut Vec<T>,
    distance: f64,
    most: usize,
    words: &mut Vec<u64>,
) -> Result<(), Error> {
    let mut taken = Taken::new(words, extent(corners), squared(distance))?;
    let mut kept = 0;
    for i in 0..corners.len() {
        if kept == most {
            break;
        }
        let (x, y) = corners[i].place();
        if !taken.has(x, y) {
            taken.take(x, y)?;
            corners[kept] = corners[i];
            kept += 1;
        }
    }
    corners.truncate(kept);
    Ok(())
}

/// Calls `keep` for the first `most` corners that are kept whatever else the image may contain.
///
/// Such a corner is at least `distance` from every stronger one that may be kept itself, and
/// `all_is_known` around it. Returns how many would be kept if there were no other corners, at most
/// `most`.
pub(super) fn certain<T: Listed>(
    corners: &[T],
    distance: f64,
    most: usize,
    all_is_known: impl Fn(usize, usize) -> bool,
    mut keep: impl FnMut(T),
    [taken, doubtful]: [&mut Vec<u64>; 2],
) -> Result<usize, Error> {
    let mut taken = Taken::new(taken, extent(corners), squared(distance))?;
    let mut doubtful = Taken::new(doubtful, extent(corners), squared(distance))?;
    let (mut kept, mut uncertain) = (0, 0);
    for &corner in corners {
        if kept == most {
            return Ok(kept);
        }
        let (x, y) = corner.place();
        if taken.has(x, y) {
            continue;
        }
        let is_doubtful = doubtful.has(x, y);
        if is_doubtful || !all_is_known(x, y) {
            uncertain += usize::from(!is_doubtful);
            doubtful.take(x, y)?;
            continue;
        }
        taken.take(x, y)?;
        keep(corner);
        kept += 1;
    }
    Ok(kept + uncertain)
}

/// The greatest column and the greatest row of any corner.
fn extent<T: Listed>(corners: &[T]) -> (usize, usize) {
    let places = corners.iter().map(|corner| corner.place());
    places.fold((0, 0), |(x, y), (u, v)| (x.max(u), y.max(v)))
}

/// The least integer that is at least d·d, one product in f64.
///
/// Squared distances between pixels are integers, so dx² + dy² ≥ d·d means dx² + dy² ≥ this
/// integer. The conversion saturates at 2⁶⁴, which no squared distance in an image reaches.
fn squared(distance: f64) -> u64 {
    (distance * distance).ceil() as u64
}

/// The pixels that are too near to a kept corner, one bit each.
struct Taken<'a> {
    /// First an index: where each block of pixels starts, row by row, or 0 while no pixel of it is
    /// taken. Then the blocks, a word a row.
    words: &'a mut Vec<u64>,
    /// Blocks in a row.
    columns: usize,
    /// The greatest column of a corner.
    right: usize,
    /// The greatest row of a corner.
    bottom: usize,
    /// Half widths of the disc that a corner takes: in its own row, in the next one, and so on.
    half_widths: Vec<usize>,
    /// The disc as bits, all rows from the top on, with the corner at bit [`CENTRE`]. Empty where
    /// the disc is wider than a word.
    disc: Vec<u64>,
}

/// The bit of the corner in a row of the disc.
const CENTRE: usize = SIDE / 2 - 1;

impl<'a> Taken<'a> {
    fn new(words: &'a mut Vec<u64>, (right, bottom): (usize, usize), squared: u64) -> Result<Self, Error> {
        let columns = right / SIDE + 1;
        words.clear();
        memory::resize(words, columns * (bottom / SIDE + 1), 0)?;
        let is_near = |dx: usize, dy: usize| (dx as u64).pow(2) + (dy as u64).pow(2) < squared;
        let mut half_width = right;
        let half_widths = memory::collect((0..=bottom).map_while(|dy| {
            while half_width > 0 && !is_near(half_width, dy) {
                half_width -= 1;
            }
            is_near(half_width, dy).then_some(half_width)
        }))?;
        let bits = |&half: &usize| u64::MAX >> (SIDE - 1 - 2 * half) << (CENTRE - half);
        let rows = if half_widths[0] <= CENTRE { &half_widths[..] } else { &[] };
        // At most as many rows as a word has bits.
        let disc = rows.iter().skip(1).rev().chain(rows).map(bits).collect();
        Ok(Self { words, columns, right, bottom, half_widths, disc })
    }

    /// Whether the pixel is too near to a kept corner.
    fn has(&self, x: usize, y: usize) -> bool {
        let start = self.words[y / SIDE * self.columns + x / SIDE] as usize;
        start > 0 && self.words[start + y % SIDE] >> (x % SIDE) & 1 == 1
    }

    /// Takes the pixels that are too near to a corner.
    fn take(&mut self, x: usize, y: usize) -> Result<(), Error> {
        let (down, across) = (self.half_widths.len() - 1, self.half_widths[0]);
        let (top, bottom) = (y.saturating_sub(down), (y + down).min(self.bottom));
        let (left, right) = (x.saturating_sub(across), (x + across).min(self.right));
        for row in top / SIDE..=bottom / SIDE {
            for column in left / SIDE..=right / SIDE {
                let start = self.block(row * self.columns + column)?;
                let block = &mut self.words[start..start + SIDE];
                let first = top.max(row * SIDE);
                let rows = &mut block[first % SIDE..=bottom.min(row * SIDE + SIDE - 1) % SIDE];
                if self.disc.is_empty() {
                    for (y_near, row) in (first..).zip(rows) {
                        *row |= bits_near(x, self.half_widths[y_near.abs_diff(y)], column * SIDE);
                    }
                    continue;
                }
                // One shift serves all rows, so the compiler takes several rows at once.
                let disc = &self.disc[first + down - y..][..rows.len()];
                let (left, right) = (column * SIDE + CENTRE)
                    .checked_sub(x)
                    .map_or_else(|| ((x - column * SIDE - CENTRE) as u32, 0), |right| (0, right as u32));
                for (row, bits) in rows.iter_mut().zip(disc) {
                    *row |= bits << left >> right;
                }
            }
        }
        Ok(())
    }

    /// Where block number `i` starts in the words; allocated on first use.
    fn block(&mut self, i: usize) -> Result<usize, Error> {
        if self.words[i] == 0 {
            let start = self.words.len();
            memory::reserve(self.words, SIDE)?;
            self.words.resize(start + SIDE, 0);
            self.words[i] = start as u64;
        }
        Ok(self.words[i] as usize)
    }
}

/// The pixels of a block's row that are at most `half_width` away from column `x`, as bits.
///
/// `first` is the block's first column.
fn bits_near(x: usize, half_width: usize, first: usize) -> u64 {
    let (left, right) = (x.saturating_sub(half_width).max(first), (x + half_width).min(first + SIDE - 1));
    if left <= right { u64::MAX >> (SIDE - 1 - (right - left)) << (left - first) } else { 0 }
}
