//! The Fast-Hessian detector beside OpenSURF.

use harris_conformance::pictures::photographs;
use harris_core::fast_hessian::{FastHessianConfig, ReferenceFastHessian};
use harris_core::{Detector, ImageView, Keypoint};
use image::{DynamicImage, GrayImage, Luma};

/// Keypoints that OpenSURF finds in the photographs of examples/data (see opensurf/README.md).
const LISTS: [(&str, &str); 3] = [
    ("brick.png", include_str!("opensurf/brick.csv")),
    ("camera.png", include_str!("opensurf/camera.csv")),
    ("coffee.png", include_str!("opensurf/coffee.csv")),
];

/// A point of OpenSURF: x, y, scale, and whether its trace is at least 0.
struct Point {
    x: f32,
    y: f32,
    scale: f32,
    dark: bool,
}

impl Point {
    fn read(line: &str) -> Self {
        let values: Vec<f32> = line.split(',').map(|value| value.parse().expect("a number")).collect();
        Self { x: values[0], y: values[1], scale: values[2], dark: values[3] > 0.0 }
    }

    fn is(&self, keypoint: &Keypoint) -> bool {
        (self.x - keypoint.x).hypot(self.y - keypoint.y) <= 0.5
            && (self.scale - keypoint.scale).abs() <= 0.05 * self.scale
            && self.dark == keypoint.response.is_sign_positive()
    }
}

/// OpenCV's gray, which OpenSURF takes.
fn gray(image: &DynamicImage) -> GrayImage {
    let rgb = image.to_rgb8();
    GrayImage::from_fn(rgb.width(), rgb.height(), |x, y| {
        let [r, g, b] = rgb.get_pixel(x, y).0.map(u32::from);
        Luma([((9798 * r + 19235 * g + 3735 * b + (1 << 14)) >> 15) as u8])
    })
}

#[test]
fn finds_the_keypoints_of_opensurf() {
    for (name, photograph) in photographs() {
        let (_, list) = LISTS.iter().find(|(of, _)| *of == name).expect("each photograph has a list");
        let points: Vec<_> = list.lines().skip(1).map(Point::read).collect();
        let image = gray(&photograph);
        let found = ReferenceFastHessian::new(FastHessianConfig::default())
            .detect(&ImageView::try_from(&image).expect("a valid image"))
            .expect("large enough");
        let missing = points.iter().filter(|point| !found.iter().any(|k| point.is(k))).count();
        let extra = found.iter().filter(|k| !points.iter().any(|point| point.is(k))).count();
        println!(
            "{name}: {} of OpenSURF, {} found, {missing} missing, {extra} extra",
            points.len(),
            found.len()
        );
        assert!(points.len() > 100, "{name}: {} points", points.len());
        assert!(missing * 50 <= points.len(), "{name}: {missing} of {} are missing", points.len());
        assert!(extra * 50 <= points.len(), "{name}: {extra} beside {}", points.len());
    }
}
