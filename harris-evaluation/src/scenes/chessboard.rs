//! Chessboards, after Chahuara (2017).

use harris_core::{Error, MAX_SIDE};
use ndarray::Array3;

use crate::degradation::check;

/// A chessboard of `squares` × `squares` squares, after Chahuara (2017).
///
/// His boards LOW, MED and FULL have 2, 8 and 32 squares along a side, hence 1, 49 and 961 inner
/// corners. The default has 8 squares on 128 × 128 pixels, in gray.
///
/// ```
/// use harris_evaluation::scenes::Chessboard;
///
/// let board = Chessboard::builder().squares(2).channels(3).build()?;
/// assert_eq!(board.draw().dim(), (128, 128, 3));
/// assert_eq!(board.corners(), [[63.5, 63.5]]);
/// # Ok::<(), harris_core::Error>(())
/// ```
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Chessboard {
    choices: ChessboardBuilder,
}

/// Collects the choices of a [`Chessboard`]; [`build`](Self::build) validates them.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[must_use]
pub struct ChessboardBuilder {
    squares: usize,
    size: usize,
    channels: usize,
}

impl Default for ChessboardBuilder {
    fn default() -> Self {
        Self { squares: 8, size: 128, channels: 1 }
    }
}

impl ChessboardBuilder {
    /// Squares along a side, 1 to the pixels along a side.
    pub fn squares(mut self, squares: usize) -> Self {
        self.squares = squares;
        self
    }

    /// Pixels along a side, 1 to [`MAX_SIDE`].
    pub fn size(mut self, pixels: usize) -> Self {
        self.size = pixels;
        self
    }

    /// Samples per pixel: 1 for gray, 3 for colour.
    pub fn channels(mut self, channels: usize) -> Self {
        self.channels = channels;
        self
    }

    /// Validates the choices.
    ///
    /// # Errors
    /// [`Error::OutOfRange`] for the size and the squares, [`Error::Channels`].
    pub fn build(self) -> Result<Chessboard, Error> {
        let Self { squares, size, channels } = self;
        check("size of a chessboard in pixels", size as f64, 1.0..=MAX_SIDE as f64)?;
        check("number of squares", squares as f64, 1.0..=size as f64)?;
        if channels != 1 && channels != 3 {
            return Err(Error::Channels { channels });
        }
        Ok(Chessboard { choices: self })
    }
}

impl Chessboard {
    /// Starts a builder from the default.
    pub fn builder() -> ChessboardBuilder {
        ChessboardBuilder::default()
    }

    /// Starts a builder from this chessboard.
    pub fn to_builder(&self) -> ChessboardBuilder {
        self.choices
    }

    /// The level of a pixel's channel, 0 to 1.
    ///
    /// # Panics
    /// Where `channel` is above 2.
    #[must_use]
    pub fn level(&self, x: usize, y: usize, channel: usize) -> f64 {
        // Dark blue and light orange: each channel has a step of its own height and sign.
        let colours = [[0.1, 0.9, 0.2], [0.9, 0.6, 0.5]];
        let square = |i: usize| i * self.choices.squares / self.choices.size;
        colours[(square(x) + square(y)) % 2][channel]
    }

    /// Draws the board in 8 bits: rows, columns, channels.
    #[must_use]
    pub fn draw(&self) -> Array3<u8> {
        Array3::from_shape_fn(
            (self.choices.size, self.choices.size, self.choices.channels),
            |(y, x, channel)| (self.level(x, y, channel) * 255.0).round() as u8,
        )
    }

    /// The inner corners, which lie between pixels, row by row: x and y in pixels.
    #[must_use]
    pub fn corners(&self) -> Vec<[f64; 2]> {
        // The first pixel of a square is the first whose number, times the squares, is a multiple
        // of the size or more.
        let place = |i: usize| (i * self.choices.size).div_ceil(self.choices.squares) as f64 - 0.5;
        let inner = 1..self.choices.squares;
        inner.clone().flat_map(|j| inner.clone().map(move |i| [place(i), place(j)])).collect()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn boards_without_pixels_or_squares_are_errors() {
        for (squares, size, channels) in [(0, 8, 1), (9, 8, 1), (1, 0, 1), (1, usize::MAX, 1), (2, 8, 2)] {
            let builder = Chessboard::builder().squares(squares).size(size).channels(channels);
            assert!(builder.build().is_err(), "{builder:?}");
        }
    }

    #[test]
    fn corners_lie_where_four_squares_meet() {
        for (squares, size) in [(2, 128), (8, 128), (32, 128), (3, 100), (7, 65)] {
            for channels in [1, 3] {
                let builder = Chessboard::builder().squares(squares).size(size).channels(channels);
                let board = builder.build().unwrap();
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
