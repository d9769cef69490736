//! What is found in each frame, and its results.

use std::io::Write;

use anyhow::Result;
use harris_core::Error;
use harris_core::features::Features;
use harris_core::matching::Matcher;
use image::RgbImage;

use super::video::OutlinedVideo;
use crate::matching::{HomographyOptions, corners, outline, stroke};
use crate::stream::{Counts, Frame, Overlays, Report, Rows};
use crate::{messages, overlay};

/// The columns of the table.
pub(super) const COLUMNS: [&str; 13] = [
    "frame",
    "keypoints",
    "matches",
    "inliers",
    "top_left_x",
    "top_left_y",
    "top_right_x",
    "top_right_y",
    "bottom_right_x",
    "bottom_right_y",
    "bottom_left_x",
    "bottom_left_y",
    "error",
];

/// The object, and where the results of frames go.
pub(super) struct TrackReport<'a, V: Write, T: Write> {
    pub(super) trained: &'a Features,
    /// Width and height of the object's image.
    pub(super) size: [u32; 2],
    pub(super) matcher: Box<dyn Matcher>,
    pub(super) homography: HomographyOptions,
    pub(super) video: Option<OutlinedVideo<V>>,
    pub(super) table: Option<&'a mut Rows<T>>,
    pub(super) overlays: Option<Overlays>,
}

/// What is found in a frame.
pub(super) struct Found {
    keypoints: usize,
    matches: usize,
    /// The number of matches that agree with the homography: none without the object.
    inliers: usize,
    /// Where the object's corners lie, if it is there: top left, top right, bottom right, bottom
    /// left.
    corners: Option<[[f64; 2]; 4]>,
}

impl<V: Write, T: Write> Report for TrackReport<'_, V, T> {
    type Output = Features;
    type Found = Found;

    fn examine(&mut self, scene: Features) -> Result<Found, Error> {
        let matches = self.matcher.matches(scene.descriptors.view(), self.trained.descriptors.view())?;
        let fit = self.homography.locate(&matches, &scene, self.trained)?;
        let corners = fit.as_ref().and_then(|fit| corners(&fit.homography, self.size));
        // An object with a corner at infinity is not in view.
        let inliers = fit.filter(|_| corners.is_some()).map_or(0, |fit| fit.inliers.len());
        Ok(Found { keypoints: scene.keypoints.len(), matches: matches.len(), inliers, corners })
    }

    fn count(&self, found: &Found, counts: &mut Counts) -> String {
        counts.keypoints += found.keypoints;
        let is_there = usize::from(found.corners.is_some());
        counts.found = counts.found.map(|frames| frames + is_there);
        let keypoints = messages::count(found.keypoints, "keypoint");
        format!("{keypoints}, {}", messages::count(found.inliers, "inlier"))
    }

    fn write(&mut self, number: usize, frame: Option<&mut Frame>, found: Result<&Found, &str>) -> Result<()> {
        if let Some(table) = &mut self.table {
            table.add(|writer| writer.write_record(row(number, found)));
        }
        let Some(frame) = frame else { return Ok(()) };
        let corners = found.ok().and_then(|found| found.corners.as_ref());
        if let (Some(overlays), Ok(_)) = (&self.overlays, found) {
            overlays.write(number, &draw(frame, corners)?)?;
        }
        if let Some(video) = &mut self.video {
            video.add(frame, corners)?;
        }
        Ok(())
    }
}

/// Returns the row of a frame.
fn row(number: usize, found: Result<&Found, &str>) -> Vec<String> {
    let mut row = vec![number.to_string()];
    match found {
        Ok(found) => {
            row.extend([found.keypoints, found.matches, found.inliers].map(|count| count.to_string()));
            if let Some(corners) = &found.corners {
                row.extend(corners.iter().flatten().map(|place| format!("{place:.3}")));
            }
            row.resize(COLUMNS.len(), String::new());
        }
        Err(error) => {
            row.resize(COLUMNS.len() - 1, String::new());
            row.push(error.to_owned());
        }
    }
    row
}

/// Draws the outline of the object that has these corners on a copy of a frame.
///
/// # Errors
/// [`Error::OutOfMemory`].
fn draw(frame: &Frame, corners: Option<&[[f64; 2]; 4]>) -> Result<RgbImage, Error> {
    let size @ [width, height] = [frame.picture.width(), frame.picture.height()];
    overlay::check_memory(width, height)?;
    let picture = frame.picture.to_rgb8();
    let Some(path) = corners.and_then(|corners| outline::path(corners, size, 0.0)) else {
        return Ok(picture);
    };
    let mut canvas = overlay::paint(&picture);
    for (line, color) in outline::WIDTHS.into_iter().zip(outline::colors()) {
        stroke(&mut canvas, &path, color, &outline::stroke(line, width));
    }
    Ok(overlay::picture(&canvas))
}
