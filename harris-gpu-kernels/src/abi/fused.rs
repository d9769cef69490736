//! Fused kernels.

/// Columns that a warp sees.
pub const COLUMNS: u32 = 128;
/// Columns that a lane has.
pub const EACH: u32 = 4;
/// Rows that are fetched at once, and then walked.
pub const ROWS: usize = 3;
/// The most columns and rows from a corner to a sample on which it depends, the radii of all stages together, where no gradient is a
/// box and no window wide.
pub const MOST_REACH: u32 = 8;
/// The greatest radius of a window whose rows are held in registers.
pub const MOST_NARROW: usize = 3;
/// The greatest radii of wide windows that there are kernels for.
pub const WIDE: [usize; 2] = [10, 15];
/// The greatest radius of box gradients, and of windows behind them, that there are kernels for.
pub const MOST_OF_BOXES: usize = 4;

/// How the columns of an image are shared out to strips, side by side, which overlap.
///
/// Lanes may compute the gradients of their first two columns from one word, those of the others from another, and mirror words beside
/// the image. Then none of a column inside is to be among these: where anything depends on the column before the image's first, that is
/// the second of two, and the one after the last is the first of two. Strips of images of odd widths thus lie a column farther left, but
/// for the first.
#[derive(Clone, Copy, Debug)]
pub struct Strips {
    /// How many there are.
    pub number: u32,
    /// Columns from one to the next, which is the most that are a strip's own.
    pub columns: u32,
    /// Columns to each side of its own that only lead to others.
    side: u32,
    /// How many columns strips lie farther left, and those but for the first of images of odd widths.
    shift: u32,
    odd: u32,
}

impl Strips {
    /// Of an image at least twice [`MOST_REACH`] wide, where corners or responses depend on columns so far to each side.
    #[must_use]
    pub const fn new(side: u32, width: u32, mirrors_words: bool) -> Self {
        let most = COLUMNS - 2 * side;
        let [shift, odd] = if mirrors_words { [side % 2, width % 2] } else { [0; 2] };
        // Of odd images the first strip sees nothing of the column after the last.
        let fewer = width.saturating_sub(3) & !3;
        if odd == 1 && fewer < most {
            return Self { number: 2, columns: fewer, side, shift, odd };
        }
        Self { number: (width + shift + odd).div_ceil(most), columns: most, side, shift, odd }
    }

    /// Those whose numbers [`Strips::new`] has told, without a division.
    #[must_use]
    pub const fn told(number: u32, columns: u32, side: u32, width: u32, mirrors_words: bool) -> Self {
        let [shift, odd] = if mirrors_words { [side % 2, width % 2] } else { [0; 2] };
        Self { number, columns, side, shift, odd }
    }

    /// The first column that a strip sees; its own are from `side` columns farther right on.
    #[must_use]
    pub const fn left(&self, strip: u32) -> i32 {
        let odd = if strip > 0 { self.odd } else { 0 };
        (strip * self.columns) as i32 - (self.side + self.shift + odd) as i32
    }

    /// How many columns are its own: of one that begins left of the image, which is the first, and of others.
    #[must_use]
    pub const fn own(&self, left: i32) -> u32 {
        self.columns - if left < 0 { self.odd } else { 0 }
    }
}

/// Columns to each side of a warp's that only lead to others where it leaves responses which depend on samples so many columns away, or
/// seeks corners among them: all of a lane's own are left, or read, at once.
#[must_use]
pub const fn side_of_map(reach: u32) -> u32 {
    reach.next_multiple_of(EACH)
}

/// The radius of suppression of a kernel that writes responses and finds no corners.
pub const WRITES_RESPONSES: u32 = 0;
/// The greatest radius of suppression of walks from samples.
pub const MOST_RADIUS: usize = 2;
/// That of walks among responses; around corners of which a greater one is asked for these are looked at again.
pub const MOST_RADIUS_IN_MAP: usize = 4;
/// Warps that do so in a piece.
pub const THINNING: u32 = 4;

/// The greatest magnitude that float samples may have.
pub const MAX_SAMPLE: f32 = 1e8;

/// The weights of a window.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Weights {
    /// All alike.
    Box,
    /// All alike, of any radius up to one of [`WIDE`], or [`MOST_OF_BOXES`] behind box gradients, which an argument tells.
    Wide,
    /// A row of Pascal's triangle.
    Binomial,
    /// Those that arguments tell, from the centre on.
    Gaussian,
}

/// What samples are.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Samples {
    /// Of 8 bits and one channel; rows are a multiple of 4 apart.
    Bytes,
    /// Of 16 bits and one channel.
    Words,
    /// Floats of one channel.
    Floats,
    /// Of 8 bits and three channels.
    Colours,
    /// Bytes, of which gradients are the sum of a box on one side minus that on the other, of any radius up to [`MOST_OF_BOXES`],
    /// which an argument tells.
    BoxGradients,
    /// Responses, among which corners are sought.
    Responses,
}
