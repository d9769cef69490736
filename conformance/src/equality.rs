//! Equality with the reference, bit by bit.

use harris_core::{
    Border, Detector, Error, Gradient, HarrisConfig, HarrisConfigBuilder, ImageView, Measure, Order, Plateau,
    ReferenceDetector, Smoothing, Subpixel, Threshold, Ties, Window, presets,
};
use ndarray::Array2;
use proptest::prelude::*;

use crate::extent::part_of;
use crate::outcome::{Outcome, assert_equal, run};
use crate::pictures::{DEPTHS, Depth, Picture, noise, photographs};
use crate::{Make, choices, strategies};

/// Compares random images up to 70 × 70, up to three in a row through one detector, with random
/// configurations.
pub fn on_random_images(make: Make) {
    on_random(make, 400, strategies::configs(), strategies::pictures());
}

/// Compares images up to 300 × 300 with configurations that people use.
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

/// Lists configurations: the default with one choice changed, for every choice, and pairs of
/// choices that interact.
#[must_use]
pub fn every_choice() -> Vec<HarrisConfig> {
    type Change = Box<dyn Fn(HarrisConfigBuilder) -> HarrisConfigBuilder>;
    let mut changes: Vec<Change> = vec![
        Box::new(|b| b),
        // Sums near the limits of their number types.
        Box::new(|b| b.gradient(Gradient::Sobel7).window(Window::Box { size: 41 })),
        Box::new(|b| b.gradient(Gradient::Sobel7).window(Window::Gaussian { size: 5, sigma: 1.5 })),
        Box::new(|b| b.gradient(Gradient::Box { size: 31 }).window(Window::Box { size: 57 })),
        // Choices that only act together with others.
        Box::new(|b| b.plateau(Plateau::All).threshold(Threshold::None)),
        Box::new(|b| b.plateau(Plateau::All).suppression_radius(1).border(Border::Zero)),
        Box::new(|b| b.plateau(Plateau::All).suppression_radius(7)),
        Box::new(|b| b.ties(Ties::Descending).max_corners(5)),
        Box::new(|b| b.ties(Ties::Descending).plateau(Plateau::All).min_distance(5.0)),
        Box::new(|b| b.min_distance(5.0).max_corners(9)),
        Box::new(|b| b.subpixel(Subpixel::Forstner { radius: 3 }).border(Border::Replicate)),
        Box::new(|b| b.subpixel(Subpixel::Forstner { radius: 5 }).min_distance(0.5).max_corners(40)),
        Box::new(|b| b.subpixel(Subpixel::Forstner { radius: 15 }).min_distance(6.0).order(Order::Raster)),
        // Numbers.
        Box::new(|b| b.margin(3)),
        Box::new(|b| b.min_distance(7.5)),
        Box::new(|b| b.max_corners(5)),
    ];
    for smoothing in choices::smoothings() {
        changes.push(Box::new(move |b| b.smoothing(smoothing)));
    }
    for gradient in choices::gradients() {
        changes.push(Box::new(move |b| b.gradient(gradient)));
    }
    for window in choices::windows() {
        changes.push(Box::new(move |b| b.window(window)));
    }
    for measure in choices::measures() {
        changes.push(Box::new(move |b| b.measure(measure)));
    }
    for threshold in choices::thresholds() {
        changes.push(Box::new(move |b| b.threshold(threshold)));
    }
    for border in choices::borders() {
        changes.push(Box::new(move |b| b.border(border)));
        changes.push(Box::new(move |b| b.border(border).window(Window::Box { size: 4 })));
        changes.push(Box::new(move |b| b.border(border).window(Window::Gaussian { size: 5, sigma: 1.5 })));
    }
    for subpixel in choices::subpixels() {
        changes.push(Box::new(move |b| b.subpixel(subpixel)));
    }
    for plateau in choices::plateaus() {
        changes.push(Box::new(move |b| b.plateau(plateau)));
    }
    for ties in choices::ties() {
        changes.push(Box::new(move |b| b.ties(ties)));
    }
    for order in choices::orders() {
        changes.push(Box::new(move |b| b.order(order)));
    }
    for radius in [0, 1, 3, 4, 40] {
        changes.push(Box::new(move |b| b.suppression_radius(radius)));
    }
    let mut configs = Vec::new();
    for change in changes {
        let config = change(HarrisConfig::builder()).build().expect("a valid choice");
        // The defaults are examples of their choices, too.
        if !configs.contains(&config) {
            configs.push(config);
        }
    }
    configs
}

/// Compares [`every_choice`] at sizes around those of vectors, bands and tiles, for all sample
/// types.
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
    for (number, config) in every_choice().into_iter().enumerate() {
        let mut detector = make(config.clone());
        // Another part of the sizes for each choice.
        let mut sizes: Vec<_> = sizes.into_iter().enumerate().collect();
        sizes.rotate_left(number % 11);
        for (i, (width, height)) in part_of(sizes, 5) {
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

/// Compares every width and height up to 260, for configurations with the fastest engines. That is
/// more than two strips, tiles and bands.
pub fn for_every_width_and_height(make: Make) {
    let wide_support = HarrisConfig::builder()
        .smoothing(Smoothing::Binomial5)
        .window(Window::Box { size: 5 })
        .suppression_radius(1)
        .threshold(Threshold::None)
        .build()
        .expect("a valid choice");
    // For this one, the warm-up rows of the first strips begin above the image.
    let small_window =
        HarrisConfig::builder().smoothing(Smoothing::Binomial5).build().expect("a valid choice");
    type Size = fn(usize) -> (usize, usize);
    let sizes: [(HarrisConfig, Size); 4] = [
        (HarrisConfig::default(), |side| (side, 18)),
        (presets::opencv_gftt(), |side| (17, side)),
        // Each size is far from the last, so that memory has to be allocated again.
        (wide_support, |side| (5 * side % 261 + 1, 16)),
        (small_window, |side| (215, side)),
    ];
    for (config, size) in sizes {
        let mut detector = make(config.clone());
        for side in part_of(1..=260, 6) {
            let (width, height) = size(side);
            let picture =
                Picture::draw(Depth::U8, (width, height, 1), |x, y, _| noise(side as u64, x / 2, y / 2, 0));
            assert_equal(&mut *detector, &config, &picture, &picture.view());
        }
    }
}

/// Compares black, white, checkerboards, stripes and noise of the two extremes: the largest sums,
/// and plateaus everywhere.
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
        // The largest gradients and windows that are allowed: for u16, sums near 2⁶³.
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
    let full_range = choices::borders().into_iter().map(|border| {
        HarrisConfig::builder()
            .smoothing(Smoothing::None)
            .window(Window::Binomial { size: 7 })
            .border(border)
            .build()
            .expect("a valid choice")
    });
    for config in configs.into_iter().chain(full_range) {
        let mut detector = make(config.clone());
        let formats = DEPTHS.into_iter().zip([1, 3, 1]).chain(DEPTHS.into_iter().zip([3, 1, 3]));
        for (format, (name, scene)) in scenes.into_iter().enumerate() {
            for (depth, channels) in part_of(formats.clone().cycle().skip(format).take(6), 6) {
                let picture = Picture::draw(depth, (66, 61, channels), scene);
                assert_equal(&mut *detector, &config, &(name, &picture), &picture.view());
            }
        }
    }
}

/// Compares photographs, gray and colour, with every preset and with both subpixel refinements.
pub fn on_photographs(make: Make) {
    let refinements = [Subpixel::Quadratic, Subpixel::Forstner { radius: 5 }];
    for (i, (name, photograph)) in photographs().into_iter().enumerate() {
        let image = ImageView::try_from(&photograph).expect("a photograph is gray or RGB");
        for (j, preset) in part_of(presets::ALL.iter().enumerate().skip(i % 2), 2) {
            let subpixel = refinements[(i + j) % 2];
            let config = (preset.config)().to_builder().subpixel(subpixel).build().expect("still valid");
            assert_equal(&mut *make(config.clone()), &config, &(&name, preset.name), &image);
        }
    }
}

/// Checks `response_into` with arrays of the image's shape, of other shapes and in column order. A
/// bad image must leave the array unchanged.
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

/// Checks that the responses of one picture as u8, u16 and f32 agree within 1e-5 of the greatest.
/// There is no smoothing, which rounds integer samples.
pub fn across_sample_types(make: Make) {
    // 8-bit levels, which 16-bit samples hold exactly (65535 = 257 · 255).
    let brightness = |x: usize, y: usize, c: usize| (noise(11, x / 4, y / 4, c) * 255.0).round() / 255.0;
    for measure in choices::measures() {
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
