//! The table as Apache Parquet.

use std::io::{self, Seek, Write};
use std::path::Path;
use std::sync::Arc;

use anyhow::Result;
use parquet::data_type::{ByteArray, ByteArrayType, FloatType};
use parquet::file::properties::WriterProperties;
use parquet::file::writer::SerializedFileWriter;
use parquet::schema::parser::parse_message_type;

use super::journal::{Journal, Record};
use crate::input;

const SCHEMA: &str = "message keypoints {
    required binary file (STRING);
    optional float x;
    optional float y;
    optional float response;
    optional float scale;
    optional binary error (STRING);
}";

/// Rows that are written at once.
const ROWS_A_GROUP: usize = 1 << 20;

/// Rows that are not written yet, by columns.
#[derive(Default)]
struct Rows {
    files: Vec<ByteArray>,
    /// 1 for each row with a keypoint, else 0.
    places: Vec<i16>,
    /// x, y, response and scale of each keypoint.
    numbers: [Vec<f32>; 4],
    /// 1 for each row with an error, else 0.
    failed: Vec<i16>,
    errors: Vec<ByteArray>,
}

/// Writes the table. Returns the number of images that could not be read.
pub(crate) fn write(journal: &Journal, images: &[&Path], out: &mut dyn Write) -> Result<usize> {
    // The writer needs a file that it may send to another thread.
    let mut file = tempfile::tempfile()?;
    let schema = Arc::new(parse_message_type(SCHEMA)?);
    let mut writer =
        SerializedFileWriter::new(&mut file, schema, Arc::new(WriterProperties::builder().build()))?;
    let mut failed = 0;
    let mut rows = Rows::default();
    for record in journal.records(images) {
        let (image, Record { error, keypoints, .. }) = record?;
        let name = ByteArray::from(input::name_for_programs(image).as_str());
        failed += usize::from(error.is_some());
        for keypoint in &keypoints {
            rows.files.push(name.clone());
            rows.places.push(1);
            rows.failed.push(0);
            for (column, number) in rows.numbers.iter_mut().zip(keypoint.split(',')) {
                column.push(number.parse()?);
            }
        }
        if keypoints.is_empty() {
            rows.files.push(name);
            rows.places.push(0);
            rows.failed.push(i16::from(error.is_some()));
            rows.errors.extend(error.map(|error| ByteArray::from(error.as_str())));
        }
        if rows.files.len() >= ROWS_A_GROUP {
            rows.write(&mut writer)?;
        }
    }
    rows.write(&mut writer)?;
    writer.close()?;
    file.rewind()?;
    io::copy(&mut file, out)?;
    Ok(failed)
}

impl Rows {
    /// Writes the rows as a group, and forgets them.
    fn write<W: Write + Send>(&mut self, writer: &mut SerializedFileWriter<W>) -> Result<()> {
        let Self { files, places, numbers, failed, errors } = std::mem::take(self);
        if files.is_empty() {
            return Ok(());
        }
        let mut group = writer.next_row_group()?;
        if let Some(mut column) = group.next_column()? {
            column.typed::<ByteArrayType>().write_batch(&files, None, None)?;
            column.close()?;
        }
        for numbers in &numbers {
            if let Some(mut column) = group.next_column()? {
                column.typed::<FloatType>().write_batch(numbers, Some(&places), None)?;
                column.close()?;
            }
        }
        if let Some(mut column) = group.next_column()? {
            column.typed::<ByteArrayType>().write_batch(&errors, Some(&failed), None)?;
            column.close()?;
        }
        group.close()?;
        Ok(())
    }
}
