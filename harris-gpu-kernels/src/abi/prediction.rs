//! The least that the greatest response of an image is, told from those of the images before it: a walk that knows it looks for fewer
//! corners from its beginning on. Where it has not found a greater one, corners may be missing, and it is to be done again without.

/// How many times as great the last one was, as a difference of bits: four times.
pub const MARGIN: u32 = 2 << 23;
/// Images in a row for which it would have held before it is relied on.
pub const LEAST_HELD: u32 = 8;
