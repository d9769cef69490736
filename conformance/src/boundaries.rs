//! Equality with the reference at the sizes around which backends change how they work: where
//! strips, tiles and border bands begin, and where another engine takes over.
//!
//! Each function below makes a table of [`Case`]s for one family of engines, and [`check`] runs it.
//! A failure names the row. Sizes come from the constants of this file, and from the [`Boundaries`]
//! of the backend.

use harris_core::{
    Border, Gradient, HarrisConfig, HarrisConfigBuilder, Measure, Smoothing, Subpixel, Threshold, Window,
};

use crate::extent::part_of;
use crate::outcome::assert_equal;
use crate::pictures::{DEPTHS, Depth, Picture, noise};
use crate::{Make, choices};

/// Width and height in pixels.
pub type Size = (usize, usize);

/// The sizes around a backend's own boundaries for a configuration, sample type and number of
/// channels. Each row of a table is checked at one of them, besides its own sizes.
pub type Boundaries = fn(&HarrisConfig, Depth, usize) -> Vec<Size>;

/// For a backend that gives no boundaries of its own.
pub const NO_BOUNDARIES: Boundaries = |_, _, _| Vec::new();

/// Returns the sizes on both sides of each change of a backend's plan, whose text `plan` gives.
///
/// Widths up to 160 are tried with 61 rows, and as many heights with 67 columns.
pub fn around_changes(plan: impl Fn(Size) -> String) -> Vec<Size> {
    let mut sizes = Vec::new();
    let sweeps: [fn(usize) -> Size; 2] = [|width| (width, 61), |height| (67, height)];
    for size in sweeps {
        let mut before = plan(size(1));
        for side in 2..=160 {
            let now = plan(size(side));
            if now != before {
                sizes.extend([size(side - 1), size(side)]);
                before = now;
            }
        }
    }
    sizes
}

/// A row of a table: a configuration, and a picture at sizes around a boundary.
#[derive(Clone, Debug)]
pub struct Case {
    /// The family and the number of the row, for messages.
    pub name: String,
    /// The configuration.
    pub config: HarrisConfig,
    /// The sample type of the picture.
    pub depth: Depth,
    /// The number of channels of the picture, 1 or 3.
    pub channels: usize,
    /// The sizes that are checked.
    pub sizes: Vec<Size>,
    /// The scene of the picture.
    pub scene: Scene,
    /// The seed of the scene's noise.
    pub seed: u64,
    /// Whether the picture has a mask.
    pub masked: bool,
}

/// A scene that pictures can show.
#[derive(Clone, Copy, Debug)]
pub enum Scene {
    /// Noise of blocks of `width` times `height` pixels, around 0.5 with a contrast up to 1.
    Noise {
        /// Pixels of a block in x.
        width: usize,
        /// Pixels of a block in y.
        height: usize,
        /// The difference between the brightest and the darkest block.
        contrast: f64,
    },
    /// Black and white blocks at random: the greatest gradients.
    Extremes {
        /// Pixels of a block in x.
        width: usize,
        /// Pixels of a block in y.
        height: usize,
    },
    /// A checkerboard of blocks of `width` times `height` pixels.
    Checkerboard {
        /// Pixels of a block in x.
        width: usize,
        /// Pixels of a block in y.
        height: usize,
    },
    /// Squares whose centres have equal eigenvalues, for which a response is the greatest that the
    /// trace allows. The third row and those below have responses near 0.3 of the greatest.
    Squares,
}

impl Scene {
    fn brightness(self, seed: u64, x: usize, y: usize, channel: usize) -> f64 {
        match self {
            Self::Noise { width, height, contrast } => {
                0.5 + contrast * (noise(seed, x / width, y / height, channel) - 0.5)
            }
            Self::Extremes { width, height } => noise(seed, x / width, y / height, channel).round(),
            Self::Checkerboard { width, height } => f64::from(x / width % 2 == y / height % 2),
            Self::Squares => {
                let is_inside = x % 20 / 4 == 2 && y % 20 / 4 == 2;
                if is_inside { [0.3, 1.0, 0.78][(y / 20).min(2)] } else { 0.0 }
            }
        }
    }
}

/// Compares a backend with the reference on all rows of a table.
///
/// # Panics
/// At the first difference, with the name of the row.
pub fn check(make: Make, cases: impl IntoIterator<Item = Case>, boundaries: Boundaries) {
    for case in part_of(cases, 8) {
        let Case { config, depth, channels, scene, seed, .. } = &case;
        let further = boundaries(config, *depth, *channels);
        let further = further.get(*seed as usize % further.len().max(1));
        for &(width, height) in case.sizes.iter().chain(further) {
            let brightness = |x, y, channel| scene.brightness(*seed, x, y, channel);
            let mut picture = Picture::draw(*depth, (width, height, *channels), brightness).with_gap(3);
            if case.masked {
                picture = picture.with_mask(|x, y| (x / 5 + y / 7) % 3 != 0);
            }
            assert_equal(&mut *make(config.clone()), config, &(&case.name, &picture), &picture.view());
        }
    }
}

/// Checks the fused engines of small windows: [`small_windows`].
pub fn small_windows_at_boundaries(make: Make, boundaries: Boundaries) {
    check(make, small_windows(), boundaries);
}

/// Checks the engines of large box windows: [`large_windows`].
pub fn large_windows_at_boundaries(make: Make, boundaries: Boundaries) {
    check(make, large_windows(), boundaries);
}

/// Checks the engines of box gradients: [`box_gradients`].
pub fn box_gradients_at_boundaries(make: Make, boundaries: Boundaries) {
    check(make, box_gradients(), boundaries);
}

/// Checks the engines of weighted sums of floats: [`weighted_sums`].
pub fn weighted_sums_at_boundaries(make: Make, boundaries: Boundaries) {
    check(make, weighted_sums(), boundaries);
}

/// Sizes around those of strips and tiles, for windows up to 7 x 7. Strips of the GPU are 120
/// columns wide, and tiles along the edges 32.
const SMALL_WINDOW_SIZES: [Size; 11] = [
    (16, 16),
    (119, 17),
    (120, 33),
    (121, 20),
    (124, 16),
    (240, 18),
    (243, 61),
    (33, 64),
    (65, 44),
    (97, 43),
    (225, 16),
];

/// Sizes around the least that the engines of large windows take, and around their strips.
const LARGE_WINDOW_SIZES: [Size; 7] =
    [(40, 36), (36, 75), (93, 41), (97, 52), (185, 38), (115, 58), (230, 44)];

/// The formats that have fused engines.
const FORMATS: [(Depth, usize); 4] = [(Depth::U8, 1), (Depth::U8, 3), (Depth::U16, 1), (Depth::F32, 1)];

/// Gradients of three taps with box, binomial and Gaussian windows up to 7 x 7, each measure with
/// each format and suppression radius.
#[must_use]
pub fn small_windows() -> Vec<Case> {
    let mut cases: Vec<Case> = Vec::new();
    let mut add = |builder: HarrisConfigBuilder, measure: Measure, (depth, channels): (Depth, usize)| {
        let number = cases.len();
        let config = builder
            .measure(measure)
            .border(pick_by(number / FORMATS.len(), &choices::borders()))
            .subpixel([Subpixel::None, Subpixel::Quadratic][number / (4 * FORMATS.len()) % 2])
            .margin([0, 1, 6][number / 3 % 3])
            .suppression_radius([1, 2, [3, 4][number / 5 % 2], 7, 40][number % 5])
            .build()
            .expect("a valid choice");
        let contrast = [1.0, 1e-3][number / (2 * FORMATS.len()) % 2];
        cases.push(Case {
            name: format!("small windows, row {number}"),
            config,
            depth,
            channels,
            sizes: vec![pick_by(number, &SMALL_WINDOW_SIZES)],
            scene: Scene::Noise { width: 2, height: 2, contrast },
            seed: number as u64,
            masked: false,
        });
    };
    for smoothing in [Smoothing::None, Smoothing::Binomial3, Smoothing::Binomial5] {
        for (gradient, sizes) in
            [(Gradient::Sobel3, &[3, 5, 7][..]), (Gradient::Scharr3, &[3, 5, 7]), (Gradient::Central, &[3])]
        {
            for &size in sizes {
                let builder = HarrisConfig::builder().smoothing(smoothing).gradient(gradient);
                let builder = builder.window(Window::Box { size });
                for measure in choices::measures() {
                    for format in FORMATS {
                        add(builder.clone(), measure, format);
                    }
                }
            }
        }
    }
    for smoothing in [Smoothing::None, Smoothing::Binomial3] {
        for size in [3, 5, 7] {
            // With the last sigma, outer weights are denormal, or 0.
            let gaussians = [1.5, 0.7, 0.1].map(|sigma| Window::Gaussian { size, sigma });
            for window in gaussians.into_iter().chain([Window::Binomial { size }]) {
                let builder = HarrisConfig::builder().smoothing(smoothing).window(window);
                // Each measure with each suppression radius.
                for _ in 0..5 {
                    for measure in choices::measures() {
                        add(builder.clone(), measure, FORMATS[0]);
                    }
                }
            }
        }
    }
    cases
}

/// Box windows from 9 x 9 to 33 x 33 with every measure, of 8-bit and other samples.
#[must_use]
pub fn large_windows() -> Vec<Case> {
    let mut cases: Vec<Case> = Vec::new();
    for smoothing in [Smoothing::None, Smoothing::Binomial3, Smoothing::Binomial5] {
        for size in [9, 13, 15, 17, 31, 33] {
            for measure in choices::measures() {
                for of_bytes in [true, false] {
                    let number = cases.len();
                    let config = HarrisConfig::builder()
                        .smoothing(smoothing)
                        .measure(measure)
                        .border(pick_by(number / 2, &choices::borders()))
                        .window(Window::Box { size })
                        .suppression_radius([1, 2, 4][number % 3])
                        .threshold([Threshold::None, Threshold::Relative(0.3)][number / 3 % 2])
                        .build()
                        .expect("a valid choice");
                    let scene = match number % 4 {
                        0 => Scene::Extremes { width: 2, height: 2 },
                        1 => Scene::Checkerboard { width: 2, height: 2 },
                        2 => Scene::Squares,
                        _ => Scene::Noise { width: 2, height: 2, contrast: 1.0 },
                    };
                    cases.push(Case {
                        name: format!("large windows, row {number}"),
                        config,
                        depth: if of_bytes { Depth::U8 } else { pick_by(number, &DEPTHS) },
                        channels: 1,
                        sizes: vec![pick_by(number, &LARGE_WINDOW_SIZES)],
                        scene,
                        seed: number as u64,
                        masked: number.is_multiple_of(5),
                    });
                }
            }
        }
    }
    cases
}

/// Apertures of box gradients and of the box windows behind them.
fn box_apertures() -> impl Iterator<Item = (u32, u32)> {
    let pairs = [3, 5, 9, 11].into_iter().flat_map(|gradient| [3, 7, 9, 11].map(|window| (gradient, window)));
    // One of each remainder by the width of a vector, and a window larger than any gradient.
    let large = [(13, 13), (15, 15), (17, 9), (7, 31), (31, 3), (31, 31), (19, 33)];
    pairs.chain(large)
}

/// Sizes around the least that a box gradient's engine takes, and around the GPU's strips.
fn box_gradient_sizes(gradient: u32, window: u32, radius: u32) -> [Size; 6] {
    let support = (gradient / 2 + window / 2) as usize;
    let halo = support + radius as usize;
    let is_large = gradient.max(window) > 9;
    let strip = if is_large { 256 - (2 * support).next_multiple_of(4) } else { 128 - 2 * halo };
    let least = 2 * halo.max(8);
    // Enough strips for one away from both edges.
    let strips = least / strip + if is_large { 2 } else { 1 };
    [
        (least, least + 1),
        (least + 1, least),
        (least - 1, 60),
        (strips * strip, least + 7),
        (strips * strip + 1, least + 30),
        ((strips + 1) * strip - 1, 2 * least),
    ]
}

/// Box gradients before box windows with every measure, and images smaller than any engine's least.
#[must_use]
pub fn box_gradients() -> Vec<Case> {
    let measures = choices::measures();
    // Reflect101 and Skip have engines of their own.
    let borders: Vec<_> = choices::borders().into_iter().chain([Border::Reflect101]).collect();
    let mut cases = Vec::new();
    for (gradient, window) in box_apertures() {
        for number in 0..3 * measures.len() {
            let pick = |what, count| pick(what, (number, gradient as usize, window as usize), count);
            let radius = [2, 4, [1, 3, 6][pick(0, 3)]][number % 3];
            let config = HarrisConfig::builder()
                .smoothing([Smoothing::None, Smoothing::None, Smoothing::Binomial3][pick(1, 3)])
                .gradient(Gradient::Box { size: gradient })
                .window(Window::Box { size: window })
                .measure(measures[number / 3])
                .border(borders[pick(2, borders.len())])
                .suppression_radius(radius)
                .threshold([Threshold::Relative(0.3), Threshold::None][pick(3, 2)])
                .build()
                .expect("a valid choice");
            let scene = match pick(6, 4) {
                0 => Scene::Extremes { width: 3, height: 2 },
                1 => Scene::Checkerboard { width: gradient as usize / 2 + 1, height: 40 },
                2 => Scene::Squares,
                _ => Scene::Noise { width: 5, height: 4, contrast: 1.0 },
            };
            cases.push(Case {
                name: format!("box gradients, {gradient} before {window}, row {number}"),
                config,
                depth: if pick(5, 7) == 0 { Depth::U16 } else { Depth::U8 },
                channels: 1,
                sizes: vec![box_gradient_sizes(gradient, window, radius)[pick(4, 6)]],
                scene,
                seed: number as u64,
                masked: pick(7, 5) == 0,
            });
        }
    }
    let builder = HarrisConfig::builder().smoothing(Smoothing::None).gradient(Gradient::Box { size: 3 });
    cases.push(Case {
        name: "box gradients of tiny images".to_owned(),
        config: builder.window(Window::Box { size: 3 }).build().expect("a valid choice"),
        depth: Depth::U8,
        channels: 1,
        sizes: [3, 4, 5, 8, 15].map(|side| (side, side + 1)).to_vec(),
        scene: Scene::Extremes { width: 1, height: 1 },
        seed: 3,
        masked: false,
    });
    cases
}

/// The gradients of the table [`weighted_sums`].
fn weighted_gradients() -> [Gradient; 8] {
    let derivative = |size, sigma| Gradient::GaussianDerivative { size, sigma };
    [
        derivative(3, 0.7),
        derivative(5, 1.0),
        derivative(7, 2.0),
        derivative(9, 1.5),
        derivative(11, 2.0),
        Gradient::Sobel3,
        Gradient::Scharr3,
        Gradient::Central,
    ]
}

/// Sizes around the strips of weighted sums, and sizes as small as can be.
fn weighted_sum_sizes(strip: usize, pick: impl Fn(u64, usize) -> usize) -> Vec<Size> {
    let around_strips =
        [(2 * strip, 21), (2 * strip + 1, 40), (3 * strip - 1, 9), (strip + 3, 33), (strip + 1, 7), (5, 65)];
    let small = [(1, 1), (2, 5), (4, 3), (9, 8), (17, 2), (1, 30), (3, 1)];
    vec![around_strips[pick(4, 6)], around_strips[pick(5, 6)], small[pick(6, 7)]]
}

/// Smoothings, gradients and windows that are weighted sums of floats, at all borders.
///
/// Of the twenty rows for each gradient, the GPU has engines for the first eight without smoothing,
/// and rows 4 to 7 are of colours.
#[must_use]
pub fn weighted_sums() -> Vec<Case> {
    let mut cases = Vec::new();
    for (kind, gradient) in weighted_gradients().into_iter().enumerate() {
        for (number, size) in [3, 5, 7, 9, 11, 9, 5, 3].into_iter().cycle().take(20).enumerate() {
            let pick = |what, count| pick(what, (number, kind, 7), count);
            let is_colour = (4..8).contains(&number);
            let smoothing = match number {
                0..8 => [Smoothing::None, Smoothing::None, Smoothing::Binomial3][pick(0, 3)],
                8..12 => [Smoothing::Binomial3, Smoothing::Binomial5][pick(0, 2)],
                _ => {
                    let size = [3, 5, 7, 9, 9, 11][pick(0, 6)];
                    Smoothing::Gaussian { size, sigma: 0.5 + 0.1 * f64::from(size) }
                }
            };
            let window = match pick(10, 3) {
                0 if !is_colour => Window::Box { size },
                _ => Window::Gaussian { size, sigma: 0.6 + 0.1 * f64::from(size) },
            };
            let measures = choices::measures();
            // The last has more bins than a block of the GPU counts.
            let thresholds =
                [Threshold::Relative(0.3), Threshold::Rosin { bins: 64 }, Threshold::Rosin { bins: 60_000 }];
            let config = HarrisConfig::builder()
                .smoothing(smoothing)
                .gradient(gradient)
                .window(window)
                .measure(measures[pick(1, measures.len())])
                .border(pick_by(number + kind, &choices::borders()))
                .suppression_radius([1, 2, 4][pick(2, 3)])
                .threshold(thresholds[pick(3, 3)])
                .build()
                .expect("a valid choice");
            let strip = match number {
                4..8 => 120,
                0..4 => 112,
                _ => [104, 112][pick(11, 2)],
            };
            let depth = match number {
                0..4 => DEPTHS[pick(8, 3)],
                4..8 => Depth::U8,
                _ => [Depth::U8, Depth::U8, Depth::U16, Depth::F32][pick(8, 4)],
            };
            let scene = match pick(7, 3) {
                0 => Scene::Noise { width: 3, height: 2, contrast: 1.0 },
                1 => Scene::Extremes { width: 1, height: 1 },
                _ => Scene::Squares,
            };
            cases.push(Case {
                name: format!("weighted sums, {gradient:?}, row {number}"),
                config,
                depth,
                channels: if is_colour { 3 } else { 1 },
                sizes: weighted_sum_sizes(strip, pick),
                scene,
                seed: number as u64,
                masked: pick(9, 5) == 0,
            });
        }
    }
    // No response is near 0 here, so that responses which are not valid would widen Rosin's bins.
    let gradients =
        [Gradient::GaussianDerivative { size: 5, sigma: 1.0 }, Gradient::Sobel3, Gradient::Central];
    for gradient in gradients {
        for number in 0..4 {
            let config = HarrisConfig::builder()
                .smoothing(Smoothing::None)
                .gradient(gradient)
                .window(Window::Gaussian { size: 5, sigma: 1.1 })
                .measure(Measure::ShiTomasi)
                .border(Border::Skip)
                .suppression_radius(1)
                .threshold(Threshold::Rosin { bins: 8 + number })
                .build()
                .expect("a valid choice");
            cases.push(Case {
                name: format!("Rosin's bins, {gradient:?}, row {number}"),
                config,
                depth: Depth::U8,
                channels: 1,
                sizes: vec![(225, 40)],
                scene: Scene::Noise { width: 1, height: 1, contrast: 1.0 },
                seed: u64::from(number),
                masked: false,
            });
        }
    }
    cases
}

/// Returns the element at `number`, modulo the length.
fn pick_by<T: Copy>(number: usize, choices: &[T]) -> T {
    choices[number % choices.len()]
}

/// Returns a number below `count` for a row and a purpose: random in appearance, equal in every run.
fn pick(what: u64, (row, x, y): (usize, usize, usize), count: usize) -> usize {
    // The seed is the purpose; the row and the family are the place.
    (noise(what, row, x, y) * count as f64) as usize
}

#[cfg(test)]
mod tests {
    use harris_core::ReferenceDetector;

    use super::*;

    #[test]
    fn changes_of_a_plan_give_the_sizes_on_both_sides() {
        let plan = |(width, height): Size| format!("{} {}", width >= 8, height > 70);
        assert_eq!(around_changes(plan), [(7, 61), (8, 61), (67, 70), (67, 71)]);
    }

    #[test]
    fn every_table_names_all_measures_and_borders() {
        for table in [small_windows(), large_windows(), box_gradients(), weighted_sums()] {
            for measure in choices::measures() {
                assert!(table.iter().any(|case| case.config.measure() == measure), "{measure:?}");
            }
            for border in choices::borders() {
                assert!(table.iter().any(|case| case.config.border() == border), "{border:?}");
            }
            let names: std::collections::BTreeSet<_> = table.iter().map(|case| &case.name).collect();
            assert_eq!(names.len(), table.len());
        }
    }

    #[test]
    fn sizes_of_the_backend_are_checked_too() {
        let checked = std::panic::catch_unwind(|| {
            let case = Case { sizes: vec![(16, 16)], ..small_windows().remove(0) };
            // Right at the size of the table, and wrong at the size of the backend.
            check(
                |config| Box::new(WrongAtWidth17(ReferenceDetector::new(config))),
                [case],
                |_, _, _| vec![(17, 16)],
            );
        });
        let message = *checked.unwrap_err().downcast::<String>().unwrap();
        assert!(message.contains("small windows, row 0") && message.contains("17x16"), "{message}");
    }

    /// A detector that finds nothing in images of 17 columns.
    struct WrongAtWidth17(ReferenceDetector);

    impl harris_core::Detector for WrongAtWidth17 {
        fn detect(
            &mut self,
            image: &harris_core::ImageView<'_>,
        ) -> Result<Vec<harris_core::Keypoint>, harris_core::Error> {
            if image.width() == 17 { Ok(Vec::new()) } else { self.0.detect(image) }
        }

        fn response(
            &mut self,
            image: &harris_core::ImageView<'_>,
        ) -> Result<ndarray::Array2<f32>, harris_core::Error> {
            self.0.response(image)
        }

        fn describe(&self) -> String {
            "a wrong detector".to_owned()
        }
    }
}
