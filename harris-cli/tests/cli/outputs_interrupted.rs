//! Tests of writes that are interrupted: signals, a full disk, folders and files that cannot be
//! replaced, two programs in one folder.

#![cfg(target_os = "linux")]

use std::fs;
use std::io::Write;
use std::path::Path;
use std::process::{Child, Command, ExitStatus, Output, Stdio};
use std::time::Duration;

use image::{GrayImage, Luma};

use crate::program::Folder;

const SIGHUP: u32 = 1;
const SIGINT: u32 = 2;
const SIGKILL: u32 = 9;
const SIGTERM: u32 = 15;

/// The sides of the picture.
const SIDES: (u32, u32) = (160, 120);

/// Makes a folder with a picture that takes some time to write.
fn folder_with_picture() -> Folder {
    let folder = Folder::new();
    let sample = |x: u32, y: u32| Luma([((x * x * 31 + y * y * 17 + x * y * 7) % 251) as u8]);
    GrayImage::from_fn(SIDES.0, SIDES.1, sample).save(folder.path("a.png")).unwrap();
    folder
}

/// Starts to write overlays of the picture, one after another without an end.
fn start(folder: &Folder, out: &str) -> Child {
    Command::new(env!("CARGO_BIN_EXE_harris"))
        .args(["stream", &folder.path("a.png"), "--repeat", "1000000", "--backend", "cpu", "--threads", "1"])
        // Few corners to draw: most of the time is spent on writing.
        .args(["--max-corners", "3"])
        .args(["--overlay", out])
        .stdout(Stdio::null())
        .stderr(Stdio::null())
        .spawn()
        .unwrap()
}

fn send(child: &Child, signal: u32) {
    let args = [format!("-{signal}"), child.id().to_string()];
    assert!(Command::new("kill").args(args).status().unwrap().success());
}

/// Starts to write, sends a signal after some time once there is a result, and returns how it ended.
fn interrupted(folder: &Folder, out: &str, signal: u32, after: Duration) -> ExitStatus {
    let mut child = start(folder, out);
    for _ in 0..30_000 {
        if fs::read_dir(out).is_ok_and(|mut entries| entries.next().is_some()) {
            break;
        }
        std::thread::sleep(Duration::from_millis(1));
    }
    std::thread::sleep(after);
    send(&child, signal);
    child.wait().unwrap()
}

/// Whether this process, and so those that it starts, ignores a signal.
fn is_ignored(signal: u32) -> bool {
    let status = fs::read_to_string("/proc/self/status").unwrap();
    let set = status.lines().find_map(|line| line.strip_prefix("SigIgn:")).unwrap();
    u64::from_str_radix(set.trim(), 16).unwrap() >> (signal - 1) & 1 == 1
}

/// Checks that all results in a folder are whole, and returns how many files there are under
/// temporary and under final names.
fn files(out: &str) -> (usize, usize) {
    let (mut temporary, mut whole) = (0, 0);
    for entry in fs::read_dir(out).unwrap() {
        let path = entry.unwrap().path();
        if path.file_name().unwrap().to_str().unwrap().starts_with(".harris-") {
            temporary += 1;
        } else {
            let picture = image::open(&path).unwrap_or_else(|error| panic!("{}: {error}", path.display()));
            assert_eq!((picture.width(), picture.height()), SIDES);
            whole += 1;
        }
    }
    (temporary, whole)
}

#[test]
fn signals_leave_no_temporary_file_and_no_half_result() {
    let mut results = 0;
    for run in 0..24 {
        let signal = [SIGINT, SIGTERM, SIGHUP][run % 3];
        if is_ignored(signal) {
            continue;
        }
        let folder = folder_with_picture();
        let out = folder.path("out");
        let status = interrupted(&folder, &out, signal, Duration::from_micros(run as u64 * 2300));
        assert_eq!(status.code(), Some(128 + signal as i32), "{status}");
        let (temporary, whole) = files(&out);
        assert_eq!(temporary, 0, "signal {signal}, run {run}");
        results += whole;
    }
    assert!(results > 0, "nothing was written");
}

#[test]
fn a_killed_program_leaves_no_half_result() {
    let (mut left, mut results) = (0, 0);
    for run in 0..24 {
        let folder = folder_with_picture();
        let out = folder.path("out");
        interrupted(&folder, &out, SIGKILL, Duration::from_micros(run * 1900));
        let (temporary, whole) = files(&out);
        (left, results) = (left + temporary, results + whole);
        // A temporary file may stay; the next run does not stumble over it.
        crate::program::succeed("stream", &[&folder.path("a.png"), "--overlay", &out, "--max-corners", "3"]);
        assert_eq!(files(&out).0, temporary);
    }
    assert!(left > 0, "no run was killed in the middle of a write");
    assert!(results > 0, "nothing was written");
}

#[test]
fn a_stream_that_a_signal_ends_prints_its_summary() {
    if is_ignored(SIGINT) {
        return;
    }
    // A pipe that stays open without further frames, as of a camera that stands still.
    for json in [false, true] {
        let mut child = Command::new(env!("CARGO_BIN_EXE_harris"))
            .args(["stream", "-", "--raw", "20x10", "--backend", "cpu"])
            .args(json.then_some("--json"))
            .stdin(Stdio::piped())
            .stdout(Stdio::piped())
            .stderr(Stdio::null())
            .spawn()
            .unwrap();
        child.stdin.as_mut().unwrap().write_all(&[7; 600]).unwrap();
        // Time to read them; fewer frames are told if it does not suffice.
        std::thread::sleep(Duration::from_millis(700));
        send(&child, SIGINT);
        let stdin = child.stdin.take();
        let output = child.wait_with_output().unwrap();
        drop(stdin);
        let text = String::from_utf8(output.stdout).unwrap();
        assert_eq!(output.status.code(), Some(130), "{text}");
        let frames = if json { "\"frames\":3" } else { "3 frames in " };
        assert!(text.contains(frames) && text.contains("0") && text.ends_with('\n'), "{text}");
        assert_eq!(text.contains("\"error\":\"a signal"), json, "{text}");
    }
}

#[test]
fn one_of_two_programs_in_a_folder_may_end() {
    let folder = folder_with_picture();
    let (out, photo) = (folder.path("out"), folder.path("a.png"));
    let mut other = start(&folder, &out);
    for run in 0..6 {
        let signal = if run % 2 == 0 { SIGTERM } else { SIGKILL };
        interrupted(&folder, &out, signal, Duration::from_millis(7 * run));
        crate::program::succeed("detect", &[&photo, "--overlay", &folder.path("out/photo.png")]);
    }
    assert!(other.try_wait().unwrap().is_none(), "the other program goes on");
    send(&other, SIGTERM);
    assert_eq!(other.wait().unwrap().code(), Some(143));
    assert!(files(&out).1 > 1);
}

#[test]
fn a_signal_that_the_caller_ignores_stays_ignored() {
    let folder = folder_with_picture();
    let (out, photo) = (folder.path("out"), folder.path("a.png"));
    let program = env!("CARGO_BIN_EXE_harris");
    // As nohup does.
    let script =
        format!("trap '' HUP; exec {program} stream {photo} --repeat 40 --max-corners 3 --overlay {out}");
    let mut child =
        Command::new("sh").args(["-c", &script]).stdout(Stdio::null()).stderr(Stdio::null()).spawn().unwrap();
    while !Path::new(&format!("{out}/000000.png")).exists() {
        assert!(child.try_wait().unwrap().is_none());
        std::thread::sleep(Duration::from_millis(1));
    }
    send(&child, SIGHUP);
    assert_eq!(child.wait().unwrap().code(), Some(0));
    assert_eq!(fs::read_dir(&out).unwrap().count(), 40);
}

/// Runs a script in a folder as a user who may mount, if the system lets us. `harris` is the
/// program.
fn with_mounts(folder: &Folder, script: &str) -> Option<Output> {
    let run = |script: &str| {
        let mut command = Command::new("unshare");
        command.args(["--user", "--map-root-user", "--mount", "sh", "-ec", script]);
        command.current_dir(folder.0.path()).output().ok()
    };
    run("mkdir -p probe && mount -t tmpfs probe probe")?.status.success().then_some(())?;
    run(&script.replace("harris", env!("CARGO_BIN_EXE_harris")))
}

/// Checks the exit code of a script, of which each line must succeed but the last.
fn ends_with(output: &Output, code: i32) {
    let text = [&output.stdout[..], &output.stderr].concat();
    assert_eq!(output.status.code(), Some(code), "{}", String::from_utf8_lossy(&text));
}

#[test]
fn a_full_disk_is_an_error_and_keeps_the_old_result() {
    let folder = folder_with_picture();
    let script = "
        mkdir small && mount -t tmpfs -o size=16k small small
        echo old > small/a.jpg
        code=0; harris detect a.png --response small/a.npy 2> said || code=$?
        [ $code = 1 ]; grep -q 'cannot write small/a.npy: .*space' said
        code=0; harris detect a.png --overlay small/a.jpg 2> said || code=$?
        [ $code = 1 ]; [ $(cat small/a.jpg) = old ]
        code=0; harris stream a.png --repeat 9 --overlay small > summary 2> said || code=$?
        [ $code = 1 ]; grep -Eq ' frames? in ' summary; [ $(grep -c error: said) = 1 ]
        [ $(ls -A small | grep -v png) = a.jpg ]";
    match with_mounts(&folder, script) {
        Some(output) => ends_with(&output, 0),
        None => println!("skipped: this user may not mount"),
    }
}

#[test]
fn files_that_cannot_be_replaced_are_written_in_place_or_left() {
    let folder = folder_with_picture();
    let script = "
        harris detect a.png --csv whole.csv
        # A file that is a mount point, in a folder that can be written and in one that cannot.
        mkdir free closed; mount -t tmpfs closed closed
        for folder in free closed; do
            echo old, and much longer than what follows > behind.$folder
            touch $folder/a.csv; mount --bind behind.$folder $folder/a.csv
        done
        mount -o remount,ro closed closed
        for folder in free closed; do
            harris detect a.png --csv $folder/a.csv
            cmp whole.csv behind.$folder; [ $(ls -A $folder) = a.csv ]
        done
        # A new file in the folder that cannot be written.
        code=0; harris detect a.png --csv closed/b.csv 2> said || code=$?
        [ $code = 1 ]; grep -q 'cannot write closed/b.csv: Read-only' said";
    match with_mounts(&folder, script) {
        Some(output) => ends_with(&output, 0),
        None => println!("skipped: this user may not mount"),
    }
}

#[test]
fn a_file_that_may_not_be_written_is_left() {
    use std::os::unix::fs::{MetadataExt, PermissionsExt};
    let folder = folder_with_picture();
    let (photo, csv) = (folder.path("a.png"), folder.path("a.csv"));
    fs::write(&csv, "kept").unwrap();
    fs::set_permissions(&csv, fs::Permissions::from_mode(0o444)).unwrap();
    if fs::metadata("/proc/self").unwrap().uid() == 0 {
        println!("skipped: the administrator may write everything");
        return;
    }
    let line = crate::program::error_line("detect", &[&photo, "--csv", &csv]);
    assert!(line.contains("cannot write"), "{line}");
    assert_eq!(fs::read(&csv).unwrap(), b"kept");
    fs::set_permissions(folder.0.path(), fs::Permissions::from_mode(0o555)).unwrap();
    let line = crate::program::error_line("detect", &[&photo, "--csv", &folder.path("b.csv")]);
    assert!(line.contains("cannot write"), "{line}");
    // In such a folder an existing file is written in place.
    fs::set_permissions(&csv, fs::Permissions::from_mode(0o644)).unwrap();
    crate::program::succeed("detect", &[&photo, "--csv", &csv]);
    assert!(fs::read(&csv).unwrap().starts_with(b"x,y,response,scale\n"));
    fs::set_permissions(folder.0.path(), fs::Permissions::from_mode(0o755)).unwrap();
}
