//! Stage 9: the order of corners, their least distance and their greatest number.

mod distance;
mod merging;
mod order;

use crate::config::{HarrisConfig, Order};
use crate::error::Error;
use crate::keypoint::Keypoint;
use crate::memory;
pub use merging::merge;
#[doc(hidden)]
pub use order::Key;
use order::Listed;

/// Scratch memory for a selection, kept from one list to the next so that nothing is allocated
/// anew.
///
/// It has up to 16 bytes a corner. With a least distance it also has up to one bit a pixel, from
/// the image's first pixel to the farthest corner.
#[doc(hidden)]
#[derive(Clone, Debug, Default)]
pub struct Memory {
    keys: Vec<u64>,
    taken: Vec<u64>,
    doubtful: Vec<u64>,
}

/// Selects corners by least distance and number, and puts them in the configuration's order.
///
/// `corners` lie at pixel centres, in any order. Starting with the strongest, a corner is kept when
/// every kept one is at least [`min_distance`](HarrisConfig::min_distance) away. The selection ends
/// at [`max_corners`](HarrisConfig::max_corners).
///
/// # Errors
/// [`Error::OutOfMemory`].
pub fn select(corners: &[Keypoint], config: &HarrisConfig) -> Result<Vec<Keypoint>, Error> {
    select_in(&mut Memory::default(), corners.iter().copied(), config)
}

/// Selects as [`select`] does, in scratch memory that the caller keeps.
///
/// Corners may also lie between pixels.
///
/// # Errors
/// [`Error::OutOfMemory`].
#[doc(hidden)]
pub fn select_in(
    scratch: &mut Memory,
    corners: impl Iterator<Item = Keypoint> + Clone,
    config: &HarrisConfig,
) -> Result<Vec<Keypoint>, Error> {
    let Memory { keys, taken, .. } = scratch;
    if order::keys(corners.clone(), keys)? {
        selected(keys, config, taken)
    } else {
        selected(&mut memory::collect(corners)?, config, taken)
    }
}

/// Selects as [`select`] does, from lists of keys, the corners whose response exceeds `threshold`.
///
/// # Errors
/// [`Error::OutOfMemory`].
#[doc(hidden)]
pub fn select_keys<'a>(
    scratch: &mut Memory,
    lists: impl Iterator<Item = &'a [Key]> + Clone,
    threshold: f32,
    config: &HarrisConfig,
) -> Result<Vec<Keypoint>, Error> {
    let Memory { keys, taken, .. } = scratch;
    let most = lists.clone().map(<[Key]>::len).sum::<usize>();
    memory::reserve(keys, most.saturating_sub(keys.len()))?;
    keys.resize(most, 0);
    let mut count = 0;
    for &key in lists.flatten() {
        // Without a branch: a key that does not exceed the threshold is overwritten by the next
        // one.
        keys[count] = key.0;
        count += usize::from(key.response() > threshold);
    }
    keys.truncate(count);
    selected(keys, config, taken)
}

/// Responses of corners that any complete list must contain, whatever is still unknown of the
/// image.
///
/// `corners` are complete only in a part of the image. `all_is_known(x, y)` tells whether they have
/// every corner as strong, at column x and row y and within
/// [`min_distance`](HarrisConfig::min_distance). A corner is certain when no unknown corner could
/// be selected in its place, unless `most` stronger ones exist.
///
/// Writes the responses of at most `most` certain corners to `responses`, in no order. Returns
/// about how many corners a list made of `corners` alone would have, at most `most`.
///
/// # Errors
/// [`Error::OutOfMemory`].
#[doc(hidden)]
pub fn certain_responses(
    scratch: &mut Memory,
    corners: &[Key],
    (most, config): (usize, &HarrisConfig),
    all_is_known: impl Fn(usize, usize) -> bool,
    responses: &mut Vec<f32>,
) -> Result<usize, Error> {
    let Memory { keys, taken, doubtful } = scratch;
    keys.clear();
    memory::reserve(keys, corners.len())?;
    keys.extend(corners.iter().map(|key| key.0));
    responses.clear();
    memory::reserve(responses, corners.len().min(most))?;
    let mut keep = |key: u64| responses.push(Key(key).response());
    if has_min_distance(config) {
        u64::sort_by_strength(keys, config.ties())?;
        return distance::certain(keys, config.min_distance(), most, all_is_known, keep, [taken, doubtful]);
    }
    u64::strongest(keys, most, config.ties());
    keys.iter().for_each(|&key| keep(key));
    Ok(keys.len())
}

/// Selects from the list and puts what is left in order.
fn selected<T: Listed>(
    list: &mut Vec<T>,
    config: &HarrisConfig,
    taken: &mut Vec<u64>,
) -> Result<Vec<Keypoint>, Error> {
    let most = config.max_corners().unwrap_or(usize::MAX);
    let is_sorted = has_min_distance(config);
    if is_sorted {
        T::sort_by_strength(list, config.ties())?;
        distance::keep_apart(list, config.min_distance(), most, taken)?;
    } else {
        T::strongest(list, most, config.ties());
    }
    match config.order() {
        Order::Response if is_sorted => {}
        Order::Response => T::sort_by_strength(list, config.ties())?,
        Order::Raster => T::sort_by_rows(list)?,
    }
    memory::collect(list.iter().map(|corner| corner.keypoint()))
}

/// Whether the least distance between corners is more than that of two neighbouring pixels.
fn has_min_distance(config: &HarrisConfig) -> bool {
    config.min_distance() > 1.0
}
