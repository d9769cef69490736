//! Where the object lies in a scene, by the matches between them.

use anyhow::Result;
use clap::Args;
use harris_core::features::Features;
use harris_core::matching::{Fit, Homography, INLIER_DISTANCES, Match, Ransac, matched_pairs};

/// The fewest places that agree with a homography where the object is found. Random pairs may have
/// a homography with some inliers.
pub(crate) const MIN_SUPPORT: usize = 8;

/// Options for the homography.
#[derive(Args, Clone, Copy, Debug)]
#[command(next_help_heading = "Homography")]
pub(crate) struct HomographyOptions {
    /// Distance in pixels within which a match agrees with the homography, above 0 and at most
    /// 1000000
    #[arg(long, value_name = "PIXELS", default_value_t = 3.0, value_parser = distance)]
    pub(crate) inlier_distance: f64,
}

fn distance(text: &str) -> Result<f64, String> {
    let distance = text.parse().ok().filter(|distance| INLIER_DISTANCES.contains(distance));
    distance.ok_or_else(|| "a number of pixels from 0.000000001 to 1000000 is needed".to_owned())
}

impl HomographyOptions {
    /// Returns the homography from the object to the scene, if enough matches agree with one.
    ///
    /// # Errors
    /// There is not enough memory, or a keypoint is not finite.
    pub(crate) fn locate(
        self,
        matches: &[Match],
        scene: &Features,
        trained: &Features,
    ) -> Result<Option<Fit>, harris_core::Error> {
        let pairs = matched_pairs(matches, &scene.keypoints, &trained.keypoints)?;
        let config = Ransac::builder().distance(self.inlier_distance).build()?;
        let fit = Homography::ransac(&pairs, &config)?;
        Ok(fit.filter(|fit| fit.support >= MIN_SUPPORT.max(matches.len() / 10)))
    }
}

/// Returns where the corners of an image of a size lie, by a homography; `None` if one is at
/// infinity. They are the outer corners of its corner pixels.
pub(crate) fn corners(homography: &Homography, [width, height]: [u32; 2]) -> Option<[[f64; 2]; 4]> {
    let (right, bottom) = (f64::from(width) - 0.5, f64::from(height) - 0.5);
    let [a, b, c, d] =
        [[-0.5, -0.5], [right, -0.5], [right, bottom], [-0.5, bottom]].map(|corner| homography.map(corner));
    Some([a?, b?, c?, d?])
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn corners_are_those_of_the_outer_pixels() {
        let moved = Homography { matrix: [[1.0, 0.0, 10.0], [0.0, 1.0, 20.0], [0.0, 0.0, 1.0]] };
        let expected = [[9.5, 19.5], [12.5, 19.5], [12.5, 21.5], [9.5, 21.5]];
        assert_eq!(corners(&moved, [3, 2]), Some(expected));
        let far = Homography { matrix: [[1.0, 0.0, 0.0], [0.0, 1.0, 0.0], [2.0, 0.0, 1.0]] };
        assert_eq!(corners(&far, [3, 2]), None);
    }
}
