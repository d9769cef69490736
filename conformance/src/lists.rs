//! Equality with the reference where the list of keypoints decides: distances, ties and batches.

use harris_core::{
    Border, Detector, HarrisConfig, Measure, Order, Plateau, ReferenceDetector, Smoothing, Subpixel,
    Threshold, Ties, Window, presets,
};

use crate::Make;
use crate::extent::{is_thorough, part_of};
use crate::pictures::{DEPTHS, Depth, Picture, dots, noise};

/// Compares minimum distances from less than a pixel to more than the image. There are more corners
/// than lists can hold at first, and so many equal responses that they overflow the buckets of a
/// sort.
pub fn with_min_distances(make: Make) {
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
    for config in part_of(configs, 3) {
        let config = config.build().expect("a valid configuration");
        let mut detector = make(config.clone());
        // The second time memory is allocated, and the number of corners is predicted.
        for picture in [&noisy, &noisy, &regular, &flat, &noisy, &masked] {
            let view = picture.view();
            let expected = ReferenceDetector::new(config.clone()).detect(&view).expect("a good image");
            let found = detector.detect(&view).expect("a good image");
            assert!(found == expected, "{config:?}, {picture:?}: {} for {}", found.len(), expected.len());
        }
    }
}

/// Compares pictures with hundreds of equally strong corners, one after another, with small changes
/// between them and with large ones.
pub fn of_equal_responses(make: Make) {
    let weak = Picture::draw(Depth::U8, (200, 120, 1), |x, y, _| 0.1 * noise(1, x / 5, y / 5, 0));
    let pictures =
        [dots(0, 3), dots(0, 3), dots(1, 3), dots(1, 9), dots(1, 9), weak.clone(), weak, dots(2, 3)];
    let default = presets::opencv_gftt().to_builder();
    let configs = [
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
    ];
    for config in part_of(configs, 2) {
        let config = config.build().expect("a valid configuration");
        let mut reference = ReferenceDetector::new(config.clone());
        let expected: Vec<_> =
            pictures.iter().map(|picture| reference.detect(&picture.view()).expect("a good image")).collect();
        let mut detector = make(config.clone());
        for _ in 0..if is_thorough() { 2 } else { 1 } {
            for (i, (picture, expected)) in pictures.iter().zip(&expected).enumerate() {
                let found = detector.detect(&picture.view()).expect("a good image");
                assert!(found == *expected, "{config:?}, {i}: {} for {}", found.len(), expected.len());
            }
        }
        let views: Vec<_> = pictures.iter().map(Picture::view).collect();
        for count in part_of([3, 8, 8, 5], 3) {
            let found = detector.detect_batch(&views[..count]).expect("good images");
            assert!(found == expected[..count], "{config:?}, {count} of a batch");
        }
    }
}

/// Compares batches of images of one size and of many, of all sample types. There are more corners
/// than lists can hold at first.
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
    for config in part_of(configs, 2) {
        let config = config.build().expect("a valid configuration");
        let mut detector = make(config.clone());
        let mut reference = ReferenceDetector::new(config.clone());
        let expected: Vec<_> =
            views.iter().map(|view| reference.detect(view).expect("a good image")).collect();
        // The second time memory is allocated.
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

/// Compares strong corners at each distance from each edge, beside a weaker one far inside. Those in
/// the frame of invalid pixels have no part in the threshold, with a mask or without.
///
/// # Panics
/// If a detector differs from the reference, or if no picture has its strong corner in the frame.
pub fn with_strong_corners_at_edges(make: Make) {
    let config = HarrisConfig::builder().border(Border::Skip).threshold(Threshold::Relative(0.5));
    for config in [config.clone(), config.measure(Measure::ShiTomasi).window(Window::Box { size: 5 })] {
        let config = config.build().expect("a valid configuration");
        let mut detector = make(config.clone());
        let mut alone = 0;
        for (width, height) in [(40, 37), (151, 33)] {
            let places = (0..4).flat_map(|edge| (0..9).map(move |distance| (edge, distance)));
            for (edge, distance) in part_of(places, 2) {
                let [x, y] = match edge {
                    0 => [distance, height / 2],
                    1 => [width - 1 - distance, height / 2],
                    2 => [width / 3, distance],
                    _ => [width / 3, height - 1 - distance],
                };
                let square = |u: usize, v: usize, a: usize, b: usize| u.abs_diff(a) < 2 && v.abs_diff(b) < 2;
                let brightness = |u: usize, v: usize, _: usize| {
                    f64::from(square(u, v, x, y)) + 0.6 * f64::from(square(u, v, 2 * width / 3, height / 2))
                };
                let picture = Picture::draw(Depth::U8, (width, height, 1), brightness);
                for picture in [picture.clone(), picture.with_mask(|_, _| true)] {
                    let view = picture.view();
                    let expected =
                        ReferenceDetector::new(config.clone()).detect(&view).expect("a good image");
                    let found = detector.detect(&view).expect("a good image");
                    assert!(
                        found == expected,
                        "{config:?}, {width} x {height}, edge {edge}, {distance} away"
                    );
                    alone += usize::from(
                        !expected.is_empty()
                            && expected.iter().all(|k| (k.x - (2 * width / 3) as f32).abs() < 4.0),
                    );
                }
            }
        }
        assert!(alone > 4, "{alone} weak corners alone");
    }
}
