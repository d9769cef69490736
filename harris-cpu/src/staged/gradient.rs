//! The gradient of a block of rows.

use std::array;
use std::ops::Range;

use harris_core::pipeline::taps;
use harris_core::{Error, Gradient, HarrisConfig};

use super::block::Block;
use super::line::{self, Element};
use crate::buffers::Buffers;

/// Computes gx and gy for the rows `rows`, without padding.
pub(crate) fn gradient<G: Element>(
    p: Block<G>,
    config: &HarrisConfig,
    rows: Range<usize>,
    buffers: &mut Buffers,
) -> Result<(Block<G>, Block<G>), Error> {
    let mut gx = Block::like(&p, rows.clone(), 0, buffers)?;
    let mut gy = Block::like(&p, rows, 0, buffers)?;
    match config.gradient() {
        Gradient::Sobel3 => sobel(&p, &mut gx, &mut gy, |outer| outer, G::weight(2)),
        Gradient::Sobel5 => wide_sobel(&p, &mut gx, &mut gy, differences5, binomial5),
        Gradient::Sobel7 => wide_sobel(&p, &mut gx, &mut gy, differences7, binomial7),
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
        Gradient::Box { size } => boxes(&p, &mut gx, &mut gy, (size / 2) as usize, buffers)?,
        Gradient::GaussianDerivative { size, sigma } => {
            let (g, d) = (taps::gaussian(size, sigma), taps::gaussian_derivative(size, sigma));
            separable(&p, &mut gx, &g, &d, buffers)?;
            separable(&p, &mut gy, &d, &g, buffers)?;
        }
    }
    p.put(buffers);
    Ok((gx, gy))
}

/// \[-1 0 1\] in one direction, \[w₁ w₀ w₁\] in the other; `outer` multiplies by w₁.
fn sobel<G: Element>(p: &Block<G>, gx: &mut Block<G>, gy: &mut Block<G>, outer: impl Fn(G) -> G, w0: G) {
    let width = p.width();
    // Three rows, each from the left neighbour on: p(x − 1) is element x.
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

/// `across` of rows of `N` samples and then `along` the column for gx, `along` of rows and then
/// `across` the column for gy.
fn wide_sobel<G: Element, const N: usize>(
    p: &Block<G>,
    gx: &mut Block<G>,
    gy: &mut Block<G>,
    across: impl Fn([G; N]) -> G,
    along: impl Fn([G; N]) -> G,
) {
    let radius = (N / 2) as isize;
    // The rows around, each from the first sample that matters to column 0 on.
    let around = |y: usize| array::from_fn::<_, N, _>(|j| p.padded(y as isize + j as isize - radius));
    let at = |row: &[G], x: usize| array::from_fn::<_, N, _>(|i| row[x + i]);
    gx.compute(|y, out| {
        let rows = around(y);
        for (x, out) in out.iter_mut().enumerate() {
            *out = along(rows.map(|row| across(at(row, x))));
        }
    });
    gy.compute(|y, out| {
        let rows = around(y);
        for (x, out) in out.iter_mut().enumerate() {
            *out = across(rows.map(|row| along(at(row, x))));
        }
    });
}

/// \[-1 -2 0 2 1\]
fn differences5<G: Element>([a, b, _, d, e]: [G; 5]) -> G {
    (e - a) + G::weight(2) * (d - b)
}

/// \[-1 -4 -5 0 5 4 1\]
fn differences7<G: Element>([a, b, c, _, e, f, g]: [G; 7]) -> G {
    ((g - a) + G::weight(4) * (f - b)) + G::weight(5) * (e - c)
}

/// \[1 4 6 4 1\]
fn binomial5<G: Element>([a, b, c, d, e]: [G; 5]) -> G {
    ((a + e) + G::weight(4) * (b + d)) + G::weight(6) * c
}

/// \[1 6 15 20 15 6 1\]
fn binomial7<G: Element>([a, b, c, d, e, f, g]: [G; 7]) -> G {
    (((a + g) + G::weight(6) * (b + f)) + G::weight(15) * (c + e)) + G::weight(20) * d
}

/// The sum of the h lines on one side minus that on the other, each line 2·h + 1 long. Exact sums
/// slide from row to row and from place to place, so that their cost does not grow with h.
fn boxes<G: Element>(
    p: &Block<G>,
    gx: &mut Block<G>,
    gy: &mut Block<G>,
    h: usize,
    buffers: &mut Buffers,
) -> Result<(), Error> {
    let width = p.width();
    let reach = h as isize;
    let first = gx.rows().start as isize;

    // Column sums of a padded row are those of the extended plane.
    let mut columns = buffers.take::<G>(width + 2 * h)?;
    // Sums of h columns: the left side of x from element x on, the right side from x + h + 1 on.
    let mut sides = buffers.take::<G>(width + h + 1)?;
    gx.compute(|y, out| {
        let y = y as isize;
        if G::EXACT && y > first {
            line::slide(&mut columns, p.padded(y + reach), p.padded(y - 1 - reach));
        } else {
            line::sum(&mut columns, (-reach..=reach).map(|i| p.padded(y + i)));
        }
        if G::EXACT {
            line::sum_across(&mut sides, &columns, h);
            line::combine(out, &sides[h + 1..], &sides, |right, left| right - left);
        } else {
            let moved = |dx: isize| &columns[h.wrapping_add_signed(dx)..][..width];
            after_minus_before(out, &mut sides[..width], h, moved);
        }
    });

    let mut rows = Block::<G>::like(p, p.rows(), 0, buffers)?;
    rows.compute(|y, out| line::sum_across(out, p.padded(y as isize), 2 * h + 1));
    let mut differences = buffers.take::<G>(width)?;
    gy.compute(|y, out| {
        let row = |dy: isize| rows.row(0, y as isize + dy);
        if G::EXACT && y as isize > first {
            // Below, row y + h enters and row y leaves; above, row y − 1 enters and row y − 1 − h
            // leaves.
            line::slide(&mut differences, row(reach), row(0));
            line::slide(&mut differences, row(-1 - reach), row(-1));
            out.copy_from_slice(&differences);
        } else {
            after_minus_before(out, &mut sides[..width], h, row);
            differences.copy_from_slice(out);
        }
    });
    rows.put(buffers);
    buffers.put(columns);
    buffers.put(sides);
    buffers.put(differences);
    Ok(())
}

/// out = (line(1) + ... + line(h)) − (line(−1) + ... + line(−h)), each from near to far.
fn after_minus_before<'a, G: Element>(
    out: &mut [G],
    before: &mut [G],
    h: usize,
    line: impl Fn(isize) -> &'a [G],
) {
    line::sum(out, (1..=h as isize).map(&line));
    line::sum(before, (1..=h as isize).map(|i| line(-i)));
    line::update(out, before, |after, before| after - before);
}

/// Weighted sums down, then across. Columns of a padded row are those of the extended plane.
fn separable<G: Element>(
    p: &Block<G>,
    out: &mut Block<G>,
    down: &[f32],
    across: &[f32],
    buffers: &mut Buffers,
) -> Result<(), Error> {
    let r = (down.len() / 2) as isize;
    let width = p.width();
    let mut column = buffers.take::<G>(width + 2 * r as usize)?;
    out.compute(|y, out| {
        line::weighted_sum(&mut column, down, (-r..=r).map(|i| p.padded(y as isize + i)));
        line::weighted_sum(out, across, column.windows(width));
    });
    buffers.put(column);
    Ok(())
}
