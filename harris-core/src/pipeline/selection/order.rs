//! Orders of corners, and keys that sort fast.

use std::cmp::Ordering;
use std::mem;

use crate::config::Ties;
use crate::error::Error;
use crate::keypoint::Keypoint;
use crate::keypoint::strength;
use crate::memory;

/// A corner of a list: a [`Keypoint`], or a key of 64 bits, which sorts several times as fast.
///
/// The least element is the strongest corner.
pub(super) trait Listed: Copy + Ord {
    /// Column and row of the corner's pixel.
    fn place(self) -> (usize, usize);

    /// The corner.
    fn keypoint(self) -> Keypoint;

    /// Sorts by response, the strongest first.
    fn sort_by_strength(list: &mut Vec<Self>, ties: Ties) -> Result<(), Error>;

    /// Sorts from top to bottom, then from left to right.
    fn sort_by_rows(list: &mut Vec<Self>) -> Result<(), Error>;

    /// Keeps the strongest `most`, in no order.
    fn strongest(list: &mut Vec<Self>, most: usize, ties: Ties);
}

impl Listed for Keypoint {
    fn place(self) -> (usize, usize) {
        (self.x as usize, self.y as usize)
    }

    fn keypoint(self) -> Keypoint {
        self
    }

    fn sort_by_strength(list: &mut Vec<Self>, ties: Ties) -> Result<(), Error> {
        list.sort_unstable_by(|one, other| by_strength(one, other, ties));
        Ok(())
    }

    fn sort_by_rows(list: &mut Vec<Self>) -> Result<(), Error> {
        list.sort_unstable_by(Keypoint::raster_cmp);
        Ok(())
    }

    fn strongest(list: &mut Vec<Self>, most: usize, ties: Ties) {
        if most < list.len() {
            list.select_nth_unstable_by(most, |one, other| by_strength(one, other, ties));
            list.truncate(most);
        }
    }
}

/// Compares by response, the strongest first; equal ones in raster order or against it.
pub(super) fn by_strength(one: &Keypoint, other: &Keypoint, ties: Ties) -> Ordering {
    match ties {
        Ties::Ascending => one.cmp(other),
        Ties::Descending => {
            strength(other.response).cmp(&strength(one.response)).then_with(|| other.raster_cmp(one))
        }
    }
}

impl Listed for u64 {
    fn place(self) -> (usize, usize) {
        ((self & 0xFFFF) as usize, (self >> 16 & 0xFFFF) as usize)
    }

    fn keypoint(self) -> Keypoint {
        let (x, y) = (self as u16, (self >> 16) as u16);
        Keypoint::new(x.into(), y.into(), Key(self).response())
    }

    fn sort_by_strength(list: &mut Vec<Self>, ties: Ties) -> Result<(), Error> {
        by_ties(list, ties, sort)
    }

    fn sort_by_rows(list: &mut Vec<Self>) -> Result<(), Error> {
        let exchange_halves = |list: &mut [u64]| list.iter_mut().for_each(|key| *key = key.rotate_left(32));
        exchange_halves(list);
        sort(list)?;
        exchange_halves(list);
        Ok(())
    }

    fn strongest(list: &mut Vec<Self>, most: usize, ties: Ties) {
        if most < list.len() {
            by_ties(list, ties, |list| {
                list.select_nth_unstable(most);
                list.truncate(most);
            });
        }
    }
}

/// Calls `order`, which sorts keys as numbers, on keys whose places are inverted where ties
/// descend.
fn by_ties<R>(list: &mut Vec<u64>, ties: Ties, order: impl FnOnce(&mut Vec<u64>) -> R) -> R {
    const PLACE: u64 = 0xFFFF_FFFF;
    match ties {
        Ties::Ascending => order(list),
        Ties::Descending => {
            list.iter_mut().for_each(|key| *key ^= PLACE);
            let result = order(list);
            list.iter_mut().for_each(|key| *key ^= PLACE);
            result
        }
    }
}

/// A corner at a pixel as one 64-bit number: half as long as a [`Keypoint`], and faster to sort.
///
/// From the upper bits down: inverted strength of the response, row, column. Numbers order as
/// corners do, the strongest first.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[repr(transparent)]
pub struct Key(pub(super) u64);

impl Key {
    /// The key of a corner at column `x` and row `y`.
    #[inline]
    #[must_use]
    pub fn new(x: u16, y: u16, response: f32) -> Self {
        Self(u64::from(!strength(response)) << 32 | u64::from(y) << 16 | u64::from(x))
    }

    /// The response at the pixel.
    #[inline]
    #[must_use]
    pub fn response(self) -> f32 {
        f32::from_bits((!((self.0 >> 32) as u32) ^ 1).rotate_right(1))
    }
}

/// Writes the keys of corners; returns whether all corners are what their keys say.
pub(super) fn keys(corners: impl Iterator<Item = Keypoint>, keys: &mut Vec<u64>) -> Result<bool, Error> {
    let mut all = true;
    keys.clear();
    memory::reserve(keys, corners.size_hint().0)?;
    for corner in corners {
        let (key, holds) = key(&corner);
        all &= holds;
        if keys.len() == keys.capacity() {
            memory::reserve(keys, 1)?;
        }
        keys.push(key);
    }
    Ok(all)
}

/// Sorts numbers: long lists by a radix sort on the upper bits of their range.
///
/// Two digits are sorted, the lower one first. Runs that are equal in both are then sorted by
/// comparison.
fn sort(list: &mut Vec<u64>) -> Result<(), Error> {
    let count = list.len();
    if count < FEW || u32::try_from(count).is_err() {
        list.sort_unstable();
        return Ok(());
    }
    let (least, most) =
        list.iter().fold((u64::MAX, 0), |(least, most), &key| (key.min(least), key.max(most)));
    let shift = (u64::BITS - (most - least).leading_zeros()).saturating_sub(2 * DIGIT);
    let upper = |key: u64| (key - least) >> shift;
    let digits = |key: u64| [upper(key) as usize % DIGITS, upper(key) as usize / DIGITS];
    // For each digit first the number of keys, then the place of the next key.
    let mut places = [[0_u32; DIGITS]; 2];
    for &key in &*list {
        let [low, high] = digits(key);
        places[0][low] += 1;
        places[1][high] += 1;
    }
    for places in &mut places {
        let mut end = 0;
        for place in places {
            end += mem::replace(place, end);
        }
    }
    memory::reserve(list, count)?;
    list.resize(2 * count, 0);
    let (keys, by_low_digit) = list.split_at_mut(count);
    distribute(keys, by_low_digit, &mut places[0], |key| digits(key)[0]);
    distribute(by_low_digit, keys, &mut places[1], |key| digits(key)[1]);
    list.truncate(count);
    for equal in list.chunk_by_mut(|&a, &b| upper(a) == upper(b)) {
        if equal.len() > 1 {
            equal.sort_unstable();
        }
    }
    Ok(())
}

/// Moves each key to the next place of its digit: one pass of a radix sort.
fn distribute(keys: &[u64], out: &mut [u64], places: &mut [u32; DIGITS], digit: impl Fn(u64) -> usize) {
    for &key in keys {
        let place = &mut places[digit(key)];
        out[*place as usize] = key;
        *place += 1;
    }
}

/// Lists shorter than this are sorted by comparison.
const FEW: usize = 512;
/// Bits of a digit.
const DIGIT: u32 = 9;
/// Values of a digit.
const DIGITS: usize = 1 << DIGIT;

/// The key of a corner, and whether the key holds all of it.
///
/// It does at whole coordinates below 65536 and for a scale of 1.
fn key(corner: &Keypoint) -> (u64, bool) {
    let (x, y) = (corner.x as u16, corner.y as u16);
    let is = |v: f32, whole: u16| f32::from(whole).to_bits() == v.to_bits();
    let Key(key) = Key::new(x, y, corner.response);
    // `&` does without a branch.
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
                    sort(&mut memory).unwrap();
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
        let sorted = |corners: &[Keypoint], by: fn(&Keypoint, &Keypoint) -> Ordering| {
            let mut corners = corners.to_vec();
            corners.sort_by(by);
            corners
        };
        let mut short = Vec::new();
        assert!(keys(corners.iter().copied(), &mut short).unwrap());
        type Sort = fn(&mut Vec<u64>) -> Result<(), Error>;
        let descending = |one: &Keypoint, other: &Keypoint| by_strength(one, other, Ties::Descending);
        let sorts: [(Sort, _); 3] = [
            (|list| u64::sort_by_strength(list, Ties::Ascending), sorted(&corners, Keypoint::cmp)),
            (|list| u64::sort_by_strength(list, Ties::Descending), sorted(&corners, descending)),
            (u64::sort_by_rows, sorted(&corners, Keypoint::raster_cmp)),
        ];
        assert_ne!(sorts[0].1, sorts[1].1);
        for (sort, expected) in sorts {
            sort(&mut short).unwrap();
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
            let keys = keys([corners[0], long, corners[1]].into_iter(), &mut short);
            assert!(!keys.unwrap(), "{long:?}");
        }
    }
}
