//! Names and bytes of input files.

use std::fs::{self, File};
use std::io::{self, Read};
use std::path::{Path, PathBuf};
use std::sync::OnceLock;

use anyhow::{Context, Result, anyhow, bail, ensure};

use crate::messages::wrong;

/// Endings of the image files that are looked for in folders, in lower case.
pub const ENDINGS: [&str; 15] = [
    "png", "jpg", "jpeg", "jpe", "jfif", "bmp", "dib", "tif", "tiff", "webp", "pbm", "pgm", "ppm", "pnm",
    "pam",
];

/// Returns whether a name ends as those of image files do, in upper or lower case.
#[must_use]
pub fn has_image_ending(path: &Path) -> bool {
    let ending = path.extension().and_then(|ending| ending.to_str());
    ending.is_some_and(|ending| ENDINGS.iter().any(|other| other.eq_ignore_ascii_case(ending)))
}

/// Returns whether a path stands for standard input.
#[must_use]
pub fn is_stdin(path: &Path) -> bool {
    path.as_os_str() == "-"
}

/// Returns how messages name an input. Control characters are escaped: a line stays a line.
#[must_use]
pub fn name(path: &Path) -> String {
    let name = name_for_programs(path);
    if !name.contains(char::is_control) {
        return name;
    }
    let escaped = |c: char| if c.is_control() { c.escape_default().to_string() } else { c.to_string() };
    name.chars().map(escaped).collect()
}

/// Returns how JSON and tables name an input. Bytes that are not UTF-8 are escaped, as in `\xff`.
#[must_use]
pub fn name_for_programs(path: &Path) -> String {
    if is_stdin(path) {
        return "standard input".to_owned();
    }
    let mut name = String::new();
    for chunk in path.as_os_str().as_encoded_bytes().utf8_chunks() {
        name += chunk.valid();
        chunk.invalid().iter().for_each(|byte| name += &format!("\\x{byte:02x}"));
    }
    name
}

/// Lists the files to read: each input that is a file or `-`, and the image files, by name, of each
/// that is a folder. Folders in it are not searched.
///
/// # Errors
/// A folder cannot be listed, or has no image.
pub fn expand(inputs: &[PathBuf]) -> Result<Vec<PathBuf>> {
    if inputs.iter().filter(|input| is_stdin(input)).count() > 1 {
        bail!(wrong("standard input is named twice"));
    }
    let mut files = Vec::new();
    for input in inputs {
        if is_stdin(input) || !input.is_dir() {
            files.push(input.clone());
            continue;
        }
        let entries = fs::read_dir(input).with_context(|| format!("cannot list {}", input.display()))?;
        let mut found = Vec::new();
        for entry in entries {
            let path = entry.with_context(|| format!("cannot list {}", input.display()))?.path();
            if has_image_ending(&path) && path.is_file() {
                found.push(path);
            }
        }
        ensure!(
            !found.is_empty(),
            "{} has no image file: none ends in {}",
            input.display(),
            ENDINGS.map(|ending| format!(".{ending}")).join(", ")
        );
        found.sort();
        files.append(&mut found);
    }
    Ok(files)
}

/// The bytes of a file, or those of standard input, which are kept for further calls.
pub(super) enum Bytes {
    Owned(Vec<u8>),
    Stdin(&'static [u8]),
}

impl AsRef<[u8]> for Bytes {
    fn as_ref(&self) -> &[u8] {
        match self {
            Self::Owned(bytes) => bytes,
            Self::Stdin(bytes) => bytes,
        }
    }
}

/// Bytes at the start of a file that tell its format.
const START: usize = 12;

/// The most bytes of a file.
pub(super) struct Limit {
    pub(super) bytes: u64,
    /// What needs so many, for messages.
    pub(super) of: String,
}

/// Reads a file, or for `-` standard input, up to a limit. `accept` sees the first 12
/// before the rest is read.
///
/// # Errors
/// The file cannot be read, is empty, is longer, or does not fit in memory; `accept` refuses it.
pub(super) fn read(path: &Path, most: &Limit, accept: impl Fn(&[u8]) -> Result<()>) -> Result<Bytes> {
    static STDIN: OnceLock<Result<Vec<u8>, String>> = OnceLock::new();
    let bytes = if is_stdin(path) {
        let read = || {
            let bytes = read_all(&mut io::stdin().lock(), 0, most, accept);
            bytes.map_err(|error| format!("{error:#}"))
        };
        match STDIN.get_or_init(read) {
            Ok(bytes) => Bytes::Stdin(bytes),
            Err(error) => return Err(anyhow!("{error}")),
        }
    } else {
        let mut file = File::open(path)?;
        let metadata = file.metadata()?;
        ensure!(!metadata.is_dir(), "it is a folder");
        Bytes::Owned(read_all(&mut file, metadata.len(), most, accept)?)
    };
    Ok(bytes)
}

/// Reads to the end. `expected` is the likely length.
fn read_all(
    source: &mut impl Read,
    expected: u64,
    limit: &Limit,
    accept: impl Fn(&[u8]) -> Result<()>,
) -> Result<Vec<u8>> {
    let mut bytes = Vec::with_capacity(START);
    source.by_ref().take(START as u64).read_to_end(&mut bytes)?;
    ensure!(!bytes.is_empty(), "it is empty");
    accept(&bytes)?;
    let Limit { bytes: most, of } = limit;
    ensure!(expected <= *most, "it has {expected} bytes, more than {of}");
    let mut wanted = usize::try_from(expected)?.saturating_add(1);
    let most = usize::try_from(*most).unwrap_or(usize::MAX);
    loop {
        if bytes.try_reserve(wanted).is_err() {
            bail!("there is not enough memory for the file");
        }
        // Only into what is reserved, so that reading takes no memory by itself.
        let room = bytes.capacity() - bytes.len();
        if source.by_ref().take(room as u64).read_to_end(&mut bytes)? < room {
            return Ok(bytes);
        }
        ensure!(bytes.len() <= most, "it has more bytes than {of}");
        wanted = bytes.len().max(1 << 16);
    }
}
