//! Writes rows of responses to a response map.

use super::lane::{LANE_COLUMNS, Lane, NO_RESPONSE, RowKind};
use crate::Simt;
use crate::abi::fused;
use crate::kernels::threshold::ResponseRange;

/// Writer of a lane's responses.
pub(super) struct ResponseWriter<S: Simt> {
    to: S::Buffer<f32>,
    /// Least and greatest valid response, where they are wanted.
    range: Option<ResponseRange>,
}

impl<S: Simt> ResponseWriter<S> {
    #[inline(always)]
    pub(super) fn new(to: S::Buffer<f32>, finds_range: bool) -> Self {
        Self { to, range: if finds_range { Some(ResponseRange::NONE) } else { None } }
    }

    /// Writes the responses of row `y` to the dense map, 0 where they are not valid.
    #[inline(always)]
    pub(super) fn write(&mut self, lane: &Lane<S>, mut responses: [f32; LANE_COLUMNS], y: i32) {
        let width = lane.args.size.width;
        // A lane writes all of its columns or none: overlaps are multiples of a lane's columns.
        if !(lane.owns_row(y) && lane.owns_column(0) && (lane.x as u32) < width) {
            return;
        }
        let is_valid = RowKind::of(lane, y).is_valid();
        let column = |i: usize| lane.x as u32 + i as u32;
        let frame = lane.args.frame;
        for i in 0..LANE_COLUMNS {
            if lane.at_edge && (column(i) < frame || column(i) >= width.max(frame) - frame) {
                responses[i] = NO_RESPONSE;
            } else if is_valid && let Some(range) = &mut self.range {
                range.include(responses[i]);
            }
        }
        let first = y as usize * width as usize;
        if width.is_multiple_of(fused::LANE_COLUMNS) {
            lane.s.store_four_words(self.to, first + column(0) as usize, responses);
        } else {
            for i in 0..LANE_COLUMNS {
                if column(i) < width {
                    lane.s.store(self.to, first + column(i) as usize, responses[i]);
                }
            }
        }
    }

    /// Merges the range into the state, where it is wanted.
    #[inline(always)]
    pub(super) fn report_range(self, s: S, state: S::Buffer<u32>) {
        if let Some(range) = self.range {
            range.update_state(s, state);
        }
    }
}
