//! Checks the header of a BMP before it is decoded.

use anyhow::{Context, Result, ensure};

use super::limits::{check_length, check_size};

/// Checks that a BMP can hold as many pixels as its header claims.
///
/// # Errors
/// The header is cut, or claims more pixels than the file can hold or than are allowed.
pub(super) fn check(bytes: &[u8], max_pixels: u64) -> Result<()> {
    let four = |at: usize| -> Result<u32> {
        let bytes = bytes.get(at..).and_then(<[u8]>::first_chunk).context("the BMP is truncated")?;
        Ok(u32::from_le_bytes(*bytes))
    };
    let (offset, header) = (four(10)?, four(14)?);
    // The oldest header has sizes of 16 bits, and neither compression nor negative heights.
    let (width, height, bits, compression) = if header == 12 {
        let size = four(18)?;
        (size & 0xffff, size >> 16, four(22)? >> 16, 0)
    } else {
        (four(18)?, (four(22)? as i32).unsigned_abs(), four(26)? >> 16, four(30)?)
    };
    let size = (width.into(), height.into());
    ensure!(width <= i32::MAX as u32, "the BMP is damaged: its width is negative");
    check_size(size.0, size.1, max_pixels)?;
    let length = bytes.len() as u64;
    match compression {
        1 | 2 => check_length(size, size.0 * size.1, length, 128),
        _ => {
            let row = (size.0 * u64::from(bits)).div_ceil(32) * 4;
            // Some writers leave out what fills the last row.
            let last = (size.0 * u64::from(bits)).div_ceil(8);
            let needed = row * (size.1 - 1) + last;
            check_length(size, needed, length.saturating_sub(offset.into()), 1)
        }
    }
}
