//! Window, tables and shared memory of the SURF descriptor.

/// Values of a descriptor.
pub const LENGTH: u32 = 64;
/// Samples in the circle that determines the orientation.
pub const CIRCLE: u32 = 109;
/// Sectors of directions that are tried.
pub const DIRECTIONS: u32 = 42;
/// Samples along a side of the window.
pub const GRID: u32 = 24;
/// Samples along a side of a subregion.
pub const REGION: u32 = 9;
/// Samples from one subregion to the next.
pub const SPACING: u32 = 5;
/// Subregions along a side of the window.
pub const REGIONS: u32 = 4;

/// Offset of the circle's samples: column, row and weight of each.
pub const CIRCLE_TABLE: u32 = 0;
/// Offset of the sectors: x and y of both ends of each.
pub const SECTOR_TABLE: u32 = CIRCLE_TABLE + 3 * CIRCLE;
/// Offset of the weights of a subregion's samples.
pub const REGION_TABLE: u32 = SECTOR_TABLE + 4 * DIRECTIONS;
/// Offset of the weights of the subregions.
pub const REGIONS_TABLE: u32 = REGION_TABLE + REGION * REGION;
/// Floats of the table.
pub const TABLE: u32 = REGIONS_TABLE + REGIONS * REGIONS;

/// Cells before the sectors: the circle's samples, then the window's.
pub const SECTOR_CELLS: u32 = GRID * GRID;
/// Cells before the descriptor's values.
pub const VALUE_CELLS: u32 = SECTOR_CELLS + DIRECTIONS;

const _: () = assert!(VALUE_CELLS + LENGTH <= 688);
