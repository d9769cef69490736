//! Response maps in a slice that the caller supplies.

use harris_core::{Detector, Error, HarrisConfig, ImageView, presets};
use harris_cpu::CpuDetector;

#[test]
fn a_slice_has_the_map_and_what_follows_stays() -> Result<(), Error> {
    let samples: Vec<f32> =
        (0..90 * 70).map(|i: u32| (i.wrapping_mul(0x9E37_79B9) >> 24) as f32 / 255.0).collect();
    let image = ImageView::gray(&samples, 90, 70)?;
    for preset in presets::ALL {
        let mut detector = CpuDetector::with_threads((preset.config)(), 2)?;
        let expected = detector.response(&image)?;
        let mut out = vec![f32::NAN; 90 * 70 + 5];
        detector.response_into_slice(&image, &mut out)?;
        let (map, rest) = out.split_at(90 * 70);
        let bits = |value: &f32| value.to_bits();
        assert!(map.iter().map(bits).eq(expected.iter().map(bits)), "{}", preset.name);
        assert!(rest.iter().all(|value| value.is_nan()));
    }
    Ok(())
}

#[test]
fn an_error_leaves_the_slice() {
    let mut detector = CpuDetector::new(HarrisConfig::default());
    let samples = [f32::NAN; 32 * 32];
    let mut out = vec![5.0; 32 * 32];
    let bad = ImageView::gray(&samples, 32, 32).unwrap();
    assert!(matches!(detector.response_into_slice(&bad, &mut out), Err(Error::NonFinite { .. })));
    let good = ImageView::gray(&[0_u8; 32 * 32], 32, 32).unwrap();
    let error = detector.response_into_slice(&good, &mut out[..1000]).unwrap_err();
    assert!(matches!(error, Error::SliceTooShort { len: 1000, needed: 1024 }), "{error}");
    assert_eq!(out, [5.0; 32 * 32]);
}
