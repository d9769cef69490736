//! Degradation of images as by a camera: blur, brightness and noise.

use std::ops::RangeInclusive;

use fastrand::Rng;
use harris_core::Error;
use ndarray::Array2;

/// Blur, brightness and noise, applied in that order.
///
/// The default changes nothing.
///
/// ```
/// use harris_evaluation::Degradation;
/// use ndarray::array;
///
/// let darker = Degradation::builder().gain(0.5).build()?;
/// assert_eq!(darker.apply(&array![[0.0, 1.0, 0.4]]), array![[0, 128, 51]]);
/// assert!(Degradation::builder().noise(-1.0).build().is_err());
/// # Ok::<(), harris_core::Error>(())
/// ```
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub struct Degradation {
    choices: DegradationBuilder,
}

/// Collects the choices of a [`Degradation`]; [`build`](Self::build) validates them.
#[derive(Clone, Copy, Debug, PartialEq)]
#[must_use]
pub struct DegradationBuilder {
    blur: f64,
    gain: f64,
    offset: f64,
    noise: f64,
    seed: u64,
}

impl Default for DegradationBuilder {
    fn default() -> Self {
        Self { blur: 0.0, gain: 1.0, offset: 0.0, noise: 0.0, seed: 0 }
    }
}

impl DegradationBuilder {
    /// Standard deviation of a Gaussian blur in pixels, 0 to 1000; 0 for none.
    pub fn blur(mut self, pixels: f64) -> Self {
        self.blur = pixels;
        self
    }

    /// Factor of levels, -1000 to 1000; 1 for none.
    pub fn gain(mut self, factor: f64) -> Self {
        self.gain = factor;
        self
    }

    /// Level that is added after the factor, -1000 to 1000, where full brightness is 1.
    pub fn offset(mut self, level: f64) -> Self {
        self.offset = level;
        self
    }

    /// Standard deviation of Gaussian noise in levels of 255, 0 to 1000; 0 for none.
    pub fn noise(mut self, levels: f64) -> Self {
        self.noise = levels;
        self
    }

    /// Seed of the noise. Equal seeds give equal noise.
    pub fn seed(mut self, seed: u64) -> Self {
        self.seed = seed;
        self
    }

    /// Validates the choices.
    ///
    /// # Errors
    /// [`Error::OutOfRange`], which names the choice.
    pub fn build(self) -> Result<Degradation, Error> {
        check("standard deviation of the blur in pixels", self.blur, 0.0..=1000.0)?;
        check("gain", self.gain, -1000.0..=1000.0)?;
        check("offset", self.offset, -1000.0..=1000.0)?;
        check("standard deviation of the noise in levels", self.noise, 0.0..=1000.0)?;
        Ok(Degradation { choices: self })
    }
}

/// Checks that a number is in its range; NaN is in none.
pub(crate) fn check(what: &'static str, value: f64, range: RangeInclusive<f64>) -> Result<(), Error> {
    if range.contains(&value) {
        return Ok(());
    }
    Err(Error::OutOfRange { what, value, least: *range.start(), most: *range.end() })
}

impl Degradation {
    /// Starts a builder from the default.
    pub fn builder() -> DegradationBuilder {
        DegradationBuilder::default()
    }

    /// Starts a builder from this degradation.
    pub fn to_builder(&self) -> DegradationBuilder {
        self.choices
    }

    /// Degrades an image of levels in 0..1 and returns it in 8 bits.
    #[must_use]
    pub fn apply(&self, levels: &Array2<f64>) -> Array2<u8> {
        let DegradationBuilder { blur, gain, offset, noise: deviation, seed } = self.choices;
        let mut random = Rng::with_seed(seed);
        let mut noise = || {
            if deviation > 0.0 {
                // The sum of twelve uniform numbers has a variance of 1.
                ((0..12).map(|_| random.f64()).sum::<f64>() - 6.0) * deviation / 255.0
            } else {
                0.0
            }
        };
        let blurred = blurred(levels, blur);
        blurred.mapv(|level| {
            let level = level * gain + offset + noise();
            (level.clamp(0.0, 1.0) * 255.0).round() as u8
        })
    }
}

/// Gaussian blur, down, then across, to three standard deviations, with repeated edge pixels.
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
        // The variance is 4, reduced by the cut at three standard deviations.
        assert_abs_diff_eq!(spread, 3.9, epsilon = 0.1);
    }

    #[test]
    fn noise_has_its_deviation_and_its_seed() {
        let gray = Array2::from_elem((200, 200), 0.5);
        let noisy = Degradation::builder().noise(5.0).seed(3).build().unwrap();
        let image = noisy.apply(&gray).mapv(f64::from);
        let mean = image.mean().unwrap();
        let variance = image.mapv(|v| (v - mean).powi(2)).mean().unwrap();
        assert_abs_diff_eq!(mean, 127.5, epsilon = 0.2);
        assert_abs_diff_eq!(variance.sqrt(), 5.0, epsilon = 0.1);
        assert_eq!(noisy.apply(&gray), noisy.apply(&gray));
        assert_ne!(noisy.apply(&gray), noisy.to_builder().seed(4).build().unwrap().apply(&gray));
    }

    #[test]
    fn bad_values_are_errors_that_name_the_choice() {
        let builder = Degradation::builder;
        for bad in [f64::NAN, f64::INFINITY, 1001.0] {
            for (built, name) in [
                (builder().blur(bad), "blur"),
                (builder().gain(bad), "gain"),
                (builder().offset(bad), "offset"),
                (builder().noise(bad), "noise"),
            ] {
                let error = built.build().unwrap_err().to_string();
                assert!(error.contains(name), "{error}");
            }
        }
        assert!(builder().blur(-0.1).build().is_err() && builder().noise(-0.1).build().is_err());
        assert!(builder().gain(-1.0).offset(1.0).build().is_ok());
    }
}
