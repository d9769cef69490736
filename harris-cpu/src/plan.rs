//! Which engine computes the responses of a configuration, and where its corners are found: the
//! only place that decides.
//!
//! A [`Plan`] depends on the format of an image, on the vectors of the processor and on the
//! configuration. Every other module matches on it.

use std::fmt::{self, Display, Formatter};

use harris_core::pipeline::numerics::{NumberKind, Numerics};
use harris_core::{Border, Gradient, HarrisConfig, Smoothing, Subpixel, Threshold, Window};

pub use harris_core::pipeline::numerics::SampleType;

use crate::rows::{MAX_SUPPORT_RADIUS, MAX_SUPPRESSION_RADIUS, ROW_LENGTH};
use crate::simd::{Level, Simd};
use crate::sweep::stage_kinds::{StageSmoothing, ThreeTaps};

/// The greatest window radius of tiles, but for boxes of 8-bit samples.
pub(crate) const MAX_TILE_RADIUS: usize = 3;
/// The greatest radius of box windows of tiles of i16: their sums slide down, so that a row costs
/// the same for each.
pub(crate) const MAX_TILE_BOX_RADIUS: usize = 5;
/// Columns of responses that a tile has at least: a narrower one takes more time than rows.
pub(crate) const MIN_TILE_COLUMNS: usize = 10;
/// Columns of gradients that a tile has at most: a vector of 512 bits of i16, two of f32.
pub(crate) const TILE_LANES: usize = 32;
/// The greatest window radius whose sums across are added up pair by pair; those of wider boxes are
/// differences of prefix sums.
pub(crate) const MAX_PAIRWISE_RADIUS: usize = 3;
/// Rows of i16: 32-bit lanes of the shortest vectors by which gradients are computed in tiles.
const MIN_GRADIENT_LANES: usize = 8;
/// The trace, scaled, below which the gradients of nearly all windows are active, so that vectors
/// of 256 bits are faster by rows.
const LEAST_TRACE: f32 = 0.0013;
/// Pixels of an image's side of which 16 bits hold each coordinate.
const MAX_SIDE: usize = 1 << u16::BITS;

// 32-bit floats hold the sums of a smoothing or a gradient of 16-bit samples, and Scharr's
// gradients of sums of 16 of them.
const _: () = assert!(16 * 16 * u16::MAX as u32 <= 1 << 24);
const _: () = assert!(256 * u16::MAX as u32 + 128 <= 1 << 24);

/// Vectors of a processor.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Vectors {
    /// 32-bit lanes: 4, 8 or 16.
    pub lanes: usize,
    /// Whether a vector is a register; arrays are not.
    pub in_registers: bool,
}

impl Vectors {
    /// Vectors of a level of this processor.
    #[must_use]
    pub fn of(level: Level) -> Self {
        let (lanes, in_registers) = level.vectors();
        Self { lanes, in_registers }
    }

    /// Whether there are tiles of i16: the narrowest support takes two columns of a vector.
    const fn have_i16_tiles(self) -> bool {
        self.in_registers && 2 * self.lanes >= 2 + MIN_TILE_COLUMNS
    }

    /// Whether no vectors are longer. Only these have tiles of f32: shorter ones have too few
    /// registers.
    const fn are_longest(self) -> bool {
        self.in_registers && 2 * self.lanes == TILE_LANES
    }
}

const fn vectors<V: Simd>() -> Vectors {
    Vectors { lanes: V::LANES, in_registers: V::IN_REGISTERS }
}

/// Whether plans have tiles of i16 for these vectors.
pub(crate) const fn has_i16_tiles<V: Simd>() -> bool {
    vectors::<V>().have_i16_tiles()
}

/// Whether plans have tiles of f32 for these vectors.
pub(crate) const fn has_f32_tiles<V: Simd>() -> bool {
    vectors::<V>().are_longest()
}

/// What of an image and a processor a plan depends on.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Shape {
    /// The type of samples.
    pub samples: SampleType,
    /// Channels: 1 or 3.
    pub channels: usize,
    /// Columns, in pixels.
    pub width: usize,
    /// Rows, in pixels.
    pub height: usize,
    /// Vectors of the processor.
    pub vectors: Vectors,
}

/// The engine of a configuration, and where its corners are found.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Plan {
    /// What computes responses.
    pub engine: Engine,
    /// Where corners are found.
    pub corners: CornerSearch,
}

/// What computes responses.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum Engine {
    /// One pass down strips of columns, from samples to responses.
    Sweep(SweepEngine),
    /// A stage after the other, in blocks of rows.
    Staged(StageNumbers),
}

/// Engines of a pass down a strip.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum SweepEngine {
    /// Tiles alone.
    Tile(TilePlan),
    /// Rows alone.
    Row(RowPlan),
    /// Tiles where few windows may have a response above the threshold, else rows.
    TileOrRow {
        /// The engine of strips with a high threshold.
        tile: TilePlan,
        /// A strip goes by tiles where the least trace, scaled, of a response above the threshold
        /// exceeds this.
        above: f32,
        /// The engine of other strips, and of response maps.
        row: RowPlan,
    },
}

/// Tiles: as many columns as a vector has, all stages in registers.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct TilePlan {
    /// The numbers of its stages.
    pub numbers: TileNumbers,
    /// Columns of responses of a tile.
    pub columns: usize,
}

/// Numbers of the stages of tiles.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum TileNumbers {
    /// Gradients of 16 bits, sums of 32.
    I16,
    /// Gradients of 32-bit floats, exact sums of 64-bit floats.
    F32Exact,
    /// 32-bit floats, summed in the order of docs/arithmetic.md.
    F32Rounded,
}

/// Rows: a kernel a stage, from a few rows in memory to the next.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum RowPlan {
    /// Gradients of 16 bits, sums of 32.
    I16 {
        /// How gradients are computed.
        gradients: RowGradients,
        /// How windows are summed.
        sums: RowSums,
    },
    /// Gradients of 32-bit floats, exact sums of 64-bit floats.
    F32Exact {
        /// How windows are summed.
        sums: RowSums,
    },
    /// 32-bit floats, summed in the order of docs/arithmetic.md.
    F32Rounded,
}

/// How rows of i16 get their gradients.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum RowGradients {
    /// A kernel a stage.
    Rows,
    /// Blocks of rows by tiles, from samples to gradients in registers.
    Tiles,
}

/// How rows of exact products are summed over the window.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum RowSums {
    /// Down by adding the row that enters and subtracting the one that leaves, across pair by pair.
    Sliding,
    /// Down as [`RowSums::Sliding`], across as differences of prefix sums.
    PrefixSums,
    /// Each row anew, times its weights.
    Weighted,
}

/// Numbers of the staged engine: samples, gradients, products, sums.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum StageNumbers {
    /// i32, i32, i64, i64.
    Integers,
    /// i32, i32, i64, f32: Gaussian windows.
    FloatSums,
    /// i32, f32, f32, f32: Gaussian derivatives.
    FloatGradients,
    /// f32 throughout: float samples, Gaussian smoothing.
    Floats,
}

/// Where corners are found.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum CornerSearch {
    /// During the sweep; no response map is written.
    Sweep,
    /// During the sweep, which also writes a response map for Rosin's threshold or `Quadratic`.
    SweepWithMap,
    /// In a response map.
    Map,
}

impl Plan {
    /// The plan of a configuration for images of a shape. Every valid configuration has one.
    #[must_use]
    pub fn of(shape: &Shape, config: &HarrisConfig) -> Self {
        let engine = engine(shape, config);
        let fits = config.suppression_radius() <= MAX_SUPPRESSION_RADIUS
            && shape.width.max(shape.height) <= MAX_SIDE;
        let needs_map = match config.threshold() {
            Threshold::Rosin { .. } => true,
            Threshold::Absolute(_) | Threshold::Relative(_) | Threshold::None => false,
        } || match config.subpixel() {
            Subpixel::Quadratic => true,
            Subpixel::None | Subpixel::Forstner { .. } => false,
        };
        let corners = match engine {
            Engine::Sweep(_) if fits && needs_map => CornerSearch::SweepWithMap,
            Engine::Sweep(_) if fits => CornerSearch::Sweep,
            Engine::Sweep(_) | Engine::Staged(_) => CornerSearch::Map,
        };
        Self { engine, corners }
    }
}

impl SweepEngine {
    /// The engine without the numbers that depend on a configuration.
    #[must_use]
    pub fn kind(&self) -> String {
        match self {
            Self::Tile(tile) => format!("tiles of {}", tile.numbers),
            Self::Row(row) => row.kind().to_owned(),
            Self::TileOrRow { tile, row, .. } => format!("tiles of {} or {}", tile.numbers, row.kind()),
        }
    }
}

impl RowPlan {
    fn kind(&self) -> &'static str {
        match self {
            Self::I16 { .. } => "rows of i16",
            Self::F32Exact { .. } => "rows of f32 with exact sums",
            Self::F32Rounded => "rows of f32",
        }
    }
}

fn engine(shape: &Shape, config: &HarrisConfig) -> Engine {
    let numerics = Numerics::of(config, shape.samples, shape.channels);
    if !is_swept(config, shape.channels, &numerics) {
        return Engine::Staged(stage_numbers(&numerics));
    }
    let short = fits_i16_i32(shape.samples, config, &numerics);
    // Unsigned sums have instructions in the longest vectors alone.
    let unsigned = shape.vectors.are_longest() && numerics.sums_fit_u32() && !numerics.sums_fit_i32();
    let row = if short { i16_rows(shape, config) } else { f32_rows(config, &numerics) };
    let i16_tile = if short || unsigned { i16_tile(shape.vectors, config) } else { None };
    // Where i16 hold all numbers, rows of them are faster than tiles of f32.
    let tile = i16_tile.or_else(|| if short { None } else { f32_tile(shape, config, &numerics) });
    Engine::Sweep(match tile {
        None => SweepEngine::Row(row),
        Some((tile, None)) => SweepEngine::Tile(tile),
        Some((tile, Some(above))) => SweepEngine::TileOrRow { tile, above, row },
    })
}

/// Whether one pass down strips computes the responses.
fn is_swept(config: &HarrisConfig, channels: usize, numerics: &Numerics) -> bool {
    let exact = numerics.gradient == NumberKind::Integer;
    let has_gradient = match config.gradient() {
        Gradient::Box { .. } => numerics.gradients_fit_f32(),
        Gradient::Sobel3 | Gradient::Scharr3 | Gradient::Central | Gradient::GaussianDerivative { .. } => {
            true
        }
        Gradient::Sobel5 | Gradient::Sobel7 => false,
    };
    let has_window = match config.window() {
        // Products of one channel are rounded once, as the contract has it; of several channels
        // they must be exact.
        Window::Gaussian { .. } => !exact || channels == 1 || numerics.products_fit_f32(),
        Window::Box { .. } | Window::Binomial { .. } => !exact || numerics.running_sums_fit_f64(ROW_LENGTH),
    };
    let is_centred = config.window().is_centred();
    has_gradient && has_window && is_centred && config.support_radius() <= MAX_SUPPORT_RADIUS
}

/// Whether 16 bits hold the gradients of 8-bit samples, and 32 bits their window sums.
fn fits_i16_i32(samples: SampleType, config: &HarrisConfig, numerics: &Numerics) -> bool {
    let is_byte = match samples {
        SampleType::U8 => true,
        SampleType::U16 | SampleType::F32 => false,
    };
    let is_rounded = match config.smoothing() {
        Smoothing::None | Smoothing::Binomial3 | Smoothing::Binomial5 => true,
        // No stage of i16 keeps the sums of a smoothing.
        Smoothing::Binomial3Exact | Smoothing::Gaussian { .. } => false,
    };
    is_byte
        && is_rounded
        && numerics.gradients_fit_i16()
        && numerics.sums_fit_i32()
        && ThreeTaps::of(config.gradient()).is_some()
}

/// A tile of i16, and the least trace above which it is faster than rows, if it is not always.
fn i16_tile(vectors: Vectors, config: &HarrisConfig) -> Option<(TilePlan, Option<f32>)> {
    let radius = config.window().radius();
    let most = match config.window() {
        Window::Box { .. } => MAX_TILE_BOX_RADIUS,
        Window::Binomial { .. } | Window::Gaussian { .. } => MAX_TILE_RADIUS,
    };
    if !vectors.have_i16_tiles() || radius > most {
        return None;
    }
    let above = match (vectors.are_longest(), radius <= MAX_TILE_RADIUS) {
        (true, true) => None,
        (true, false) => Some(0.0),
        (false, _) => Some(LEAST_TRACE),
    };
    Some((TilePlan { numbers: TileNumbers::I16, columns: tile_columns(vectors, config)? }, above))
}

/// A tile of f32, and the least trace above which it is faster than rows, if it is not always.
fn f32_tile(shape: &Shape, config: &HarrisConfig, numerics: &Numerics) -> Option<(TilePlan, Option<f32>)> {
    let has_gradient = match ThreeTaps::of(config.gradient()) {
        Some(ThreeTaps::Sobel | ThreeTaps::Scharr | ThreeTaps::Central) => true,
        // Boxes of floats are added up in another order.
        Some(ThreeTaps::Box) => shape.samples.is_integer(),
        None => false,
    };
    let radius = config.window().radius();
    if !shape.vectors.are_longest() || !has_gradient || radius > MAX_TILE_RADIUS {
        return None;
    }
    let numbers = if numerics.sums.is_exact() { TileNumbers::F32Exact } else { TileNumbers::F32Rounded };
    let above = if radius == 1 { None } else { Some(0.0) };
    Some((TilePlan { numbers, columns: tile_columns(shape.vectors, config)? }, above))
}

/// Columns that the support leaves of a tile, if they are enough; none where smoothing is a
/// Gaussian.
fn tile_columns(vectors: Vectors, config: &HarrisConfig) -> Option<usize> {
    let lost = 2 * config.support_radius() - StageSmoothing::of(config.smoothing())?.extra_columns();
    (2 * vectors.lanes).checked_sub(lost).filter(|&left| left >= MIN_TILE_COLUMNS)
}

fn i16_rows(shape: &Shape, config: &HarrisConfig) -> RowPlan {
    let Vectors { lanes, in_registers } = shape.vectors;
    let mirrors = match config.border() {
        Border::Reflect101 | Border::Skip => true,
        // What stands for smoothed samples beyond the image is not what samples beyond it give.
        Border::Replicate | Border::Zero => false,
    };
    let by_tiles = in_registers && lanes >= MIN_GRADIENT_LANES && shape.channels == 1 && mirrors;
    let gradients = if by_tiles { RowGradients::Tiles } else { RowGradients::Rows };
    RowPlan::I16 { gradients, sums: row_sums(config.window()) }
}

fn f32_rows(config: &HarrisConfig, numerics: &Numerics) -> RowPlan {
    if numerics.sums.is_exact() {
        RowPlan::F32Exact { sums: row_sums(config.window()) }
    } else {
        RowPlan::F32Rounded
    }
}

fn row_sums(window: Window) -> RowSums {
    match window {
        Window::Box { .. } if window.radius() > MAX_PAIRWISE_RADIUS => RowSums::PrefixSums,
        Window::Box { .. } => RowSums::Sliding,
        Window::Binomial { .. } | Window::Gaussian { .. } => RowSums::Weighted,
    }
}

fn stage_numbers(numerics: &Numerics) -> StageNumbers {
    match (numerics.smoothed, numerics.gradient) {
        (NumberKind::Float, NumberKind::Float | NumberKind::Integer) => StageNumbers::Floats,
        (NumberKind::Integer, NumberKind::Float) => StageNumbers::FloatGradients,
        (NumberKind::Integer, NumberKind::Integer) if numerics.sums.is_exact() => StageNumbers::Integers,
        (NumberKind::Integer, NumberKind::Integer) => StageNumbers::FloatSums,
    }
}

impl Display for Plan {
    fn fmt(&self, f: &mut Formatter<'_>) -> fmt::Result {
        write!(f, "{}, corners {}", self.engine, self.corners)
    }
}

impl Display for Engine {
    fn fmt(&self, f: &mut Formatter<'_>) -> fmt::Result {
        match self {
            Self::Sweep(engine) => engine.fmt(f),
            Self::Staged(numbers) => write!(f, "stages of {numbers}"),
        }
    }
}

impl Display for SweepEngine {
    fn fmt(&self, f: &mut Formatter<'_>) -> fmt::Result {
        match self {
            Self::Tile(tile) => tile.fmt(f),
            Self::Row(row) => row.fmt(f),
            Self::TileOrRow { tile, above, row } => {
                write!(f, "{tile} where the least trace exceeds {above}, else {row}")
            }
        }
    }
}

impl Display for TilePlan {
    fn fmt(&self, f: &mut Formatter<'_>) -> fmt::Result {
        write!(f, "tiles of {} columns, {}", self.columns, self.numbers)
    }
}

impl Display for TileNumbers {
    fn fmt(&self, f: &mut Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Self::I16 => "i16",
            Self::F32Exact => "f32 with exact sums",
            Self::F32Rounded => "f32",
        })
    }
}

impl Display for RowPlan {
    fn fmt(&self, f: &mut Formatter<'_>) -> fmt::Result {
        match self {
            Self::I16 { gradients: RowGradients::Rows, sums } => write!(f, "rows of i16, {sums}"),
            Self::I16 { gradients: RowGradients::Tiles, sums } => {
                write!(f, "rows of i16, gradients by tiles, {sums}")
            }
            Self::F32Exact { sums } => write!(f, "rows of f32 with exact sums, {sums}"),
            Self::F32Rounded => f.write_str("rows of f32"),
        }
    }
}

impl Display for RowSums {
    fn fmt(&self, f: &mut Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Self::Sliding => "sliding",
            Self::PrefixSums => "prefix sums",
            Self::Weighted => "weighted",
        })
    }
}

impl Display for StageNumbers {
    fn fmt(&self, f: &mut Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Self::Integers => "integers",
            Self::FloatSums => "integers, sums of f32",
            Self::FloatGradients => "integers, gradients of f32",
            Self::Floats => "f32",
        })
    }
}

impl Display for CornerSearch {
    fn fmt(&self, f: &mut Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Self::Sweep => "during the sweep",
            Self::SweepWithMap => "during the sweep, with a response map",
            Self::Map => "in a response map",
        })
    }
}
