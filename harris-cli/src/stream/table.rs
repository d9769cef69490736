//! The table of the keypoints of all frames.
//!
//! Columns: `frame,x,y,response,scale,error`. Each keypoint has a row. A frame without keypoints has
//! one row with its number alone, and one that failed has its error, too.

use std::io::Write;

use anyhow::Result;
use harris_core::Keypoint;

use crate::output;

/// A table of frames that is being written. A fault of the disk is told at its end.
pub(crate) struct Rows<W: Write> {
    writer: csv::Writer<W>,
    failed: Option<csv::Error>,
}

impl<W: Write> Rows<W> {
    /// Writes the names of the columns.
    ///
    /// # Errors
    /// The error of `out`.
    pub(crate) fn new(out: W, columns: &[&str]) -> Result<Self> {
        let mut writer = csv::Writer::from_writer(out);
        writer.write_record(columns)?;
        Ok(Self { writer, failed: None })
    }

    /// Adds rows, unless an earlier one could not be written.
    pub(crate) fn add(&mut self, write: impl FnOnce(&mut csv::Writer<W>) -> csv::Result<()>) {
        if self.failed.is_none() {
            self.failed = write(&mut self.writer).err();
        }
    }

    /// Writes what is left.
    ///
    /// # Errors
    /// A row could not be written.
    pub(crate) fn finish(&mut self) -> Result<()> {
        if let Some(error) = self.failed.take() {
            return Err(error.into());
        }
        Ok(self.writer.flush()?)
    }
}

/// The table of keypoints.
pub(crate) struct Table<W: Write>(Rows<W>);

impl<W: Write> Table<W> {
    /// Writes the header.
    ///
    /// # Errors
    /// The error of `out`.
    pub(crate) fn new(out: W) -> Result<Self> {
        Ok(Self(Rows::new(out, &["frame", "x", "y", "response", "scale", "error"])?))
    }

    /// Adds the rows of a frame: its keypoints, or why there are none.
    pub(crate) fn add(&mut self, frame: usize, found: Result<&[Keypoint], &str>) {
        self.0.add(|writer| {
            let (frame, keypoints, error) = match found {
                Ok(keypoints) => (frame.to_string(), keypoints, ""),
                Err(error) => (frame.to_string(), &[][..], error),
            };
            if keypoints.is_empty() {
                writer.write_record([&frame, "", "", "", "", error])?;
            }
            for keypoint in keypoints {
                writer.write_field(&frame)?;
                for number in output::row(keypoint).split(',') {
                    writer.write_field(number)?;
                }
                writer.write_record([""])?;
            }
            Ok(())
        });
    }

    /// Writes what is left.
    ///
    /// # Errors
    /// A row could not be written.
    pub(crate) fn finish(&mut self) -> Result<()> {
        self.0.finish()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn each_keypoint_and_each_frame_without_has_a_row() {
        let mut out = Vec::new();
        let mut table = Table::new(&mut out).unwrap();
        table.add(0, Ok(&[Keypoint::new(1.5, 2.0, 0.25), Keypoint::new(3.0, 4.0, 0.125)]));
        table.add(1, Ok(&[]));
        table.add(2, Err("it is cut, or damaged"));
        table.finish().unwrap();
        drop(table);
        let text = String::from_utf8(out).unwrap();
        let rows: Vec<_> = text.lines().collect();
        assert_eq!(rows[0], "frame,x,y,response,scale,error");
        assert_eq!(rows[1..3], ["0,1.5,2,0.25,1,", "0,3,4,0.125,1,"]);
        assert_eq!(rows[3..], ["1,,,,,", "2,,,,,\"it is cut, or damaged\""]);
    }

    struct Full;

    impl Write for Full {
        fn write(&mut self, _: &[u8]) -> std::io::Result<usize> {
            Err(std::io::ErrorKind::StorageFull.into())
        }

        fn flush(&mut self) -> std::io::Result<()> {
            Ok(())
        }
    }

    #[test]
    fn a_full_disk_is_an_error_at_the_end() {
        let mut table = Table::new(Full).unwrap();
        for frame in 0..10_000 {
            table.add(frame, Ok(&[Keypoint::new(1.0, 2.0, 3.0)]));
        }
        assert!(table.finish().is_err());
    }
}
