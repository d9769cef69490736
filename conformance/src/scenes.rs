//! Scenes whose corners are known.

use harris_core::{HarrisConfig, Keypoint};

use crate::Make;
use crate::pictures::{DEPTHS, Depth, Picture};

/// A chessboard of `squares` × `squares` squares, after Chahuara (2017): LOW, MED and FULL have 2, 8 and 32, hence
/// 1, 49 and 961 inner corners.
#[derive(Clone, Copy, Debug)]
pub struct Chessboard {
    /// Squares along a side.
    pub squares: usize,
    /// Pixels along a side.
    pub size: usize,
    /// 1 for gray, 3 for colour.
    pub channels: usize,
}

impl Chessboard {
    /// Draws it.
    #[must_use]
    pub fn draw(&self, depth: Depth) -> Picture {
        // Dark blue and light orange: each channel has a step of its own height and sign.
        let colours = [[0.1, 0.9, 0.2], [0.9, 0.6, 0.5]];
        Picture::draw(depth, (self.size, self.size, self.channels), |x, y, channel| {
            let square = |i: usize| i * self.squares / self.size;
            colours[(square(x) + square(y)) % 2][channel]
        })
    }

    /// Its inner corners, between pixels, row by row.
    #[must_use]
    pub fn corners(&self) -> Vec<(f64, f64)> {
        let place = |i: usize| (i * self.size) as f64 / self.squares as f64 - 0.5;
        let inner = 1..self.squares;
        inner.clone().flat_map(|j| inner.clone().map(move |i| (place(i), place(j)))).collect()
    }
}

/// LOW, MED and FULL at 128 to 1024 pixels, gray and colour: as many corners as there are, each within two pixels.
pub fn chessboards_have_their_corners(make: Make) {
    let mut detector = make(HarrisConfig::default());
    for squares in [2, 8, 32] {
        for (i, size) in [128, 256, 512, 1024].into_iter().enumerate() {
            for channels in [1, 3] {
                let board = Chessboard { squares, size, channels };
                let picture = board.draw(DEPTHS[i % 3]);
                let found = detector.detect(&picture.view()).expect("a valid image");
                let corners = board.corners();
                assert_eq!(found.len(), corners.len(), "{board:?}");
                for corner in corners {
                    assert!(
                        found.iter().any(|k| distance(k, corner) <= 2.0),
                        "{board:?}: none near {corner:?}"
                    );
                }
            }
        }
    }
}

fn distance(keypoint: &Keypoint, (x, y): (f64, f64)) -> f64 {
    (f64::from(keypoint.x) - x).hypot(f64::from(keypoint.y) - y)
}
