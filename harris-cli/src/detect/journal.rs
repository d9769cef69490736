//! What is done so far of a table: a line of JSON for each image.
//!
//! With `--resume` the journal is a file beside the table, which an interruption leaves there. Its
//! first line tells the settings and the inputs. A line that is not complete does not count.

use std::collections::BTreeMap;
use std::fs::{self, File, OpenOptions, TryLockError};
use std::io::{BufRead, BufReader, Seek, SeekFrom, Write};
use std::path::{Path, PathBuf};

use anyhow::{Context, Result, bail, ensure};
use serde::{Deserialize, Serialize};

use super::args::Args;
use super::image::Found;
use super::outputs::part;
use crate::options::{Choice, ConfigFile};
use crate::output::{self, Target};

/// What was found in one image.
#[derive(Serialize, Deserialize)]
pub(crate) struct Record {
    /// The image's place in the list of inputs.
    image: usize,
    /// Why there are no keypoints, if the image could not be read.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(crate) error: Option<String>,
    /// Each keypoint as `x,y,response,scale`.
    #[serde(skip_serializing_if = "Vec::is_empty", default)]
    pub(crate) keypoints: Vec<String>,
}

/// The first line: records of a run with another one do not fit.
#[derive(PartialEq, Serialize, Deserialize)]
struct Header {
    version: String,
    config: ConfigFile,
    settings: String,
    images: usize,
    /// A checksum of the inputs' names.
    names: u32,
}

/// The records of a run, in a file.
pub(crate) struct Journal {
    file: File,
    /// The file's path, if it outlives an interruption.
    path: Option<PathBuf>,
    /// Where each image's line starts.
    lines: BTreeMap<usize, u64>,
    end: u64,
}

impl Record {
    pub(crate) fn new(image: usize, found: &Result<Found>) -> Self {
        match found {
            Ok(found) => {
                Self { image, error: None, keypoints: found.keypoints.iter().map(output::row).collect() }
            }
            Err(error) => Self { image, error: Some(format!("{error:#}")), keypoints: Vec::new() },
        }
    }
}

impl Journal {
    /// Opens the journal of a table; `None` if the table is complete already.
    pub(crate) fn open(
        args: &Args,
        choice: &Choice,
        inputs: &[PathBuf],
        target: &Target,
    ) -> Result<Option<Self>> {
        let (true, Some(table)) = (args.resume, target.path()) else {
            let file = tempfile::tempfile().context("cannot make a temporary file")?;
            return Ok(Some(Self { file, path: None, lines: BTreeMap::new(), end: 0 }));
        };
        let path = part(table);
        if table.exists() && !path.exists() {
            return Ok(None);
        }
        let header = Header::new(args, choice, inputs);
        let mut journal =
            Self::resume(&path, &header).with_context(|| format!("cannot resume from {}", path.display()))?;
        if journal.end == 0 && table.exists() {
            // Another run has completed the table since.
            journal.remove()?;
            return Ok(None);
        }
        if journal.end == 0 {
            journal.write(&serde_json::to_vec(&header)?).context("cannot write what is done so far")?;
        }
        Ok(Some(journal))
    }

    /// Opens the file, or makes an empty one, and reads the records that are complete.
    fn resume(path: &Path, header: &Header) -> Result<Self> {
        let file = lock(path)?;
        let mut journal = Self { file, path: Some(path.to_owned()), lines: BTreeMap::new(), end: 0 };
        let mut reader = BufReader::new(&journal.file);
        let mut line = Vec::new();
        let other = "it is of other inputs or options; remove it to start again";
        loop {
            line.clear();
            let length = reader.read_until(b'\n', &mut line)?;
            let complete = line.last() == Some(&b'\n');
            if journal.end == 0 {
                // A file that is not a journal must not be cut off.
                let matches = match complete {
                    true => serde_json::from_slice::<Header>(&line).is_ok_and(|there| there == *header),
                    false => serde_json::to_vec(header)?.starts_with(&line),
                };
                ensure!(matches, other);
            } else if complete {
                let record: Record =
                    serde_json::from_slice(&line).context("it is damaged; remove it to start again")?;
                ensure!(record.image < header.images, other);
                journal.lines.insert(record.image, journal.end);
            }
            // The end, or a line that an interruption cut off.
            if !complete {
                break;
            }
            journal.end += length as u64;
        }
        journal.file.set_len(journal.end)?;
        Ok(journal)
    }

    /// Whether an image is done.
    pub(crate) fn has(&self, image: usize) -> bool {
        self.lines.contains_key(&image)
    }

    /// Adds the record of an image. It replaces an earlier one.
    pub(crate) fn add(&mut self, record: &Record) -> Result<()> {
        let start = self.end;
        self.write(&serde_json::to_vec(record)?).context("cannot write what is done so far")?;
        self.lines.insert(record.image, start);
        Ok(())
    }

    /// Adds a line. It is there as a whole once its line break is.
    fn write(&mut self, line: &[u8]) -> Result<()> {
        self.file.seek(SeekFrom::Start(self.end))?;
        self.file.write_all(&[line, b"\n"].concat())?;
        self.end += line.len() as u64 + 1;
        Ok(())
    }

    /// Reads the records in the order of the images, with each image's place.
    pub(crate) fn records(&self) -> impl Iterator<Item = Result<(usize, Record)>> {
        let mut reader = BufReader::new(&self.file);
        self.lines.iter().map(move |(&image, &start)| {
            let mut line = Vec::new();
            reader.seek(SeekFrom::Start(start))?;
            reader.read_until(b'\n', &mut line)?;
            Ok((image, serde_json::from_slice(&line)?))
        })
    }

    /// Removes the file: the table is complete.
    pub(crate) fn remove(self) -> Result<()> {
        let Some(path) = &self.path else { return Ok(()) };
        fs::remove_file(path).with_context(|| format!("cannot remove {}", path.display()))
    }
}

impl Header {
    fn new(args: &Args, choice: &Choice, inputs: &[PathBuf]) -> Self {
        let mut names = crc32fast::Hasher::new();
        for input in inputs {
            names.update(input.as_os_str().as_encoded_bytes());
            names.update(&[0]);
        }
        Self {
            version: env!("CARGO_PKG_VERSION").to_owned(),
            config: ConfigFile::from(choice.clone()),
            settings: format!("{:?} {:?} {:?}", args.read, args.mask, args.shard),
            images: inputs.len(),
            names: names.finalize(),
        }
    }
}

/// Opens or makes a journal that no other run writes.
fn lock(path: &Path) -> Result<File> {
    loop {
        let file = OpenOptions::new().read(true).write(true).create(true).truncate(false).open(path)?;
        ensure!(file.metadata()?.is_file(), "it is no file");
        match file.try_lock() {
            Ok(()) => {}
            Err(TryLockError::WouldBlock) => bail!("another run writes it"),
            Err(TryLockError::Error(error)) => return Err(error.into()),
        }
        // Another run may have ended, and removed the file, before the lock was free.
        if is_at(&file, path)? {
            return Ok(file);
        }
    }
}

/// Whether an open file is the one at a path.
#[cfg(unix)]
fn is_at(file: &File, path: &Path) -> Result<bool> {
    use std::os::unix::fs::MetadataExt;
    let file = file.metadata()?;
    Ok(fs::metadata(path).is_ok_and(|there| (there.dev(), there.ino()) == (file.dev(), file.ino())))
}

/// Whether an open file is the one at a path. Here a file that is open cannot be removed.
#[cfg(not(unix))]
fn is_at(_: &File, path: &Path) -> Result<bool> {
    Ok(path.exists())
}
