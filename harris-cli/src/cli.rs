//! The subcommands, their exit codes, and one line for each error.

use std::io;
use std::path::{Path, PathBuf};
use std::process::ExitCode;

use anyhow::{Context, Result};
use clap::error::ErrorKind;
use clap::{CommandFactory, Parser, Subcommand};
use clap_complete::Shell;

use crate::messages::{WrongArguments, error_line, one_line};
use crate::{bench, detect, matching, output, reproduce, score, stream};

/// Finds corners and blobs in photographs and videos, and matches them
///
/// The exit code is 0 for success, 1 if something failed, and 2 if the arguments are wrong. After
/// Ctrl-C it is 130, and 128 and the signal's number after another signal.
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
    Score(score::Args),
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
/// See [`Cli`] for the exit code.
#[must_use]
pub fn main() -> ExitCode {
    output::remove_on_signals();
    let cli = match Cli::try_parse() {
        Ok(cli) => cli,
        Err(error)
            if error.use_stderr() && error.kind() != ErrorKind::DisplayHelpOnMissingArgumentOrSubcommand =>
        {
            output::message(one_line(&error.render().to_string()));
            return ExitCode::from(2);
        }
        Err(help) => return show(&help),
    };
    let result = match cli.command {
        Command::Detect(args) => detect::run(args),
        Command::Stream(args) => stream::run(args),
        Command::Match(args) => matching::run(args),
        Command::Score(args) => score::run(args),
        Command::Bench(args) => bench::run(args),
        Command::Reproduce(args) => reproduce::run(args),
        Command::Completions { shell } => completions(shell),
        Command::Man { folder } => man(&folder),
    };
    result.unwrap_or_else(|error| {
        output::message(error_line(&error));
        if error.is::<WrongArguments>() { ExitCode::from(2) } else { ExitCode::FAILURE }
    })
}

/// Prints the help or the version.
fn show(help: &clap::Error) -> ExitCode {
    match help.print() {
        Err(error) if error.kind() != io::ErrorKind::BrokenPipe => {
            output::message(format_args!("error: cannot write to standard output: {error}"));
            ExitCode::FAILURE
        }
        // 2 if the help is there because arguments are missing.
        _ => ExitCode::from(u8::try_from(help.exit_code()).unwrap_or(1)),
    }
}

fn completions(shell: Shell) -> Result<ExitCode> {
    let mut script = Vec::new();
    clap_complete::generate(shell, &mut Cli::command(), "harris", &mut script);
    output::print(&String::from_utf8_lossy(&script))?;
    Ok(ExitCode::SUCCESS)
}

fn man(folder: &Path) -> Result<ExitCode> {
    clap_mangen::generate_to(Cli::command(), folder)
        .with_context(|| format!("cannot write to {}", folder.display()))?;
    Ok(ExitCode::SUCCESS)
}
