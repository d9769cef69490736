//! Text on standard output and standard error. A closed pipe is no error, and nothing panics.

use std::fmt::Display;
use std::io::{self, Write};

use anyhow::{Context, Result};

/// Prints text to standard output.
///
/// It is no error if the reader, such as `head`, has closed it.
///
/// # Errors
/// Standard output cannot be written, because its disk is full, for example.
pub fn print(text: &str) -> Result<()> {
    let mut out = IgnoreBrokenPipe::new(io::stdout().lock());
    let written = out.write_all(text.as_bytes()).and_then(|()| out.flush());
    written.context("cannot write to standard output")
}

/// Prints a line to standard error. Nothing happens if that is closed or full.
///
/// Control characters, such as those of a file's name, are shown as U+FFFD.
pub fn message(line: impl Display) {
    let line = line.to_string().replace(char::is_control, "\u{fffd}");
    let _ = writeln!(io::stderr().lock(), "{line}");
}

/// A writer that takes a closed pipe as success, and drops what comes after it.
pub struct IgnoreBrokenPipe<W> {
    out: W,
    closed: bool,
}

impl<W: Write> IgnoreBrokenPipe<W> {
    /// Wraps a writer.
    pub fn new(out: W) -> Self {
        Self { out, closed: false }
    }

    fn unless_closed<T>(&mut self, otherwise: T, act: impl FnOnce(&mut W) -> io::Result<T>) -> io::Result<T> {
        if self.closed {
            return Ok(otherwise);
        }
        match act(&mut self.out) {
            Err(error) if error.kind() == io::ErrorKind::BrokenPipe => {
                self.closed = true;
                Ok(otherwise)
            }
            result => result,
        }
    }
}

impl<W: Write> Write for IgnoreBrokenPipe<W> {
    fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        self.unless_closed(bytes.len(), |out| out.write(bytes))
    }

    fn flush(&mut self) -> io::Result<()> {
        self.unless_closed((), Write::flush)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    struct Fails(io::ErrorKind);

    impl Write for Fails {
        fn write(&mut self, _: &[u8]) -> io::Result<usize> {
            Err(self.0.into())
        }

        fn flush(&mut self) -> io::Result<()> {
            Err(self.0.into())
        }
    }

    #[test]
    fn a_closed_pipe_is_no_error_and_a_full_disk_is() {
        let mut closed = IgnoreBrokenPipe::new(Fails(io::ErrorKind::BrokenPipe));
        assert!(closed.write_all(b"text").is_ok() && closed.flush().is_ok());
        let mut full = IgnoreBrokenPipe::new(Fails(io::ErrorKind::StorageFull));
        assert!(full.write_all(b"text").is_err() && full.flush().is_err());
    }
}
