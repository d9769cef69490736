//! Formats of images, told by their content.

use std::fs::File;
use std::io::Read;
use std::path::Path;

/// A format of image files.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Format {
    /// Windows bitmap.
    Bmp,
    /// JPEG, baseline or progressive.
    Jpeg,
    /// PNG.
    Png,
    /// PBM, PGM, PPM or PAM of netpbm.
    Pnm,
    /// TIFF and `BigTIFF`.
    Tiff,
    /// WebP, lossy or lossless.
    WebP,
}

impl Format {
    /// Tells a format by the first 12 bytes of a file, or `None` for others.
    #[must_use]
    pub fn of(bytes: &[u8]) -> Option<Self> {
        Some(match bytes {
            [0x89, b'P', b'N', b'G', b'\r', b'\n', 0x1a, b'\n', ..] => Self::Png,
            [0xff, 0xd8, ..] => Self::Jpeg,
            [b'B', b'M', ..] => Self::Bmp,
            [b'I', b'I', 42 | 43, 0, ..] | [b'M', b'M', 0, 42 | 43, ..] => Self::Tiff,
            [b'R', b'I', b'F', b'F', _, _, _, _, b'W', b'E', b'B', b'P', ..] => Self::WebP,
            [b'P', b'1'..=b'7', next, ..] if next.is_ascii_whitespace() || *next == b'#' => Self::Pnm,
            _ => return None,
        })
    }

    /// Tells a file's format by its first bytes; `None` if it cannot be read or is no image.
    #[must_use]
    pub fn of_file(path: &Path) -> Option<Self> {
        let mut start = Vec::with_capacity(12);
        File::open(path).ok()?.take(12).read_to_end(&mut start).ok()?;
        Self::of(&start)
    }
}
