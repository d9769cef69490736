//! Where all results go. A plan is made before work starts: nothing that is read is overwritten,
//! and no two results are one file.

use std::collections::HashMap;
use std::ffi::{OsStr, OsString};
use std::fs;
use std::io;
use std::path::{Path, PathBuf};

use anyhow::{Context, Result, bail, ensure};

use super::identity::{Identity, ignores_case};
use super::target::{Format, Kind, Target};
use super::write::folder;
use crate::messages::WrongArguments;

/// Collects all files that a program reads and writes, and checks them before work starts.
///
/// Name first what is read and what is written, in any order. Then call [`OutputPlan::finish`], which
/// refuses a plan that would lose a file. Two paths are one file by the system's own numbers, so
/// that spelling, links and case do not matter.
///
/// Results in a folder bear the names of their inputs, byte for byte, with another ending. Inputs
/// whose names differ in the ending alone are refused: a name should not depend on other inputs.
#[derive(Default)]
pub struct OutputPlan {
    reads: Vec<Read>,
    writes: Vec<Write>,
    folders: Vec<Folder>,
    /// The option whose result goes to standard output.
    standard_output: Option<String>,
}

/// A file that is read.
struct Read {
    role: &'static str,
    path: PathBuf,
}

/// A file that is written.
struct Write {
    option: String,
    path: PathBuf,
    /// The input, if each has a file of its own.
    input: Option<PathBuf>,
}

/// A folder for results.
struct Folder {
    option: String,
    path: PathBuf,
    /// Whether a result may have a name, if the names are not known beforehand.
    takes: Option<fn(&OsStr) -> bool>,
}

impl OutputPlan {
    /// Makes an empty plan.
    #[must_use]
    pub fn new() -> Self {
        Self::default()
    }

    /// Adds files that are read. `role` is what each is, such as `input` or `mask`; `-` is standard
    /// input.
    pub fn reads<P: AsRef<Path>>(&mut self, role: &'static str, paths: impl IntoIterator<Item = P>) {
        self.reads.extend(paths.into_iter().map(|path| Read { role, path: path.as_ref().to_owned() }));
    }

    /// Adds one result, in a file or, for `-`, on standard output. The ending chooses the format.
    ///
    /// A pipe or a device without a known ending gets the kind's default format.
    ///
    /// # Errors
    /// The ending is that of no format of this kind, the file cannot be there, or another result
    /// goes to standard output, too.
    pub fn file(&mut self, option: &str, path: &Path, kind: &Kind) -> Result<Target> {
        if is_standard_output(path) {
            if let Some(other) = self.standard_output.replace(option.to_owned()) {
                bail!(wrong(format!("{other} and {option} would both write to standard output")));
            }
            return Ok(Target::new(None, kind.default_format()));
        }
        let cannot = || format!("cannot write {}", path.display());
        let format = match fs::metadata(path) {
            Ok(there) if there.is_dir() => {
                bail!("{}: it is a folder, and one input needs a file", cannot())
            }
            Ok(there) if !there.is_file() => {
                ensure!(is_stream(&there), "{}: it is no file, pipe or terminal", cannot());
                kind.format(path).or(Some(kind.default_format()))
            }
            Err(error) if error.kind() != io::ErrorKind::NotFound => return Err(error).with_context(cannot),
            Ok(_) | Err(_) => kind.format(path),
        };
        let Some(format) = format else {
            let (name, endings) = (kind.name, kind.endings());
            bail!(wrong(format!(
                "{option} {}: {name} can be written with the endings {endings}",
                path.display()
            )));
        };
        let above = folder(path);
        ensure!(above.is_dir() || path.is_symlink(), "{}: there is no folder {}", cannot(), above.display());
        self.writes.push(Write { option: option.to_owned(), path: path.to_owned(), input: None });
        Ok(Target::new(Some(path.to_owned()), format))
    }

    /// Adds a file that is written beside a result, whatever its ending.
    pub fn also(&mut self, option: &str, path: &Path) {
        self.writes.push(Write { option: option.to_owned(), path: path.to_owned(), input: None });
    }

    /// Adds a result for each input: [`OutputPlan::file`] for `one` input that is named by itself, else
    /// [`OutputPlan::files`].
    ///
    /// # Errors
    /// See both.
    pub fn results(
        &mut self,
        option: &str,
        path: &Path,
        kind: &Kind,
        inputs: &[PathBuf],
        one: bool,
    ) -> Result<Vec<Target>> {
        if one { Ok(vec![self.file(option, path, kind)?]) } else { self.files(option, path, kind, inputs) }
    }

    /// Adds a result for each input, in a folder. Returns them in the order of the inputs.
    ///
    /// Each has the input's name with the ending of the kind's default format. Standard input's
    /// results are called `stdin`.
    ///
    /// # Errors
    /// The folder is standard output.
    pub fn files(
        &mut self,
        option: &str,
        folder: &Path,
        kind: &Kind,
        inputs: &[PathBuf],
    ) -> Result<Vec<Target>> {
        if is_standard_output(folder) {
            bail!(wrong(format!("several inputs need a folder for {option}")));
        }
        let (folder, format) = (folder.to_owned(), kind.default_format());
        self.folders.push(Folder { option: option.to_owned(), path: folder.clone(), takes: None });
        let targets = inputs.iter().map(|input| {
            let path = folder.join(name(input, format));
            let (option, input) = (option.to_owned(), Some(input.clone()));
            self.writes.push(Write { option, path: path.clone(), input });
            Target::new(Some(path), format)
        });
        Ok(targets.collect())
    }

    /// Adds a folder for results whose number is not known beforehand. `takes` tells whether a
    /// result may have a name.
    ///
    /// # Errors
    /// The folder is standard output.
    pub fn folder(&mut self, option: &str, path: &Path, takes: fn(&OsStr) -> bool) -> Result<()> {
        if is_standard_output(path) {
            bail!(wrong(format!("{option} needs a folder")));
        }
        let (option, path) = (option.to_owned(), path.to_owned());
        self.folders.push(Folder { option, path, takes: Some(takes) });
        Ok(())
    }

    /// Checks the plan, then makes its folders. Nothing else is written.
    ///
    /// # Errors
    /// A result would overwrite a file that is read, or another result; a folder cannot be made.
    pub fn finish(self) -> Result<()> {
        let mut read = HashMap::new();
        for one in &self.reads {
            // A file that is not there will be an error when it is read.
            if let Some(identity) = read_identity(&one.path) {
                read.insert(identity, one);
            }
        }
        // What is printed would be lost as well.
        let printed = Read { role: "file that standard output goes to", path: PathBuf::new() };
        if let Some(identity) = Identity::of_open(io::stdout()) {
            read.entry(identity).or_insert(&printed);
        }
        self.check_folders(&read)?;
        self.check_files(&read, ignores_case)?;
        for Folder { path, .. } in &self.folders {
            fs::create_dir_all(path).with_context(|| format!("cannot make the folder {}", path.display()))?;
        }
        Ok(())
    }

    /// Checks the files that are in folders for results whose names are not known.
    fn check_folders(&self, read: &HashMap<Identity, &Read>) -> Result<()> {
        for Folder { option, path, takes } in &self.folders {
            let Some(takes) = takes else { continue };
            // A folder that is not there has no files; one that cannot be listed fails later.
            for entry in fs::read_dir(path).into_iter().flatten().flatten() {
                let name = entry.file_name();
                if (takes(&name) || takes(&name.to_ascii_lowercase()))
                    && let Ok((identity, _)) = Identity::of(&entry.path())
                {
                    check_read(option, &entry.path(), &identity, read)?;
                }
            }
        }
        Ok(())
    }

    /// Checks the files whose names are known. `ignores_case` tells whether a folder does.
    fn check_files(
        &self,
        read: &HashMap<Identity, &Read>,
        ignores_case: impl Fn(&Path) -> bool,
    ) -> Result<()> {
        let (mut written, mut folded) = (HashMap::new(), HashMap::new());
        for write in &self.writes {
            let Write { option, path, .. } = write;
            // All may be written to a terminal or to /dev/null.
            if fs::metadata(path).is_ok_and(|there| is_device(&there)) {
                continue;
            }
            let (identity, existing) =
                Identity::of(path).with_context(|| format!("cannot write {}", path.display()))?;
            check_read(option, path, &identity, read)?;
            let same = folded.insert(identity.folded(), write);
            if let Some(other) = same.filter(|_| !written.contains_key(&identity))
                && ignores_case(&existing)
            {
                bail!(twice(other, write));
            }
            if let Some(other) = written.insert(identity, write) {
                bail!(twice(other, write));
            }
        }
        Ok(())
    }
}

/// Refuses to write a file that is read.
fn check_read(option: &str, path: &Path, file: &Identity, read: &HashMap<Identity, &Read>) -> Result<()> {
    let Some(Read { role, path: read }) = read.get(file) else { return Ok(()) };
    let (path, read) = (path.display().to_string(), read.display().to_string());
    let also = if path == read || read.is_empty() { String::new() } else { format!(" {read}") };
    bail!(wrong(format!("{option} would overwrite {path}, which is the {role}{also}; choose another place")))
}

fn read_identity(path: &Path) -> Option<Identity> {
    match path == Path::new("-") {
        true => Identity::of_open(io::stdin()),
        false => path.exists().then(|| Identity::of(path).ok())?.map(|(identity, _)| identity),
    }
}

/// The error of two results in one file.
fn twice(a: &Write, b: &Write) -> anyhow::Error {
    let path = b.path.display();
    wrong(match (&a.input, &b.input) {
        (Some(first), Some(second)) if a.option == b.option => {
            let (first, second) = (first.display(), second.display());
            format!("{first} and {second} would write the same files, such as {path}; run them one at a time")
        }
        _ => format!("{} and {} would write the same file {path}", a.option, b.option),
    })
}

fn wrong(message: String) -> anyhow::Error {
    WrongArguments(message).into()
}

/// Returns the name of an input's result, byte for byte the input's but for the ending.
fn name(input: &Path, format: Format) -> OsString {
    let stem =
        if input == Path::new("-") { OsStr::new("stdin") } else { input.file_stem().unwrap_or_default() };
    let mut name = stem.to_owned();
    name.push(".");
    name.push(format.endings().first().unwrap_or(&""));
    name
}

fn is_standard_output(path: &Path) -> bool {
    ["-", "/dev/stdout", "/dev/fd/1", "/proc/self/fd/1"].iter().any(|name| path == Path::new(name))
}

/// Whether a file that is not regular can take a result: a pipe or a character device.
#[cfg(unix)]
fn is_stream(there: &fs::Metadata) -> bool {
    use std::os::unix::fs::FileTypeExt;
    there.file_type().is_fifo() || is_device(there)
}

/// Whether a file is a character device.
#[cfg(unix)]
fn is_device(there: &fs::Metadata) -> bool {
    use std::os::unix::fs::FileTypeExt;
    there.file_type().is_char_device()
}

/// Whether a file that is not regular can take a result.
#[cfg(not(unix))]
fn is_stream(_: &fs::Metadata) -> bool {
    true
}

/// Whether a file is a character device.
#[cfg(not(unix))]
fn is_device(there: &fs::Metadata) -> bool {
    !there.is_file() && !there.is_dir()
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::output::{KEYPOINTS, RESPONSE};

    #[test]
    fn names_that_differ_in_case_are_two_files_unless_the_folder_ignores_case() {
        let folder = tempfile::tempdir().unwrap();
        let inputs = ["in/Aé.png", "in/aÉ.png"].map(PathBuf::from);
        let at = |name: &str| folder.path().join(name);
        let mut several = OutputPlan::new();
        several.files("--csv", &at("new/out"), &KEYPOINTS, &inputs).unwrap();
        let mut one = OutputPlan::new();
        one.file("--response", &at("A.npy"), &RESPONSE).unwrap();
        one.file("--map", &at("a.NPY"), &RESPONSE).unwrap();
        for plan in [several, one] {
            plan.check_files(&HashMap::new(), |_| false).unwrap();
            let error = plan.check_files(&HashMap::new(), |existing| existing == folder.path()).unwrap_err();
            assert!(error.to_string().contains("would write the same file"), "{error}");
        }
    }

    #[test]
    fn the_folder_is_asked_about_case_only_if_it_matters() {
        let folder = tempfile::tempdir().unwrap();
        let mut plan = OutputPlan::new();
        plan.files("--csv", folder.path(), &KEYPOINTS, &["a.png", "b.png"].map(PathBuf::from)).unwrap();
        plan.check_files(&HashMap::new(), |_| panic!("there are no such names")).unwrap();
    }
}
