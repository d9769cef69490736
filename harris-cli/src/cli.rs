//! The subcommands, their exit codes, and one line for each error.

use std::ffi::OsString;
use std::io;
use std::path::{Path, PathBuf};
use std::process::ExitCode;

use anyhow::{Context, Result};
use clap::error::ErrorKind;
use clap::{CommandFactory, FromArgMatches, Parser, Subcommand};
use clap_complete::Shell;

use crate::examples;
use crate::messages::{WrongArguments, error_line, one_line};
use crate::{bench, detect, matching, output, reproduce, score, stream, track};

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
    #[command(after_help = examples::DETECT, after_long_help = examples::DETECT_WITH_OPENCV)]
    Detect(detect::Args),
    #[command(after_help = examples::STREAM)]
    Stream(stream::Args),
    #[command(after_help = examples::MATCH)]
    Match(matching::Args),
    #[command(after_help = examples::TRACK)]
    Track(track::Args),
    #[command(after_help = examples::SCORE)]
    Score(score::Args),
    #[command(after_help = examples::BENCH)]
    Bench(bench::Args),
    #[command(after_help = examples::REPRODUCE)]
    Reproduce(reproduce::Args),
    /// Prints a script that completes arguments in a shell
    #[command(after_help = examples::COMPLETIONS)]
    Completions {
        /// Shell to write the script for
        #[arg(value_enum)]
        shell: Shell,
    },
    /// Writes the manual's pages, one for each subcommand
    #[command(after_help = examples::MAN)]
    Man {
        /// Folder to write to; it must exist
        #[arg(value_name = "FOLDER")]
        folder: PathBuf,
    },
}

/// Returns the program's command: no value of an option is taken for another option, although it
/// may begin as negative numbers do.
fn command() -> clap::Command {
    Cli::command().mut_subcommands(|command| {
        command.mut_args(|arg| match !arg.is_positional() && arg.get_action().takes_values() {
            true => arg.allow_negative_numbers(true),
            false => arg,
        })
    })
}

/// The options that mean `true` without a value. Their value stands behind `=`, because what follows
/// such an option may be an input.
const SWITCHES: [&str; 2] = ["--color", "--clamp-negative"];

/// Joins these options and a following `true` or `false`, which is hardly an input's name.
fn join_switches(args: impl IntoIterator<Item = OsString>) -> Vec<OsString> {
    let (mut joined, mut is_option) = (Vec::<OsString>::new(), true);
    for arg in args {
        match joined.last_mut() {
            Some(last)
                if is_option
                    && SWITCHES.iter().any(|switch| last == switch)
                    && (arg == "true" || arg == "false") =>
            {
                last.push("=");
                last.push(arg);
            }
            Some(_) | None => {
                is_option &= arg != "--";
                joined.push(arg);
            }
        }
    }
    joined
}

/// Returns the words that call the help of the subcommand in the arguments, or of the program.
fn help_call(args: &[OsString]) -> String {
    let named = args.get(1).and_then(|name| name.to_str());
    let known =
        named.filter(|name| command().find_subcommand(name).is_some_and(|found| found.get_name() != "help"));
    known.map_or_else(|| "harris --help".to_owned(), |name| format!("harris {name} --help"))
}

/// Reads the arguments, runs the subcommand, and prints an error in one line.
///
/// See [`Cli`] for the exit code.
#[must_use]
pub fn main() -> ExitCode {
    output::remove_on_signals();
    let args = join_switches(std::env::args_os());
    let parsed = command().try_get_matches_from(&args);
    let cli = match parsed.and_then(|matches| Cli::from_arg_matches(&matches)) {
        Ok(cli) => cli,
        Err(error)
            if error.use_stderr() && error.kind() != ErrorKind::DisplayHelpOnMissingArgumentOrSubcommand =>
        {
            let line = one_line(&error.render().to_string());
            output::message(format_args!("{line} (see {})", help_call(&args)));
            return ExitCode::from(2);
        }
        Err(help) => return show(&help),
    };
    let result = match cli.command {
        Command::Detect(args) => detect::run(args),
        Command::Stream(args) => stream::run(args),
        Command::Match(args) => matching::run(args),
        Command::Track(args) => track::run(args),
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
    clap_complete::generate(shell, &mut command(), "harris", &mut script);
    output::print(&String::from_utf8_lossy(&script))?;
    Ok(ExitCode::SUCCESS)
}

fn man(folder: &Path) -> Result<ExitCode> {
    clap_mangen::generate_to(command(), folder)
        .with_context(|| format!("cannot write to {}", folder.display()))?;
    Ok(ExitCode::SUCCESS)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn true_and_false_belong_to_the_option_before_them() {
        let joined = |text: &str| {
            let joined = join_switches(text.split(' ').map(OsString::from));
            joined.iter().map(|arg| arg.to_str().unwrap()).collect::<Vec<_>>().join(" ")
        };
        assert_eq!(joined("harris detect --color false a.png"), "harris detect --color=false a.png");
        assert_eq!(joined("harris detect --clamp-negative true"), "harris detect --clamp-negative=true");
        for same in ["harris detect --color a.png", "harris detect --color=true false", "-- --color false"] {
            assert_eq!(joined(same), same);
        }
    }

    #[test]
    fn the_command_is_consistent() {
        command().debug_assert();
    }
}
