//! The tables docs/coverage.md: which engine or kernel serves which configuration.

use anyhow::Result;
use harris_gpu::plan::coverage;

use crate::generated::{root, write_or_check};

const HEAD: &str = "# What serves which configuration

By `cargo xtask coverage`, from the plans of the backends. `Detector::describe` shows the plan of
the last image. A row has all combinations of its cells.

";

/// Writes the tables, or with `check` compares them with the committed ones.
pub(crate) fn write(check: bool) -> Result<()> {
    let choices = coverage::Choices::all();
    let gpu = coverage::table(&choices, &coverage::rows(&choices));
    let text = format!("{HEAD}## CPU\n\n{}\n## GPU\n\n{gpu}", harris_cpu::coverage::markdown());
    write_or_check(&root().join("docs/coverage.md"), text.as_bytes(), check, "cargo xtask coverage")
}
