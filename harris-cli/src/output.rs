//! Writing result files: each appears complete or not at all.

use std::fs;
use std::io::{self, BufWriter, Write};
use std::path::Path;

use anyhow::{Context, Result};
use harris_core::Keypoint;
use image::{ImageEncoder, RgbImage};
use ndarray::Array2;
use ndarray_npy::WriteNpyExt;

/// Writes keypoints as CSV: the header `x,y,response,scale`, then one line for each, in order.
///
/// # Errors
/// The error of `out`.
pub fn csv(keypoints: &[Keypoint], out: &mut dyn Write) -> io::Result<()> {
    writeln!(out, "x,y,response,scale")?;
    for k in keypoints {
        writeln!(out, "{},{},{},{}", shortest(k.x), shortest(k.y), shortest(k.response), shortest(k.scale))?;
    }
    Ok(())
}

/// Writes an RGB image as PNG.
///
/// # Errors
/// The error of `out`.
pub fn png(image: &RgbImage, out: &mut dyn Write) -> Result<()> {
    let encoder = image::codecs::png::PngEncoder::new(out);
    Ok(encoder.write_image(image, image.width(), image.height(), image::ExtendedColorType::Rgb8)?)
}

/// Writes a response map as an f32 .npy file of shape (height, width).
///
/// # Errors
/// The error of `out`.
pub fn npy(response: &Array2<f32>, out: &mut dyn Write) -> Result<()> {
    Ok(response.write_npy(out)?)
}

/// Prints to standard output. It is no error if the reader, such as `head`, has closed it.
///
/// # Errors
/// The system's error.
pub fn print(text: &[u8]) -> Result<()> {
    let mut out = io::stdout().lock();
    match out.write_all(text).and_then(|()| out.flush()) {
        Err(error) if error.kind() != io::ErrorKind::BrokenPipe => {
            Err(error).context("cannot write to standard output")
        }
        _ => Ok(()),
    }
}

/// Writes a file with `content`: under a temporary name first, which is then moved to `path`. So
/// `path` never holds an incomplete file. A pipe or a terminal is written to directly.
///
/// # Errors
/// The system's error, with the path.
pub fn whole(path: &Path, content: impl FnOnce(&mut dyn Write) -> Result<()>) -> Result<()> {
    write_whole(path, content).with_context(|| format!("cannot write {}", path.display()))
}

fn write_whole(path: &Path, content: impl FnOnce(&mut dyn Write) -> Result<()>) -> Result<()> {
    if fs::metadata(path).is_ok_and(|there| !there.is_file() && !there.is_dir()) {
        let mut out = BufWriter::new(fs::OpenOptions::new().write(true).open(path)?);
        content(&mut out)?;
        return Ok(out.flush()?);
    }
    let folder = path.parent().filter(|folder| !folder.as_os_str().is_empty()).unwrap_or(Path::new("."));
    let mut builder = tempfile::Builder::new();
    builder.prefix(".harris-");
    #[cfg(unix)]
    {
        // The permissions of any new file: the umask applies.
        use std::os::unix::fs::PermissionsExt;
        builder.permissions(fs::Permissions::from_mode(0o666));
    }
    let file = builder.tempfile_in(folder)?;
    let mut out = BufWriter::new(file);
    content(&mut out)?;
    let file = out.into_inner().map_err(io::IntoInnerError::into_error)?;
    file.persist(path).map_err(|error| error.error)?;
    Ok(())
}

/// Returns the shortest text that parses to the same bits.
fn shortest(value: f32) -> String {
    let (plain, scientific) = (value.to_string(), format!("{value:e}"));
    if scientific.len() < plain.len() { scientific } else { plain }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn floats_are_short_and_parse_to_the_same_bits() {
        assert_eq!([3.0, 0.1, 1.5e-5, -0.25, 1e-40].map(shortest), ["3", "0.1", "1.5e-5", "-0.25", "1e-40"]);
        for bits in (0..0x7f80_0000_u32).step_by(65_537) {
            assert_eq!(shortest(f32::from_bits(bits)).parse::<f32>().map(f32::to_bits), Ok(bits));
        }
    }

    #[test]
    fn a_failed_write_keeps_the_old_file() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("corners.csv");
        whole(&path, |out| Ok(out.write_all(b"old")?)).unwrap();
        let error = whole(&path, |out| {
            out.write_all(b"half")?;
            anyhow::bail!("the disk is full")
        });
        assert!(format!("{:#}", error.unwrap_err()).ends_with("corners.csv: the disk is full"));
        assert_eq!(fs::read(&path).unwrap(), b"old");
        assert_eq!(folder.path().read_dir().unwrap().count(), 1);
        assert!(whole(&folder.path().join("no/such/folder.csv"), |_| Ok(())).is_err());
    }
}
