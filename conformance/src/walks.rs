//! Equality with the reference where ways through an image begin and end: at the sizes that decide which walk is taken, and around strips.

use harris_core::{
    Border, Gradient, HarrisConfig, HarrisConfigBuilder, Measure, Smoothing, Subpixel, Threshold, Window,
};

use crate::Make;
use crate::equality::assert_equal;
use crate::pictures::{DEPTHS, Depth, Picture, noise};

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
        for (gradient, sizes) in
            [(Gradient::Sobel3, &[3, 5, 7][..]), (Gradient::Scharr3, &[3, 5, 7]), (Gradient::Central, &[3])]
        {
            let builder = HarrisConfig::builder().smoothing(smoothing).gradient(gradient);
            for &size in sizes {
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

/// Smoothing, gradients and windows that are weighted sums of floats, at all borders, at sizes around where strips begin anew, and at the
/// least.
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
    let gaussian = |size: u32| Smoothing::Gaussian { size, sigma: 0.5 + 0.1 * f64::from(size) };
    let borders = [Border::Reflect101, Border::Replicate, Border::Zero, Border::Skip];
    for (kind, gradient) in gradients.into_iter().enumerate() {
        for (number, size) in [3, 5, 7, 9, 11, 9, 5, 3].into_iter().cycle().take(20).enumerate() {
            // The same in every run.
            let pick = |what: u64, count: usize| (noise(what, number, kind, 7) * count as f64) as usize;
            let of_colours = (4..8).contains(&number);
            let smoothing = match number {
                // Before which walks for colours, and most others, are.
                0..8 => [Smoothing::None, Smoothing::None, Smoothing::Binomial3][pick(0, 3)],
                8..12 => [Smoothing::Binomial3, Smoothing::Binomial5][pick(0, 2)],
                _ => gaussian([3, 5, 7, 9, 9, 11][pick(0, 6)]),
            };
            let window = match pick(10, 3) {
                0 if !of_colours => Window::Box { size },
                _ => Window::Gaussian { size, sigma: 0.6 + 0.1 * f64::from(size) },
            };
            let builder = HarrisConfig::builder()
                .smoothing(smoothing)
                .gradient(gradient)
                .window(window)
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
            let channels = if of_colours { 3 } else { 1 };
            // As GPUs have it.
            let strip = match number {
                4..8 => 120,
                0..4 => 112,
                _ => [104, 112][pick(11, 2)],
            };
            // Rows: of several pieces, or fewer than a window.
            let sizes = [
                (2 * strip, 21),
                (2 * strip + 1, 40),
                (3 * strip - 1, 9),
                (strip + 3, 33),
                (strip + 1, 7),
                (5, 65),
            ];
            let small = [(1, 1), (2, 5), (4, 3), (9, 8), (17, 2), (1, 30), (3, 1)];
            for (width, height) in [sizes[pick(4, 6)], sizes[pick(5, 6)], small[pick(6, 7)]] {
                let scene = pick(7, 3);
                let brightness = |x: usize, y: usize, c: usize| match scene {
                    0 => noise(number as u64, x / 3, y / 2, c),
                    1 => noise(number as u64, x, y, c).round(),
                    _ => squares(x, y),
                };
                let depth = match number {
                    0..4 => [Depth::U8, Depth::U16, Depth::F32][pick(8, 3)],
                    4..8 => Depth::U8,
                    _ => [Depth::U8, Depth::U8, Depth::U16, Depth::F32][pick(8, 4)],
                };
                let mut picture = Picture::draw(depth, (width, height, channels), brightness).with_gap(3);
                if pick(9, 5) == 0 {
                    picture = picture.with_mask(|x, y| (x / 5 + y / 7) % 3 != 0);
                }
                assert_equal(&mut *make(config.clone()), &config, &picture, &picture.view());
            }
        }
    }
    // Where no response is near 0, those that are not valid would widen Rosin's bins.
    for gradient in [derivative(5, 1.0), Gradient::Sobel3, Gradient::Central] {
        for number in 0..4 {
            let builder = HarrisConfig::builder()
                .smoothing(Smoothing::None)
                .gradient(gradient)
                .window(Window::Gaussian { size: 5, sigma: 1.1 })
                .measure(Measure::ShiTomasi)
                .border(Border::Skip)
                .suppression_radius(1)
                .threshold(Threshold::Rosin { bins: 8 + number as u32 });
            let config = builder.build().expect("a valid choice");
            let picture = Picture::draw(Depth::U8, (225, 40, 1), |x, y, c| noise(number, x, y, c));
            assert_equal(&mut *make(config.clone()), &config, &picture, &picture.view());
        }
    }
}
