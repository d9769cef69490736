//! What is known of images before their corners are, and the room that these will need.

use harris_core::{HarrisConfig, ImageView};
use harris_gpu_kernels::abi::{bins, state};

use crate::corners::most_in_line;
use crate::device::{Depth, Resident};
use crate::fused::ALIGNMENT;
use crate::upload;

/// How many bins lists are sorted by, powers of two.
const LEAST_BINS: usize = 1024;

/// The shortest part of a list that is fetched together with its length.
const LEAST_FETCHED: usize = 1024;

/// What is known of the images on the device.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(crate) struct Shape {
    pub(crate) width: u32,
    pub(crate) height: u32,
    pub(crate) channels: u32,
    pub(crate) depth: Depth,
    /// Samples from row to row.
    pub(crate) stride: usize,
    /// Bytes from row to row of the mask; 0 where there is none.
    pub(crate) mask_pitch: usize,
    /// Images of a stack.
    pub(crate) images: usize,
}

impl Shape {
    /// Of images that are brought to the device.
    pub(crate) fn new(image: &ImageView<'_>, images: usize) -> Self {
        Self {
            width: image.width() as u32,
            height: image.height() as u32,
            channels: image.channels() as u32,
            depth: Depth::of(image),
            stride: (image.width() * image.channels()).next_multiple_of(ALIGNMENT),
            mask_pitch: upload::mask_pitch(image),
            images,
        }
    }

    /// Of one that is there.
    pub(crate) fn resident<M>(image: &Resident<M>) -> Self {
        Self {
            width: image.width as u32,
            height: image.height as u32,
            channels: image.channels as u32,
            depth: image.depth,
            stride: image.pitch / image.depth.bytes(),
            mask_pitch: image.mask.as_ref().map_or(0, |&(_, pitch)| pitch),
            images: 1,
        }
    }

    pub(crate) fn pixels(&self) -> usize {
        self.width as usize * self.height as usize
    }

    /// The bytes of an image.
    pub(crate) fn bytes(&self) -> usize {
        self.stride * self.height as usize * self.depth.bytes()
    }
}

/// Room for an image's lists, by what images had before.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Room {
    size: (usize, usize),
    /// For corners.
    pub(crate) kept: usize,
    /// How many the last list had, and how many before others were taken out of it.
    pub(crate) last: usize,
    pub(crate) sorted: usize,
    /// So few bins of equal steps as some were crowded among.
    crowded: usize,
    /// Of so many images, from the first on, keys of a list divide such bins evenly.
    pub(crate) divided: usize,
}

impl Room {
    /// As much as most images need: what is more is counted, and the work is done again.
    pub(crate) fn new(config: &HarrisConfig, shape: &Shape) -> Self {
        let (width, height) = (shape.width as usize, shape.height as usize);
        let most = |len: usize| most_in_line(len, config, config.suppression_radius());
        let (most, pixels) = (most(width) * most(height), width * height);
        Self {
            size: (width, height),
            kept: most.min(pixels / 600 + 1024),
            last: 0,
            sorted: 0,
            crowded: 0,
            divided: 0,
        }
    }

    /// Whether it was made for images of this size.
    pub(crate) fn suits(&self, shape: &Shape) -> bool {
        self.size == (shape.width as usize, shape.height as usize)
    }

    /// Makes more where lists did not fit, or not in their bins; tells whether that was so.
    pub(crate) fn grow(&mut self, states: &[[u32; state::WORDS]]) -> bool {
        let most = |word: usize| states.iter().map(|state| state[word] as usize).max().unwrap_or(0);
        if most(state::CROWDED) > 0 {
            // How many there are is then not known. After such as were divided, equal steps are tried again.
            self.crowded = if self.is_divided(states.len()) { 0 } else { self.bins() };
            return true;
        }
        let kept = most(state::KEPT);
        let fits = kept <= self.kept;
        if !fits {
            self.kept = kept + kept / 4;
        }
        !fits
    }

    /// How many bins sort lists best: one for a few keys.
    pub(crate) fn bins(&self) -> usize {
        (usual(self.sorted) / 4).clamp(LEAST_BINS, bins::MOST as usize)
    }

    /// Whether bins of equal steps were crowded.
    pub(crate) fn is_crowded(&self) -> bool {
        self.bins() <= self.crowded
    }

    /// Whether so many images' bins are those that keys of lists before divide.
    pub(crate) fn is_divided(&self, images: usize) -> bool {
        self.is_crowded() && images <= self.divided
    }

    /// Keypoints that are fetched together with their number.
    pub(crate) fn usual(&self) -> usize {
        usual(self.last).max(LEAST_FETCHED)
    }

    /// What work depends on, but for the images.
    pub(crate) fn key(&self, images: usize) -> [u64; 2] {
        let divided = u64::from(self.is_divided(images));
        [(self.kept as u64) << 32 | self.usual() as u64, 2 * self.bins() as u64 + divided]
    }
}

/// One number for many images that follow each other.
fn usual(last: usize) -> usize {
    (last + last / 8).next_power_of_two()
}
