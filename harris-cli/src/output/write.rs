//! Writing a file so that it appears complete or not at all.

use std::fs::{self, File, Metadata, OpenOptions};
use std::io::{self, BufWriter, Seek, Write};
use std::path::{Path, PathBuf};

use anyhow::{Context, Result, bail};

use super::interrupt::{Temporary, uninterrupted};
use super::standard_output::IgnoreBrokenPipe;

/// Links that are followed before they count as a circle, as in Linux.
const MAX_LINKS: usize = 40;

/// Writes a file with `content`: under a temporary name first, which is then moved to `path`. So
/// `path` never holds an incomplete file.
///
/// | `path` | what happens |
/// | --- | --- |
/// | a new file | it gets the permissions that the umask leaves |
/// | an existing file | it is replaced, and keeps its permissions |
/// | an existing file that may not be written | an error |
/// | a symbolic link | the file that it leads to is written |
/// | a file that cannot be replaced: a mount point, or in a read-only folder | it is written in place |
/// | a pipe, a terminal or another character device | it is written directly |
///
/// # Errors
/// The system's error, with the path.
pub fn whole(path: &Path, content: impl FnOnce(&mut dyn Write) -> Result<()>) -> Result<()> {
    write_whole(path, content).with_context(|| format!("cannot write {}", path.display()))
}

fn write_whole(path: &Path, content: impl FnOnce(&mut dyn Write) -> Result<()>) -> Result<()> {
    // A pipe's link in /proc leads to no path, so what is there comes before where it is.
    let existing = match fs::metadata(path) {
        Ok(existing) if existing.is_dir() => bail!("it is a folder"),
        Ok(existing) if !existing.is_file() => return direct(path, content),
        Ok(existing) => Some(existing),
        Err(error) if error.kind() == io::ErrorKind::NotFound => None,
        Err(error) => return Err(error.into()),
    };
    let path = follow(path)?;
    if existing.is_some() {
        // Without truncation: whether the file may be written at all.
        OpenOptions::new().append(true).open(&path)?;
    }
    let mut temporary = match Temporary::new(folder(&path)) {
        Ok(temporary) => temporary,
        Err(error) if existing.is_some() && is_irreplaceable(&error) => {
            let mut bytes = Vec::new();
            content(&mut bytes)?;
            return Ok(uninterrupted(|| overwrite(&path, &mut bytes.as_slice()))?);
        }
        Err(error) => return Err(without_path(&error).into()),
    };
    let mut out = BufWriter::new(temporary.file()?);
    content(&mut out)?;
    let file = out.into_inner().map_err(io::IntoInnerError::into_error)?;
    if let Some(existing) = &existing {
        keep_permissions(file, existing)?;
    }
    Ok(temporary.move_to(&path, |error, file| match existing.is_some() && is_irreplaceable(&error) {
        true => {
            file.rewind()?;
            overwrite(&path, file)
        }
        false => Err(error),
    })?)
}

/// Removes the temporary name from an error: the user has not chosen it.
fn without_path(error: &io::Error) -> io::Error {
    let text = error.to_string();
    io::Error::new(error.kind(), text.split(" at path ").next().unwrap_or_default().to_owned())
}

/// Writes to a pipe or a character device.
fn direct(path: &Path, content: impl FnOnce(&mut dyn Write) -> Result<()>) -> Result<()> {
    let mut out = BufWriter::new(IgnoreBrokenPipe::new(OpenOptions::new().write(true).open(path)?));
    content(&mut out)?;
    Ok(out.flush()?)
}

/// Replaces a file's content.
fn overwrite(path: &Path, content: &mut impl io::Read) -> io::Result<()> {
    let mut file = OpenOptions::new().write(true).truncate(true).open(path)?;
    io::copy(content, &mut file)?;
    Ok(())
}

/// Whether an error tells that a file can be written but not replaced.
fn is_irreplaceable(error: &io::Error) -> bool {
    use io::ErrorKind::{CrossesDevices, PermissionDenied, ReadOnlyFilesystem, ResourceBusy};
    matches!(error.kind(), CrossesDevices | PermissionDenied | ReadOnlyFilesystem | ResourceBusy)
}

/// Gives a new file the permissions and, if the system lets us, the owner of the one it replaces.
fn keep_permissions(file: &File, existing: &Metadata) -> io::Result<()> {
    #[cfg(unix)]
    {
        use std::os::unix::fs::{MetadataExt, fchown};
        let made = file.metadata()?;
        if (made.uid(), made.gid()) != (existing.uid(), existing.gid()) {
            // Only the administrator may give files away.
            let _ = fchown(file, Some(existing.uid()), Some(existing.gid()));
        }
    }
    file.set_permissions(existing.permissions())
}

/// Returns the folder of a file.
pub(super) fn folder(path: &Path) -> &Path {
    path.parent().filter(|folder| !folder.as_os_str().is_empty()).unwrap_or(Path::new("."))
}

/// Follows the symbolic links of a path's last part, to a file that may not exist yet.
pub(super) fn follow(path: &Path) -> io::Result<PathBuf> {
    let mut path = path.to_owned();
    for _ in 0..MAX_LINKS {
        match fs::read_link(&path) {
            Ok(to) => path = folder(&path).join(to),
            // What is no link cannot be read as one, and what is not there neither.
            Err(_) => return Ok(path),
        }
    }
    Err(io::Error::other("its symbolic links form a circle"))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_failed_write_keeps_the_old_file() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("corners.csv");
        whole(&path, |out| Ok(out.write_all(b"old")?)).unwrap();
        let error = whole(&path, |out| {
            out.write_all(b"half")?;
            anyhow::bail!("the disk is full")
        });
        assert!(format!("{:#}", error.unwrap_err()).ends_with("corners.csv: the disk is full"));
        assert_eq!(fs::read(&path).unwrap(), b"old");
        assert_eq!(folder.path().read_dir().unwrap().count(), 1);
        let error = whole(&folder.path().join("no/such/folder.csv"), |_| Ok(())).unwrap_err();
        let text = format!("{error:#}");
        assert!(text.contains("no/such/folder.csv: ") && !text.contains(".harris-"), "{text}");
        let error = whole(folder.path(), |_| Ok(())).unwrap_err();
        assert!(format!("{error:#}").ends_with("it is a folder"));
    }

    #[cfg(unix)]
    #[test]
    fn links_are_followed_and_permissions_kept() {
        use std::os::unix::fs::{PermissionsExt, symlink};
        let folder = tempfile::tempdir().unwrap();
        let at = |name: &str| folder.path().join(name);
        let mode = |name: &str| fs::metadata(at(name)).unwrap().permissions().mode() & 0o7777;
        let write = |name: &str, text: &str| whole(&at(name), |out| Ok(out.write_all(text.as_bytes())?));
        fs::create_dir(at("far")).unwrap();
        symlink("far/new.csv", at("first.csv")).unwrap();
        symlink("first.csv", at("second.csv")).unwrap();
        write("second.csv", "one").unwrap();
        assert_eq!(fs::read(at("far/new.csv")).unwrap(), b"one");
        for kept in [0o600, 0o664, 0o755] {
            fs::set_permissions(at("far/new.csv"), fs::Permissions::from_mode(kept)).unwrap();
            write("second.csv", "two").unwrap();
            assert_eq!(mode("far/new.csv"), kept);
        }
        assert!(at("first.csv").is_symlink() && at("second.csv").is_symlink());
        // A new file has the permissions of any other new file.
        File::create(at("plain.csv")).unwrap();
        write("new.csv", "three").unwrap();
        assert_eq!(mode("new.csv"), mode("plain.csv"));
        symlink("circle.csv", at("circle.csv")).unwrap();
        assert!(write("circle.csv", "four").is_err());
        assert_eq!(folder.path().read_dir().unwrap().count(), 6);
    }
}
