//! Messages for people: each error is one line.

use std::fmt;
use std::time::Duration;

/// An error of the arguments, which ends the program with the exit code 2.
#[derive(Debug)]
pub(crate) struct WrongArguments(pub(crate) String);

impl fmt::Display for WrongArguments {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.0)
    }
}

impl std::error::Error for WrongArguments {}

/// Formats a number of things, such as `1 image` and `2 images`.
pub(crate) fn count(number: usize, thing: &str) -> String {
    format!("{number} {thing}{}", if number == 1 { "" } else { "s" })
}

/// Returns a time in milliseconds. It has no digits behind those of its nanoseconds.
pub(crate) fn milliseconds(time: Duration) -> f64 {
    time.as_nanos() as f64 / 1e6
}

/// Returns a time in seconds in milliseconds, to the nanosecond.
pub(crate) fn rounded_milliseconds(seconds: f64) -> f64 {
    (seconds * 1e9).round() / 1e6
}

/// Formats an error and its causes in one line.
pub(crate) fn error_line(error: &anyhow::Error) -> String {
    one_line(&format!("error: {error:#}"))
}

/// The most characters of a message.
const MAX_LENGTH: usize = 10_000;

/// Removes a message's line breaks, and the usage that follows it. Cuts off very long ones.
pub(crate) fn one_line(message: &str) -> String {
    let message = message.split("\n\nUsage:").next().unwrap_or(message);
    let message = message.split("\n\nFor more information").next().unwrap_or(message);
    let message = message.trim_end().replace("\n\n  tip: ", "; ");
    let line = message.split_whitespace().collect::<Vec<_>>().join(" ");
    match line.char_indices().nth(MAX_LENGTH) {
        Some((end, _)) => format!("{}...", &line[..end]),
        None => line,
    }
}

/// Returns an error of the arguments.
pub(crate) fn wrong(message: impl Into<String>) -> anyhow::Error {
    WrongArguments(message.into()).into()
}

#[cfg(test)]
mod tests {
    use super::one_line;

    #[test]
    fn a_tip_is_a_part_of_the_sentence() {
        let message = "error: no '--fast'\n\n  tip: use '--last'\n\nUsage: harris detect\n";
        assert_eq!(one_line(message), "error: no '--fast'; use '--last'");
    }
}
