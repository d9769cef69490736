//! Tests of the subcommand `track`: a drawn object that moves, turns and leaves the picture.

use std::fs;
use std::io::Write;
use std::process::{Command, Output, Stdio};
use std::time::Duration;

use harris_cli::video::Frames;
use harris_conformance::pictures::noise;
use image::{DynamicImage, GrayImage, Luma};

use crate::program::{Folder, error_line, run, run_with_stdin, succeed};

/// Width and height of frames.
const SIZE: [usize; 2] = [320, 241];

/// Width and height of the object.
const OBJECT: [usize; 2] = [140, 110];

/// Whatever a video may have in its header stays.
const HEADER: &str = "YUV4MPEG2 W320 H241 F30000:1001 Ip A1:1 C420jpeg XYSCSS=420JPEG XCOLORRANGE=LIMITED\n";

/// Returns smooth noise at a place: `step` pixels lie between its levels.
fn smooth(seed: u64, [x, y]: [f64; 2], step: f64) -> f64 {
    let [x, y] = [x / step + 100.0, y / step + 100.0];
    let (left, top) = (x.floor(), y.floor());
    let at = |dx: f64, dy: f64| noise(seed, (left + dx) as usize, (top + dy) as usize, 0);
    let mix = |a: f64, b: f64, part: f64| a + (b - a) * part;
    mix(mix(at(0.0, 0.0), at(1.0, 0.0), x - left), mix(at(0.0, 1.0), at(1.0, 1.0), x - left), y - top)
}

/// Returns a level of the object.
fn object_level(place: [f64; 2]) -> u8 {
    (20.0 + 210.0 * smooth(7, place, 5.0)) as u8
}

fn object() -> GrayImage {
    GrayImage::from_fn(OBJECT[0] as u32, OBJECT[1] as u32, |x, y| {
        Luma([object_level([f64::from(x), f64::from(y)])])
    })
}

/// Where an object lies: its top left pixel, its turn in degrees, and its scale.
#[derive(Clone, Copy)]
struct Pose {
    at: [f64; 2],
    degrees: f64,
    scale: f64,
}

impl Pose {
    /// Returns where a place of the object lies in the frame.
    fn map(self, [x, y]: [f64; 2]) -> [f64; 2] {
        let (sin, cos) = self.degrees.to_radians().sin_cos();
        [self.at[0] + self.scale * (cos * x - sin * y), self.at[1] + self.scale * (sin * x + cos * y)]
    }

    /// Returns which place of the object lies at one of the frame.
    fn back(self, [x, y]: [f64; 2]) -> [f64; 2] {
        let (sin, cos) = self.degrees.to_radians().sin_cos();
        let [x, y] = [(x - self.at[0]) / self.scale, (y - self.at[1]) / self.scale];
        [cos * x + sin * y, cos * y - sin * x]
    }

    fn corners(self) -> [[f64; 2]; 4] {
        let [right, bottom] = OBJECT.map(|side| side as f64 - 0.5);
        [[-0.5, -0.5], [right, -0.5], [right, bottom], [-0.5, bottom]].map(|corner| self.map(corner))
    }
}

/// The object moves, turns, leaves the picture in part, then altogether, and comes back.
const POSES: [Option<Pose>; 7] = [
    Some(Pose { at: [20.0, 30.0], degrees: 0.0, scale: 1.0 }),
    Some(Pose { at: [61.5, 46.25], degrees: 0.0, scale: 1.0 }),
    Some(Pose { at: [110.0, 50.0], degrees: 15.0, scale: 1.1 }),
    Some(Pose { at: [210.0, 80.0], degrees: 8.0, scale: 1.0 }),
    None,
    None,
    Some(Pose { at: [90.0, 90.0], degrees: -20.0, scale: 1.1 }),
];

/// Returns the luma of a frame.
fn frame(pose: Option<Pose>) -> GrayImage {
    GrayImage::from_fn(SIZE[0] as u32, SIZE[1] as u32, |x, y| {
        let place = [f64::from(x), f64::from(y)];
        let there = pose
            .map(|pose| pose.back(place))
            .filter(|place| (0..2).all(|axis| place[axis] > -0.5 && place[axis] < OBJECT[axis] as f64 - 0.5));
        Luma([match there {
            Some(place) => object_level(place),
            None => (60.0 + 100.0 * smooth(3, place, 12.0)) as u8,
        }])
    })
}

/// Returns the chroma of a frame.
fn chroma(number: usize) -> Vec<u8> {
    let samples = 2 * SIZE[0].div_ceil(2) * SIZE[1].div_ceil(2);
    (0..samples).map(|i| (120 + (i * 7 + number * 31) % 40) as u8).collect()
}

fn video() -> Vec<u8> {
    let mut bytes = HEADER.as_bytes().to_vec();
    for (number, pose) in POSES.into_iter().enumerate() {
        bytes.extend(b"FRAME\n");
        bytes.extend(frame(pose).as_raw());
        bytes.extend(chroma(number));
    }
    bytes
}

/// Makes a folder with the object and the video, and returns their paths, too.
fn folder() -> (Folder, String, String) {
    let folder = Folder::new();
    let (object_path, video_path) = (folder.path("object.png"), folder.path("video.y4m"));
    object().save(&object_path).unwrap();
    fs::write(&video_path, video()).unwrap();
    (folder, object_path, video_path)
}

/// Options with which the object has enough keypoints in all frames.
const OPTIONS: [&str; 6] = ["--nms-radius", "1", "--subpixel", "quadratic", "--backend", "cpu"];

/// The rows of a table: the frame's number, the three counts, the corners, and the error.
type Row = (usize, Option<[usize; 3]>, Option<[[f64; 2]; 4]>, String);

fn rows(text: &str) -> Vec<Row> {
    let mut reader = csv_lines(text).into_iter();
    let columns = "frame,keypoints,matches,inliers,top_left_x,top_left_y,top_right_x,top_right_y,\
                   bottom_right_x,bottom_right_y,bottom_left_x,bottom_left_y,error";
    assert_eq!(reader.next().unwrap().join(","), columns);
    reader
        .map(|row| {
            assert_eq!(row.len(), 13, "{row:?}");
            let counts = (!row[1].is_empty()).then(|| [1, 2, 3].map(|i| row[i].parse().unwrap()));
            let place = |i: usize| [0, 1].map(|axis| row[4 + 2 * i + axis].parse().unwrap());
            let corners = (!row[4].is_empty()).then(|| [0, 1, 2, 3].map(place));
            assert!(corners.is_some() || row[4..12].iter().all(String::is_empty), "{row:?}");
            (row[0].parse().unwrap(), counts, corners, row[12].clone())
        })
        .collect()
}

/// Splits lines at commas that are not within quotes.
fn csv_lines(text: &str) -> Vec<Vec<String>> {
    let split = |line: &str| {
        let mut quoted = false;
        let parts = line.split(|c: char| {
            quoted ^= c == '"';
            c == ',' && !quoted
        });
        parts.map(str::to_owned).collect()
    };
    text.lines().map(split).collect()
}

/// Checks the rows of all frames of the video.
fn check_rows(text: &str) {
    let rows = rows(text);
    assert_eq!(rows.len(), POSES.len(), "{text}");
    for (i, ((number, counts, corners, error), pose)) in rows.into_iter().zip(POSES).enumerate() {
        assert_eq!((number, error.as_str()), (i, ""));
        let [keypoints, matches, inliers] = counts.unwrap();
        assert!(keypoints >= matches && matches >= inliers && keypoints > 10, "{i}: {text}");
        match (corners, pose) {
            (None, None) => assert_eq!(inliers, 0, "{text}"),
            (Some(corners), Some(pose)) => {
                assert!(inliers >= 8, "{i}: {text}");
                for (found, expected) in corners.iter().zip(pose.corners()) {
                    let error = (found[0] - expected[0]).hypot(found[1] - expected[1]);
                    assert!(error < 1.5, "{i}: {found:?}, not {expected:?}\n{text}");
                }
            }
            (found, _) => panic!("{i}: {found:?}\n{text}"),
        }
    }
}

fn track(args: &[&str]) -> String {
    succeed("track", &[args, &OPTIONS].concat())
}

fn fail(args: &[&str]) -> String {
    error_line("track", &[args, &OPTIONS].concat())
}

/// The frames of a video: the luma, and all bytes of the file that belong to it.
fn frames(bytes: &[u8]) -> Vec<GrayImage> {
    let frames = Frames::y4m(bytes, 1 << 20).unwrap();
    frames.map(|frame| frame.unwrap().into_luma8()).collect()
}

/// Returns the distance of a place from the line between two others.
fn distance(place: [f64; 2], [from, to]: [[f64; 2]; 2]) -> f64 {
    let along = [to[0] - from[0], to[1] - from[1]];
    let offset = [place[0] - from[0], place[1] - from[1]];
    let length = along[0] * along[0] + along[1] * along[1];
    let part = ((offset[0] * along[0] + offset[1] * along[1]) / length).clamp(0.0, 1.0);
    (offset[0] - part * along[0]).hypot(offset[1] - part * along[1])
}

#[test]
fn the_object_is_found_where_it_moves() {
    let (folder, object, video) = folder();
    let table = folder.path("table.csv");
    let text = track(&[&object, &video, "--table", &table]);
    assert!(text.starts_with("7 frames in ") && text.contains(", the object is in 5, 0 failed;"), "{text}");
    check_rows(&fs::read_to_string(&table).unwrap());
    let summary: serde_json::Value = serde_json::from_str(&track(&[&object, &video, "--json"])).unwrap();
    for (name, value) in [("frames", 7), ("found", 5), ("failed", 0)] {
        assert_eq!(summary[name].as_u64(), Some(value), "{summary}");
    }
    assert!(summary["frames_per_s"].as_f64() > Some(0.0), "{summary}");
    // From standard input, and with the table on standard output.
    let bytes = fs::read(&video).unwrap();
    let args = [&[object.as_str(), "-", "--table", "-"], &OPTIONS[..]].concat();
    let output = run_with_stdin("track", &args, &bytes);
    assert!(output.status.success());
    assert_eq!(String::from_utf8_lossy(&output.stdout), fs::read_to_string(&table).unwrap());
    let summary = String::from_utf8_lossy(&output.stderr).into_owned();
    assert!(summary.starts_with("7 frames in "), "{summary}");
    // The object may come from standard input as well.
    let args = [&["-", video.as_str(), "--table", "-"], &OPTIONS[..]].concat();
    let output = run_with_stdin("track", &args, &fs::read(&object).unwrap());
    assert_eq!(String::from_utf8_lossy(&output.stdout), fs::read_to_string(&table).unwrap());
    // By blobs, too.
    let blobs = ["--detector", "fast-hessian", "--ratio", "0.8", "--backend", "cpu"];
    check_rows(&succeed("track", &[&[object.as_str(), &video, "--table", "-"], &blobs[..]].concat()));
}

#[test]
fn the_outline_is_drawn_in_the_video_and_all_else_stays() {
    let (folder, object, video) = folder();
    let (out, overlays) = (folder.path("out.y4m"), folder.path("drawn"));
    track(&[&object, &video, "--out", &out, "--overlay", &overlays]);
    let (before, after) = (fs::read(&video).unwrap(), fs::read(&out).unwrap());
    assert!(after.starts_with(HEADER.as_bytes()));
    assert_eq!(before.len(), after.len());
    let frame_bytes = (before.len() - HEADER.len()) / POSES.len();
    for (i, (frame, pose)) in frames(&after).iter().zip(POSES).enumerate() {
        let start = HEADER.len() + i * frame_bytes;
        let [old, new] = [&before, &after].map(|bytes| &bytes[start..start + frame_bytes]);
        let overlay = image::open(format!("{overlays}/{i:06}.png")).unwrap().into_rgb8();
        let Some(pose) = pose else {
            assert!(old == new, "frame {i} has no outline");
            assert!(overlay.pixels().zip(frame.pixels()).all(|(a, b)| a.0 == [b.0[0]; 3]));
            continue;
        };
        let corners = pose.corners();
        let outline = |place: [f64; 2]| {
            let sides = (0..4).map(|i| distance(place, [corners[i], corners[(i + 1) % 4]]));
            sides.fold(f64::INFINITY, f64::min)
        };
        let luma = self::frame(Some(pose));
        let mut green = 0;
        for (x, y, pixel) in frame.enumerate_pixels() {
            let away = outline([x.into(), y.into()]);
            let (old, new) = (luma.get_pixel(x, y).0[0], pixel.0[0]);
            assert!(away < 5.0 || old == new, "frame {i} at {x}, {y}");
            let drawn = overlay.get_pixel(x, y).0;
            assert!(away < 5.0 || drawn == [old; 3], "overlay {i} at {x}, {y}");
            if drawn[1] > drawn[0].max(drawn[2]).saturating_add(100) {
                green += 1;
                // The line's edges are mixed with its dark border.
                let expected = 16.0 + 164.0 * f64::from(drawn[1]) / 255.0;
                assert!((f64::from(new) - expected).abs() < 25.0, "frame {i} at {x}, {y}: {new}");
            }
        }
        assert!(green > 150, "overlay {i} has {green} green pixels");
        // Chroma is green along the outline alone.
        let (columns, rows) = (SIZE[0].div_ceil(2), SIZE[1].div_ceil(2));
        let chroma = old.len() - 2 * columns * rows;
        let mut green = 0;
        for plane in 0..2 {
            for j in 0..columns * rows {
                let at = chroma + plane * columns * rows + j;
                let away = outline([(j % columns) as f64 * 2.0 + 0.5, (j / columns) as f64 * 2.0 + 0.5]);
                assert!(away < 6.0 || old[at] == new[at], "frame {i}, sample {j}");
                green += usize::from(new[at] < 110);
            }
        }
        assert!(green > 60, "frame {i} has {green} green samples");
    }
    // To standard output.
    let output = run("track", [&[object.as_str(), &video, "--out", "-"], &OPTIONS[..]].concat());
    assert!(output.status.success() && output.stdout == after);
    assert!(String::from_utf8_lossy(&output.stderr).starts_with("7 frames in "));
}

#[test]
fn raw_frames_and_pictures_become_videos() {
    let (folder, object, _) = folder();
    let (raw, out) = (folder.path("frames.gray"), folder.path("out.y4m"));
    fs::write(&raw, [frame(POSES[0]).as_raw().as_slice(), frame(None).as_raw()].concat()).unwrap();
    track(&[&object, &raw, "--raw", "320x241", "--out", &out]);
    let bytes = fs::read(&out).unwrap();
    assert!(bytes.starts_with(b"YUV4MPEG2 W320 H241 F25:1 Ip A1:1 Cmono XCOLORRANGE=FULL\nFRAME\n"));
    let written = frames(&bytes);
    assert!(written.len() == 2 && written[0] != frame(POSES[0]) && written[1] == frame(None));

    let pictures = folder.path("pictures");
    fs::create_dir(&pictures).unwrap();
    frame(None).save(format!("{pictures}/0.png")).unwrap();
    DynamicImage::from(frame(POSES[2])).into_rgb8().save(format!("{pictures}/1.png")).unwrap();
    let table = folder.path("table.csv");
    track(&[&object, &pictures, "--out", &out, "--table", &table]);
    let bytes = fs::read(&out).unwrap();
    assert!(bytes.starts_with(b"YUV4MPEG2 W320 H241 F25:1 Ip A1:1 C444 XCOLORRANGE=FULL\nFRAME\n"));
    let written = frames(&bytes);
    assert!(written.len() == 2 && written[0] == frame(None) && written[1] != frame(POSES[2]));
    let found = rows(&fs::read_to_string(&table).unwrap());
    assert!(found[0].2.is_none() && found[1].2.is_some());

    // A picture that cannot be read is left out, and one of another size ends the video.
    fs::write(format!("{pictures}/2.png"), "no image").unwrap();
    let output = run("track", [&[object.as_str(), &pictures, "--out", &out], &OPTIONS[..]].concat());
    assert_eq!(output.status.code(), Some(1));
    assert!(String::from_utf8_lossy(&output.stderr).contains("error: frame 2: "));
    assert_eq!(fs::read(&out).unwrap(), bytes);
    fs::remove_file(&out).unwrap();
    GrayImage::from_pixel(90, 90, Luma([9])).save(format!("{pictures}/2.png")).unwrap();
    let line = fail(&[&object, &pictures, "--out", &out, "--table", &table]);
    assert!(line.contains("out.y4m") && line.contains("90 x 90") && line.contains("320 x 241"), "{line}");
    assert!(fs::metadata(&out).is_err());
    assert_eq!(rows(&fs::read_to_string(&table).unwrap()).len(), 3);
    // Without a video sizes may differ.
    track(&[&object, &pictures, "--table", &table]);
    assert_eq!(rows(&fs::read_to_string(&table).unwrap()).len(), 3);
}

#[test]
fn a_bad_frame_and_a_cut_leave_the_other_frames() {
    let (folder, object, path) = folder();
    let (table, out) = (folder.path("table.csv"), folder.path("out.y4m"));
    // Ten bits, with a sample of eleven in the second frame.
    let mut bytes = b"YUV4MPEG2 W320 H241 F25:1 Cmono10\n".to_vec();
    for (number, pose) in [POSES[0], POSES[1], POSES[2]].into_iter().enumerate() {
        bytes.extend(b"FRAME\n");
        let mut samples: Vec<u16> = frame(pose).iter().map(|&level| u16::from(level) * 4 + 3).collect();
        if number == 1 {
            samples[5000] = 1024;
        }
        bytes.extend(samples.iter().flat_map(|sample| sample.to_le_bytes()));
    }
    fs::write(&path, &bytes).unwrap();
    let args = [object.as_str(), &path, "--table", &table, "--out", &out];
    let output = run("track", [&args, &OPTIONS[..]].concat());
    assert_eq!(output.status.code(), Some(1));
    let text = String::from_utf8_lossy(&output.stdout).into_owned();
    assert!(text.starts_with("3 frames in ") && text.contains("the object is in 2, 1 failed"), "{text}");
    let found = rows(&fs::read_to_string(&table).unwrap());
    assert!(found[0].2.is_some() && found[1].2.is_none() && found[2].2.is_some(), "{found:?}");
    assert!(found[1].1.is_none() && found[1].3.contains("more than 10 bits"), "{found:?}");
    // Samples away from the outline stay as they are.
    let written = fs::read(&out).unwrap();
    let frame_bytes = (bytes.len() - 34) / 3;
    assert_eq!(written.len(), 34 + 2 * frame_bytes);
    let same = |a: usize, b: usize| {
        let pairs = bytes[34 + a * frame_bytes..].iter().zip(&written[34 + b * frame_bytes..]);
        pairs.take(frame_bytes).filter(|(a, b)| a == b).count()
    };
    assert!((frame_bytes - 8000..frame_bytes).contains(&same(0, 0)), "{}", same(0, 0));
    assert!((frame_bytes - 8000..frame_bytes).contains(&same(2, 1)), "{}", same(2, 1));

    // A video that is cut has the frames before the cut.
    let whole = video();
    fs::write(&path, &whole[..whole.len() - 100]).unwrap();
    let output: Output = run("track", [&args, &OPTIONS[..]].concat());
    assert_eq!(output.status.code(), Some(1));
    let error = String::from_utf8_lossy(&output.stderr).into_owned();
    assert_eq!(error, "error: the video ends in the middle of frame 6\n");
    assert_eq!(rows(&fs::read_to_string(&table).unwrap()).len(), 6);
    assert_eq!(frames(&fs::read(&out).unwrap()).len(), 6);
    // A video without frames is one, too.
    fs::write(&path, HEADER).unwrap();
    assert!(track(&args).starts_with("0 frames in "));
    assert_eq!(fs::read_to_string(&out).unwrap(), HEADER);
}

#[test]
fn an_object_that_cannot_be_found_is_an_error() {
    let (folder, _, video) = folder();
    let (plain, out) = (folder.path("plain.png"), folder.path("out.y4m"));
    GrayImage::from_pixel(80, 60, Luma([120])).save(&plain).unwrap();
    for detector in ["harris", "fast-hessian"] {
        let args = [plain.as_str(), &video, "--out", &out, "--detector", detector, "--backend", "cpu"];
        let line = error_line("track", &args);
        assert!(line.contains("plain.png has 0 keypoints, too few"), "{line}");
        assert!(fs::metadata(&out).is_err());
    }
    // A square has four corners.
    let square =
        |x: u32, y: u32| Luma([if (20..60).contains(&x) && (15..45).contains(&y) { 220 } else { 30 }]);
    GrayImage::from_fn(80, 60, square).save(&plain).unwrap();
    let line = error_line("track", &[&plain, &video, "--out", &out, "--backend", "cpu"]);
    assert!(line.contains("plain.png has 4 keypoints, too few"), "{line}");
}

#[test]
fn wrong_arguments_are_errors_of_one_line() {
    let (folder, object, video) = folder();
    let [mp4, new] = ["out.mp4", "new.y4m"].map(|name| folder.path(name));
    for (args, part) in [
        (&["-", "-"][..], "both the object and the video"),
        (&[&object, &video, "--out", "-", "--json"], "--json needs standard output"),
        (&[&object, &video, "--table", "-", "--json"], "--json needs standard output"),
        (&[&object, &video, "--out", "-", "--table", "-"], "both write to standard output"),
        (&[&object, &video, "--out", &mp4], "a video can be written with the ending .y4m"),
        (&[&object, &video, "--out", &video], "would overwrite"),
        (&[&object, &video, "--out", &new, "--table", &new], ".csv"),
        (&[&object, &video, "--overlay", "-"], "--overlay needs a folder"),
        (&[&object, "-", "--config", "-"], "standard input cannot be both"),
        (&[&object, &video, "--inlier-distance", "0"], "--inlier-distance"),
        (&[&object, &video, "--rate", "0"], "--rate"),
        (&[&object], "VIDEO"),
    ] {
        let output = run("track", args);
        let line = String::from_utf8_lossy(&output.stderr).into_owned();
        assert_eq!((output.status.code(), line.lines().count()), (Some(2), 1), "{args:?}: {line}");
        assert!(line.contains(part), "{args:?}: {line}");
    }
    assert!(fail(&[&folder.path("no.png"), &video]).contains("no.png"));
    assert!(fail(&[&object, &folder.path("no.y4m")]).contains("no.y4m"));
    assert!(fail(&[&video, &object]).contains("video.y4m"));
    assert_eq!(folder.names(), ["object.png", "video.y4m"]);
}

#[cfg(target_os = "linux")]
#[test]
fn a_full_disk_ends_the_video_and_keeps_the_table() {
    let (folder, object, video) = folder();
    let table = folder.path("table.csv");
    let line = fail(&[&object, &video, "--out", "/dev/full", "--table", &table]);
    assert!(line.contains("/dev/full"), "{line}");
    let text = fs::read_to_string(&table).unwrap();
    assert!((1..7).contains(&rows(&text).len()), "{text}");
    let line = fail(&[&object, &video, "--table", "/dev/full"]);
    assert!(line.contains("/dev/full"), "{line}");
}

#[cfg(target_os = "linux")]
#[test]
fn a_signal_ends_it_with_the_summary_and_without_files() {
    let (folder, object, video) = folder();
    // A pipe that stays open without further frames.
    let mut child = Command::new(env!("CARGO_BIN_EXE_harris"))
        .args(["track", &object, "-", "--out", &folder.path("out.y4m"), "--table", &folder.path("table.csv")])
        .args(OPTIONS)
        .args(["--json"])
        .stdin(Stdio::piped())
        .stdout(Stdio::piped())
        .stderr(Stdio::null())
        .spawn()
        .unwrap();
    child.stdin.as_mut().unwrap().write_all(&fs::read(&video).unwrap()).unwrap();
    // Time to read them; fewer frames are told if it does not suffice.
    std::thread::sleep(Duration::from_millis(1500));
    let id = child.id().to_string();
    assert!(Command::new("kill").args(["-15", &id]).status().unwrap().success());
    let stdin = child.stdin.take();
    let output = child.wait_with_output().unwrap();
    drop(stdin);
    let text = String::from_utf8(output.stdout).unwrap();
    assert_eq!(output.status.code(), Some(143), "{text}");
    let summary: serde_json::Value = serde_json::from_str(&text).unwrap();
    assert!(summary["frames"].as_u64() <= Some(7) && summary["found"].is_u64(), "{text}");
    assert!(summary["error"].as_str().unwrap().contains("signal"), "{text}");
    assert_eq!(folder.names(), ["object.png", "video.y4m"]);
}
