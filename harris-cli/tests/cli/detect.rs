//! Tests of the program `detect`, run as a user runs it.

use std::fs;
use std::path::{Path, PathBuf};
use std::process::Output;

use harris_conformance::pictures::photographs;
use image::{DynamicImage, GrayImage, ImageBuffer, Luma, RgbImage};
use ndarray::Array2;
use ndarray_npy::ReadNpyExt;

use crate::program::{Folder, data};

fn detect<S: AsRef<std::ffi::OsStr>>(args: impl IntoIterator<Item = S>) -> Output {
    crate::program::run("detect", args)
}

fn succeed(args: &[&str]) -> String {
    crate::program::succeed("detect", args)
}

fn error_line(args: &[&str]) -> String {
    crate::program::error_line("detect", args)
}

/// Returns the `x,y` of each line of a CSV file.
fn places(csv: &str) -> Vec<String> {
    let mut lines = csv.lines();
    assert_eq!(lines.next(), Some("x,y,response,scale"));
    lines.map(|line| line.splitn(3, ',').take(2).collect::<Vec<_>>().join(",")).collect()
}

#[test]
fn opencv_gftt_finds_the_corners_of_opencv_in_its_order() {
    let lists = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/good_features");
    for (name, _) in photographs() {
        let stem = name.strip_suffix(".png").unwrap();
        for backend in ["reference", "cpu"] {
            let common = [&data(&name), "--preset", "opencv_gftt", "--backend", backend, "--csv", "-"];
            for (list, more) in
                [("csv", &[][..]), ("spread.csv", &["--min-distance", "10", "--max-corners", "200"])]
            {
                let expected = fs::read_to_string(lists.join(format!("{stem}.{list}"))).unwrap();
                let found = succeed(&[&common, more].concat());
                assert_eq!(places(&found), expected.lines().collect::<Vec<_>>(), "{name}, {backend}, {list}");
            }
        }
    }
}

#[test]
fn every_preset_gives_equal_corners_on_both_backends() {
    for preset in harris_core::presets::ALL {
        let with = |backend| {
            succeed(&[
                &data("coffee.png"),
                "--color",
                "--preset",
                preset.name,
                "--backend",
                backend,
                "--csv",
                "-",
            ])
        };
        let (reference, cpu) = (with("reference"), with("cpu"));
        assert!(reference.lines().count() > 20, "{}", preset.name);
        assert_eq!(reference, cpu, "{}", preset.name);
    }
}

#[test]
fn options_change_a_preset() {
    let options = [
        "--smoothing=gaussian:5:1.1",
        "--gradient=scharr3",
        "--window=binomial:5",
        "--measure=noble:1e-6",
        "--threshold=relative:0.05",
        "--border=replicate",
        "--nms-radius=3",
        "--margin=4",
        "--min-distance=6.5",
        "--max-corners=25",
        "--subpixel=quadratic",
        "--order=raster",
        "--threads=2",
    ];
    let camera = data("camera.png");
    let base = ["--preset", "lococo_2011", &camera, "--csv", "-"];
    let plain = succeed(&base);
    let changed = succeed(&[&base[..], &options].concat());
    assert_eq!(changed.lines().count(), 26);
    let rows: Vec<f32> =
        changed.lines().skip(1).map(|line| line.split(',').nth(1).unwrap().parse().unwrap()).collect();
    assert!(rows.iter().any(|y| y.fract() != 0.0));
    assert!(rows.windows(2).all(|pair| pair[0] < pair[1] + 1.0));
    for option in options.iter().filter(|option| !option.starts_with("--threads")) {
        assert_ne!(succeed(&[&base[..], &[option]].concat()), plain, "{option} changes nothing");
    }
    assert_eq!(succeed(&[&base[..], &["--threads=2"]].concat()), plain);
    assert_eq!(succeed(&[&base[..], &["--max-corners=0"]].concat()), plain);
}

#[test]
fn outputs_contain_the_keypoints() {
    let folder = Folder::new();
    let [csv, png, npy] = ["a.csv", "a.png", "a.npy"].map(|name| folder.path(name));
    let line = succeed(&[&data("camera.png"), "--csv", &csv, "--overlay", &png, "--response", &npy]);
    assert_eq!(line.lines().count(), 1);
    assert!(line.contains("512 x 512, 184 corners in ") && line.contains("(cpu: "), "{line}");

    let response = Array2::<f32>::read_npy(fs::File::open(npy).unwrap()).unwrap();
    assert_eq!(response.dim(), (512, 512));
    let list = fs::read_to_string(csv).unwrap();
    assert_eq!(list.lines().count(), 185);
    for line in list.lines().skip(1) {
        let values: Vec<f32> = line.split(',').map(|value| value.parse().unwrap()).collect();
        let [x, y, r, scale] = values[..] else { panic!("{line}") };
        assert_eq!((r.to_bits(), scale), (response[[y as usize, x as usize]].to_bits(), 1.0));
    }
    let (overlay, photograph) =
        (image::open(png).unwrap().into_rgb8(), image::open(data("camera.png")).unwrap());
    let changed = overlay.pixels().zip(photograph.to_rgb8().pixels()).filter(|(a, b)| a != b).count();
    assert!((2_000..60_000).contains(&changed), "{changed} pixels are drawn over");
    assert_eq!(folder.names(), ["a.csv", "a.npy", "a.png"]);
}

#[test]
fn without_outputs_it_prints_a_summary() {
    let text = succeed(&[&data("camera.png"), "--backend", "reference"]);
    assert_eq!(text.lines().count(), 6, "{text}");
    assert!(text.contains("184 corners") && text.contains("reference"), "{text}");
    assert!(text.lines().nth(1).unwrap().contains("287.00"), "{text}");
}

#[test]
fn several_inputs_write_into_folders() {
    let folder = Folder::new();
    let gray = folder.path("plain.pgm");
    GrayImage::from_pixel(9, 7, Luma([3])).save(&gray).unwrap();
    let out = folder.path("out");
    let text = succeed(&[&data(""), &gray, "--csv", &out, "--overlay", &out, "--response", &out]);
    // A line for each, and one for all.
    assert_eq!(text.lines().count(), photographs().len() + 2);
    for name in photographs().iter().map(|(name, _)| name.replace(".png", "")).chain(["plain".to_owned()]) {
        for ending in ["csv", "png", "npy"] {
            assert!(Path::new(&out).join(format!("{name}.{ending}")).is_file(), "{name}.{ending}");
        }
    }
    assert!(error_line(&[&data(""), "--csv", "-"]).contains("folder"));
    assert!(error_line(&[&gray, &gray, "--csv", &out]).contains("same files"));
    assert!(error_line(&[&folder.path("out/plain.csv")]).contains("not a PNG"));
}

#[test]
fn a_bad_file_among_many_does_not_stop_the_others() {
    let folder = Folder::new();
    fs::write(folder.path("a.png"), b"no image").unwrap();
    fs::copy(data("camera.png"), folder.path("b.png")).unwrap();
    let output = detect([folder.path("a.png"), folder.path("b.png")]);
    assert_eq!(output.status.code(), Some(1));
    assert!(String::from_utf8(output.stderr).unwrap().contains("a.png"));
    assert!(String::from_utf8(output.stdout).unwrap().contains("184 corners"));
}

/// Reads one picture as 8- and 16-bit gray and colour, PNG, PGM and PPM, with and without alpha.
#[test]
fn formats_of_one_picture_give_the_same_corners() {
    let folder = Folder::new();
    let gray = image::open(data("camera.png")).unwrap().into_luma8();
    let colour = DynamicImage::from(gray.clone()).into_rgb8();
    let deep: ImageBuffer<Luma<u16>, Vec<u16>> =
        ImageBuffer::from_fn(512, 512, |x, y| Luma([u16::from(gray.get_pixel(x, y).0[0]) * 257]));
    gray.save(folder.path("gray.pgm")).unwrap();
    colour.save(folder.path("colour.ppm")).unwrap();
    DynamicImage::from(colour.clone()).into_rgba8().save(folder.path("alpha.png")).unwrap();
    DynamicImage::from(gray.clone()).into_luma_alpha8().save(folder.path("gray_alpha.png")).unwrap();
    deep.save(folder.path("deep.png")).unwrap();
    deep.save(folder.path("deep.pgm")).unwrap();
    DynamicImage::from(deep).into_rgb16().save(folder.path("deep_colour.png")).unwrap();
    let list = |path: &str| places(&succeed(&[path, "--preset", "opencv_gftt", "--csv", "-"]));
    let expected = list(&data("camera.png"));
    for name in folder.names() {
        assert_eq!(list(&folder.path(&name)), expected, "{name}");
    }
    // A gray file stays gray, whatever the option on colours says.
    assert_eq!(
        places(&succeed(&[&folder.path("gray.pgm"), "--preset", "opencv_gftt", "--color", "--csv", "-"])),
        expected
    );
    let jpeg = folder.path("photo.jpg");
    colour.save(&jpeg).unwrap();
    assert!(list(&jpeg).len() > 200);
}

#[test]
fn a_mask_limits_the_search() {
    let folder = Folder::new();
    let mask = folder.path("mask.png");
    // Any value but zero is inside, also one that rounds to black.
    RgbImage::from_fn(512, 512, |x, _| image::Rgb([0, 0, u8::from(x < 256)])).save(&mask).unwrap();
    let list = places(&succeed(&[&data("camera.png"), "--mask", &mask, "--csv", "-"]));
    assert!(list.len() > 20);
    assert!(list.iter().all(|place| place.split(',').next().unwrap().parse::<u32>().unwrap() < 256));
    assert!(error_line(&[&data("coffee.png"), "--mask", &mask]).contains("the mask has 512 x 512 pixels"));
}

#[test]
fn bad_files_are_one_line_of_error_and_no_output() {
    let folder = Folder::new();
    let photograph = fs::read(data("coffee.png")).unwrap();
    let picture = image::open(data("coffee.png")).unwrap().into_rgb8();
    let write = |name: &str, bytes: &[u8]| fs::write(folder.path(name), bytes).unwrap();
    picture.save(folder.path("whole.jpg")).unwrap();
    picture.save(folder.path("whole.ppm")).unwrap();
    let (jpeg, ppm) =
        (fs::read(folder.path("whole.jpg")).unwrap(), fs::read(folder.path("whole.ppm")).unwrap());
    write("cut.png", &photograph[..photograph.len() / 2]);
    write("cut.jpg", &jpeg[..jpeg.len() / 2]);
    write("cut.ppm", &ppm[..ppm.len() - 1]);
    write("text.png", b"corners");
    write("empty.png", b"");
    write("huge.pgm", b"P5 4000000000 4000000000 255\n");
    write("no_pixels.pgm", b"P5 0 5 255\n");
    let before = folder.names();
    let out = folder.path("out.csv");
    for name in
        before.iter().filter(|name| !name.starts_with("whole")).map(String::as_str).chain(["missing.png"])
    {
        let line = error_line(&[&folder.path(name), "--csv", &out, "--overlay", &folder.path("out.png")]);
        assert!(line.contains(name), "{line}");
    }
    assert_eq!(folder.names(), before);
}

#[test]
fn bad_options_are_one_line_of_error() {
    let camera = data("camera.png");
    for (options, word) in [
        (&["--window", "binomial:4"][..], "3, 5 or 7"),
        (&["--window", "box:1"], "from 2 to 127"),
        (&["--window", "box:100001"], "127"),
        (&["--window", "round:3"], "box:SIZE"),
        (&["--smoothing", "gaussian:5:nan"], "sigma"),
        (&["--gradient", "box:33"], "31"),
        (&["--measure", "harris:0.25"], "k must"),
        (&["--threshold", "relative:-1"], "relative"),
        (&["--threshold", "absolute:inf"], "absolute"),
        (&["--threshold", "rosin:1"], "bins"),
        (&["--min-distance", "-3"], "distance"),
        (&["--nms-radius", "x"], "nms-radius"),
        (&["--preset", "best"], "lococo_2011"),
        (&["--threads", "0"], "thread"),
        (&["--backend", "reference", "--threads", "2"], "one thread"),
        (&["--backend", "abacus"], "cuda:NUMBER"),
        (&["--fast"], "--fast"),
    ] {
        let line = error_line(&[&[camera.as_str()], options].concat());
        assert!(line.contains(word), "{options:?}: {line}");
    }
    assert!(error_line(&[]).contains("INPUT"));
    let folder = Folder::new();
    let small = folder.path("small.pgm");
    GrayImage::new(6, 30).save(&small).unwrap();
    assert!(error_line(&[&small, "--border", "skip"]).contains("small.pgm: the image is too small: 6 x 30"));
    assert!(succeed(&[&small]).contains("0 corners"));
}

#[test]
fn outputs_that_cannot_be_written_are_named() {
    let folder = Folder::new();
    let nowhere: PathBuf = folder.0.path().join("no/corners.csv");
    let line = error_line(&[&data("camera.png"), "--csv", nowhere.to_str().unwrap()]);
    assert!(line.contains("cannot write"), "{line}");
    assert!(
        error_line(&[&data("camera.png"), "--overlay", folder.0.path().to_str().unwrap()])
            .contains("--overlay needs a file")
    );
    assert!(folder.names().is_empty());
}

#[test]
fn the_cuda_backend_works_or_says_why_it_cannot() {
    let camera = data("camera.png");
    let arguments = [camera.as_str(), "--backend", "cuda", "--csv", "-"];
    let output = detect(arguments);
    if output.status.success() {
        let expected = succeed(&[&camera, "--backend", "cpu", "--csv", "-"]);
        assert_eq!(String::from_utf8(output.stdout).unwrap(), expected);
    } else {
        let line = error_line(&arguments);
        let reasons = ["there is no CUDA GPU on this machine", "there is no CUDA driver: "];
        assert!(
            reasons.iter().any(|reason| line.contains(&format!("cannot use the CUDA backend: {reason}"))),
            "{line}"
        );
    }
    assert!(
        error_line(&[&camera, "--backend", "cpu", "--device", "1"])
            .contains("the CPU backend has no devices")
    );
    assert!(error_line(&[&camera, "--backend", "reference", "--staged"]).contains("no fused kernels"));
    assert!(error_line(&[&camera, "--backend", "cuda:1", "--device", "2"]).contains("selects GPU 1"));
    assert!(error_line(&[&camera, "--threads", "2", "--staged"]).contains("--level belong to the CPU"));
}

#[test]
fn the_automatic_choice_is_printed_in_one_line() {
    let camera = data("camera.png");
    for options in [&["--csv", "-"][..], &["--backend", "auto", "--csv", "-"]] {
        let output = detect([&[camera.as_str()], options].concat());
        let told = String::from_utf8(output.stderr).unwrap();
        let gpu = told.starts_with("backend: cuda:0\n");
        assert!(gpu || told == "backend: cpu\n", "{told}");
        assert!(told.lines().count() == 1 && output.status.success(), "{told}");
        let expected = succeed(&[&camera, "--backend", "cpu", "--csv", "-"]);
        assert_eq!(String::from_utf8(output.stdout).unwrap(), expected);
    }
    // The reasons, and how an image is computed, are told on request.
    let output = detect([camera.as_str(), "--verbose"]);
    let told = String::from_utf8(output.stderr).unwrap();
    assert!(told == "backend: cuda:0\n" || told.starts_with("backend: cpu (not cuda:0: "), "{told}");
    let plan = |options: &[&str]| {
        let text = succeed(&[&[camera.as_str(), "--backend", "cpu", "--threads", "1"], options].concat());
        text.lines().next().unwrap().split(" ms ").nth(1).unwrap().to_owned()
    };
    let (short, long) = (plan(&[]), plan(&["-v"]));
    assert!(long.starts_with(&format!("{}: ", short.trim_end_matches(')'))), "{short} {long}");
    // Options of the CPU alone choose it without a message.
    let output = detect([camera.as_str(), "--threads", "1"]);
    assert!(output.stderr.is_empty() && output.status.success());
}

#[test]
fn blobs_are_found_and_drawn() {
    let folder = Folder::new();
    let (camera, csv, overlay) = (data("camera.png"), folder.path("blobs.csv"), folder.path("blobs.png"));
    let blobs = ["--detector", "fast-hessian"];
    succeed(&[&[&camera, "--csv", &csv, "--overlay", &overlay], &blobs[..]].concat());
    let list = fs::read_to_string(&csv).unwrap();
    assert_eq!(list.lines().count(), 1 + 367);
    let (mut dark, mut large) = (0, 0);
    for line in list.lines().skip(1) {
        let values: Vec<f32> = line.split(',').map(|value| value.parse().unwrap()).collect();
        dark += usize::from(values[2] > 0.0);
        large += usize::from(values[3] > 10.0);
    }
    assert!(dark > 50 && dark < 317 && large > 5, "{dark} {large}");
    assert_eq!(image::open(&overlay).unwrap().width(), 512);
    assert_eq!(succeed(&[&[&camera, "--csv", "-", "--backend", "reference"], &blobs[..]].concat()), list);
    let few =
        succeed(&[&[&camera, "--csv", "-", "--max-corners", "7", "--octaves", "2"], &blobs[..]].concat());
    assert_eq!(few.lines().count(), 1 + 7);
    // Hofmann's preset equals its rules, given one by one.
    let hofmann = succeed(&[&[&camera, "--csv", "-", "--preset", "hofmann_2009"], &blobs[..]].concat());
    let rules = ["--csv", "-", "--sampling", "border", "--clamp-negative", "true"];
    assert_eq!(succeed(&[&[camera.as_str()], &rules[..], &blobs[..]].concat()), hofmann);
    assert_ne!(hofmann, list);
    let summary = succeed(&[&[&camera, "--preset", "hofmann_2009"], &blobs[..]].concat());
    assert!(summary.contains("364 blobs (20 more rejected between samples)"), "{summary}");
    let unknown = error_line(&[&[&camera, "--preset", "surf"], &blobs[..]].concat());
    assert!(unknown.contains("hofmann_2009"), "{unknown}");
    // The value of a switch may stand behind it.
    let spaced = ["--sampling", "border", "--clamp-negative", "--csv", "-"];
    assert_eq!(succeed(&[&[camera.as_str()], &spaced[..], &blobs[..]].concat()), hofmann);
    let of_corners = error_line(&[&[&camera, "--preset", "opencv_gftt"], &blobs[..]].concat());
    assert!(of_corners.contains("a preset of the Harris detector"), "{of_corners}");
    let of_blobs = error_line(&[&camera, "--preset", "hofmann_2009"]);
    assert!(of_blobs.contains("add --detector fast-hessian"), "{of_blobs}");
    // Options of the other detector, and wrong values.
    assert!(
        error_line(&[&[&camera, "--window", "box:3"], &blobs[..]].concat()).contains("--detector harris")
    );
    assert!(error_line(&[&camera, "--octaves", "3"]).contains("--detector fast-hessian"));
    assert!(
        error_line(&[&[&camera, "--octaves", "8"], &blobs[..]].concat())
            .contains("a whole number from 1 to 7")
    );
    assert!(error_line(&[&[&camera, "--determinant", "-1"], &blobs[..]].concat()).contains("at least 0"));
}
