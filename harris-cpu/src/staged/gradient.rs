//! The gradient of a block of rows.

use std::ops::Range;

use harris_core::pipeline::taps;
use harris_core::{Gradient, HarrisConfig};

use super::block::Block;
use super::line::{self, Element};
use crate::workspace::Buffers;

/// gx and gy for the rows `rows`, not padded.
pub(crate) fn gradient<G: Element>(
    p: Block<G>,
    config: &HarrisConfig,
    rows: Range<usize>,
    buffers: &mut Buffers,
) -> (Block<G>, Block<G>) {
    let mut gx = Block::like(&p, rows.clone(), 0, buffers);
    let mut gy = Block::like(&p, rows, 0, buffers);
    match config.gradient() {
        Gradient::Sobel3 => sobel(&p, &mut gx, &mut gy, |outer| outer, G::weight(2)),
        Gradient::Scharr3 => sobel(&p, &mut gx, &mut gy, |outer| G::weight(3) * outer, G::weight(10)),
        Gradient::Central => {
            gx.compute(|y, out| {
                let y = y as isize;
                line::combine(out, p.row(1, y), p.row(-1, y), |right, left| right - left);
            });
            gy.compute(|y, out| {
                let y = y as isize;
                line::combine(out, p.row(0, y + 1), p.row(0, y - 1), |lower, upper| lower - upper);
            });
        }
        Gradient::Box { size } => boxes(&p, &mut gx, &mut gy, (size / 2) as usize, buffers),
        Gradient::GaussianDerivative { size, sigma } => {
            let (g, d) = (taps::gaussian(size, sigma), taps::gaussian_derivative(size, sigma));
            separable(&p, &mut gx, &g, &d, buffers);
            separable(&p, &mut gy, &d, &g, buffers);
        }
    }
    p.put(buffers);
    (gx, gy)
}

/// \[-1 0 1\] in one direction, \[w₁ w₀ w₁\] in the other; `outer` multiplies by w₁.
fn sobel<G: Element>(p: &Block<G>, gx: &mut Block<G>, gy: &mut Block<G>, outer: impl Fn(G) -> G, w0: G) {
    let width = p.width();
    // The three rows, each from its left neighbour on: p(x − 1) is element x.
    let around = |y: usize| [-1, 0, 1].map(|dy| &p.padded(y as isize + dy)[..width + 2]);
    gx.compute(|y, out| {
        let [up, here, down] = around(y);
        for (x, out) in out.iter_mut().enumerate() {
            let d = |row: &[G]| row[x + 2] - row[x];
            *out = outer(d(up) + d(down)) + w0 * d(here);
        }
    });
    gy.compute(|y, out| {
        let [up, _, down] = around(y);
        for (x, out) in out.iter_mut().enumerate() {
            let e = |row: &[G]| outer(row[x] + row[x + 2]) + w0 * row[x + 1];
            *out = e(down) - e(up);
        }
    });
}

/// The sum of the h lines on one side minus that on the other, each line 2·h + 1 long.
fn boxes<G: Element>(p: &Block<G>, gx: &mut Block<G>, gy: &mut Block<G>, h: usize, buffers: &mut Buffers) {
    let width = p.width();
    let reach = h as isize;
    let mut columns = buffers.take::<G>(width + 2 * h);
    let mut far_side = buffers.take::<G>(width);
    gx.compute(|y, out| {
        let y = y as isize;
        // Column sums of a padded row are those of the extended plane.
        line::sum(&mut columns, (-reach..=reach).map(|i| p.padded(y + i)));
        let moved = |dx: isize| &columns[h.wrapping_add_signed(dx)..][..width];
        line::sum(out, (1..=reach).map(&moved));
        line::sum(&mut far_side, (1..=reach).map(|i| moved(-i)));
        line::update(out, &far_side, |right, left| right - left);
    });
    let mut rows = Block::<G>::like(p, p.rows(), 0, buffers);
    rows.compute(|y, out| line::sum(out, (-reach..=reach).map(|i| p.row(i, y as isize))));
    gy.compute(|y, out| {
        let y = y as isize;
        line::sum(out, (1..=reach).map(|i| rows.row(0, y + i)));
        line::sum(&mut far_side, (1..=reach).map(|i| rows.row(0, y - i)));
        line::update(out, &far_side, |lower, upper| lower - upper);
    });
    rows.put(buffers);
    buffers.put(columns);
    buffers.put(far_side);
}

/// Weighted sums down, then across. Columns of a padded row are those of the extended plane.
fn separable<G: Element>(
    p: &Block<G>,
    out: &mut Block<G>,
    down: &[f32],
    across: &[f32],
    buffers: &mut Buffers,
) {
    let r = (down.len() / 2) as isize;
    let width = p.width();
    let mut column = buffers.take::<G>(width + 2 * r as usize);
    out.compute(|y, out| {
        line::weighted_sum(&mut column, down, (-r..=r).map(|i| p.padded(y as isize + i)));
        line::weighted_sum(out, across, column.windows(width));
    });
    buffers.put(column);
}
