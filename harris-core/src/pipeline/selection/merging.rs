//! Merging of corners that refinement moved together.

use std::collections::HashMap;

use super::order::by_strength;
use crate::config::HarrisConfig;
use crate::error::Error;
use crate::keypoint::Keypoint;
use crate::memory;

/// Drops each refined corner that lies nearer than [`min_distance`](HarrisConfig::min_distance) to
/// a stronger one that is kept.
///
/// Nothing is dropped unless the configuration has a least distance and
/// [`Subpixel::Forstner`](crate::Subpixel::Forstner). The others stay in their order. `pixels` has
/// the corners in the order of `refined`, at the centres of their pixels, which order corners of
/// equal response.
///
/// ```
/// use harris_core::pipeline::selection::merge;
/// use harris_core::{HarrisConfig, Keypoint, Subpixel};
///
/// let config = HarrisConfig::builder().min_distance(2.0).subpixel(Subpixel::Forstner { radius: 5 }).build()?;
/// let pixels = [Keypoint::new(10.0, 9.0, 3.0), Keypoint::new(13.0, 9.0, 2.0), Keypoint::new(17.0, 9.0, 1.0)];
/// let mut refined = pixels.to_vec();
/// (refined[0].x, refined[1].x) = (11.5, 11.75);
/// merge(&mut refined, &pixels, &config)?;
/// assert_eq!(refined.iter().map(|corner| corner.x).collect::<Vec<_>>(), [11.5, 17.0]);
/// # Ok::<(), harris_core::Error>(())
/// ```
///
/// # Errors
/// [`Error::OutOfMemory`].
///
/// # Panics
/// Where the lists have different lengths.
pub fn merge(refined: &mut Vec<Keypoint>, pixels: &[Keypoint], config: &HarrisConfig) -> Result<(), Error> {
    assert_eq!(refined.len(), pixels.len(), "lists of the same corners");
    if !config.merges_places() {
        return Ok(());
    }
    let distance = config.min_distance();
    let mut strongest_first = memory::collect(0..pixels.len())?;
    strongest_first.sort_unstable_by(|&i, &j| by_strength(&pixels[i], &pixels[j], config.ties()));
    // Cells a little wider than the distance: nearer corners lie in the 3 x 3 cells around, however
    // quotients are rounded.
    let side = 1.001 * distance.max(1.0);
    let cell = |place: f32| (f64::from(place) / side) as i64;
    let mut kept_in: HashMap<(i64, i64), Vec<usize>> = HashMap::new();
    let bytes = pixels.len() * size_of::<((i64, i64), Vec<usize>)>();
    kept_in.try_reserve(pixels.len()).map_err(|_| Error::OutOfMemory { bytes })?;
    let mut is_kept = memory::filled(pixels.len(), false)?;
    for i in strongest_first {
        let (column, row) = (cell(refined[i].x), cell(refined[i].y));
        let is_near = |&j: &usize| {
            let [dx, dy] = [(refined[i].x, refined[j].x), (refined[i].y, refined[j].y)]
                .map(|(own, other)| f64::from(own) - f64::from(other));
            dx * dx + dy * dy < distance * distance
        };
        let around =
            (row - 1..=row + 1).flat_map(|row| (column - 1..=column + 1).map(move |column| (column, row)));
        if !around.filter_map(|cell| kept_in.get(&cell)).flatten().any(is_near) {
            is_kept[i] = true;
            kept_in.entry((column, row)).or_default().push(i);
        }
    }
    let mut is_kept = is_kept.into_iter();
    refined.retain(|_| is_kept.next().expect("one for each corner"));
    Ok(())
}
