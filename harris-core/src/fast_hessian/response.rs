//! Second derivatives by box filters (Bay et al. 2008, section 4.2).

use crate::integral::Integral;

/// Sums of gray levels under the three filters at a pixel: exact integers.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Hessian {
    /// Second derivative across: a lobe of weight −2 between two of weight 1.
    pub xx: i32,
    /// Second derivative down: a lobe of weight −2 between two of weight 1.
    pub yy: i32,
    /// Mixed derivative: two diagonal lobes of weight 1 and two of weight −1.
    pub xy: i32,
}

impl Hessian {
    /// The sums under filters of width `filter`, centred at a pixel.
    #[must_use]
    pub fn at(integral: &Integral, filter: usize, x: usize, y: usize) -> Self {
        let (x, y, filter) = (x as i32, y as i32, filter as i32);
        let (lobe, half) = (filter / 3, filter / 2);
        let (middle, flank) = (lobe / 2, lobe - 1);
        // The difference is right modulo 2³², and it fits in a signed 32-bit integer.
        let less_thrice = |whole: u32, part: u32| whole.wrapping_sub(part.wrapping_mul(3)) as i32;
        let xx = less_thrice(
            integral.sum(x - half, y - flank, x + half + 1, y + flank + 1),
            integral.sum(x - middle, y - flank, x + middle + 1, y + flank + 1),
        );
        let yy = less_thrice(
            integral.sum(x - flank, y - half, x + flank + 1, y + half + 1),
            integral.sum(x - flank, y - middle, x + flank + 1, y + middle + 1),
        );
        let (before, after) = ((-lobe, 0), (1, lobe + 1));
        let quarter = |across: (i32, i32), down: (i32, i32)| {
            integral.sum(x + across.0, y + down.0, x + across.1, y + down.1)
        };
        let xy = quarter(after, before)
            .wrapping_add(quarter(before, after))
            .wrapping_sub(quarter(before, before))
            .wrapping_sub(quarter(after, after)) as i32;
        Self { xx, yy, xy }
    }

    /// The determinant in the units of an image in 0..1: Dxx·Dyy − (0.81·Dxy)·Dxy with D = sum ·
    /// `unit`.
    ///
    /// At least `least`, which is
    /// [`FastHessianConfig::min_determinant`](super::FastHessianConfig::min_determinant).
    #[must_use]
    #[inline]
    pub fn determinant(&self, unit: f32, least: f32) -> f32 {
        let [xx, yy, xy] = [self.xx, self.yy, self.xy].map(|sum| sum as f32 * unit);
        let determinant = xx * yy - 0.81 * xy * xy;
        if determinant > least { determinant } else { least }
    }

    /// Whether the trace is at least 0: a dark blob on light ground.
    #[must_use]
    #[inline]
    pub fn is_dark(&self) -> bool {
        // −yy does not overflow: configurations whose sums reach 2³¹ in magnitude are errors.
        self.xx >= -self.yy
    }
}

/// Factor that scales a filter's sums to the units of an image in 0..1.
///
/// 1 / (filter² · levels), computed in f64.
#[must_use]
pub fn unit(filter: usize, levels: u32) -> f32 {
    (1.0 / ((filter * filter) as f64 * f64::from(levels))) as f32
}
