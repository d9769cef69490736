//! Tests of the limits of inputs, the names that control characters are in, and `bench --decode`.

use std::fs;
use std::path::Path;
use std::process::Output;
use std::time::{Duration, Instant};

use crate::program::{Folder, error_line, succeed};

fn case(name: &str) -> String {
    format!("{}/tests/cases/{name}", env!("CARGO_MANIFEST_DIR"))
}

/// Adds a chunk to a PNG of 40 x 24 pixels, behind its header.
fn png_with_notes(bytes: usize) -> Vec<u8> {
    let png = fs::read(case("drawn.png")).unwrap();
    let (header, rest) = png.split_at(8 + 25);
    let chunk = [&b"prVt"[..], &vec![b'n'; bytes]].concat();
    let sum = crc32fast::hash(&chunk).to_be_bytes();
    [header, &(bytes as u32).to_be_bytes(), &chunk, &sum, rest].concat()
}

#[test]
fn the_limit_of_pixels_is_not_one_of_metadata() {
    let folder = Folder::new();
    let path = folder.path("notes.png");
    fs::write(&path, png_with_notes(9 << 20)).unwrap();
    assert!(succeed("detect", &[&path, "--max-pixels", "960"]).contains("40 x 24"));
    let line = error_line("detect", &[&path, "--max-pixels", "959"]);
    assert!(line.contains("it claims 40 x 24 pixels"), "{line}");
    for number in ["0", "-1", "many", "1.5", "99999999999999999999"] {
        let output = crate::program::run("detect", [path.as_str(), &format!("--max-pixels={number}")]);
        assert_eq!(output.status.code(), Some(2), "{number}");
        let line = String::from_utf8(output.stderr).unwrap();
        assert!(line.contains("a number of pixels is a whole number from 1"), "{line}");
    }
}

#[cfg(unix)]
#[test]
fn endless_inputs_that_are_no_image_are_refused_at_once() {
    for device in ["/dev/zero", "/dev/urandom"] {
        let start = Instant::now();
        for args in [&[device][..], &[&case("drawn.png"), "--mask", device]] {
            let line = error_line("detect", args);
            assert!(line.contains("it is not a PNG") || line.contains("damaged"), "{line}");
        }
        let line = error_line("detect", &[device, "--raw", "30x20"]);
        assert!(line.contains("more bytes than the 600 bytes of a raw frame of 30 x 20"), "{line}");
        assert!(start.elapsed() < Duration::from_secs(10), "{device}: {:?}", start.elapsed());
    }
}

#[cfg(unix)]
#[test]
fn control_characters_of_names_are_escaped_and_bytes_told_apart() {
    use std::ffi::OsStr;
    use std::os::unix::ffi::OsStrExt;
    let folder = Folder::new();
    let names: [&[u8]; 4] = [b"a\nb.png", b"c\x1b[31m.png", b"d\xff.png", b"d\xfe.png"];
    for name in names {
        fs::copy(case("drawn.png"), folder.0.path().join(OsStr::from_bytes(name))).unwrap();
    }
    let bad = folder.0.path().join(OsStr::from_bytes(b"e\n\x1bf.png"));
    fs::write(bad, "no image").unwrap();
    let of = |args: &[&str]| {
        let Output { stdout, stderr, .. } =
            crate::program::run("detect", [&[&folder.path(""), "--backend", "cpu"], args].concat());
        (String::from_utf8(stdout).unwrap(), String::from_utf8(stderr).unwrap())
    };
    // Without the strongest keypoints.
    let (out, errors) = of(&["--overlay", &folder.path("out")]);
    assert_eq!((out.lines().count(), errors.lines().count()), (5, 1), "{out}{errors}");
    for text in ["a\\nb.png: ", "c\\u{1b}[31m.png: ", "d\\xff.png: ", "d\\xfe.png: "] {
        assert!(out.contains(text), "{text}: {out}");
    }
    assert!(errors.contains("e\\n\\u{1b}f.png"), "{errors}");
    assert!(!(out + &errors).contains('\x1b'));
    let (out, _) = of(&["--json"]);
    let mut files: Vec<String> = out
        .lines()
        .filter_map(|line| {
            let line: serde_json::Value = serde_json::from_str(line).unwrap();
            Some(Path::new(line["file"].as_str()?).file_name()?.to_str()?.to_owned())
        })
        .collect();
    files.sort();
    assert_eq!(files, ["a\nb.png", "c\x1b[31m.png", "d\\xfe.png", "d\\xff.png", "e\n\x1bf.png"]);
}

#[test]
fn json_has_a_line_for_all_also_of_one_input() {
    let folder = Folder::new();
    fs::create_dir(folder.path("in")).unwrap();
    let image = folder.path("in/a.png");
    fs::copy(case("drawn.png"), &image).unwrap();
    let last = |args: &[&str]| -> serde_json::Value {
        let text = succeed("detect", args);
        serde_json::from_str(text.lines().last().unwrap()).unwrap()
    };
    for input in [image.as_str(), &folder.path("in")] {
        let all = last(&[input, "--json"]);
        assert_eq!((&all["images"], &all["failed"]), (&1.into(), &0.into()), "{all}");
        assert!(all["total_s"].is_number());
    }
    assert_eq!(last(&[&image, "--shard", "2/2", "--json"])["images"], 0);
    assert!(succeed("detect", &[&folder.path("in")]).contains("\n1 image in "));
    assert!(succeed("detect", &[&image, "--shard", "2/2"]).starts_with("0 images in "));
    assert!(!succeed("detect", &[&image]).contains("1 image in "));
    // Times have no digits behind those of nanoseconds.
    let text = succeed("detect", &[&image, "--json"]);
    let line: serde_json::Value = serde_json::from_str(text.lines().next().unwrap()).unwrap();
    let ms = line["ms"].to_string();
    assert!(ms.split_once('.').is_none_or(|(_, digits)| digits.len() <= 6), "{ms}");
}

#[test]
fn decoding_names_what_cannot_be_read_and_refuses_what_it_does_not_use() {
    let folder = Folder::new();
    fs::copy(case("drawn.png"), folder.path("a.png")).unwrap();
    let decode = ["--decode", &folder.path("")];
    assert!(succeed("bench", &[&decode[..], &["--jobs", "1"]].concat()).starts_with("read 1 image in "));
    fs::write(folder.path("b.png"), "no image").unwrap();
    for json in [&[][..], &["--json"]] {
        let output = crate::program::run("bench", [&decode[..], json].concat());
        assert_eq!(output.status.code(), Some(1));
        let (out, errors) = (String::from_utf8(output.stdout), String::from_utf8(output.stderr).unwrap());
        assert_eq!(out.unwrap().lines().count(), 1);
        assert!(errors.starts_with("error: cannot read ") && errors.contains("b.png"), "{errors}");
    }
    for other in [
        &["--sizes", "9x9"][..],
        &["--image", "no.png"],
        &["--mask", "no.png"],
        &["--response"],
        &["--depth", "u16"],
        &["--seconds", "1"],
        &["--stream-seconds", "1"],
        &["--backend", "cpu"],
        &["--threads", "2"],
    ] {
        let output = crate::program::run("bench", [&decode[..], other].concat());
        assert_eq!(output.status.code(), Some(2), "{other:?}");
        assert!(String::from_utf8(output.stderr).unwrap().contains("cannot be used with"), "{other:?}");
    }
}
