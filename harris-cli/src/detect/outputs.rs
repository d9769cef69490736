//! The files that a run writes.

use std::ffi::OsString;
use std::path::{Path, PathBuf};

use anyhow::{Result, bail, ensure};

use super::args::Args;
use crate::messages::WrongArguments;
use crate::output::{self, KEYPOINTS, OutputPlan, PICTURE, RESPONSE, TABLE, Target};

/// The files of all inputs, in their order, and the table.
pub(crate) struct Outputs {
    csv: Option<Vec<Target>>,
    overlay: Option<Vec<Target>>,
    response: Option<Vec<Target>>,
    pub(crate) table: Option<Target>,
}

/// The files of one input.
pub(crate) struct OneOutput<'a> {
    pub(crate) csv: Option<&'a Target>,
    pub(crate) overlay: Option<&'a Target>,
    pub(crate) response: Option<&'a Target>,
}

impl Outputs {
    /// Plans all files, so that none overwrites an input or another.
    pub(crate) fn plan(args: &Args, inputs: &[PathBuf], one: bool) -> Result<Self> {
        let mut plan = OutputPlan::new();
        plan.reads("input", inputs);
        plan.reads("mask", &args.mask);
        let table = args.table.as_ref().map(|path| plan.file("--table", path, &TABLE)).transpose()?;
        if let Some(path) = table.as_ref().and_then(Target::path).filter(|_| args.resume) {
            if path.exists() && !path.is_file() {
                bail!(WrongArguments("--resume needs outputs in files".to_owned()));
            }
            plan.also("--resume", &part(path));
        }
        let mut results = |option, path: &Option<PathBuf>, kind| {
            path.as_ref().map(|path| plan.results(option, path, kind, inputs, one)).transpose()
        };
        let outputs = Self {
            csv: results("--csv", &args.csv, &KEYPOINTS)?,
            overlay: results("--overlay", &args.overlay, &PICTURE)?,
            response: results("--response", &args.response, &RESPONSE)?,
            table,
        };
        let parquet = outputs.table.as_ref().is_some_and(|table| table.format() == output::Format::Parquet);
        ensure!(
            !parquet || cfg!(feature = "parquet"),
            "this program was built without the cargo feature parquet"
        );
        if args.resume && outputs.writes_nothing() {
            bail!(WrongArguments("--resume needs --table or another output".to_owned()));
        }
        if args.resume && outputs.to_stdout() {
            bail!(WrongArguments("--resume needs outputs in files".to_owned()));
        }
        if args.json && outputs.to_stdout() {
            bail!(WrongArguments("--json needs standard output for itself".to_owned()));
        }
        plan.finish()?;
        Ok(outputs)
    }

    /// Returns the files of one input, by its place in the list.
    pub(crate) fn of(&self, place: usize) -> OneOutput<'_> {
        OneOutput {
            csv: self.csv.as_ref().and_then(|all| all.get(place)),
            overlay: self.overlay.as_ref().and_then(|all| all.get(place)),
            response: self.response.as_ref().and_then(|all| all.get(place)),
        }
    }

    /// Whether an output goes to standard output.
    pub(crate) fn to_stdout(&self) -> bool {
        let each = [&self.csv, &self.overlay, &self.response].into_iter().flatten().flatten();
        each.chain(&self.table).any(Target::is_standard_output)
    }

    /// Whether there is no output.
    pub(crate) fn writes_nothing(&self) -> bool {
        self.table.is_none() && [&self.csv, &self.overlay, &self.response].into_iter().all(Option::is_none)
    }
}

impl OneOutput<'_> {
    /// Whether all files are there.
    pub(crate) fn exist(&self) -> bool {
        let all = [self.csv, self.overlay, self.response];
        all.into_iter().flatten().all(|target| target.path().is_some_and(Path::exists))
    }
}

/// Returns the journal's path for a table.
pub(crate) fn part(table: &Path) -> PathBuf {
    let mut name: OsString = table.as_os_str().to_owned();
    name.push(".part");
    name.into()
}
