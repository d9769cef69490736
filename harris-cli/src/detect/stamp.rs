//! What tells whether a file has changed: size and time of an image, checksum of a table.

use std::fs::{self, File};
use std::io::{self, Read, Write};
use std::path::Path;
use std::time::UNIX_EPOCH;

use serde::{Deserialize, Serialize};

/// The size of a file, and the time of its last change.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub(super) struct Stamp {
    bytes: u64,
    /// Nanoseconds since 1970.
    modified: i64,
}

impl Stamp {
    /// Returns the stamp of a regular file. Pipes, devices and standard input have none.
    pub(super) fn of(path: &Path) -> Option<Self> {
        let metadata = fs::metadata(path).ok().filter(fs::Metadata::is_file)?;
        let modified = metadata.modified().ok()?.duration_since(UNIX_EPOCH).ok()?;
        Some(Self { bytes: metadata.len(), modified: i64::try_from(modified.as_nanos()).ok()? })
    }
}

/// The length and the checksum of a table.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub(super) struct Content {
    bytes: u64,
    crc32: u32,
}

impl Content {
    /// Reads the file at a path.
    pub(super) fn of(path: &Path) -> io::Result<Self> {
        let (mut file, mut checked) = (File::open(path)?, Checked::new(io::sink()));
        let mut buffer = vec![0; 1 << 16];
        loop {
            match file.read(&mut buffer)? {
                0 => return Ok(checked.content()),
                length => checked.write_all(&buffer[..length])?,
            }
        }
    }
}

/// A writer that notes the content of what is written.
pub(super) struct Checked<W> {
    out: W,
    bytes: u64,
    hasher: crc32fast::Hasher,
}

impl<W: Write> Checked<W> {
    pub(super) fn new(out: W) -> Self {
        Self { out, bytes: 0, hasher: crc32fast::Hasher::new() }
    }

    /// Returns the content of all that was written.
    pub(super) fn content(self) -> Content {
        Content { bytes: self.bytes, crc32: self.hasher.finalize() }
    }
}

impl<W: Write> Write for Checked<W> {
    fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        let length = self.out.write(bytes)?;
        self.hasher.update(&bytes[..length]);
        self.bytes += length as u64;
        Ok(length)
    }

    fn flush(&mut self) -> io::Result<()> {
        self.out.flush()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn content_is_that_of_what_was_written() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("table.csv");
        let bytes: Vec<u8> = (0..200_000_u32).map(|i| (i % 251) as u8).collect();
        let mut out = Checked::new(File::create(&path).unwrap());
        out.write_all(&bytes).unwrap();
        assert_eq!(out.content(), Content::of(&path).unwrap());
        let other = [&bytes[1..], &[0]].concat();
        fs::write(folder.path().join("other.csv"), other).unwrap();
        assert_ne!(Content::of(&path).unwrap(), Content::of(&folder.path().join("other.csv")).unwrap());
    }

    #[test]
    fn only_files_have_a_stamp() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("a.png");
        assert_eq!(
            (Stamp::of(&path), Stamp::of(folder.path()), Stamp::of(Path::new("-"))),
            (None, None, None)
        );
        fs::write(&path, "one").unwrap();
        let stamp = Stamp::of(&path);
        assert!(stamp.is_some() && stamp == Stamp::of(&path));
        fs::write(&path, "three").unwrap();
        assert_ne!(stamp, Stamp::of(&path));
        let file = File::options().append(true).open(&path).unwrap();
        let later = fs::metadata(&path).unwrap().modified().unwrap() + std::time::Duration::from_micros(9);
        let stamp = Stamp::of(&path);
        file.set_modified(later).unwrap();
        assert_ne!(stamp, Stamp::of(&path));
    }
}
