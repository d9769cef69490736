//! What is done so far: a line of JSON for each image.
//!
//! With `--resume` the journal is a file beside the outputs. It stays there, so that a later run
//! knows what the outputs were made from.
//!
//! | line | what it tells |
//! | --- | --- |
//! | the first | the version and the settings; a run with others does not go on |
//! | `image` | an image, the stamps of it and its files, its keypoints or its error |
//! | `table` | length and checksum of a table that was written |
//!
//! A later line about an image replaces an earlier one. A line that is not complete does not count.

use std::collections::{HashMap, HashSet};
use std::fs::{self, File, OpenOptions, TryLockError};
use std::io::{BufRead, BufReader, Seek, SeekFrom, Write};
use std::path::{Path, PathBuf};

use anyhow::{Context, Result, bail, ensure};
use serde::{Deserialize, Serialize};

use super::args::Args;
use super::image::Found;
use super::outputs::{OneOutput, part};
use super::stamp::{Content, Stamp};
use crate::options::{Choice, ConfigFile};
use crate::output;

/// What was found in one image.
#[derive(Serialize, Deserialize)]
pub(crate) struct Record {
    /// The image's path. Bytes that are not ASCII are escaped, so that no two paths are equal.
    file: String,
    /// The image's stamp from before it was read.
    #[serde(skip_serializing_if = "Option::is_none")]
    stamp: Option<Stamp>,
    /// The stamps of the image's own files.
    #[serde(skip_serializing_if = "Vec::is_empty", default)]
    outputs: Vec<Option<Stamp>>,
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
    /// Whether keypoints are recorded, for a table.
    with_keypoints: bool,
}

/// A later line.
#[derive(Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
enum Line {
    Image(Record),
    Table(Content),
}

/// Where an image's line starts, and what tells whether it still counts.
struct Done {
    start: u64,
    stamp: Option<Stamp>,
    outputs: Vec<Option<Stamp>>,
    failed: bool,
}

/// The records of a run, in a file.
pub(crate) struct Journal {
    file: File,
    /// Whether the file outlives the run.
    lasts: bool,
    with_keypoints: bool,
    /// The last record of each image.
    images: HashMap<String, Done>,
    /// All tables that were written.
    tables: Vec<Content>,
    /// The table that has all records.
    latest: Option<Content>,
    end: u64,
}

/// Returns how the journal names an image.
fn key(path: &Path) -> String {
    path.as_os_str().as_encoded_bytes().escape_ascii().to_string()
}

impl Journal {
    /// Makes a journal that ends with the run.
    pub(crate) fn temporary() -> Result<Self> {
        let file = tempfile::tempfile().context("cannot make a temporary file")?;
        Ok(Self::new(file, false, true))
    }

    fn new(file: File, lasts: bool, with_keypoints: bool) -> Self {
        Self { file, lasts, with_keypoints, images: HashMap::new(), tables: Vec::new(), latest: None, end: 0 }
    }

    /// Opens the journal at a path, or makes it.
    ///
    /// # Errors
    /// It is of other inputs or options, or no journal; another run has it. There is a table that it
    /// does not tell of.
    pub(crate) fn open(
        path: &Path,
        args: &Args,
        choice: &Choice,
        inputs: &[PathBuf],
        table: Option<&Path>,
    ) -> Result<Self> {
        let unknown = |table: &Path| {
            format!(
                "cannot resume {}: it is not known from which inputs and options it was made; \
                 remove it to start again",
                table.display()
            )
        };
        if let Some(table) = table
            && table.exists()
            && !path.exists()
        {
            bail!(unknown(table));
        }
        let header = Header::new(args, choice, table.is_some());
        let mut journal = Self::resume(path, &header, inputs, table)
            .with_context(|| format!("cannot resume from {}", path.display()))?;
        if let Some(table) = table.filter(|table| table.exists()) {
            let content = Content::of(table).with_context(|| format!("cannot read {}", table.display()))?;
            ensure!(journal.tables.contains(&content), unknown(table));
            // A run that was killed may have left the table before.
            journal.latest = journal.latest.filter(|latest| *latest == content);
        } else {
            journal.latest = None;
        }
        if journal.end == 0 {
            journal.write(&serde_json::to_vec(&header)?)?;
        }
        Ok(journal)
    }

    /// Opens the file, or makes an empty one, and reads the records that are complete.
    fn resume(path: &Path, header: &Header, inputs: &[PathBuf], table: Option<&Path>) -> Result<Self> {
        let mut journal = Self::new(lock(path)?, true, header.with_keypoints);
        let mut reader = BufReader::new(journal.file.try_clone()?);
        let mut line = Vec::new();
        let remove = match table.filter(|table| table.exists()) {
            Some(table) => format!("remove it and {} to start again", table.display()),
            None => "remove it to start again".to_owned(),
        };
        let other = || format!("it is of other inputs or options; {remove}");
        let known: HashSet<String> = inputs.iter().map(|input| key(input)).collect();
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
                ensure!(matches, other());
            } else if complete {
                let damaged = || format!("it is damaged; {remove}");
                match serde_json::from_slice(&line).with_context(damaged)? {
                    Line::Image(record) => {
                        ensure!(known.contains(&record.file), other());
                        journal.note(record, journal.end);
                    }
                    Line::Table(content) => {
                        journal.latest = Some(content.clone());
                        journal.tables.push(content);
                    }
                }
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

    fn note(&mut self, record: Record, start: u64) {
        let Record { file, stamp, outputs, error, .. } = record;
        self.latest = None;
        self.images.insert(file, Done { start, stamp, outputs, failed: error.is_some() });
    }

    /// Whether an image is done: without an error, and neither it nor its files have changed since.
    pub(crate) fn has(&self, image: &Path, outputs: &OneOutput<'_>) -> bool {
        self.images.get(&key(image)).is_some_and(|done| {
            !done.failed
                && done.stamp.is_some_and(|stamp| Stamp::of(image) == Some(stamp))
                && outputs.are(&done.outputs)
        })
    }

    /// Whether the journal outlives the run.
    pub(crate) fn lasts(&self) -> bool {
        self.lasts
    }

    /// Whether the table is there, with all records.
    pub(crate) fn has_table(&self) -> bool {
        self.latest.is_some()
    }

    /// Adds what was found in an image. `stamp` is the image's from before it was read.
    pub(crate) fn add(
        &mut self,
        image: &Path,
        stamp: Option<Stamp>,
        outputs: &OneOutput<'_>,
        found: &Result<Found>,
    ) -> Result<()> {
        let (error, keypoints) = match found {
            Ok(found) if self.with_keypoints => (None, found.keypoints.iter().map(output::row).collect()),
            Ok(_) => (None, Vec::new()),
            Err(error) => (Some(format!("{error:#}")), Vec::new()),
        };
        let outputs = if self.lasts { outputs.stamps() } else { Vec::new() };
        let line = Line::Image(Record { file: key(image), stamp, outputs, error, keypoints });
        let start = self.end;
        self.write(&serde_json::to_vec(&line)?)?;
        if let Line::Image(record) = line {
            self.note(record, start);
        }
        Ok(())
    }

    /// Adds a table, just before it appears under its name.
    pub(crate) fn add_table(&mut self, content: Content) -> Result<()> {
        if self.lasts {
            self.write(&serde_json::to_vec(&Line::Table(content))?)?;
        }
        Ok(())
    }

    /// Adds a line. It is there as a whole once its line break is.
    fn write(&mut self, line: &[u8]) -> Result<()> {
        let mut add = || {
            self.file.seek(SeekFrom::Start(self.end))?;
            self.file.write_all(&[line, b"\n"].concat())
        };
        add().context("cannot write what is done so far")?;
        self.end += line.len() as u64 + 1;
        Ok(())
    }

    /// Reads the records of some images, in their order.
    pub(crate) fn records<'a>(
        &'a self,
        images: &'a [&Path],
    ) -> impl Iterator<Item = Result<(&'a Path, Record)>> {
        let mut reader = BufReader::new(&self.file);
        images.iter().filter_map(move |image| {
            let done = self.images.get(&key(image))?;
            let mut read = || {
                let mut line = Vec::new();
                reader.seek(SeekFrom::Start(done.start))?;
                reader.read_until(b'\n', &mut line)?;
                match serde_json::from_slice(&line)? {
                    Line::Image(record) => Ok((*image, record)),
                    Line::Table(_) => bail!("what is done so far has changed meanwhile"),
                }
            };
            Some(read())
        })
    }
}

impl Header {
    fn new(args: &Args, choice: &Choice, with_keypoints: bool) -> Self {
        let mask = args.mask.as_deref().map(Stamp::of);
        Self {
            version: env!("CARGO_PKG_VERSION").to_owned(),
            config: ConfigFile::from(choice.clone()),
            settings: format!("{:?} {:?} {mask:?} {:?}", args.read, args.mask, args.shard),
            with_keypoints,
        }
    }
}

/// Removes the journal of an earlier run with `--resume`: its table has been written anew without.
///
/// A file that is no journal, or that another run has, is left alone.
pub(crate) fn remove_old(table: &Path) {
    let path = part(table);
    let is_old = || {
        fs::symlink_metadata(&path).ok().filter(fs::Metadata::is_file)?;
        let file = OpenOptions::new().read(true).write(true).open(&path).ok()?;
        file.try_lock().ok()?;
        let mut line = Vec::new();
        BufReader::new(&file).read_until(b'\n', &mut line).ok()?;
        serde_json::from_slice::<Header>(&line).ok()?;
        is_at(&file, &path).ok().filter(|is_at| *is_at).map(|_| file)
    };
    if let Some(_locked) = is_old() {
        // It would only be refused later.
        let _ = fs::remove_file(&path);
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
