//! Response measures on vectors: the only file of this crate that a new measure touches.

use harris_core::Measure;

use crate::simd::Simd;

/// A measure of the tensor [a b; b c], with its constants as vectors.
pub(crate) trait Formula<V: Simd> {
    /// The response: one operation each in the order of docs/arithmetic.md, response.
    fn response(&self, v: V, a: V::F32, b: V::F32, c: V::F32) -> V::F32;

    /// An upper bound on the response, whatever b is and however small the numbers are: operations
    /// of the response without b, each of which rounds to no less.
    fn upper_bound(&self, v: V, a: V::F32, c: V::F32) -> V::F32;
}

/// `det − (k·t)·t`
pub(crate) struct Harris<V: Simd> {
    k: V::F32,
}

impl<V: Simd> Harris<V> {
    #[inline(always)]
    pub(crate) fn new(v: V, k: f32) -> Self {
        Self { k: v.splat_f32(k) }
    }
}

impl<V: Simd> Formula<V> for Harris<V> {
    #[inline(always)]
    fn response(&self, v: V, a: V::F32, b: V::F32, c: V::F32) -> V::F32 {
        let trace = v.add(a, c);
        let det = v.sub(v.mul(a, c), v.mul(b, b));
        v.sub(det, v.mul(v.mul(self.k, trace), trace))
    }

    #[inline(always)]
    fn upper_bound(&self, v: V, a: V::F32, c: V::F32) -> V::F32 {
        v.mul(a, c)
    }
}

/// `m − √(d·d + b·b)`
pub(crate) struct ShiTomasi<V: Simd> {
    half: V::F32,
}

impl<V: Simd> ShiTomasi<V> {
    #[inline(always)]
    pub(crate) fn new(v: V) -> Self {
        Self { half: v.splat_f32(0.5) }
    }
}

impl<V: Simd> Formula<V> for ShiTomasi<V> {
    #[inline(always)]
    fn response(&self, v: V, a: V::F32, b: V::F32, c: V::F32) -> V::F32 {
        let mean = v.mul(v.add(a, c), self.half);
        let d = v.mul(v.sub(a, c), self.half);
        v.sub(mean, v.sqrt(v.add(v.mul(d, d), v.mul(b, b))))
    }

    #[inline(always)]
    fn upper_bound(&self, v: V, a: V::F32, c: V::F32) -> V::F32 {
        v.mul(v.add(a, c), self.half)
    }
}

/// `(2·det) / (t + eps)`
pub(crate) struct Noble<V: Simd> {
    two: V::F32,
    eps: V::F32,
}

impl<V: Simd> Noble<V> {
    #[inline(always)]
    pub(crate) fn new(v: V, eps: f32) -> Self {
        Self { two: v.splat_f32(2.0), eps: v.splat_f32(eps) }
    }
}

impl<V: Simd> Formula<V> for Noble<V> {
    #[inline(always)]
    fn response(&self, v: V, a: V::F32, b: V::F32, c: V::F32) -> V::F32 {
        let trace = v.add(a, c);
        let det = v.sub(v.mul(a, c), v.mul(b, b));
        v.div(v.mul(self.two, det), v.add(trace, self.eps))
    }

    #[inline(always)]
    fn upper_bound(&self, v: V, a: V::F32, c: V::F32) -> V::F32 {
        v.div(v.mul(self.two, v.mul(a, c)), v.add(v.add(a, c), self.eps))
    }
}

/// `(m − s) − alpha·(m + s)`, `s = √(d·d + b·b)`
pub(crate) struct Triggs<V: Simd> {
    half: V::F32,
    alpha: V::F32,
}

impl<V: Simd> Triggs<V> {
    #[inline(always)]
    pub(crate) fn new(v: V, alpha: f32) -> Self {
        Self { half: v.splat_f32(0.5), alpha: v.splat_f32(alpha) }
    }
}

impl<V: Simd> Formula<V> for Triggs<V> {
    #[inline(always)]
    fn response(&self, v: V, a: V::F32, b: V::F32, c: V::F32) -> V::F32 {
        let mean = v.mul(v.add(a, c), self.half);
        let d = v.mul(v.sub(a, c), self.half);
        let root = v.sqrt(v.add(v.mul(d, d), v.mul(b, b)));
        v.sub(v.sub(mean, root), v.mul(self.alpha, v.add(mean, root)))
    }

    #[inline(always)]
    fn upper_bound(&self, v: V, a: V::F32, c: V::F32) -> V::F32 {
        let mean = v.mul(v.add(a, c), self.half);
        v.sub(mean, v.mul(self.alpha, mean))
    }
}

/// Compiles an expression for each measure, whose formula is a value in it.
macro_rules! for_measure {
    ($v:expr, $measure:expr, $formula:ident => $value:expr) => {
        match $measure {
            harris_core::Measure::Harris { k } => {
                let $formula = $crate::sweep::measure::Harris::new($v, k);
                $value
            }
            harris_core::Measure::ShiTomasi => {
                let $formula = $crate::sweep::measure::ShiTomasi::new($v);
                $value
            }
            harris_core::Measure::Noble { eps } => {
                let $formula = $crate::sweep::measure::Noble::new($v, eps);
                $value
            }
            harris_core::Measure::Triggs { alpha } => {
                let $formula = $crate::sweep::measure::Triggs::new($v, alpha);
                $value
            }
        }
    };
}
pub(crate) use for_measure;

/// The response by a measure that the compiler does not know.
#[inline(always)]
pub(crate) fn response<V: Simd>(v: V, measure: Measure, a: V::F32, b: V::F32, c: V::F32) -> V::F32 {
    for_measure!(v, measure, formula => formula.response(v, a, b, c))
}

/// [`Formula::upper_bound`] by a measure that the compiler does not know.
#[inline(always)]
pub(crate) fn upper_bound<V: Simd>(v: V, measure: Measure, a: V::F32, c: V::F32) -> V::F32 {
    for_measure!(v, measure, formula => formula.upper_bound(v, a, c))
}
