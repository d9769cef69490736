//! The subcommands, their exit codes, and one line for each error.

use std::path::{Path, PathBuf};
use std::process::ExitCode;

use anyhow::{Context, Result};
use clap::error::ErrorKind;
use clap::{CommandFactory, Parser, Subcommand};
use clap_complete::Shell;

use crate::messages::{error_line, one_line};
use crate::{bench, detect, matching, output, reproduce, stream};

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
    /// Prints a script that completes arguments in a shell
    Completions {
        /// Shell to write the script for
        #[arg(value_enum)]
        shell: Shell,
    },
    /// Writes the manual's pages, one for each subcommand
    Man {
        /// Folder to write to; it must exist
        #[arg(value_name = "FOLDER")]
        folder: PathBuf,
    },
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
        Command::Completions { shell } => completions(shell),
        Command::Man { folder } => man(&folder),
    };
    result.unwrap_or_else(|error| {
        eprintln!("{}", error_line(&error));
        ExitCode::FAILURE
    })
}

fn completions(shell: Shell) -> Result<ExitCode> {
    let mut script = Vec::new();
    clap_complete::generate(shell, &mut Cli::command(), "harris", &mut script);
    output::print(&script)?;
    Ok(ExitCode::SUCCESS)
}

fn man(folder: &Path) -> Result<ExitCode> {
    clap_mangen::generate_to(Cli::command(), folder)
        .with_context(|| format!("cannot write to {}", folder.display()))?;
    Ok(ExitCode::SUCCESS)
}
