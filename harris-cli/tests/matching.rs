//! Tests of the subcommand `match`, run as a user runs it.

mod program;

use std::fs;

use image::imageops;

use crate::program::{Folder, data};

fn succeed(args: &[&str]) -> String {
    program::succeed("match", args)
}

fn error_line(args: &[&str]) -> String {
    program::error_line("match", args)
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
    assert!(lines[2]["homography"].is_null(), "{text}");
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
        assert!(["detect", "describe", "match", "frames"].iter().all(|stage| text.contains(stage)), "{text}");
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
    assert!(error_line(&[&coffee, &coffee, "--sizes", "0"]).contains("at least 1"));
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
