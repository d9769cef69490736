//! Keypoints, and the order of results.

use std::cmp::Ordering;

/// A corner or a blob: its place, scale and response.
///
/// Keypoints are equal when all their bits are. They are ordered by magnitude of the response, the
/// strongest first, and of equal magnitudes the positive first. Then follow top to bottom, left to
/// right, and scale. The order is total, so sorting a list gives one result however the list was
/// made.
///
/// Results come in this order unless a configuration chooses other [ties](crate::Ties).
///
/// ```
/// use harris_core::Keypoint;
///
/// let mut found = [Keypoint::new(7.0, 2.0, 0.5), Keypoint::new(3.0, 2.0, 0.5), Keypoint::new(0.0, 9.0, 0.8)];
/// found.sort();
/// assert_eq!(found.map(|k| (k.x, k.y)), [(0.0, 9.0), (3.0, 2.0), (7.0, 2.0)]);
/// ```
#[derive(Clone, Copy, Debug, Default)]
#[cfg_attr(feature = "serde", derive(serde::Serialize, serde::Deserialize))]
#[repr(C)]
pub struct Keypoint {
    /// Column in pixels; the centre of the leftmost pixel is 0.
    pub x: f32,
    /// Row in pixels; the centre of the topmost pixel is 0.
    pub y: f32,
    /// Size of the structure in pixels; 1 for single-scale detectors.
    ///
    /// For blobs the σ of the Gaussian that the Fast-Hessian filter approximates, 1.2 for 9 × 9.
    pub scale: f32,
    /// The measure's value at the pixel, in the units of an image in 0..1.
    ///
    /// For blobs the determinant of the Hessian with the sign of its trace: positive for dark blobs
    /// on light ground, negative for light blobs on dark ground.
    pub response: f32,
}

#[cfg(feature = "cust_core")]
#[allow(unsafe_code, reason = "a promise about the type's memory")]
// SAFETY: four plain floats in C's layout, without references; all bit patterns are valid.
unsafe impl cust_core::DeviceCopy for Keypoint {}

impl Keypoint {
    /// Makes a keypoint of scale 1.
    #[must_use]
    pub const fn new(x: f32, y: f32, response: f32) -> Self {
        Self { x, y, scale: 1.0, response }
    }

    /// Column and row of the nearest pixel in an image of `width` × `height` pixels.
    ///
    /// Halves are rounded to the right and down. `None` where the pixel lies outside the image.
    ///
    /// ```
    /// use harris_core::Keypoint;
    ///
    /// assert_eq!(Keypoint::new(2.4, 6.5, 0.1).pixel(8, 8), Some([2, 7]));
    /// assert_eq!(Keypoint::new(-0.6, 6.5, 0.1).pixel(8, 8), None);
    /// ```
    #[must_use]
    pub fn pixel(&self, width: usize, height: usize) -> Option<[usize; 2]> {
        let along = |place: f32, length: usize| {
            let whole = place.floor();
            let nearest = whole + f32::from(u8::from(place - whole >= 0.5));
            (nearest >= 0.0 && nearest < length as f32).then_some(nearest as usize)
        };
        Some([along(self.x, width)?, along(self.y, height)?])
    }

    /// Compares in raster order: from top to bottom, then from left to right, then as [`Ord`] does.
    #[must_use]
    pub fn raster_cmp(&self, other: &Self) -> Ordering {
        self.y.total_cmp(&other.y).then(self.x.total_cmp(&other.x)).then_with(|| self.cmp(other))
    }
}

impl Keypoint {
    /// One number that orders keypoints: strength descending, then y, x and scale ascending.
    ///
    /// Comparing it has no branches, which makes sorting long lists faster.
    fn rank(&self) -> u128 {
        let [y, x, scale] = [self.y, self.x, self.scale].map(|v| u128::from(ordered_bits(v)));
        u128::from(!strength(self.response)) << 96 | y << 64 | x << 32 | scale
    }
}

/// A number that orders responses by magnitude, then sign: of equal magnitudes the positive is
/// greater.
pub(crate) fn strength(response: f32) -> u32 {
    response.to_bits().rotate_left(1) ^ 1
}

/// An integer that compares as [`f32::total_cmp`] does.
fn ordered_bits(value: f32) -> u32 {
    let bits = value.to_bits();
    // Negative numbers: invert all bits, as greater magnitudes come first. Others: the sign alone.
    bits ^ ((bits as i32 >> 31) as u32 | 1 << 31)
}

impl Ord for Keypoint {
    fn cmp(&self, other: &Self) -> Ordering {
        self.rank().cmp(&other.rank())
    }
}

impl PartialOrd for Keypoint {
    fn partial_cmp(&self, other: &Self) -> Option<Ordering> {
        Some(self.cmp(other))
    }
}

impl PartialEq for Keypoint {
    fn eq(&self, other: &Self) -> bool {
        self.cmp(other).is_eq()
    }
}

impl Eq for Keypoint {}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn keypoints_are_equal_when_their_bits_are() {
        let zero = Keypoint::new(0.0, 1.0, 2.0);
        assert_eq!(zero, zero);
        assert_ne!(zero, Keypoint { x: -0.0, ..zero });
        assert_ne!(zero, Keypoint { scale: 2.0, ..zero });
        let nan = Keypoint::new(0.0, 0.0, f32::NAN);
        assert_eq!(nan, nan);
    }

    #[test]
    fn bits_are_ordered_as_total_cmp_orders_numbers() {
        let numbers =
            [f32::NEG_INFINITY, -2.5, -1e-40, -0.0, 0.0, 1e-40, 1.0, 1.5, f32::MAX, f32::INFINITY, f32::NAN];
        for a in numbers {
            for b in numbers.into_iter().chain([-f32::NAN]) {
                assert_eq!(ordered_bits(a).cmp(&ordered_bits(b)), a.total_cmp(&b), "{a} {b}");
            }
        }
    }

    #[test]
    fn stronger_comes_first_then_higher_then_further_left() {
        let k = |x, y, r| Keypoint::new(x, y, r);
        let sorted = [k(5.0, 5.0, 3.0), k(9.0, 0.0, 2.0), k(0.0, 1.0, 2.0), k(1.0, 1.0, 2.0)];
        let mut shuffled = [sorted[2], sorted[0], sorted[3], sorted[1]];
        shuffled.sort_unstable();
        assert_eq!(shuffled, sorted);
        let mut signed =
            [k(0.0, 0.0, -0.0), k(0.0, 0.0, 1.0), k(0.0, 0.0, -1.0), k(0.0, 0.0, -3.0), k(0.0, 0.0, 0.0)];
        signed.sort_unstable();
        assert_eq!(signed.map(|k| k.response.to_bits()), [-3.0_f32, 1.0, -1.0, 0.0, -0.0].map(f32::to_bits));
        shuffled.sort_unstable_by(Keypoint::raster_cmp);
        assert_eq!(shuffled, [sorted[1], sorted[2], sorted[3], sorted[0]]);
    }
}
