//! Random configurations and images, which shrink towards simple ones.

use harris_core::config::MeasureKind;
use harris_core::{
    Border, Error, Gradient, HarrisConfig, Measure, Order, Plateau, Smoothing, Subpixel, Threshold, Ties,
    Window,
};
use proptest::prelude::*;

use crate::choices;
use crate::pictures::{DEPTHS, Depth, Picture, Pixels, noise};

/// Draws any variant of a choice. A variant without a strategy does not compile.
macro_rules! any_of {
    ($choice:ident { $($variant:pat => $strategy:expr),+ $(,)? }) => {{
        const _: fn(&$choice) = |choice| match choice {
            $($variant => {})*
        };
        prop_oneof![$($strategy),+]
    }};
}

/// Draws any valid configuration with apertures up to 31.
pub fn configs() -> impl Strategy<Value = HarrisConfig> {
    let numerics = (smoothings(), gradients(), windows(), measures(), thresholds(), borders());
    let choices = (
        0_u32..4,
        prop_oneof![4 => 0_u32..5, 1 => 5_u32..40],
        // Squares of roots are a little above or below integers.
        prop_oneof![Just(0.0), 0.0..12.0, (1_u32..150).prop_map(|square| f64::from(square).sqrt())],
        prop::option::of(1_usize..20),
        orders(),
        subpixels(),
        equal_response_rules(),
    );
    (numerics, choices).prop_map(
        |(
            (smoothing, gradient, window, measure, threshold, border),
            (margin, radius, distance, most, order, subpixel, (plateau, ties)),
        )| {
            let builder = HarrisConfig::builder().smoothing(smoothing).gradient(gradient).window(window);
            // Sums beyond 64 bits are an error.
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

/// Draws rules for equal responses.
fn equal_response_rules() -> impl Strategy<Value = (Plateau, Ties)> {
    let plateaus = any_of!(Plateau {
        Plateau::First => Just(Plateau::First),
        Plateau::All => Just(Plateau::All),
    });
    let ties = any_of!(Ties {
        Ties::Ascending => Just(Ties::Ascending),
        Ties::Descending => Just(Ties::Descending),
    });
    (plateaus, ties)
}

fn orders() -> impl Strategy<Value = Order> {
    any_of!(Order {
        Order::Response => Just(Order::Response),
        Order::Raster => Just(Order::Raster),
    })
}

fn subpixels() -> impl Strategy<Value = Subpixel> {
    any_of!(Subpixel {
        Subpixel::None => Just(Subpixel::None),
        Subpixel::Quadratic => Just(Subpixel::Quadratic),
        Subpixel::Forstner { .. } => (3_u32..=15).prop_map(|radius| Subpixel::Forstner { radius }),
    })
}

/// Draws any image up to 70 × 70: noise of all or few levels, or blocks of noise, with gaps and
/// masks.
pub fn pictures() -> impl Strategy<Value = Picture> {
    let side = || prop_oneof![1 => 1_usize..6, 3 => 1_usize..71];
    let format = (0_usize..DEPTHS.len(), prop_oneof![Just(1_usize), Just(3)], side(), side());
    let content = (any::<u64>(), prop_oneof![Just(1.0), Just(2.0), Just(255.0)], 1_usize..9);
    let gap = prop_oneof![Just(0_usize), 1_usize..20];
    // Float samples may be negative, and large.
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

/// Draws configurations that people use on 8-bit gray images, for which backends have faster
/// engines.
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
        prop_oneof![1 => Just(Measure::Harris { k: 0.04 }), 2 => prop::sample::select(choices::measures())],
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
        orders(),
        equal_response_rules(),
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

/// Draws images up to 300 × 300, most of them 8-bit gray: noise of all or two levels,
/// checkerboards, slopes, white.
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
                // Responses grow down the image, and candidates with them.
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
    any_of!(Smoothing {
        Smoothing::None => Just(Smoothing::None),
        Smoothing::Binomial3 => Just(Smoothing::Binomial3),
        Smoothing::Binomial3Exact => Just(Smoothing::Binomial3Exact),
        Smoothing::Binomial5 => Just(Smoothing::Binomial5),
        Smoothing::Gaussian { .. } =>
            (odd(31), sigma()).prop_map(|(size, sigma)| Smoothing::Gaussian { size, sigma }),
    })
}

fn gradients() -> impl Strategy<Value = Gradient> {
    any_of!(Gradient {
        Gradient::Sobel3 => Just(Gradient::Sobel3),
        Gradient::Sobel5 => Just(Gradient::Sobel5),
        Gradient::Sobel7 => Just(Gradient::Sobel7),
        Gradient::Scharr3 => Just(Gradient::Scharr3),
        Gradient::Central => Just(Gradient::Central),
        Gradient::Box { .. } => odd(31).prop_map(|size| Gradient::Box { size }),
        Gradient::GaussianDerivative { .. } =>
            (odd(31), sigma()).prop_map(|(size, sigma)| Gradient::GaussianDerivative { size, sigma }),
    })
}

fn windows() -> impl Strategy<Value = Window> {
    let even = (1_u32..=15).prop_map(|half| 2 * half);
    any_of!(Window {
        Window::Box { .. } => prop_oneof![odd(31), even].prop_map(|size| Window::Box { size }),
        Window::Binomial { .. } =>
            prop_oneof![Just(3_u32), Just(5), Just(7)].prop_map(|size| Window::Binomial { size }),
        Window::Gaussian { .. } =>
            (odd(31), sigma()).prop_map(|(size, sigma)| Window::Gaussian { size, sigma }),
    })
}

fn measures() -> impl Strategy<Value = Measure> {
    prop::sample::select(&MeasureKind::ALL).prop_flat_map(|kind| {
        let parameters = kind.parameters().unwrap_or(0.0..1.0);
        parameters.prop_map(move |parameter| kind.with_parameter(parameter))
    })
}

fn thresholds() -> impl Strategy<Value = Threshold> {
    any_of!(Threshold {
        Threshold::None => Just(Threshold::None),
        Threshold::Relative(_) => (0.0..0.5).prop_map(Threshold::Relative),
        Threshold::Absolute(_) => (0.0_f32..0.01).prop_map(Threshold::Absolute),
        Threshold::Rosin { .. } => (2_u32..300).prop_map(|bins| Threshold::Rosin { bins }),
    })
}

fn borders() -> impl Strategy<Value = Border> {
    any_of!(Border {
        Border::Reflect101 => Just(Border::Reflect101),
        Border::Replicate => Just(Border::Replicate),
        Border::Zero => Just(Border::Zero),
        Border::Skip => Just(Border::Skip),
    })
}
