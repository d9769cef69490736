//! Stage 9: order, least distance, number.

mod distance;
mod merging;
mod order;

use crate::config::{HarrisConfig, Order};
use crate::keypoint::Keypoint;
pub use merging::merge;
pub use order::Key;
use order::Listed;

/// Memory to select in, whose contents mean nothing: kept from one list to the next, it is not allocated anew.
///
/// It holds up to two words of 64 bits a corner, and up to a bit a pixel, from the image's first to the farthest corner, where corners are to
/// have a least distance.
#[derive(Clone, Debug, Default)]
pub struct Memory {
    keys: Vec<u64>,
    taken: Vec<u64>,
    doubtful: Vec<u64>,
}

/// Selects from `corners`, which lie at pixel centres of an image and may come in any order, by least distance and number,
/// and puts them in order.
///
/// Corners are taken from the strongest on; one is kept when every kept one is at least
/// [`min_distance`](HarrisConfig::min_distance) away, until there are [`max_corners`](HarrisConfig::max_corners).
#[must_use]
pub fn select(corners: &[Keypoint], config: &HarrisConfig) -> Vec<Keypoint> {
    select_in(&mut Memory::default(), corners.iter().copied(), config)
}

/// The same in memory that is kept, of corners wherever they are.
#[must_use]
pub fn select_in(
    memory: &mut Memory,
    corners: impl Iterator<Item = Keypoint> + Clone,
    config: &HarrisConfig,
) -> Vec<Keypoint> {
    let Memory { keys, taken, .. } = memory;
    if order::keys(corners.clone(), keys) {
        selected(keys, config, taken)
    } else {
        selected(&mut corners.collect(), config, taken)
    }
}

/// The same of corners that are keys already, in several lists: those whose response exceeds `threshold`.
#[must_use]
pub fn select_keys<'a>(
    memory: &mut Memory,
    lists: impl Iterator<Item = &'a [Key]> + Clone,
    threshold: f32,
    config: &HarrisConfig,
) -> Vec<Keypoint> {
    let Memory { keys, taken, .. } = memory;
    keys.resize(lists.clone().map(<[Key]>::len).sum(), 0);
    let mut number = 0;
    for &key in lists.flatten() {
        // Without a branch: what does not exceed it is written over.
        keys[number] = key.0;
        number += usize::from(key.response() > threshold);
    }
    keys.truncate(number);
    selected(keys, config, taken)
}

/// Leaves the responses of corners that are in the list whatever other corners there are, unless stronger ones fill it: of the strongest
/// `most`, in no order. That is told from corners among which are all that are as strong in some part of the image: where
/// `all_is_known` of a column and row, and of what is within [`min_distance`](HarrisConfig::min_distance) of it. Returns about how many corners a
/// list of these would have.
pub fn certain_responses(
    memory: &mut Memory,
    corners: &[Key],
    (most, config): (usize, &HarrisConfig),
    all_is_known: impl Fn(usize, usize) -> bool,
    responses: &mut Vec<f32>,
) -> usize {
    let Memory { keys, taken, doubtful } = memory;
    keys.clear();
    keys.extend(corners.iter().map(|key| key.0));
    responses.clear();
    let mut keep = |key: u64| responses.push(Key(key).response());
    if is_spread(config) {
        u64::sort_by_strength(keys, config.ties());
        return distance::certain(keys, config.min_distance(), most, all_is_known, keep, [taken, doubtful]);
    }
    u64::strongest(keys, most, config.ties());
    keys.iter().for_each(|&key| keep(key));
    keys.len()
}

fn selected<T: Listed>(list: &mut Vec<T>, config: &HarrisConfig, taken: &mut Vec<u64>) -> Vec<Keypoint> {
    let most = config.max_corners().unwrap_or(usize::MAX);
    let spread = is_spread(config);
    if spread {
        T::sort_by_strength(list, config.ties());
        distance::spread(list, config.min_distance(), most, taken);
    } else {
        T::strongest(list, most, config.ties());
    }
    match config.order() {
        Order::Response if spread => {}
        Order::Response => T::sort_by_strength(list, config.ties()),
        Order::Raster => T::sort_by_rows(list),
    }
    list.iter().map(|corner| corner.keypoint()).collect()
}

/// Whether corners are to be farther apart than pixels are.
fn is_spread(config: &HarrisConfig) -> bool {
    config.min_distance() > 1.0
}
