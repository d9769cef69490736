//! Masks of keypoints: 1 at the pixel of each.

use crate::Simt;

macro_rules! masks {
    ($($name:ident: $word:ident, $one:literal;)*) => {$(
        pub(crate) fn $name<S: Simt>(
            s: S,
            keypoints: S::Buffer<f32>,
            mask: S::Buffer<$word>,
            count: u32,
            width: u32,
            height: u32,
        ) {
            let i = s.block() * s.threads() + s.thread();
            if i < count {
                let place = [0, 1].map(|axis| pixel(s.load(keypoints, 4 * i as usize + axis)));
                let [x, y] = place;
                if x < width && y < height {
                    s.store(mask, y as usize * width as usize + x as usize, $one);
                }
            }
        }
    )*};
}

masks! {
    keypoint_mask_u8: u8, 1;
    keypoint_mask_f32: f32, 1.0;
}

/// The nearest pixel along an axis, halves up; none is the greatest number.
#[inline(always)]
fn pixel(place: f32) -> u32 {
    if place < -0.5 {
        return u32::MAX;
    }
    // What lies before the first pixel becomes 0.
    let whole = place as u32;
    whole + u32::from(place - whole as f32 >= 0.5)
}
