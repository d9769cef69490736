//! What a camera does to an image.

use fastrand::Rng;
use ndarray::Array2;

/// Blur, light and noise, in that order; the default changes nothing.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Degradation {
    /// Standard deviation of a Gaussian blur, in pixels; 0 for none.
    pub blur: f64,
    /// What levels are multiplied with.
    pub gain: f64,
    /// What is added to levels of 0 to 1 then.
    pub offset: f64,
    /// Standard deviation of Gaussian noise, in levels of 255; 0 for none.
    pub noise: f64,
    /// Of the noise: the same seed gives the same.
    pub seed: u64,
}

impl Default for Degradation {
    fn default() -> Self {
        Self { blur: 0.0, gain: 1.0, offset: 0.0, noise: 0.0, seed: 0 }
    }
}

impl Degradation {
    /// The degraded image of levels of 0 to 1, in 8 bits.
    ///
    /// ```
    /// use harris_evaluation::Degradation;
    /// use ndarray::array;
    ///
    /// let darker = Degradation { gain: 0.5, ..Degradation::default() };
    /// assert_eq!(darker.apply(&array![[0.0, 1.0, 0.4]]), array![[0, 128, 51]]);
    /// ```
    #[must_use]
    pub fn apply(&self, levels: &Array2<f64>) -> Array2<u8> {
        let mut random = Rng::with_seed(self.seed);
        let mut grain = || match self.noise {
            // Twelve uniform numbers have a variance of 1.
            noise if noise > 0.0 => ((0..12).map(|_| random.f64()).sum::<f64>() - 6.0) * noise / 255.0,
            _ => 0.0,
        };
        let blurred = blurred(levels, self.blur);
        blurred.mapv(|level| {
            let level = level * self.gain + self.offset + grain();
            (level.clamp(0.0, 1.0) * 255.0).round() as u8
        })
    }
}

/// Down, then across, by the Gaussian's values to three standard deviations, the edge pixels
/// repeated.
pub(crate) fn blurred(levels: &Array2<f64>, sigma: f64) -> Array2<f64> {
    if sigma <= 0.0 {
        return levels.clone();
    }
    let radius = (3.0 * sigma).ceil() as isize;
    let weight = |i: isize| (-0.5 * (i as f64 / sigma).powi(2)).exp();
    let whole: f64 = (-radius..=radius).map(weight).sum();
    let taps: Vec<_> = (-radius..=radius).map(|i| (i, weight(i) / whole)).collect();
    let (height, width) = levels.dim();
    let clamp = |i: usize, by: isize, len: usize| (i as isize + by).clamp(0, len as isize - 1) as usize;
    let down = Array2::from_shape_fn((height, width), |(y, x)| {
        taps.iter().map(|(i, weight)| weight * levels[[clamp(y, *i, height), x]]).sum::<f64>()
    });
    Array2::from_shape_fn((height, width), |(y, x)| {
        taps.iter().map(|(i, weight)| weight * down[[y, clamp(x, *i, width)]]).sum::<f64>()
    })
}

#[cfg(test)]
mod tests {
    use approx::assert_abs_diff_eq;

    use super::*;

    #[test]
    fn blur_spreads_a_point_and_keeps_its_sum() {
        let mut point = Array2::zeros((41, 41));
        point[[20, 20]] = 1.0;
        let blurred = blurred(&point, 2.0);
        assert_abs_diff_eq!(blurred.sum(), 1.0, epsilon = 1e-12);
        let spread: f64 = blurred.indexed_iter().map(|((y, _), v)| v * (y as f64 - 20.0).powi(2)).sum();
        // 4, less what lies beyond three standard deviations.
        assert_abs_diff_eq!(spread, 3.9, epsilon = 0.1);
    }

    #[test]
    fn noise_has_its_deviation_and_its_seed() {
        let gray = Array2::from_elem((200, 200), 0.5);
        let noisy = Degradation { noise: 5.0, seed: 3, ..Degradation::default() };
        let image = noisy.apply(&gray).mapv(f64::from);
        let mean = image.mean().unwrap();
        let variance = image.mapv(|v| (v - mean).powi(2)).mean().unwrap();
        assert_abs_diff_eq!(mean, 127.5, epsilon = 0.2);
        assert_abs_diff_eq!(variance.sqrt(), 5.0, epsilon = 0.1);
        assert_eq!(noisy.apply(&gray), noisy.apply(&gray));
        assert_ne!(noisy.apply(&gray), Degradation { seed: 4, ..noisy }.apply(&gray));
    }
}
