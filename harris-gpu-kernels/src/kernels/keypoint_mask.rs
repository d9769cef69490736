//! Masks of keypoints: 1 at the nearest pixel of each keypoint.

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
                let [x, y] = [0, 1].map(|axis| nearest_pixel(s.load(keypoints, 4 * i as usize + axis)));
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

/// Index of the nearest pixel along an axis, halves rounded up; `u32::MAX` if it would be negative.
#[inline(always)]
fn nearest_pixel(coordinate: f32) -> u32 {
    if coordinate < -0.5 {
        return u32::MAX;
    }
    // From −0.5 to 0 the conversion gives 0.
    let whole = coordinate as u32;
    whole + u32::from(coordinate - whole as f32 >= 0.5)
}
