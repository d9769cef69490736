//! Bad images: a detector must return the right error, and work afterwards.

use harris_core::{
    Border, Error, HarrisConfig, ImageView, MAX_SAMPLE, Smoothing, Subpixel, Threshold, Window,
};

use crate::Make;

/// Checks that samples which are not finite or too large, and images too small for `Skip`, are the
/// right error. Then a good image must work.
///
/// # Panics
/// If the detector accepts a bad image, returns another error or does not work afterwards.
pub fn bad_images_are_errors(make: Make) {
    let config = HarrisConfig::builder().border(Border::Skip).build().expect("a valid choice");
    let mut detector = make(config);
    let good = [0_u8; 7 * 7];
    let good = ImageView::gray(&good, 7, 7).expect("a valid image");

    for value in [f32::NAN, f32::INFINITY, f32::NEG_INFINITY] {
        let mut samples = [0.5_f32; 9 * 8 * 3];
        samples[9 * 3 * 4 + 3 * 5 + 2] = value;
        let image = ImageView::rgb(&samples, 9, 8).expect("a valid view");
        for error in [detector.detect(&image).map(drop), detector.response(&image).map(drop)] {
            assert!(matches!(error, Err(Error::NonFinite { x: 5, y: 4, channel: 2, .. })), "{error:?}");
        }
        assert_eq!(detector.detect(&good).expect("a good image after a bad one"), []);
    }

    let samples = [MAX_SAMPLE, -MAX_SAMPLE, MAX_SAMPLE * 1.0001].repeat(27);
    let image = ImageView::gray(&samples, 9, 9).expect("a valid view");
    let error = detector.detect(&image);
    assert!(matches!(error, Err(Error::SampleTooLarge { x: 2, y: 0, channel: 0, .. })), "{error:?}");

    // A bad sample anywhere, also in a batch, with configurations that need a response map, and
    // with those that GPUs run stage by stage.
    let usual = HarrisConfig::default().to_builder();
    let binomial = usual.clone().window(Window::Binomial { size: 7 });
    let configs = [
        usual.clone(),
        usual.clone().threshold(Threshold::Rosin { bins: 64 }),
        usual.clone().suppression_radius(4),
        usual.clone().window(Window::Box { size: 7 }),
        usual.clone().window(Window::Gaussian { size: 5, sigma: 1.0 }),
        usual.smoothing(Smoothing::Gaussian { size: 5, sigma: 1.0 }).window(Window::Box { size: 9 }),
        binomial.clone().min_distance(10.0).subpixel(Subpixel::Forstner { radius: 3 }),
        binomial.threshold(Threshold::Rosin { bins: 64 }),
    ];
    let (width, height) = (131, 40);
    for builder in configs {
        let mut usual_detector = make(builder.build().expect("a valid choice"));
        for (x, y) in [(0, 0), (130, 0), (0, 39), (130, 39), (64, 20), (112, 7), (3, 39), (129, 33)] {
            let mut samples = vec![0.5_f32; width * height];
            let good = samples.clone();
            samples[y * width + x] = f32::NAN;
            let [good, bad] = [&good, &samples]
                .map(|samples| ImageView::gray(samples, width, height).expect("a valid view"));
            for error in [
                usual_detector.detect(&bad).map(drop),
                usual_detector.detect_batch(&[good, bad, good]).map(drop),
                usual_detector.response(&bad).map(drop),
            ] {
                let Err(Error::NonFinite { x: u, y: v, channel: 0, .. }) = error else { panic!("{error:?}") };
                assert_eq!((u, v), (x, y));
            }
            assert_eq!(usual_detector.detect(&good).expect("a good image after a bad one"), []);
        }
    }

    for (width, height) in [(6, 7), (7, 6), (1, 1)] {
        let samples = vec![0_u16; width * height];
        let image = ImageView::gray(&samples, width, height).expect("a valid view");
        let error = detector.detect(&image);
        assert!(matches!(error, Err(Error::ImageTooSmall { needed: 7, .. })), "{error:?}");
    }
    assert_eq!(detector.detect(&good).expect("a good image after bad ones"), []);
    assert_eq!(detector.detect_batch(&[good, good]).expect("two good images"), [[], []]);
}
