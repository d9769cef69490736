//! A folder with GPU tests, benchmarks and the program `harris`, for a machine with a GPU and without Rust.

use std::fs;
use std::path::{Path, PathBuf};
use std::process::Command;

use anyhow::{Context, Result, ensure};

use crate::generated::root;

const RUN: &str = r#"#!/usr/bin/env bash
# Runs the GPU tests: ./run.sh [filter]. With a tool: TOOL="compute-sanitizer" ./run.sh [filter]
set -euo pipefail
cd "$(dirname "$0")"
export HARRIS_DATA="$PWD/data" HARRIS_REQUIRE_GPU=1
for test in tests/*; do
    ${TOOL:-} "$test" --test-threads "${THREADS:-4}" "$@"
done
"#;

/// Builds the programs and collects them in a folder.
pub(crate) fn write(folder: &Path) -> Result<()> {
    let tests = [
        "test",
        "--release",
        "--no-run",
        "--package",
        "harris-cuda",
        "--features",
        "cust",
        "--lib",
        "--tests",
    ];
    let program = ["build", "--release", "--package", "harris-cli"];
    let benches = [
        "bench",
        "--no-run",
        "--package",
        "harris-benches",
        "--bench",
        "detect",
        "--bench",
        "features",
        "--bench",
        "gpu",
    ];
    if folder.exists() {
        fs::remove_dir_all(folder)?;
    }
    for (kind, command) in [("tests", &tests[..]), ("bin", &program[..]), ("benches", &benches[..])] {
        fs::create_dir_all(folder.join(kind))?;
        for (name, program) in programs(command)? {
            fs::copy(&program, folder.join(kind).join(name))?;
        }
    }
    fs::create_dir_all(folder.join("data"))?;
    for entry in fs::read_dir(root().join("examples/data"))? {
        let entry = entry?;
        if !entry.file_type()?.is_file() {
            continue;
        }
        fs::copy(entry.path(), folder.join("data").join(entry.file_name()))?;
    }
    let run = folder.join("run.sh");
    fs::write(&run, RUN)?;
    let mut permissions = fs::metadata(&run)?.permissions();
    #[cfg(unix)]
    std::os::unix::fs::PermissionsExt::set_mode(&mut permissions, 0o755);
    fs::set_permissions(&run, permissions)?;
    println!("{}: ./run.sh runs the tests; programs are in bin/ and benches/", folder.display());
    Ok(())
}

/// Returns the programs that a cargo command builds, with their names.
fn programs(command: &[&str]) -> Result<Vec<(String, PathBuf)>> {
    let run = Command::new(std::env::var_os("CARGO").unwrap_or_else(|| "cargo".into()))
        .current_dir(root())
        .env("CARGO_PROFILE_RELEASE_STRIP", "true")
        .env("CARGO_PROFILE_BENCH_STRIP", "true")
        .args(command)
        .args(["--locked", "--message-format=json-render-diagnostics"])
        .stderr(std::process::Stdio::inherit())
        .output()
        .context("cannot run cargo")?;
    ensure!(run.status.success(), "cargo {} failed", command.join(" "));
    let mut found = Vec::new();
    for line in String::from_utf8_lossy(&run.stdout).lines() {
        let message: serde_json::Value = serde_json::from_str(line)?;
        if let (Some(program), Some(name)) =
            (message["executable"].as_str(), message["target"]["name"].as_str())
        {
            found.push((name.to_owned(), PathBuf::from(program)));
        }
    }
    Ok(found)
}
