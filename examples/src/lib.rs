//! Short programs, one idea each; see the folders beside this one.

/// The README's examples run as tests.
#[cfg(doctest)]
#[doc = include_str!("../../README.md")]
struct Readme;
