//! Raw gray frames: bytes without a header, whose size the user gives.

use std::str::FromStr;

use anyhow::{Result, ensure};

use super::files::Limit;
use super::limits::{check_size, zeros};
use super::raster::{Raster, Samples};

/// The largest side of an image: the library's limit.
const MAX_SIDE: u32 = harris_core::MAX_SIDE as u32;

/// The size of raw frames of 8-bit gray, such as `640x480`.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct FrameSize {
    /// Pixels in a row.
    pub width: u32,
    /// Rows.
    pub height: u32,
}

impl FrameSize {
    /// Returns the limit of a file: what is longer is no frame.
    ///
    /// # Errors
    /// A frame has more pixels than are allowed.
    pub(super) fn limit(self, max_pixels: u64) -> Result<Limit> {
        check_size(self.width.into(), self.height.into(), max_pixels)?;
        let (Self { width, height }, bytes) = (self, self.bytes());
        Ok(Limit { bytes, of: format!("the {bytes} bytes of a raw frame of {width} x {height} pixels") })
    }

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
            Some((width @ 1..=MAX_SIDE, height @ 1..=MAX_SIDE)) => Ok(Self { width, height }),
            _ => Err("a size must be WIDTHxHEIGHT, such as 640x480, with sides up to 16777216".to_owned()),
        }
    }
}

/// Reads a file that is one frame.
pub(super) fn read(bytes: &[u8], size: FrameSize) -> Result<Raster> {
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
