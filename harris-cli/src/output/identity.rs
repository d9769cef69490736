//! Whether two paths are one file, by whatever spelling, link or case.

use std::ffi::OsString;
use std::fs::Metadata;
use std::io;
use std::path::{Component, Path, PathBuf};

use super::interrupt::Temporary;
use super::write::follow;

/// What all paths of one file have in common.
///
/// A file that does not exist is known by the deepest folder above it that does, and the names
/// from there on.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub(super) struct Identity {
    existing: Existing,
    rest: Vec<OsString>,
}

/// A file or folder that exists: its device and number there.
#[cfg(unix)]
type Existing = (u64, u64);

/// A file or folder that exists: its canonical path.
#[cfg(not(unix))]
type Existing = PathBuf;

#[cfg(unix)]
fn existing(_: &Path, metadata: &Metadata) -> io::Result<Existing> {
    use std::os::unix::fs::MetadataExt;
    Ok((metadata.dev(), metadata.ino()))
}

#[cfg(not(unix))]
fn existing(path: &Path, _: &Metadata) -> io::Result<Existing> {
    std::fs::canonicalize(path)
}

impl Identity {
    /// Finds out what a path leads to. Returns the deepest folder that exists, too.
    ///
    /// Symbolic links are followed, also to files that do not exist.
    pub(super) fn of(path: &Path) -> io::Result<(Self, PathBuf)> {
        // What exists is found by the system, which knows links without a path, like pipes.
        if let Ok(metadata) = path.metadata() {
            return Ok((Self { existing: existing(path, &metadata)?, rest: Vec::new() }, path.to_owned()));
        }
        let path = follow(path)?;
        for ancestor in path.ancestors() {
            let folder = if ancestor.as_os_str().is_empty() { Path::new(".") } else { ancestor };
            let Ok(metadata) = folder.metadata() else { continue };
            let mut rest = Vec::new();
            for part in path.strip_prefix(ancestor).unwrap_or(Path::new("")).components() {
                match part {
                    Component::Normal(name) => rest.push(name.to_owned()),
                    Component::CurDir => {}
                    Component::ParentDir | Component::RootDir | Component::Prefix(_) => {
                        return Err(io::Error::other("it leads through a folder that does not exist"));
                    }
                }
            }
            return Ok((Self { existing: existing(folder, &metadata)?, rest }, folder.to_owned()));
        }
        Err(io::ErrorKind::NotFound.into())
    }

    /// Returns what an open file is, if it is a regular file.
    #[cfg(unix)]
    pub(super) fn of_open(file: impl std::os::fd::AsFd) -> Option<Self> {
        let file = std::fs::File::from(file.as_fd().try_clone_to_owned().ok()?);
        let metadata = file.metadata().ok().filter(Metadata::is_file)?;
        Some(Self { existing: existing(Path::new(""), &metadata).ok()?, rest: Vec::new() })
    }

    /// Returns nothing: this system tells no path of an open file.
    #[cfg(not(unix))]
    pub(super) fn of_open<F>(_: F) -> Option<Self> {
        None
    }

    /// Returns the identity without regard to case.
    pub(super) fn folded(&self) -> Self {
        let lower = |name: &OsString| match name.to_str() {
            Some(name) => OsString::from(name.to_lowercase()),
            None => name.to_ascii_lowercase(),
        };
        Self { rest: self.rest.iter().map(lower).collect(), ..self.clone() }
    }
}

/// Whether names that differ in case alone are one file in a folder. Makes a file there for a
/// moment.
pub(super) fn ignores_case(folder: &Path) -> bool {
    let Ok(probe) = Temporary::new(folder) else { return false };
    let name = probe.path().file_name().unwrap_or_default().to_ascii_uppercase();
    folder.join(name).exists()
}

#[cfg(all(test, unix))]
mod tests {
    use super::*;
    use std::fs;
    use std::os::unix::fs::symlink;

    #[test]
    fn paths_of_one_file_have_one_identity() {
        let folder = tempfile::tempdir().unwrap();
        let at = |name: &str| folder.path().join(name);
        let of = |name: &str| Identity::of(&at(name)).unwrap().0;
        fs::create_dir(at("in")).unwrap();
        fs::write(at("in/a.png"), "").unwrap();
        fs::write(at("in/b.png"), "").unwrap();
        fs::hard_link(at("in/a.png"), at("hard.png")).unwrap();
        symlink("in/a.png", at("soft.png")).unwrap();
        symlink("in", at("folder")).unwrap();
        symlink("in/new.png", at("dangling.png")).unwrap();
        for other in ["in/../in/a.png", "./in/./a.png", "hard.png", "soft.png", "folder/a.png"] {
            assert_eq!(of("in/a.png"), of(other), "{other}");
        }
        assert_ne!(of("in/a.png"), of("in/b.png"));
        // Files that do not exist.
        for other in ["in/../in/new.png", "folder/new.png", "dangling.png"] {
            assert_eq!(of("in/new.png"), of(other), "{other}");
        }
        assert_eq!(of("no/folder/x.csv"), of("in/../no/./folder/x.csv"));
        assert_ne!(of("no/x.csv"), of("no/X.csv"));
        assert_eq!(of("no/x.csv").folded(), of("no/X.csv").folded());
        assert_ne!(of("new.png"), of("in/new.png"));
        assert!(Identity::of(&at("no/../x.csv")).is_err());
    }

    #[test]
    fn this_systems_temporary_folder_is_as_its_files_say() {
        let folder = tempfile::tempdir().unwrap();
        fs::write(folder.path().join("name"), "").unwrap();
        assert_eq!(ignores_case(folder.path()), folder.path().join("NAME").exists());
        assert_eq!(folder.path().read_dir().unwrap().count(), 1);
    }
}
