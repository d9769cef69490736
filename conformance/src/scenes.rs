//! Scenes whose corners are known.

use harris_core::{HarrisConfig, presets};
use harris_evaluation::scenes::Chessboard;
use harris_evaluation::score;

use crate::Make;
use crate::pictures::{DEPTHS, Picture};

/// LOW, MED and FULL at 128 to 1024 pixels, gray and colour: every corner within two pixels and no other, also for Chahuara's
/// preset without its limit from 256 pixels on.
pub fn chessboards_have_their_corners(make: Make) {
    let unlimited = presets::chahuara_2017().to_builder().max_corners(None).build().expect("still valid");
    for (config, sizes) in [(HarrisConfig::default(), &[128, 256, 512, 1024][..]), (unlimited, &[256, 512])] {
        let mut detector = make(config);
        for squares in [2, 8, 32] {
            for (i, &size) in sizes.iter().enumerate() {
                for channels in [1, 3] {
                    let board = Chessboard { squares, size, channels };
                    let picture = Picture::draw(DEPTHS[i % 3], (size, size, channels), |x, y, channel| {
                        board.level(x, y, channel)
                    });
                    let found = detector.detect(&picture.view()).expect("a valid image");
                    let score = score(&found, &board.corners(), 2.0).expect("a valid tolerance");
                    let corners = (squares - 1) * (squares - 1);
                    assert_eq!((score.found, score.errors.len()), (corners, corners), "{board:?}");
                }
            }
        }
    }
}
