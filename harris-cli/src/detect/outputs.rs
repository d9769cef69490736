//! The files that a run writes.

use std::collections::BTreeSet;
use std::ffi::OsString;
use std::path::{Path, PathBuf};

use anyhow::{Result, bail};

use super::args::Args;
use super::stamp::Stamp;
use crate::messages::WrongArguments;
use crate::output::{KEYPOINTS, OutputPlan, PICTURE, RESPONSE, TABLE, Target};

/// The files of all inputs, in their order, and the table.
pub(crate) struct Outputs {
    csv: Option<Vec<Target>>,
    overlay: Option<Vec<Target>>,
    response: Option<Vec<Target>>,
    pub(crate) table: Option<Target>,
    /// Where the journal of `--resume` is.
    pub(crate) journal: Option<PathBuf>,
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
        let first = [&args.table, &args.csv, &args.overlay, &args.response].into_iter().flatten().next();
        let first = first.filter(|_| args.resume);
        if first.is_some_and(|path| path.exists() && !path.is_file() && !path.is_dir()) {
            bail!(WrongArguments("--resume needs outputs in files".to_owned()));
        }
        let journal = first.map(|path| part(path));
        if let Some(path) = &journal {
            plan.also("--resume", path);
        }
        let mut results = |option, path: &Option<PathBuf>, kind| {
            path.as_ref().map(|path| plan.results(option, path, kind, inputs, one)).transpose()
        };
        let outputs = Self {
            csv: results("--csv", &args.csv, &KEYPOINTS)?,
            overlay: results("--overlay", &args.overlay, &PICTURE)?,
            response: results("--response", &args.response, &RESPONSE)?,
            table,
            journal,
        };
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

    /// Returns the folders that files are written to.
    pub(crate) fn folders(&self) -> BTreeSet<PathBuf> {
        let each = [&self.csv, &self.overlay, &self.response].into_iter().flatten().flatten();
        let files = each.chain(&self.table).filter_map(Target::path);
        files.filter_map(|file| file.parent()).map(Path::to_owned).collect()
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
    fn all(&self) -> [Option<&Target>; 3] {
        [self.csv, self.overlay, self.response]
    }

    /// Returns the stamp of each kind of file.
    pub(super) fn stamps(&self) -> Vec<Option<Stamp>> {
        if self.all().iter().all(Option::is_none) {
            return Vec::new();
        }
        self.all().map(|target| Stamp::of(target?.path()?)).to_vec()
    }

    /// Whether all files are there, with the stamps that they had.
    pub(super) fn are(&self, stamps: &[Option<Stamp>]) -> bool {
        self.all().into_iter().enumerate().all(|(kind, target)| {
            let stamp = target.map(|target| target.path().and_then(Stamp::of));
            stamp.is_none_or(|stamp| stamp.is_some() && stamps.get(kind) == Some(&stamp))
        })
    }
}

/// Returns the journal's path for a table, another file, or a folder.
pub(crate) fn part(output: &Path) -> PathBuf {
    // Without separators at the end.
    let output = output.components().as_path();
    let Some(name) = output.file_name() else { return output.join("harris.part") };
    let mut name: OsString = name.to_owned();
    name.push(".part");
    output.with_file_name(name)
}
