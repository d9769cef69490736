//! Why a video cannot be read.

use std::fmt;
use std::io;

/// Why a video cannot be read, or not to its end. Frames count from 0.
#[derive(Debug)]
pub enum Error {
    /// It is not in Y4M, or its header makes no sense.
    Header(String),
    /// The data end before the frame does.
    Cut {
        /// The frame's number.
        frame: u64,
    },
    /// Something else is where the frame should begin.
    Garbage {
        /// The frame's number.
        frame: u64,
        /// What is there.
        what: String,
    },
    /// The frame has samples that are larger than its bits allow. Later frames can be read.
    Samples {
        /// The frame's number.
        frame: u64,
        /// Bits of a sample.
        bits: u32,
    },
    /// There is no memory for a frame.
    OutOfMemory {
        /// The frame's number.
        frame: u64,
        /// The size that was asked for.
        bytes: u64,
    },
    /// The system cannot read it.
    Read(io::Error),
}

impl Error {
    /// Whether the frames after this one can still be read.
    #[must_use]
    pub fn is_of_one_frame(&self) -> bool {
        matches!(self, Self::Samples { .. })
    }
}

impl fmt::Display for Error {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Header(what) => f.write_str(what),
            Self::Cut { frame } => write!(f, "the video ends in the middle of frame {frame}"),
            Self::Garbage { frame, what } => write!(f, "where frame {frame} should begin there is {what}"),
            Self::Samples { bits, .. } => write!(f, "it has samples of more than {bits} bits"),
            Self::OutOfMemory { frame, bytes } => {
                write!(f, "there is no memory for the {bytes} bytes of frame {frame}")
            }
            Self::Read(error) => write!(f, "cannot read the video: {error}"),
        }
    }
}

impl std::error::Error for Error {}

impl From<io::Error> for Error {
    fn from(error: io::Error) -> Self {
        Self::Read(error)
    }
}
