//! What was found in a scene: in words, as JSON, and as a list of matches.

use std::io::Write;

use anyhow::Result;
use harris_core::Keypoint;
use harris_core::features::Features;
use harris_core::matching::{Fit, Match};
use serde_json::json;

use super::pipeline::Times;
use crate::messages;

/// The matches of a scene, and where the object lies.
pub(super) struct Found {
    pub(super) scene: Features,
    pub(super) matches: Vec<Match>,
    /// Whether the object was searched for.
    pub(super) searched: bool,
    /// The homography, if enough matches agree with it.
    pub(super) fit: Option<Fit>,
    /// Where the object's corners lie, if it was found: top left, top right, bottom right, bottom
    /// left.
    pub(super) corners: Option<[[f64; 2]; 4]>,
    pub(super) times: Times,
}

impl Found {
    /// Formats lines for people.
    pub(super) fn text(&self, name: &str) -> String {
        let (keypoints, matches) = (self.scene.keypoints.len(), self.matches.len());
        let mut text = format!("{name}: {keypoints} keypoints, {matches} matches\n");
        match &self.fit {
            Some(fit) => {
                text += &format!("  found the object: {} matches agree\n", fit.inliers.len());
                if let Some(corners) = &self.corners {
                    let places = corners.map(|[x, y]| format!("({x:.1}, {y:.1})"));
                    text += &format!("  its corners, from the top left on: {}\n", places.join(" "));
                }
            }
            None if !self.searched => {}
            None => text += "  did not find the object: too few matches agree\n",
        }
        text + &self.times.to_string()
    }

    /// Formats a line of JSON.
    pub(super) fn json(&self, name: &str) -> String {
        let line = json!({
            "scene": name,
            "keypoints": self.scene.keypoints.len(),
            "matches": self.matches.len(),
            "inliers": self.fit.as_ref().map(|fit| fit.inliers.len()),
            "homography": self.fit.as_ref().map(|fit| fit.homography.matrix),
            "corners": self.corners,
            "features_ms": messages::milliseconds(self.times.features),
            "match_ms": messages::milliseconds(self.times.matching),
        });
        format!("{line}\n")
    }

    /// Writes the matches as CSV, in the order of the scene's keypoints.
    ///
    /// # Errors
    /// The error of `out`.
    pub(super) fn pairs(&self, trained: &Features, out: &mut dyn Write) -> Result<()> {
        let mut table = csv::Writer::from_writer(out);
        table.write_record(["query_x", "query_y", "train_x", "train_y", "distance", "inlier"])?;
        for (i, Match { query, train, distance, .. }) in self.matches.iter().enumerate() {
            let Keypoint { x, y, .. } = self.scene.keypoints[*query];
            let Keypoint { x: train_x, y: train_y, .. } = trained.keypoints[*train];
            for number in [x, y, train_x, train_y, *distance] {
                table.write_field(number.to_string())?;
            }
            // Inliers are ascending.
            let is_inlier = self.fit.as_ref().is_some_and(|fit| fit.inliers.binary_search(&i).is_ok());
            let inlier = if self.searched { u8::from(is_inlier).to_string() } else { String::new() };
            table.write_record([inlier])?;
        }
        Ok(table.flush()?)
    }
}
