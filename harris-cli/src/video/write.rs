//! Writing videos as Y4M.

use std::io::{self, Write};

use image::DynamicImage;

use super::header::Header;
use super::planes::Planes;
use super::y4m::{FRAME, MAGIC};

/// Writes a video as Y4M.
#[derive(Debug)]
pub struct Writer<W> {
    out: W,
    header: Header,
    /// Samples of two bytes, as they are stored.
    bytes: Vec<u8>,
}

impl<W: Write> Writer<W> {
    /// Writes the header.
    ///
    /// # Errors
    /// The error of `out`.
    pub fn new(mut out: W, header: Header) -> io::Result<Self> {
        out.write_all(MAGIC)?;
        out.write_all(&header.parameters)?;
        out.write_all(b"\n")?;
        Ok(Self { out, header, bytes: Vec::new() })
    }

    /// Returns what the video says of all its frames.
    pub fn header(&self) -> &Header {
        &self.header
    }

    /// Checks that a frame has the size and the planes of the video.
    ///
    /// # Errors
    /// It has others.
    pub fn check(&self, luma: &DynamicImage, planes: &Planes) -> io::Result<()> {
        let layout = self.header.layout;
        let is_deep = match luma {
            DynamicImage::ImageLuma8(_) => Some(false),
            DynamicImage::ImageLuma16(_) => Some(true),
            _ => None,
        };
        let (width, height) = (luma.width(), luma.height());
        let fault = if (width, height) != self.header.size() {
            let (columns, rows) = self.header.size();
            format!("a frame of {width} x {height} is not one of a video of {columns} x {rows}")
        } else if is_deep != Some(layout.bits > 8) || planes.bytes.len() as u64 != layout.rest() {
            "a frame has other planes than the video".to_owned()
        } else {
            return Ok(());
        };
        Err(io::Error::new(io::ErrorKind::InvalidInput, fault))
    }

    /// Writes a frame.
    ///
    /// # Errors
    /// See [`Writer::check`]; the error of `out`.
    pub fn write(&mut self, luma: &DynamicImage, planes: &Planes) -> io::Result<()> {
        self.check(luma, planes)?;
        self.out.write_all(FRAME)?;
        self.out.write_all(&planes.parameters)?;
        self.out.write_all(b"\n")?;
        match luma {
            DynamicImage::ImageLuma16(luma) => {
                let shift = 16 - self.header.layout.bits;
                self.bytes.clear();
                self.bytes.extend(luma.iter().flat_map(|sample| (sample >> shift).to_le_bytes()));
                self.out.write_all(&self.bytes)?;
            }
            luma => self.out.write_all(luma.as_bytes())?,
        }
        self.out.write_all(&planes.bytes)
    }

    /// Returns the place that was written to.
    pub fn into_inner(self) -> W {
        self.out
    }

    /// Writes what is left.
    ///
    /// # Errors
    /// The error of `out`.
    pub fn finish(&mut self) -> io::Result<()> {
        self.out.flush()
    }
}
