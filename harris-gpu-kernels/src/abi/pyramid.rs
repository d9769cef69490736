//! Tables of the Fast-Hessian detector's layers and of the triples of them that are compared.
//!
//! A blob's key has its determinant's bits, all turned, in the upper half, and its sample's number in the lower.

/// A layer's words.
pub mod layer {
    /// Width of the filter.
    pub const FILTER: usize = 0;
    /// Pixels between samples.
    pub const STEP: usize = 1;
    /// Samples in a row.
    pub const WIDTH: usize = 2;
    /// Number of its first sample among those of all layers.
    pub const FIRST: usize = 3;
    /// What brings sums to the units of an image in 0..1, as the bits of an f32.
    pub const UNIT: usize = 4;
    /// Column and row of its first sample, in pixels.
    pub const ORIGIN: usize = 5;
    /// What a determinant that is not above it becomes, as the bits of an f32.
    pub const LEAST: usize = 6;
    /// How many words a layer has.
    pub const WORDS: usize = 7;
}

/// A triple's words.
pub mod triple {
    /// Number of the bottom layer; those of the middle and the top follow.
    pub const BOTTOM: usize = 0;
    /// Number of the first column, and row, of samples that are compared.
    pub const MARGIN: usize = 3;
    /// Samples in a row that are compared.
    pub const COLUMNS: usize = 4;
    /// Number of its first sample among those of all triples.
    pub const FIRST: usize = 5;
    /// Pixels between samples.
    pub const STEP: usize = 6;
    /// Column and row of the octave's first sample, in pixels.
    pub const ORIGIN: usize = 7;
    /// How many words a triple has.
    pub const WORDS: usize = 8;
}
