//! Corners at least so far from each other.

use super::order::Listed;

/// Side of a square of pixels.
const SIDE: usize = 64;

/// Keeps those corners, `most` at most, that are at least `distance` from all that were kept before, in the order given: each that is kept
/// takes the pixels that are nearer.
pub(super) fn spread<T: Listed>(corners: &mut Vec<T>, distance: f64, most: usize, memory: &mut Vec<u64>) {
    let mut taken = Taken::new(memory, far(corners), squared(distance));
    let mut kept = 0;
    for i in 0..corners.len() {
        if kept == most {
            break;
        }
        let (x, y) = corners[i].place();
        if !taken.has(x, y) {
            taken.take(x, y);
            corners[kept] = corners[i];
            kept += 1;
        }
    }
    corners.truncate(kept);
}

/// The first `most` that are kept whatever corners there may be where not `all_is_known` around: such as are at least as far from all
/// that are stronger and may be kept themselves. Returns how many would be kept if there were no others, or `most`.
pub(super) fn certain<T: Listed>(
    corners: &[T],
    distance: f64,
    most: usize,
    all_is_known: impl Fn(usize, usize) -> bool,
    mut keep: impl FnMut(T),
    [taken, doubtful]: [&mut Vec<u64>; 2],
) -> usize {
    let [mut taken, mut doubtful] =
        [taken, doubtful].map(|memory| Taken::new(memory, far(corners), squared(distance)));
    let (mut kept, mut perhaps) = (0, 0);
    for &corner in corners {
        if kept == most {
            return kept;
        }
        let (x, y) = corner.place();
        if taken.has(x, y) {
            continue;
        }
        let is_doubtful = doubtful.has(x, y);
        if is_doubtful || !all_is_known(x, y) {
            perhaps += usize::from(!is_doubtful);
            doubtful.take(x, y);
            continue;
        }
        taken.take(x, y);
        keep(corner);
        kept += 1;
    }
    kept + perhaps
}

/// The farthest column and row.
fn far<T: Listed>(corners: &[T]) -> (usize, usize) {
    let places = corners.iter().map(|corner| corner.place());
    places.fold((0, 0), |(x, y), (u, v)| (x.max(u), y.max(v)))
}

/// The least integer that is at least d·d, one product in 64-bit floats. Squared distances between pixels are integers, so
/// that dx² + dy² ≥ d·d is the same as dx² + dy² ≥ it. No two pixels are 2⁶⁴ apart in squares, where the conversion
/// saturates.
fn squared(distance: f64) -> u64 {
    (distance * distance).ceil() as u64
}

/// The pixels that are too near to a corner, a bit each.
struct Taken<'a> {
    /// For each square of pixels, row by row, where it starts, or 0 as long as none of it is taken; then these squares, a word a row.
    words: &'a mut Vec<u64>,
    /// Squares in a row.
    columns: usize,
    /// The farthest column and row.
    right: usize,
    bottom: usize,
    /// Of the pixels that a corner takes: how far they reach to each side, in its own row, in the next one, and so on.
    reaches: Vec<usize>,
    /// The same as bits, all rows from the top on, with the corner at bit [`CENTRE`]; none where they reach farther than that.
    discs: Vec<u64>,
}

const CENTRE: usize = SIDE / 2 - 1;

impl<'a> Taken<'a> {
    fn new(words: &'a mut Vec<u64>, (right, bottom): (usize, usize), squared: u64) -> Self {
        let columns = right / SIDE + 1;
        words.clear();
        words.resize(columns * (bottom / SIDE + 1), 0);
        let is_near = |dx: usize, dy: usize| (dx as u64).pow(2) + (dy as u64).pow(2) < squared;
        let mut reach = right;
        let reaches: Vec<_> = (0..=bottom)
            .map_while(|dy| {
                while reach > 0 && !is_near(reach, dy) {
                    reach -= 1;
                }
                is_near(reach, dy).then_some(reach)
            })
            .collect();
        let bits = |&reach: &usize| u64::MAX >> (SIDE - 1 - 2 * reach) << (CENTRE - reach);
        let rows = if reaches[0] <= CENTRE { &reaches[..] } else { &[] };
        let discs = rows.iter().skip(1).rev().chain(rows).map(bits).collect();
        Self { words, columns, right, bottom, reaches, discs }
    }

    fn has(&self, x: usize, y: usize) -> bool {
        let start = self.words[y / SIDE * self.columns + x / SIDE] as usize;
        start > 0 && self.words[start + y % SIDE] >> (x % SIDE) & 1 == 1
    }

    /// Takes the pixels around a corner.
    fn take(&mut self, x: usize, y: usize) {
        let (down, across) = (self.reaches.len() - 1, self.reaches[0]);
        let (top, bottom) = (y.saturating_sub(down), (y + down).min(self.bottom));
        let (left, right) = (x.saturating_sub(across), (x + across).min(self.right));
        for row in top / SIDE..=bottom / SIDE {
            for column in left / SIDE..=right / SIDE {
                let start = self.square(row * self.columns + column);
                let square = &mut self.words[start..start + SIDE];
                let first = top.max(row * SIDE);
                let rows = &mut square[first % SIDE..=bottom.min(row * SIDE + SIDE - 1) % SIDE];
                if self.discs.is_empty() {
                    for (y_near, row) in (first..).zip(rows) {
                        *row |= bits_near(x, self.reaches[y_near.abs_diff(y)], column * SIDE);
                    }
                    continue;
                }
                // The same for all rows, which are thus taken several at once.
                let discs = &self.discs[first + down - y..][..rows.len()];
                let (left, right) = (column * SIDE + CENTRE)
                    .checked_sub(x)
                    .map_or_else(|| ((x - column * SIDE - CENTRE) as u32, 0), |right| (0, right as u32));
                for (row, disc) in rows.iter_mut().zip(discs) {
                    *row |= disc << left >> right;
                }
            }
        }
    }

    /// Where a square starts.
    fn square(&mut self, i: usize) -> usize {
        if self.words[i] == 0 {
            self.words[i] = self.words.len() as u64;
            self.words.resize(self.words.len() + SIDE, 0);
        }
        self.words[i] as usize
    }
}

/// The pixels of a square's row, from column `first` on, that are at most `reach` beside `x`.
fn bits_near(x: usize, reach: usize, first: usize) -> u64 {
    let (left, right) = (x.saturating_sub(reach).max(first), (x + reach).min(first + SIDE - 1));
    if left <= right { u64::MAX >> (SIDE - 1 - (right - left)) << (left - first) } else { 0 }
}
