//! Equality with the reference, compared by the bits.

use std::collections::BTreeMap;
use std::hash::{DefaultHasher, Hash, Hasher};
use std::mem;
use std::sync::{Arc, Mutex, OnceLock};

use harris_core::{
    Border, Detector, Error, Gradient, HarrisConfig, HarrisConfigBuilder, ImageView, Keypoint, Measure,
    Order, Plateau, ReferenceDetector, Samples, Smoothing, Subpixel, Threshold, Ties, Window, presets,
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
    /// Of blobs.
    rejected: Option<usize>,
}

impl Outcome {
    pub(crate) fn of(detector: &mut dyn Detector, image: &ImageView<'_>) -> Self {
        let message = |error: Error| error.to_string();
        let bits = |response: Array2<f32>| response.iter().map(|v| v.to_bits()).collect();
        let keypoints = detector.detect(image).map_err(message);
        // After an error it has no meaning.
        let rejected = keypoints.as_ref().ok().and_then(|_| detector.rejected_peaks());
        Self { keypoints, response: detector.response(image).map(bits).map_err(message), rejected }
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
            (Ok(_), Ok(_)) if self.rejected != expected.rejected => {
                format!("{:?} rejected peaks for {:?}", self.rejected, expected.rejected)
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
pub(crate) fn assert_equal(
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
        Box::new(|b| b.gradient(Gradient::Sobel5)),
        Box::new(|b| b.gradient(Gradient::Sobel7).window(Window::Box { size: 41 })),
        Box::new(|b| b.gradient(Gradient::Sobel7).window(Window::Gaussian { size: 5, sigma: 1.5 })),
        Box::new(|b| b.gradient(Gradient::Box { size: 3 })),
        Box::new(|b| b.gradient(Gradient::Box { size: 31 }).window(Window::Box { size: 57 })),
        Box::new(|b| b.gradient(Gradient::GaussianDerivative { size: 9, sigma: 1.5 })),
        Box::new(|b| b.measure(Measure::ShiTomasi)),
        Box::new(|b| b.measure(Measure::Noble { eps: 1e-6 })),
        Box::new(|b| b.threshold(Threshold::None)),
        Box::new(|b| b.threshold(Threshold::Absolute(1e-4))),
        Box::new(|b| b.threshold(Threshold::Rosin { bins: 256 })),
        Box::new(|b| b.margin(3)),
        Box::new(|b| b.plateau(Plateau::All).threshold(Threshold::None)),
        Box::new(|b| b.plateau(Plateau::All).suppression_radius(1).border(Border::Zero)),
        Box::new(|b| b.plateau(Plateau::All).suppression_radius(7)),
        Box::new(|b| b.ties(Ties::Descending).max_corners(5)),
        Box::new(|b| b.ties(Ties::Descending).plateau(Plateau::All).min_distance(5.0)),
        Box::new(|b| b.min_distance(7.5)),
        Box::new(|b| b.max_corners(5)),
        Box::new(|b| b.min_distance(5.0).max_corners(9)),
        Box::new(|b| b.order(Order::Raster)),
        Box::new(|b| b.subpixel(Subpixel::Quadratic)),
        Box::new(|b| b.subpixel(Subpixel::Forstner { radius: 5 })),
        Box::new(|b| b.subpixel(Subpixel::Forstner { radius: 3 }).border(Border::Replicate)),
        Box::new(|b| b.subpixel(Subpixel::Forstner { radius: 5 }).min_distance(0.5).max_corners(40)),
        Box::new(|b| b.subpixel(Subpixel::Forstner { radius: 15 }).min_distance(6.0).order(Order::Raster)),
    ];
    for (size, border) in
        [(2, Border::Skip), (4, Border::Reflect101), (6, Border::Zero), (126, Border::Replicate)]
    {
        changes.push(Box::new(move |b| b.window(Window::Box { size }).border(border)));
    }
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

/// All black, all white, checkerboards of one pixel and stripes of few, noise of the two extremes: the greatest sums and
/// plateaus everywhere.
pub fn on_extreme_images(make: Make) {
    type Scene = fn(usize, usize, usize) -> f64;
    let scenes: [(&str, Scene); 8] = [
        ("black", |_, _, _| 0.0),
        ("white", |_, _, _| 1.0),
        ("checkerboard", |x, y, _| ((x + y) % 2) as f64),
        ("columns", |x, _, _| (x / 2 % 2) as f64),
        ("rows", |_, y, _| (y / 2 % 2) as f64),
        ("diagonals", |x, y, _| ((x + y) / 3 % 2) as f64),
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
            .smoothing(Smoothing::None)
            .gradient(Gradient::Sobel7)
            .window(Window::Box { size: 41 })
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
    // Sums of 8-bit samples that need all of 32 bits.
    let of_all_bits = [Border::Reflect101, Border::Replicate, Border::Zero, Border::Skip].map(|border| {
        HarrisConfig::builder()
            .smoothing(Smoothing::None)
            .window(Window::Binomial { size: 7 })
            .border(border)
            .build()
            .expect("a valid choice")
    });
    for config in configs.into_iter().chain(of_all_bits) {
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
    let configs = [0.7, 1.5, 2.0, 4.3, 7.071_067_811_865_475_5, 9.0, 31.0, 70.5, 1000.0, 1e200]
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
        default.clone().plateau(Plateau::First).ties(Ties::Ascending),
        default.clone().order(Order::Raster),
        default.clone().order(Order::Raster).subpixel(Subpixel::Quadratic),
        default.clone().order(Order::Raster).max_corners(70),
        default.clone().ties(Ties::Ascending).max_corners(70),
        default.clone().max_corners(70),
        default.clone().min_distance(11.0),
        default.clone().subpixel(Subpixel::Forstner { radius: 3 }),
        default.clone().subpixel(Subpixel::Forstner { radius: 5 }).min_distance(4.0).max_corners(90),
        default.subpixel(Subpixel::Forstner { radius: 5 }).min_distance(1.0).order(Order::Raster),
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
