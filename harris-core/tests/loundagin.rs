//! A second reading of Loundagin's C listing (2015, appendix B), in f64 and with frames of zeros,
//! held against the preset `loundagin_2015`.

use harris_conformance::pictures::{noise, photographs};
use harris_core::{Detector, HarrisConfig, ImageView, ReferenceDetector, Smoothing, Threshold, presets};

/// What a stage leaves: 0 wherever its neighbourhood leaves its input.
struct Stage {
    width: usize,
    height: usize,
    values: Vec<f64>,
}

impl Stage {
    fn at(&self, x: usize, y: usize) -> f64 {
        self.values[y * self.width + x]
    }

    /// What `value` makes of each pixel at least `reach` from the edges.
    fn within(&self, reach: usize, value: impl Fn(usize, usize) -> f64) -> Self {
        let mut values = vec![0.0; self.values.len()];
        for y in reach..self.height.saturating_sub(reach) {
            for x in reach..self.width.saturating_sub(reach) {
                values[y * self.width + x] = value(x, y);
            }
        }
        Self { values, ..*self }
    }

    /// The sum over the 3 x 3 neighbourhood, weighed by rows.
    fn convolve(&self, weights: [[f64; 3]; 3]) -> Self {
        self.within(1, |x, y| {
            let taps = (0..9).map(|i| (i % 3, i / 3));
            taps.map(|(i, j)| weights[j][i] * self.at(x + i - 1, y + j - 1)).sum()
        })
    }
}

/// The corners of gray levels for a threshold in his units, in the order of rows.
fn listing(levels: &[u8], width: usize, height: usize, threshold: f64) -> Vec<(usize, usize)> {
    let image = Stage { width, height, values: levels.iter().map(|&level| level.into()).collect() };
    let smoothed =
        image.convolve([[1.0, 2.0, 1.0], [2.0, 4.0, 2.0], [1.0, 2.0, 1.0]].map(|row| row.map(|w| w / 16.0)));
    let gx = smoothed.convolve([[-1.0, 0.0, 1.0], [-2.0, 0.0, 2.0], [-1.0, 0.0, 1.0]]);
    let gy = smoothed.convolve([[-1.0, -2.0, -1.0], [0.0, 0.0, 0.0], [1.0, 2.0, 1.0]]);
    let sums = |one: &Stage, other: &Stage| {
        one.within(0, |x, y| one.at(x, y) * other.at(x, y)).convolve([[1.0; 3]; 3])
    };
    let (a, b, c) = (sums(&gx, &gx), sums(&gx, &gy), sums(&gy, &gy));
    // By the eigenvalues of [a b; b c].
    let response = a.within(0, |x, y| {
        let (a, b, c) = (a.at(x, y), b.at(x, y), c.at(x, y));
        let root = ((a - c) * (a - c) + 4.0 * b * b).sqrt();
        let (larger, smaller) = ((a + c + root) / 2.0, (a + c - root) / 2.0);
        larger * smaller - 0.04 * (larger + smaller) * (larger + smaller)
    });
    let strong =
        response.within(0, |x, y| if response.at(x, y) > threshold { response.at(x, y) } else { 0.0 });
    let suppressed = strong.within(2, |x, y| {
        let around = (0..25).map(|i| strong.at(x + i % 5 - 2, y + i / 5 - 2));
        if around.into_iter().any(|other| other > strong.at(x, y)) { 0.0 } else { strong.at(x, y) }
    });
    let pixels = (0..height).flat_map(|y| (0..width).map(move |x| (x, y)));
    pixels.filter(|&(x, y)| suppressed.at(x, y) > 0.0).collect()
}

fn detected(config: &HarrisConfig, levels: &[u8], width: usize, height: usize) -> Vec<(usize, usize)> {
    let image = ImageView::gray(levels, width, height).unwrap();
    let corners = ReferenceDetector::new(config.clone()).detect(&image).unwrap();
    corners.iter().map(|corner| (corner.x as usize, corner.y as usize)).collect()
}

/// The corners at least 6 pixels from the edges: no frame of zeros has a part in their responses.
fn inside(corners: Vec<(usize, usize)>, width: usize, height: usize) -> Vec<(usize, usize)> {
    let is_inside = |&(x, y): &(usize, usize)| x >= 6 && y >= 6 && x + 6 < width && y + 6 < height;
    corners.into_iter().filter(is_inside).collect()
}

fn preset(threshold: f64) -> HarrisConfig {
    let unit = 1020.0_f64.powi(2) * 9.0;
    let threshold = Threshold::Absolute((threshold / (unit * unit)) as f32);
    presets::loundagin_2015().to_builder().threshold(threshold).build().unwrap()
}

#[test]
fn the_preset_finds_the_corners_of_his_listing_on_photographs() {
    // Its own threshold is the first.
    assert_eq!(preset(1e7), presets::loundagin_2015());
    for (name, image) in photographs() {
        let image = image.into_luma8();
        let (width, height) = (image.width() as usize, image.height() as usize);
        for threshold in [1e6, 1e7, 2e9, 1e10] {
            let expected = inside(listing(&image, width, height, threshold), width, height);
            let found = inside(detected(&preset(threshold), &image, width, height), width, height);
            assert_eq!(found, expected, "{name}, {threshold}");
            if (name.as_str(), threshold) == ("camera", 1e7) {
                assert_eq!(expected.len(), 1876);
                // Rounding the smoothed image loses some of them.
                let rounded = preset(threshold).to_builder().smoothing(Smoothing::Binomial3).build().unwrap();
                let rounded = inside(detected(&rounded, &image, width, height), width, height);
                assert_eq!(expected.iter().filter(|corner| !rounded.contains(corner)).count(), 95);
            }
        }
    }
}

#[test]
fn equal_neighbours_all_stay_in_the_order_of_rows() {
    let (width, height) = (61, 47);
    for seed in 0..8 {
        // Squares of few levels have plateaus.
        let level = |x, y| 80 * (noise(seed, x / 6, y / 6, 0) * 3.0) as u8;
        let levels: Vec<u8> = (0..width * height).map(|i| level(i % width, i / width)).collect();
        let expected = inside(listing(&levels, width, height, 1e7), width, height);
        assert_eq!(inside(detected(&preset(1e7), &levels, width, height), width, height), expected, "{seed}");
        assert!(expected.windows(2).any(|two| two[0].1 == two[1].1 && two[0].0 + 1 == two[1].0), "{seed}");
    }
}
