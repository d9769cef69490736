//! Limits on what a file may claim, checked before memory is taken.
//!
//! A header's size must fit under `--max-pixels`, and the file must be long enough to hold so many
//! pixels. The least length depends on the format:
//!
//! | format | most that a byte of the file can hold |
//! | --- | --- |
//! | PNM, raw frames, BMP, TIFF without compression | its samples as they are stored |
//! | plain PNM | one sample of PBM, half a sample of others |
//! | JPEG | 8 blocks of 8 x 8 samples (a block has a code of one bit at least) |
//! | PNG, TIFF with Deflate | 1032 bytes of samples |
//! | TIFF with LZW | 2731 bytes of samples (a code of 12 bits for 4096 bytes) |
//! | TIFF with `PackBits` | 64 bytes of samples |
//! | BMP with run lengths | 128 pixels |
//! | TIFF with CCITT codes | 8 rows |
//! | WebP | no bound: a picture of one colour needs no data for its pixels |

use anyhow::{Result, bail, ensure};

/// The default of `--max-pixels`.
pub const MAX_PIXELS: u64 = 1 << 28;

/// Parses the value of `--max-pixels`.
pub(super) fn max_pixels(text: &str) -> Result<u64, String> {
    let number = text.parse().ok().filter(|number| *number > 0);
    number.ok_or_else(|| format!("a number of pixels is a whole number from 1 to {}", u64::MAX))
}

/// Checks a header's size against the largest allowed number of pixels.
pub(super) fn check_size(width: u64, height: u64, max_pixels: u64) -> Result<()> {
    ensure!(width > 0 && height > 0, "it has no pixels: {width} x {height}");
    ensure!(
        width.checked_mul(height).is_some_and(|pixels| pixels <= max_pixels),
        "it claims {width} x {height} pixels, more than the limit of {max_pixels} (--max-pixels)"
    );
    Ok(())
}

/// Checks that a file is long enough for the size that its header claims. `needed` is in the unit of
/// which a byte can hold `per_byte`.
pub(super) fn check_length(size: (u64, u64), needed: u64, length: u64, per_byte: u64) -> Result<()> {
    let (width, height) = size;
    ensure!(
        needed.div_ceil(per_byte) <= length,
        "its header claims {width} x {height} pixels, which {length} bytes cannot hold"
    );
    Ok(())
}

/// Returns `length` samples of 0.
///
/// # Errors
/// There is not enough memory.
pub(super) fn zeros<T: Clone + Default>(length: usize) -> Result<Vec<T>> {
    let mut samples = Vec::new();
    if samples.try_reserve_exact(length).is_err() {
        bail!(no_memory(length.saturating_mul(size_of::<T>()) as u64));
    }
    samples.resize(length, T::default());
    Ok(samples)
}

/// Checks that so many bytes of memory can be had at this moment. Decoders abort if they cannot
/// have theirs.
///
/// # Errors
/// There is not enough memory.
pub(super) fn probe(bytes: u64) -> Result<()> {
    let size = usize::try_from(bytes).unwrap_or(usize::MAX);
    match Vec::<u8>::new().try_reserve_exact(size) {
        Ok(()) => Ok(()),
        Err(_) => bail!(no_memory(bytes)),
    }
}

fn no_memory(bytes: u64) -> String {
    format!("there is not enough memory: {} MB", bytes.div_ceil(1_000_000))
}
