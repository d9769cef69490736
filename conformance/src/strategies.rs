//! Random configurations and images that shrink towards simple ones.

use harris_core::{
    Border, Error, Gradient, HarrisConfig, Measure, Order, Plateau, Smoothing, Subpixel, Threshold, Ties,
    Window,
};
use proptest::prelude::*;

use crate::pictures::{DEPTHS, Depth, Picture, Pixels, noise};

/// Any valid configuration, apertures up to 31.
pub fn configs() -> impl Strategy<Value = HarrisConfig> {
    let numerics = (smoothings(), gradients(), windows(), measures(), thresholds(), borders());
    let choices = (
        0_u32..4,
        prop_oneof![4 => 0_u32..5, 1 => 5_u32..40],
        // Squares of roots fall to either side of the integers.
        prop_oneof![Just(0.0), 0.0..12.0, (1_u32..150).prop_map(|square| f64::from(square).sqrt())],
        prop::option::of(1_usize..20),
        prop_oneof![Just(Order::Response), Just(Order::Raster)],
        subpixels(),
        equals(),
    );
    (numerics, choices).prop_map(
        |(
            (smoothing, gradient, window, measure, threshold, border),
            (margin, radius, distance, most, order, subpixel, (plateau, ties)),
        )| {
            let builder = HarrisConfig::builder().smoothing(smoothing).gradient(gradient).window(window);
            // Sums that leave 64 bits are refused.
            let overflows = matches!(builder.build(), Err(Error::TensorOverflow { .. }));
            let window = if overflows { Window::Box { size: 2 } } else { window };
            HarrisConfig::builder()
                .smoothing(smoothing)
                .gradient(gradient)
                .window(window)
                .measure(measure)
                .threshold(threshold)
                .border(border)
                .margin(margin)
                .suppression_radius(radius)
                .plateau(plateau)
                .ties(ties)
                .min_distance(distance)
                .max_corners(most)
                .order(order)
                .subpixel(subpixel)
                .build()
                .expect("every combination of valid choices is valid")
        },
    )
}

/// What becomes of equal responses.
fn equals() -> impl Strategy<Value = (Plateau, Ties)> {
    (
        prop_oneof![Just(Plateau::First), Just(Plateau::All)],
        prop_oneof![Just(Ties::Ascending), Just(Ties::Descending)],
    )
}

fn subpixels() -> impl Strategy<Value = Subpixel> {
    prop_oneof![
        Just(Subpixel::None),
        Just(Subpixel::Quadratic),
        (3_u32..=15).prop_map(|radius| Subpixel::Forstner { radius }),
    ]
}

/// Any image up to 70 × 70: noise over all or few brightnesses, or blocks of it, with gaps and masks.
pub fn pictures() -> impl Strategy<Value = Picture> {
    let side = || prop_oneof![1 => 1_usize..6, 3 => 1_usize..71];
    let format = (0_usize..DEPTHS.len(), prop_oneof![Just(1_usize), Just(3)], side(), side());
    let content = (any::<u64>(), prop_oneof![Just(1.0), Just(2.0), Just(255.0)], 1_usize..9);
    let gap = prop_oneof![Just(0_usize), 1_usize..20];
    // Float samples may have any sign and size.
    let amplitude = prop_oneof![Just(1.0_f32), Just(-1e-3), Just(4095.0), Just(1e8)];
    (format, content, gap, amplitude, prop::option::of(any::<u64>())).prop_map(
        |((depth, channels, width, height), (seed, levels, grain), gap, amplitude, mask)| {
            let brightness = |x: usize, y: usize, c: usize| {
                (noise(seed, x / grain, y / grain, c) * levels * 1.999).floor().min(levels) / levels
            };
            let mut picture =
                Picture::draw(DEPTHS[depth], (width, height, channels), brightness).with_gap(gap);
            if let Pixels::F32(samples) = &mut picture.samples {
                samples.iter_mut().for_each(|sample| *sample *= amplitude);
            }
            match mask {
                Some(seed) => picture.with_mask(|x, y| noise(seed, x / 3, y / 3, 0) < 0.7),
                None => picture,
            }
        },
    )
}

/// Configurations that people use on 8-bit gray images: backends have faster paths for them.
pub fn usual_configs() -> impl Strategy<Value = HarrisConfig> {
    let numerics = (
        prop_oneof![
            2 => Just(Smoothing::None),
            2 => Just(Smoothing::Binomial3),
            1 => Just(Smoothing::Binomial3Exact),
            2 => Just(Smoothing::Binomial5),
        ],
        prop_oneof![4 => Just(Gradient::Sobel3), 1 => Just(Gradient::Scharr3), 1 => Just(Gradient::Central)],
        prop_oneof![5 => Just(3_u32), 2 => Just(5), 1 => Just(7)],
        prop_oneof![2 => Just(Measure::Harris { k: 0.04 }), 1 => Just(Measure::ShiTomasi), 1 => Just(Measure::Noble { eps: 1e-6 })],
        prop_oneof![
            Just(Threshold::None),
            Just(Threshold::Relative(0.01)),
            Just(Threshold::Relative(0.5)),
            Just(Threshold::Absolute(1e-3)),
        ],
        prop_oneof![4 => Just(Border::Reflect101), 2 => Just(Border::Skip), 1 => borders()],
    );
    let choices = (
        prop_oneof![4 => 1_u32..3, 1 => 0_u32..5],
        0_u32..3,
        prop_oneof![4 => Just(0.0), 1 => Just(2.5), 2 => Just(6.0), 1 => Just(17.0)],
        prop::option::of(1_usize..50),
        prop_oneof![Just(Order::Response), Just(Order::Raster)],
        equals(),
    );
    (numerics, choices).prop_map(
        |(
            (smoothing, gradient, size, measure, threshold, border),
            (radius, margin, distance, most, order, (plateau, ties)),
        )| {
            HarrisConfig::builder()
                .smoothing(smoothing)
                .gradient(gradient)
                .window(Window::Box { size })
                .measure(measure)
                .threshold(threshold)
                .border(border)
                .suppression_radius(radius)
                .plateau(plateau)
                .ties(ties)
                .margin(margin)
                .min_distance(distance)
                .max_corners(most)
                .order(order)
                .build()
                .expect("every combination of valid choices is valid")
        },
    )
}

/// 8-bit gray images of up to 300 × 300 pixels: noise of all or two levels, checkerboards, slopes, white.
pub fn usual_pictures() -> impl Strategy<Value = Picture> {
    let side =
        || prop_oneof![2 => 12_usize..40, 2 => 100_usize..130, 2 => 215_usize..235, 1 => 12_usize..301];
    let format = prop_oneof![
        4 => Just((Depth::U8, 1)),
        2 => Just((Depth::U8, 3)),
        2 => Just((Depth::U16, 1)),
        2 => Just((Depth::F32, 1)),
    ];
    let content = (any::<u64>(), 0_usize..6, 1_usize..7);
    let picture = (side(), side(), content, 0_usize..6, format);
    picture.prop_map(|(width, height, (seed, kind, grain), gap, (depth, channels))| {
        let brightness = |x: usize, y: usize, channel: usize| {
            let value = noise(seed, x / grain, y / grain, channel);
            match kind {
                0 => value,
                1 => value.round(),
                2 => ((x + y) % 2) as f64,
                3 => f64::from(x / grain % 2 == y / grain % 2),
                // The greatest response grows down the image, and candidates with it.
                4 => value * (y + 1) as f64 / height as f64,
                _ => 1.0,
            }
        };
        Picture::draw(depth, (width, height, channels), brightness).with_gap(gap)
    })
}

fn odd(most: u32) -> impl Strategy<Value = u32> {
    prop_oneof![3 => Just(1_u32), 2 => Just(2), 1 => 1..=most / 2].prop_map(|half| 2 * half + 1)
}

fn sigma() -> impl Strategy<Value = f64> {
    0.3_f64..4.0
}

fn smoothings() -> impl Strategy<Value = Smoothing> {
    prop_oneof![
        Just(Smoothing::None),
        Just(Smoothing::Binomial3),
        Just(Smoothing::Binomial3Exact),
        Just(Smoothing::Binomial5),
        (odd(31), sigma()).prop_map(|(size, sigma)| Smoothing::Gaussian { size, sigma }),
    ]
}

fn gradients() -> impl Strategy<Value = Gradient> {
    prop_oneof![
        Just(Gradient::Sobel3),
        Just(Gradient::Sobel5),
        Just(Gradient::Sobel7),
        Just(Gradient::Scharr3),
        Just(Gradient::Central),
        odd(31).prop_map(|size| Gradient::Box { size }),
        (odd(31), sigma()).prop_map(|(size, sigma)| Gradient::GaussianDerivative { size, sigma }),
    ]
}

fn windows() -> impl Strategy<Value = Window> {
    prop_oneof![
        odd(31).prop_map(|size| Window::Box { size }),
        (1_u32..=15).prop_map(|half| Window::Box { size: 2 * half }),
        prop_oneof![Just(3_u32), Just(5), Just(7)].prop_map(|size| Window::Binomial { size }),
        (odd(31), sigma()).prop_map(|(size, sigma)| Window::Gaussian { size, sigma }),
    ]
}

fn measures() -> impl Strategy<Value = Measure> {
    prop_oneof![
        (0.0_f32..0.2).prop_map(|k| Measure::Harris { k }),
        Just(Measure::ShiTomasi),
        (1e-9_f32..1.0).prop_map(|eps| Measure::Noble { eps }),
    ]
}

fn thresholds() -> impl Strategy<Value = Threshold> {
    prop_oneof![
        Just(Threshold::None),
        (0.0..0.5).prop_map(Threshold::Relative),
        (0.0_f32..0.01).prop_map(Threshold::Absolute),
        (2_u32..300).prop_map(|bins| Threshold::Rosin { bins }),
    ]
}

fn borders() -> impl Strategy<Value = Border> {
    prop_oneof![Just(Border::Reflect101), Just(Border::Replicate), Just(Border::Zero), Just(Border::Skip)]
}
