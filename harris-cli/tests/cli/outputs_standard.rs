//! Tests of standard output and standard error that are closed or full, for every subcommand.

#![cfg(unix)]

use std::fs::{File, OpenOptions};
use std::process::{Command, Stdio};

use crate::program::{Folder, data};

/// Returns a short call of each subcommand that prints something.
fn calls(folder: &Folder) -> Vec<Vec<String>> {
    let (camera, out) = (data("camera.png"), folder.path("out"));
    let video = format!("{}/tests/cases/video/video-8.y4m", env!("CARGO_MANIFEST_DIR"));
    [
        &["detect", &camera][..],
        &["detect", &camera, "--csv", "-"],
        &["detect", &camera, "--overlay", "-"],
        &["detect", &camera, "--response", "-"],
        &["stream", &video],
        &["stream", &video, "--json"],
        &["match", &camera, &camera, "--no-homography"],
        &["match", &camera, &camera, "--sizes", "64", "--seconds", "0"],
        &["bench", "--sizes", "64x64", "--seconds", "0"],
        &["bench", "--sizes", "64x64", "--seconds", "0", "--json"],
        &[
            "reproduce",
            "jobanputra",
            "--seconds",
            "0.001",
            "--largest",
            "128",
            "--backend",
            "cpu",
            "--out",
            &out,
        ],
        &["--help"],
        &["detect", "--help"],
        &["--version"],
    ]
    .iter()
    .map(|args| args.iter().map(|&arg| arg.to_owned()).collect())
    .collect()
}

fn command(args: &[String]) -> Command {
    let mut command = Command::new(env!("CARGO_BIN_EXE_harris"));
    command.args(args).stdin(Stdio::null()).stderr(Stdio::piped());
    command
}

/// Returns the lines of standard error but the choice of `auto` and the notes of an experiment.
fn lines(stderr: &[u8]) -> Vec<String> {
    let text = String::from_utf8_lossy(stderr);
    let notes = ["backend: ", "without a GPU: ", "jobanputra: "];
    let skip = |line: &&str| !notes.iter().any(|note| line.starts_with(note));
    text.lines().filter(skip).map(str::to_owned).collect()
}

#[test]
fn a_full_standard_output_is_one_line_and_the_exit_code_1() {
    let folder = Folder::new();
    for args in calls(&folder) {
        let full = OpenOptions::new().write(true).open("/dev/full").unwrap();
        let output = command(&args).stdout(full).output().unwrap();
        let lines = lines(&output.stderr);
        assert_eq!(output.status.code(), Some(1), "{args:?}: {lines:?}");
        assert!(
            lines.len() == 1 && lines[0].starts_with("error: cannot write to standard output: "),
            "{lines:?}"
        );
    }
}

#[test]
fn a_closed_pipe_is_no_error() {
    let folder = Folder::new();
    for args in calls(&folder) {
        let mut child = command(&args).stdout(Stdio::piped()).spawn().unwrap();
        drop(child.stdout.take());
        let output = child.wait_with_output().unwrap();
        assert_eq!(output.status.code(), Some(0), "{args:?}: {:?}", lines(&output.stderr));
        assert!(lines(&output.stderr).is_empty(), "{args:?}: {:?}", lines(&output.stderr));
    }
}

#[test]
fn standard_error_may_be_closed_or_full() {
    for args in
        [&["detect", "missing.png"][..], &["detect", "--rate"], &["stream", "missing.y4m"], &["match"]]
    {
        let args: Vec<_> = args.iter().map(|&arg| arg.to_owned()).collect();
        let expected = command(&args).output().unwrap().status.code();
        assert!(matches!(expected, Some(1 | 2)));
        let full = OpenOptions::new().write(true).open("/dev/full").unwrap();
        assert_eq!(command(&args).stderr(full).output().unwrap().status.code(), expected, "{args:?}");
        let mut child = command(&args).spawn().unwrap();
        drop(child.stderr.take());
        assert_eq!(child.wait().unwrap().code(), expected, "{args:?}");
    }
}

#[test]
fn streams_that_are_not_open_at_all_are_no_error() {
    let folder = Folder::new();
    let script = format!("{} detect {} >&- 2>&- <&-", env!("CARGO_BIN_EXE_harris"), data("camera.png"));
    let status = Command::new("sh").args(["-c", &script]).status().unwrap();
    assert_eq!(status.code(), Some(0));
    // Nor does a result land in a file that took the number of a closed stream.
    let csv = folder.path("a.csv");
    let status = Command::new("sh").args(["-c", &format!("{script} --csv {csv}")]).status().unwrap();
    assert_eq!(status.code(), Some(0));
    let list = std::io::read_to_string(File::open(csv).unwrap()).unwrap();
    assert_eq!(list.lines().count(), 185);
}
