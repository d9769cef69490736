//! Chahuara's scenes.

use ndarray::Array3;

/// A chessboard of `squares` × `squares` squares, after Chahuara (2017): LOW, MED and FULL have 2,
/// 8 and 32, hence 1, 49 and 961 inner corners.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Chessboard {
    /// Squares along a side.
    pub squares: usize,
    /// Pixels along a side.
    pub size: usize,
    /// 1 for gray, 3 for colour.
    pub channels: usize,
}

impl Chessboard {
    /// The level of a pixel's channel, 0 to 1.
    #[must_use]
    pub fn level(&self, x: usize, y: usize, channel: usize) -> f64 {
        // Dark blue and light orange: each channel has a step of its own height and sign.
        let colours = [[0.1, 0.9, 0.2], [0.9, 0.6, 0.5]];
        let square = |i: usize| i * self.squares / self.size;
        colours[(square(x) + square(y)) % 2][channel]
    }

    /// Draws it in 8 bits: rows, columns, channels.
    #[must_use]
    pub fn draw(&self) -> Array3<u8> {
        Array3::from_shape_fn((self.size, self.size, self.channels), |(y, x, channel)| {
            (self.level(x, y, channel) * 255.0).round() as u8
        })
    }

    /// Its inner corners, between pixels, row by row.
    #[must_use]
    pub fn corners(&self) -> Vec<[f64; 2]> {
        // The first pixel of a square is the first whose number, times the squares, is a multiple
        // of the size or more.
        let place = |i: usize| (i * self.size).div_ceil(self.squares) as f64 - 0.5;
        let inner = 1..self.squares;
        inner.clone().flat_map(|j| inner.clone().map(move |i| [place(i), place(j)])).collect()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn corners_lie_where_four_squares_meet() {
        for (squares, size) in [(2, 128), (8, 128), (32, 128), (3, 100), (7, 65)] {
            for channels in [1, 3] {
                let board = Chessboard { squares, size, channels };
                let image = board.draw();
                let corners = board.corners();
                assert_eq!(corners.len(), (squares - 1) * (squares - 1));
                for [x, y] in corners {
                    let (i, j) = ((x - 0.5) as usize, (y - 0.5) as usize);
                    let at = |x: usize, y: usize| image.slice(ndarray::s![y, x, ..]);
                    assert_eq!(at(i, j), at(i + 1, j + 1));
                    assert_eq!(at(i + 1, j), at(i, j + 1));
                    assert_ne!(at(i, j), at(i + 1, j));
                }
            }
        }
    }
}
