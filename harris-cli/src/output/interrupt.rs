//! Temporary files, and their removal when a signal ends the program.

use std::collections::BTreeSet;
use std::fs::File;
use std::io;
use std::path::{Path, PathBuf};
use std::sync::{Mutex, MutexGuard, PoisonError};

use tempfile::NamedTempFile;

/// The temporary files of this process. Whoever makes, renames or removes one holds the lock.
static LIVE: Mutex<BTreeSet<PathBuf>> = Mutex::new(BTreeSet::new());

fn live() -> MutexGuard<'static, BTreeSet<PathBuf>> {
    LIVE.lock().unwrap_or_else(PoisonError::into_inner)
}

/// A file under a temporary name, which is removed unless it is moved to its final name.
///
/// A signal that ends the program removes it, too.
pub(super) struct Temporary {
    /// Always there until the file is moved or dropped.
    file: Option<NamedTempFile>,
    path: PathBuf,
}

impl Temporary {
    /// Makes an empty file in a folder.
    pub(super) fn new(folder: &Path) -> io::Result<Self> {
        let mut builder = tempfile::Builder::new();
        builder.prefix(".harris-");
        #[cfg(unix)]
        {
            // The permissions of any new file: the umask applies.
            use std::os::unix::fs::PermissionsExt;
            builder.permissions(std::fs::Permissions::from_mode(0o666));
        }
        let mut live = live();
        let file = builder.tempfile_in(folder)?;
        let path = file.path().to_owned();
        live.insert(path.clone());
        Ok(Self { file: Some(file), path })
    }

    /// Returns the path.
    pub(super) fn path(&self) -> &Path {
        &self.path
    }

    /// Returns the file.
    pub(super) fn file(&mut self) -> io::Result<&mut File> {
        self.file.as_mut().map(NamedTempFile::as_file_mut).ok_or_else(|| io::ErrorKind::NotFound.into())
    }

    /// Moves the file to its final name, in place of what is there.
    ///
    /// If the move fails, `otherwise` gets the error and the file. A signal waits for its end.
    pub(super) fn move_to(
        mut self,
        path: &Path,
        otherwise: impl FnOnce(io::Error, &mut File) -> io::Result<()>,
    ) -> io::Result<()> {
        let mut live = live();
        let result = match self.file.take().map(|file| file.persist(path)) {
            None | Some(Ok(_)) => Ok(()),
            Some(Err(failed)) => {
                let mut file = failed.file;
                otherwise(failed.error, file.as_file_mut())
            }
        };
        live.remove(&self.path);
        result
    }
}

impl Drop for Temporary {
    fn drop(&mut self) {
        // Moved files are no longer on the list.
        if let Some(file) = self.file.take() {
            let mut live = live();
            drop(file);
            live.remove(&self.path);
        }
    }
}

/// Does work for which a signal waits.
pub(super) fn uninterrupted<T>(work: impl FnOnce() -> T) -> T {
    let _live = live();
    work()
}

/// Removes temporary files and ends the program. The lock stays taken, so that no new file is made.
fn end(code: i32) -> ! {
    let live = live();
    for path in &*live {
        // There is nobody to tell, and nothing else to do.
        let _ = std::fs::remove_file(path);
    }
    std::process::exit(code)
}

/// Removes temporary files when Ctrl-C, SIGTERM or SIGHUP ends the program.
///
/// The exit code is then 128 and the signal's number: 130 after Ctrl-C. A signal that the caller
/// ignores, as `nohup` does, stays ignored. Call this once, before anything is written.
#[cfg(unix)]
pub fn remove_on_signals() {
    use signal_hook::consts::{SIGHUP, SIGINT, SIGTERM};

    let ignored = ignored();
    let wanted: Vec<i32> =
        [SIGINT, SIGTERM, SIGHUP].into_iter().filter(|signal| ignored >> (signal - 1) & 1 == 0).collect();
    let (ready, wait) = std::sync::mpsc::channel();
    let watch = move || {
        // Without the handler signals end the program as they did, and may leave a temporary file.
        let signals = signal_hook::iterator::Signals::new(wanted);
        let _ = ready.send(());
        if let Some(signal) = signals.ok().and_then(|mut signals| signals.forever().next()) {
            end(128 + signal);
        }
    };
    if std::thread::Builder::new().name("signals".to_owned()).spawn(watch).is_ok() {
        let _ = wait.recv();
    }
}

/// Returns the set of signals that are ignored, as bits. Systems without /proc tell none.
#[cfg(unix)]
fn ignored() -> u64 {
    let status = std::fs::read_to_string("/proc/self/status").unwrap_or_default();
    let set = status.lines().find_map(|line| line.strip_prefix("SigIgn:"));
    set.and_then(|set| u64::from_str_radix(set.trim(), 16).ok()).unwrap_or(0)
}

/// Removes temporary files when Ctrl-C ends the program, with the exit code 130.
#[cfg(windows)]
pub fn remove_on_signals() {
    // Without the handler Ctrl-C ends the program as it did, and may leave a temporary file.
    let _ = ctrlc::set_handler(|| end(130));
}

/// Does nothing: this system's signals are not known.
#[cfg(not(any(unix, windows)))]
pub fn remove_on_signals() {}
