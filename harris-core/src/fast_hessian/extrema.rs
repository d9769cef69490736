//! Peaks in scale space and their place between samples (Brown and Lowe 2002).

/// The determinants around a sample: layer (bottom, middle, top), row, column.
pub type Cube = [[[f32; 3]; 3]; 3];

/// How far a peak lies from its sample, each within ±0.5: columns and rows in samples, layers in
/// intervals.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Offset {
    /// Across.
    pub x: f32,
    /// Down.
    pub y: f32,
    /// Towards the larger filter.
    pub layer: f32,
}

/// Whether the determinant in the middle is greater than the 26 around it.
#[must_use]
pub fn is_peak(cube: &Cube) -> bool {
    let centre = cube[1][1][1];
    let mut greatest = f32::NEG_INFINITY;
    for (i, &value) in cube.as_flattened().as_flattened().iter().enumerate() {
        if i != 13 {
            greatest = greatest.max(value);
        }
    }
    centre > greatest
}

/// Where the parabola through the cube has its peak; `None` where that is half a sample away or
/// more, or nowhere.
///
/// One step of Newton's method, its 3 × 3 system solved by Cramer's rule; docs/arithmetic.md,
/// section 11, has the order of operations.
#[must_use]
pub fn offset(cube: &Cube) -> Option<Offset> {
    let [bottom, middle, top] = cube;
    let v = middle[1][1];
    // In units of the peak, so that products neither vanish nor overflow.
    let one = 1.0 / v;
    let gx = (0.5 * (middle[1][2] - middle[1][0])) * one;
    let gy = (0.5 * (middle[2][1] - middle[0][1])) * one;
    let gs = (0.5 * (top[1][1] - bottom[1][1])) * one;
    let xx = ((middle[1][2] + middle[1][0]) - 2.0 * v) * one;
    let yy = ((middle[2][1] + middle[0][1]) - 2.0 * v) * one;
    let ss = ((top[1][1] + bottom[1][1]) - 2.0 * v) * one;
    let xy = (0.25 * ((middle[2][2] - middle[2][0]) - (middle[0][2] - middle[0][0]))) * one;
    let xs = (0.25 * ((top[1][2] - top[1][0]) - (bottom[1][2] - bottom[1][0]))) * one;
    let ys = (0.25 * ((top[2][1] - top[0][1]) - (bottom[2][1] - bottom[0][1]))) * one;
    // The adjugate, which is symmetric.
    let (a, b, c) = (yy * ss - ys * ys, xs * ys - xy * ss, xy * ys - xs * yy);
    let (d, e, f) = (xx * ss - xs * xs, xy * xs - xx * ys, xx * yy - xy * xy);
    let determinant = (xx * a + xy * b) + xs * c;
    let x = -((a * gx + b * gy) + c * gs) / determinant;
    let y = -((b * gx + d * gy) + e * gs) / determinant;
    let layer = -((c * gx + e * gy) + f * gs) / determinant;
    // What is not a number is not within.
    let within = |offset: f32| offset.abs() < 0.5;
    (within(x) && within(y) && within(layer)).then_some(Offset { x, y, layer })
}

#[cfg(test)]
mod tests {
    use super::*;

    fn cube(value: impl Fn(f32, f32, f32) -> f32) -> Cube {
        std::array::from_fn(|s| {
            std::array::from_fn(|y| {
                std::array::from_fn(|x| value(x as f32 - 1.0, y as f32 - 1.0, s as f32 - 1.0))
            })
        })
    }

    #[test]
    fn the_peak_of_a_paraboloid_is_found() {
        let at = Offset { x: 0.25, y: -0.375, layer: 0.125 };
        let paraboloid = cube(|x, y, s| {
            let (x, y, s) = (x - at.x, y - at.y, s - at.layer);
            8.0 - x * x - 2.0 * y * y - 1.5 * s * s + 0.5 * x * y - 0.25 * y * s + 0.125 * x * s
        });
        assert!(is_peak(&paraboloid));
        let found = offset(&paraboloid).unwrap();
        approx::assert_abs_diff_eq!(found.x, at.x, epsilon = 1e-6);
        approx::assert_abs_diff_eq!(found.y, at.y, epsilon = 1e-6);
        approx::assert_abs_diff_eq!(found.layer, at.layer, epsilon = 1e-6);
    }

    #[test]
    fn flat_and_far_peaks_are_none() {
        assert_eq!(offset(&cube(|_, _, _| 1.0)), None);
        assert_eq!(offset(&cube(|x, y, s| 9.0 - (x - 0.6).powi(2) - y * y - s * s)), None);
        assert!(!is_peak(&cube(|x, _, _| 1.0 - x * x)));
        for i in 0..27 {
            let mut peak = cube(|x, y, s| 1.0 - x * x - y * y - s * s);
            assert!(is_peak(&peak));
            peak.as_flattened_mut().as_flattened_mut()[i] = 1.0;
            assert_eq!(is_peak(&peak), i == 13, "{i}");
        }
    }
}
