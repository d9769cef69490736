//! Drawn images with the corners that OpenCV finds in them, where ties, masks or distances decide.
//!
//! The lists in `cases/` are the output of OpenCV 5.0.0's `goodFeaturesToTrack` with quality 0.01
//! and the Harris detector with k = 0.04. Each line has one `x,y`, in OpenCV's order.

use harris_core::{HarrisConfigBuilder, ImageView, Order, Subpixel, presets};
use image::GrayImage;

use crate::Make;

/// An image, a change of the preset `opencv_gftt`, and OpenCV's list.
struct Case {
    name: &'static str,
    image: &'static [u8],
    mask: Option<&'static [u8]>,
    change: fn(HarrisConfigBuilder) -> HarrisConfigBuilder,
    corners: &'static str,
}

macro_rules! case {
    ($image:literal, $corners:literal, $change:expr) => {
        case!($image, None, $corners, $change)
    };
    ($image:literal, $mask:expr, $corners:literal, $change:expr) => {
        Case {
            name: $corners,
            image: include_bytes!(concat!("../cases/", $image)),
            mask: $mask,
            change: $change,
            corners: include_str!(concat!("../cases/", $corners)),
        }
    };
}

/// Plateaus of four equal pixels, and many copies of one corner.
const TIES: [Case; 3] = [
    case!("ties-board.png", "ties-board.gftt.csv", |b| b),
    case!("ties-board.png", "ties-board.gftt-d5.csv", |b| b.min_distance(5.0)),
    case!("ties-panels.png", "ties-panels.gftt-3.csv", |b| b.min_distance(5.0).max_corners(3)),
];

/// Pixels outside the mask suppress others.
const MASKS: [Case; 2] = [
    case!("mask-half.png", MASK, "mask-half.gftt.csv", |b| b),
    case!("mask-half.png", MASK, "mask-half.gftt-50-8.csv", |b| b.min_distance(8.0).max_corners(50)),
];
const MASK: Option<&[u8]> = Some(include_bytes!("../cases/mask-half.mask.png"));

/// A distance whose square is next to an integer.
const DISTANCES: [Case; 1] =
    [case!("distance.png", "distance.gftt-sqrt50.csv", |b| b.min_distance(7.071_067_811_865_475_5))];

/// Checks minimum distances against OpenCV.
pub fn distances_are_those_of_opencv(make: Make) {
    check(make, &DISTANCES);
}

/// Checks masks against OpenCV.
pub fn masks_are_those_of_opencv(make: Make) {
    check(make, &MASKS);
}

/// Checks ties against OpenCV.
pub fn ties_are_those_of_opencv(make: Make) {
    check(make, &TIES);
}

/// Checks that refinement merges corners: the four responses around each of the 49 crossings of a
/// blurred chessboard move to one point, and one of them stays.
///
/// # Panics
/// If the number of corners or their positions differ.
pub fn refined_corners_keep_their_distance(make: Make) {
    let image = read(include_bytes!("../cases/soft-board.png"));
    let view = ImageView::gray(image.as_raw(), 128, 128).expect("a valid image");
    let config = presets::opencv_gftt().to_builder().subpixel(Subpixel::Forstner { radius: 10 });
    for (distance, number) in [(0.0, 196), (3.0, 49)] {
        for order in [Order::Response, Order::Raster] {
            let config = config.clone().min_distance(distance).order(order).build().expect("a valid choice");
            let corners = make(config).detect(&view).expect("a valid image");
            assert_eq!(corners.len(), number, "{distance}, {order}");
            for corner in corners {
                for place in [corner.x, corner.y] {
                    let nearest = 15.5 + 16.0 * ((place - 15.5) / 16.0).round();
                    assert!((place - nearest).abs() < 0.1, "{corner:?}");
                }
            }
        }
    }
}

fn check(make: Make, cases: &[Case]) {
    for case in cases {
        let image = read(case.image);
        let mask = case.mask.map(read);
        let (width, height) = (image.width() as usize, image.height() as usize);
        let mut view = ImageView::gray(image.as_raw(), width, height).expect("a valid image");
        let of_mask =
            mask.as_ref().map(|mask| ImageView::gray(mask.as_raw(), width, height).expect("a valid mask"));
        if let Some(mask) = of_mask {
            view = view.with_mask(mask).expect("a mask of its size");
        }
        let config = (case.change)(presets::opencv_gftt().to_builder()).build().expect("a valid choice");
        let mut detector = make(config);
        let corners = detector.detect(&view).expect("a valid image");
        let found: Vec<_> = corners.iter().map(|corner| format!("{},{}", corner.x, corner.y)).collect();
        let expected: Vec<_> = case.corners.lines().collect();
        assert!(
            found == expected,
            "{}, {}: {} corners for {}, first difference at {:?}",
            case.name,
            detector.describe(),
            found.len(),
            expected.len(),
            found.iter().zip(&expected).position(|(found, expected)| found != expected),
        );
    }
}

fn read(file: &[u8]) -> GrayImage {
    image::load_from_memory(file).expect("a PNG").into_luma8()
}
