//! The sample grid of an octave, and the widths of its filters.

use std::fmt;
use std::str::FromStr;

use crate::error::Error;

/// Sample grid of an octave: the pixels at which its filters are evaluated.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
#[cfg_attr(feature = "serde", derive(serde::Serialize, serde::Deserialize), serde(rename_all = "snake_case"))]
pub enum Sampling {
    /// Columns and rows are multiples of the octave's step. Peaks are sought where the largest of
    /// three filters lies in the image (OpenSURF's last release, Evans 2009).
    #[default]
    Multiples,
    /// Columns and rows are the octave's border plus multiples of its step. The border is that of
    /// the octave's largest filter, for all its filters (Hofmann 2009, appendix A).
    Border,
}

impl fmt::Display for Sampling {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Self::Multiples => "multiples",
            Self::Border => "border",
        })
    }
}

impl FromStr for Sampling {
    type Err = Error;

    /// # Errors
    /// [`Error::Notation`].
    fn from_str(text: &str) -> Result<Self, Error> {
        match text {
            "multiples" => Ok(Self::Multiples),
            "border" => Ok(Self::Border),
            _ => Err(Error::Notation {
                what: "sampling",
                text: text.to_owned(),
                expected: "multiples or border",
            }),
        }
    }
}

/// Width in pixels of the filter of an octave and an interval, both counted from 0.
pub(super) fn filter(octave: usize, interval: usize) -> usize {
    3 * ((2 << octave) * (interval + 1) + 1)
}

/// The samples of an octave along a line of pixels.
#[derive(Clone, Copy)]
pub(super) struct Grid {
    /// Pixels between samples.
    pub(super) step: usize,
    /// The first sample's pixel.
    pub(super) origin: usize,
    /// Pixels at the end of a line that have no sample. The last pixels before them may have none
    /// either.
    end: usize,
    sampling: Sampling,
}

impl Grid {
    /// The grid of an octave, counted from 0, for a configuration's step, intervals and sampling.
    pub(super) fn new(step: usize, intervals: usize, sampling: Sampling, octave: usize) -> Self {
        let step = step << octave;
        let border = match sampling {
            Sampling::Multiples => 0,
            Sampling::Border => filter(octave, intervals - 1) / 2 + 1,
        };
        Self { step, origin: border, end: border, sampling }
    }

    /// Number of samples on a line of `len` pixels.
    pub(super) fn count(self, len: usize) -> usize {
        match self.sampling {
            // Only whole steps count.
            Sampling::Multiples => len / self.step,
            Sampling::Border => len.saturating_sub(self.origin + self.end).div_ceil(self.step),
        }
    }

    /// The shortest line, in pixels, that has `count` samples.
    fn least(self, count: usize) -> usize {
        match self.sampling {
            Sampling::Multiples => count * self.step,
            Sampling::Border => self.origin + (count - 1) * self.step + 1 + self.end,
        }
    }

    /// Numbers of samples at the beginning and at the end of a line where no peak is sought.
    ///
    /// `top` is the width in pixels of the largest of three filters.
    pub(super) fn margins(self, top: usize) -> [usize; 2] {
        match self.sampling {
            Sampling::Multiples => {
                let border = (top + 1) / (2 * self.step);
                [border + 1, border]
            }
            Sampling::Border => [1, 1],
        }
    }

    /// The least width and height of an image in which the first octave has a sample to compare.
    pub(super) fn min_side(step: usize, intervals: usize, sampling: Sampling) -> usize {
        let grid = Self::new(step, intervals, sampling, 0);
        // The third filter is the smallest that is a top.
        grid.least(grid.margins(filter(0, 2)).iter().sum::<usize>() + 1)
    }
}
