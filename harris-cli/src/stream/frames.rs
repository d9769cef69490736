//! Sources of frames: a folder of images, an image, a video in a file or on standard input.

use std::fs::{self, File};
use std::io::{self, BufRead, BufReader};
use std::path::{Path, PathBuf};
use std::str::FromStr;

use crate::{input, video};
use anyhow::{Context, Result, ensure};
use image::DynamicImage;

/// Bytes that are read at once.
const BUFFER: usize = 1 << 20;

/// The size of raw frames.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct RawSize {
    width: u32,
    height: u32,
}

impl FromStr for RawSize {
    type Err = String;

    fn from_str(text: &str) -> Result<Self, String> {
        let side = |text: &str| text.parse().ok().filter(|side| (1..=video::MAX_SIDE).contains(side));
        let sides = text.split_once('x').and_then(|(width, height)| side(width).zip(side(height)));
        let (width, height) = sides.ok_or("a size is WIDTHxHEIGHT, such as 640x480")?;
        Ok(Self { width, height })
    }
}

/// A source of frames, which can be opened again unless it is standard input.
pub(crate) enum Source {
    /// Image files in the order of their names, and whether their colours are used.
    Files(Vec<PathBuf>, bool),
    /// A video, or raw frames of a size.
    Video { path: PathBuf, raw: Option<RawSize>, max_pixels: u64 },
}

/// The frames of a source.
pub(crate) enum Frames {
    Files(std::vec::IntoIter<PathBuf>, bool),
    Video(Box<video::Frames<Box<dyn BufRead>>>),
}

/// Why there is no frame.
pub(crate) enum Missing {
    /// This frame cannot be read, but later ones may be.
    One(anyhow::Error),
    /// This frame and those after it cannot be read.
    All(anyhow::Error),
}

impl Source {
    /// Finds out what an input is: a folder of images, an image, a Y4M file, or, for `-`, a video
    /// on standard input. `color` tells whether the colours of images are used.
    pub(crate) fn new(path: &Path, raw: Option<RawSize>, color: bool, max_pixels: u64) -> Result<Self> {
        let is_folder = path.is_dir();
        ensure!(!is_folder || raw.is_none(), "--raw needs a file, and {} is a folder", path.display());
        if is_folder || (raw.is_none() && is_image(path)) {
            return Ok(Self::Files(input::expand(&[path.to_owned()])?, color));
        }
        Ok(Self::Video { path: path.to_owned(), raw, max_pixels })
    }

    /// Lists the files that are read; `-` is standard input.
    pub(crate) fn files(&self) -> &[PathBuf] {
        match self {
            Self::Files(files, _) => files,
            Self::Video { path, .. } => std::slice::from_ref(path),
        }
    }

    /// Opens the source at its beginning.
    pub(crate) fn open(&self) -> Result<Frames> {
        let (path, raw, max_pixels) = match self {
            Self::Files(files, color) => return Ok(Frames::Files(files.clone().into_iter(), *color)),
            Self::Video { path, raw, max_pixels } => (path, raw, *max_pixels),
        };
        let bytes: Box<dyn BufRead> = if path == Path::new("-") {
            Box::new(BufReader::with_capacity(BUFFER, io::stdin().lock()))
        } else {
            let file = File::open(path).with_context(|| format!("cannot open {}", path.display()))?;
            Box::new(BufReader::with_capacity(BUFFER, file))
        };
        let frames = match *raw {
            Some(RawSize { width, height }) => video::Frames::raw(bytes, width, height, max_pixels),
            None => video::Frames::y4m(bytes, max_pixels),
        };
        Ok(Frames::Video(Box::new(frames.with_context(|| format!("cannot read {}", path.display()))?)))
    }
}

impl Frames {
    /// Returns the next frame, of 8 or 16 bits; `None` after the last.
    pub(crate) fn next(&mut self) -> Option<Result<DynamicImage, Missing>> {
        match self {
            Self::Files(files, color) => {
                Some(input::read_image(&files.next()?, *color).map_err(Missing::One))
            }
            Self::Video(frames) => Some(frames.next()?.map_err(|error| match error.is_of_one_frame() {
                true => Missing::One(error.into()),
                false => Missing::All(error.into()),
            })),
        }
    }

    /// Takes back the memory of a frame, for a later one.
    pub(crate) fn recycle(&mut self, frame: DynamicImage) {
        match self {
            Self::Files(..) => {}
            Self::Video(frames) => frames.recycle(frame),
        }
    }
}

/// Whether a path is an image file: its content is no video's, and its content or its ending is an
/// image's. A pipe is never opened to find out.
fn is_image(path: &Path) -> bool {
    if !fs::metadata(path).is_ok_and(|there| there.is_file()) {
        return false;
    }
    let mut file = match File::open(path) {
        Ok(file) => BufReader::new(file),
        Err(_) => return false,
    };
    let start = file.fill_buf().unwrap_or_default();
    let named = image::ImageFormat::from_path(path).is_ok_and(|format| format.reading_enabled());
    !start.starts_with(video::MAGIC) && (named || image::guess_format(start).is_ok())
}
