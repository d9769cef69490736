//! Stage 9: order, least distance, number.

use crate::Keypoint;
use crate::config::{HarrisConfig, Order};

/// Selects from `corners`, which lie at pixel centres and may come in any order, by least distance and number,
/// and puts them in order.
///
/// Corners are taken from the strongest on; one is kept when every kept one is at least
/// [`min_distance`](HarrisConfig::min_distance) away, until there are [`max_corners`](HarrisConfig::max_corners).
#[must_use]
pub fn select(mut corners: Vec<Keypoint>, config: &HarrisConfig) -> Vec<Keypoint> {
    let most = config.max_corners().unwrap_or(usize::MAX);
    let squared = squared_distance(config.min_distance());
    corners.sort_unstable();
    if squared > 1 {
        corners = spread(&corners, squared, most);
    }
    corners.truncate(most);
    if config.order() == Order::Raster {
        corners.sort_unstable_by(Keypoint::raster_cmp);
    }
    corners
}

/// The least integer that is at least d²; squared distances between pixels are integers, so that
/// dx² + dy² ≥ d² is the same as dx² + dy² ≥ it. The square of an f32 is exact in f64, and no two pixels are
/// 2⁶³ apart in squares, where the conversion saturates.
fn squared_distance(distance: f32) -> i64 {
    (f64::from(distance) * f64::from(distance)).ceil() as i64
}

/// Keeps the corners that are far enough from those kept before, in the order given.
///
/// Kept corners are filed in square cells of at least the distance, so that only 3 × 3 of them hold any that
/// are nearer.
fn spread(corners: &[Keypoint], squared: i64, most: usize) -> Vec<Keypoint> {
    let extent = |coordinate: fn(&Keypoint) -> f32| {
        corners.iter().map(|k| coordinate(k) as i64).max().unwrap_or(0) + 1
    };
    let (width, height) = (extent(|k| k.x), extent(|k| k.y));
    // One cell for all where the distance is longer than the image.
    let mut cell = ((squared as f64).sqrt().ceil() as i64).clamp(1, width.max(height));
    // Fewer cells than corners would need are enough: a small distance must not cost more memory than the corners.
    while (width / cell + 1) * (height / cell + 1) > 4 * (corners.len() as i64 + 16) {
        cell *= 2;
    }
    let (columns, rows) = (width / cell + 1, height / cell + 1);
    let mut cells = vec![Vec::<(i64, i64)>::new(); (columns * rows) as usize];
    let mut kept = Vec::new();
    for corner in corners {
        if kept.len() == most {
            break;
        }
        let (x, y) = (corner.x as i64, corner.y as i64);
        let (column, row) = (x / cell, y / cell);
        let near = |cell: i64, cells: i64| (cell - 1).max(0)..=(cell + 1).min(cells - 1);
        let free = near(row, rows).all(|row| {
            near(column, columns).all(|column| {
                let far = |&(u, v): &(i64, i64)| (x - u) * (x - u) + (y - v) * (y - v) >= squared;
                cells[(row * columns + column) as usize].iter().all(far)
            })
        });
        if free {
            cells[(row * columns + column) as usize].push((x, y));
            kept.push(*corner);
        }
    }
    kept
}
