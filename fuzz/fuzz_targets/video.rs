//! Any bytes are a video in Y4M: whole frames, then an end or an error.

#![no_main]

use harris_cli::video::Frames;
use libfuzzer_sys::fuzz_target;

fuzz_target!(|bytes: &[u8]| {
    let Ok(mut frames) = Frames::y4m(bytes, 1 << 16) else { return };
    while let Some(Ok(frame)) = frames.next() {
        assert!(u64::from(frame.width()) * u64::from(frame.height()) <= 1 << 16);
        frames.recycle(frame);
    }
});
