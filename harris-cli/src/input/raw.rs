//! Raw gray frames: bytes without a header, whose size the user gives.

use std::io::{self, Read};
use std::str::FromStr;

use anyhow::{Result, bail, ensure};

use super::limits::{check_size, zeros};
use super::raster::{Raster, Samples};

/// The size of raw frames of 8-bit gray, such as `640x480`.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct FrameSize {
    /// Pixels in a row.
    pub width: u32,
    /// Rows.
    pub height: u32,
}

impl FrameSize {
    /// Returns the bytes of a frame.
    fn bytes(self) -> u64 {
        u64::from(self.width) * u64::from(self.height)
    }
}

impl FromStr for FrameSize {
    type Err = String;

    fn from_str(text: &str) -> Result<Self, String> {
        let sides = text.split_once(['x', 'X']).and_then(|(w, h)| Some((w.parse().ok()?, h.parse().ok()?)));
        match sides {
            Some((width @ 1.., height @ 1..)) => Ok(Self { width, height }),
            _ => Err("a size must be WIDTHxHEIGHT, such as 640x480".to_owned()),
        }
    }
}

/// Reads a file that is one frame.
pub(super) fn read(bytes: &[u8], size: FrameSize, max_pixels: u64) -> Result<Raster> {
    check_size(size.width.into(), size.height.into(), max_pixels)?;
    let (length, needed) = (bytes.len() as u64, size.bytes());
    ensure!(
        length == needed,
        "a raw frame of {} x {} pixels has {needed} bytes, but it has {length}",
        size.width,
        size.height
    );
    let mut samples: Vec<u8> = zeros(bytes.len())?;
    samples.copy_from_slice(bytes);
    Ok(Raster {
        width: size.width as usize,
        height: size.height as usize,
        channels: 1,
        samples: Samples::U8(samples),
    })
}

/// Reads frames one after another, such as those of a video on standard input.
pub struct Frames<R> {
    source: R,
    size: FrameSize,
    /// Frames that have been read.
    number: u64,
}

impl<R: Read> Frames<R> {
    /// Makes a reader of frames.
    ///
    /// # Errors
    /// A frame has more than `max_pixels` pixels.
    pub fn new(source: R, size: FrameSize, max_pixels: u64) -> Result<Self> {
        check_size(size.width.into(), size.height.into(), max_pixels)?;
        Ok(Self { source, size, number: 0 })
    }

    /// Returns the samples of the next frame; `None` after the last. The source must end after a
    /// whole frame.
    ///
    /// # Errors
    /// The source cannot be read or ends in the middle of a frame, or there is not enough memory.
    pub fn read(&mut self) -> Result<Option<Vec<u8>>> {
        let mut samples: Vec<u8> = zeros(usize::try_from(self.size.bytes())?)?;
        let mut filled = 0;
        while filled < samples.len() {
            match self.source.read(&mut samples[filled..]) {
                Ok(0) if filled == 0 => return Ok(None),
                Ok(0) => bail!(
                    "the video ends in the middle of frame {}: it has {filled} of {} bytes",
                    self.number,
                    samples.len()
                ),
                Ok(read) => filled += read,
                Err(error) if error.kind() == io::ErrorKind::Interrupted => {}
                Err(error) => return Err(error.into()),
            }
        }
        self.number += 1;
        Ok(Some(samples))
    }
}
