//! Corners in order.

use crate::Keypoint;
use crate::config::Order;
use crate::keypoint::strength;

/// A corner of a list: itself, or a [`key`], several times as quickly sorted.
pub(super) trait Listed: Copy {
    /// Column and row.
    fn place(self) -> (usize, usize);

    fn keypoint(self) -> Keypoint;

    fn sort(list: &mut Vec<Self>, order: Order);
}

impl Listed for Keypoint {
    fn place(self) -> (usize, usize) {
        (self.x as usize, self.y as usize)
    }

    fn keypoint(self) -> Keypoint {
        self
    }

    fn sort(list: &mut Vec<Self>, order: Order) {
        match order {
            Order::Response => list.sort_unstable(),
            Order::Raster => list.sort_unstable_by(Keypoint::raster_cmp),
        }
    }
}

impl Listed for u64 {
    fn place(self) -> (usize, usize) {
        ((self & 0xFFFF) as usize, (self >> 16 & 0xFFFF) as usize)
    }

    fn keypoint(self) -> Keypoint {
        let (x, y) = (self as u16, (self >> 16) as u16);
        let response = f32::from_bits((!((self >> 32) as u32) ^ 1).rotate_right(1));
        Keypoint::new(x.into(), y.into(), response)
    }

    fn sort(list: &mut Vec<Self>, order: Order) {
        match order {
            Order::Response => sort(list),
            Order::Raster => {
                let turn = |list: &mut [u64]| list.iter_mut().for_each(|key| *key = key.rotate_left(32));
                turn(list);
                sort(list);
                turn(list);
            }
        }
    }
}

/// The keys of corners; whether all have one.
pub(super) fn keys(corners: impl Iterator<Item = Keypoint>, keys: &mut Vec<u64>) -> bool {
    let mut all = true;
    keys.clear();
    keys.extend(corners.map(|corner| {
        let (key, holds) = key(&corner);
        all &= holds;
        key
    }));
    all
}

/// Sorts numbers: many are dealt out to as many buckets first.
fn sort(list: &mut Vec<u64>) {
    let count = list.len();
    if count < FEW {
        list.sort_unstable();
        return;
    }
    let (least, most) =
        list.iter().fold((u64::MAX, 0), |(least, most), &key| (key.min(least), key.max(most)));
    let shift = (u64::BITS - (most - least).leading_zeros()).saturating_sub(count.ilog2());
    let bucket = |key: u64| ((key - least) >> shift) as usize;
    list.resize(2 * count + bucket(most) + 1, 0);
    let (dealt, rest) = list.split_at_mut(count);
    let (keys, places) = rest.split_at_mut(count);
    keys.copy_from_slice(dealt);
    // How many a bucket has; where its next one goes; where it ends.
    for &key in &*keys {
        places[bucket(key)] += 1;
    }
    let mut end = 0;
    for place in &mut *places {
        end += std::mem::replace(place, end);
    }
    for &key in &*keys {
        let place = &mut places[bucket(key)];
        dealt[*place as usize] = key;
        *place += 1;
    }
    let mut start = 0;
    for &mut end in places {
        dealt[start..end as usize].sort_unstable();
        start = end as usize;
    }
    list.truncate(count);
}

/// Fewer keys are sorted at once.
const FEW: usize = 512;

/// A number that orders corners as [`Keypoint`]s are: strength, y, x; and whether it is all of the corner, as it is at pixels below
/// 65536.
fn key(corner: &Keypoint) -> (u64, bool) {
    let (x, y) = (corner.x as u16, corner.y as u16);
    let is = |v: f32, whole: u16| f32::from(whole).to_bits() == v.to_bits();
    let key = u64::from(!strength(corner.response)) << 32 | u64::from(y) << 16 | u64::from(x);
    // Without a branch.
    (key, is(corner.x, x) & is(corner.y, y) & (corner.scale == 1.0))
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
                    sort(&mut memory);
                    assert_eq!(memory, keys, "{count} of {bits} bits, {outlier:?}");
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
        let sorted = |corners: &[Keypoint], by: fn(&Keypoint, &Keypoint) -> std::cmp::Ordering| {
            let mut corners = corners.to_vec();
            corners.sort_by(by);
            corners
        };
        let mut short = Vec::new();
        assert!(keys(corners.iter().copied(), &mut short));
        for (order, expected) in [
            (Order::Response, sorted(&corners, Keypoint::cmp)),
            (Order::Raster, sorted(&corners, Keypoint::raster_cmp)),
        ] {
            u64::sort(&mut short, order);
            let found: Vec<_> = short.iter().map(|key| key.keypoint()).collect();
            assert_eq!(found, expected);
            for (key, corner) in short.iter().zip(expected) {
                assert_eq!(key.place(), (corner.x as usize, corner.y as usize));
            }
        }
        let blob = Keypoint { scale: 2.0, ..corners[0] };
        for long in [
            Keypoint::new(65536.0, 0.0, 0.5),
            Keypoint::new(-0.0, 0.0, 0.5),
            Keypoint::new(0.0, 0.5, 1.0),
            blob,
        ] {
            assert!(!keys([corners[0], long, corners[1]].into_iter(), &mut short), "{long:?}");
        }
    }
}
