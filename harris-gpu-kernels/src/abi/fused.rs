//! Fused kernels, which go from samples to corners or responses in one sweep.

/// Columns of a warp, including those that overlap neighbouring strips.
pub const COLUMNS: u32 = 128;
/// Columns of a lane.
pub const LANE_COLUMNS: u32 = 4;
/// Rows of a batch, which are loaded together.
pub const ROWS: usize = 3;
/// Most columns or rows from a corner to a sample it depends on, which is the sum of all stages'
/// radii. Box gradients and wide windows may exceed it.
pub const MAX_SUPPORT_RADIUS: u32 = 8;
/// Greatest radius of a window whose rows fit in registers.
pub const MAX_NARROW_RADIUS: usize = 3;
/// Greatest radii of the kernels whose box window has a radius given by an argument.
pub const VARIABLE_BOX_MAX_RADII: [usize; 2] = [10, 15];
/// Greatest radius of box gradients, and of windows after them.
pub const MAX_BOX_RADIUS: usize = 4;

/// Division of an image's columns into overlapping strips.
///
/// Lanes may compute the gradients of each pair of columns from one word, and mirror whole words
/// beside the image. Columns inside the image must then not share a pair with mirrored ones.
///
/// Where results depend on the column before the image's first, that column is the second of a
/// pair. Where they depend on the column after the last, that column is the first of a pair. In
/// images of odd width all strips but the first thus start one column farther left.
#[derive(Clone, Copy, Debug)]
pub struct Strips {
    /// Number of strips.
    pub count: u32,
    /// Columns from one strip to the next, and the most that a strip owns.
    pub columns: u32,
    /// Columns by which strips overlap at each side.
    overlap: u32,
    /// Columns by which all strips start farther left, and those by which all but the first do in
    /// images of odd width.
    shift: u32,
    odd: u32,
}

impl Strips {
    /// Strips of an image at least twice [`MAX_SUPPORT_RADIUS`] wide.
    ///
    /// Results depend on samples up to `overlap` columns away.
    #[must_use]
    pub const fn new(overlap: u32, width: u32, mirrors_words: bool) -> Self {
        let most = COLUMNS - 2 * overlap;
        let [shift, odd] = if mirrors_words { [overlap % 2, width % 2] } else { [0; 2] };
        // In images of odd width, the first strip must not reach the column after the last.
        let fewer = width.saturating_sub(3) & !3;
        if odd == 1 && fewer < most {
            return Self { count: 2, columns: fewer, overlap, shift, odd };
        }
        Self { count: (width + shift + odd).div_ceil(most), columns: most, overlap, shift, odd }
    }

    /// Strips with the number and columns that [`Strips::new`] has computed, without its division.
    #[must_use]
    pub const fn from_parts(count: u32, columns: u32, overlap: u32, width: u32, mirrors_words: bool) -> Self {
        let [shift, odd] = if mirrors_words { [overlap % 2, width % 2] } else { [0; 2] };
        Self { count, columns, overlap, shift, odd }
    }

    /// First column of a strip. Its own columns start `overlap` columns farther right.
    #[must_use]
    pub const fn left(&self, strip: u32) -> i32 {
        let odd = if strip > 0 { self.odd } else { 0 };
        (strip * self.columns) as i32 - (self.overlap + self.shift + odd) as i32
    }

    /// Number of columns that a strip owns, from its first column `left`. Only the first strip
    /// begins left of the image.
    #[must_use]
    pub const fn own(&self, left: i32) -> u32 {
        self.columns - if left < 0 { self.odd } else { 0 }
    }
}

/// Columns by which strips overlap where a kernel writes responses, or finds corners among them. It
/// is rounded up to whole lanes, as a lane writes or reads its columns together.
#[must_use]
pub const fn overlap_of_map(support_radius: u32) -> u32 {
    support_radius.next_multiple_of(LANE_COLUMNS)
}

/// Value of a sweep's argument `suppression_radius` with which it suppresses nothing: it writes the
/// responses and finds no corners. The loader makes it a constant, as other radii.
pub const NO_SUPPRESSION: u32 = 0;
/// Greatest radius of suppression of sweeps over samples.
pub const MAX_RADIUS: usize = 2;
/// Greatest radius of suppression of sweeps over response maps. For larger radii the candidates are
/// tested again.
pub const MAX_RADIUS_IN_MAP: usize = 4;
/// Warps of a tile that test its candidates again.
pub const SUPPRESSION_WARPS: u32 = 4;

/// Greatest magnitude of float samples.
pub const MAX_SAMPLE: f32 = 1e8;

/// Weights of a window.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Weights {
    /// Equal weights.
    Box,
    /// Equal weights, with a radius given by an argument. It is at most one of [`VARIABLE_BOX_MAX_RADII`], or
    /// [`MAX_BOX_RADIUS`] after box gradients.
    VariableBox,
    /// Binomial weights: a row of Pascal's triangle.
    Binomial,
    /// Weights given by arguments, from the centre outwards.
    Gaussian,
}

/// Input of a fused kernel.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Input {
    /// 8-bit samples of one channel, with rows a multiple of 4 apart.
    GrayU8,
    /// 16-bit samples of one channel.
    GrayU16,
    /// Float samples of one channel.
    GrayF32,
    /// 8-bit samples of three channels.
    RgbU8,
    /// 8-bit samples of one channel, for box gradients: the sum of a box's one side less the other.
    /// The radius is given by an argument and is at most [`MAX_BOX_RADIUS`].
    GrayU8BoxGradient,
    /// The response map that an earlier kernel has written.
    ResponseMap,
}
