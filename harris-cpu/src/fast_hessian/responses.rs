//! Determinants of the layers, by vectors where samples lie side by side.

use std::ops::Range;

use harris_core::fast_hessian::{Hessian, Layer};
use harris_core::{Error, memory};

use crate::integral::{Row, Sums};
use crate::simd::{Simd, SimdKernel, WithSimd};

/// Some rows of a layer and their determinants.
pub(super) struct Rows<'a> {
    pub(super) layer: Layer,
    /// Columns that are computed.
    pub(super) columns: Range<usize>,
    /// Rows that are computed.
    pub(super) rows: Range<usize>,
    /// The factor to the units of an image in 0..1.
    pub(super) unit: f32,
    /// The value of determinants that do not exceed it.
    pub(super) least: f32,
    /// Determinants, rows `pitch` apart.
    pub(super) out: &'a mut [f32],
    pub(super) pitch: usize,
}

/// The determinants of rows of all layers, in the order of the image's rows, so that caches hold
/// the sums.
pub(super) struct Respond<'a> {
    pub(super) sums: &'a Sums,
    pub(super) layers: Vec<Rows<'a>>,
}

impl WithSimd for Respond<'_> {
    type Output = Result<(), Error>;

    fn with<V: Simd>(mut self, v: V) -> Result<(), Error> {
        let first = self.layers.iter().map(|rows| rows.layer.pixel(rows.rows.start)).min().unwrap_or(0);
        let end = self.layers.iter().map(|rows| rows.layer.pixel(rows.rows.end)).max().unwrap_or(0);
        let mut between = Vec::new();
        for y in first..end {
            for rows in &mut self.layers {
                let Layer { filter, step, origin, width, .. } = rows.layer;
                let Some(down) = y.checked_sub(origin) else { continue };
                if down % step == 0 && rows.rows.contains(&(down / step)) {
                    let start = (down / step - rows.rows.start) * rows.pitch;
                    let out = &mut rows.out[start..start + width];
                    let columns = rows.columns.clone();
                    let line = Line { step, origin, columns, unit: rows.unit, least: rows.least, out };
                    Filter::new(self.sums, filter, y).row(v, line, &mut between)?;
                }
            }
        }
        Ok(())
    }
}

/// A row of a layer's samples.
struct Line<'a> {
    /// Pixels between samples.
    step: usize,
    /// The pixel of the first sample.
    origin: usize,
    /// Samples that are computed.
    columns: Range<usize>,
    /// The factor to the units of an image in 0..1.
    unit: f32,
    /// The value of determinants that do not exceed it.
    least: f32,
    /// The determinants.
    out: &'a mut [f32],
}

/// The rows of sums that a filter reads, and where in them, relative to its centre.
struct Filter<'a> {
    /// For xx: above and below the lobes.
    flank: [Row<'a>; 2],
    /// For yy: above and below the whole filter, above and below the middle lobe.
    half: [Row<'a>; 2],
    middle: [Row<'a>; 2],
    /// For xy: around the quarters before the centre, around those behind it.
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
    fn row<V: Simd>(&self, v: V, line: Line<'_>, between: &mut Vec<f32>) -> Result<(), Error> {
        let Line { step, origin, columns, unit, least, out } = line;
        // Samples whose whole filter lies between the first and the last column.
        let half = self.columns.half as usize;
        let samples_before = |pixel: usize| pixel.saturating_sub(origin).div_ceil(step);
        let first = samples_before(half).clamp(columns.start, columns.end);
        let end = samples_before((self.width as usize).saturating_sub(half)).clamp(first, columns.end);
        for column in (columns.start..first).chain(end..columns.end) {
            out[column] = self.hessian((origin + column * step) as isize).determinant(unit, least);
        }
        if first == end {
            return Ok(());
        }
        let stride = step / self.flank[0].step();
        let len = (end - first - 1) * stride + 1;
        let lines = Lines::new(self, origin + first * step, len);
        let out = &mut out[first..end];
        if len < V::LANES {
            for (i, out) in out.iter_mut().enumerate() {
                *out = lines.hessian(i * stride).determinant(unit, least);
            }
        } else if stride == 1 {
            v.enter(InnerSamples { lines, unit, least, out });
        } else {
            // All columns are computed: vectors of which an eighth is used are faster than numbers
            // one by one.
            memory::resize(between, len, 0.0)?;
            v.enter(InnerSamples { lines, unit, least, out: between });
            for (out, value) in out.iter_mut().zip(between.iter().step_by(stride)) {
                *out = *value;
            }
        }
        Ok(())
    }

    fn hessian(&self, x: isize) -> Hessian {
        let Columns { half, middle, flank, lobe } = self.columns;
        // The sum between two columns of two rows.
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

/// The sums that the filters of neighbouring samples read, from the first sample on.
struct Lines<'a> {
    /// At the ends of the whole filter, then of the middle lobe, above and below.
    xx: [[&'a [i32]; 4]; 2],
    /// At both sides, above and below the whole filter and the middle lobe.
    yy: [[&'a [i32]; 2]; 2],
    yy_middle: [[&'a [i32]; 2]; 2],
    /// At the ends of the quarters to the left, then to the right, above and below.
    before: [[&'a [i32]; 4]; 2],
    after: [[&'a [i32]; 4]; 2],
}

impl<'a> Lines<'a> {
    /// Reads `len` sums for samples from column `x` on whose filters lie inside.
    fn new(filter: &Filter<'a>, x: usize, len: usize) -> Self {
        fn lines<'a, const N: usize>(
            rows: [Row<'a>; 2],
            x: usize,
            offsets: [isize; N],
            len: usize,
        ) -> [[&'a [i32]; N]; 2] {
            rows.map(|row| offsets.map(|offset| &row.every_step(x.wrapping_add_signed(offset))[..len]))
        }
        let Columns { half, middle, flank, lobe } = filter.columns;
        let quarters = [-lobe, 0, 1, lobe + 1];
        Self {
            xx: lines(filter.flank, x, [-half, half + 1, -middle, middle + 1], len),
            yy: lines(filter.half, x, [-flank, flank + 1], len),
            yy_middle: lines(filter.middle, x, [-flank, flank + 1], len),
            before: lines(filter.before, x, quarters, len),
            after: lines(filter.after, x, quarters, len),
        }
    }

    /// The sums of one sample.
    #[inline(always)]
    fn hessian(&self, i: usize) -> Hessian {
        let between = |from: &[i32], to: &[i32]| to[i].wrapping_sub(from[i]);
        let less_thrice = |outer: i32, middle: i32| outer.wrapping_sub(middle.wrapping_mul(3));
        let [above, below] = &self.xx;
        let xx = less_thrice(
            between(below[0], below[1]).wrapping_sub(between(above[0], above[1])),
            between(below[2], below[3]).wrapping_sub(between(above[2], above[3])),
        );
        let pair = |[above, below]: &[[&[i32]; 2]; 2]| {
            between(below[0], below[1]).wrapping_sub(between(above[0], above[1]))
        };
        let yy = less_thrice(pair(&self.yy), pair(&self.yy_middle));
        let sides = |[above, below]: &[[&[i32]; 4]; 2]| {
            let quarters = |row: &[&[i32]; 4]| between(row[2], row[3]).wrapping_sub(between(row[0], row[1]));
            quarters(below).wrapping_sub(quarters(above))
        };
        Hessian { xx, yy, xy: sides(&self.before).wrapping_sub(sides(&self.after)) }
    }
}

/// Samples that lie side by side, at least as many as a vector has lanes.
struct InnerSamples<'a, 'b> {
    lines: Lines<'a>,
    unit: f32,
    least: f32,
    out: &'b mut [f32],
}

impl SimdKernel for InnerSamples<'_, '_> {
    type Output = ();

    #[inline(always)]
    fn run<V: Simd>(self, v: V) {
        let Self { lines, unit, least, out } = self;
        let len = out.len();
        let (unit, weight, least) = (v.splat_f32(unit), v.splat_f32(0.81), v.splat_f32(least));
        let mut i = 0;
        loop {
            let at = SumVectors { v, i };
            let xx = at.less_thrice(at.four(&lines.xx, 0), at.four(&lines.xx, 2));
            let yy = at.less_thrice(at.pair(&lines.yy), at.pair(&lines.yy_middle));
            let xy = v.sub_i32(at.sides(&lines.before), at.sides(&lines.after));
            let xx = v.mul(v.to_f32(xx), unit);
            let yy = v.mul(v.to_f32(yy), unit);
            let xy = v.mul(v.to_f32(xy), unit);
            let determinant = v.sub(v.mul(xx, yy), v.mul(v.mul(weight, xy), xy));
            // Of −0 and +0 it gives the second.
            v.store_f32(out, i, v.max(determinant, least));
            if i + V::LANES == len {
                break;
            }
            // The last vector may overlap the one before.
            i = (i + V::LANES).min(len - V::LANES);
        }
    }
}

/// Vectors of sums from place `i` on. They are functions, as closures would not be inlined.
#[derive(Clone, Copy)]
struct SumVectors<V> {
    v: V,
    i: usize,
}

impl<V: Simd> SumVectors<V> {
    #[inline(always)]
    fn between(self, from: &[i32], to: &[i32]) -> V::I32 {
        self.v.sub_i32(self.v.load_i32(to, self.i), self.v.load_i32(from, self.i))
    }

    #[inline(always)]
    fn less_thrice(self, outer: V::I32, middle: V::I32) -> V::I32 {
        self.v.sub_i32(outer, self.v.add_i32(self.v.add_i32(middle, middle), middle))
    }

    /// The sum between two of four columns.
    #[inline(always)]
    fn four(self, rows: &[[&[i32]; 4]; 2], first: usize) -> V::I32 {
        let below = self.between(rows[1][first], rows[1][first + 1]);
        self.v.sub_i32(below, self.between(rows[0][first], rows[0][first + 1]))
    }

    #[inline(always)]
    fn pair(self, rows: &[[&[i32]; 2]; 2]) -> V::I32 {
        self.v.sub_i32(self.between(rows[1][0], rows[1][1]), self.between(rows[0][0], rows[0][1]))
    }

    #[inline(always)]
    fn sides(self, rows: &[[&[i32]; 4]; 2]) -> V::I32 {
        self.v.sub_i32(self.four(rows, 2), self.four(rows, 0))
    }
}
