//! Which numbers hold the sums of a configuration.

use harris_core::{Border, Gradient, HarrisConfig, Smoothing, Window};

/// Whether every window sum of an integer image fits in 31 bits.
pub(crate) fn fits_i32(config: &HarrisConfig, channels: usize, full_scale: f64) -> bool {
    config.greatest_sum(channels, full_scale).is_some_and(|sum| sum <= f64::from(i32::MAX))
}

/// Whether 32 bits hold every window sum of 8-bit samples, those of squares without a sign: of binomial windows of 7 docs/arithmetic.md
/// shows it.
pub(crate) fn fits_u32(config: &HarrisConfig, channels: usize) -> bool {
    channels == 1
        && !matches!(config.smoothing(), Smoothing::Binomial3Exact | Smoothing::Gaussian { .. })
        && config.gradient() == Gradient::Sobel3
        && config.window() == (Window::Binomial { size: 7 })
        // There rows and columns of gradients beyond the edges repeat, as those of no image do.
        && config.border() != Border::Replicate
}

/// Whether 64-bit floats hold every window sum of an integer image exactly, and so the running sums over `columns`
/// columns of the sums down them.
pub(crate) fn fits_f64(config: &HarrisConfig, channels: usize, full_scale: f64, columns: usize) -> bool {
    const EXACT: f64 = (1_u64 << 53) as f64;
    let down = config.window().weight_sum().sqrt();
    config.greatest_sum(channels, full_scale).is_some_and(|sum| sum.max(sum / down * columns as f64) <= EXACT)
}

#[cfg(test)]
mod tests {
    use std::collections::{BTreeSet, HashMap};

    const WEIGHTS: [u32; 7] = [1, 6, 15, 20, 15, 6, 1];

    /// The greatest sum of ((gx + gy) / 2)² over so many pixels that follow each other to the lower right, of images of 0 and 1.
    fn greatest_of(number: i32) -> u32 {
        let neighbours =
            |k: i32| [(1, 0), (0, 1), (1, 1), (-1, 0), (0, -1), (-1, -1)].map(|(x, y)| (x + k, y + k));
        let places: BTreeSet<_> = (0..number).flat_map(neighbours).collect();
        let bits: HashMap<_, _> = places.into_iter().enumerate().map(|(bit, place)| (place, bit)).collect();
        let terms: Vec<_> = (0..number).map(|k| neighbours(k).map(|place| bits[&place])).collect();
        let square = |image: u32, term: &[usize; 6]| {
            let [a, b, c, d, e, f] = term.map(|bit| (image >> bit & 1) as i32);
            (a + b + c - d - e - f).pow(2).cast_unsigned()
        };
        let sum = |image| terms.iter().map(|term| square(image, term)).sum();
        (0..1 << bits.len()).map(sum).max().expect("there are images")
    }

    /// What the products along lines to the lower right, weighed by these, add up to at most, in 255².
    fn most(across: &[u32], down: &[u32], greatest: [u32; 3]) -> u32 {
        let weight = |x: usize, d: i32| {
            let y = usize::try_from(x as i32 + d).ok();
            across[x] * y.and_then(|y| down.get(y)).copied().unwrap_or(0)
        };
        let of_line = |d| {
            let mut left: Vec<u32> = (0..across.len()).map(|x| weight(x, d)).collect();
            let mut sum = 0;
            for number in [3, 2, 1] {
                let least = |left: &[u32], i: usize| left[i..i + number].iter().copied().min().expect("some");
                let mut starts: Vec<_> = (0..(left.len() + 1).saturating_sub(number)).collect();
                starts.sort_by_key(|&i| std::cmp::Reverse(least(&left, i)));
                for i in starts {
                    let taken = least(&left, i);
                    left[i..i + number].iter_mut().for_each(|weight| *weight -= taken);
                    sum += taken * greatest[number - 1];
                }
            }
            sum
        };
        (-(across.len() as i32)..=down.len() as i32).map(of_line).sum()
    }

    /// The weights that the pixels of a line of `len` have in a window around place `centre`, where beyond its ends it is mirrored and at
    /// them differences are 0.
    fn mirrored(len: i32, centre: i32) -> Vec<u32> {
        let mut weights = vec![0; len as usize];
        for (i, weight) in (centre - 3..).zip(WEIGHTS) {
            let place = if len == 1 { 0 } else { i.rem_euclid(2 * (len - 1)) };
            weights[place.min(2 * (len - 1) - place) as usize] += weight;
        }
        (weights[0], weights[len as usize - 1]) = (0, 0);
        weights
    }

    #[test]
    fn sums_of_binomial_windows_of_7_have_32_bits() {
        assert!(4096 * 1020_u64.pow(2) < 1 << 32);
        let greatest = [1, 2, 3].map(greatest_of);
        assert_eq!(greatest, [9, 18, 22]);
        assert_eq!(255 * 255 * most(&WEIGHTS, &WEIGHTS, greatest), 2_093_089_725);
        let near_edges = (1..=15).flat_map(|len| (0..len).map(move |centre| mirrored(len, centre)));
        let cut = (0..7).flat_map(|start| (start + 1..=7).map(move |end| WEIGHTS[start..end].to_vec()));
        for lines in [near_edges.collect::<BTreeSet<_>>(), cut.collect()] {
            for across in &lines {
                for down in &lines {
                    let most = 255 * 255 * u64::from(most(across, down, greatest));
                    assert!(most <= 2_093_089_725, "{across:?}, {down:?}: {most}");
                }
            }
        }
    }
}
