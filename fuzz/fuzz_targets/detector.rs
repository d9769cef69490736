//! Any configuration and any small image: the CPU's list and response map equal the reference's.

#![no_main]

use harris_core::config::{
    Border, Gradient, HarrisConfig, Measure, Order, Plateau, Smoothing, Subpixel, Threshold, Ties, Window,
};
use harris_core::{Detector, ImageView, ReferenceDetector, Sample};
use harris_cpu::CpuDetector;
use libfuzzer_sys::arbitrary::{Result, Unstructured};
use libfuzzer_sys::fuzz_target;

fuzz_target!(|bytes: &[u8]| {
    let mut data = Unstructured::new(bytes);
    if let Ok(Ok(config)) = config(&mut data) {
        let _ = match data.int_in_range(0..=2) {
            Ok(0) => compare(config, &mut data, |bits| (bits >> 24) as u8),
            Ok(1) => compare(config, &mut data, |bits| (bits >> 16) as u16),
            _ => compare(config, &mut data, |bits| (bits as i32 >> 16) as f32 / 32_768.0),
        };
    }
});

fn compare<T: Sample>(
    config: HarrisConfig,
    data: &mut Unstructured<'_>,
    sample: impl Fn(u32) -> T,
) -> Result<()> {
    let (width, height) = (data.int_in_range(1..=70_usize)?, data.int_in_range(1..=24_usize)?);
    let channels = *data.choose(&[1, 3])?;
    // Few levels make ties and flat places.
    let (mut state, levels) = (data.arbitrary::<u32>()? | 1, *data.choose(&[u32::MAX, 7 << 29, 1 << 31])?);
    let random = || {
        state ^= state << 13;
        state ^= state >> 17;
        state ^= state << 5;
        sample(state & levels)
    };
    let samples: Vec<T> = std::iter::repeat_with(random).take(width * height * channels).collect();
    let image = ImageView::strided(&samples, width, height, channels, width * channels);
    let image = image.expect("the sizes fit");
    let mut reference = ReferenceDetector::new(config.clone());
    let mut cpu = CpuDetector::with_threads(config, 1).expect("one thread can be had");
    let text = |error: harris_core::Error| error.to_string();
    assert_eq!(cpu.detect(&image).map_err(text), reference.detect(&image).map_err(text));
    assert_eq!(cpu.response(&image).map_err(text), reference.response(&image).map_err(text));
    Ok(())
}

/// Draws a configuration; the inner error is that of values that do not go together.
fn config(data: &mut Unstructured<'_>) -> Result<core::result::Result<HarrisConfig, harris_core::Error>> {
    let odd = |data: &mut Unstructured<'_>| Ok(2 * data.int_in_range(1..=4)? + 1);
    let sigma = |data: &mut Unstructured<'_>| Ok(f64::from(data.int_in_range(1..=60_u8)?) / 16.0);
    let smoothing = match data.int_in_range(0..=4)? {
        0 => Smoothing::None,
        1 => Smoothing::Binomial3,
        2 => Smoothing::Binomial3Exact,
        3 => Smoothing::Binomial5,
        _ => Smoothing::Gaussian { size: odd(data)?, sigma: sigma(data)? },
    };
    let gradient = match data.int_in_range(0..=6)? {
        0 => Gradient::Sobel3,
        1 => Gradient::Sobel5,
        2 => Gradient::Sobel7,
        3 => Gradient::Scharr3,
        4 => Gradient::Central,
        5 => Gradient::Box { size: odd(data)? },
        _ => Gradient::GaussianDerivative { size: odd(data)?, sigma: sigma(data)? },
    };
    let window = match data.int_in_range(0..=2)? {
        0 => Window::Box { size: data.int_in_range(1..=12)? },
        1 => Window::Binomial { size: odd(data)? },
        _ => Window::Gaussian { size: odd(data)?, sigma: sigma(data)? },
    };
    let measure = match data.int_in_range(0..=3)? {
        0 => Measure::Harris { k: f32::from(data.int_in_range(0..=25_u8)?) / 100.0 },
        1 => Measure::ShiTomasi,
        2 => Measure::Noble { eps: 1e-6 },
        _ => Measure::Triggs { alpha: f32::from(data.int_in_range(0..=90_u8)?) / 100.0 },
    };
    let threshold = match data.int_in_range(0..=3)? {
        0 => Threshold::None,
        1 => Threshold::Relative(f64::from(data.int_in_range(0..=100_u8)?) / 100.0),
        2 => Threshold::Absolute(f32::from(data.arbitrary::<i8>()?) * 1e-5),
        _ => Threshold::Rosin { bins: data.int_in_range(2..=64)? },
    };
    let subpixel = match data.int_in_range(0..=2)? {
        0 => Subpixel::None,
        1 => Subpixel::Quadratic,
        _ => Subpixel::Forstner { radius: data.int_in_range(1..=6)? },
    };
    Ok(HarrisConfig::builder()
        .smoothing(smoothing)
        .gradient(gradient)
        .window(window)
        .measure(measure)
        .threshold(threshold)
        .border(*data.choose(&[Border::Reflect101, Border::Replicate, Border::Zero, Border::Skip])?)
        .plateau(*data.choose(&[Plateau::First, Plateau::All])?)
        .ties(*data.choose(&[Ties::Ascending, Ties::Descending])?)
        .order(*data.choose(&[Order::Response, Order::Raster])?)
        .subpixel(subpixel)
        .margin(data.int_in_range(0..=4)?)
        .suppression_radius(data.int_in_range(0..=9)?)
        .min_distance(f64::from(data.int_in_range(0..=60_u32)?).sqrt())
        .max_corners(if data.arbitrary()? { Some(data.int_in_range(1..=20)?) } else { None })
        .build())
}
