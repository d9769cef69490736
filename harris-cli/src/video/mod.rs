//! Videos as a sequence of gray frames: Y4M, and raw samples without a header.

mod error;
mod layout;
mod read;
mod y4m;

use std::io::BufRead;

use image::{DynamicImage, ImageBuffer};

pub use error::Error;
pub use layout::MAX_SIDE;
pub use y4m::MAGIC;

use layout::Layout;

/// The frames of a video, of which only the luma is used.
///
/// Memory is taken as data arrive, never because a header claims them.
#[derive(Debug)]
pub struct Frames<R> {
    source: R,
    layout: Layout,
    /// Whether each frame begins with a line, as in Y4M.
    has_lines: bool,
    /// The number of the next frame, from 0.
    number: u64,
    ended: bool,
    /// Samples of two bytes, as they are stored.
    bytes: Vec<u8>,
    /// Memory of frames that are done.
    spare8: Vec<Vec<u8>>,
    spare16: Vec<Vec<u16>>,
}

impl<R: BufRead> Frames<R> {
    /// Reads the header of a Y4M video.
    ///
    /// # Errors
    /// It is no such video, its header makes no sense, or a frame has too many pixels.
    pub fn y4m(mut source: R, max_pixels: u64) -> Result<Self, Error> {
        let layout = y4m::header(&mut source)?.check(max_pixels)?;
        Ok(Self::new(source, layout, true))
    }

    /// Reads raw frames: one byte a pixel, row by row, without any header.
    ///
    /// # Errors
    /// A frame has too many pixels, or none.
    pub fn raw(source: R, width: u32, height: u32, max_pixels: u64) -> Result<Self, Error> {
        let layout = Layout { width, height, bits: 8, rest: 0 }.check(max_pixels)?;
        Ok(Self::new(source, layout, false))
    }

    fn new(source: R, layout: Layout, has_lines: bool) -> Self {
        Self {
            source,
            layout,
            has_lines,
            number: 0,
            ended: false,
            bytes: Vec::new(),
            spare8: Vec::new(),
            spare16: Vec::new(),
        }
    }

    /// Returns the width and height of frames.
    pub fn size(&self) -> (u32, u32) {
        (self.layout.width, self.layout.height)
    }

    /// Takes back the memory of a frame, for a later one.
    pub fn recycle(&mut self, frame: DynamicImage) {
        match frame {
            DynamicImage::ImageLuma8(image) => self.spare8.push(image.into_raw()),
            DynamicImage::ImageLuma16(image) => self.spare16.push(image.into_raw()),
            _ => {}
        }
    }

    /// Reads one frame.
    fn frame(&mut self) -> Result<Option<DynamicImage>, Error> {
        let Layout { width, height, bits, rest } = self.layout;
        let frame = self.number;
        let is_there = match self.has_lines {
            true => y4m::frame_line(&mut self.source, frame)?,
            false => read::has_more(&mut self.source)?,
        };
        if !is_there {
            return Ok(None);
        }
        let pixels = self.layout.pixels();
        if bits == 8 {
            let mut samples = self.spare8.pop().unwrap_or_default();
            read::fill(&mut self.source, &mut samples, pixels, frame)?;
            read::skip(&mut self.source, rest, frame)?;
            return Ok(ImageBuffer::from_raw(width, height, samples).map(DynamicImage::ImageLuma8));
        }
        read::fill(&mut self.source, &mut self.bytes, 2 * pixels, frame)?;
        read::skip(&mut self.source, rest, frame)?;
        let mut samples = self.spare16.pop().unwrap_or_default();
        read::samples(&self.bytes, bits, &mut samples, frame)?;
        Ok(ImageBuffer::from_raw(width, height, samples).map(DynamicImage::ImageLuma16))
    }
}

impl<R: BufRead> Iterator for Frames<R> {
    type Item = Result<DynamicImage, Error>;

    /// Returns the next frame, of 8 or 16 bits. Samples of 9 to 15 bits are shifted to 16.
    ///
    /// After an error that is not of one frame alone there are no more.
    fn next(&mut self) -> Option<Self::Item> {
        if self.ended {
            return None;
        }
        let frame = self.frame().transpose();
        self.number += 1;
        self.ended = match &frame {
            None => true,
            Some(Err(error)) => !error.is_of_one_frame(),
            Some(Ok(_)) => false,
        };
        frame
    }
}
