//! Determinants of the layers, as vectors where samples lie side by side.

use std::ops::Range;

use harris_core::fast_hessian::{Hessian, Layer};

use crate::integral::{Row, Sums};
use crate::simd::{Simd, WithSimd, Work};

/// Some rows of a layer, and where their determinants go.
pub(super) struct Rows<'a> {
    pub(super) layer: Layer,
    /// Columns that are computed.
    pub(super) columns: Range<usize>,
    /// Rows that are computed.
    pub(super) rows: Range<usize>,
    /// What brings sums to the units of an image in 0..1.
    pub(super) unit: f32,
    /// Rows of `layer.width` determinants.
    pub(super) out: &'a mut [f32],
}

/// The determinants of rows of all layers, in the order of the image's rows so that sums are read from the caches.
pub(super) struct Respond<'a> {
    pub(super) sums: &'a Sums,
    pub(super) layers: Vec<Rows<'a>>,
}

impl WithSimd for Respond<'_> {
    type Output = ();

    fn with<V: Simd>(mut self, v: V) {
        let first = self.layers.iter().map(|rows| rows.rows.start * rows.layer.step).min().unwrap_or(0);
        let end = self.layers.iter().map(|rows| rows.rows.end * rows.layer.step).max().unwrap_or(0);
        for y in first..end {
            for rows in &mut self.layers {
                let step = rows.layer.step;
                if y % step == 0 && rows.rows.contains(&(y / step)) {
                    let start = (y / step - rows.rows.start) * rows.layer.width;
                    let out = &mut rows.out[start..start + rows.layer.width];
                    let filter = Filter::new(self.sums, rows.layer.filter, y);
                    filter.row(v, rows.layer.step, rows.columns.clone(), rows.unit, out);
                }
            }
        }
    }
}

/// The rows of sums that a filter reads, and where in them, from its centre.
struct Filter<'a> {
    /// For xx: above and below the lobes.
    flank: [Row<'a>; 2],
    /// For yy: above and below the whole, above and below the middle lobe.
    half: [Row<'a>; 2],
    middle: [Row<'a>; 2],
    /// For xy: around the quarters before, around those after.
    before: [Row<'a>; 2],
    after: [Row<'a>; 2],
    columns: Columns,
    width: isize,
}

/// Distances from the centre.
#[derive(Clone, Copy)]
struct Columns {
    half: isize,
    middle: isize,
    flank: isize,
    lobe: isize,
}

impl<'a> Filter<'a> {
    fn new(sums: &'a Sums, filter: usize, y: usize) -> Self {
        let (filter, y) = (filter as isize, y as isize);
        let lobe = filter / 3;
        let columns = Columns { half: filter / 2, middle: lobe / 2, flank: lobe - 1, lobe };
        let around = |distance: isize| [sums.row(y - distance), sums.row(y + distance + 1)];
        Self {
            flank: around(columns.flank),
            half: around(columns.half),
            middle: around(columns.middle),
            before: [sums.row(y - lobe), sums.row(y)],
            after: [sums.row(y + 1), sums.row(y + lobe + 1)],
            columns,
            width: sums.size().0 as isize,
        }
    }

    /// The determinants of some of a row's samples.
    fn row<V: Simd>(&self, v: V, step: usize, columns: Range<usize>, unit: f32, out: &mut [f32]) {
        // Those whose whole filter lies between the first and the last column.
        let half = self.columns.half as usize;
        let first = half.div_ceil(step).clamp(columns.start, columns.end);
        let end =
            ((self.width as usize + 1).saturating_sub(half + 1)).div_ceil(step).clamp(first, columns.end);
        let phases = self.flank[0].step();
        let inner = end - first;
        if step == phases && inner >= V::LANES {
            v.enter(Inner { filter: self, x: first * step, unit, out: &mut out[first..end] });
            self.each(step, columns.start..first, unit, out);
            self.each(step, end..columns.end, unit, out);
        } else {
            self.each(step, columns, unit, out);
        }
    }

    /// One by one, also where the filter reaches beyond the image.
    fn each(&self, step: usize, columns: Range<usize>, unit: f32, out: &mut [f32]) {
        for column in columns {
            out[column] = self.hessian((column * step) as isize).determinant(unit);
        }
    }

    fn hessian(&self, x: isize) -> Hessian {
        let Columns { half, middle, flank, lobe } = self.columns;
        // Between two columns of two rows.
        let sum = |[above, below]: [Row<'_>; 2], left: isize, right: isize| {
            let (above, below) = ([above.at(left), above.at(right)], [below.at(left), below.at(right)]);
            below[1].wrapping_sub(below[0]).wrapping_sub(above[1].wrapping_sub(above[0]))
        };
        let thrice = |sum: i32| sum.wrapping_mul(3);
        let xx = sum(self.flank, x - half, x + half + 1).wrapping_sub(thrice(sum(
            self.flank,
            x - middle,
            x + middle + 1,
        )));
        let yy = sum(self.half, x - flank, x + flank + 1).wrapping_sub(thrice(sum(
            self.middle,
            x - flank,
            x + flank + 1,
        )));
        let sides = |rows| sum(rows, x + 1, x + lobe + 1).wrapping_sub(sum(rows, x - lobe, x));
        let xy = sides(self.before).wrapping_sub(sides(self.after));
        Hessian { xx, yy, xy }
    }
}

/// The exact sums at a sample.
pub(super) fn hessian(sums: &Sums, filter: usize, x: usize, y: usize) -> Hessian {
    Filter::new(sums, filter, y).hessian(x as isize)
}

/// Samples whose filters lie inside, at the step of the sums' parts.
struct Inner<'a, 'b> {
    filter: &'b Filter<'a>,
    /// Column of the first.
    x: usize,
    unit: f32,
    out: &'b mut [f32],
}

impl Work for Inner<'_, '_> {
    type Output = ();

    #[inline(always)]
    fn run<V: Simd>(self, v: V) {
        let Self { filter, x, unit, out } = self;
        let Columns { half, middle, flank, lobe } = filter.columns;
        let len = out.len();
        macro_rules! lines {
            ($rows:expr; $($offset:expr),*) => { $rows.map(|row| [$(&row.every_step(x.wrapping_add_signed($offset))[..len]),*]) };
        }
        let xx = lines!(filter.flank; -half, half + 1, -middle, middle + 1);
        let yy = lines!(filter.half; -flank, flank + 1);
        let yy_middle = lines!(filter.middle; -flank, flank + 1);
        let before = lines!(filter.before; -lobe, 0, 1, lobe + 1);
        let after = lines!(filter.after; -lobe, 0, 1, lobe + 1);
        let (unit, weight) = (v.splat_f32(unit), v.splat_f32(0.81));
        let mut i = 0;
        loop {
            let sub = |a: V::I32, b: V::I32| v.sub_i32(a, b);
            let less_thrice =
                |whole: V::I32, part: V::I32| sub(whole, v.add_i32(v.add_i32(part, part), part));
            let load = |line: &[i32]| v.load_i32(line, i);
            let down =
                |rows: &[[&[i32]; 4]; 2], column: usize| sub(load(rows[1][column]), load(rows[0][column]));
            let across = |row: &[&[i32]; 2]| sub(load(row[1]), load(row[0]));
            let xx = less_thrice(sub(down(&xx, 1), down(&xx, 0)), sub(down(&xx, 3), down(&xx, 2)));
            let yy = less_thrice(
                sub(across(&yy[1]), across(&yy[0])),
                sub(across(&yy_middle[1]), across(&yy_middle[0])),
            );
            let sides = |rows: &[[&[i32]; 4]; 2]| {
                sub(sub(down(rows, 3), down(rows, 2)), sub(down(rows, 1), down(rows, 0)))
            };
            let xy = sub(sides(&before), sides(&after));
            let [xx, yy, xy] = [xx, yy, xy].map(|sum| v.mul(v.to_f32(sum), unit));
            v.store_f32(out, i, v.sub(v.mul(xx, yy), v.mul(v.mul(weight, xy), xy)));
            if i + V::LANES == len {
                break;
            }
            // The last vector may overlap the one before.
            i = (i + V::LANES).min(len - V::LANES);
        }
    }
}
