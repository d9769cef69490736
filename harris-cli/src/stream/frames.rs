//! Sources of frames: a folder of images, an image, a video in a file or on standard input.

use std::fs::{self, File};
use std::io::{self, BufRead, BufReader};
use std::path::{Path, PathBuf};

use crate::input::{self, Picture, ReadOptions};
use crate::video::{self, Header, Planes};
use anyhow::{Context, Result, ensure};

/// Bytes that are read at once.
const BUFFER: usize = 1 << 20;

/// A source of frames, which can be opened again unless it is standard input.
pub(crate) enum Source {
    /// Image files in the order of their names, and whether their colours are used.
    Files { files: Vec<PathBuf>, color: bool, read: ReadOptions },
    /// A video, or raw frames of a size.
    Video { path: PathBuf, read: ReadOptions },
}

/// A frame: what is detected in, and what else its video has for it, if that is kept.
pub(crate) struct Frame {
    pub(crate) picture: Picture,
    pub(crate) planes: Planes,
}

/// The frames of a source.
pub(crate) enum Frames {
    Files { files: std::vec::IntoIter<PathBuf>, color: bool, read: ReadOptions },
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
    pub(crate) fn new(path: &Path, color: bool, read: &ReadOptions) -> Result<Self> {
        let read = read.clone();
        let is_folder = path.is_dir();
        ensure!(!is_folder || read.raw.is_none(), "--raw needs a file, and {} is a folder", path.display());
        if is_folder || (read.raw.is_none() && is_image(path)) {
            let files = input::expand(&[path.to_owned()])?;
            return Ok(Self::Files { files, color, read });
        }
        Ok(Self::Video { path: path.to_owned(), read })
    }

    /// Lists the files that are read; `-` is standard input.
    pub(crate) fn files(&self) -> &[PathBuf] {
        match self {
            Self::Files { files, .. } => files,
            Self::Video { path, .. } => std::slice::from_ref(path),
        }
    }

    /// Whether frames are in colour. Of a video only the luma is used.
    pub(crate) fn has_colors(&self) -> bool {
        matches!(self, Self::Files { color: true, .. })
    }

    /// Opens the source at its beginning. `keep_planes` tells whether frames keep what they have
    /// beside their luma.
    pub(crate) fn open(&self, keep_planes: bool) -> Result<Frames> {
        let (path, read) = match self {
            Self::Files { files, color, read } => {
                let files = files.clone().into_iter();
                return Ok(Frames::Files { files, color: *color, read: read.clone() });
            }
            Self::Video { path, read } => (path, read),
        };
        let bytes: Box<dyn BufRead> = if path == Path::new("-") {
            Box::new(BufReader::with_capacity(BUFFER, io::stdin().lock()))
        } else {
            let file = File::open(path).with_context(|| format!("cannot open {}", path.display()))?;
            Box::new(BufReader::with_capacity(BUFFER, file))
        };
        let frames = match read.raw {
            Some(size) => video::Frames::raw(bytes, size.width, size.height, read.max_pixels),
            None => video::Frames::y4m(bytes, read.max_pixels),
        };
        let frames = frames.with_context(|| format!("cannot read {}", path.display()))?;
        Ok(Frames::Video(Box::new(if keep_planes { frames.keep_planes() } else { frames })))
    }
}

impl Frames {
    /// Returns the next frame, of 8 or 16 bits; `None` after the last.
    pub(crate) fn next(&mut self) -> Option<Result<Frame, Missing>> {
        match self {
            Self::Files { files, color, read } => {
                let picture = input::read_image(&files.next()?, *color, read);
                Some(
                    picture.map(|picture| Frame { picture, planes: Planes::default() }).map_err(Missing::One),
                )
            }
            Self::Video(frames) => Some(match frames.next()? {
                Ok(luma) => Ok(Frame { picture: luma.into(), planes: frames.take_planes() }),
                Err(error) if error.is_of_one_frame() => Err(Missing::One(error.into())),
                Err(error) => Err(Missing::All(error.into())),
            }),
        }
    }

    /// Returns what a video says of all its frames; `None` for images.
    pub(crate) fn header(&self) -> Option<&Header> {
        match self {
            Self::Files { .. } => None,
            Self::Video(frames) => Some(frames.header()),
        }
    }

    /// Takes back the memory of a frame, for a later one.
    pub(crate) fn recycle(&mut self, frame: Frame) {
        match self {
            Self::Files { .. } => {}
            Self::Video(frames) => frames.recycle(frame.picture.into_dynamic()),
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
    !start.starts_with(video::MAGIC) && (input::has_image_ending(path) || input::Format::of(start).is_some())
}
