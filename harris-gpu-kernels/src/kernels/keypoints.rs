//! Keypoints from sorted lists of keys.

use super::corner_list::{CornerList, pixel_of_key};
use super::geometry::Size;
use crate::Simt;

/// Writes the keypoint of each key: x, y, scale 1 and response.
///
/// With `subpixel` x and y are refined by the vertex of a parabola through the response and its two
/// neighbours, where these are valid; by at most half a pixel.
pub(crate) fn write_keypoints<S: Simt>(
    s: S,
    keys: S::Buffer<u64>,
    response: S::Buffer<f32>,
    keypoints: S::Buffer<f32>,
    state: S::Buffer<u32>,
    pitch: u32,
    most: u32,
    width: u32,
    height: u32,
    frame: u32,
    frame_behind: u32,
    subpixel: u32,
) {
    let list = CornerList::new(s, state, pitch, most);
    let i = s.index();
    if i >= list.count {
        return;
    }
    let key = s.load_constant(keys, list.at(i));
    let (x, y) = pixel_of_key(key, width);
    let peak = f32::from_bits(!(key >> 32) as u32);
    let size = Size { width, height };
    let valid = |x: u32, y: u32| x < width && y < height && size.within_frame((frame, frame_behind), x, y);
    let offset = |before: (u32, u32), after: (u32, u32)| {
        if subpixel == 0 || !valid(before.0, before.1) || !valid(after.0, after.1) {
            return 0.0;
        }
        let read = |(x, y): (u32, u32)| s.load_constant(response, (y * width + x) as usize);
        let (before, after) = (read(before), read(after));
        let curvature = (before - 2.0 * peak) + after;
        if curvature < 0.0 { (0.5 * (before - after) / curvature).clamp(-0.5, 0.5) } else { 0.0 }
    };
    let dx = offset((x.wrapping_sub(1), y), (x + 1, y));
    let dy = offset((x, y.wrapping_sub(1)), (x, y + 1));
    let first = 4 * list.at(i);
    s.store(keypoints, first, x as f32 + dx);
    s.store(keypoints, first + 1, y as f32 + dy);
    s.store(keypoints, first + 2, 1.0);
    s.store(keypoints, first + 3, peak);
}
