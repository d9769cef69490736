//! Videos as a sequence of gray frames: Y4M, and raw samples without a header. Videos are written as
//! Y4M with all their planes.

mod error;
mod header;
mod layout;
mod planes;
mod read;
mod write;
mod y4m;

use std::io::BufRead;

use image::{DynamicImage, ImageBuffer};

pub use error::Error;
pub use header::Header;
pub use layout::MAX_SIDE;
pub use planes::{Planes, Ycbcr};
pub use write::Writer;
pub use y4m::MAGIC;

use layout::Layout;

/// The frames of a video, as their luma. The other planes can be kept, too.
///
/// Memory is taken as data arrive, never because a header claims them.
#[derive(Debug)]
pub struct Frames<R> {
    source: R,
    header: Header,
    /// Whether each frame begins with a line, as in Y4M.
    has_lines: bool,
    /// The number of the next frame, from 0.
    number: u64,
    ended: bool,
    /// Samples of two bytes, as they are stored.
    bytes: Vec<u8>,
    /// What the last frame has beside its luma, if that is kept.
    kept: Option<Planes>,
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
        let header = y4m::header(&mut source)?;
        header.layout.check(max_pixels)?;
        Ok(Self::new(source, header, true))
    }

    /// Reads raw frames: one byte a pixel, row by row, without any header.
    ///
    /// # Errors
    /// A frame has too many pixels, or none.
    pub fn raw(source: R, width: u32, height: u32, max_pixels: u64) -> Result<Self, Error> {
        let header = Header::gray(width, height);
        header.layout.check(max_pixels)?;
        Ok(Self::new(source, header, false))
    }

    fn new(source: R, header: Header, has_lines: bool) -> Self {
        Self {
            source,
            header,
            has_lines,
            number: 0,
            ended: false,
            bytes: Vec::new(),
            kept: None,
            spare8: Vec::new(),
            spare16: Vec::new(),
        }
    }

    /// Returns what the video says of all its frames.
    pub fn header(&self) -> &Header {
        &self.header
    }

    /// Keeps what frames have beside their luma, for [`Frames::take_planes`].
    #[must_use]
    pub fn keep_planes(mut self) -> Self {
        self.kept = Some(Planes::default());
        self
    }

    /// Returns what the last frame has beside its luma, once. It is empty unless
    /// [`Frames::keep_planes`] was called.
    pub fn take_planes(&mut self) -> Planes {
        self.kept.as_mut().map(std::mem::take).unwrap_or_default()
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
        let layout = self.header.layout;
        let Layout { width, height, bits, .. } = layout;
        let frame = self.number;
        let parameters = match self.has_lines {
            true => y4m::frame_line(&mut self.source, frame)?,
            false => read::has_more(&mut self.source)?.then(Vec::new),
        };
        let Some(parameters) = parameters else { return Ok(None) };
        let pixels = layout.pixels();
        if bits == 8 {
            let mut samples = self.spare8.pop().unwrap_or_default();
            read::fill(&mut self.source, &mut samples, pixels, frame)?;
            self.planes(parameters)?;
            return Ok(ImageBuffer::from_raw(width, height, samples).map(DynamicImage::ImageLuma8));
        }
        read::fill(&mut self.source, &mut self.bytes, 2 * pixels, frame)?;
        self.planes(parameters)?;
        let mut samples = self.spare16.pop().unwrap_or_default();
        read::samples(&self.bytes, bits, &mut samples, frame)?;
        Ok(ImageBuffer::from_raw(width, height, samples).map(DynamicImage::ImageLuma16))
    }

    /// Reads what comes after the luma, or passes over it. `parameters` are those of the frame's line.
    fn planes(&mut self, parameters: Vec<u8>) -> Result<(), Error> {
        let (rest, frame) = (self.header.layout.rest(), self.number);
        let Some(kept) = &mut self.kept else { return read::skip(&mut self.source, rest, frame) };
        kept.parameters = parameters;
        read::fill(&mut self.source, &mut kept.bytes, rest, frame)
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
