//! Temporary files, and their removal when a signal ends the program.

use std::collections::BTreeSet;
use std::fs::File;
use std::io;
use std::path::{Path, PathBuf};
use std::sync::{Mutex, MutexGuard, PoisonError, mpsc};
use std::time::Duration;

use tempfile::NamedTempFile;

/// How the names of temporary files begin.
const PREFIX: &str = ".harris-";

/// The number of random letters and digits that follow.
const RANDOM: usize = 6;

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
        builder.prefix(PREFIX).rand_bytes(RANDOM);
        #[cfg(unix)]
        {
            // The permissions of any new file: the umask applies.
            use std::os::unix::fs::PermissionsExt;
            builder.permissions(std::fs::Permissions::from_mode(0o666));
        }
        let mut live = live();
        loop {
            let file = builder.tempfile_in(folder)?;
            // The lock tells that the file is in use. Not all file systems have locks.
            #[cfg(unix)]
            let locked = file.as_file().lock().is_ok();
            #[cfg(not(unix))]
            let locked = false;
            // It may have been removed just before it was locked.
            if locked && !file.path().exists() {
                continue;
            }
            let path = file.path().to_owned();
            live.insert(path.clone());
            return Ok(Self { file: Some(file), path });
        }
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

/// Removes the temporary files of programs that were killed from a folder.
///
/// Only files that have the name of one and that nobody has locked are removed. A running program
/// locks its own.
pub fn remove_abandoned(folder: &Path) {
    let folder = if folder.as_os_str().is_empty() { Path::new(".") } else { folder };
    // What cannot be listed or removed stays there, as without this.
    for entry in std::fs::read_dir(folder).into_iter().flatten().flatten() {
        let name = entry.file_name();
        let random = name.to_str().and_then(|name| name.strip_prefix(PREFIX)).unwrap_or_default();
        let is_ours = random.len() == RANDOM && random.bytes().all(|byte| byte.is_ascii_alphanumeric());
        if !is_ours || !entry.file_type().is_ok_and(|kind| kind.is_file()) {
            continue;
        }
        if let Ok(file) = File::options().read(true).write(true).open(entry.path())
            && cfg!(unix)
            && file.try_lock().is_ok()
        {
            let _ = std::fs::remove_file(entry.path());
        }
    }
}

/// Does work for which a signal waits.
pub(super) fn uninterrupted<T>(work: impl FnOnce() -> T) -> T {
    let _live = live();
    work()
}

/// Prints what there is to tell when a signal ends the program.
type LastWords = Box<dyn FnOnce() + Send>;

static LAST_WORDS: Mutex<Option<LastWords>> = Mutex::new(None);

/// The longest time that printing may take then: nobody may read.
const LAST_WORDS_TIME: Duration = Duration::from_secs(2);

/// Calls a function when a signal ends the program, until [`print_nothing_on_signals`].
pub fn print_on_signals(print: impl FnOnce() + Send + 'static) {
    *LAST_WORDS.lock().unwrap_or_else(PoisonError::into_inner) = Some(Box::new(print));
}

/// Calls nothing any more when a signal ends the program.
pub fn print_nothing_on_signals() {
    LAST_WORDS.lock().unwrap_or_else(PoisonError::into_inner).take();
}

/// Removes temporary files and ends the program. The lock stays taken, so that no new file is made.
fn end(code: i32) -> ! {
    let words = LAST_WORDS.lock().unwrap_or_else(PoisonError::into_inner).take();
    if let Some(print) = words {
        let (done, wait) = mpsc::channel();
        let print = move || {
            print();
            let _ = done.send(());
        };
        if std::thread::Builder::new().spawn(print).is_ok() {
            let _ = wait.recv_timeout(LAST_WORDS_TIME);
        }
    }
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
    let (ready, wait) = mpsc::channel();
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
