//! Areas of pixels around a tile of the border band, fields of their numbers in shared memory, and
//! the number types of the stages.

use core::array;

use super::geometry::Size;
use super::number::Number;
use crate::abi::border;
use crate::abi::border_band::{TILE, tiles_across};
use crate::{Simt, Word};

/// The number types of the stages.
pub(super) trait Arithmetic {
    /// Whether sums do not depend on the order of their terms.
    const IS_EXACT: bool;
    /// Type of samples.
    type Sample: Word;
    /// Type of smoothed samples and gradients.
    type Value: Number;
    /// Type of products, and of their sums along the columns of the window.
    type Product: Number;
    /// Type of sums over the whole window.
    type Sum: Number;

    /// Converts a sample.
    fn value(sample: Self::Sample) -> Self::Value;
    /// Multiplies two gradients.
    fn product(a: Self::Value, b: Self::Value) -> Self::Product;
    /// Converts a weight of the window.
    fn tap(tap: f32) -> Self::Product;
    /// Converts a sum along a column.
    fn sum(product: Self::Product) -> Self::Sum;
    /// Rounds a sum over the window to `f32`.
    fn rounded(sum: Self::Sum) -> f32;
}

macro_rules! arithmetics {
    ($($name:ident [$is_exact:literal]: $sample:ident, $value:ident, $product:ident, $sum:ident, $multiplied:expr;)*) => {$(
        pub(super) struct $name;

        impl Arithmetic for $name {
            const IS_EXACT: bool = $is_exact;
            type Sample = $sample;
            type Value = $value;
            type Product = $product;
            type Sum = $sum;

            #[inline(always)]
            fn value(sample: $sample) -> $value {
                sample.into()
            }
            #[inline(always)]
            fn product(a: $value, b: $value) -> $product {
                ($multiplied)(a, b)
            }
            #[inline(always)]
            fn tap(tap: f32) -> $product {
                tap as $product
            }
            #[inline(always)]
            fn sum(product: $product) -> $sum {
                product.into()
            }
            #[inline(always)]
            fn rounded(sum: $sum) -> f32 {
                sum as f32
            }
        }
    )*};
}

arithmetics! {
    // Column sums fit in 32 bits: they are at most 16 · 4080² or 31 · 1020² for one channel, 3 · 3
    // · 4080² for three.
    Bytes [true]: u8, i32, i32, i64, |a: i32, b: i32| a * b;
    Words [true]: u16, i32, i64, i64, |a: i32, b: i32| i64::from(a) * i64::from(b);
    Floats [false]: f32, f32, f32, f32, |a: f32, b: f32| a * b;
    // Bytes with a window of float weights.
    RoundedBytes [false]: u8, i32, f32, f32, |a: i32, b: i32| (a * b) as f32;
}

/// The stages from samples to responses.
#[derive(Clone, Copy)]
pub(super) struct Settings {
    pub(super) size: Size,
    pub(super) channels: u32,
    pub(super) border: u32,
    /// Radius of the binomial smoothing, 0 to 2.
    pub(super) smoothing: u32,
    pub(super) gradient: u32,
    /// Radius of the window.
    pub(super) window: u32,
    /// Whether the window is a box: all its weights are equal.
    pub(super) is_box: bool,
    /// Radius of suppression.
    pub(super) suppression_radius: u32,
    pub(super) scale: f32,
    pub(super) measure: u32,
    pub(super) parameter: f32,
    /// Weights of the window by distance from its centre; the last one holds for greater distances,
    /// too.
    pub(super) taps: [f32; 4],
}

impl Settings {
    /// Weight of the window at a distance from its centre.
    #[inline(always)]
    pub(super) fn tap(self, distance: u32) -> f32 {
        let [centre, first, second, last] = self.taps;
        match distance {
            0 => centre,
            1 => first,
            2 => second,
            _ => last,
        }
    }
}

/// A rectangle of pixels: columns `left..right`, rows `top..bottom`.
#[derive(Clone, Copy)]
pub(super) struct Area {
    pub(super) left: u32,
    pub(super) top: u32,
    pub(super) right: u32,
    pub(super) bottom: u32,
}

impl Area {
    /// The tile of a block. Tiles at the top come first, then those at the bottom, left and right.
    #[inline(always)]
    pub(super) fn tile(block: u32, size: Size, depth: u32) -> Self {
        let Size { width, height } = size;
        let across = tiles_across(width);
        if block < 2 * across {
            let left = block % across * TILE;
            let top = if block < across { 0 } else { height - depth };
            return Self { left, top, right: (left + TILE).min(width), bottom: top + depth };
        }
        let down = tiles_across(height - 2 * depth);
        let block = block - 2 * across;
        let left = if block < down { 0 } else { width - depth };
        let top = depth + block % down * TILE;
        Self { left, top, right: left + depth, bottom: (top + TILE).min(height - depth) }
    }

    /// The area with a margin of `across` columns and `down` rows on each side, clipped to the
    /// image.
    #[inline(always)]
    pub(super) fn expanded(self, across: u32, down: u32, size: Size) -> Self {
        Self {
            left: self.left.saturating_sub(across),
            top: self.top.saturating_sub(down),
            right: (self.right + across).min(size.width),
            bottom: (self.bottom + down).min(size.height),
        }
    }

    /// Number of columns.
    #[inline(always)]
    pub(super) fn columns(self) -> u32 {
        self.right - self.left
    }

    #[inline(always)]
    fn pixels(self) -> u32 {
        self.columns() * (self.bottom - self.top)
    }

    #[inline(always)]
    pub(super) fn contains(self, x: u32, y: u32) -> bool {
        x >= self.left && x < self.right && y >= self.top && y < self.bottom
    }

    /// Distributes the pixels over the threads of the block: `fetch` reads a pixel's number,
    /// `store` writes it.
    ///
    /// Each thread fetches `PIXELS_PER_FETCH` pixels before it stores the first of them.
    #[inline(always)]
    pub(super) fn for_each<S: Simt, T: Copy, const PIXELS_PER_FETCH: usize>(
        self,
        s: S,
        fetch: impl Fn(u32, u32) -> T,
        mut store: impl FnMut(u32, u32, T),
    ) {
        let columns = self.columns();
        let (mut x, mut y) = (s.thread() % columns, s.thread() / columns);
        // The distance from one pixel of a thread to its next.
        let (across, down) = (s.threads() % columns, s.threads() / columns);
        let rows = self.bottom - self.top;
        while y < rows {
            let places: [_; PIXELS_PER_FETCH] = array::from_fn(|_| {
                let place = (self.left + x, self.top + y.min(rows - 1), y < rows);
                (x, y) = (x + across, y + down);
                if x >= columns {
                    (x, y) = (x - columns, y + 1);
                }
                place
            });
            let fetched = places.map(|(x, y, _)| fetch(x, y));
            for i in 0..PIXELS_PER_FETCH {
                let (x, y, is_inside) = places[i];
                if is_inside {
                    store(x, y, fetched[i]);
                }
            }
        }
    }
}

/// Numbers of an area's pixels in shared memory, with a border rule for pixels outside the image.
#[derive(Clone, Copy)]
pub(super) struct Field<S: Simt> {
    pub(super) s: S,
    pub(super) area: Area,
    /// Its first word of shared memory; an even one if numbers have 64 bits.
    pub(super) first: u32,
    /// Size of the image.
    pub(super) size: Size,
    /// A border rule of [`abi::border`](crate::abi::border).
    pub(super) rule: u32,
}

impl<S: Simt> Field<S> {
    /// Words of shared memory that an area's numbers of type `T` need.
    #[inline(always)]
    pub(super) fn words<T: Word>(area: Area) -> u32 {
        area.pixels() * const { T::BYTES.div_ceil(4) as u32 }
    }

    /// Index of a pixel's number.
    #[inline(always)]
    fn index(self, x: u32, y: u32) -> u32 {
        (y - self.area.top) * self.area.columns() + (x - self.area.left)
    }

    /// Reads the number of a pixel in the area.
    #[inline(always)]
    pub(super) fn get<T: Word>(self, x: u32, y: u32) -> T {
        let i = self.index(x, y);
        T::from_bits(match T::BYTES {
            8 => self.s.shared(self.first / 2 + i),
            _ => self.s.shared_word(self.first + i).into(),
        })
    }

    /// Writes the number of a pixel in the area.
    #[inline(always)]
    pub(super) fn set<T: Word>(self, x: u32, y: u32, value: T) {
        let i = self.index(x, y);
        match T::BYTES {
            8 => self.s.set_shared(self.first / 2 + i, value.into_bits()),
            _ => self.s.set_shared_word(self.first + i, value.into_bits() as u32),
        }
    }

    /// The number at `x`, `y`, by the border rule if the pixel lies outside. There is no branch, as
    /// most pixels lie inside.
    #[inline(always)]
    pub(super) fn at<T: Number>(self, x: i32, y: i32) -> T {
        let nearest = |i: i32, len: u32| i.max(0).min(len as i32 - 1);
        let (column, row) = (nearest(x, self.size.width), nearest(y, self.size.height));
        let number = self.get(column as u32, row as u32);
        if self.rule == border::ZERO && (column != x || row != y) { T::ZERO } else { number }
    }
}
