//! Finds an object in a scene: keypoints with SURF descriptors, matches, and the homography.
//!
//! ```sh
//! cargo run --release --example matching
//! ```
//!
//! `harris match --detector fast-hessian` does this for any photographs, and draws what it finds.

use std::error::Error;

use harris::features::FeatureConfig;
use harris::matching::{Homography, MatchConfig, Ransac, matched_pairs};
use harris::{Backend, ImageView};
use image::imageops::{self, FilterType};

fn main() -> Result<(), Box<dyn Error>> {
    let object = image::open("examples/data/coffee.png")?.to_luma8();
    // The scene: the object at three quarters of its size, turned by 90 degrees to the right.
    let scene = imageops::rotate90(&imageops::resize(&object, 450, 300, FilterType::Triangle));

    let mut features = harris::features(Backend::Auto, FeatureConfig::default())?;
    let in_object = features.detect_and_describe(&ImageView::try_from(&object)?)?;
    let in_scene = features.detect_and_describe(&ImageView::try_from(&scene)?)?;
    let mut matcher = harris::matcher(Backend::Auto, MatchConfig::default())?;
    let matches = matcher.matches(in_scene.descriptors.view(), in_object.descriptors.view())?;

    // From places in the object to places in the scene.
    let pairs = matched_pairs(&matches, &in_scene.keypoints, &in_object.keypoints)?;
    // A few random matches may agree by chance, so fewer than 8 are no object.
    let fit = Homography::ransac(&pairs, &Ransac::default())?.filter(|fit| fit.support >= 8);
    let fit = fit.ok_or("the object is not in the scene")?;
    println!("{} of {} matches agree", fit.support, matches.len());

    let [x, y] = fit.homography.map([300.0, 200.0]).ok_or("the centre is at infinity")?;
    println!("the object's centre is at {x:.0}, {y:.0} in the scene");
    Ok(())
}
