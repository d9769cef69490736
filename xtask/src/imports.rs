//! Two rules for the layout of source files: imports between the files of a crate form no circle,
//! and no file is too long to read.

mod source;

use std::collections::{BTreeMap, BTreeSet};
use std::fs;
use std::path::{Path as FilePath, PathBuf};

use anyhow::{Context, Result, ensure};

use crate::generated::root;
use source::{Path, Source};

/// The most lines of a file, without its unit tests.
const MAX_LINES: usize = 500;

/// Files that may be longer, each with the reason.
const TABLES: [(&str, &str); 1] =
    [("harris-gpu-kernels/src/abi/kernels.rs", "the table of kernels and their arguments")];

/// How many names a path may be passed on by (`pub use`) before the search for its item ends.
const MAX_REEXPORTS: usize = 8;

/// Checks the crates of some folders, or without any all crates of the workspace.
///
/// # Errors
/// Names the files of every circle with their imports of each other, and every file that is too long.
/// A folder without a crate is an error, too.
pub(crate) fn check(folders: &[String]) -> Result<()> {
    let mut roots = crate_roots(&root())?;
    for folder in folders {
        let folder = root().join(folder);
        ensure!(
            roots.iter().any(|path| path.starts_with(&folder)),
            "there is no crate in {}",
            folder.display()
        );
    }
    if !folders.is_empty() {
        roots.retain(|path| folders.iter().any(|folder| path.starts_with(root().join(folder))));
    }
    let (mut faults, mut files) = (Vec::new(), 0);
    for path in &roots {
        let read = |path: &FilePath| fs::read_to_string(path).ok();
        let krate = Crate::read(path, read).with_context(|| format!("cannot read {}", path.display()))?;
        files += krate.files.len();
        faults.extend(krate.circles());
        faults.extend(krate.long_files());
    }
    ensure!(faults.is_empty(), "{}", faults.join("\n"));
    println!(
        "{files} files in {} crates: no circle of imports, no file of over {MAX_LINES} lines",
        roots.len()
    );
    Ok(())
}

/// The root files of all crates: `lib.rs` or `main.rs` in `*/src` or `*`.
fn crate_roots(folder: &FilePath) -> Result<Vec<PathBuf>> {
    let mut roots = Vec::new();
    for entry in fs::read_dir(folder)? {
        let folder = entry?.path();
        let candidates = ["src/lib.rs", "src/main.rs", "lib.rs", "main.rs"].map(|file| folder.join(file));
        roots.extend(candidates.into_iter().filter(|file| file.is_file()));
    }
    roots.sort();
    Ok(roots)
}

/// The files of a crate and its modules.
struct Crate {
    files: Vec<File>,
    /// The file of each module, also of modules inside a file.
    modules: BTreeMap<Path, usize>,
}

struct File {
    path: PathBuf,
    /// The module whose body it is.
    module: Path,
    source: Source,
}

impl Crate {
    /// Reads a crate, from its root file on. `read` returns the text of a file, or none where there
    /// is no file.
    fn read(root: &FilePath, read: impl Fn(&FilePath) -> Option<String>) -> Result<Self> {
        let mut krate = Self { files: Vec::new(), modules: BTreeMap::new() };
        let folder = root.parent().unwrap_or(FilePath::new(""));
        let mut to_read = vec![(root.to_owned(), Path::new())];
        while let Some((path, module)) = to_read.pop() {
            let text = read(&path).with_context(|| format!("there is no {}", path.display()))?;
            let source = Source::parse(&text);
            let file = krate.files.len();
            krate.modules.insert(module.clone(), file);
            for inline in &source.inline {
                krate.modules.insert([&module[..], inline].concat(), file);
            }
            for child in &source.children {
                let child = [&module[..], child].concat();
                let base = folder.join(child.iter().collect::<PathBuf>());
                let flat = base.with_extension("rs");
                let path = if read(&flat).is_some() { flat } else { base.join("mod.rs") };
                to_read.push((path, child));
            }
            krate.files.push(File { path, module, source });
        }
        Ok(krate)
    }

    /// The files that a path leads to from a module: none where it leads out of the crate.
    fn targets(&self, module: &[String], path: &[String], reexports: usize) -> BTreeSet<usize> {
        let Some(first) = path.first().filter(|_| reexports <= MAX_REEXPORTS) else { return BTreeSet::new() };
        let mut at = module.to_vec();
        let mut rest = &path[1..];
        match first.as_str() {
            "crate" => at.clear(),
            "self" => {}
            "super" => {
                at.pop();
                while let Some(("super", later)) = rest.split_first().map(|(s, later)| (s.as_str(), later)) {
                    at.pop();
                    rest = later;
                }
            }
            name => {
                at.push(name.to_owned());
                if !self.modules.contains_key(&at) {
                    // Another crate, or what a `use` of this module names.
                    let bound = self.bindings(module).filter(|(bound, _)| *bound == Some(name));
                    let paths = bound.map(|(_, path)| [path, rest].concat());
                    return paths.flat_map(|path| self.targets(module, &path, reexports + 1)).collect();
                }
            }
        }
        for segment in rest {
            at.push(segment.clone());
            if !self.modules.contains_key(&at) {
                at.pop();
                return self.item(&at, segment, reexports);
            }
        }
        self.modules.get(&at).copied().into_iter().collect()
    }

    /// The files of an item that is reached by its name in a module.
    fn item(&self, module: &[String], name: &str, reexports: usize) -> BTreeSet<usize> {
        let named: Vec<_> = self.bindings(module).filter(|(bound, _)| *bound == Some(name)).collect();
        if !named.is_empty() {
            return named
                .into_iter()
                .flat_map(|(_, path)| self.targets(module, path, reexports + 1))
                .collect();
        }
        let Some(&file) = self.modules.get(module) else { return BTreeSet::new() };
        if !self.defines(module, name) {
            for (_, path) in self.bindings(module).filter(|(bound, _)| bound.is_none()) {
                let globbed = self.targets(module, path, reexports + 1);
                let defining = globbed.into_iter().find(|&i| self.defines(&self.files[i].module, name));
                if let Some(defining) = defining {
                    return [defining].into();
                }
            }
        }
        [file].into()
    }

    /// Names that `use` brings into a module, none for `*`, with their paths.
    fn bindings(&self, module: &[String]) -> impl Iterator<Item = (Option<&str>, &[String])> {
        let file = self.modules.get(module).map(|&file| &self.files[file]);
        let inner = file.map_or(0, |file| file.module.len());
        let bindings = file.into_iter().flat_map(|file| &file.source.bindings);
        let module = module[inner..].to_vec();
        bindings
            .filter(move |binding| binding.module == module)
            .map(|binding| (binding.name.as_deref(), &binding.path[..]))
    }

    /// Whether an item of this name stands in a module itself.
    fn defines(&self, module: &[String], name: &str) -> bool {
        self.modules.get(module).is_some_and(|&file| {
            let file = &self.files[file];
            let path = [&module[file.module.len()..], &[name.to_owned()]].concat();
            file.source.items.contains(&path)
        })
    }

    /// The files that each file imports from, with the first line that does.
    fn imports(&self) -> Vec<BTreeMap<usize, usize>> {
        let of_file = |(i, file): (usize, &File)| {
            let mut imports = BTreeMap::new();
            for mention in &file.source.mentions {
                let module = [&file.module[..], &mention.module].concat();
                for target in self.targets(&module, &mention.path, 0) {
                    if target != i {
                        imports.entry(target).or_insert(mention.line);
                    }
                }
            }
            imports
        };
        self.files.iter().enumerate().map(of_file).collect()
    }

    /// A text for each circle: its files, and their imports of each other.
    fn circles(&self) -> Vec<String> {
        let imports = self.imports();
        let reached: Vec<_> = (0..imports.len()).map(|start| reached_from(start, &imports)).collect();
        let mut seen = BTreeSet::new();
        let mut circles = Vec::new();
        for start in 0..imports.len() {
            let circle: BTreeSet<_> =
                reached[start].iter().copied().filter(|&i| reached[i].contains(&start)).collect();
            if circle.is_empty() || !seen.insert(circle.clone()) {
                continue;
            }
            let mut lines = Vec::new();
            for &from in &circle {
                for (to, line) in imports[from].iter().filter(|(to, _)| circle.contains(to)) {
                    lines.push(format!("  {}:{line} imports {}", self.name(from), self.name(*to)));
                }
            }
            lines.sort();
            circles.push(format!(
                "{} files import each other in a circle:\n{}",
                circle.len(),
                lines.join("\n")
            ));
        }
        circles
    }

    /// A text for each file that is too long and no table.
    fn long_files(&self) -> Vec<String> {
        let is_long = |(i, file): &(usize, &File)| {
            file.source.lines > MAX_LINES && TABLES.iter().all(|(table, _)| *table != self.name(*i))
        };
        let files = self.files.iter().enumerate().filter(is_long);
        files
            .map(|(i, file)| {
                format!("{} has {} lines, more than {MAX_LINES}", self.name(i), file.source.lines)
            })
            .collect()
    }

    /// A file's path from the workspace's folder, with slashes.
    fn name(&self, file: usize) -> String {
        let path = &self.files[file].path;
        path.strip_prefix(root()).unwrap_or(path).to_string_lossy().replace('\\', "/")
    }
}

/// The files that a file imports from, directly or by others.
fn reached_from(start: usize, imports: &[BTreeMap<usize, usize>]) -> BTreeSet<usize> {
    let mut reached = BTreeSet::new();
    let mut to_visit = vec![start];
    while let Some(file) = to_visit.pop() {
        to_visit.extend(imports[file].keys().filter(|&&target| reached.insert(target)));
    }
    reached
}

#[cfg(test)]
mod tests {
    use super::*;

    /// A crate of some files, given as `(path, text)`.
    fn krate(files: &[(&str, &str)]) -> Crate {
        let read = |path: &FilePath| {
            let found = files.iter().find(|(name, _)| FilePath::new(name) == path);
            found.map(|(_, text)| (*text).to_owned())
        };
        Crate::read(FilePath::new("lib.rs"), read).unwrap()
    }

    /// The files of each circle.
    fn circles(files: &[(&str, &str)]) -> Vec<String> {
        krate(files).circles()
    }

    #[test]
    fn declared_children_are_no_imports() {
        let parent = "mod a;\nmod b;\nfn f() {}";
        assert_eq!(
            circles(&[("lib.rs", parent), ("a.rs", "use super::f;"), ("b.rs", "use super::a;")]),
            [""; 0]
        );
    }

    #[test]
    fn a_parent_that_uses_its_child_must_not_be_used_by_it() {
        for parent in [
            "mod a;\npub use a::A;\nstruct P;",
            "mod a;\nstruct P(a::A);",
            "mod a;\nuse self::a::A;\nstruct P;",
        ] {
            let found = circles(&[("lib.rs", parent), ("a.rs", "struct A;\nuse super::P;")]);
            assert_eq!(found.len(), 1, "{parent}");
            assert!(found[0].contains("a.rs:2 imports lib.rs"), "{}", found[0]);
        }
    }

    #[test]
    fn siblings_that_import_each_other_are_a_circle() {
        let files = [
            ("lib.rs", "mod a;\nmod b;\nmod c;"),
            ("a/mod.rs", "use super::b::B;"),
            ("b.rs", "fn f() { crate::c::g() }"),
            ("c.rs", "use crate::a;"),
        ];
        let found = circles(&files);
        assert_eq!(found.len(), 1);
        assert!(found[0].starts_with("3 files") && found[0].contains("b.rs:1 imports c.rs"), "{}", found[0]);
    }

    #[test]
    fn names_that_a_parent_passes_on_lead_to_where_they_are_defined() {
        let parent = "mod a;\nmod b;\npub use a::A;\npub use other::Other;\npub use b::*;";
        let files = [
            ("lib.rs", parent),
            ("a.rs", "pub struct A;"),
            ("b.rs", "use crate::{A, Other};\npub struct B;"),
        ];
        assert_eq!(circles(&files), [""; 0]);
        let files = [
            ("lib.rs", parent),
            ("a.rs", "use crate::B;\npub struct A;"),
            ("b.rs", "use super::A;\npub struct B;"),
        ];
        assert_eq!(circles(&files).len(), 1);
    }

    #[test]
    fn imports_of_tests_are_not_looked_at() {
        let child = "#[cfg(test)]\nmod tests { use super::*; use crate::P; }";
        assert_eq!(circles(&[("lib.rs", "mod a;\nuse a::A;\nstruct P;"), ("a.rs", child)]), [""; 0]);
    }

    #[test]
    fn modules_inside_a_file_belong_to_it() {
        let parent = "mod a { mod b; pub fn f() {} }";
        assert_eq!(circles(&[("lib.rs", parent), ("a/b.rs", "use super::f;")]), [""; 0]);
        let parent = "mod a { mod b; use self::b::g; pub fn f() {} }";
        assert_eq!(circles(&[("lib.rs", parent), ("a/b.rs", "use super::f;\nfn g() {}")]).len(), 1);
    }

    #[test]
    fn long_files_are_told_without_their_tests() {
        let long = "fn f() {}\n".repeat(MAX_LINES + 1);
        assert_eq!(krate(&[("lib.rs", &long)]).long_files(), ["lib.rs has 501 lines, more than 500"]);
        let tests = format!("fn f() {{}}\n#[cfg(test)]\nmod tests {{\n{long}}}\n");
        assert_eq!(krate(&[("lib.rs", &tests)]).long_files(), [""; 0]);
    }
}
