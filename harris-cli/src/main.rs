//! The program `harris`.

use std::process::ExitCode;

fn main() -> ExitCode {
    harris_cli::cli::main()
}
