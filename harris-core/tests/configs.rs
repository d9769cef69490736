//! Configurations: validation, texts and serialisation.

use std::fmt::Display;
use std::str::FromStr;

use harris_core::fast_hessian::{FastHessianConfig, Sampling};
use harris_core::surf::SurfConfig;
use harris_core::{
    Border, Error, Gradient, HarrisConfig, HarrisConfigBuilder, ImageView, Measure, Order, Plateau,
    Smoothing, Subpixel, Threshold, Ties, Window,
};

fn refused(change: impl Fn(HarrisConfigBuilder) -> HarrisConfigBuilder) -> Error {
    change(HarrisConfig::builder()).build().unwrap_err()
}

#[test]
fn apertures_are_odd_and_in_range() {
    for size in [0, 1, 2, 4, 128, 129, 1001, u32::MAX] {
        let is_aperture = |error: &Error| matches!(error, Error::Aperture { size: s, .. } if *s == size);
        assert!(is_aperture(&refused(|b| b.smoothing(Smoothing::Gaussian { size, sigma: 1.0 }))), "{size}");
        assert!(is_aperture(&refused(|b| b.gradient(Gradient::Box { size }))), "{size}");
        assert!(
            is_aperture(&refused(|b| b.gradient(Gradient::GaussianDerivative { size, sigma: 1.0 }))),
            "{size}"
        );
        assert!(is_aperture(&refused(|b| b.window(Window::Gaussian { size, sigma: 1.0 }))), "{size}");
    }
    for size in [0, 1, 128, 129, u32::MAX] {
        assert!(matches!(refused(|b| b.window(Window::Box { size })), Error::BoxWindowSize { .. }), "{size}");
    }
    for size in [0, 1, 4, 9, u32::MAX] {
        assert!(matches!(refused(|b| b.window(Window::Binomial { size })), Error::BinomialSize { .. }));
    }
    assert!(matches!(refused(|b| b.gradient(Gradient::Box { size: 33 })), Error::Aperture { most: 31, .. }));
    let widest = HarrisConfig::builder().window(Window::Box { size: 127 }).build().unwrap();
    assert_eq!(widest.support_radius(), 1 + 1 + 63);
    let even = |size| {
        let builder = HarrisConfig::builder().gradient(Gradient::Sobel7).window(Window::Box { size });
        builder.border(Border::Skip).build().unwrap()
    };
    assert_eq!(even(2).invalid_frame(), [1 + 3 + 1, 1 + 3]);
    assert_eq!(even(41).invalid_frame(), [1 + 3 + 20; 2]);
    assert!(even(2).check_size(10, 10).is_ok());
    assert!(matches!(even(2).check_size(10, 9), Err(Error::ImageTooSmall { needed: 10, .. })));
}

#[test]
fn radii_of_forstner_refinement_are_in_range() {
    for radius in [0, 2, 16, u32::MAX] {
        let error = refused(|b| b.subpixel(Subpixel::Forstner { radius }));
        assert!(
            matches!(error, Error::Count { value, least: 3, most: 15, .. } if value == radius),
            "{error}"
        );
    }
    for radius in [3, 15] {
        assert!(HarrisConfig::builder().subpixel(Subpixel::Forstner { radius }).build().is_ok());
    }
}

#[test]
fn configurations_whose_sums_exceed_64_bits_are_errors() {
    let with = |gradient, window| {
        HarrisConfig::builder().gradient(Gradient::Box { size: gradient }).window(window).build()
    };
    assert!(with(31, Window::Box { size: 57 }).is_ok());
    let error = with(31, Window::Box { size: 59 }).unwrap_err();
    assert!(
        matches!(&error, Error::TensorOverflow { gradient, taps: 59, most: 57, .. } if gradient == "box:31"),
        "{error}"
    );
    let sobel = |gradient, window| HarrisConfig::builder().gradient(gradient).window(window).build();
    assert!(sobel(Gradient::Sobel7, Window::Box { size: 41 }).is_ok());
    let error = sobel(Gradient::Sobel7, Window::Box { size: 42 }).unwrap_err().to_string();
    assert!(error.contains("sobel7") && error.contains("41 is the most"), "{error}");
    assert!(sobel(Gradient::Sobel7, Window::Binomial { size: 7 }).is_err());
    assert!(sobel(Gradient::Sobel7, Window::Gaussian { size: 127, sigma: 9.0 }).is_ok());
    assert!(sobel(Gradient::Sobel5, Window::Box { size: 127 }).is_ok());
    let exact = |gradient, size| {
        let builder = HarrisConfig::builder().smoothing(Smoothing::Binomial3Exact).gradient(gradient);
        builder.window(Window::Box { size }).build()
    };
    assert!(exact(Gradient::Sobel3, 127).is_ok() && exact(Gradient::Sobel7, 2).is_ok());
    let error = exact(Gradient::Sobel7, 3).unwrap_err().to_string();
    assert!(error.contains("binomial3-exact") && error.contains("2 is the most"), "{error}");
    assert!(with(31, Window::Binomial { size: 5 }).is_ok());
    assert!(matches!(with(31, Window::Binomial { size: 7 }), Err(Error::TensorOverflow { taps: 64, .. })));
    assert!(with(29, Window::Binomial { size: 7 }).is_ok());
    assert!(with(31, Window::Gaussian { size: 127, sigma: 20.0 }).is_ok());
}

#[test]
fn numbers_are_finite_and_in_range() {
    for sigma in [0.0, -1.0, 0.09, 1001.0, f64::NAN, f64::INFINITY] {
        assert!(matches!(
            refused(|b| b.smoothing(Smoothing::Gaussian { size: 5, sigma })),
            Error::Sigma { .. }
        ));
        let derivative = Gradient::GaussianDerivative { size: 5, sigma };
        assert!(matches!(refused(|b| b.gradient(derivative)), Error::Sigma { .. }));
        assert!(matches!(refused(|b| b.window(Window::Gaussian { size: 5, sigma })), Error::Sigma { .. }));
    }
    for measure in [Measure::Harris { k: 0.25 }, Measure::Noble { eps: 0.0 }] {
        assert!(matches!(refused(|b| b.measure(measure)), Error::MeasureParameter { .. }), "{measure}");
    }
    for value in [-1e-9, f32::NAN, f32::INFINITY] {
        let error = refused(|b| b.threshold(Threshold::Absolute(value)));
        assert!(matches!(error, Error::AbsoluteThreshold { .. }));
    }
    for quality in [-0.01, 1.01, f64::NAN] {
        let error = refused(|b| b.threshold(Threshold::Relative(quality)));
        assert!(matches!(error, Error::RelativeThreshold { .. }));
    }
    for bins in [0, 1, 65537] {
        assert!(matches!(refused(|b| b.threshold(Threshold::Rosin { bins })), Error::RosinBins { .. }));
    }
    for distance in [-1.0, f64::NAN, f64::INFINITY] {
        assert!(matches!(refused(|b| b.min_distance(distance)), Error::MinDistance { .. }));
    }
    assert!(matches!(refused(|b| b.max_corners(0)), Error::MaxCorners));
}

/// Checks that texts read as choices and are written back unchanged, and that bad ones are errors.
fn round_trip<T: FromStr<Err = Error> + Display + PartialEq + std::fmt::Debug>(texts: &[&str], bad: &[&str]) {
    for text in texts {
        assert_eq!(text.parse::<T>().unwrap().to_string(), *text);
    }
    for text in bad.iter().chain(&["", ":", "nothing", "none:3"]) {
        assert!(matches!(text.parse::<T>(), Err(Error::Notation { .. })), "{text}");
    }
}

#[test]
fn texts_of_choices_read_back() {
    round_trip::<Smoothing>(
        &["none", "binomial3", "binomial5", "gaussian:5:1.5"],
        &["gaussian", "gaussian:5", "box:3"],
    );
    round_trip::<Gradient>(
        &["sobel3", "sobel5", "sobel7", "scharr3", "central", "box:9", "gaussian-derivative:9:1.5"],
        &["box:-3", "box:x", "sobel3:3", "gaussian-derivative:9:1:2"],
    );
    round_trip::<Window>(&["box:3", "binomial:7", "gaussian:5:0.8"], &["box:3.0", "gaussian:5:", "box:3:"]);
    round_trip::<Measure>(
        &["harris:0.04", "shi-tomasi", "noble:0.000001", "triggs:0.05"],
        &["harris", "harris:", "harris:k"],
    );
    round_trip::<Threshold>(
        &["absolute:0.5", "relative:0.01", "rosin:256", "none"],
        &["rosin:2.5", "relative"],
    );
    round_trip::<Border>(&["reflect101", "replicate", "zero", "skip"], &["reflect"]);
    round_trip::<Subpixel>(
        &["none", "quadratic", "forstner:5"],
        &["cubic", "forstner", "forstner:x", "forstner:5:1", "quadratic:2"],
    );
    round_trip::<Plateau>(&["first", "all"], &["last"]);
    round_trip::<Ties>(&["ascending", "descending"], &["random"]);
    round_trip::<Order>(&["response", "raster"], &["random"]);
}

#[test]
fn parameters_of_blobs_and_descriptors_are_in_range() {
    let builder = FastHessianConfig::builder;
    for octaves in [0, 8] {
        let error = builder().octaves(octaves).build().unwrap_err();
        assert!(matches!(error, Error::Count { what: "octaves", least: 1, most: 7, .. }), "{error}");
    }
    for intervals in [2, 16] {
        assert!(matches!(
            builder().intervals(intervals).build(),
            Err(Error::Count { what: "intervals", .. })
        ));
    }
    assert!(matches!(builder().step(0).build(), Err(Error::Count { .. })));
    for threshold in [-1.0, f32::NAN, f32::INFINITY] {
        assert!(matches!(builder().threshold(threshold).build(), Err(Error::AbsoluteThreshold { .. })));
    }
    assert!(matches!(builder().max_keypoints(0).build(), Err(Error::MaxCorners)));
    for magnification in [0.0, -1.0, 65.0, f32::NAN] {
        let error = SurfConfig::builder().magnification(magnification).build();
        assert!(matches!(error, Err(Error::Magnification { .. })), "{error:?}");
    }
}

/// The widest filters whose sums fit in 31 bits and a sign, and the next ones.
#[test]
fn the_widest_filters_are_those_whose_sums_fit() {
    let config =
        |octaves, intervals| FastHessianConfig::builder().octaves(octaves).intervals(intervals).build();
    assert!(config(7, 11).is_ok() && config(6, 15).is_ok());
    let error = config(7, 12).unwrap_err();
    assert!(matches!(error, Error::FilterTooLarge { filter: 4611, most: 4353, levels: 255 }), "{error}");
    let (bytes, words, floats) = (vec![0_u8; 500 * 500], vec![0_u16; 500 * 500], vec![0.0_f32; 500 * 500]);
    let of_bytes = ImageView::gray(&bytes, 500, 500).unwrap();
    let wider = [ImageView::gray(&words, 500, 500).unwrap(), ImageView::gray(&floats, 500, 500).unwrap()];
    for (octaves, intervals, fits) in [
        (1, 15, true),
        (2, 15, true),
        (3, 11, true),
        (3, 12, false),
        (4, 5, true),
        (4, 6, false),
        (5, 3, false),
    ] {
        let config = config(octaves, intervals).unwrap();
        assert!(config.check_image(&of_bytes).is_ok());
        for image in &wider {
            match config.check_image(image) {
                Ok(()) if fits => {}
                Err(Error::FilterTooLarge { most: 267, levels: 65535, .. }) if !fits => {}
                other => panic!("{octaves} octaves, {intervals} intervals: {other:?}"),
            }
        }
    }
}

#[test]
fn texts_of_samplings_read_back() {
    round_trip::<Sampling>(&["multiples", "border"], &["borders"]);
}

#[cfg(feature = "serde")]
#[test]
fn blob_and_descriptor_configurations_round_trip_through_serde() {
    for preset in harris_core::fast_hessian::presets::ALL {
        let config = (preset.config)();
        let text = serde_json::to_string(&config).unwrap();
        assert_eq!(serde_json::from_str::<FastHessianConfig>(&text).unwrap(), config, "{text}");
    }
    assert!(serde_json::from_str::<FastHessianConfig>(r#"{ "sampling": "centre" }"#).is_err());
    let config = FastHessianConfig::builder().octaves(3).max_keypoints(9).build().unwrap();
    let text = serde_json::to_string(&config).unwrap();
    assert_eq!(serde_json::from_str::<FastHessianConfig>(&text).unwrap(), config);
    assert!(serde_json::from_str::<FastHessianConfig>(r#"{ "octaves": 9 }"#).is_err());
    let config = SurfConfig::builder().upright(true).build().unwrap();
    let text = serde_json::to_string(&config).unwrap();
    assert_eq!(serde_json::from_str::<SurfConfig>(&text).unwrap(), config);
    assert!(serde_json::from_str::<SurfConfig>(r#"{ "magnification": -1.0 }"#).is_err());
}

#[cfg(feature = "serde")]
#[test]
fn deserialised_configurations_are_validated() {
    for preset in harris_core::presets::ALL {
        let config = (preset.config)();
        let text = serde_json::to_string(&config).unwrap();
        assert_eq!(serde_json::from_str::<HarrisConfig>(&text).unwrap(), config, "{text}");
    }
    let read = serde_json::from_str::<HarrisConfig>;
    let config =
        read(r#"{ "window": { "gaussian": { "size": 5, "sigma": 1.5 } }, "max_corners": 7 }"#).unwrap();
    assert_eq!(config.window(), Window::Gaussian { size: 5, sigma: 1.5 });
    assert_eq!(config.gradient(), Gradient::Sobel3);
    let error = read(r#"{ "window": { "gaussian": { "size": 4, "sigma": 1.0 } } }"#).unwrap_err().to_string();
    assert!(error.contains("odd"), "{error}");
    assert!(read(r#"{ "windows": 3 }"#).is_err());
}
