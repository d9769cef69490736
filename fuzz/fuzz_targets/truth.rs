//! Any text is a list of places or an error.

#![no_main]

use libfuzzer_sys::fuzz_target;

fuzz_target!(|text: &[u8]| {
    let _ = harris_cli::score::check_list(text);
});
