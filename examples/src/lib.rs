//! Short programs, one idea each. Each file beside `Cargo.toml` is one; `README.md` lists them.

/// The README's examples run as tests, in this crate's folder.
#[cfg(doctest)]
#[doc = include_str!("../../README.md")]
struct Readme;
