//! The subcommands, their exit codes, and one line for each error.

use std::process::ExitCode;

use clap::error::ErrorKind;
use clap::{Parser, Subcommand};

use crate::messages::{error_line, one_line};
use crate::{bench, detect, matching, reproduce, stream};

/// Finds corners and blobs in photographs and videos, and matches them
///
/// The exit code is 0 for success, 1 if something failed, and 2 if the arguments are wrong.
#[derive(Parser)]
#[command(name = "harris", version)]
pub struct Cli {
    #[command(subcommand)]
    command: Command,
}

/// The subcommands.
#[derive(Subcommand)]
enum Command {
    Detect(detect::Args),
    Stream(stream::Args),
    Match(matching::Args),
    Bench(bench::Args),
    Reproduce(reproduce::Args),
}

/// Reads the arguments, runs the subcommand, and prints an error in one line.
///
/// The exit code is 0 for success, 1 if the program failed, and 2 if the arguments are wrong.
#[must_use]
pub fn main() -> ExitCode {
    let cli = match Cli::try_parse() {
        Ok(cli) => cli,
        Err(error)
            if error.use_stderr() && error.kind() != ErrorKind::DisplayHelpOnMissingArgumentOrSubcommand =>
        {
            eprintln!("{}", one_line(&error.render().to_string()));
            return ExitCode::from(2);
        }
        Err(error) => error.exit(),
    };
    let result = match cli.command {
        Command::Detect(args) => detect::run(args),
        Command::Stream(args) => stream::run(args),
        Command::Match(args) => matching::run(args),
        Command::Bench(args) => bench::run(args),
        Command::Reproduce(args) => reproduce::run(args),
    };
    result.unwrap_or_else(|error| {
        eprintln!("{}", error_line(&error));
        ExitCode::FAILURE
    })
}
