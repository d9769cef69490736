//! Start and end of a program: reading arguments, and one line for each error.

use std::process::ExitCode;

use clap::Parser;
use clap::error::ErrorKind;

/// Reads the arguments as `Args`, runs the program, and prints an error in one line.
///
/// The exit code is 0 for success, 1 if the program failed, and 2 if the arguments are wrong.
pub fn main<Args: Parser>(run: impl FnOnce(Args) -> anyhow::Result<ExitCode>) -> ExitCode {
    let args = match Args::try_parse() {
        Ok(args) => args,
        Err(error) if matches!(error.kind(), ErrorKind::DisplayHelp | ErrorKind::DisplayVersion) => {
            error.exit()
        }
        Err(error) => {
            eprintln!("{}", one_line(&error.render().to_string()));
            return ExitCode::from(2);
        }
    };
    run(args).unwrap_or_else(|error| {
        eprintln!("{}", error_line(&error));
        ExitCode::FAILURE
    })
}

/// Formats an error and its causes in one line.
#[must_use]
pub fn error_line(error: &anyhow::Error) -> String {
    one_line(&format!("error: {error:#}"))
}

/// Removes a message's line breaks, and the usage that follows it.
fn one_line(message: &str) -> String {
    let message = message.split("\n\nUsage:").next().unwrap_or(message);
    let message = message.split("\n\nFor more information").next().unwrap_or(message);
    message.split_whitespace().collect::<Vec<_>>().join(" ")
}
