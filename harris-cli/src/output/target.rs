//! The place of one result, and the endings that its name may have.

use std::io::{self, BufWriter, Write};
use std::path::{Path, PathBuf};

use anyhow::{Context, Result};

use super::standard_output::IgnoreBrokenPipe;
use super::write::whole;

/// The format of a result.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Format {
    /// Comma-separated values.
    Csv,
    /// PNG, without loss.
    Png,
    /// JPEG of high quality.
    Jpeg,
    /// NumPy's .npy with f32 values.
    Npy,
    /// TIFF with one f32 value a pixel.
    Tiff,
    /// Apache Parquet.
    Parquet,
    /// A video: YUV4MPEG2.
    Y4m,
}

impl Format {
    /// All formats.
    const ALL: [Self; 7] =
        [Self::Csv, Self::Png, Self::Jpeg, Self::Npy, Self::Tiff, Self::Parquet, Self::Y4m];

    /// Returns the format that a name's ending stands for.
    pub(super) fn of(path: &Path) -> Option<Self> {
        let ending = path.extension()?.to_str()?.to_ascii_lowercase();
        Self::ALL.into_iter().find(|format| format.endings().contains(&ending.as_str()))
    }

    /// Returns the endings of file names, in lower case. Results in a folder get the first.
    #[must_use]
    pub fn endings(self) -> &'static [&'static str] {
        match self {
            Self::Csv => &["csv"],
            Self::Png => &["png"],
            Self::Jpeg => &["jpg", "jpeg"],
            Self::Npy => &["npy"],
            Self::Tiff => &["tiff", "tif"],
            Self::Parquet => &["parquet"],
            Self::Y4m => &["y4m"],
        }
    }
}

/// A kind of result, and the formats that it can be written in.
#[derive(Clone, Copy, Debug)]
pub struct Kind {
    /// What it is, for messages.
    pub name: &'static str,
    /// Its formats. The first is that of standard output, of devices, and of results in folders.
    pub formats: &'static [Format],
}

/// Keypoints.
pub const KEYPOINTS: Kind = Kind { name: "a list of keypoints", formats: &[Format::Csv] };

/// A table of the keypoints of all images. Parquet needs the cargo feature `parquet`.
pub const TABLE: Kind = Kind {
    name: "a table",
    formats: if cfg!(feature = "parquet") { &[Format::Csv, Format::Parquet] } else { &[Format::Csv] },
};

/// A table of the keypoints of a video's frames.
pub const FRAMES: Kind = Kind { name: "a table of frames", formats: &[Format::Csv] };

/// Matched keypoints.
pub const PAIRS: Kind = Kind { name: "a list of matches", formats: &[Format::Csv] };

/// A table of the scores of images.
pub const SCORES: Kind = Kind { name: "a table of scores", formats: &[Format::Csv] };

/// An image with keypoints or matches drawn in.
pub const PICTURE: Kind = Kind { name: "a picture", formats: &[Format::Png, Format::Jpeg] };

/// A video.
pub const VIDEO: Kind = Kind { name: "a video", formats: &[Format::Y4m] };

/// A response map.
pub const RESPONSE: Kind =
    Kind { name: "a response map", formats: &[Format::Npy, Format::Tiff, Format::Png] };

impl Kind {
    /// Returns the format of standard output, of devices, and of results in folders.
    #[must_use]
    pub fn default_format(&self) -> Format {
        self.formats.first().copied().unwrap_or(Format::Csv)
    }

    /// Returns the format that a name's ending stands for.
    pub(super) fn format(&self, path: &Path) -> Option<Format> {
        Format::of(path).filter(|format| self.formats.contains(format))
    }

    /// Lists the endings that a name may have.
    pub(super) fn endings(&self) -> String {
        let all: Vec<_> = self.formats.iter().flat_map(|format| format.endings()).collect();
        all.iter().map(|ending| format!(".{ending}")).collect::<Vec<_>>().join(", ")
    }
}

/// The place of one result. An [`OutputPlan`](super::OutputPlan) makes it.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Target {
    /// `None` is standard output.
    path: Option<PathBuf>,
    format: Format,
}

impl Target {
    pub(super) fn new(path: Option<PathBuf>, format: Format) -> Self {
        Self { path, format }
    }

    /// Whether the result goes to standard output, where nothing else should be printed then.
    #[must_use]
    pub fn is_standard_output(&self) -> bool {
        self.path.is_none()
    }

    /// Returns the file, or `None` for standard output.
    #[must_use]
    pub fn path(&self) -> Option<&Path> {
        self.path.as_deref()
    }

    /// Returns the format.
    #[must_use]
    pub fn format(&self) -> Format {
        self.format
    }

    /// Writes the result: a file complete or not at all (see [`whole`]), or to standard output.
    ///
    /// It is no error if the reader of standard output or of a pipe has closed it.
    ///
    /// # Errors
    /// The system's error, with the path.
    pub fn write(&self, content: impl FnOnce(&mut dyn Write) -> Result<()>) -> Result<()> {
        match &self.path {
            Some(path) => whole(path, content),
            None => {
                let mut out = BufWriter::new(IgnoreBrokenPipe::new(io::stdout().lock()));
                let written = content(&mut out).and_then(|()| Ok(out.flush()?));
                written.context("cannot write to standard output")
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn endings_choose_the_format_in_any_case() {
        let format = |kind: Kind, name: &str| kind.format(Path::new(name));
        assert_eq!(format(PICTURE, "a.png"), Some(Format::Png));
        assert_eq!(format(PICTURE, "a.b.JPG"), Some(Format::Jpeg));
        assert_eq!(format(PICTURE, "a.jpeg"), Some(Format::Jpeg));
        assert_eq!(format(RESPONSE, "a.tif"), Some(Format::Tiff));
        assert_eq!(format(RESPONSE, "a.png"), Some(Format::Png));
        assert_eq!(format(KEYPOINTS, "a.csv"), Some(Format::Csv));
        for (kind, name) in [(KEYPOINTS, "a.png"), (PICTURE, "a.gif"), (RESPONSE, "a"), (PICTURE, ".png")] {
            assert_eq!(format(kind, name), None, "{name}");
        }
        assert_eq!(RESPONSE.endings(), ".npy, .tiff, .tif, .png");
    }
}
