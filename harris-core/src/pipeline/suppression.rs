//! Stage 8: non-maximum suppression, the margin and the mask.

use ndarray::Array2;

use crate::config::{HarrisConfig, Plateau};
use crate::error::Error;
use crate::image::{ImageView, Raster};
use crate::keypoint::Keypoint;
use crate::memory;

/// The pixels with a valid response, and the part of them inside the mask, where corners are
/// sought.
#[derive(Clone, Copy, Debug)]
pub struct Region<'a> {
    width: usize,
    height: usize,
    /// Widths of the invalid frame in pixels: at the left and the top, at the right and the bottom.
    frame: [usize; 2],
    mask: Option<Raster<'a, u8>>,
}

impl<'a> Region<'a> {
    /// The region of an image under a configuration.
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

/// The corners of a response map, in raster order, at the centres of their pixels.
///
/// A corner lies in the region and outside the margin, and its response exceeds `threshold`. No
/// valid pixel of its (2r + 1)² neighbourhood beats it, inside the mask or not. A greater response
/// beats a lesser one. Under [`Plateau::First`] the first of equal responses in raster order beats
/// the others.
///
/// # Errors
/// [`Error::OutOfMemory`].
///
/// # Panics
/// Where the response map is smaller than the region's image.
pub fn suppress(
    response: &Array2<f32>,
    region: Region<'_>,
    config: &HarrisConfig,
    threshold: f32,
) -> Result<Vec<Keypoint>, Error> {
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
            memory::reserve(&mut corners, 1)?;
            corners.push(Keypoint::new(x as f32, y as f32, response[[y, x]]));
        }
    }
    Ok(corners)
}

/// Whether no valid pixel in the neighbourhood of x, y beats it.
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
