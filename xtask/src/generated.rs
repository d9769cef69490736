//! Files that a task generates, and that are committed.

use std::fs;
use std::path::{Path, PathBuf};

use anyhow::{Context, Result, ensure};

/// Returns the workspace's folder.
pub(crate) fn root() -> PathBuf {
    let root = Path::new(env!("CARGO_MANIFEST_DIR")).join("..");
    root.canonicalize().unwrap_or(root)
}

/// Writes a generated file. With `check`, writes nothing, and fails if the committed file differs;
/// the message names the command that updates it.
pub(crate) fn write_or_check(path: &Path, content: &[u8], check: bool, command: &str) -> Result<()> {
    if !check {
        return fs::write(path, content).with_context(|| format!("cannot write {}", path.display()));
    }
    let committed =
        fs::read(path).with_context(|| format!("cannot read {}; run {command}", path.display()))?;
    ensure!(committed == content, "{} is stale; run {command}", path.display());
    Ok(())
}
