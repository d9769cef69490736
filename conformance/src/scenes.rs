//! Scenes whose corners are known.

use harris_core::{HarrisConfig, presets};
use harris_evaluation::scenes::Chessboard;
use harris_evaluation::score;

use crate::Make;
use crate::pictures::{DEPTHS, Picture};

/// Checks chessboards of 2, 8 and 32 squares at 128 to 1024 pixels, gray and colour. Every corner
/// must be found within two pixels, and no other.
///
/// Chahuara's preset without its limit must pass at 256 and 512 pixels, too.
pub fn chessboards_have_their_corners(make: Make) {
    let unlimited = presets::chahuara_2017().to_builder().max_corners(None).build().expect("still valid");
    for (config, sizes) in [(HarrisConfig::default(), &[128, 256, 512, 1024][..]), (unlimited, &[256, 512])] {
        let mut detector = make(config);
        for squares in [2, 8, 32] {
            for (i, &size) in sizes.iter().enumerate() {
                for channels in [1, 3] {
                    let board = Chessboard::builder().squares(squares).size(size).channels(channels);
                    let board = board.build().expect("a valid board");
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
