//! Tests of where results go: nothing that is read is overwritten, and no two results are one file.

use std::collections::BTreeMap;
use std::fs;
use std::path::{Path, PathBuf};
use std::process::Output;

use image::{GrayImage, ImageFormat, Luma};

use crate::program::{Folder, error_line, run, succeed};

/// Writes a small picture with corners.
fn picture(path: impl AsRef<Path>, seed: u32) {
    let image = GrayImage::from_fn(40, 30, |x, y| Luma([(((x + seed) / 9 + y / 7) % 2 * 180 + seed) as u8]));
    image.save(path).unwrap();
}

/// Makes `photos` with `a.png`, `b.png` and `c.png`.
fn photos() -> Folder {
    let folder = Folder::new();
    fs::create_dir(folder.path("photos")).unwrap();
    for (i, name) in ["a", "b", "c"].iter().enumerate() {
        picture(folder.path(&format!("photos/{name}.png")), i as u32);
    }
    folder
}

/// Returns all files below a folder with their content.
fn content(folder: &Path) -> BTreeMap<PathBuf, Vec<u8>> {
    let mut all = BTreeMap::new();
    for entry in fs::read_dir(folder).unwrap() {
        let path = entry.unwrap().path();
        if path.is_dir() && !path.is_symlink() {
            all.extend(content(&path));
        } else {
            all.insert(path.clone(), fs::read(path).unwrap_or_default());
        }
    }
    all
}

/// Runs the program in a folder and returns the line of error. The arguments must be refused, and
/// nothing be written.
fn refused(folder: &Folder, args: &[&str]) -> String {
    let before = content(folder.0.path());
    let output = within(folder, args);
    let line = String::from_utf8_lossy(&output.stderr);
    let line = line.lines().filter(|line| !line.starts_with("backend: ")).collect::<Vec<_>>().join("\n");
    assert_eq!(output.status.code(), Some(2), "{args:?}: {line}");
    assert!(line.starts_with("error: ") && line.lines().count() == 1, "{args:?}: {line}");
    assert!(content(folder.0.path()) == before, "{args:?} has written something");
    line
}

/// Runs the program in a folder.
fn within(folder: &Folder, args: &[&str]) -> Output {
    std::process::Command::new(env!("CARGO_BIN_EXE_harris"))
        .args(args)
        .current_dir(folder.0.path())
        .output()
        .unwrap()
}

#[test]
fn no_result_takes_an_inputs_place() {
    let folder = photos();
    let at = |name: &str| folder.path(name);
    fs::create_dir(at("photos/deep")).unwrap();
    picture(at("mask.png"), 7);
    for args in [
        &["detect", "photos", "--overlay", "photos"][..],
        &["detect", "photos", "--overlay", "photos/deep/.."],
        &["detect", "photos", "--overlay", "./photos/", "--csv", "out"],
        &["detect", "photos/a.png", "photos/b.png", "--overlay", "photos"],
        &["detect", "photos/a.png", "--overlay", "photos/a.png"],
        &["detect", "photos/a.png", "--overlay", "photos/../photos/a.png"],
        &["detect", "photos/a.png", "--response", "photos/a.png"],
        &["detect", "photos/a.png", "--csv", "photos/a.png"],
        &["detect", "photos/a.png", "--mask", "mask.png", "--overlay", "mask.png"],
        &["detect", "photos", "--mask", "photos/a.png", "--overlay", "photos"],
        &["match", "photos/a.png", "photos", "--out", "photos"],
        &["match", "mask.png", "photos/a.png", "--out", "photos/a.png"],
        &["match", "photos/a.png", "photos/b.png", "--out", "photos/a.png"],
    ] {
        refused(&folder, args);
    }
    let line = refused(&folder, &["detect", "photos/b.png", "--overlay", "photos/deep/../b.png"]);
    assert!(line.contains("would overwrite photos/deep/../b.png, which is the input photos/b.png"), "{line}");
    let line = refused(&folder, &["detect", "photos/b.png", "--mask", "mask.png", "--overlay", "mask.png"]);
    assert!(line.contains("--overlay would overwrite mask.png, which is the mask;"), "{line}");
    assert!(!Path::new(&at("out")).exists());
    // Other names in the same folder harm nothing.
    succeed("detect", &[&at("photos"), "--csv", &at("photos"), "--response", &at("photos")]);
}

#[cfg(unix)]
#[test]
fn links_to_inputs_are_inputs() {
    use std::os::unix::fs::symlink;
    let folder = photos();
    let at = |name: &str| folder.path(name);
    symlink("photos", at("link")).unwrap();
    for out in ["hard", "soft", "chain"] {
        fs::create_dir(at(out)).unwrap();
    }
    fs::hard_link(at("photos/a.png"), at("hard/b.png")).unwrap();
    symlink("../photos/c.png", at("soft/a.png")).unwrap();
    symlink("../soft/a.png", at("chain/a.png")).unwrap();
    for out in ["link", "hard", "soft", "chain"] {
        refused(&folder, &["detect", "photos", "--overlay", out]);
        refused(&folder, &["match", "photos/a.png", "photos", "--out", out]);
    }
    refused(&folder, &["detect", "link/a.png", "--overlay", "photos/a.png"]);
    // Inputs that are links are the files behind them.
    refused(&folder, &["detect", "chain/a.png", "--overlay", "photos/c.png"]);
    // Two results behind two links.
    symlink("new.csv", at("one.csv")).unwrap();
    symlink("new.csv", at("two.npy")).unwrap();
    let line = refused(&folder, &["detect", "photos/a.png", "--csv", "one.csv", "--response", "two.npy"]);
    assert!(line.contains("--csv and --response would write the same file"), "{line}");
}

#[test]
fn frames_and_photographs_are_no_results_either() {
    let folder = Folder::new();
    let at = |name: &str| folder.path(name);
    for name in ["frames", "others", "hard"] {
        fs::create_dir(at(name)).unwrap();
    }
    for i in 0..3 {
        picture(at(&format!("frames/{i:06}.png")), i);
        picture(at(&format!("others/frame{i}.png")), i);
    }
    refused(&folder, &["stream", "frames", "--overlay", "frames"]);
    refused(&folder, &["stream", "frames/000001.png", "--overlay", "frames"]);
    // A link of any number: how many frames come is not known.
    fs::hard_link(at("others/frame1.png"), at("hard/1234567.png")).unwrap();
    let line = refused(&folder, &["stream", "others", "--overlay", "hard"]);
    assert!(line.contains("hard/1234567.png, which is the input others/frame1.png"), "{line}");
    let text = succeed("stream", &[&at("others"), "--overlay", &at("others"), "--repeat", "3"]);
    assert!(text.starts_with("9 frames "), "overlays must not be read as frames: {text}");
    // Tables of `reproduce`.
    fs::create_dir(at("results")).unwrap();
    fs::hard_link(at("others/frame2.png"), at("results/phull-times.csv")).unwrap();
    let args = ["reproduce", "phull", "--images", "others", "--backend", "cpu", "--out"];
    refused(&folder, &[&args[..], &["results"]].concat());
}

#[test]
fn no_two_results_are_one_file() {
    let folder = photos();
    let at = |name: &str| folder.path(name);
    fs::create_dir_all(at("more")).unwrap();
    picture(at("more/a.jpg"), 1);
    let one = "photos/a.png";
    let line = refused(&folder, &["detect", one, "--overlay", "x.png", "--response", "./x.png"]);
    assert!(line.contains("--overlay and --response would write the same file"), "{line}");
    let line = refused(&folder, &["detect", "photos", "more/a.jpg", "--csv", "out"]);
    assert!(line.contains("would write the same files"), "{line}");
    refused(&folder, &["match", "photos/b.png", "photos", "more/a.jpg", "--out", "out"]);
    let line = refused(&folder, &["detect", one, "--csv", "-", "--response", "-"]);
    assert!(line.contains("standard output"), "{line}");
    refused(&folder, &["detect", "photos", "--csv", "-"]);
    refused(&folder, &["stream", "photos", "--overlay", "-"]);
    assert!(!Path::new(&at("out")).exists());
    // Photographs of one name would share their charts.
    fs::copy(at("more/a.jpg"), at("photos/a.jpg")).unwrap();
    let line = error_line("reproduce", &["phull", "--images", &at("photos"), "--out", &at("out")]);
    assert!(line.contains("two photographs of the name a"), "{line}");
}

#[cfg(unix)]
#[test]
fn the_file_of_standard_output_and_input_is_known() {
    let folder = photos();
    let shell = |script: &str| {
        let command = script.replace("harris", env!("CARGO_BIN_EXE_harris"));
        let folder = folder.0.path();
        std::process::Command::new("sh").args(["-c", &command]).current_dir(folder).output().unwrap()
    };
    assert_eq!(shell("harris detect photos/a.png --csv out.csv > out.csv").status.code(), Some(2));
    assert_eq!(shell("harris stream - --overlay frames < photos/a.png").status.code(), Some(1));
    fs::create_dir_all(folder.path("frames")).unwrap();
    fs::copy(folder.path("photos/a.png"), folder.path("frames/000000.png")).unwrap();
    assert_eq!(shell("harris stream - --overlay frames < frames/000000.png").status.code(), Some(2));
    let both = ["--csv -", "--csv /dev/stdout", "--csv /dev/stdout > list.csv && cat list.csv"]
        .map(|out| shell(&format!("harris detect photos/a.png {out}")));
    assert!(both.iter().all(|output| output.status.success() && output.stdout == both[0].stdout));
    assert!(both[0].stdout.starts_with(b"x,y,response,scale\n"));
}

#[test]
fn endings_choose_the_format_or_are_refused() {
    let folder = photos();
    let (a, at) = (folder.path("photos/a.png"), |name: &str| folder.path(name));
    for (option, name, endings) in [
        ("--overlay", "x.gif", ".png, .jpg, .jpeg"),
        ("--overlay", "x", ".png, .jpg, .jpeg"),
        ("--overlay", "x.csv", ".png, .jpg, .jpeg"),
        ("--response", "x.jpg", ".npy, .tiff, .tif, .png"),
        ("--csv", "x.txt", ".csv"),
        ("--csv", ".csv", ".csv"),
    ] {
        let line = refused(&folder, &["detect", "photos/a.png", option, name]);
        assert!(line.contains(&format!("{option} {name}: ")) && line.ends_with(endings), "{line}");
    }
    refused(&folder, &["match", "photos/a.png", "photos/b.png", "--out", "x.bmp"]);
    for (name, format) in [
        ("x.jpg", ImageFormat::Jpeg),
        ("x.JPEG", ImageFormat::Jpeg),
        ("x.png", ImageFormat::Png),
        ("x.PNG", ImageFormat::Png),
    ] {
        succeed("detect", &[&a, "--overlay", &at(name)]);
        let bytes = fs::read(at(name)).unwrap();
        assert_eq!(image::guess_format(&bytes).unwrap(), format, "{name}");
        // The program reads what it has written.
        succeed("detect", &[&at(name)]);
        succeed("match", &[&a, &a, "--out", &at(name)]);
        assert_eq!(image::guess_format(&fs::read(at(name)).unwrap()).unwrap(), format, "{name}");
    }
    for (name, magic) in
        [("r.npy", &b"\x93NUMPY"[..]), ("r.tif", b"II*\0"), ("r.TIFF", b"II*\0"), ("r.png", b"\x89PNG")]
    {
        succeed("detect", &[&a, "--response", &at(name)]);
        assert!(fs::read(at(name)).unwrap().starts_with(magic), "{name}");
    }
}

#[cfg(target_os = "linux")]
#[test]
fn results_bear_the_inputs_names_byte_for_byte() {
    use std::ffi::OsStr;
    use std::os::unix::ffi::OsStrExt;
    let folder = Folder::new();
    let photos = folder.0.path().join("photos");
    fs::create_dir(&photos).unwrap();
    for (i, name) in [&b"\xffa"[..], b"\xfea"].into_iter().enumerate() {
        let path = folder.path("new.png");
        picture(&path, i as u32);
        fs::rename(path, photos.join(OsStr::from_bytes(&[name, b".png"].concat()))).unwrap();
    }
    let out = folder.0.path().join(OsStr::from_bytes(b"out\xfd"));
    let args = [photos.as_os_str(), "--csv".as_ref(), out.as_os_str(), "--overlay".as_ref(), out.as_os_str()];
    assert!(run("detect", args).status.success());
    let args =
        [photos.join(OsStr::from_bytes(b"\xffa.png")), photos.clone(), "--out".into(), out.join("deep")];
    assert!(run("match", args).status.success());
    let names = |folder: &Path| -> Vec<_> {
        let mut names: Vec<_> =
            fs::read_dir(folder).unwrap().map(|entry| entry.unwrap().file_name()).collect();
        names.sort();
        names
    };
    let expected = [&b"deep"[..], b"\xfea.csv", b"\xfea.png", b"\xffa.csv", b"\xffa.png"];
    assert_eq!(names(&out), expected.map(OsStr::from_bytes));
    assert_eq!(names(&out.join("deep")), [&b"\xfea.png"[..], b"\xffa.png"].map(OsStr::from_bytes));
    // The lists are not of one picture.
    let lists = [expected[1], expected[3]].map(|name| fs::read(out.join(OsStr::from_bytes(name))).unwrap());
    assert_ne!(lists[0], lists[1]);
}

#[cfg(unix)]
#[test]
fn links_are_followed_permissions_kept_and_pipes_written() {
    use std::os::unix::fs::{PermissionsExt, symlink};
    let folder = photos();
    let (a, at) = (folder.path("photos/a.png"), |name: &str| folder.path(name));
    let csv = succeed("detect", &[&a, "--csv", "-"]);
    fs::create_dir(at("far")).unwrap();
    fs::write(at("far/list.csv"), "old").unwrap();
    fs::set_permissions(at("far/list.csv"), fs::Permissions::from_mode(0o640)).unwrap();
    symlink("far/list.csv", at("link.csv")).unwrap();
    succeed("detect", &[&a, "--csv", &at("link.csv")]);
    assert!(Path::new(&at("link.csv")).is_symlink());
    assert_eq!(fs::read_to_string(at("far/list.csv")).unwrap(), csv);
    assert_eq!(fs::metadata(at("far/list.csv")).unwrap().permissions().mode() & 0o777, 0o640);

    let pipe = at("pipe");
    assert!(std::process::Command::new("mkfifo").arg(&pipe).status().unwrap().success());
    let reader = std::thread::spawn({
        let pipe = pipe.clone();
        move || fs::read_to_string(pipe).unwrap()
    });
    succeed("detect", &[&a, "--csv", &pipe]);
    assert_eq!(reader.join().unwrap(), csv);
    // A reader that goes away is no error.
    let reader = std::thread::spawn({
        let pipe = pipe.clone();
        move || drop(fs::File::open(pipe).unwrap())
    });
    succeed("detect", &[&a, "--csv", &pipe]);
    reader.join().unwrap();
    succeed("detect", &[&a, "--csv", "/dev/null", "--overlay", "/dev/null", "--response", "/dev/null"]);
    let line = error_line("detect", &[&a, "--overlay", "/dev/full"]);
    assert!(line.contains("cannot write /dev/full"), "{line}");
}

#[test]
fn places_where_nothing_can_be_are_errors_before_work() {
    let folder = photos();
    let (a, at) = (folder.path("photos/a.png"), |name: &str| folder.path(name));
    let line = error_line("detect", &[&a, "--csv", &at("no/list.csv")]);
    assert!(line.contains("cannot write") && line.contains("there is no folder"), "{line}");
    let line = error_line("detect", &[&a, "--overlay", &at("photos")]);
    assert!(line.contains("--overlay needs a file") && line.contains("photos is a folder"), "{line}");
    let line = error_line("detect", &[&at("photos"), "--csv", &a]);
    assert!(line.contains("several inputs need a folder") && line.contains("a.png is a file"), "{line}");
    assert!(error_line("stream", &[&a, "--overlay", &a]).contains("needs a folder"));
    assert!(error_line("reproduce", &["phull", "--backend", "cpu", "--out", &a]).contains("needs a folder"));
    assert_eq!(content(folder.0.path()).len(), 3);
}
