//! The table of the keypoints of all images.
//!
//! Columns: `file,x,y,response,scale,error`. Each keypoint has a row. An image without keypoints
//! has one row with its name alone, and one that could not be read has its error, too.

use std::io::Write;
use std::path::Path;

use anyhow::{Result, bail};

use super::journal::{Journal, Record};
use crate::output::Format;

/// Writes the table of some images. Returns the number of those that could not be read.
pub(crate) fn write(
    journal: &Journal,
    images: &[&Path],
    format: Format,
    out: &mut dyn Write,
) -> Result<usize> {
    match format {
        Format::Csv => write_csv(journal, images, out),
        #[cfg(feature = "parquet")]
        Format::Parquet => super::parquet::write(journal, images, out),
        #[cfg(not(feature = "parquet"))]
        Format::Parquet => bail!("this program cannot write Parquet"),
        Format::Png | Format::Jpeg | Format::Npy | Format::Tiff | Format::Y4m => {
            bail!("a table cannot be written as {format:?}")
        }
    }
}

fn write_csv(journal: &Journal, images: &[&Path], out: &mut dyn Write) -> Result<usize> {
    let mut failed = 0;
    let mut table = csv::Writer::from_writer(out);
    table.write_record(["file", "x", "y", "response", "scale", "error"])?;
    for record in journal.records(images) {
        let (image, Record { error, keypoints, .. }) = record?;
        // Names are written byte for byte.
        let file = image.as_os_str().as_encoded_bytes();
        failed += usize::from(error.is_some());
        if keypoints.is_empty() {
            let error = error.unwrap_or_default();
            table.write_record([file, b"", b"", b"", b"", error.as_bytes()])?;
        }
        for keypoint in keypoints {
            table.write_field(file)?;
            for number in keypoint.split(',') {
                table.write_field(number)?;
            }
            table.write_field(b"")?;
            table.write_record(None::<&[u8]>)?;
        }
    }
    table.flush()?;
    Ok(failed)
}
