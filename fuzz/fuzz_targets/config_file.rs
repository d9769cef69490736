//! Any text is a configuration or an error. What was read is written and read again, equal.

#![no_main]

use harris_cli::options::{ConfigFile, Format};
use libfuzzer_sys::fuzz_target;

fuzz_target!(|text: &str| {
    for format in [Format::Toml, Format::Json] {
        if let Ok(file) = ConfigFile::parse(text, format) {
            let written = file.text(format).expect("a valid configuration has a text");
            assert_eq!(ConfigFile::parse(&written, format).expect("its own text is valid"), file);
        }
    }
});
