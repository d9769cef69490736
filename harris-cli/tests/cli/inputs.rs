//! Tests of reading images: formats, orientations, names, and what is refused.

use std::fs;
use std::path::{Path, PathBuf};

use crate::program::{Folder, error_line, succeed};
use harris_cli::input::{self, Picture, ReadOptions, decode_image};
use harris_core::{ImageView, Samples};
use image::metadata::Orientation;
use image::{DynamicImage, GrayImage, ImageBuffer, ImageFormat, Luma, Rgb};

fn case(name: &str) -> String {
    format!("{}/tests/cases/{name}", env!("CARGO_MANIFEST_DIR"))
}

fn bytes(name: &str) -> Vec<u8> {
    fs::read(case(name)).unwrap()
}

fn options() -> ReadOptions {
    ReadOptions::default()
}

/// Decodes in colour, as it is stored.
fn stored(bytes: &[u8]) -> DynamicImage {
    decode_image(bytes, true, &ReadOptions { no_orientation: true, ..options() }).unwrap().into_dynamic()
}

fn upright(bytes: &[u8]) -> DynamicImage {
    decode_image(bytes, true, &options()).unwrap().into_dynamic()
}

fn encode(image: &DynamicImage, format: ImageFormat) -> Vec<u8> {
    let mut bytes = std::io::Cursor::new(Vec::new());
    image.write_to(&mut bytes, format).unwrap();
    bytes.into_inner()
}

fn drawn() -> DynamicImage {
    image::open(case("drawn.png")).unwrap()
}

fn keypoints(path: &str, more: &[&str]) -> String {
    succeed("detect", &[&[path, "--csv", "-", "--backend", "cpu"], more].concat())
}

/// Exif data with one tag, of this byte order.
fn exif(orientation: u8, little: bool) -> Vec<u8> {
    if little {
        [b"II*\0\x08\0\0\0\x01\0\x12\x01\x03\0\x01\0\0\0".as_slice(), &[orientation, 0, 0, 0, 0, 0, 0, 0]]
            .concat()
    } else {
        [b"MM\0*\0\0\0\x08\0\x01\x01\x12\0\x03\0\0\0\x01".as_slice(), &[0, orientation, 0, 0, 0, 0, 0, 0]]
            .concat()
    }
}

fn jpeg_with(exif: &[u8], jpeg: &[u8]) -> Vec<u8> {
    let length = u16::try_from(exif.len() + 8).unwrap().to_be_bytes();
    [b"\xff\xd8\xff\xe1".as_slice(), &length, b"Exif\0\0", exif, &jpeg[2..]].concat()
}

/// Inserts an Exif chunk before the picture, or after it.
fn png_with(exif: &[u8], png: &[u8], before: bool) -> Vec<u8> {
    let mut chunk = [b"eXIf".as_slice(), exif].concat();
    let sum = crc32fast::hash(&chunk).to_be_bytes();
    chunk.splice(0..0, u32::try_from(exif.len()).unwrap().to_be_bytes());
    chunk.extend(sum);
    let at = if before { 33 } else { png.len() - 12 };
    [&png[..at], &chunk, &png[at..]].concat()
}

fn webp_with(exif: &[u8], webp: &[u8], (width, height): (u32, u32)) -> Vec<u8> {
    let chunk = |name: &[u8], data: &[u8]| {
        let length = u32::try_from(data.len()).unwrap().to_le_bytes();
        [name, &length, data, &vec![0; data.len() % 2]].concat()
    };
    let three = |side: u32| (side - 1).to_le_bytes()[..3].to_vec();
    let header = [vec![8, 0, 0, 0], three(width), three(height)].concat();
    let body = [b"WEBP".as_slice(), &chunk(b"VP8X", &header), &webp[12..], &chunk(b"EXIF", exif)].concat();
    [b"RIFF".as_slice(), &u32::try_from(body.len()).unwrap().to_le_bytes(), &body].concat()
}

fn tiff_with(orientation: u16, gray: &GrayImage) -> Vec<u8> {
    use tiff::encoder::{TiffEncoder, colortype::Gray8};
    let mut bytes = std::io::Cursor::new(Vec::new());
    let mut encoder = TiffEncoder::new(&mut bytes).unwrap();
    let mut image = encoder.new_image::<Gray8>(gray.width(), gray.height()).unwrap();
    image.encoder().write_tag(tiff::tags::Tag::Orientation, orientation).unwrap();
    image.write_data(gray).unwrap();
    bytes.into_inner()
}

#[test]
fn the_cases_of_jpeg_and_pnm() {
    for (one, other) in [
        ("orientation-6.jpg", "orientation-6.upright.png"),
        ("jpeg-bytes-between-headers.jpg", "jpeg-bytes-between-headers.same.jpg"),
        ("comment-in-raster.pgm", "comment-in-raster.same.png"),
    ] {
        let list = keypoints(&case(one), &[]);
        assert!(list.lines().count() > 3, "{one}");
        assert_eq!(list, keypoints(&case(other), &[]), "{one}");
    }
    assert_ne!(keypoints(&case("orientation-6.jpg"), &["--no-orientation"]).len(), 0);
    let text = succeed("detect", &[&case("orientation-6.jpg"), "--no-orientation", "--backend", "cpu"]);
    assert!(text.contains("80 x 48"), "{text}");
    for (name, word) in [
        ("jpeg-half-and-end.jpg", "truncated"),
        ("jpeg-claims-65500.jpg", "65500 x 65500"),
        ("jpeg-no-data-16000.jpg", "16000 x 16000"),
        ("arithmetic.jpg", "arithmetic"),
    ] {
        let line = error_line("detect", &[&case(name)]);
        assert!(line.contains(word) && line.contains(name), "{line}");
    }
    let line = error_line("detect", &[&case("jpeg-claims-65500.jpg"), "--max-pixels", "5000000000"]);
    assert!(line.contains("744 bytes cannot hold"), "{line}");
    let line = error_line("detect", &[&case("drawn.png"), "--max-pixels", "959"]);
    assert!(line.contains("--max-pixels"), "{line}");
    assert!(succeed("detect", &[&case("drawn.png"), "--max-pixels", "960"]).contains("40 x 24"));
}

#[test]
fn all_orientations_of_all_formats() {
    let base = GrayImage::from_fn(21, 13, |x, y| Luma([(x * 11 + y * 7) as u8]));
    let plain = DynamicImage::from(base.clone());
    let (jpeg, png) = (encode(&plain, ImageFormat::Jpeg), encode(&plain, ImageFormat::Png));
    let webp = encode(&DynamicImage::from(plain.to_rgb8()), ImageFormat::WebP);
    for orientation in 1..=8 {
        for little in [true, false] {
            let exif = exif(orientation, little);
            for (name, file) in [
                ("JPEG", jpeg_with(&exif, &jpeg)),
                ("PNG", png_with(&exif, &png, true)),
                ("PNG, after the picture", png_with(&exif, &png, false)),
                ("WebP", webp_with(&exif, &webp, (21, 13))),
                ("TIFF", tiff_with(orientation.into(), &base)),
            ] {
                let mut expected = stored(&file);
                assert_eq!((expected.width(), expected.height()), (21, 13), "{name}");
                expected.apply_orientation(Orientation::from_exif(orientation).unwrap());
                assert_eq!(upright(&file), expected, "{name} {orientation}");
                assert_eq!(expected.width(), if orientation < 5 { 21 } else { 13 });
            }
        }
    }
    // Values that are none leave the image as it is.
    for orientation in [0, 9, 200] {
        assert_eq!(upright(&jpeg_with(&exif(orientation, true), &jpeg)), stored(&jpeg));
    }
}

#[test]
fn each_file_is_turned_by_its_own_tag() {
    let folder = Folder::new();
    let (image, mask) = (folder.path("image.png"), folder.path("mask.png"));
    fs::write(&image, png_with(&exif(8, true), &bytes("drawn.png"), true)).unwrap();
    let half = GrayImage::from_fn(24, 40, |_, y| Luma([u8::from(y < 20)]));
    half.save(&mask).unwrap();
    // The mask has the size of the turned image.
    let turned = keypoints(&image, &["--mask", &mask]);
    // A mask that is stored on its side does, too, once it is turned.
    fs::write(&mask, {
        let mut side = DynamicImage::from(half);
        side.apply_orientation(Orientation::Rotate90);
        png_with(&exif(8, false), &encode(&side, ImageFormat::Png), true)
    })
    .unwrap();
    assert_eq!(keypoints(&image, &["--mask", &mask]), turned);
    assert!(turned.lines().count() > 1 && turned.len() < keypoints(&image, &[]).len());
    let line = error_line("detect", &[&case("orientation-6.jpg"), "--mask", &mask]);
    assert!(line.contains("mask has 24 x 40"), "{line}");
}

#[test]
fn every_kind_of_jpeg_gives_the_same_picture() {
    let expected = drawn().into_rgb8();
    for name in [
        "baseline-420",
        "restart-422",
        "progressive-420",
        "progressive-restart-444",
        "dcsplit-420",
        "planes-420",
        "odd-sampling",
        "cmyk",
    ] {
        let read = stored(&bytes(&format!("{name}.jpg"))).into_rgb8();
        assert_eq!(read.dimensions(), (40, 24), "{name}");
        let sum: u64 = read.iter().zip(expected.iter()).map(|(a, b)| u64::from(a.abs_diff(*b))).sum();
        // Coarse chroma makes most of the difference.
        assert!(sum < 16 * 40 * 24 * 3, "{name}: {}", sum / (40 * 24 * 3));
    }
    let gray = stored(&bytes("gray-progressive.jpg"));
    assert!(matches!(gray, DynamicImage::ImageLuma8(_)));
    // Stray bytes, fill bytes, and what follows the picture change nothing; nor does the end marker.
    for name in ["baseline-420", "progressive-restart-444", "planes-420"] {
        let file = bytes(&format!("{name}.jpg"));
        let picture = stored(&file);
        let end = file.len() - 2;
        assert_eq!(file[end..], [0xff, 0xd9]);
        for changed in [
            file[..end].to_vec(),
            [&file[..], b"more"].concat(),
            [&file[..end], b"\0\0\0\xff\xff\xff\xd9"].concat(),
            [&file[..2], b"stray\xff\0", &file[2..]].concat(),
            [&file[..2], b"\xff\xff\xff", &file[2..]].concat(),
        ] {
            assert_eq!(stored(&changed), picture, "{name}");
        }
    }
}

#[test]
fn formats_hold_the_same_samples() {
    let (color, gray) = (drawn().into_rgb8(), drawn().into_luma8());
    let deep: ImageBuffer<Luma<u16>, Vec<u16>> =
        ImageBuffer::from_fn(40, 24, |x, y| Luma([u16::from(gray.get_pixel(x, y).0[0]) * 256 + x as u16]));
    let (color, gray, deep) =
        (DynamicImage::from(color), DynamicImage::from(gray), DynamicImage::ImageLuma16(deep));
    use ImageFormat::{Bmp, Png, Pnm, Tiff, WebP};
    for (image, formats) in [
        (&color, &[Bmp, Png, Pnm, Tiff, WebP][..]),
        (&gray, &[Bmp, Png, Pnm, Tiff]),
        (&deep, &[Png, Pnm, Tiff]),
    ] {
        for format in formats {
            assert_eq!(stored(&encode(image, *format)), *image, "{format:?}");
        }
    }
    // Alpha is dropped; colours stay as they are stored, also where nothing shows.
    let mut alpha = color.to_rgba8();
    alpha.pixels_mut().enumerate().for_each(|(i, pixel)| pixel.0[3] = i as u8);
    for format in [Bmp, Png, Tiff, WebP] {
        assert_eq!(stored(&encode(&alpha.clone().into(), format)), color, "{format:?}");
    }
    let mut gray_alpha = gray.to_luma_alpha8();
    gray_alpha.pixels_mut().for_each(|pixel| pixel.0[1] = 3);
    assert_eq!(stored(&encode(&gray_alpha.into(), Png)), gray);
    assert_eq!(stored(&bytes("lossy.webp")).width(), 40);
}

#[test]
fn float_tiffs_are_read_as_floats() {
    use tiff::encoder::{TiffEncoder, colortype::Gray32Float};
    let levels: Vec<f32> = drawn().to_luma8().iter().map(|v| f32::from(*v) / 255.0).collect();
    let mut file = std::io::Cursor::new(Vec::new());
    TiffEncoder::new(&mut file).unwrap().write_image::<Gray32Float>(40, 24, &levels).unwrap();
    let picture = decode_image(file.get_ref(), false, &options()).unwrap();
    let view = ImageView::try_from(&picture).unwrap();
    let Samples::F32(raster) = view.samples() else { panic!("floats") };
    assert_eq!((raster.channels(), raster.row(3)), (1, &levels[3 * 40..4 * 40]));
    // It is drawn on in gray.
    assert_eq!(picture.into_dynamic().into_luma8(), drawn().into_luma8());

    let color: ImageBuffer<Rgb<f32>, Vec<f32>> = drawn().into_rgb32f();
    let file = encode(&color.clone().into(), ImageFormat::Tiff);
    let picture = decode_image(&file, true, &options()).unwrap();
    assert_eq!(ImageView::try_from(&picture).unwrap().channels(), 3);
    assert_eq!(picture.into_dynamic(), DynamicImage::from(color));
    let folder = Folder::new();
    let path = folder.path("float.tiff");
    fs::write(&path, file).unwrap();
    let text = succeed("detect", &[&path, "--overlay", &folder.path("overlay.png")]);
    assert!(text.contains("40 x 24, 11 corners"), "{text}");
}

#[test]
fn netpbm_formats() {
    let gray = |text: &[u8]| decode_image(text, true, &options()).map(Picture::into_dynamic);
    let samples = |text: &[u8]| gray(text).unwrap().into_bytes();
    assert_eq!(samples(b"P1\n#c\n3 2\n101\n#1\n0 1 0\n"), [0, 255, 0, 255, 0, 255]);
    assert_eq!(samples(b"P4 #c\n 10 1\n\xaa\x40"), [0, 255, 0, 255, 0, 255, 0, 255, 255, 0]);
    assert_eq!(samples(b"P2 2#width\n2 5 0 1 #row\n4 5 #end\n"), [0, 51, 204, 255]);
    assert_eq!(samples(b"P3 1 1 255 1 2 #b\r3\n"), [1, 2, 3]);
    assert_eq!(samples(b"P5 2 1 100\n\x00\xff"), [0, 255]);
    assert_eq!(samples(b"P6 1 1 255 abc"), *b"abc");
    // A comment after the largest sample ends the header with its line.
    assert_eq!(samples(b"P5 2 1 255#end\nab"), *b"ab");
    assert_eq!(samples(b"P5 1 1 65535 \x12\x34"), 0x1234_u16.to_ne_bytes());
    assert_eq!(samples(b"P2 1 1 1023 1023\n"), [255, 255]);
    let pam = b"P7\n#c\nWIDTH 2\nHEIGHT 1\nDEPTH 4\nMAXVAL 255\nTUPLTYPE RGB_ALPHA\nENDHDR\nabcdefgh";
    assert_eq!(samples(pam), *b"abcefg");
    for bad in [
        &b"P5 2 1 255\na"[..],
        b"P5 2 1 0\nab",
        b"P5 2 1 65536\nabcd",
        b"P5 0 1 255\n",
        b"P2 1 1 255 x\n",
        b"P2 1 1 255 -1\n",
        b"P1 1 1 2\n",
        b"P5 2 1",
        b"P5 99999999999 1 255\nab",
        b"P7\nENDHDR\n",
        b"P7\nWIDTH 1\nHEIGHT 1\nDEPTH 9\nMAXVAL 255\nENDHDR\nabcdefghi",
        b"P5 60000 60000 255\nabc",
        b"P2 60000 60000 255\n1 2 3\n",
        b"P4 4000000000 4000000000\nab",
    ] {
        assert!(gray(bad).is_err(), "{:?}", String::from_utf8_lossy(bad));
    }
}

#[test]
fn content_decides_and_endings_choose_in_folders() {
    let folder = Folder::new();
    let expected = keypoints(&case("drawn.png"), &[]);
    for name in ["a.jpg", "b", "c.txt", "d.JFIF", "e.jpe", "f.TiF"] {
        fs::copy(case("drawn.png"), folder.path(name)).unwrap();
        assert_eq!(keypoints(&folder.path(name), &[]), expected, "{name}");
    }
    let found = input::expand(&[folder.0.path().to_owned()]).unwrap();
    let names: Vec<_> = found.iter().map(|path| path.file_name().unwrap().to_str().unwrap()).collect();
    assert_eq!(names, ["a.jpg", "d.JFIF", "e.jpe", "f.TiF"]);
    for ending in input::ENDINGS {
        assert!(input::has_image_ending(Path::new(&format!("x.{}", ending.to_uppercase()))));
    }
    assert!(!input::has_image_ending(Path::new("png")) && !input::has_image_ending(Path::new("x.csv")));
    let empty = Folder::new();
    assert!(error_line("detect", &[empty.0.path().to_str().unwrap()]).contains("no image file"));
    fs::write(folder.path("empty.png"), b"").unwrap();
    assert!(error_line("detect", &[&folder.path("empty.png")]).contains("empty"));
    // A stream of frames takes them by their content, too.
    let text = succeed("stream", &[&folder.path("b"), "--json", "--backend", "cpu"]);
    assert!(text.contains("\"frames\":1"), "{text}");
}

#[cfg(unix)]
#[test]
fn names_need_not_be_text() {
    use std::os::unix::ffi::OsStrExt;
    let folder = Folder::new();
    let names: [&[u8]; 2] = [b"\xfea.png", b"\xffa.png"];
    let paths = names.map(|name| folder.0.path().join(std::ffi::OsStr::from_bytes(name)));
    for path in &paths {
        fs::copy(case("drawn.png"), path).unwrap();
    }
    assert_eq!(input::expand(&[folder.0.path().to_owned()]).unwrap(), paths);
    for path in &paths {
        assert_eq!(input::read_image(path, false, &options()).unwrap().width(), 40);
    }
}

/// Runs `detect` with a file as standard input.
fn detect_stdin(args: &[&str], stdin: &[u8]) -> (bool, String) {
    let output = crate::program::run_with_stdin("detect", args, stdin);
    let text = if output.status.success() { output.stdout } else { output.stderr };
    (output.status.success(), String::from_utf8(text).unwrap())
}

#[test]
fn standard_input_is_an_image() {
    for name in ["drawn.png", "baseline-420.jpg", "comment-in-raster.pgm", "lossy.webp"] {
        let (success, list) = detect_stdin(&["-", "--csv", "-", "--backend", "cpu"], &bytes(name));
        assert!(success, "{list}");
        assert_eq!(list, keypoints(&case(name), &[]), "{name}");
    }
    let (success, line) = detect_stdin(&["-", "--backend", "cpu"], b"text");
    assert!(!success && line.contains("cannot read standard input: it is not a PNG"), "{line}");
    assert!(!detect_stdin(&["-"], b"").0);
    let (success, line) = detect_stdin(&["-", "-"], &bytes("drawn.png"));
    assert!(!success && line.contains("twice"), "{line}");
}

#[test]
fn raw_frames_have_the_size_that_is_given() {
    let folder = Folder::new();
    let gray = drawn().into_luma8();
    let (path, pgm) = (folder.path("frame.gray"), folder.path("frame.pgm"));
    fs::write(&path, gray.as_raw()).unwrap();
    gray.save(&pgm).unwrap();
    assert_eq!(keypoints(&path, &["--raw", "40x24"]), keypoints(&pgm, &[]));
    for (size, word) in [
        ("41x24", "984 bytes, but it has 960"),
        ("40x23", "920 bytes"),
        ("0x9", "WIDTHxHEIGHT"),
        ("40", "WIDTHxHEIGHT"),
        ("4000000000x4000000000", "WIDTHxHEIGHT"),
        ("16000000x16000000", "--max-pixels"),
    ] {
        let line = error_line("detect", &[&path, "--raw", size]);
        assert!(line.contains(word), "{size}: {line}");
    }
    let text = succeed("stream", &[&path, "--raw", "40x12", "--json", "--backend", "cpu"]);
    assert!(text.contains("\"frames\":2"), "{text}");
    let missing: PathBuf = folder.0.path().join("missing");
    assert!(input::read_image(&missing, false, &options()).is_err());
}
