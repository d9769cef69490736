//! Any bytes are an image or an error, within the limit of pixels.

#![no_main]

use harris_cli::input::{ReadOptions, decode_image};
use libfuzzer_sys::fuzz_target;

fuzz_target!(|bytes: &[u8]| {
    let options = ReadOptions { max_pixels: 1 << 16, ..ReadOptions::default() };
    if let Ok(image) = decode_image(bytes, true, &options) {
        assert!(u64::from(image.width()) * u64::from(image.height()) <= options.max_pixels);
        assert!(harris_core::ImageView::try_from(&image).is_ok());
    }
});
