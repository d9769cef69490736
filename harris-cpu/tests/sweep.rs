//! The sweeps against the reference at every level of this machine, with images that straddle
//! vectors, strips and bands.
//!
//! Run with `--nocapture` to see the levels.

use harris_conformance::extent::random_cases;
use harris_conformance::pictures::{Depth, Picture, Pixels, noise};
use harris_conformance::strategies::usual_configs;
use harris_core::{
    Border, Gradient, HarrisConfig, Measure, ReferenceDetector, Smoothing, Subpixel, Threshold, Window,
};
use harris_cpu::{CpuDetector, Detector, Level};
use proptest::prelude::*;

/// Configurations that a sweep computes for some sample type, and some that none does.
///
/// They are the usual ones, with smoothings, gradients, windows, borders, radii and thresholds of
/// their own.
fn configs() -> impl Strategy<Value = HarrisConfig> {
    // Box windows of 9 and 11 fit in 32 bits with Scharr's gradient, of 45 with Sobel's.
    let boxes = prop_oneof![3 => Just(3_u32), 2 => Just(5), 2 => Just(7), 1 => Just(9), 1 => Just(11), 1 => Just(31), 1 => Just(45), 1 => Just(127)];
    let window = prop_oneof![
        4 => boxes.prop_map(|size| Window::Box { size }),
        1 => (4_u32..23).prop_map(|radius| Window::Box { size: 2 * radius + 1 }),
        1 => (1_u32..4).prop_map(|radius| Window::Binomial { size: 2 * radius + 1 }),
        1 => (prop_oneof![4 => 1_u32..7, 1 => 7_u32..64], 0.5_f64..3.0)
            .prop_map(|(radius, sigma)| Window::Gaussian { size: 2 * radius + 1, sigma }),
    ];
    let gaussian = || (prop_oneof![4 => 1_u32..6, 1 => 6_u32..64], 0.4_f64..4.0);
    let smoothing = prop_oneof![
        4 => Just(None),
        1 => gaussian().prop_map(|(radius, sigma)| Some(Smoothing::Gaussian { size: 2 * radius + 1, sigma })),
    ];
    let gradient = prop_oneof![
        4 => Just(None),
        1 => prop_oneof![Just(1_u32), 2_u32..16].prop_map(|radius| Some(Gradient::Box { size: 2 * radius + 1 })),
        1 => gaussian().prop_map(|(radius, sigma)| {
            Some(Gradient::GaussianDerivative { size: 2 * radius + 1, sigma })
        }),
    ];
    let threshold =
        prop_oneof![3 => Just(None), 1 => (2_u32..300).prop_map(|bins| Some(Threshold::Rosin { bins }))];
    let subpixel = prop_oneof![
        3 => Just(Subpixel::None),
        1 => Just(Subpixel::Quadratic),
        1 => (3_u32..16).prop_map(|radius| Subpixel::Forstner { radius }),
    ];
    let border = prop_oneof![
        2 => Just(Border::Reflect101),
        1 => Just(Border::Replicate),
        1 => Just(Border::Zero),
        1 => Just(Border::Skip)
    ];
    // Radii within which vectors are compared, those with a second comparison, and two that need a
    // response map.
    let radius = prop_oneof![4 => 0_u32..5, 1 => 5_u32..9, 1 => 9_u32..11];
    (usual_configs(), (smoothing, gradient, window, border), threshold, subpixel, radius).prop_filter_map(
        "the tensor of wide boxes under wide windows overflows",
        |(usual, (smoothing, gradient, window, border), threshold, subpixel, radius)| {
            let smoothing = smoothing.unwrap_or(usual.smoothing());
            let gradient = gradient.unwrap_or(usual.gradient());
            let threshold = threshold.unwrap_or(usual.threshold());
            let builder = usual.to_builder().smoothing(smoothing).gradient(gradient).window(window);
            let builder = builder.border(border).threshold(threshold).subpixel(subpixel);
            builder.suppression_radius(radius).build().ok()
        },
    )
}

/// Images of every format, 8-bit gray ones most often: noise of all or two levels, blocks, columns,
/// slopes, dots and fields of noise on a flat ground.
///
/// Strips are 1024 columns wide, vectors 4 to 32, tiles 10 to 14 and 24 to 30. Blocks of tiles have
/// 47 rows, bands at least 16.
fn pictures() -> impl Strategy<Value = Picture> {
    let format = prop_oneof![
        5 => Just((Depth::U8, 1_usize)),
        2 => Just((Depth::U8, 3)),
        1 => Just((Depth::U16, 1)),
        1 => Just((Depth::U16, 3)),
        1 => Just((Depth::F32, 1)),
        1 => Just((Depth::F32, 3)),
    ];
    let width = prop_oneof![
        8 => 1_usize..140,
        1 => prop_oneof![Just(1023_usize), Just(1024), Just(1025), Just(1026), Just(1031), Just(1052), Just(1088)],
        1 => 2040_usize..2080,
    ];
    let height = prop_oneof![3 => 1_usize..24, 2 => 24_usize..110];
    let content = (any::<u64>(), 0_usize..8, 1_usize..7);
    (format, (width, height), content, 0_usize..5, prop::option::of(any::<u64>())).prop_map(
        |((depth, channels), (width, height), (seed, kind, grain), gap, mask)| {
            let brightness = |x: usize, y: usize, c: usize| {
                let value = noise(seed, x / grain, y / grain, c);
                match kind {
                    0 => value,
                    1 => value.round(),
                    2 => ((x + y) % 2) as f64,
                    3 => f64::from(x / grain % 2 == y / grain % 2),
                    // The greatest response grows down the image, and candidates with it.
                    4 => value * (y + 1) as f64 / height as f64,
                    5 if noise(seed, x / 3, y / 3, 3) > 0.04 => 0.5 + value / 1000.0,
                    6 if (x / 50 + y / 45) % 2 == 1 => 0.5 + value / 1000.0,
                    5 | 6 => value,
                    _ => value.floor(),
                }
            };
            let mut picture = Picture::draw(depth, (width, height, channels), brightness).with_gap(gap);
            if let Pixels::F32(samples) = &mut picture.samples {
                // Numbers of any size: values left in a detector's memory must not disturb the next
                // image.
                let amplitude = if seed % 2 == 0 { 1.0 } else { -1e8 };
                samples.iter_mut().for_each(|sample| *sample *= amplitude);
            }
            match mask {
                Some(seed) => picture.with_mask(|x, y| noise(seed, x / 2, y / 2, 0) < 0.6),
                None => picture,
            }
        },
    )
}

#[test]
fn every_level_equals_the_reference() {
    let levels = Level::available();
    println!("levels of this machine: {levels:?}");
    let cases = random_cases(80, 20);
    let settings = ProptestConfig { cases, failure_persistence: None, ..ProptestConfig::default() };
    proptest!(settings, |(config in configs(), pictures in prop::collection::vec(pictures(), 1..4))| {
        let message = |error: harris_core::Error| error.to_string();
        let bits = |map: ndarray::Array2<f32>| map.mapv(f32::to_bits);
        let mut reference = ReferenceDetector::new(config.clone());
        let expected: Vec<_> = pictures
            .iter()
            .map(|picture| {
                let image = picture.view();
                (reference.detect(&image).map_err(message), reference.response(&image).map(bits).map_err(message))
            })
            .collect();
        for &level in &levels {
            for threads in [1, 3] {
                // One detector for all images: values left in its memory must not disturb the next
                // one.
                let mut detector = CpuDetector::with_threads(config.clone(), threads).unwrap().at_level(level);
                for (picture, (corners, map)) in pictures.iter().zip(&expected) {
                    let image = picture.view();
                    let found = detector.detect(&image).map_err(message);
                    prop_assert!(found == *corners, "{level} with {threads} threads on {picture:?}");
                    let found = detector.response(&image).map(bits).map_err(message);
                    prop_assert!(found == *map, "responses, {level} with {threads} threads on {picture:?}");
                }
            }
        }
    });
}

/// Sweeps check float samples as they read them. Wherever a bad one is, the error is the
/// reference's, and the corners of the next image are found.
#[test]
fn one_float_that_is_no_sample_is_an_error() {
    let cases = random_cases(60, 15);
    let settings = ProptestConfig { cases, failure_persistence: None, ..ProptestConfig::default() };
    let bad = prop_oneof![Just(f32::NAN), Just(f32::INFINITY), Just(-f32::INFINITY), Just(1.001e8_f32)];
    let size = prop_oneof![4 => (1_usize..80, 1_usize..80), 1 => (1020_usize..1060, 1_usize..40)];
    let place = (0.0_f64..1.0, 0.0_f64..1.0, 0_usize..3);
    proptest!(settings, |(config in configs(), (width, height) in size, bad in bad, place in place, colour: bool)| {
        let channels = if colour { 3 } else { 1 };
        let picture = Picture::draw(Depth::F32, (width, height, channels), |x, y, c| noise(7, x / 3, y / 3, c));
        let mut spoilt = picture.clone();
        let Pixels::F32(samples) = &mut spoilt.samples else { unreachable!() };
        let (x, y) = ((place.0 * width as f64) as usize, (place.1 * height as f64) as usize);
        samples[(y * width + x) * channels + place.2 % channels] = bad;
        let message = |error: harris_core::Error| error.to_string();
        let mut reference = ReferenceDetector::new(config.clone());
        let expected = [&spoilt, &picture].map(|picture| reference.detect(&picture.view()).map_err(message));
        prop_assert!(expected[0].is_err());
        for level in Level::available() {
            for threads in [1, 3] {
                let mut detector = CpuDetector::with_threads(config.clone(), threads).unwrap().at_level(level);
                let mut map = ndarray::Array2::from_elem((1, 1), 5.0);
                let refused = detector.response_into(&spoilt.view(), &mut map).map_err(message);
                prop_assert_eq!(refused.err(), expected[0].clone().err());
                prop_assert!(map == ndarray::Array2::from_elem((1, 1), 5.0), "the array stays as it was");
                for (picture, expected) in [&spoilt, &picture].into_iter().zip(&expected) {
                    let found = detector.detect(&picture.view()).map_err(message);
                    prop_assert!(found == *expected, "{level}, {threads} threads, {width} x {height} at {x}, {y}");
                }
            }
        }
    });
}

/// Under `Skip` the widest window leaves a frame wider than a vector without responses, also where
/// the frame begins in one strip and ends in the next.
#[test]
fn a_frame_wider_than_vectors_has_no_corners() {
    let config = HarrisConfig::builder()
        .smoothing(Smoothing::Binomial5)
        .gradient(Gradient::Central)
        .window(Window::Box { size: 127 })
        .border(Border::Skip)
        .threshold(Threshold::None)
        .suppression_radius(4);
    let config = config.build().unwrap();
    for width in [133, 150, 1090, 1094, 1130] {
        let picture = Picture::draw(Depth::U8, (width, 150, 1), |x, y, _| noise(9, x / 5, y / 5, 0));
        let expected = ReferenceDetector::new(config.clone()).detect(&picture.view()).unwrap();
        for level in Level::available() {
            let mut detector = CpuDetector::with_threads(config.clone(), 2).unwrap().at_level(level);
            assert_eq!(detector.detect(&picture.view()).unwrap(), expected, "{level}, {picture:?}");
        }
    }
}

/// Images of several strips and bands, with fields that have many corners, strong ones or few. Each
/// image is fainter than those before it.
#[test]
fn max_corners_gives_the_first_corners_of_the_whole_list() {
    let pictures: Vec<_> = [(1, (1100, 200)), (2, (400, 500)), (5, (300, 700))]
        .map(|(seed, (width, height))| {
            Picture::draw(Depth::U8, (width, height, 1), |x, y, _| {
                let contrast = noise(seed, x / 90, y / 60, 1) / seed as f64;
                0.5 + contrast * (noise(seed, x / 6, y / 5, 0) - 0.5)
            })
        })
        .into();
    let harris = Measure::Harris { k: 0.04 };
    for (measure, distance) in
        [(harris, 0.0), (Measure::ShiTomasi, 0.0), (Measure::ShiTomasi, 4.0), (Measure::ShiTomasi, 13.0)]
    {
        let config = HarrisConfig::builder().measure(measure).min_distance(distance);
        let mut detector = CpuDetector::with_threads(config.clone().build().unwrap(), 1).unwrap();
        let whole: Vec<_> =
            pictures.iter().map(|picture| detector.detect(&picture.view()).unwrap()).collect();
        for most in [1, 60, 400] {
            let config = config.clone().max_corners(most).build().unwrap();
            for level in Level::available() {
                for threads in [1, 3] {
                    let detector = CpuDetector::with_threads(config.clone(), threads).unwrap();
                    let mut detector = detector.at_level(level);
                    for (picture, whole) in pictures.iter().zip(&whole) {
                        let found = detector.detect(&picture.view()).unwrap();
                        let expected = &whole[..most.min(whole.len())];
                        assert!(found == expected, "{level}, {threads} threads, {config:?}");
                    }
                }
            }
        }
    }
}

/// Sweeps keep coordinates of 16 bits; wider images have their corners in a response map.
#[test]
fn sides_of_more_than_16_bits_equal_the_reference() {
    let config = HarrisConfig::builder().threshold(Threshold::Relative(0.3)).build().unwrap();
    for (width, height) in [(65_536, 9), (65_560, 9), (9, 65_536), (9, 65_560)] {
        // With a corner at the far end.
        let far = |x, y| x + 6 >= width && y + 6 >= height;
        let picture = Picture::draw(Depth::U8, (width, height, 1), |x, y, _| {
            if far(x, y) { 1.0 } else { noise(4, x, y, 0) / 2.0 }
        });
        let expected = ReferenceDetector::new(config.clone()).detect(&picture.view()).unwrap();
        assert!(expected.iter().any(|k| k.x as usize + 9 >= width && k.y as usize + 9 >= height));
        let mut detector = CpuDetector::with_threads(config.clone(), 2).unwrap();
        assert_eq!(detector.detect(&picture.view()).unwrap(), expected, "{width} x {height}");
    }
}

/// Cones, each steeper than the one before, whose gradients have one length all around: responses
/// on both sides of the threshold, with gradients no greater than such responses need.
#[test]
fn gradient_gate_passes_every_response_above_the_threshold() {
    const SIDE: usize = 20;
    let columns = 12;
    let draw = |depth, channels| {
        Picture::draw(depth, (columns * SIDE, 5 * SIDE, channels), |x, y, _| {
            let slope = 0.05 * (1.0 + (x / SIDE + columns * (y / SIDE)) as f64 / 60.0);
            let [x, y] = [x, y].map(|place| (place % SIDE) as f64 - (SIDE / 2) as f64);
            (slope * x.hypot(y)).min(0.9)
        })
    };
    let pictures = [
        draw(Depth::U16, 1),
        draw(Depth::U16, 3),
        draw(Depth::F32, 1),
        draw(Depth::F32, 3),
        draw(Depth::U8, 1),
        draw(Depth::U8, 3),
    ];
    let windows = [
        Window::Box { size: 3 },
        Window::Box { size: 5 },
        Window::Box { size: 7 },
        Window::Box { size: 9 },
        Window::Box { size: 11 },
        Window::Binomial { size: 3 },
        Window::Binomial { size: 7 },
        Window::Gaussian { size: 3, sigma: 0.8 },
        Window::Gaussian { size: 11, sigma: 1.5 },
    ];
    let gradients =
        [Gradient::Sobel3, Gradient::Central, Gradient::Scharr3, Gradient::Box { size: 3 }, Gradient::Sobel3];
    for (number, window) in windows.into_iter().enumerate() {
        for measure in [Measure::Harris { k: 0.04 }, Measure::ShiTomasi, Measure::Noble { eps: 1e-9 }] {
            let config = HarrisConfig::builder()
                .smoothing(Smoothing::None)
                .gradient(gradients[number % gradients.len()])
                .window(window)
                .measure(measure)
                .threshold(Threshold::Relative(0.3));
            let config = config.build().unwrap();
            for picture in &pictures {
                let expected = ReferenceDetector::new(config.clone()).detect(&picture.view()).unwrap();
                let responses = expected.iter().map(|corner| corner.response);
                let [most, least] = [responses.clone().fold(0.0, f32::max), responses.fold(1.0, f32::min)];
                assert!(least < 0.35 * most, "some are near the threshold: {least} of {most}, {config:?}");
                for level in Level::available() {
                    let mut detector = CpuDetector::with_threads(config.clone(), 1).unwrap().at_level(level);
                    let found = detector.detect(&picture.view()).unwrap();
                    assert_eq!(found, expected, "{level}, {config:?}");
                }
            }
        }
    }
}

/// The gate pauses where most gradients are active; rows of the pause must count as active when it
/// resumes.
#[test]
fn rows_in_a_pause_of_the_gradient_gate_count_as_active() {
    for (number, end) in (20..75).enumerate() {
        let window = [Window::Box { size: 7 }, Window::Gaussian { size: 9, sigma: 3.0 }][number % 2];
        let config = HarrisConfig::builder().window(window).threshold(Threshold::Absolute(1e-7));
        let config = config.suppression_radius(0).build().unwrap();
        for depth in [Depth::U16, Depth::F32] {
            let noise = |x, y| noise(end as u64, x / 2, y / 2, 0);
            let draw = |x, y, _| if y < end { noise(x, y) } else { 0.5 };
            let picture = Picture::draw(depth, (70, 90, 1), draw);
            let expected = ReferenceDetector::new(config.clone()).detect(&picture.view()).unwrap();
            assert!(
                expected.iter().any(|corner| corner.y as usize > end),
                "corners below the last row of noise"
            );
            for level in Level::available() {
                let mut detector = CpuDetector::with_threads(config.clone(), 1).unwrap().at_level(level);
                assert_eq!(detector.detect(&picture.view()).unwrap(), expected, "{level}, {end}, {config:?}");
            }
        }
    }
}

/// Noise in the image's outermost columns or rows alone, under borders that replicate gradients or
/// put zeros beside them.
#[test]
fn gradient_gate_counts_gradients_at_the_image_edge() {
    let windows = [Window::Box { size: 3 }, Window::Box { size: 7 }, Window::Binomial { size: 5 }];
    // Wherever edges lie in tiles and in blocks of rows.
    for (side, length) in (0..4).flat_map(|side| (40..110).map(move |length| (side, length))) {
        let (width, height) = if side < 2 { (length, 40) } else { (45, length) };
        let border = [Border::Replicate, Border::Zero][length % 2];
        let (depth, channels) =
            [(Depth::U8, 1), (Depth::U8, 3), (Depth::F32, 1), (Depth::U16, 1), (Depth::F32, 3)][length % 5];
        let deep = 1 + length % 3;
        let draw = |x: usize, y: usize, c: usize| {
            let is_noise = [x < deep, x + deep >= width, y < deep, y + deep >= height][side];
            if is_noise { noise(length as u64, x, y, c) } else { 0.5 }
        };
        let picture = Picture::draw(depth, (width, height, channels), draw);
        for window in windows {
            let smoothing = [Smoothing::None, Smoothing::Binomial3][length / 2 % 2];
            let builder = HarrisConfig::builder().smoothing(smoothing).window(window).border(border);
            let builder = builder.suppression_radius(0);
            let mut reference = ReferenceDetector::new(builder.clone().build().unwrap());
            let greatest = reference.response(&picture.view()).unwrap().into_iter().fold(0.0, f32::max);
            let config = builder.threshold(Threshold::Absolute(greatest.next_down())).build().unwrap();
            let expected = ReferenceDetector::new(config.clone()).detect(&picture.view()).unwrap();
            assert!(!expected.is_empty(), "{config:?}, {picture:?}");
            for level in Level::available() {
                let mut detector = CpuDetector::with_threads(config.clone(), 1).unwrap().at_level(level);
                let found = detector.detect(&picture.view()).unwrap();
                assert_eq!(found, expected, "{level}, {config:?}, {picture:?}, side {side}");
            }
        }
    }
}

/// Noise beside or below a flat ground: there, the outermost windows with a response have gradients
/// in one column or row alone.
#[test]
fn gradient_gate_counts_the_outermost_column_and_row_of_a_window() {
    const WIDTH: usize = 72;
    const HEIGHT: usize = 66;
    let windows = [
        Window::Box { size: 3 },
        Window::Box { size: 5 },
        Window::Box { size: 7 },
        Window::Box { size: 9 },
        Window::Box { size: 11 },
        Window::Binomial { size: 3 },
        Window::Binomial { size: 5 },
        Window::Gaussian { size: 3, sigma: 0.8 },
    ];
    // Borders that extend samples, and gradients.
    let borders = [Border::Reflect101, Border::Replicate];
    for (window, border) in windows.into_iter().flat_map(|window| borders.map(|border| (window, border))) {
        let builder = HarrisConfig::builder()
            .smoothing(Smoothing::None)
            .window(window)
            .border(border)
            .suppression_radius(0);
        let mut reference = ReferenceDetector::new(builder.clone().build().unwrap());
        for edge in 20..56 {
            for side in 0..4 {
                let draw = |x: usize, y: usize, c: usize| {
                    let is_noise = [x < edge, x >= edge, y < edge, y >= edge][side];
                    if is_noise { noise(edge as u64, x, y, c) } else { 0.5 }
                };
                let (depth, channels) =
                    [(Depth::U8, 1), (Depth::U8, 3), (Depth::F32, 1), (Depth::U16, 1)][(edge + side) % 4];
                let picture = Picture::draw(depth, (WIDTH, HEIGHT, channels), draw);
                let responses = reference.response(&picture.view()).unwrap();
                // From the flat ground on, the greatest response of the first column or row that
                // has one.
                let line = |i: usize| {
                    let lines = if side < 2 { responses.columns() } else { responses.rows() };
                    let last = lines.into_iter().len() - 1;
                    let line = if side % 2 == 0 { last - i } else { i };
                    let line = if side < 2 { responses.column(line) } else { responses.row(line) };
                    line.iter().copied().fold(0.0, f32::max)
                };
                let outermost = (0..HEIGHT).map(line).find(|&greatest| greatest > 0.0).unwrap();
                let threshold = Threshold::Absolute(outermost.next_down());
                let config = builder.clone().threshold(threshold).build().unwrap();
                let expected = ReferenceDetector::new(config.clone()).detect(&picture.view()).unwrap();
                for level in Level::available() {
                    let mut detector = CpuDetector::with_threads(config.clone(), 1).unwrap().at_level(level);
                    let found = detector.detect(&picture.view()).unwrap();
                    assert_eq!(found, expected, "{level}, side {side} of {edge}, {config:?}");
                }
            }
        }
    }
}

#[test]
fn levels_are_parsed_from_their_names() {
    for level in Level::available() {
        assert_eq!(level.to_string().parse(), Ok(level));
    }
    let last = Level::available().last().unwrap().to_string();
    assert_eq!(last == "portable", cfg!(feature = "portable"), "{last}");
    let error = "mmx".parse::<Level>().unwrap_err().to_string();
    assert!(error.contains("`mmx`") && error.contains(&last), "{error}");
}

/// Whole vectors write sums before the first column of a row, from gradients of an earlier image.
#[test]
fn prefix_sums_do_not_begin_with_sums_of_an_earlier_image() {
    let config =
        HarrisConfig::builder().window(Window::Box { size: 31 }).threshold(Threshold::None).build().unwrap();
    let draw = |depth| Picture::draw(depth, (1100, 40, 1), |x, y, _| noise(3, x, y, 0));
    let mut bright = draw(Depth::F32);
    if let Pixels::F32(samples) = &mut bright.samples {
        samples.iter_mut().for_each(|sample| *sample *= 1e8);
    }
    let picture = draw(Depth::U16);
    let expected = ReferenceDetector::new(config.clone()).detect(&picture.view()).unwrap();
    for level in Level::available() {
        let mut detector = CpuDetector::with_threads(config.clone(), 1).unwrap().at_level(level);
        detector.detect(&bright.view()).unwrap();
        assert_eq!(detector.detect(&picture.view()).unwrap(), expected, "{level}");
    }
}

/// A rejected pixel is not stored where its slot held no response before, and vectors reach beyond
/// their tile. Responses of other images, rows and tiles must not compete with corners.
#[test]
fn rejected_pixels_have_no_response_of_an_earlier_row_or_image() {
    let config = HarrisConfig::builder().threshold(Threshold::Relative(0.02)).suppression_radius(4);
    let config = config.build().unwrap();
    let mut detector = CpuDetector::with_threads(config.clone(), 1).unwrap();
    let mut reference = ReferenceDetector::new(config);
    for seed in 0..30 {
        // One image of five is all noise, for either sample type; others have little, stronger or
        // weaker.
        let depth = [Depth::U8, Depth::U8, Depth::U16][seed as usize % 3];
        let rare = if seed % 5 == 0 { 0.0 } else { 0.97 };
        let draw = |x: usize, y: usize, c| {
            let [place, amplitude] = [7, 8].map(|what| noise(seed, x / 3, y / 3, what));
            if place >= rare { 0.4 + (noise(seed, x, y, c) - 0.4) * amplitude } else { 0.4 }
        };
        let picture = Picture::draw(depth, (400, 220, 1), draw);
        let expected = reference.detect(&picture.view()).unwrap();
        assert!(expected.len() > 5);
        assert_eq!(detector.detect(&picture.view()).unwrap(), expected, "image {seed}");
    }
}
