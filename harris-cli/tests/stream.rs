//! Tests of the program `stream`, run as a user runs it.

mod program;

use std::fs;
use std::io::Write;
use std::process::{Command, Stdio};

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
    let mut bytes = Vec::new();
    let mut encoder = y4m::encode(SIZE.0, SIZE.1, y4m::Ratio::new(25, 1))
        .with_colorspace(y4m::Colorspace::C420)
        .write_header(&mut bytes)
        .unwrap();
    let chroma = vec![128; SIZE.0 * SIZE.1 / 4];
    for number in 0..frames {
        encoder.write_frame(&y4m::Frame::new([&frame(number), &chroma, &chroma], None)).unwrap();
    }
    bytes
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
    let latency: Vec<_> = (0..4).map(|i| found["latency_ms"][i].as_f64().unwrap()).collect();
    assert!(latency.is_sorted() && latency[0] > 0.0, "{latency:?}");

    let tests = std::env::current_exe().unwrap();
    let program = tests.parent().unwrap().with_file_name("examples").join("stream");
    let mut child = Command::new(program)
        .args(["-", "--json", "--backend", "reference"])
        .stdin(Stdio::piped())
        .stdout(Stdio::piped())
        .spawn()
        .unwrap();
    child.stdin.take().unwrap().write_all(&video(3)).unwrap();
    let output = child.wait_with_output().unwrap();
    let found = summary(std::str::from_utf8(&output.stdout).unwrap());
    assert_eq!(found["keypoints"].as_u64(), Some(keypoints(3) as u64));
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
    assert!(succeed("stream", &[&data("camera.png")]).starts_with("1 frames in "));
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
}
