//! Stage 9: order, least distance, number.

mod distance;
mod order;

use crate::Keypoint;
use crate::config::{HarrisConfig, Order};
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
    let Memory { keys, taken } = memory;
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
    let Memory { keys, taken } = memory;
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

fn selected<T: Listed>(list: &mut Vec<T>, config: &HarrisConfig, taken: &mut Vec<u64>) -> Vec<Keypoint> {
    let most = config.max_corners().unwrap_or(usize::MAX);
    // No two pixels are nearer than 1.
    let spread = config.min_distance() > 1.0;
    let by_strength = spread || most < list.len() || config.order() == Order::Response;
    if by_strength {
        T::sort(list, Order::Response);
    }
    if spread {
        distance::spread(list, config.min_distance(), most, taken);
    }
    list.truncate(most);
    if config.order() == Order::Raster {
        T::sort(list, Order::Raster);
    }
    list.iter().map(|corner| corner.keypoint()).collect()
}
