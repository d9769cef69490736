//! Checks the chunks of a PNG before it is decoded.

use anyhow::{Result, bail, ensure};

use super::limits::{check_length, check_size};

/// What the chunks tell.
pub(super) struct Checked<'a> {
    /// Exif data.
    pub(super) exif: Option<&'a [u8]>,
}

/// Checks that all chunks are there, that the picture's are undamaged, and that the file can hold so
/// many pixels.
///
/// # Errors
/// The file is damaged or truncated, or claims more pixels than it can hold or than are allowed.
pub(super) fn check(bytes: &[u8], max_pixels: u64) -> Result<Checked<'_>> {
    let mut rest = &bytes[8..];
    let (mut first, mut exif, mut data) = (true, None, false);
    loop {
        let Some((head, after)) = rest.split_first_chunk::<8>() else { bail!("the PNG is truncated") };
        let [l0, l1, l2, l3, name @ ..] = *head;
        let length = u32::from_be_bytes([l0, l1, l2, l3]) as usize;
        let Some((payload, after)) = after.split_at_checked(length) else { bail!("the PNG is truncated") };
        let Some((sum, after)) = after.split_first_chunk::<4>() else { bail!("the PNG is truncated") };
        // The first letter is a capital in chunks that a reader must understand.
        let critical = name[0].is_ascii_uppercase();
        if critical {
            let name = String::from_utf8_lossy(&name).into_owned();
            let expected = u32::from_be_bytes(*sum);
            ensure!(
                crc32fast::hash(&rest[4..8 + length]) == expected,
                "the PNG is damaged: the checksum of its chunk {name:?} is wrong"
            );
        }
        if first {
            ensure!(&name == b"IHDR", "the PNG is damaged: it does not begin with its header");
            header(payload, bytes.len(), max_pixels)?;
            first = false;
        }
        match &name {
            b"IDAT" => data = true,
            b"eXIf" => exif = exif.or(Some(payload)),
            b"IEND" if !data => bail!("the PNG has no picture data"),
            b"IEND" => return Ok(Checked { exif }),
            _ => {}
        }
        rest = after;
    }
}

fn header(payload: &[u8], length: usize, max_pixels: u64) -> Result<()> {
    let &[w0, w1, w2, w3, h0, h1, h2, h3, depth, kind, ..] = payload else {
        bail!("the PNG is damaged: its header is cut");
    };
    let size = (u32::from_be_bytes([w0, w1, w2, w3]).into(), u32::from_be_bytes([h0, h1, h2, h3]).into());
    check_size(size.0, size.1, max_pixels)?;
    let channels = match kind {
        2 => 3,
        4 => 2,
        6 => 4,
        _ => 1,
    };
    let bits = size.0 * size.1 * channels * u64::from(depth);
    check_length(size, bits.div_ceil(8), length as u64, 1032)
}
