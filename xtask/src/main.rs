//! Chores of the workspace: `cargo xtask NAME`.

use std::fs;
use std::path::{Path, PathBuf};
use std::process::ExitCode;

use anyhow::{Context, Result, ensure};
use clap::Parser;
use harris_core::{Detector, HarrisConfig, ImageView};
use harris_cpu::CpuDetector;
use harris_examples::{cli, files, input, overlay};

/// Chores of the workspace
#[derive(Parser)]
#[command(name = "xtask")]
enum Args {
    /// Draw the README's picture
    Picture {
        /// Write nothing; fail where the committed picture is another
        #[arg(long)]
        check: bool,
    },
}

fn main() -> ExitCode {
    cli::main(|args: Args| {
        match args {
            Args::Picture { check } => picture(check)?,
        }
        Ok(ExitCode::SUCCESS)
    })
}

/// docs/corners.png: what the README's first command draws.
fn picture(check: bool) -> Result<()> {
    let root = Path::new(env!("CARGO_MANIFEST_DIR")).join("..");
    let image = input::read_image(&root.join("examples/data/camera.png"), false)?;
    let corners = CpuDetector::new(HarrisConfig::default()).detect(&ImageView::try_from(&image)?)?;
    let mut drawn = Vec::new();
    files::png(&overlay::draw(&image, &corners), &mut drawn)?;
    write_or_check(root.join("docs/corners.png"), &drawn, check, "cargo xtask picture")
}

/// Writes a generated file, or fails, naming the command that mends it, where the committed one is another.
fn write_or_check(path: PathBuf, content: &[u8], check: bool, command: &str) -> Result<()> {
    if !check {
        return files::whole(&path, |out| Ok(out.write_all(content)?));
    }
    let committed =
        fs::read(&path).with_context(|| format!("cannot read {}; run {command}", path.display()))?;
    ensure!(committed == content, "{} is stale; run {command}", path.display());
    Ok(())
}
