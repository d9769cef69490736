//! Tests of the subcommand `match`, run as a user runs it.

use std::fs;
use std::path::Path;

use harris_cli::input::{self, ReadOptions};
use harris_core::features::{DetectAndDescribe, FeatureConfig, ReferenceFeatures};
use harris_core::matching::{MatchConfig, Matcher, ReferenceMatcher};
use harris_core::surf::SurfConfig;
use harris_core::{HarrisConfig, ImageView};
use image::imageops;

use crate::program::{Folder, data};

fn succeed(args: &[&str]) -> String {
    crate::program::succeed("match", args)
}

fn error_line(args: &[&str]) -> String {
    crate::program::error_line("match", args)
}

/// Draws a photograph turned by a right angle beside a part of another. Matches must be in the
/// first.
fn scene(folder: &Folder) -> String {
    let (coffee, brick) = (image::open(data("coffee.png")).unwrap(), image::open(data("brick.png")).unwrap());
    let mut scene = image::RgbImage::new(700, 640);
    imageops::replace(&mut scene, &brick.to_rgb8(), 150, 100);
    imageops::replace(&mut scene, &imageops::rotate90(&coffee.to_rgb8()), 20, 30);
    let path = folder.path("scene.png");
    scene.save(&path).unwrap();
    path
}

#[test]
fn json_has_the_homography_of_an_object_that_was_found() {
    let folder = Folder::new();
    let (object, scene) = (data("coffee.png"), scene(&folder));
    let text = succeed(&[&object, &scene, &data("brick.png"), "--backend", "cpu", "--json"]);
    let lines: Vec<serde_json::Value> =
        text.lines().map(|line| serde_json::from_str(line).unwrap()).collect();
    assert_eq!(lines.len(), 3, "{text}");
    assert!(lines[0]["keypoints"].as_u64() > Some(100) && lines[0]["object"] == object.as_str());
    assert!(lines[1]["inliers"].as_u64() > Some(20), "{text}");
    // A right angle: x of the scene is 419 - y of the object, and y is 30 + x, to a pixel.
    let at = |row: usize, column: usize| lines[1]["homography"][row][column].as_f64().unwrap();
    let scale = at(2, 2);
    assert!((at(0, 1) / scale + 1.0).abs() < 0.02 && (at(1, 0) / scale - 1.0).abs() < 0.02, "{text}");
    assert!((at(1, 2) / scale - 30.0).abs() < 3.0, "{text}");
    assert!(lines[2]["homography"].is_null() && lines[2]["corners"].is_null(), "{text}");
    // The photograph of 600 x 400 lies with its top left at the top right of 400 x 600.
    let corner = |i: usize| [0, 1].map(|axis| lines[1]["corners"][i][axis].as_f64().unwrap());
    for (i, expected) in [[419.5, 29.5], [419.5, 629.5], [19.5, 629.5], [19.5, 29.5]].iter().enumerate() {
        let distance = corner(i).iter().zip(expected).map(|(a, b)| (a - b).abs()).fold(0.0, f64::max);
        assert!(distance < 4.0, "{i}: {:?}", corner(i));
    }
    // In words, too.
    let text = succeed(&[&object, &scene, "--backend", "cpu"]);
    let line = text.lines().find(|line| line.contains("its corners")).unwrap_or_else(|| panic!("{text}"));
    let numbers: Vec<f64> = line.split(['(', ')', ',', ' ']).filter_map(|word| word.parse().ok()).collect();
    assert_eq!(numbers.len(), 8, "{line}");
    assert!((0..8).all(|i| (numbers[i] - corner(i / 2)[i % 2]).abs() < 0.06), "{line}");
}

#[test]
fn pairs_are_places_of_the_scene_and_of_the_object() {
    let folder = Folder::new();
    let (object, scene, pairs) = (data("coffee.png"), scene(&folder), folder.path("pairs.csv"));
    let text = succeed(&[&object, &scene, "--backend", "cpu", "--pairs", &pairs, "--json"]);
    let summary: serde_json::Value = serde_json::from_str(text.lines().nth(1).unwrap()).unwrap();
    let table = fs::read_to_string(&pairs).unwrap();
    let mut lines = table.lines();
    assert_eq!(lines.next(), Some("query_x,query_y,train_x,train_y,distance,inlier"));
    let rows: Vec<Vec<f64>> =
        lines.map(|line| line.split(',').map(|number| number.parse().unwrap()).collect()).collect();
    assert_eq!(Some(rows.len() as u64), summary["matches"].as_u64());
    let inliers: Vec<_> = rows.iter().filter(|row| row[5] == 1.0).collect();
    assert_eq!(Some(inliers.len() as u64), summary["inliers"].as_u64());
    assert!(rows.iter().all(|row| row.len() == 6 && (0.0..=2.0).contains(&row[4])));
    // x of the scene is 419 - y of the object, and y is 30 + x: within the distance of inliers.
    for row in &inliers {
        assert!((row[0] - (419.0 - row[3])).abs() < 6.0 && (row[1] - (30.0 + row[2])).abs() < 6.0, "{row:?}");
    }
    // On standard output the list is alone. Without a homography it is not known what agrees.
    let args = [&object, &scene, "--backend", "cpu", "--pairs", "-", "--no-homography"];
    let listed = succeed(&args);
    assert_eq!(listed.lines().count(), 1 + rows.len());
    assert!(listed.lines().skip(1).all(|line| line.ends_with(',')), "{listed}");
    let line = error_line(&[&object, &scene, "--pairs", "-", "--json"]);
    assert!(line.contains("--json needs standard output"), "{line}");
    let both = error_line(&[&object, &scene, "--pairs", "-", "--out", "-"]);
    assert!(both.contains("both write to standard output"), "{both}");
    // Several scenes have a list each.
    let several = folder.path("several");
    succeed(&[&object, &scene, &data("brick.png"), "--backend", "cpu", "--pairs", &several]);
    assert_eq!(fs::read_to_string(format!("{several}/scene.csv")).unwrap(), table);
    let none = fs::read_to_string(format!("{several}/brick.csv")).unwrap();
    assert!(none.lines().skip(1).all(|line| line.ends_with(",0")), "{none}");
}

/// The detector sees the colours that a preset or a configuration asks for.
#[test]
fn colours_are_used_where_the_configuration_asks_for_them() {
    let folder = Folder::new();
    let coffee = data("coffee.png");
    let detected = |options: &[&str]| {
        let text = crate::program::succeed("detect", &[&[coffee.as_str(), "--csv", "-"], options].concat());
        text.lines().count() as u64 - 1
    };
    let matched = |options: &[&str]| {
        let text = succeed(&[&[coffee.as_str(), &coffee, "--json", "--backend", "cpu"], options].concat());
        let keypoints =
            |line: &str| serde_json::from_str::<serde_json::Value>(line).unwrap()["keypoints"].as_u64();
        let counts: Vec<_> = text.lines().map(|line| keypoints(line).unwrap()).collect();
        assert_eq!(counts[0], counts[1]);
        counts[0]
    };
    let file = folder.path("color.toml");
    fs::write(&file, "color = true").unwrap();
    let few = ["--max-corners", "0"];
    for options in [&["--preset", "chahuara_2017"][..], &["--config", &file], &["--color"]] {
        let options = [options, &few].concat();
        let gray = [&options[..], &["--color=false"]].concat();
        let gray = if options.contains(&"--color") { few.to_vec() } else { gray };
        let (colored, plain) = (matched(&options), detected(&gray));
        assert_eq!(colored, detected(&options), "{options:?}");
        assert_ne!(colored, plain, "{options:?}");
        if options.contains(&"chahuara_2017") {
            assert_eq!(matched(&gray), plain, "{gray:?}");
        }
    }
}

/// Colours are detected and described as the library's one call does it.
#[test]
fn matches_are_those_of_features_in_one_call() {
    let folder = Folder::new();
    let coffee = image::open(data("coffee.png")).unwrap();
    let (object, scene) = (coffee.crop_imm(200, 100, 160, 120), coffee.crop_imm(210, 90, 170, 140));
    let [object_path, scene_path] = ["object.png", "scene.png"].map(|name| folder.path(name));
    object.save(&object_path).unwrap();
    scene.save(&scene_path).unwrap();
    let surf = SurfConfig::builder().magnification(2.0).build().unwrap();
    let mut features = ReferenceFeatures::new(FeatureConfig::new(HarrisConfig::default(), surf));
    let mut counts = Vec::new();
    for (color, option) in [(true, "--color"), (false, "--color=false")] {
        let read = |path: &str| input::read_image(Path::new(path), color, &ReadOptions::default()).unwrap();
        let [object, scene] = [&object_path, &scene_path]
            .map(|path| features.detect_and_describe(&ImageView::try_from(&read(path)).unwrap()).unwrap());
        let expected = ReferenceMatcher::new(MatchConfig::default())
            .matches(scene.descriptors.view(), object.descriptors.view())
            .unwrap();
        let listed = succeed(&[
            &object_path,
            &scene_path,
            option,
            "--backend",
            "cpu",
            "--pairs",
            "-",
            "--no-homography",
        ]);
        let distances: Vec<f32> =
            listed.lines().skip(1).map(|line| line.split(',').nth(4).unwrap().parse().unwrap()).collect();
        assert_eq!(distances, expected.iter().map(|found| found.distance).collect::<Vec<_>>(), "{option}");
        counts.push(distances);
    }
    assert!(counts[0].len() > 4 && counts[0] != counts[1], "{counts:?}");
}

#[test]
fn the_table_refuses_options_without_effect() {
    let coffee = data("coffee.png");
    for options in [
        &["--sizes", "32", "--no-homography"][..],
        &["--sizes", "32", "--out", "x.png"],
        &["--sizes", "32", "--pairs", "x.csv"],
        &["--sizes", "32", "--top", "1"],
        &["--sizes", "32", "--repeat", "2"],
        &["--sizes", "32", "--inlier-distance", "2"],
        &["--sizes", "32", "--backend", "cpu"],
        &["--seconds", "1"],
        &["--backends", "cpu"],
    ] {
        let output = crate::program::run("match", [&[coffee.as_str(), &coffee], options].concat());
        assert_eq!(output.status.code(), Some(2), "{options:?}");
        assert!(String::from_utf8_lossy(&output.stderr).contains("--sizes"), "{options:?}");
    }
}

#[test]
fn an_object_is_found_on_every_backend_and_drawn() {
    let folder = Folder::new();
    let (object, scene, out) = (data("coffee.png"), scene(&folder), folder.path("matches.png"));
    for detector in ["harris", "fast-hessian"] {
        let all = [object.as_str(), &scene, "--detector", detector, "--top", "1"];
        let text = succeed(&[&all[..], &["--out", &out]].concat());
        let agree = |text: &str| -> usize {
            let line =
                text.lines().find(|line| line.contains("matches agree")).unwrap_or_else(|| panic!("{text}"));
            line.split_whitespace().find_map(|word| word.parse().ok()).unwrap()
        };
        assert!(agree(&text) > 60, "{text}");
        assert!(["features", "match", "frames"].iter().all(|stage| text.contains(stage)), "{text}");
        let drawn = image::open(&out).unwrap().to_rgb8();
        assert_eq!(drawn.dimensions(), (600 + 700, 640));
        // The outline is green, on the scene's left side.
        assert!((200..400).any(|y| {
            let [r, g, b] = drawn.get_pixel(600 + 20, y).0;
            g > 200 && r < 140 && b < 140
        }));
        let counts = |text: &str| -> Vec<String> {
            text.lines().filter(|line| line.contains("matches")).map(str::to_owned).collect()
        };
        assert_eq!(counts(&succeed(&[&all[..], &["--backend", "reference"]].concat())), counts(&text));
        assert!(agree(&succeed(&[&all[..], &["--approximate", "--cross-check"]].concat())) > 50);
        let none = succeed(&[&all[..], &["--no-homography", "--repeat", "2"]].concat());
        assert!(!none.contains("agree"), "{none}");
    }
}

#[test]
fn a_missing_object_is_not_found_and_folders_of_scenes_are_searched() {
    let folder = Folder::new();
    let scenes = folder.path("scenes");
    fs::create_dir(&scenes).unwrap();
    fs::copy(data("camera.png"), format!("{scenes}/camera.png")).unwrap();
    fs::copy(data("coffee.png"), format!("{scenes}/coffee.png")).unwrap();
    let out = folder.path("out");
    let text = succeed(&[&data("coffee.png"), &scenes, "--detector", "fast-hessian", "--out", &out]);
    let lines: Vec<_> = text
        .lines()
        .filter(|line| line.starts_with("  found the object") || line.starts_with("  did not"))
        .collect();
    assert!(lines[0].contains("did not find the object") && lines[1].contains("found the object"), "{text}");
    assert_eq!(fs::read_dir(&out).unwrap().count(), 2);
}

#[test]
fn the_table_has_a_line_for_each_size_and_backend() {
    let coffee = data("coffee.png");
    let text =
        succeed(&[&coffee, &coffee, "--sizes", "32,64", "--backends", "reference,cpu", "--seconds", "0"]);
    assert_eq!(text.lines().count(), 1 + 4, "{text}");
    let text =
        succeed(&[&coffee, &coffee, "--sizes", "64,48", "--backends", "cpu", "--seconds", "0", "--json"]);
    let rows: Vec<serde_json::Value> = text.lines().map(|line| serde_json::from_str(line).unwrap()).collect();
    assert_eq!(rows.iter().map(|row| row["size"].as_u64().unwrap()).collect::<Vec<_>>(), [64, 48]);
    for row in &rows {
        let time = ["features_ms", "match_ms"].map(|stage| row[stage].as_f64().unwrap());
        let rate = row["frames_per_s"].as_f64().unwrap();
        assert!((rate * (time[0] + time[1]) - 1e3).abs() < 1.0, "{text}");
        assert!(row["keypoints"].as_u64() > Some(0) && row["matches"].is_u64(), "{text}");
    }
    assert!(error_line(&[&coffee, &coffee, "--sizes", "0"]).contains("from 1 to 65536"));
    // The images are too small for blobs.
    let line =
        error_line(&[&coffee, &coffee, "--sizes", "16", "--detector", "fast-hessian", "--seconds", "0"]);
    assert!(line.contains("too small"), "{line}");
}

#[test]
fn errors_are_one_line() {
    let coffee = data("coffee.png");
    assert!(error_line(&[&coffee]).contains("SCENE"));
    assert!(error_line(&[&coffee, "nowhere.png"]).contains("nowhere.png"));
    for (option, value, reason) in [
        ("--top", "0", "--top"),
        ("--ratio", "0", "ratio"),
        ("--magnification", "0", "magnification"),
        ("--repeat", "0", "--repeat"),
        ("--inlier-distance", "nan", "--inlier-distance"),
    ] {
        let line = error_line(&[&coffee, &coffee, option, value]);
        assert!(line.contains(reason), "{line}");
    }
}
