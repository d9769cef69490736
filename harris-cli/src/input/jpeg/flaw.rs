//! Why a JPEG is refused.

use std::fmt;

/// Why a JPEG is refused.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Flaw {
    /// The data end too early.
    End,
    Damaged(&'static str),
    Unsupported(&'static str),
    Memory,
}

impl fmt::Display for Flaw {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::End => f.write_str("the JPEG is truncated: its picture data are not complete"),
            Self::Damaged(what) => write!(f, "the JPEG is damaged: {what}"),
            Self::Unsupported(what) => write!(f, "{what} is not supported"),
            Self::Memory => f.write_str("there is not enough memory for the JPEG"),
        }
    }
}

impl std::error::Error for Flaw {}
