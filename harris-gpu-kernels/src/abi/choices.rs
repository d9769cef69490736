//! The numbers by which arguments of kernels name a choice.

/// Border rules.
pub mod border {
    /// dcb|abcd|cba
    pub const REFLECT: u32 = 0;
    /// aaa|abcd|ddd
    pub const REPLICATE: u32 = 1;
    /// 000|abcd|000
    pub const ZERO: u32 = 2;
}

/// Axes of lines.
pub mod axis {
    /// Along a row.
    pub const X: u32 = 0;
    /// Along a column.
    pub const Y: u32 = 1;
}

/// Gradients, of fixed taps but for one.
pub mod gradient {
    /// Sobel's.
    pub const SOBEL: u32 = 0;
    /// Scharr's.
    pub const SCHARR: u32 = 1;
    /// Central differences.
    pub const CENTRAL: u32 = 2;
}

/// Measures of the structure tensor.
pub mod measure {
    /// Harris's; the parameter is k.
    pub const HARRIS: u32 = 0;
    /// Shi's and Tomasi's.
    pub const SHI_TOMASI: u32 = 1;
    /// Noble's; the parameter is epsilon.
    pub const NOBLE: u32 = 2;
}

/// Thresholds.
pub mod threshold {
    /// The value itself.
    pub const ABSOLUTE: u32 = 0;
    /// The value times the greatest response.
    pub const RELATIVE: u32 = 1;
    /// That of the state, which kernels before have left there.
    pub const FROM_STATE: u32 = 2;
    /// The most of Rosin's bins that a block counts by itself.
    pub const MAX_BINS_IN_BLOCK: u32 = 4096;
}

/// Which pixels of a plateau are corners, as what is added to the bits of a response that comes before one: the corner's bits reach that.
pub mod plateau {
    /// All of its pixels are corners: only a greater response beats one.
    pub const ALL: u32 = 0;
    /// Of equal responses the first in the order of rows beats the others.
    pub const FIRST: u32 = 1;
}
