//! Messages for people: each error is one line.

/// Formats an error and its causes in one line.
pub(crate) fn error_line(error: &anyhow::Error) -> String {
    one_line(&format!("error: {error:#}"))
}

/// Removes a message's line breaks, and the usage that follows it.
pub(crate) fn one_line(message: &str) -> String {
    let message = message.split("\n\nUsage:").next().unwrap_or(message);
    let message = message.split("\n\nFor more information").next().unwrap_or(message);
    message.split_whitespace().collect::<Vec<_>>().join(" ")
}
