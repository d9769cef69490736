//! The program `harris`: corners, blobs and matches of photographs and videos.
//!
//! The library is there for the program, its tests and its fuzz targets. Use the crate `harris` to
//! detect corners in your own program.

#![cfg_attr(docsrs, feature(doc_cfg))]

pub mod bench;
pub mod cli;
pub mod detect;
mod examples;
pub mod input;
pub mod matching;
mod messages;
pub mod options;
pub mod output;
pub mod overlay;
pub mod photographs;
pub mod reproduce;
pub mod score;
pub mod stream;
pub mod track;
pub mod video;
