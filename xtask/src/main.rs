//! Tasks for developers of the workspace: `cargo xtask NAME`.

mod bundle;
mod coverage;
mod generated;
mod imports;
mod prose;
mod ptx;

use std::path::PathBuf;
use std::process::ExitCode;

use anyhow::Result;
use clap::Parser;

/// Tasks for developers of the workspace
#[derive(Parser)]
#[command(name = "xtask")]
enum Args {
    /// Compile the GPU's kernels to the PTX that harris-cuda contains, and check it
    Ptx {
        /// Write nothing; fail if the committed PTX is not that of the sources
        #[arg(long)]
        check: bool,
        /// NVIDIA's assembler ptxas, to assemble the PTX for every GPU that it is meant for
        #[arg(long, value_name = "FILE")]
        ptxas: Option<PathBuf>,
        /// Write the PTX as text to this file, beside the archive
        #[arg(long, value_name = "FILE")]
        text: Option<PathBuf>,
    },
    /// Write the tables of which engine or kernel serves which configuration
    Coverage {
        /// Write nothing; fail if the committed tables differ
        #[arg(long)]
        check: bool,
    },
    /// Copy the GPU tests, benchmarks and examples to a folder that runs on a machine without Rust
    Bundle {
        /// Folder to write to
        #[arg(default_value = "target/bundle")]
        folder: PathBuf,
    },
    /// Check that imports between files form no circle, and that no file is too long
    Imports {
        /// Folders of the crates to check, as in `harris-cpu`; all by default
        #[arg(value_name = "CRATE")]
        crates: Vec<String>,
    },
    /// Check the prose of the README, of the guide and of the documents for contributors
    ///
    /// No sentence has over 30 words, no line over 100 columns, links lead somewhere, and the README
    /// has at most 900 words.
    Prose {
        /// Documents to check, by their paths from the workspace's folder; all by default
        #[arg(value_name = "FILE")]
        documents: Vec<PathBuf>,
    },
}

fn main() -> ExitCode {
    match run(Args::parse()) {
        Ok(()) => ExitCode::SUCCESS,
        Err(error) => {
            eprintln!("error: {error:#}");
            ExitCode::FAILURE
        }
    }
}

fn run(args: Args) -> Result<()> {
    match args {
        Args::Ptx { check, ptxas, text } => ptx::make(check, ptxas.as_deref(), text.as_deref())?,
        Args::Coverage { check } => coverage::write(check)?,
        Args::Bundle { folder } => bundle::write(&folder)?,
        Args::Imports { crates } => imports::check(&crates)?,
        Args::Prose { documents } => prose::check(&documents)?,
    }
    Ok(())
}
