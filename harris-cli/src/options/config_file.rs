//! Configuration files in TOML and JSON.

use std::fs::{self, File};
use std::io::{self, Read};
use std::path::Path;

use anyhow::{Context, Result, anyhow, bail, ensure};
use clap::ValueEnum;
use harris_core::HarrisConfig;
use harris_core::fast_hessian::FastHessianConfig;
use serde::{Deserialize, Serialize};

use super::kind::{Choice, Detection, Kind};
use crate::messages::wrong;

/// The greatest length of a configuration file, in bytes.
const MAX_BYTES: u64 = 1 << 20;

/// A configuration file: the kind of detector, and a section for each kind.
///
/// What is left out has its default. An unknown name is an error.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
#[serde(default, deny_unknown_fields)]
pub struct ConfigFile {
    /// The kind of detector.
    pub detector: Kind,
    /// Whether the colours of colour images are used. If not, their luma is.
    pub color: bool,
    /// The configuration of the Harris detector.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub harris: Option<HarrisConfig>,
    /// The configuration of the Fast-Hessian detector.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub fast_hessian: Option<FastHessianConfig>,
}

/// A format of configuration files.
#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
pub enum Format {
    /// TOML
    Toml,
    /// JSON
    Json,
}

impl ConfigFile {
    /// Reads a file whose name ends in `.toml` or `.json`. From a pipe, or standard input for `-`,
    /// text that begins with a brace is JSON, and other text is TOML.
    ///
    /// # Errors
    /// The file cannot be read, is longer than 1 MiB, has another ending, or is not valid.
    pub fn read(path: &Path) -> Result<Self> {
        let is_stdin = path.as_os_str() == "-";
        let name = || if is_stdin { "standard input".to_owned() } else { path.display().to_string() };
        let ending = path.extension().and_then(|ending| ending.to_str()).map(str::to_ascii_lowercase);
        let named = match ending.as_deref() {
            Some("toml") => Some(Format::Toml),
            Some("json") => Some(Format::Json),
            Some(_) | None => None,
        };
        let is_pipe = || fs::metadata(path).is_ok_and(|there| !there.is_file() && !there.is_dir());
        if named.is_none() && !is_stdin && !is_pipe() {
            bail!(wrong(format!("{}: a configuration file must end in .toml or .json", name())));
        }
        let source: Box<dyn Read> = match is_stdin {
            true => Box::new(io::stdin().lock()),
            false => Box::new(File::open(path).with_context(name)?),
        };
        let mut text = String::new();
        source.take(MAX_BYTES + 1).read_to_string(&mut text).with_context(name)?;
        ensure!(text.len() as u64 <= MAX_BYTES, "{}: longer than 1 MiB", name());
        let found = if text.trim_start().starts_with('{') { Format::Json } else { Format::Toml };
        Self::parse(&text, named.unwrap_or(found)).with_context(name)
    }

    /// Parses a file's text.
    ///
    /// # Errors
    /// The text is not valid.
    pub fn parse(text: &str, format: Format) -> Result<Self> {
        Ok(match format {
            Format::Toml => toml::from_str(text).map_err(|error| anyhow!(located(text, &error)))?,
            Format::Json => {
                serde_json::from_str(text).map_err(|error| anyhow!(in_words(&error.to_string())))?
            }
        })
    }

    /// Formats the file's text.
    ///
    /// # Errors
    /// Never for configurations that were built.
    pub fn text(&self, format: Format) -> Result<String> {
        Ok(match format {
            Format::Toml => toml::to_string(self)?,
            Format::Json => serde_json::to_string_pretty(self)? + "\n",
        })
    }
}

/// The longest line of a file that a message repeats, in bytes.
const MAX_LINE: usize = 100;

/// Formats an error of TOML: where it is, the line, and what is wrong.
fn located(text: &str, error: &toml::de::Error) -> String {
    let message = in_words(error.message());
    let Some(before) = error.span().and_then(|span| text.get(..span.start)) else { return message };
    let (number, start) = (before.matches('\n').count(), before.rfind('\n').map_or(0, |end| end + 1));
    let line = text[start..].lines().next().unwrap_or_default().trim();
    let shown = if line.is_empty() || line.len() > MAX_LINE { String::new() } else { format!(" (`{line}`)") };
    let column = before[start..].chars().count() + 1;
    format!("line {}, column {column}{shown}: {message}", number + 1)
}

/// Names types in an error of a parser in words.
fn in_words(message: &str) -> String {
    let whole = "a whole number of at least 0";
    let types = [("u16", whole), ("u32", whole), ("u64", whole), ("usize", whole), ("f32", "a number")];
    types.into_iter().chain([("f64", "a number")]).fold(message.to_owned(), |message, (name, words)| {
        message.replace(&format!("expected {name}"), &format!("expected {words}"))
    })
}

impl From<Choice> for ConfigFile {
    fn from(Choice { detection, color }: Choice) -> Self {
        let file = Self { detector: detection.kind(), color, ..Self::default() };
        match detection {
            Detection::Harris(config) => Self { harris: Some(config), ..file },
            Detection::FastHessian(config) => Self { fast_hessian: Some(config), ..file },
        }
    }
}

#[cfg(test)]
mod tests {
    use harris_core::{Measure, Threshold, Window, presets};

    use super::*;

    #[test]
    fn what_is_written_reads_back_equal_in_both_formats() {
        let numbers = HarrisConfig::builder()
            .measure(Measure::Triggs { alpha: 0.1 })
            .threshold(Threshold::Absolute(1.0e-30))
            .window(Window::Gaussian { size: 7, sigma: 1.3 })
            .min_distance(f64::sqrt(50.0))
            .max_corners(9)
            .build()
            .unwrap();
        let harris = presets::ALL.iter().map(|preset| (preset.config)()).chain([numbers]);
        let all = harris.map(Detection::Harris).chain([Detection::FastHessian(FastHessianConfig::default())]);
        for detection in all {
            let file = ConfigFile::from(Choice { detection, color: true });
            for format in [Format::Toml, Format::Json] {
                let text = file.text(format).unwrap();
                assert_eq!(ConfigFile::parse(&text, format).unwrap(), file, "{text}");
            }
        }
    }

    #[test]
    fn an_empty_file_is_the_default() {
        assert_eq!(ConfigFile::parse("", Format::Toml).unwrap(), ConfigFile::default());
        assert_eq!(ConfigFile::parse("{}", Format::Json).unwrap(), ConfigFile::default());
    }

    #[test]
    fn unknown_names_and_bad_values_are_errors_that_name_them() {
        for (text, part) in [
            ("colour = true", "unknown field `colour`"),
            ("[harris]\nwindou = 3", "unknown field `windou`"),
            ("[harris]\nmeasure = { harris = { k = nan } }", "k"),
            ("[harris]\nwindow = { box = { size = 1000 } }", "1000"),
            ("detector = 3", "detector"),
            ("[[[", "line 1, column 3"),
            ("color = true\n colour = 1", "line 2, column 2 (`colour = 1`): unknown field"),
            ("[harris]\nmax_corners = -1", "expected a whole number of at least 0"),
            ("[harris]\nmin_distance = 'far'", "expected a number"),
        ] {
            let error = format!("{:#}", ConfigFile::parse(text, Format::Toml).unwrap_err());
            assert!(error.contains(part), "{text}: {error}");
        }
    }
}
