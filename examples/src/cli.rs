//! How a program starts and ends: arguments in, one clear line for each thing that is wrong.

use std::process::ExitCode;

use clap::Parser;
use clap::error::ErrorKind;

/// Reads the arguments as `Args`, runs the program, and prints what went wrong in one line.
///
/// The exit code is 0, 1 where the program failed, 2 where the arguments are wrong.
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
        eprintln!("{}", complaint(&error));
        ExitCode::FAILURE
    })
}

/// An error and its causes in one line.
#[must_use]
pub fn complaint(error: &anyhow::Error) -> String {
    one_line(&format!("error: {error:#}"))
}

/// A message without its line breaks, and without the usage that follows it.
fn one_line(message: &str) -> String {
    let message = message.split("\n\nUsage:").next().unwrap_or(message);
    let message = message.split("\n\nFor more information").next().unwrap_or(message);
    message.split_whitespace().collect::<Vec<_>>().join(" ")
}
