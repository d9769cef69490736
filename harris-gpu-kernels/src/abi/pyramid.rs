//! Tables of the Fast-Hessian detector: filter layers, and triples of layers that are compared.
//!
//! The upper half of a keypoint's key has the inverted bits of its determinant, the lower half its
//! sample's number.

/// Words of a layer.
pub mod layer {
    /// Width of the filter.
    pub const FILTER: usize = 0;
    /// Pixels between samples.
    pub const STEP: usize = 1;
    /// Samples in a row.
    pub const WIDTH: usize = 2;
    /// Number of the first sample, counted over all layers.
    pub const FIRST: usize = 3;
    /// Factor from sums to the units of an image in 0..1, as the bits of an f32.
    pub const UNIT: usize = 4;
    /// Column and row of the first sample, in pixels.
    pub const ORIGIN: usize = 5;
    /// Value that replaces lesser determinants, as the bits of an f32.
    pub const LEAST: usize = 6;
    /// Words of a layer's entry.
    pub const WORDS: usize = 7;
}

/// Words of a triple.
pub mod triple {
    /// Number of the bottom layer. The middle and top layers follow.
    pub const BOTTOM: usize = 0;
    /// First column, and row, of samples that are compared.
    pub const MARGIN: usize = 3;
    /// Samples in a row that are compared.
    pub const COLUMNS: usize = 4;
    /// Number of the first sample, counted over all triples.
    pub const FIRST: usize = 5;
    /// Pixels between samples.
    pub const STEP: usize = 6;
    /// Column and row of the octave's first sample, in pixels.
    pub const ORIGIN: usize = 7;
    /// Words of a triple's entry.
    pub const WORDS: usize = 8;
}
