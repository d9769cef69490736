//! Tests of `harris stream`, run as a user runs it.

use std::fs;
use std::process::{Command, Output};

use harris_conformance::pictures::noise;
use harris_core::{Detector, HarrisConfig, ImageView, ReferenceDetector};
use image::{GrayImage, ImageBuffer, Luma};

use crate::program::{Folder, data, error_line, succeed};

const SIZE: (usize, usize) = (64, 48);

/// Returns the luma of a frame.
fn frame(number: u64) -> Vec<u8> {
    let (width, height) = SIZE;
    let sample = |i: usize| (noise(number, i % width / 3, i / width / 3, 0) * 255.0) as u8;
    (0..width * height).map(sample).collect()
}

/// Returns a video of some frames, in the format that ffmpeg writes.
fn video(frames: u64) -> Vec<u8> {
    let (width, height) = SIZE;
    let mut bytes =
        format!("YUV4MPEG2 W{width} H{height} F25:1 Ip A1:1 C420jpeg XYSCSS=420JPEG\n").into_bytes();
    for number in 0..frames {
        bytes.extend(b"FRAME\n");
        bytes.extend(frame(number));
        bytes.extend(vec![128; width * height / 2]);
    }
    bytes
}

/// Runs the program with bytes on standard input.
fn with_input(args: &[&str], bytes: &[u8]) -> Output {
    crate::program::run_with_stdin("stream", args, bytes)
}

fn case(name: &str) -> String {
    format!("{}/tests/cases/video/{name}", env!("CARGO_MANIFEST_DIR"))
}

fn keypoints(frames: u64) -> usize {
    let mut detector = ReferenceDetector::new(HarrisConfig::default());
    let count =
        |number| detector.detect(&ImageView::gray(&frame(number), SIZE.0, SIZE.1).unwrap()).unwrap().len();
    (0..frames).map(count).sum()
}

fn summary(text: &str) -> serde_json::Value {
    serde_json::from_str(text).unwrap()
}

#[test]
fn a_video_is_read_from_a_file_and_from_standard_input() {
    let folder = Folder::new();
    let path = folder.path("video.y4m");
    fs::write(&path, video(5)).unwrap();
    let found = summary(&succeed("stream", &[&path, "--json"]));
    assert_eq!((found["frames"].as_u64(), found["failed"].as_u64()), (Some(5), Some(0)));
    assert_eq!(found["keypoints"].as_u64(), Some(keypoints(5) as u64));
    let latency = ["median", "p95", "p99", "max"].map(|part| found["latency_ms"][part].as_f64().unwrap());
    assert!(found["total_s"].as_f64() > Some(0.0));
    assert!(latency.is_sorted() && latency[0] > 0.0, "{latency:?}");

    let output = with_input(&["-", "--json", "--backend", "reference"], &video(3));
    let found = summary(std::str::from_utf8(&output.stdout).unwrap());
    assert_eq!(found["keypoints"].as_u64(), Some(keypoints(3) as u64));
}

/// The columns of a table but the error, for the frames that are there.
fn rows(frames: impl IntoIterator<Item = u64>) -> Vec<String> {
    let mut detector = ReferenceDetector::new(HarrisConfig::default());
    let mut rows = Vec::new();
    for number in frames {
        let samples = frame(number);
        let view = ImageView::gray(&samples, SIZE.0, SIZE.1).unwrap();
        for keypoint in detector.detect(&view).unwrap() {
            rows.push(format!("{number},{}", harris_cli::output::row(&keypoint)));
        }
    }
    rows
}

/// Returns a table's rows after the header, without the empty column of errors.
fn table_rows(text: &str) -> Vec<String> {
    let mut lines = text.lines();
    assert_eq!(lines.next(), Some("frame,x,y,response,scale,error"));
    lines.map(|line| line.strip_suffix(',').unwrap_or(line).to_owned()).collect()
}

#[test]
fn a_table_has_the_keypoints_of_all_frames() {
    let folder = Folder::new();
    let (path, table) = (folder.path("video.y4m"), folder.path("table.csv"));
    fs::write(&path, video(4)).unwrap();
    assert!(succeed("stream", &[&path, "--table", &table]).starts_with("4 frames in "));
    assert_eq!(table_rows(&fs::read_to_string(&table).unwrap()), rows(0..4));
    // On standard output the table is alone, and the summary is told beside it.
    let output = crate::program::run("stream", [&path, "--table", "-", "--backend", "cpu"]);
    assert_eq!(table_rows(std::str::from_utf8(&output.stdout).unwrap()), rows(0..4));
    assert!(String::from_utf8_lossy(&output.stderr).starts_with("4 frames in "));
    for (args, part) in [
        (&["--table", "-", "--json"][..], "--json needs standard output"),
        (&["--table", &path], "a table of frames can be written with the ending .csv"),
        (&["--table", &folder.path("")], "--table needs a file"),
        (&["--overlay", &folder.path("new.png")], "--overlay needs a folder"),
    ] {
        let output = crate::program::run("stream", [&[path.as_str()], args].concat());
        assert_eq!(output.status.code(), Some(2), "{args:?}");
        assert!(String::from_utf8_lossy(&output.stderr).contains(part), "{args:?}");
    }
    // A video that is cut has the frames before, and failed frames have their errors.
    let whole = video(3);
    fs::write(&path, &whole[..whole.len() - 9]).unwrap();
    assert_eq!(crate::program::run("stream", [&path, "--table", &table]).status.code(), Some(1));
    assert_eq!(table_rows(&fs::read_to_string(&table).unwrap()), rows(0..2));
    fs::create_dir(folder.path("in")).unwrap();
    GrayImage::from_pixel(9, 9, Luma([7])).save(folder.path("in/0.png")).unwrap();
    fs::write(folder.path("in/1.png"), "no image").unwrap();
    assert_eq!(crate::program::run("stream", [&folder.path("in"), "--table", &table]).status.code(), Some(1));
    let text = fs::read_to_string(&table).unwrap();
    let lines: Vec<_> = text.lines().skip(1).collect();
    assert!(lines.len() == 2 && lines[0] == "0,,,,," && lines[1].starts_with("1,,,,,"), "{text}");
    assert!(lines[1].contains("1.png"), "{text}");
}

#[cfg(target_os = "linux")]
#[test]
fn a_table_on_a_full_disk_is_an_error() {
    let folder = Folder::new();
    let path = folder.path("video.y4m");
    fs::write(&path, video(2)).unwrap();
    let output = crate::program::run("stream", [&path, "--table", "/dev/full", "--backend", "cpu"]);
    assert_eq!(output.status.code(), Some(1));
    let line = String::from_utf8_lossy(&output.stderr).into_owned();
    assert!(line.contains("/dev/full") && line.lines().count() == 1, "{line}");
}

#[test]
fn a_folder_of_images_and_its_overlays() {
    let folder = Folder::new();
    fs::create_dir(folder.path("in")).unwrap();
    for number in 0..3 {
        let image = GrayImage::from_raw(SIZE.0 as u32, SIZE.1 as u32, frame(number)).unwrap();
        image.save(folder.path(&format!("in/{number}.png"))).unwrap();
    }
    let text = succeed(
        "stream",
        &[&folder.path("in"), "--repeat", "2", "--overlay", &folder.path("out"), "--rate", "500"],
    );
    assert!(text.starts_with("6 frames in "), "{text}");
    assert!(text.contains("0 failed") && text.contains("latency: median "), "{text}");
    for number in 0..6 {
        let picture = image::open(folder.path(&format!("out/{number:06}.png"))).unwrap();
        assert_eq!((picture.width() as usize, picture.height() as usize), SIZE);
    }
    assert!(succeed("stream", &[&data("camera.png")]).starts_with("1 frame in "));
}

#[test]
fn frames_of_ten_bits_equal_frames_of_sixteen() {
    let folder = Folder::new();
    let path = folder.path("video.y4m");
    let (width, height) = SIZE;
    let samples: Vec<u16> = frame(1).iter().map(|&sample| u16::from(sample) * 4).collect();
    let mut bytes = format!("YUV4MPEG2 W{width} H{height} F25:1 C420p10\nFRAME\n").into_bytes();
    bytes.extend(samples.iter().flat_map(|sample| sample.to_le_bytes()));
    bytes.extend(std::iter::repeat_n([0, 2], width * height / 2).flatten());
    fs::write(&path, bytes).unwrap();
    let found = summary(&succeed("stream", &[&path, "--json"]));
    let image: ImageBuffer<Luma<u16>, _> = ImageBuffer::from_raw(
        width as u32,
        height as u32,
        samples.iter().map(|sample| sample << 6).collect::<Vec<_>>(),
    )
    .unwrap();
    let expected = ReferenceDetector::new(HarrisConfig::default())
        .detect(&ImageView::try_from(&image).unwrap())
        .unwrap();
    assert_eq!(found["keypoints"].as_u64(), Some(expected.len() as u64));
}

#[test]
fn bad_videos_are_one_line_of_error() {
    let folder = Folder::new();
    let path = folder.path("video.y4m");
    fs::write(&path, "this is no video\n").unwrap();
    assert!(error_line("stream", &[&path]).contains("not a Y4M video"));
    assert!(error_line("stream", &[&folder.path("missing.y4m")]).contains("cannot open"));
    assert!(error_line("stream", &[&data("camera.png"), "--rate", "0"]).contains("rate"));
    assert!(error_line("stream", &["-", "--repeat", "2"]).contains("once"));
    let line = error_line("stream", &[&case("y4m-size-overflow.y4m")]);
    assert!(line.contains("the width 2906290908 is not from 1 to 16777216"), "{line}");
    fs::write(&path, video(1)).unwrap();
    assert!(error_line("stream", &[&path, "--max-pixels", "3071"]).contains("limit of 3071 pixels"));
    succeed("stream", &[&path, "--max-pixels", "3072"]);
}

#[test]
fn senseless_numbers_are_errors_of_the_arguments() {
    for (option, values) in [
        ("--rate", &["0", "-1", "nan", "inf", "1e-300", "1e-4", "1e7", "1e300", "x"][..]),
        ("--in-flight", &["0", "-1", "257", "100000", "18446744073709551616"]),
        ("--repeat", &["0", "-1", "1000001", "99999999999999999999"]),
        ("--raw", &["0x5", "5x0", "5", "x5", "5x", "5x5x5", "16777217x1", "-5x5"]),
    ] {
        for value in values {
            let output = crate::program::run("stream", [&data("camera.png"), &format!("{option}={value}")]);
            let line = String::from_utf8(output.stderr).unwrap();
            assert_eq!(output.status.code(), Some(2), "{option} {value}: {line}");
            assert!(line.lines().count() == 1 && line.contains(option), "{option} {value}: {line}");
        }
    }
    assert_eq!(with_input(&["-", "--repeat", "2"], b"").status.code(), Some(2));
    succeed("stream", &[&data("camera.png"), "--rate", "1e6", "--in-flight", "256", "--repeat", "1"]);
}

#[test]
fn gray_videos_of_eight_and_sixteen_bits_give_the_same_keypoints() {
    for name in ["video-8.y4m", "video-gray16.y4m"] {
        let found = summary(&succeed("stream", &[&case(name), "--json"]));
        assert_eq!((found["frames"].as_u64(), found["keypoints"].as_u64()), (Some(2), Some(28)), "{name}");
    }
}

/// Checks that a run ends with 1, the summary of some frames, and one line of error.
fn ends_early(output: &Output, frames: u64, error: &str) {
    let (text, line) =
        (std::str::from_utf8(&output.stdout).unwrap(), String::from_utf8_lossy(&output.stderr));
    assert_eq!(output.status.code(), Some(1), "{text}{line}");
    assert_eq!(summary(text)["frames"].as_u64(), Some(frames), "{text}{line}");
    assert_eq!(summary(text)["error"], error, "{text}");
    assert_eq!(line, format!("error: {error}\n"));
}

#[test]
fn a_video_that_is_cut_is_an_error_after_the_summary() {
    let cut = "the video ends in the middle of frame 2";
    let args = ["--json", "--backend", "cpu"];
    ends_early(
        &crate::program::run("stream", [&[case("video-cut.y4m").as_str()], &args[..]].concat()),
        2,
        cut,
    );
    let whole = video(3);
    let header = whole.iter().position(|&byte| byte == b'\n').unwrap() + 1;
    let frame = (whole.len() - header) / 3;
    let args = ["-", "--json", "--backend", "cpu"];
    for end in [whole.len() - 1, whole.len() - frame + 5, whole.len() - frame + 1] {
        ends_early(&with_input(&args, &whole[..end]), 2, cut);
    }
    ends_early(&with_input(&args, &whole[..90]), 0, "the video ends in the middle of frame 0");
    let found = with_input(&args, &whole[..whole.len() - frame]);
    assert!(found.status.success());
    let found = summary(std::str::from_utf8(&found.stdout).unwrap());
    assert_eq!((found["frames"].as_u64(), found.get("error")), (Some(2), None));
    // Garbage between frames.
    let garbage = [&whole[..], b"noise"].concat();
    ends_early(
        &with_input(&args, &garbage),
        3,
        "where frame 3 should begin there is `noise` instead of FRAME",
    );
}

#[test]
fn raw_frames_have_the_size_that_is_given() {
    let folder = Folder::new();
    let path = folder.path("frames.gray");
    let bytes = [frame(0), frame(1), frame(2)].concat();
    fs::write(&path, &bytes).unwrap();
    let found = summary(&succeed("stream", &[&path, "--raw", "64x48", "--json", "--repeat", "2"]));
    assert_eq!(found["keypoints"].as_u64(), Some(2 * keypoints(3) as u64));
    let args = ["-", "--raw", "64x48", "--json", "--backend", "cpu"];
    assert!(with_input(&args, &bytes).status.success());
    ends_early(&with_input(&args, &bytes[1..]), 2, "the video ends in the middle of frame 2");
    assert!(
        error_line("stream", &[folder.path("").as_str(), "--raw", "64x48"]).contains("--raw needs a file")
    );
}

#[test]
fn frames_of_a_folder_may_fail_and_have_any_size() {
    let folder = Folder::new();
    for (name, side) in [("0.png", 30), ("2.png", 50), ("3.png", 41)] {
        GrayImage::from_fn(side, side, |x, y| Luma([((x / 9 + y / 9) % 2 * 200) as u8]))
            .save(folder.path(name))
            .unwrap();
    }
    fs::write(folder.path("1.png"), "no image").unwrap();
    let output =
        crate::program::run("stream", [folder.path("").as_str(), "--json", "--overlay", &folder.path("out")]);
    let found = summary(std::str::from_utf8(&output.stdout).unwrap());
    assert_eq!((found["frames"].as_u64(), found["failed"].as_u64()), (Some(4), Some(1)));
    assert_eq!(output.status.code(), Some(1));
    let lines = String::from_utf8(output.stderr).unwrap();
    assert!(lines.contains("error: frame 1: ") && lines.contains("1.png"), "{lines}");
    let sizes = [0, 2, 3].map(|i| image::open(folder.path(&format!("out/{i:06}.png"))).unwrap().width());
    assert_eq!(sizes, [30, 50, 41]);
}

/// Frames that are claimed but not there take no memory, and memory that cannot be had is an error.
#[cfg(target_os = "linux")]
#[test]
fn frames_too_large_for_the_memory_are_errors() {
    let folder = Folder::new();
    let claims = folder.path("claims.y4m");
    fs::write(&claims, "YUV4MPEG2 W32768 H32768 F25:1 C444p16\nFRAME\nabc").unwrap();
    for (input, error) in [
        (claims.as_str(), "the video ends in the middle of frame 0"),
        ("/dev/zero --raw 30000x30000", "there is no memory for the 900000000 bytes of frame 0"),
    ] {
        let program = env!("CARGO_BIN_EXE_harris");
        let script = format!(
            "ulimit -v 700000; exec {program} stream {input} --max-pixels 2000000000 --backend cpu --threads 1 --json"
        );
        ends_early(&Command::new("sh").args(["-c", &script]).output().unwrap(), 0, error);
    }
}
