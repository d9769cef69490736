//! Choices that kernels take as numbers.

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

/// Gradients with fixed taps.
pub mod gradient {
    /// Sobel's gradient.
    pub const SOBEL: u32 = 0;
    /// Scharr's gradient.
    pub const SCHARR: u32 = 1;
    /// Central differences.
    pub const CENTRAL: u32 = 2;
}

/// Response measures of the structure tensor.
pub mod measure {
    /// Defines the numbers, and the list of all.
    macro_rules! measures {
        ($($(#[$doc:meta])* $name:ident = $number:expr;)*) => {
            $($(#[$doc])* pub const $name: u32 = $number;)*

            /// All measures, as the values that kernels are specialised by.
            pub(in crate::abi) const ALL: &[Option<u32>] = &[$(Some($name)),*];
        };
    }

    measures! {
        /// Harris's measure; the parameter is k.
        HARRIS = 0;
        /// Shi and Tomasi's measure.
        SHI_TOMASI = 1;
        /// Noble's measure; the parameter is epsilon.
        NOBLE = 2;
        /// Triggs's measure; the parameter is alpha.
        TRIGGS = 3;
    }

    /// The number of measures. Kernels compare it with the number that they know.
    pub const COUNT: usize = ALL.len();
}

/// Thresholds.
pub mod threshold {
    /// The value itself.
    pub const ABSOLUTE: u32 = 0;
    /// The value times the greatest response.
    pub const RELATIVE: u32 = 1;
    /// The threshold in the state, from an earlier kernel.
    pub const FROM_STATE: u32 = 2;
    /// Most bins of Rosin's histogram that a block counts in shared memory.
    pub const MAX_BINS_IN_BLOCK: u32 = 4096;
}

/// Rules for plateaus, as numbers added to the bits of a preceding response. A corner's bits must
/// reach the sum.
pub mod plateau {
    /// All pixels of a plateau are corners: only a greater response suppresses one.
    pub const ALL: u32 = 0;
    /// The first pixel in row order suppresses the others.
    pub const FIRST: u32 = 1;
}
