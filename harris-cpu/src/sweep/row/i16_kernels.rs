//! Row kernels on samples: smoothing and gradient, in 16-bit integers.
//!
//! Kernels work on the whole vectors that cover `span`; the elements that they write around it mean
//! nothing.

use std::ops::Range;

use crate::rows::Row16;
use crate::simd::{Simd, SimdKernel, vectors};
use crate::sweep::stage_kinds::{StageSmoothing, ThreeTaps};
use crate::sweep::vectors_i16::weigh;

/// The first step of smoothing: the weighted sum of samples down each column.
pub(crate) struct SmoothDown<'a> {
    pub(crate) smoothing: StageSmoothing,
    /// The rows y − 2 to y + 2, of which the smoothing uses those of its aperture; all of one
    /// length.
    pub(crate) rows: [&'a [u8]; 5],
    /// A row of equal length, for prefetching.
    pub(crate) ahead: &'a [u8],
    pub(crate) out: &'a mut Row16,
    /// The element of `out` for the first sample of the rows.
    pub(crate) start: usize,
}

impl SimdKernel for SmoothDown<'_> {
    type Output = ();

    #[inline(always)]
    fn run<V: Simd>(self, v: V) {
        match self.smoothing {
            StageSmoothing::Binomial3 => self.by::<V, 3>(v),
            StageSmoothing::Binomial5 => self.by::<V, 5>(v),
            // Plans have the last one by floats.
            StageSmoothing::None | StageSmoothing::Binomial3Exact => self.by::<V, 1>(v),
        }
    }
}

impl SmoothDown<'_> {
    #[inline(always)]
    fn by<V: Simd, const APERTURE: usize>(self, v: V) {
        let lanes = 2 * V::LANES;
        let width = self.rows[2].len();
        let rows = self.rows.map(|row| &row[..width]);
        // Whole vectors, the last one moved back to end with the row; a shorter row is copied
        // first.
        if width < lanes {
            let mut copies = [[0; 32]; 5];
            for (copy, row) in copies.iter_mut().zip(rows) {
                copy[..width].copy_from_slice(row);
            }
            let sum = down::<V, APERTURE>(v, copies.each_ref().map(|copy| &copy[..]), 0);
            v.store_i16(self.out, self.start, sum);
            return;
        }
        let mut i = 0;
        while i + lanes <= width {
            v.prefetch(self.ahead, i);
            v.store_i16(self.out, self.start + i, down::<V, APERTURE>(v, rows, i));
            i += lanes;
        }
        if i < width {
            let i = width - lanes;
            v.store_i16(self.out, self.start + i, down::<V, APERTURE>(v, rows, i));
        }
    }
}

#[inline(always)]
fn down<V: Simd, const APERTURE: usize>(v: V, rows: [&[u8]; 5], i: usize) -> V::I16 {
    let centre = v.load_u8(rows[2], i);
    match APERTURE {
        1 => centre,
        3 => binomial3(v, v.load_u8(rows[1], i), centre, v.load_u8(rows[3], i)),
        _ => {
            let [p0, p1] = [v.load_u8(rows[0], i), v.load_u8(rows[1], i)];
            binomial5(v, p0, p1, centre, v.load_u8(rows[3], i), v.load_u8(rows[4], i))
        }
    }
}

/// The second step: the weighted sum across, rounded.
pub(crate) struct SmoothAcross<'a> {
    pub(crate) smoothing: StageSmoothing,
    pub(crate) sums: &'a Row16,
    pub(crate) out: &'a mut Row16,
    pub(crate) span: Range<usize>,
}

impl SimdKernel for SmoothAcross<'_> {
    type Output = ();

    #[inline(always)]
    fn run<V: Simd>(self, v: V) {
        let Self { smoothing, sums, out, span } = self;
        let vectors = vectors(span, 2 * V::LANES);
        match smoothing {
            StageSmoothing::Binomial3 => {
                let half = v.splat_i16(8);
                for i in vectors {
                    let sum =
                        binomial3(v, v.load_i16(sums, i - 1), v.load_i16(sums, i), v.load_i16(sums, i + 1));
                    v.store_i16(out, i, v.shift_right_4(v.add_i16(sum, half)));
                }
            }
            StageSmoothing::Binomial5 => {
                let half = v.splat_i16(128);
                for i in vectors {
                    let [p0, p1, p2] =
                        [v.load_i16(sums, i - 2), v.load_i16(sums, i - 1), v.load_i16(sums, i)];
                    let sum = binomial5(v, p0, p1, p2, v.load_i16(sums, i + 1), v.load_i16(sums, i + 2));
                    // Up to 256 · 255 + 128: all 16 bits, unsigned.
                    v.store_i16(out, i, v.shift_right_8(v.add_i16(sum, half)));
                }
            }
            StageSmoothing::None | StageSmoothing::Binomial3Exact => {
                for i in vectors {
                    v.store_i16(out, i, v.load_i16(sums, i));
                }
            }
        }
    }
}

#[inline(always)]
fn binomial3<V: Simd>(v: V, before: V::I16, centre: V::I16, after: V::I16) -> V::I16 {
    v.add_i16(v.add_i16(before, after), v.add_i16(centre, centre))
}

#[inline(always)]
fn binomial5<V: Simd>(v: V, p0: V::I16, p1: V::I16, p2: V::I16, p3: V::I16, p4: V::I16) -> V::I16 {
    // 4·(p₁ + p₃) + 6·p₂ = 2·(2·(p₁ + p₃ + p₂) + p₂)
    let inner = v.add_i16(v.add_i16(p1, p3), p2);
    let half = v.add_i16(v.add_i16(inner, inner), p2);
    v.add_i16(v.add_i16(p0, p4), v.add_i16(half, half))
}

/// gx and gy of a row from the three smoothed rows around it.
pub(crate) struct Differentiate<'a> {
    pub(crate) gradient: ThreeTaps,
    /// The rows above, at and below.
    pub(crate) smoothed: [&'a Row16; 3],
    /// Rows for the sums and differences down the columns.
    pub(crate) lines: [&'a mut Row16; 2],
    pub(crate) gx: &'a mut Row16,
    pub(crate) gy: &'a mut Row16,
    pub(crate) span: Range<usize>,
}

impl SimdKernel for Differentiate<'_> {
    type Output = ();

    #[inline(always)]
    fn run<V: Simd>(self, v: V) {
        match self.gradient {
            ThreeTaps::Central => self.central(v),
            ThreeTaps::Sobel => self.weighted(v, ThreeTaps::Sobel),
            ThreeTaps::Scharr => self.weighted(v, ThreeTaps::Scharr),
            ThreeTaps::Box => self.weighted(v, ThreeTaps::Box),
        }
    }
}

impl Differentiate<'_> {
    #[inline(always)]
    fn central<V: Simd>(self, v: V) {
        let Self { smoothed: [up, here, down], gx, gy, span, .. } = self;
        for i in vectors(span, 2 * V::LANES) {
            v.store_i16(gx, i, v.sub_i16(v.load_i16(here, i + 1), v.load_i16(here, i - 1)));
            v.store_i16(gy, i, v.sub_i16(v.load_i16(down, i), v.load_i16(up, i)));
        }
    }

    /// Down the columns first: the sums for gx, the differences for gy.
    #[inline(always)]
    fn weighted<V: Simd>(self, v: V, gradient: ThreeTaps) {
        let Self { smoothed: [up, here, down], lines: [sums, differences], gx, gy, span, .. } = self;
        for i in vectors(span.start - 1..span.end + 1, 2 * V::LANES) {
            let (u, h, d) = (v.load_i16(up, i), v.load_i16(here, i), v.load_i16(down, i));
            v.store_i16(sums, i, weigh(v, gradient, u, h, d));
            v.store_i16(differences, i, v.sub_i16(d, u));
        }
        for i in vectors(span, 2 * V::LANES) {
            v.store_i16(gx, i, v.sub_i16(v.load_i16(sums, i + 1), v.load_i16(sums, i - 1)));
            let [l, c, r] =
                [v.load_i16(differences, i - 1), v.load_i16(differences, i), v.load_i16(differences, i + 1)];
            v.store_i16(gy, i, weigh(v, gradient, l, c, r));
        }
    }
}
