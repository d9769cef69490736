//! Equality with the reference, compared by the bits.

use std::collections::BTreeMap;
use std::hash::{DefaultHasher, Hash, Hasher};
use std::mem;
use std::sync::{Arc, Mutex, OnceLock};

use harris_core::{
    Border, Detector, Error, Gradient, HarrisConfig, HarrisConfigBuilder, ImageView, Keypoint, Measure,
    Order, ReferenceDetector, Samples, Smoothing, Subpixel, Threshold, Window, presets,
};
use ndarray::Array2;
use proptest::prelude::*;
use proptest::test_runner::TestRunner;

use crate::pictures::{DEPTHS, Depth, Picture, dots, noise, photographs};
use crate::{Make, strategies};

/// What a detector says of an image, in a form that compares bits and prints errors.
#[derive(Debug, PartialEq)]
pub(crate) struct Outcome {
    keypoints: Result<Vec<Keypoint>, String>,
    response: Result<Vec<u32>, String>,
}

impl Outcome {
    pub(crate) fn of(detector: &mut dyn Detector, image: &ImageView<'_>) -> Self {
        let message = |error: Error| error.to_string();
        let bits = |response: Array2<f32>| response.iter().map(|v| v.to_bits()).collect();
        Self {
            keypoints: detector.detect(image).map_err(message),
            response: detector.response(image).map(bits).map_err(message),
        }
    }

    fn of_reference(config: &HarrisConfig, image: &ImageView<'_>) -> Self {
        Self::of(&mut ReferenceDetector::new(config.clone()), image)
    }

    /// The same, kept for all suites of a process: the reference is slow, and most of them ask it for the same.
    fn of_reference_once(config: &HarrisConfig, image: &ImageView<'_>) -> Arc<Self> {
        type Answer = Arc<OnceLock<Arc<Outcome>>>;
        static KNOWN: Mutex<BTreeMap<[u64; 2], Answer>> = Mutex::new(BTreeMap::new());
        let question = [0, 1].map(|seed| {
            let mut hasher = DefaultHasher::new();
            seed.hash(&mut hasher);
            format!("{config:?}").hash(&mut hasher);
            hash_image(image, &mut hasher);
            hasher.finish()
        });
        let known = Arc::clone(KNOWN.lock().expect("no holder panics").entry(question).or_default());
        // Others wait for this answer alone.
        Arc::clone(known.get_or_init(|| Arc::new(Self::of_reference(config, image))))
    }

    /// Where two outcomes first differ, in few words.
    pub(crate) fn difference(&self, expected: &Self) -> String {
        match (&self.keypoints, &expected.keypoints) {
            (Ok(found), Ok(wanted)) if found != wanted => {
                let first = found.iter().zip(wanted).find(|(found, wanted)| found != wanted);
                format!("{} keypoints for {}; first difference {first:?}", found.len(), wanted.len())
            }
            (Ok(_), Ok(_)) => match (&self.response, &expected.response) {
                (Ok(found), Ok(wanted)) => {
                    let i = found.iter().zip(wanted).position(|(found, wanted)| found != wanted);
                    let value = |bits: &[u32]| i.map(|i| f32::from_bits(bits[i]));
                    format!("response at sample {i:?}: {:?} for {:?}", value(found), value(wanted))
                }
                (found, wanted) => format!("response: {:?} for {:?}", found.is_ok(), wanted.is_ok()),
            },
            (found, wanted) => format!("{found:?} for {wanted:?}"),
        }
    }
}

/// All that an outcome depends on.
fn hash_image(image: &ImageView<'_>, hasher: &mut impl Hasher) {
    (image.width(), image.height(), image.channels()).hash(hasher);
    mem::discriminant(&image.samples()).hash(hasher);
    let rows = 0..image.height();
    match image.samples() {
        Samples::U8(raster) => rows.for_each(|y| raster.row(y).hash(hasher)),
        Samples::U16(raster) => rows.for_each(|y| raster.row(y).hash(hasher)),
        Samples::F32(raster) => {
            rows.for_each(|y| raster.row(y).iter().for_each(|sample| sample.to_bits().hash(hasher)));
        }
    }
    if let Some(mask) = image.mask() {
        (0..mask.height()).for_each(|y| mask.row(y).hash(hasher));
    }
}

/// Fails, naming the configuration and the picture, unless `detector` says what the reference does.
fn assert_equal(
    detector: &mut dyn Detector,
    config: &HarrisConfig,
    name: &dyn std::fmt::Debug,
    image: &ImageView<'_>,
) {
    let (found, expected) = (Outcome::of(detector, image), Outcome::of_reference_once(config, image));
    assert!(
        found == *expected,
        "{} differs from the reference on {name:?}: {}\n{config:?}",
        detector.describe(),
        found.difference(&expected),
    );
}

/// Random images of all sizes up to 70 × 70, three in a row through one detector, with random configurations.
pub fn on_random_images(make: Make) {
    on_random(make, 400, strategies::configs(), strategies::pictures());
}

/// 8-bit gray images of up to 300 × 300 pixels, with configurations that people use.
pub fn on_usual_images(make: Make) {
    on_random(make, 120, strategies::usual_configs(), strategies::usual_pictures());
}

fn on_random(
    make: Make,
    cases: u32,
    configs: impl Strategy<Value = HarrisConfig>,
    pictures: impl Strategy<Value = Picture>,
) {
    let inputs = (configs, prop::collection::vec(pictures, 1..4));
    run(cases, &inputs, |(config, pictures)| {
        let mut detector = make(config.clone());
        for picture in &pictures {
            let image = picture.view();
            let (found, expected) =
                (Outcome::of(&mut *detector, &image), Outcome::of_reference(&config, &image));
            prop_assert!(found == expected, "{}: {}", detector.describe(), found.difference(&expected));
        }
        Ok(())
    });
}

/// Runs a property on `cases` random inputs, or on as many as PROPTEST_CASES says.
///
/// # Panics
/// Where it does not hold, with the least input that was found.
pub(crate) fn run<S: Strategy>(
    cases: u32,
    inputs: &S,
    property: impl Fn(S::Value) -> Result<(), TestCaseError>,
) {
    let default = ProptestConfig::default();
    let cases = if std::env::var_os("PROPTEST_CASES").is_some() { default.cases } else { cases };
    let config = ProptestConfig { cases, failure_persistence: None, ..default };
    if let Err(error) = TestRunner::new(config).run(inputs, property) {
        panic!("{error}");
    }
}

/// The default with one choice changed, for every choice.
#[must_use]
pub fn every_choice() -> Vec<HarrisConfig> {
    type Change = Box<dyn Fn(HarrisConfigBuilder) -> HarrisConfigBuilder>;
    let mut changes: Vec<Change> = vec![
        Box::new(|b| b),
        Box::new(|b| b.smoothing(Smoothing::None)),
        Box::new(|b| b.smoothing(Smoothing::Binomial5)),
        Box::new(|b| b.smoothing(Smoothing::Gaussian { size: 7, sigma: 1.2 })),
        Box::new(|b| b.gradient(Gradient::Scharr3)),
        Box::new(|b| b.gradient(Gradient::Central)),
        Box::new(|b| b.gradient(Gradient::Box { size: 3 })),
        Box::new(|b| b.gradient(Gradient::Box { size: 31 }).window(Window::Box { size: 57 })),
        Box::new(|b| b.gradient(Gradient::GaussianDerivative { size: 9, sigma: 1.5 })),
        Box::new(|b| b.measure(Measure::ShiTomasi)),
        Box::new(|b| b.measure(Measure::Noble { eps: 1e-6 })),
        Box::new(|b| b.threshold(Threshold::None)),
        Box::new(|b| b.threshold(Threshold::Absolute(1e-4))),
        Box::new(|b| b.threshold(Threshold::Rosin { bins: 256 })),
        Box::new(|b| b.margin(3)),
        Box::new(|b| b.min_distance(7.5)),
        Box::new(|b| b.max_corners(5)),
        Box::new(|b| b.min_distance(5.0).max_corners(9)),
        Box::new(|b| b.order(Order::Raster)),
        Box::new(|b| b.subpixel(Subpixel::Quadratic)),
        Box::new(|b| b.subpixel(Subpixel::Forstner { radius: 5 })),
        Box::new(|b| b.subpixel(Subpixel::Forstner { radius: 3 }).border(Border::Replicate)),
    ];
    for size in [5, 7, 31] {
        changes.push(Box::new(move |b| b.window(Window::Box { size })));
    }
    for size in [3, 5, 7] {
        changes.push(Box::new(move |b| b.window(Window::Binomial { size })));
        changes.push(Box::new(move |b| b.window(Window::Gaussian { size, sigma: 1.0 })));
    }
    for border in [Border::Replicate, Border::Zero, Border::Skip] {
        changes.push(Box::new(move |b| b.border(border)));
        changes.push(Box::new(move |b| b.border(border).window(Window::Gaussian { size: 5, sigma: 1.5 })));
    }
    for radius in [0, 1, 3, 4, 40] {
        changes.push(Box::new(move |b| b.suppression_radius(radius)));
    }
    changes.iter().map(|change| change(HarrisConfig::builder()).build().expect("a valid choice")).collect()
}

/// Every choice, at sizes that straddle vectors, bands and tiles, for all sample types.
pub fn for_every_choice(make: Make) {
    let sizes = [
        (1, 1),
        (2, 3),
        (7, 1),
        (1, 9),
        (15, 16),
        (17, 33),
        (63, 31),
        (64, 65),
        (129, 34),
        (255, 18),
        (1030, 9),
    ];
    for config in every_choice() {
        let mut detector = make(config.clone());
        for (i, (width, height)) in sizes.into_iter().enumerate() {
            for (depth, channels) in [(DEPTHS[i % 3], 1), (DEPTHS[(i + 1) % 3], 3)] {
                let brightness = |x: usize, y: usize, c: usize| noise(7 + i as u64, x / 2, y / 2, c);
                let picture = Picture::draw(depth, (width, height, channels), brightness).with_gap(3);
                assert_equal(&mut *detector, &config, &picture, &picture.view());
                let picture = picture.with_mask(|x, y| (x / 5 + y / 7) % 3 != 0);
                assert_equal(&mut *detector, &config, &picture, &picture.view());
            }
        }
    }
}

/// Every width and height up to where strips, tiles and bands have begun anew, for what takes the fastest paths.
pub fn for_every_width_and_height(make: Make) {
    let wide_support = HarrisConfig::builder()
        .smoothing(Smoothing::Binomial5)
        .window(Window::Box { size: 5 })
        .suppression_radius(1)
        .threshold(Threshold::None)
        .build()
        .expect("a valid choice");
    // Walks down strips compute rows that nothing depends on before those of a strip that begins near the top.
    let small_window =
        HarrisConfig::builder().smoothing(Smoothing::Binomial5).build().expect("a valid choice");
    type Size = fn(usize) -> (usize, usize);
    let sizes: [(HarrisConfig, Size); 4] = [
        (HarrisConfig::default(), |side| (side, 18)),
        (presets::opencv_gftt(), |side| (17, side)),
        // From one to another far away, so that the memory of the last does not fit.
        (wide_support, |side| (5 * side % 261 + 1, 16)),
        (small_window, |side| (215, side)),
    ];
    for (config, size) in sizes {
        let mut detector = make(config.clone());
        for side in 1..=260 {
            let (width, height) = size(side);
            let picture =
                Picture::draw(Depth::U8, (width, height, 1), |x, y, _| noise(side as u64, x / 2, y / 2, 0));
            assert_equal(&mut *detector, &config, &picture, &picture.view());
        }
    }
}

/// All black, all white, checkerboards and stripes of one pixel, noise of the two extremes: the greatest sums and
/// plateaus everywhere.
pub fn on_extreme_images(make: Make) {
    type Scene = fn(usize, usize, usize) -> f64;
    let scenes: [(&str, Scene); 6] = [
        ("black", |_, _, _| 0.0),
        ("white", |_, _, _| 1.0),
        ("checkerboard", |x, y, _| ((x + y) % 2) as f64),
        ("columns", |x, _, _| (x / 2 % 2) as f64),
        ("quadrants", |x, y, _| f64::from((x < 30) == (y < 30))),
        ("extremes", |x, y, c| noise(3, x, y, c).round()),
    ];
    let configs = [
        HarrisConfig::default(),
        presets::lococo_2011(),
        presets::chahuara_2017(),
        // The greatest gradients and windows that are allowed, for u16 near 2⁶³.
        HarrisConfig::builder()
            .smoothing(Smoothing::None)
            .gradient(Gradient::Box { size: 31 })
            .window(Window::Box { size: 57 })
            .threshold(Threshold::None)
            .build()
            .expect("the limit is allowed"),
        HarrisConfig::builder()
            .gradient(Gradient::Scharr3)
            .window(Window::Binomial { size: 7 })
            .measure(Measure::ShiTomasi)
            .border(Border::Zero)
            .build()
            .expect("a valid choice"),
    ];
    for config in configs {
        let mut detector = make(config.clone());
        for (name, scene) in scenes {
            for (depth, channels) in
                DEPTHS.into_iter().zip([1, 3, 1]).chain(DEPTHS.into_iter().zip([3, 1, 3]))
            {
                let picture = Picture::draw(depth, (66, 61, channels), scene);
                assert_equal(&mut *detector, &config, &(name, &picture), &picture.view());
            }
        }
    }
}

/// Real images, in colour where they are, with every preset, between pixels now one way, now the other.
pub fn on_photographs(make: Make) {
    let ways = [Subpixel::Quadratic, Subpixel::Forstner { radius: 5 }];
    for (i, (name, photograph)) in photographs().into_iter().enumerate() {
        let image = ImageView::try_from(&photograph).expect("a photograph is gray or RGB");
        for (j, preset) in presets::ALL.into_iter().enumerate() {
            let subpixel = ways[(i + j) % 2];
            let config = (preset.config)().to_builder().subpixel(subpixel).build().expect("still valid");
            assert_equal(&mut *make(config.clone()), &config, &(&name, preset.name), &image);
        }
    }
}

/// Responses in arrays of the image's shape, whatever is in them, of others, and of one that lies in columns; a bad image leaves the
/// array as it was.
pub fn into_any_array(make: Make) {
    let config = HarrisConfig::builder().border(Border::Skip).build().expect("a valid choice");
    let mut detector = make(config.clone());
    let pictures = [(40, 23), (23, 40)]
        .map(|(width, height)| Picture::draw(Depth::U8, (width, height, 1), |x, y, _| noise(7, x, y, 0)));
    let expected = pictures.each_ref().map(|picture| {
        ReferenceDetector::new(config.clone()).response(&picture.view()).expect("a valid image")
    });
    let arrays = [
        Array2::default((0, 0)),
        Array2::from_elem((23, 40), f32::NAN),
        Array2::from_elem((40, 23), f32::NAN),
        Array2::from_elem((40, 23), f32::NAN).reversed_axes(),
        Array2::from_elem((23, 41), f32::NAN),
    ];
    for mut array in arrays {
        for (picture, expected) in pictures.iter().zip(&expected) {
            detector.response_into(&picture.view(), &mut array).expect("a valid image");
            assert!(array == expected, "{}", detector.describe());
        }
        let small = [0_u8; 6 * 7];
        let error = detector.response_into(&ImageView::gray(&small, 6, 7).expect("a valid view"), &mut array);
        assert!(matches!(error, Err(Error::ImageTooSmall { needed: 7, .. })), "{error:?}");
        let mut floats = [0.5_f32; 40 * 23];
        floats[40 * 11 + 39] = f32::NAN;
        let image = ImageView::gray(&floats, 40, 23).expect("a valid view");
        let error = detector.response_into(&image, &mut array);
        assert!(matches!(error, Err(Error::NonFinite { .. })), "{error:?}");
        assert!(array == expected[1]);
    }
}

/// Every way from samples to responses that a fused walk may take, at sizes around where its strips, or tiles along the edges, begin anew.
pub fn with_every_walk(make: Make) {
    let sizes = [(16, 16), (119, 17), (120, 33), (121, 20), (124, 16), (240, 18), (243, 61)];
    let sizes = sizes.into_iter().chain([(33, 64), (65, 44), (97, 43), (225, 16)]).collect::<Vec<_>>();
    let kinds = [(Depth::U8, 1), (Depth::U8, 3), (Depth::U16, 1), (Depth::F32, 1)];
    let measures = [Measure::Harris { k: 0.04 }, Measure::ShiTomasi, Measure::Noble { eps: 1e-6 }];
    let mut number: usize = 0;
    let mut check = |builder: HarrisConfigBuilder, measure, (depth, channels)| {
        let border =
            [Border::Reflect101, Border::Replicate, Border::Skip, Border::Zero][number / kinds.len() % 4];
        let subpixel = [Subpixel::None, Subpixel::Quadratic][number / (4 * kinds.len()) % 2];
        let builder =
            builder.measure(measure).border(border).subpixel(subpixel).margin([0, 1, 6][number / 3 % 3]);
        let config = builder
            .suppression_radius([1, 2, [3, 4][number / 5 % 2], 7, 40][number % 5])
            .build()
            .expect("a valid choice");
        let (width, height) = sizes[number % sizes.len()];
        let contrast = [1.0, 1e-3][number / (2 * kinds.len()) % 2];
        let brightness =
            |x: usize, y: usize, c: usize| 0.5 + contrast * (noise(number as u64, x / 2, y / 2, c) - 0.5);
        let picture = Picture::draw(depth, (width, height, channels), brightness).with_gap(3);
        assert_equal(&mut *make(config.clone()), &config, &picture, &picture.view());
        number += 1;
    };
    for smoothing in [Smoothing::None, Smoothing::Binomial3, Smoothing::Binomial5] {
        for gradient in [Gradient::Sobel3, Gradient::Scharr3] {
            let builder = HarrisConfig::builder().smoothing(smoothing).gradient(gradient);
            for size in [3, 5, 7] {
                let builder = builder.clone().window(Window::Box { size });
                for measure in measures {
                    for kind in kinds {
                        check(builder.clone(), measure, kind);
                    }
                }
            }
        }
    }
    for smoothing in [Smoothing::None, Smoothing::Binomial3] {
        for size in [3, 5, 7] {
            // With the last, outer weights are denormal, or 0.
            let gaussians = [1.5, 0.7, 0.1].map(|sigma| Window::Gaussian { size, sigma });
            for window in gaussians.into_iter().chain([Window::Binomial { size }]) {
                let builder = HarrisConfig::builder().smoothing(smoothing).window(window);
                // Each measure with each radius.
                for _ in 0..5 {
                    for measure in measures {
                        check(builder.clone(), measure, kinds[0]);
                    }
                }
            }
        }
    }
}

/// Squares, those below the second row of them as bright as brings their responses near 0.3 times the greatest: windows around the centre
/// of one have equal eigenvalues, for which a response is the greatest that the trace allows.
fn squares(x: usize, y: usize) -> f64 {
    let is_inside = x % 20 / 4 == 2 && y % 20 / 4 == 2;
    if is_inside { [0.3, 1.0, 0.78][(y / 20).min(2)] } else { 0.0 }
}

/// Wide box windows, at sizes around the least that a walk with them takes, and around where its strips begin anew.
pub fn with_every_wide_window(make: Make) {
    let sizes = [(40, 36), (36, 75), (93, 41), (97, 52), (185, 38), (115, 58), (230, 44)];
    let measures = [Measure::Harris { k: 0.04 }, Measure::ShiTomasi, Measure::Noble { eps: 1e-6 }];
    let mut number = 0;
    for smoothing in [Smoothing::None, Smoothing::Binomial3, Smoothing::Binomial5] {
        for size in [9, 13, 15, 17, 31, 33] {
            for measure in measures {
                for depth in [Depth::U8, DEPTHS[number % DEPTHS.len()]] {
                    let border =
                        [Border::Reflect101, Border::Replicate, Border::Skip, Border::Zero][number / 2 % 4];
                    let builder =
                        HarrisConfig::builder().smoothing(smoothing).measure(measure).border(border);
                    let builder =
                        builder.window(Window::Box { size }).suppression_radius([1, 2, 4][number % 3]);
                    let builder =
                        builder.threshold([Threshold::None, Threshold::Relative(0.3)][number / 3 % 2]);
                    let config = builder.build().expect("a valid choice");
                    let (width, height) = sizes[number % sizes.len()];
                    // Of the greatest gradients that there are, too.
                    let brightness = |x: usize, y: usize, c: usize| match number % 4 {
                        0 => noise(number as u64, x / 2, y / 2, c).round(),
                        1 => f64::from(u8::from(x / 2 % 2 == y / 2 % 2)),
                        2 => squares(x, y),
                        _ => noise(number as u64, x / 2, y / 2, c),
                    };
                    let mut picture = Picture::draw(depth, (width, height, 1), brightness).with_gap(3);
                    if number % 5 == 0 {
                        picture = picture.with_mask(|x, y| (x / 5 + y / 7) % 3 != 0);
                    }
                    assert_equal(&mut *make(config.clone()), &config, &picture, &picture.view());
                    number += 1;
                }
            }
        }
    }
}

/// Box gradients before box windows, at sizes around the least that a walk with them takes, and around where its strips begin anew.
pub fn with_every_box_gradient(make: Make) {
    let borders = [Border::Reflect101, Border::Skip, Border::Reflect101, Border::Replicate, Border::Zero];
    let pairs = [3, 5, 9, 11].into_iter().flat_map(|gradient| [3, 7, 9, 11].map(|w| (gradient, w)));
    // Of each number of columns that whole lanes leave of a radius and of a size, and a window that is larger than any gradient.
    let large = [(13, 13), (15, 15), (17, 9), (7, 31), (31, 3), (31, 31), (19, 33)];
    for (gradient, window) in pairs.chain(large) {
        for number in 0..9 {
            // The same in every run.
            let pick = |what: u64, count: usize| {
                (noise(what, number, gradient as usize, window as usize) * count as f64) as usize
            };
            let radius = [2, 4, [1, 3, 6][pick(0, 3)]][number % 3];
            let builder = HarrisConfig::builder()
                .smoothing([Smoothing::None, Smoothing::None, Smoothing::Binomial3][pick(1, 3)])
                .gradient(Gradient::Box { size: gradient })
                .window(Window::Box { size: window })
                .measure(
                    [Measure::Harris { k: 0.04 }, Measure::ShiTomasi, Measure::Noble { eps: 1e-6 }]
                        [number / 3],
                )
                .border(borders[pick(2, 5)])
                .suppression_radius(radius)
                .threshold([Threshold::Relative(0.3), Threshold::None][pick(3, 2)]);
            let config = builder.build().expect("a valid choice");
            let around = (gradient / 2 + window / 2) as usize;
            let reach = around + radius as usize;
            // As GPUs have it.
            let is_large = gradient.max(window) > 9;
            let strip = if is_large { 256 - (2 * around).next_multiple_of(4) } else { 128 - 2 * reach };
            let least = 2 * reach.max(8);
            // So that there are some away from both edges.
            let strips = least / strip + if is_large { 2 } else { 1 };
            let (width, height) = [
                (least, least + 1),
                (least + 1, least),
                (least - 1, 60),
                (strips * strip, least + 7),
                (strips * strip + 1, least + 30),
                ((strips + 1) * strip - 1, 2 * least),
            ][pick(4, 6)];
            let depth = if pick(5, 7) == 0 { Depth::U16 } else { Depth::U8 };
            // Of the greatest gradients that there are, too.
            let scene = pick(6, 4);
            let brightness = |x: usize, y: usize, c: usize| match scene {
                0 => noise(number as u64, x / 3, y / 2, c).round(),
                1 => f64::from(u8::from(x / (gradient as usize / 2 + 1) % 2 == y / 40 % 2)),
                2 => squares(x, y),
                _ => noise(number as u64, x / 5, y / 4, c),
            };
            let mut picture = Picture::draw(depth, (width, height, 1), brightness).with_gap(3);
            if pick(7, 5) == 0 {
                picture = picture.with_mask(|x, y| (x / 5 + y / 7) % 3 != 0);
            }
            assert_equal(&mut *make(config.clone()), &config, &picture, &picture.view());
        }
    }
    // Smaller than any walk is for.
    for side in [3, 4, 5, 8, 15] {
        let builder = HarrisConfig::builder().smoothing(Smoothing::None).gradient(Gradient::Box { size: 3 });
        let config = builder.window(Window::Box { size: 3 }).build().expect("a valid choice");
        let picture =
            Picture::draw(Depth::U8, (side, side + 1, 1), |x, y, c| noise(side as u64, x, y, c).round());
        assert_equal(&mut *make(config.clone()), &config, &picture, &picture.view());
    }
}

/// Gradients and windows that are weighted sums of floats, at all borders, at sizes around where strips begin anew, and at the least.
pub fn with_every_gaussian(make: Make) {
    let derivative = |size: u32, sigma: f64| Gradient::GaussianDerivative { size, sigma };
    let gradients = [
        derivative(3, 0.7),
        derivative(5, 1.0),
        derivative(7, 2.0),
        derivative(9, 1.5),
        derivative(11, 2.0),
        Gradient::Sobel3,
        Gradient::Scharr3,
        Gradient::Central,
    ];
    let borders = [Border::Reflect101, Border::Replicate, Border::Zero, Border::Skip];
    for (kind, gradient) in gradients.into_iter().enumerate() {
        for (number, size) in [3, 5, 7, 9, 11, 9, 5, 3].into_iter().enumerate() {
            // The same in every run.
            let pick = |what: u64, count: usize| (noise(what, number, kind, 7) * count as f64) as usize;
            let builder = HarrisConfig::builder()
                .smoothing([Smoothing::None, Smoothing::None, Smoothing::Binomial3][pick(0, 3)])
                .gradient(gradient)
                .window(Window::Gaussian { size, sigma: 0.6 + 0.1 * f64::from(size) })
                .measure(
                    [Measure::Harris { k: 0.04 }, Measure::ShiTomasi, Measure::Noble { eps: 1e-6 }]
                        [pick(1, 3)],
                )
                .border(borders[(number + kind) % 4])
                .suppression_radius([1, 2, 4][pick(2, 3)])
                // More bins than a block counts, too.
                .threshold(
                    [
                        Threshold::Relative(0.3),
                        Threshold::Rosin { bins: 64 },
                        Threshold::Rosin { bins: 60_000 },
                    ][pick(3, 3)],
                );
            let config = builder.build().expect("a valid choice");
            let channels = if number < 4 { 1 } else { 3 };
            // As GPUs have it.
            let strip = if channels == 1 { 112 } else { 120 };
            // Rows: of several pieces, or fewer than a window.
            let sizes = [
                (2 * strip, 21),
                (2 * strip + 1, 40),
                (3 * strip - 1, 9),
                (strip + 3, 33),
                (strip + 1, 7),
                (5, 65),
            ];
            let small = [(1, 1), (2, 5), (4, 3), (9, 8), (17, 2), (1, 30)];
            for (width, height) in [sizes[pick(4, 6)], sizes[pick(5, 6)], small[pick(6, 6)]] {
                let scene = pick(7, 3);
                let brightness = |x: usize, y: usize, c: usize| match scene {
                    0 => noise(number as u64, x / 3, y / 2, c),
                    1 => noise(number as u64, x, y, c).round(),
                    _ => squares(x, y),
                };
                let depth = if pick(8, 6) == 0 { Depth::U16 } else { Depth::U8 };
                let mut picture = Picture::draw(depth, (width, height, channels), brightness).with_gap(3);
                if pick(9, 5) == 0 {
                    picture = picture.with_mask(|x, y| (x / 5 + y / 7) % 3 != 0);
                }
                assert_equal(&mut *make(config.clone()), &config, &picture, &picture.view());
            }
        }
    }
}

/// The same picture as u8, u16 and f32: without smoothing, which rounds integer samples, the responses agree
/// within 1e-5 of the greatest.
pub fn across_sample_types(make: Make) {
    // 8-bit levels, which 16-bit samples hold exactly (65535 = 257 · 255).
    let brightness = |x: usize, y: usize, c: usize| (noise(11, x / 4, y / 4, c) * 255.0).round() / 255.0;
    for measure in [Measure::Harris { k: 0.04 }, Measure::ShiTomasi, Measure::Noble { eps: 1e-6 }] {
        for gradient in [Gradient::Sobel3, Gradient::Box { size: 7 }] {
            let config =
                HarrisConfig::builder().smoothing(Smoothing::None).gradient(gradient).measure(measure);
            let config = config.build().expect("a valid choice");
            for channels in [1, 3] {
                let response = |depth: Depth| {
                    let picture = Picture::draw(depth, (70, 50, channels), brightness);
                    make(config.clone()).response(&picture.view()).expect("a valid image")
                };
                let u8 = response(Depth::U8);
                let greatest = u8.iter().copied().fold(0.0, f32::max);
                assert!(greatest > 0.0);
                for depth in [Depth::U16, Depth::F32] {
                    let error = (&response(depth) - &u8).iter().fold(0.0, |max: f32, v| max.max(v.abs()));
                    assert!(
                        error <= 1e-5 * greatest,
                        "{depth:?} differs by {error} of {greatest}: {config:?}"
                    );
                }
            }
        }
    }
}

/// Least distances from less than a pixel to more than the image, with more corners than lists have room for at first, and with so many
/// equally strong ones that any way of sorting them roughly is crowded.
pub fn with_every_least_distance(make: Make) {
    let size = (131, 97, 1);
    let noisy = Picture::draw(Depth::U8, size, |x, y, c| noise(1, x, y, c));
    let regular = Picture::draw(Depth::U8, size, |x, y, c| noise(2, x % 5, y % 5, c));
    let flat = Picture::draw(Depth::U8, size, |_, _, _| 0.5);
    let masked =
        Picture::draw(Depth::U8, size, |x, y, c| noise(3, x / 2, y / 2, c)).with_mask(|x, y| x + y > 60);
    let default = HarrisConfig::builder().threshold(Threshold::Relative(1e-4)).suppression_radius(1);
    let configs = [0.7, 1.5, 2.0, 4.3, 9.0, 31.0, 70.5, 1000.0]
        .map(|distance| default.clone().min_distance(distance))
        .into_iter()
        .chain([
            default.clone().min_distance(2.5).order(Order::Raster),
            default.clone().min_distance(6.0).max_corners(20).order(Order::Raster),
            default.clone().min_distance(3.0).max_corners(50),
            default.clone().min_distance(3.0).suppression_radius(0).smoothing(Smoothing::None),
            default.min_distance(8.0).suppression_radius(2).measure(Measure::ShiTomasi),
        ]);
    for config in configs {
        let config = config.build().expect("a valid configuration");
        let mut detector = make(config.clone());
        // Twice: the second time there is memory, and it is known how many to expect.
        for picture in [&noisy, &noisy, &regular, &flat, &noisy, &masked] {
            let view = picture.view();
            let expected = ReferenceDetector::new(config.clone()).detect(&view).expect("a good image");
            let found = detector.detect(&view).expect("a good image");
            assert!(found == expected, "{config:?}, {picture:?}: {} for {}", found.len(), expected.len());
        }
    }
}

/// One picture of hundreds of equally strong corners after the other, as they change by and by, and all at once.
pub fn on_equal_corners(make: Make) {
    let weak = Picture::draw(Depth::U8, (200, 120, 1), |x, y, _| 0.1 * noise(1, x / 5, y / 5, 0));
    let pictures =
        [dots(0, 3), dots(0, 3), dots(1, 3), dots(1, 9), dots(1, 9), weak.clone(), weak, dots(2, 3)];
    let default = presets::opencv_gftt().to_builder();
    for config in [
        default.clone(),
        default.clone().order(Order::Raster),
        default.clone().order(Order::Raster).subpixel(Subpixel::Quadratic),
        default.clone().order(Order::Raster).max_corners(70),
        default.clone().min_distance(11.0),
        default.subpixel(Subpixel::Forstner { radius: 3 }),
    ] {
        let config = config.build().expect("a valid configuration");
        let mut reference = ReferenceDetector::new(config.clone());
        let expected: Vec<_> =
            pictures.iter().map(|picture| reference.detect(&picture.view()).expect("a good image")).collect();
        let mut detector = make(config.clone());
        for _ in 0..2 {
            for (i, (picture, expected)) in pictures.iter().zip(&expected).enumerate() {
                let found = detector.detect(&picture.view()).expect("a good image");
                assert!(found == *expected, "{config:?}, {i}: {} for {}", found.len(), expected.len());
            }
        }
        let views: Vec<_> = pictures.iter().map(Picture::view).collect();
        for count in [3, 8, 8, 5] {
            let found = detector.detect_batch(&views[..count]).expect("good images");
            assert!(found == expected[..count], "{config:?}, {count} of a batch");
        }
    }
}

/// Batches of images of one size and of many, of all sample types, with more corners than lists have room for at first.
pub fn in_batches(make: Make) {
    let plain = |seed, (width, height), grain: usize| {
        Picture::draw(Depth::U8, (width, height, 1), |x, y, c| noise(seed, x / grain, y / grain, c))
    };
    let mut pictures: Vec<Picture> =
        (0..7).map(|seed| plain(seed, (61, 47), 1 + seed as usize % 3)).collect();
    pictures.push(plain(7, (16, 16), 2));
    pictures.push(plain(9, (61, 47), 2).with_mask(|x, y| x > y));
    pictures.push(plain(8, (61, 47), 2).with_gap(3));
    pictures.extend(
        (15..19)
            .map(|seed| plain(seed, (61, 47), 2).with_mask(move |x, y| noise(seed, x / 4, y / 9, 1) > 0.4)),
    );
    pictures
        .extend(DEPTHS.map(|depth| Picture::draw(depth, (61, 47, 3), |x, y, c| noise(10, x / 2, y / 2, c))));
    pictures.extend(DEPTHS.map(|depth| Picture::draw(depth, (5, 9, 1), |x, y, c| noise(11, x, y, c))));
    pictures.push(Picture::draw(Depth::U8, (61, 47, 1), |_, _, _| 0.5));
    pictures.extend((12..15).map(|seed| plain(seed, (47, 61), 1)));
    let views: Vec<_> = pictures.iter().map(Picture::view).collect();
    let default = HarrisConfig::default().to_builder();
    let configs = [
        default.clone(),
        presets::opencv_gftt().to_builder(),
        default.clone().order(Order::Raster).max_corners(Some(10)),
        default.clone().threshold(Threshold::None).suppression_radius(1),
        default.clone().min_distance(6.5),
        default.clone().suppression_radius(5),
        default.clone().border(Border::Replicate),
        default.clone().border(Border::Zero).suppression_radius(1).margin(2),
        default.subpixel(Subpixel::Quadratic),
    ];
    for config in configs {
        let config = config.build().expect("a valid configuration");
        let mut detector = make(config.clone());
        let mut reference = ReferenceDetector::new(config.clone());
        let expected: Vec<_> =
            views.iter().map(|view| reference.detect(view).expect("a good image")).collect();
        // Twice: the second time there is memory.
        for _ in 0..2 {
            let found = detector.detect_batch(&views).expect("good images");
            assert_eq!(found.len(), expected.len());
            for ((found, expected), picture) in found.iter().zip(&expected).zip(&pictures) {
                assert!(found == expected, "{config:?}, {picture:?}: {} for {}", found.len(), expected.len());
            }
        }
        assert!(detector.detect_batch(&[]).expect("nothing to do").is_empty());
        assert_eq!(detector.detect(&views[0]).expect("a good image"), expected[0]);
    }
}
