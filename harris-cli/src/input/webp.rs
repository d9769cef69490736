//! Checks the chunks of a WebP before it is decoded.

use anyhow::{Result, bail, ensure};

use super::limits::check_size;

/// What the chunks tell.
pub(super) struct Checked<'a> {
    /// Exif data.
    pub(super) exif: Option<&'a [u8]>,
}

/// Checks that all chunks are there and that each size in them is allowed.
///
/// # Errors
/// The file is truncated, its sizes differ, or it claims more pixels than are allowed.
pub(super) fn check(bytes: &[u8], max_pixels: u64) -> Result<Checked<'_>> {
    let Some((head, rest)) = bytes.split_first_chunk::<12>() else { bail!("the WebP is truncated") };
    let [_, _, _, _, l0, l1, l2, l3, ..] = *head;
    let length = u32::from_le_bytes([l0, l1, l2, l3]) as usize;
    let Some(body) = length.checked_sub(4).and_then(|length| rest.get(..length)) else {
        bail!("the WebP is truncated: it has {} of {} bytes", bytes.len(), u64::from(length as u32) + 8);
    };
    let mut checked = Checked { exif: None };
    let (mut canvas, mut pictures) = (None, 0_usize);
    chunks(body, |name, payload| {
        match name {
            b"VP8X" => {
                let &[_, _, _, _, ref size @ ..] = payload else { bail!("the WebP is damaged") };
                let size = three_by_two(size)?;
                check_size(size.0, size.1, max_pixels)?;
                canvas = Some(size);
            }
            b"EXIF" => {
                let payload = payload.strip_prefix(b"Exif\0\0").unwrap_or(payload);
                checked.exif = checked.exif.or(Some(payload));
            }
            b"ANMF" => {
                let Some((frame, inner)) = payload.split_at_checked(16) else { bail!("the WebP is damaged") };
                let size = three_by_two(&frame[6..])?;
                check_size(size.0, size.1, max_pixels)?;
                chunks(inner, |name, payload| {
                    pictures += usize::from(picture(name, payload, Some(size))?);
                    Ok(())
                })?;
            }
            _ => {
                let size = picture_size(name, payload)?;
                if let Some(size) = size {
                    check_size(size.0, size.1, max_pixels)?;
                }
                pictures += usize::from(picture(name, payload, canvas)?);
            }
        }
        Ok(())
    })?;
    ensure!(pictures > 0, "the WebP has no picture");
    Ok(checked)
}

/// Calls a function for each chunk.
fn chunks<'a>(mut rest: &'a [u8], mut see: impl FnMut(&[u8; 4], &'a [u8]) -> Result<()>) -> Result<()> {
    while !rest.is_empty() {
        let Some((head, after)) = rest.split_first_chunk::<8>() else { bail!("the WebP is truncated") };
        let [name @ .., l0, l1, l2, l3] = *head;
        let length = u32::from_le_bytes([l0, l1, l2, l3]) as usize;
        let Some((payload, after)) = after.split_at_checked(length) else { bail!("the WebP is truncated") };
        see(&name, payload)?;
        // Chunks have even lengths. The last byte may be missing.
        rest = after.get(length % 2..).unwrap_or_default();
    }
    Ok(())
}

/// Returns whether a chunk is a picture. Its size must be `expected`, if that is known.
fn picture(name: &[u8; 4], payload: &[u8], expected: Option<(u64, u64)>) -> Result<bool> {
    let size = picture_size(name, payload)?;
    if let (Some(size), Some(expected)) = (size, expected) {
        ensure!(size == expected, "the WebP is damaged: its sizes differ");
    }
    Ok(size.is_some())
}

/// Returns the size in the header of a lossy or lossless picture; `None` for other chunks.
fn picture_size(name: &[u8; 4], payload: &[u8]) -> Result<Option<(u64, u64)>> {
    match (name, payload) {
        (b"VP8 ", &[tag, _, _, 0x9d, 0x01, 0x2a, w0, w1, h0, h1, ..]) => {
            ensure!(tag & 1 == 0, "the WebP is damaged: it begins without a key frame");
            let side = |low, high| u64::from(u16::from_le_bytes([low, high]) & 0x3fff);
            Ok(Some((side(w0, w1), side(h0, h1))))
        }
        (b"VP8L", &[0x2f, b0, b1, b2, b3, ..]) => {
            let bits = u64::from(u32::from_le_bytes([b0, b1, b2, b3]));
            Ok(Some(((bits & 0x3fff) + 1, (bits >> 14 & 0x3fff) + 1)))
        }
        (b"VP8 " | b"VP8L", _) => bail!("the WebP is damaged: a picture has no header"),
        _ => Ok(None),
    }
}

/// Reads two numbers of 24 bits, each one less than a side.
fn three_by_two(bytes: &[u8]) -> Result<(u64, u64)> {
    let &[w0, w1, w2, h0, h1, h2, ..] = bytes else { bail!("the WebP is damaged") };
    let side = |bytes: [u8; 3]| u64::from(u32::from_le_bytes([bytes[0], bytes[1], bytes[2], 0])) + 1;
    Ok((side([w0, w1, w2]), side([h0, h1, h2])))
}
