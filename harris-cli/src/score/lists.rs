//! Lists of places in CSV: known corners, and keypoints. A list is of one image or of several.

use std::borrow::Cow;
use std::collections::HashMap;
use std::ffi::OsString;
use std::fs::File;
use std::io::Read;
use std::path::{Path, PathBuf};

use anyhow::{Context, Result, anyhow, bail, ensure};
use csv::ByteRecord;

use super::images::{Images, Place};
use crate::messages::WrongArguments;
use crate::{input, output};

/// The greatest length of a file, in bytes.
const MAX_BYTES: u64 = 64 << 20;

/// The lists of all images: in one file, or in a folder with one file for each.
pub(super) enum Lists {
    File(PathBuf, Table),
    Folder(PathBuf),
}

/// The content of a file.
#[derive(Debug)]
pub(super) enum Table {
    /// Without a column `file`: the places of one image.
    OneImage(Vec<Place>),
    /// With a column `file`: the places of several images.
    Images(Images),
}

impl Lists {
    /// Reads a file, or takes a folder, for some images.
    ///
    /// # Errors
    /// The file cannot be read or is not valid. Images have one name in common, or are several and
    /// the file has no column for their names.
    pub(super) fn open(path: &Path, images: &[PathBuf]) -> Result<Self> {
        if path.is_dir() {
            distinct(images, stem)?;
            return Ok(Self::Folder(path.to_owned()));
        }
        let table = read(path)?;
        match &table {
            Table::OneImage(_) => ensure!(
                images.len() == 1,
                "{}: there is no column `file`, which several images need",
                path.display()
            ),
            Table::Images(table) => check_images(table, path, images)?,
        }
        Ok(Self::File(path.to_owned(), table))
    }

    /// Returns the files that are read for some images.
    pub(super) fn files(&self, images: &[PathBuf]) -> Vec<PathBuf> {
        match self {
            Self::File(path, _) => vec![path.clone()],
            Self::Folder(folder) => images.iter().map(|image| in_folder(folder, image)).collect(),
        }
    }

    /// Returns the places of one image.
    ///
    /// # Errors
    /// The image's file cannot be read or is not valid; a file of several images does not have this
    /// one, or has an error for it.
    pub(super) fn of(&self, image: &Path) -> Result<Cow<'_, [Place]>> {
        match self {
            Self::File(path, table) => {
                table.of(image).map(Cow::Borrowed).with_context(|| path.display().to_string())
            }
            Self::Folder(folder) => {
                let path = in_folder(folder, image);
                let table = read(&path)?;
                let places = table.of(image).with_context(|| path.display().to_string())?;
                Ok(Cow::Owned(places.to_vec()))
            }
        }
    }
}

impl Table {
    fn of(&self, image: &Path) -> Result<&[Place]> {
        match self {
            Self::OneImage(places) => Ok(places),
            // A list without rows says that there is nothing in any image.
            Self::Images(images) if images.is_empty() => Ok(&[]),
            Self::Images(images) => images.of(image),
        }
    }
}

/// Refuses images of which two have the same rows. Tells of an image whose rows are those of a file
/// elsewhere.
fn check_images(table: &Images, path: &Path, images: &[PathBuf]) -> Result<()> {
    let (mut seen, mut elsewhere, mut number) = (HashMap::new(), None, 0);
    for image in images {
        // What is not found is an error of the image alone.
        let Ok(rows) = table.find(image) else { continue };
        if let Some(other) = seen.insert(rows.file, image) {
            bail!(WrongArguments(format!(
                "{} and {} have the same name, so their rows in {} cannot be told apart",
                input::name(other),
                input::name(image),
                input::name(path)
            )));
        }
        if rows.is_elsewhere {
            elsewhere = elsewhere.or(Some((image, rows.file)));
            number += 1;
        }
    }
    if let Some((image, file)) = elsewhere {
        let others = if number > 1 { format!(", and so are {} more", number - 1) } else { String::new() };
        output::message(format_args!(
            "{}: {} is told by the rows of {}, which has the same name{others}",
            input::name(path),
            input::name(image),
            String::from_utf8_lossy(file)
        ));
    }
    Ok(())
}

/// Refuses images of which two have one name.
fn distinct(images: &[PathBuf], name: impl Fn(&Path) -> OsString) -> Result<()> {
    let mut seen = HashMap::new();
    for image in images {
        if let Some(other) = seen.insert(name(image), image) {
            bail!(WrongArguments(format!(
                "{} and {} have the same name, so their lists cannot be told apart",
                input::name(other),
                input::name(image)
            )));
        }
    }
    Ok(())
}

/// Returns an image's name without its ending.
fn stem(image: &Path) -> OsString {
    if input::is_stdin(image) { "stdin".into() } else { image.file_stem().unwrap_or_default().to_owned() }
}

/// Returns the file in a folder for an image.
fn in_folder(folder: &Path, image: &Path) -> PathBuf {
    let mut name = stem(image);
    name.push(".csv");
    folder.join(name)
}

fn read(path: &Path) -> Result<Table> {
    let open = || {
        let file = File::open(path)?;
        let metadata = file.metadata()?;
        ensure!(!metadata.is_dir(), "it is a folder");
        ensure!(!metadata.is_file() || metadata.len() <= MAX_BYTES, "it is longer than 64 MiB");
        // A pipe does not tell its length.
        parse(file, MAX_BYTES)
    };
    open().with_context(|| format!("cannot read {}", path.display()))
}

/// Parses CSV of at most `max_bytes`.
///
/// # Errors
/// The text cannot be read, is longer, or is not valid, with the line.
pub(super) fn parse(text: impl Read, max_bytes: u64) -> Result<Table> {
    // Lines end in LF, so that they can be counted. A CR before it is left in the last field.
    let text = text.take(max_bytes.saturating_add(1)).chain(&b"\n"[..]);
    let mut reader =
        csv::ReaderBuilder::new().flexible(true).terminator(csv::Terminator::Any(b'\n')).from_reader(text);
    let columns = Columns::find(reader.byte_headers()?).context("line 1")?;
    let (mut places, mut images) = (Vec::new(), Images::default());
    let mut record = ByteRecord::new();
    while reader.read_byte_record(&mut record)? {
        if reader.position().byte() > max_bytes.saturating_add(1) {
            break;
        }
        if record.len() == 1 && &record[0] == b"\r" {
            continue;
        }
        let mut add = || match columns.file {
            None => push(&mut places, columns.place(&record)?.context("x and y are empty")?),
            Some(file) => columns.add(&record, file, &mut images),
        };
        // The reader is at the start of the next line.
        let line = reader.position().line() - 1;
        add().with_context(|| format!("line {line}"))?;
    }
    ensure!(reader.position().byte() <= max_bytes.saturating_add(1), "it is longer than {max_bytes} bytes");
    Ok(if columns.file.is_some() { Table::Images(images) } else { Table::OneImage(places) })
}

/// The columns that matter, by number.
struct Columns {
    number: usize,
    x: usize,
    y: usize,
    file: Option<usize>,
    error: Option<usize>,
}

impl Columns {
    fn find(header: &ByteRecord) -> Result<Self> {
        let find = |name: &str| -> Result<Option<usize>> {
            let mut places = (0..header.len()).filter(|&i| header[i].trim_ascii() == name.as_bytes());
            let first = places.next();
            ensure!(places.next().is_none(), "there are two columns `{name}`");
            Ok(first)
        };
        let need = |name| find(name)?.with_context(|| format!("there is no column `{name}`"));
        let (x, y, file, error) = (need("x")?, need("y")?, find("file")?, find("error")?);
        Ok(Self { number: header.len(), x, y, file, error })
    }

    /// Parses the place of a row; `None` if both numbers are left empty.
    fn place(&self, row: &ByteRecord) -> Result<Option<Place>> {
        ensure!(row.len() == self.number, "it has {} fields, and the header {}", row.len(), self.number);
        if row[self.x].trim_ascii().is_empty() && row[self.y].trim_ascii().is_empty() {
            return Ok(None);
        }
        Ok(Some([number("x", &row[self.x])?, number("y", &row[self.y])?]))
    }

    /// Adds a row to the images.
    fn add(&self, row: &ByteRecord, file: usize, images: &mut Images) -> Result<()> {
        let place = self.place(row)?;
        let field = |column: usize| row[column].strip_suffix(b"\r").unwrap_or(&row[column]);
        let image = images.entry(field(file))?;
        if let Some(place) = place {
            push(&mut image.places, place)?;
        }
        if let Some(error) = self.error.map(field).filter(|error| !error.is_empty()) {
            image.error = Some(String::from_utf8_lossy(error).into_owned());
        }
        Ok(())
    }
}

fn push(places: &mut Vec<Place>, place: Place) -> Result<()> {
    places.try_reserve(1)?;
    places.push(place);
    Ok(())
}

/// Parses a finite number.
fn number(name: &str, field: &[u8]) -> Result<f64> {
    let text = String::from_utf8_lossy(field.trim_ascii());
    let value = text.parse::<f64>().ok().filter(|value| value.is_finite());
    value.ok_or_else(|| {
        let start: String = text.chars().take(40).collect();
        anyhow!("{name} is not a finite number: {start:?}")
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    fn of(text: &str, image: &str) -> Result<Vec<Place>> {
        Ok(parse(text.as_bytes(), 1000)?.of(Path::new(image))?.to_vec())
    }

    #[test]
    fn places_are_read_whatever_the_columns_and_line_ends() {
        for text in [
            "x,y\n1,2\n3.5,-4e-1\n",
            "x,y\r\n1,2\r\n3.5,-4e-1",
            "\u{feff}x,y\n1,2\n3.5,-4e-1\n",
            "\u{feff}\"x\",\"y\"\r\n\"1\",\"2\"\r\n\r\n3.5,-4e-1\r\n",
            "name, y ,response, x\ncorner,2,7, 1\n\"a,\nb\", -4e-1 ,nan,3.5\n",
        ] {
            assert_eq!(of(text, "any.png").unwrap(), [[1.0, 2.0], [3.5, -0.4]], "{text}");
        }
        assert_eq!(of("x,y\n", "any.png").unwrap(), [[0.0; 2]; 0]);
    }

    #[test]
    fn images_are_found_by_their_names() {
        let text = "file,x,y,error\nin/a.png,1,2,\nb.png,,,\nin/a.png,3,4,\nc.png,,,it is cut\n";
        assert_eq!(of(text, "a.png").unwrap(), [[1.0, 2.0], [3.0, 4.0]]);
        assert_eq!(of(text, "other/folder/a.png").unwrap().len(), 2);
        assert_eq!(of(text, "b.png").unwrap(), [[0.0; 2]; 0]);
        assert!(of(text, "c.png").unwrap_err().to_string().contains("it is cut"));
        assert!(of(text, "A.png").unwrap_err().to_string().contains("no row for A.png"));
        let text = "x,y,file\r\n1,2,a.png\r\n3,4,\"a.png\"\r\n";
        assert_eq!(of(text, "a.png").unwrap().len(), 2);
        assert!(of(text, "a.png\r").is_err());
        assert_eq!(of("file,x,y\n", "a.png").unwrap(), [[0.0; 2]; 0]);
    }

    #[test]
    fn errors_tell_the_line() {
        for (text, expected) in [
            ("", "line 1: there is no column `x`"),
            ("x;y\n1;2\n", "line 1: there is no column `x`"),
            ("x,z\n1,2\n", "line 1: there is no column `y`"),
            ("x,y,x\n1,2,3\n", "line 1: there are two columns `x`"),
            ("x,y\n1,2\n3,four\n", "line 3: y is not a finite number: \"four\""),
            ("x,y\n\n\nnan,2\n", "line 4: x is not a finite number: \"nan\""),
            ("x,y\n1,inf\n", "line 2: y is not a finite number: \"inf\""),
            ("x,y\n1,1e999\n", "line 2: y is not a finite number: \"1e999\""),
            ("x,y\r\n\r\n1,2\r\nx,2\r\n", "line 4: x is not a finite number: \"x\""),
            ("x,y\n1,2\n3", "line 3: it has 1 fields, and the header 2"),
            ("x,y\n1,\n", "line 2: y is not a finite number: \"\""),
            ("x,y\n,\n", "line 2: x and y are empty"),
            ("x,y\n1\n", "line 2: it has 1 fields, and the header 2"),
            ("x,y\n1,2,3\n", "line 2: it has 3 fields, and the header 2"),
            ("x,y\n\"1,2\n3,4", "line 3: it has 1 fields, and the header 2"),
            ("file,x,y\n,1,2\n", "line 2: there is no file name"),
            ("file,x,y\na/,1,2\n", "line 2: there is no file name"),
        ] {
            let error = parse(text.as_bytes(), 1000).unwrap_err();
            assert_eq!(format!("{error:#}"), expected, "{text:?}");
        }
    }

    #[test]
    fn the_length_is_limited() {
        let text = format!("x,y\n{}", "1,2\n".repeat(9));
        assert!(parse(text.as_bytes(), 40).is_ok());
        for most in [39, 20, 4, 3] {
            assert!(parse(text.as_bytes(), most).unwrap_err().to_string().contains("longer"), "{most}");
        }
        assert!(parse(std::io::repeat(b'a'), 1 << 20).is_err());
    }
}
