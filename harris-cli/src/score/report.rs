//! Scores as rows of a table, of CSV, and as lines of JSON.

use std::io::Write;
use std::path::{Path, PathBuf};

use anyhow::Result;
use harris_evaluation::Score;
use serde_json::{Value, json};

use crate::input;

/// The name of the row of all images.
const ALL: &str = "all";

/// The columns of the table after the name, with their widths.
const COLUMNS: [(&str, usize); 7] = [
    ("found", 9),
    ("corners", 9),
    ("hits", 9),
    ("precision", 11),
    ("recall", 8),
    ("mean error", 12),
    ("max error", 11),
];

/// A table with aligned columns.
pub(super) struct Text {
    /// Characters of the longest name.
    width: usize,
}

impl Text {
    pub(super) fn new(images: &[PathBuf]) -> Self {
        let names = images.iter().map(|image| input::name(image).chars().count());
        Self { width: names.max().unwrap_or(0).max(ALL.len()) }
    }

    pub(super) fn header(&self) -> String {
        self.line("file", COLUMNS.map(|(name, _)| name.to_owned()))
    }

    pub(super) fn image(&self, image: &Path, score: &Score) -> String {
        self.line(&input::name(image), fields(score))
    }

    pub(super) fn all(&self, score: &Score) -> String {
        self.line(ALL, fields(score))
    }

    fn line(&self, name: &str, fields: [String; 7]) -> String {
        let fields: String =
            fields.iter().zip(COLUMNS).map(|(field, (_, width))| format!("{field:>width$}")).collect();
        format!("{name:<width$}{fields}\n", width = self.width)
    }
}

fn fields(score: &Score) -> [String; 7] {
    let pixels = |error: Option<f64>| error.map_or("-".to_owned(), |error| format!("{error:.3}"));
    [
        score.found.to_string(),
        score.wanted.to_string(),
        score.errors.len().to_string(),
        format!("{:.4}", score.precision()),
        format!("{:.4}", score.recall()),
        pixels(score.mean_error()),
        pixels(score.max_error()),
    ]
}

/// Formats a line of JSON about an image.
pub(super) fn json(image: &Path, score: &Result<Score>) -> String {
    let file = input::name_for_programs(image);
    let mut line = match score {
        Ok(score) => numbers(score),
        Err(error) => json!({ "error": format!("{error:#}") }),
    };
    line["file"] = file.into();
    format!("{line}\n")
}

/// Formats a line of JSON about all images. The score is `None` if none has one.
pub(super) fn json_all(images: usize, failed: usize, score: Option<&Score>) -> String {
    let mut line = score.map_or_else(|| json!({}), numbers);
    line["images"] = images.into();
    line["failed"] = failed.into();
    format!("{line}\n")
}

fn numbers(score: &Score) -> Value {
    json!({
        "found": score.found,
        "corners": score.wanted,
        "hits": score.errors.len(),
        "precision": score.precision(),
        "recall": score.recall(),
        "mean_error": score.mean_error(),
        "max_error": score.max_error(),
    })
}

/// Writes the table as CSV: a row for each image and, if any has a score, one for all.
pub(super) fn csv(
    images: &[PathBuf],
    scores: &[Result<Score>],
    all: Option<&Score>,
    out: &mut dyn Write,
) -> Result<()> {
    let mut table = csv::Writer::from_writer(out);
    let names = "file,found,corners,hits,precision,recall,mean_error,max_error,error";
    table.write_record(names.split(','))?;
    for (image, score) in images.iter().zip(scores) {
        // Names are written byte for byte.
        table.write_field(image.as_os_str().as_encoded_bytes())?;
        match score {
            Ok(score) => row(&mut table, score)?,
            Err(error) => {
                (0..7).try_for_each(|_| table.write_field(b""))?;
                table.write_field(format!("{error:#}"))?;
                table.write_record(None::<&[u8]>)?;
            }
        }
    }
    if let Some(all) = all {
        table.write_field(ALL)?;
        row(&mut table, all)?;
    }
    Ok(table.flush()?)
}

/// Writes the rest of a row, without an error.
fn row<W: Write>(table: &mut csv::Writer<W>, score: &Score) -> Result<()> {
    let number = |number: Option<f64>| number.map(|number| number.to_string()).unwrap_or_default();
    table.write_record([
        score.found.to_string(),
        score.wanted.to_string(),
        score.errors.len().to_string(),
        score.precision().to_string(),
        score.recall().to_string(),
        number(score.mean_error()),
        number(score.max_error()),
        String::new(),
    ])?;
    Ok(())
}
