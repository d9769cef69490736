//! Runs the subcommands of `harris` as a user does, and makes folders for their output.

use std::ffi::OsStr;
use std::fs;
use std::io::Write;
use std::process::{Command, Output, Stdio};

use tempfile::TempDir;

pub(crate) fn run<S: AsRef<OsStr>>(name: &str, args: impl IntoIterator<Item = S>) -> Output {
    Command::new(env!("CARGO_BIN_EXE_harris")).arg(name).args(args).output().expect("the program runs")
}

pub(crate) fn succeed(name: &str, args: &[&str]) -> String {
    let output = run(name, args);
    assert!(output.status.success(), "{args:?}: {}", String::from_utf8_lossy(&output.stderr));
    String::from_utf8(output.stdout).unwrap()
}

/// Runs a subcommand with bytes on standard input.
pub(crate) fn run_with_stdin(name: &str, args: &[&str], stdin: &[u8]) -> Output {
    let mut child = Command::new(env!("CARGO_BIN_EXE_harris"))
        .arg(name)
        .args(args)
        .stdin(Stdio::piped())
        .stdout(Stdio::piped())
        .stderr(Stdio::piped())
        .spawn()
        .unwrap();
    // The program may end before it has read everything.
    let _ = child.stdin.take().unwrap().write_all(stdin);
    child.wait_with_output().unwrap()
}

/// Returns the one line that a failing call prints.
pub(crate) fn error_line(name: &str, args: &[&str]) -> String {
    let output = run(name, args);
    assert!(!output.status.success(), "{args:?} succeeds");
    let text = String::from_utf8(output.stderr).unwrap();
    // The choice of `auto` is printed before.
    let text = match text.split_once('\n') {
        Some((choice, rest)) if choice.starts_with("backend: ") => rest.to_owned(),
        _ => text,
    };
    assert_eq!(text.lines().count(), 1, "{args:?}: {text}");
    assert!(text.starts_with("error: "), "{text}");
    text
}

/// Returns the path of one of the photographs.
pub(crate) fn data(name: &str) -> String {
    format!("{}/data/{name}", env!("CARGO_MANIFEST_DIR"))
}

pub(crate) struct Folder(pub(crate) TempDir);

impl Folder {
    pub(crate) fn new() -> Self {
        Self(tempfile::tempdir().unwrap())
    }

    pub(crate) fn path(&self, name: &str) -> String {
        self.0.path().join(name).to_str().unwrap().to_owned()
    }

    pub(crate) fn names(&self) -> Vec<String> {
        let mut names: Vec<_> =
            fs::read_dir(&self.0).unwrap().map(|e| e.unwrap().file_name().into_string().unwrap()).collect();
        names.sort();
        names
    }
}
