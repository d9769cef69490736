//! Stage 8: suppression, the margin and the mask.

use ndarray::Array2;

use crate::config::{HarrisConfig, Plateau};
use crate::image::{ImageView, Raster};
use crate::keypoint::Keypoint;

/// The pixels that have a response, and those of them in which corners are sought: inside the mask.
#[derive(Clone, Copy, Debug)]
pub struct Region<'a> {
    width: usize,
    height: usize,
    /// Widths of the frame that is not valid: at the left and the top, at the right and the bottom.
    frame: [usize; 2],
    mask: Option<Raster<'a, u8>>,
}

impl<'a> Region<'a> {
    /// Those of `image` under `config`.
    #[must_use]
    pub fn new(image: &ImageView<'a>, config: &HarrisConfig) -> Self {
        Self {
            width: image.width(),
            height: image.height(),
            frame: config.invalid_frame(),
            mask: image.mask(),
        }
    }

    /// Whether corners are sought at the pixel x, y: it has a response and lies inside the mask.
    #[must_use]
    pub fn contains(&self, x: usize, y: usize) -> bool {
        self.is_valid(x, y) && self.mask.is_none_or(|mask| mask.row(y)[x] != 0)
    }

    /// Whether the pixel x, y has a response, inside the mask or not.
    #[must_use]
    pub fn is_valid(&self, x: usize, y: usize) -> bool {
        let [before, behind] = self.frame;
        let inside = |i: usize, len: usize| i >= before && i + behind < len;
        inside(x, self.width) && inside(y, self.height)
    }

    /// The pixels in which corners are sought, row by row.
    pub fn pixels(self) -> impl Iterator<Item = (usize, usize)> {
        let row = move |y| (0..self.width).map(move |x| (x, y));
        (0..self.height).flat_map(row).filter(move |&(x, y)| self.contains(x, y))
    }
}

/// The corners: pixels of the region, not within the margin, whose response exceeds `threshold` and which no pixel with
/// a response, inside the mask or not, beats in their (2r+1)² neighbourhood. A greater response beats a lesser one, and of equal ones the first
/// in raster order the others where the plateau rule is [`Plateau::First`].
/// They come in raster order, at the centres of their pixels.
#[must_use]
pub fn suppress(
    response: &Array2<f32>,
    region: Region<'_>,
    config: &HarrisConfig,
    threshold: f32,
) -> Vec<Keypoint> {
    let (margin, radius) = (config.margin(), config.suppression_radius());
    let beyond_margin = |i: usize, len: usize| i >= margin && len - i > margin;
    let mut corners = Vec::new();
    for (x, y) in region.pixels() {
        let candidate = response[[y, x]] > threshold;
        if candidate
            && beyond_margin(x, region.width)
            && beyond_margin(y, region.height)
            && wins(response, region, (radius, config.plateau()), x, y)
        {
            corners.push(Keypoint::new(x as f32, y as f32, response[[y, x]]));
        }
    }
    corners
}

fn wins(
    response: &Array2<f32>,
    region: Region<'_>,
    (radius, plateau): (usize, Plateau),
    x: usize,
    y: usize,
) -> bool {
    let around = |i: usize, len: usize| {
        i.saturating_sub(radius)..(i.saturating_add(radius).saturating_add(1)).min(len)
    };
    let r = response[[y, x]];
    around(y, region.height).all(|v| {
        around(x, region.width).all(|u| {
            if (u, v) == (x, y) || !region.is_valid(u, v) {
                return true;
            }
            let must_exceed = match plateau {
                Plateau::First => (v, u) < (y, x),
                Plateau::All => false,
            };
            if must_exceed { r > response[[v, u]] } else { r >= response[[v, u]] }
        })
    })
}
