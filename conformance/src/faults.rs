//! Images that a detector must refuse, with the right error, and go on working.

use harris_core::{Border, Error, HarrisConfig, ImageView, MAX_SAMPLE};

use crate::Make;

/// Not finite, too large, too small for `Skip`: each its error; then a good image.
///
/// # Panics
/// Where the detector accepts one, gives another error or is broken afterwards.
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

    for (width, height) in [(6, 7), (7, 6), (1, 1)] {
        let samples = vec![0_u16; width * height];
        let image = ImageView::gray(&samples, width, height).expect("a valid view");
        let error = detector.detect(&image);
        assert!(matches!(error, Err(Error::ImageTooSmall { needed: 7, .. })), "{error:?}");
    }
    assert_eq!(detector.detect(&good).expect("a good image after bad ones"), []);
    assert_eq!(detector.detect_batch(&[good, good]).expect("two good images"), [[], []]);
}
