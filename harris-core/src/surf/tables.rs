//! Weights and directions, computed in f64 and rounded to f32 once.

use std::f64::consts::PI;
use std::sync::OnceLock;

/// Samples in the circle that the direction is taken from: those less than 6 spacings from the
/// keypoint.
pub const CIRCLE: usize = 109;
/// Directions in which a sector of 60 degrees is tried, 0.15 radians apart.
pub const DIRECTIONS: usize = 42;
/// Samples along a side of the window.
pub const GRID: usize = 24;
/// Samples along a side of a subregion.
pub const REGION: usize = 9;
/// Samples from one subregion to the next; they overlap.
pub const SPACING: usize = 5;
/// Subregions along a side of the window.
pub const REGIONS: usize = 4;

/// The constants of the descriptor.
#[derive(Clone, Debug)]
pub struct Tables {
    /// Offsets of the circle's samples in spacings, by rows, and their weights: a Gaussian of σ =
    /// 2.5.
    pub circle: [(i32, i32, f32); CIRCLE],
    /// Where each sector begins and ends, as unit vectors.
    pub sectors: [[[f32; 2]; 2]; DIRECTIONS],
    /// Weights of a subregion's samples, by rows: a Gaussian of σ = 2.5 about its middle.
    pub region: [f32; REGION * REGION],
    /// Weights of the subregions, by rows: a Gaussian of σ = 1.5 subregions about the keypoint.
    pub regions: [f32; REGIONS * REGIONS],
}

impl Tables {
    /// The tables, made once.
    pub fn get() -> &'static Self {
        static TABLES: OnceLock<Tables> = OnceLock::new();
        TABLES.get_or_init(Self::make)
    }

    fn make() -> Self {
        let bell = |x: f64, y: f64, sigma: f64| (-(x * x + y * y) / (2.0 * sigma * sigma)).exp() as f32;
        let mut circle = [(0, 0, 0.0); CIRCLE];
        let places = (-6..=6).flat_map(|v: i32| (-6..=6).map(move |u: i32| (u, v)));
        for (sample, (u, v)) in circle.iter_mut().zip(places.filter(|(u, v)| u * u + v * v < 36)) {
            *sample = (u, v, bell(u.into(), v.into(), 2.5));
        }
        let unit = |angle: f64| [angle.cos() as f32, angle.sin() as f32];
        Self {
            circle,
            sectors: std::array::from_fn(|i| [0.0, PI / 3.0].map(|width| unit(0.15 * i as f64 + width))),
            region: std::array::from_fn(|i| {
                let middle = (REGION / 2) as f64;
                bell((i % REGION) as f64 - middle, (i / REGION) as f64 - middle, 2.5)
            }),
            regions: std::array::from_fn(|i| {
                bell((i % REGIONS) as f64 - 1.5, (i / REGIONS) as f64 - 1.5, 1.5)
            }),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_circle_is_full_and_sectors_go_round() {
        let tables = Tables::get();
        assert_eq!(tables.circle[CIRCLE - 1].1, 5);
        assert_eq!(tables.circle.iter().filter(|(u, v, _)| (*u, *v) == (0, 0)).count(), 1);
        assert!(0.15 * DIRECTIONS as f64 > 2.0 * PI && 0.15 * (DIRECTIONS - 1) as f64 <= 2.0 * PI);
        assert_eq!(GRID, (REGIONS - 1) * SPACING + REGION);
    }
}
