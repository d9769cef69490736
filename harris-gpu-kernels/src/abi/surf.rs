//! The SURF descriptor's window, tables and cells.

/// Values.
pub const LENGTH: u32 = 64;
/// Samples in the circle that the direction is taken from.
pub const CIRCLE: u32 = 109;
/// Sectors that are tried.
pub const DIRECTIONS: u32 = 42;
/// Samples along a side of the window.
pub const GRID: u32 = 24;
/// Samples along a side of a subregion.
pub const REGION: u32 = 9;
/// Samples from one subregion to the next.
pub const SPACING: u32 = 5;
/// Subregions along a side of the window.
pub const REGIONS: u32 = 4;

/// Where the table has the circle's samples: column, row and weight each.
pub const CIRCLE_TABLE: u32 = 0;
/// The sectors: where each begins and ends, x and y.
pub const SECTOR_TABLE: u32 = CIRCLE_TABLE + 3 * CIRCLE;
/// The weights of a subregion's samples.
pub const REGION_TABLE: u32 = SECTOR_TABLE + 4 * DIRECTIONS;
/// The weights of the subregions.
pub const REGIONS_TABLE: u32 = REGION_TABLE + REGION * REGION;
/// Floats of the table.
pub const TABLE: u32 = REGIONS_TABLE + REGIONS * REGIONS;

/// Shared cells of the sectors; the window's samples, and before them the circle's, come first.
pub const SECTOR_CELLS: u32 = GRID * GRID;
/// Those of the values.
pub const VALUE_CELLS: u32 = SECTOR_CELLS + DIRECTIONS;

const _: () = assert!(VALUE_CELLS + LENGTH <= 688);
