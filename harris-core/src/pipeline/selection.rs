//! Stage 9: order, least distance, number.

use crate::Keypoint;
use crate::config::{HarrisConfig, Order};
use crate::keypoint::strength;

/// Selects from `corners`, which lie at pixel centres and may come in any order, by least distance and number,
/// and puts them in order.
///
/// Corners are taken from the strongest on; one is kept when every kept one is at least
/// [`min_distance`](HarrisConfig::min_distance) away, until there are [`max_corners`](HarrisConfig::max_corners).
#[must_use]
pub fn select(corners: Vec<Keypoint>, config: &HarrisConfig) -> Vec<Keypoint> {
    select_with(corners, config, &mut Vec::new())
}

/// The same with memory to sort in, whose contents mean nothing: kept from one list to the next, it is not allocated anew.
#[must_use]
pub fn select_with(
    mut corners: Vec<Keypoint>,
    config: &HarrisConfig,
    memory: &mut Vec<u64>,
) -> Vec<Keypoint> {
    let most = config.max_corners().unwrap_or(usize::MAX);
    let squared = squared_distance(config.min_distance());
    sort(&mut corners, memory);
    if squared > 1 {
        corners = spread(&corners, squared, most);
    }
    corners.truncate(most);
    if config.order() == Order::Raster {
        corners.sort_unstable_by(Keypoint::raster_cmp);
    }
    corners
}

/// Sorts corners, by numbers of 64 bits where they lie at pixels below 65536: several times as quick.
fn sort(corners: &mut [Keypoint], keys: &mut Vec<u64>) {
    keys.clear();
    keys.extend(corners.iter().map_while(key));
    if keys.len() < corners.len() {
        corners.sort_unstable();
        return;
    }
    for (corner, &key) in corners.iter_mut().zip(sorted(keys)) {
        *corner = corner_of(key);
    }
}

/// The keys in order, in their own memory, of which more may be used than they take: many are dealt out to as many buckets first.
fn sorted(keys: &mut Vec<u64>) -> &[u64] {
    let count = keys.len();
    if count < FEW {
        keys.sort_unstable();
        return keys;
    }
    let (least, most) =
        keys.iter().fold((u64::MAX, 0), |(least, most), &key| (key.min(least), key.max(most)));
    let shift = (u64::BITS - (most - least).leading_zeros()).saturating_sub(count.ilog2());
    let bucket = |key: u64| ((key - least) >> shift) as usize;
    keys.resize(2 * count + bucket(most) + 1, 0);
    let (keys, rest) = keys.split_at_mut(count);
    let (dealt, places) = rest.split_at_mut(count);
    // How many a bucket has; where its next one goes; where it ends.
    for &mut key in &mut *keys {
        places[bucket(key)] += 1;
    }
    let mut end = 0;
    for place in &mut *places {
        end += std::mem::replace(place, end);
    }
    for &mut key in keys {
        let place = &mut places[bucket(key)];
        dealt[*place as usize] = key;
        *place += 1;
    }
    let mut start = 0;
    for &mut end in places {
        dealt[start..end as usize].sort_unstable();
        start = end as usize;
    }
    dealt
}

/// Fewer keys are sorted at once.
const FEW: usize = 512;

/// A number that orders corners as [`Keypoint`]s are: strength, y, x; `None` where 64 bits do not hold it.
fn key(corner: &Keypoint) -> Option<u64> {
    let whole = |v: f32| (f32::from(v as u16).to_bits() == v.to_bits()).then_some(v as u16);
    let (x, y) = (whole(corner.x)?, whole(corner.y)?);
    let key = u64::from(!strength(corner.response)) << 32 | u64::from(y) << 16 | u64::from(x);
    (corner.scale == 1.0).then_some(key)
}

fn corner_of(key: u64) -> Keypoint {
    let response = f32::from_bits((!((key >> 32) as u32) ^ 1).rotate_right(1));
    Keypoint::new(f32::from(key as u16), f32::from((key >> 16) as u16), response)
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

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn keys_are_sorted_however_many_and_however_spread() {
        let mut random = fastrand::Rng::with_seed(1);
        // Most ways with a key that is far from the others, and in memory that had others before.
        let mut memory = vec![7; 3 * FEW];
        for count in [0, 1, 2, FEW - 1, FEW, FEW + 1, 3000, 20_000] {
            for bits in [0, 1, 8, 32, 50, 64] {
                for outlier in [None, Some(0), Some(u64::MAX)] {
                    let mut keys: Vec<u64> =
                        (0..count).map(|_| random.u64(..).checked_shr(64 - bits).unwrap_or(5)).collect();
                    if let (Some(key), Some(last)) = (outlier, keys.last_mut()) {
                        *last = key;
                    }
                    memory.clear();
                    memory.extend_from_slice(&keys);
                    keys.sort();
                    assert_eq!(sorted(&mut memory), keys, "{count} of {bits} bits, {outlier:?}");
                }
            }
        }
    }

    #[test]
    fn short_keys_order_as_keypoints_do_and_give_them_back() {
        let responses = [1e-40, 0.25, 0.5, 7.0, -0.5, -7.0, f32::INFINITY];
        let places = [(0.0, 0.0), (1.0, 0.0), (0.0, 1.0), (65535.0, 3.0), (2.0, 65535.0)];
        let mut corners = Vec::new();
        for response in responses {
            corners.extend(places.map(|(x, y)| Keypoint::new(x, y, response)));
        }
        let mut expected = corners.clone();
        expected.sort();
        // Corners that have no short key are sorted, too, among others.
        let blob = Keypoint { scale: 2.0, ..corners[0] };
        for more in
            [None, Some(Keypoint::new(65536.0, 0.0, 0.5)), Some(Keypoint::new(-0.0, 0.5, 0.5)), Some(blob)]
        {
            let (mut corners, mut expected) = (corners.clone(), expected.clone());
            corners.extend(more);
            expected.extend(more);
            expected.sort();
            sort(&mut corners, &mut Vec::new());
            assert_eq!(corners, expected);
        }
        assert_eq!(key(&Keypoint::new(65536.0, 0.0, 0.5)), None);
        assert_eq!(key(&Keypoint::new(-0.0, 0.0, 0.5)), None);
    }
}
