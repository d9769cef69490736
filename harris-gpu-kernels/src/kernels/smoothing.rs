//! Binomial smoothing: along rows, then along columns.

use core::array;

use super::geometry::{Plane, Size, start};
use super::lines::binomial;
use super::number::Number;
use super::thread_per_column::{ColumnSweep, down, push};
use crate::Simt;

macro_rules! binomials {
    ($($name:ident: $word:ident, $radius:literal $(, $divides:ident)?;)*) => {$(
        pub(crate) fn $name<S: Simt>(
            s: S,
            from: S::Buffer<$word>,
            to: S::Buffer<$word>,
            width: u32,
            height: u32,
            rows: u32,
            border: u32,
            $($divides: u32,)?
        ) {
            let divides = true $(&& $divides != 0)?;
            smooth::<S, $word, $radius>(s, from, to, Size { width, height }, rows, border, divides);
        }
    )*};
}

binomials! {
    binomial3_i32: i32, 1, divides;
    binomial5_i32: i32, 2;
    binomial3_f32: f32, 1, divides;
    binomial5_f32: f32, 2;
}

#[inline(always)]
fn smooth<S: Simt, T: Number, const RADIUS: usize>(
    s: S,
    from: S::Buffer<T>,
    to: S::Buffer<T>,
    size: Size,
    rows: u32,
    border: u32,
    divides: bool,
) {
    let sweep = ColumnSweep::new(s, size, rows);
    let plane = Plane::new(s, from, size, border);
    let r = RADIUS as i32;
    // From the column `RADIUS` to the left on.
    let columns: [Option<u32>; 5] = array::from_fn(|i| plane.column(sweep.x as i32 + i as i32 - r));
    let fetch = |y: i32| -> [T; 5] {
        let row = plane.row(y);
        array::from_fn(|i| if i <= 2 * RADIUS { plane.sample(row, columns[i]) } else { T::ZERO })
    };
    let mut ring = [T::ZERO; 4];
    if sweep.top < sweep.bottom {
        down(sweep.top as i32 - r, sweep.bottom as i32 + r, fetch, |y, samples| {
            let row = binomial(RADIUS, |i| samples[(r + i) as usize]);
            let centre = y - r;
            if centre >= sweep.top as i32 {
                // The latest row is not yet in the ring.
                let sum = binomial(RADIUS, |i| if i == r { row } else { ring[(r - 1 - i) as usize] });
                let sum = if divides { sum.mean(RADIUS) } else { sum };
                s.store(to, start(s, size) + size.index(sweep.x, centre as u32) as usize, sum);
            }
            push(&mut ring, row);
        });
    }
}
