//! From the gradients of 8-bit samples to responses.

use super::arguments::Settings;
use super::differences::Gradient;
use super::lane::{EACH, Lane, Place};
use crate::Simt;

/// A window, which makes responses of gradients: a lane's part of it.
pub(super) trait Window<S: Simt> {
    /// Rows of gradients as it takes them.
    type Gradient: Gradient;
    /// Sums of products.
    type Sum;
    /// Its radius, or 0 where it is wide, and arguments tell.
    const RADIUS: usize;
    const IS_WIDE: bool = Self::RADIUS == 0;

    fn new(lane: &Lane<S>) -> Self;

    /// Whether no trace is asked, and responses come as [`Front::AT_ONCE`] has it: then the gradients beside the image have the sign that
    /// their products need.
    const AT_ONCE: bool = false;

    /// As [`Front::asks_trace`].
    #[inline(always)]
    fn asks_trace(_: &Settings) -> bool {
        true
    }

    /// Learns what the trace of the sums around a corner reaches at least.
    fn listen(&mut self, least: f32);

    /// Takes the gradients of a row that only leads to the first whose sums are asked for.
    #[inline(always)]
    fn lead(&mut self, lane: &Lane<S>, gx: Self::Gradient, gy: Self::Gradient) {
        self.down(lane, gx, gy);
    }

    /// Sums down of gx², gx·gy and gy² over the window whose lowest row has these gradients.
    fn down(&mut self, lane: &Lane<S>, gx: Self::Gradient, gy: Self::Gradient) -> [[Self::Sum; EACH]; 3];

    /// Responses by these sums, as [`Front::step`] has them.
    fn respond(&self, lane: &Lane<S>, sums: [[Self::Sum; EACH]; 3], place: Place) -> (bool, [f32; EACH]);
}
