//! Tests of damaged files: cut at every byte, with every byte changed, and with headers that lie.

use std::fs;
use std::io::Cursor;

use harris_cli::input::{ReadOptions, decode_image};
use image::{DynamicImage, GrayImage, ImageFormat};

fn bytes(name: &str) -> Vec<u8> {
    fs::read(format!("{}/tests/cases/{name}", env!("CARGO_MANIFEST_DIR"))).unwrap()
}

/// Decodes with a limit that keeps the tests short.
fn decode(bytes: &[u8]) -> anyhow::Result<DynamicImage> {
    let options = ReadOptions { max_pixels: 1 << 16, ..ReadOptions::default() };
    decode_image(bytes, true, &options).map(harris_cli::input::Picture::into_dynamic)
}

fn small() -> DynamicImage {
    let gray = GrayImage::from_fn(19, 11, |x, y| image::Luma([(x * x + 5 * y) as u8]));
    gray.into()
}

fn encode(image: &DynamicImage, format: ImageFormat) -> Vec<u8> {
    let mut bytes = Cursor::new(Vec::new());
    image.write_to(&mut bytes, format).unwrap();
    bytes.into_inner()
}

/// A small file of each format, with its name.
fn files() -> Vec<(&'static str, Vec<u8>)> {
    let (gray, color) = (small(), DynamicImage::from(small().to_rgb8()));
    let mut files = vec![
        ("png", encode(&gray, ImageFormat::Png)),
        ("pnm", encode(&color, ImageFormat::Pnm)),
        ("plain pnm", b"P2 3 2 255\n0 10 200\n# remark\n7 8 99\n".to_vec()),
        ("bmp", encode(&gray, ImageFormat::Bmp)),
        ("color bmp", encode(&color, ImageFormat::Bmp)),
        ("tiff", encode(&gray, ImageFormat::Tiff)),
        ("float tiff", encode(&DynamicImage::from(small().to_rgb32f()), ImageFormat::Tiff)),
        ("webp", encode(&color, ImageFormat::WebP)),
    ];
    for name in ["lossy.webp", "baseline-420.jpg", "restart-422.jpg", "progressive-420.jpg", "planes-420.jpg"]
    {
        files.push((name, bytes(name)));
    }
    files
}

#[test]
fn a_jpeg_that_is_cut_anywhere_is_refused() {
    for name in [
        "baseline-420.jpg",
        "restart-422.jpg",
        "progressive-420.jpg",
        "progressive-restart-444.jpg",
        "gray-progressive.jpg",
        "dcsplit-420.jpg",
        "planes-420.jpg",
        "odd-sampling.jpg",
        "cmyk.jpg",
    ] {
        let file = bytes(name);
        assert!(decode(&file).is_ok());
        // The last two bytes are the end marker.
        for length in 0..file.len() - 2 {
            for end in [&b""[..], b"\xff\xd9", b"\xff"] {
                let cut = [&file[..length], end].concat();
                assert!(decode(&cut).is_err(), "{name} with {length} of {} bytes", file.len());
            }
        }
        assert!(decode(&file[..file.len() - 2]).is_ok() && decode(&file[..file.len() - 1]).is_ok());
    }
}

#[test]
fn restart_intervals_must_all_be_there() {
    let file = bytes("restart-422.jpg");
    let markers: Vec<_> =
        (0..file.len() - 1).filter(|&at| file[at] == 0xff && (0xd0..=0xd7).contains(&file[at + 1])).collect();
    assert!(markers.len() > 3);
    for pair in markers.windows(2) {
        let without = [&file[..pair[0]], &file[pair[1]..]].concat();
        assert!(decode(&without).is_err());
    }
}

#[test]
fn a_progressive_jpeg_needs_all_its_scans() {
    let file = bytes("progressive-420.jpg");
    let scans: Vec<_> = (0..file.len() - 1).filter(|&at| file[at..].starts_with(&[0xff, 0xda])).collect();
    assert!(scans.len() > 5);
    for &end in &scans[1..] {
        let fewer = [&file[..end], b"\xff\xd9"].concat();
        let error = decode(&fewer).unwrap_err().to_string();
        assert!(error.contains("truncated"), "{error}");
    }
}

#[test]
fn other_formats_that_are_cut_anywhere_are_refused() {
    for (name, file) in files() {
        assert!(decode(&file).is_ok(), "{name}: {:?}", decode(&file));
        if name.ends_with("jpg") {
            continue;
        }
        for length in 0..file.len() {
            assert!(decode(&file[..length]).is_err(), "{name} with {length} of {} bytes", file.len());
        }
    }
}

#[test]
fn damaged_pngs_are_refused() {
    let file = encode(&small(), ImageFormat::Png);
    for at in 8..file.len() {
        let mut damaged = file.clone();
        damaged[at] ^= 0x10;
        assert!(decode(&damaged).is_err(), "at {at} of {}", file.len());
    }
}

/// Changes each byte in several ways, and each four bytes to values that are too large. There must be
/// no panic, neither here nor in a decoder, nor more pixels than are allowed.
#[test]
fn files_that_lie_are_read_or_refused() {
    let mut read = 0;
    let mut check = |name: &str, at: usize, bytes: &[u8]| match decode(bytes) {
        Ok(image) => {
            read += 1;
            assert!(image.width() * image.height() <= 1 << 16);
        }
        Err(error) => {
            let text = format!("{error:#}");
            assert!(!text.contains("gave up"), "{name} at {at}: {text}");
        }
    };
    for (name, file) in files() {
        // Of long files some of the bytes.
        for at in (0..file.len()).step_by(1 + file.len() / 150) {
            for change in [0x00, 0xff, file[at] ^ 1, file[at] ^ 0x80] {
                let mut damaged = file.clone();
                damaged[at] = change;
                check(name, at, &damaged);
            }
            for four in [[0xff; 4], [0x7f, 0xff, 0xff, 0xff], [0xff, 0xff, 0xff, 0x7f], [0; 4], [0, 1, 0, 1]]
            {
                let mut damaged = file.clone();
                let end = (at + 4).min(file.len());
                damaged[at..end].copy_from_slice(&four[..end - at]);
                check(name, at, &damaged);
            }
        }
    }
    assert!(read > 1000, "{read} files are still read");
}

/// Runs `detect` with 1 GB of address space on headers whose sizes are lies.
#[cfg(target_os = "linux")]
#[test]
fn claims_are_refused_before_memory_is_taken() {
    let folder = tempfile::tempdir().unwrap();
    let mut lies = vec![
        ("claims.jpg", bytes("jpeg-claims-65500.jpg")),
        ("none.jpg", bytes("jpeg-no-data-16000.jpg")),
        ("claims.pgm", b"P5 16000 16000 255\nabc".to_vec()),
        ("plain.pgm", b"P2 16000 16000 255\n1 2 3\n".to_vec()),
        ("claims.pam", b"P7\nWIDTH 16000\nHEIGHT 16000\nDEPTH 4\nMAXVAL 65535\nENDHDR\nabc".to_vec()),
    ];
    let mut png = encode(&small(), ImageFormat::Png);
    png[16..24].copy_from_slice(&[0, 0, 0x3e, 0x80, 0, 0, 0x3e, 0x80]);
    let sum = crc32fast::hash(&png[12..29]).to_be_bytes();
    png[29..33].copy_from_slice(&sum);
    lies.push(("claims.png", png));
    let mut bmp = encode(&small(), ImageFormat::Bmp);
    bmp[18..26].copy_from_slice(&[0x80, 0x3e, 0, 0, 0x80, 0x3e, 0, 0]);
    lies.push(("claims.bmp", bmp));
    let mut tiff = encode(&small(), ImageFormat::Tiff);
    let find = |tiff: &[u8], tag: u16| {
        let entry = [tag.to_le_bytes(), 4_u16.to_le_bytes()].concat();
        tiff.windows(4).position(|bytes| bytes == entry).unwrap() + 8
    };
    for tag in [256, 257, 278] {
        let at = find(&tiff, tag);
        tiff[at..at + 4].copy_from_slice(&16000_u32.to_le_bytes());
    }
    lies.push(("claims.tiff", tiff));
    // A lossless WebP can hold any number of pixels of one colour in few bytes.
    let one = DynamicImage::from(image::RgbImage::from_pixel(9, 9, image::Rgb([1, 2, 3])));
    let mut webp = encode(&one, ImageFormat::WebP);
    let at = webp.windows(4).position(|name| name == b"VP8L").unwrap() + 9;
    webp[at..at + 3].copy_from_slice(&[0xff, 0xff, 0xff]);
    webp[at + 3] |= 0x0f;
    lies.push(("claims.webp", webp));
    for (name, bytes) in lies {
        let path = folder.path().join(name);
        fs::write(&path, bytes).unwrap();
        let start = std::time::Instant::now();
        let output = std::process::Command::new("sh")
            .args(["-c", "ulimit -v 1000000; exec \"$0\" detect --backend cpu --threads 1 \"$1\""])
            .arg(env!("CARGO_BIN_EXE_harris"))
            .arg(&path)
            .output()
            .unwrap();
        let text = String::from_utf8(output.stderr).unwrap();
        assert_eq!((output.status.code(), text.lines().count()), (Some(1), 1), "{name}: {text}");
        assert!(
            ["cannot hold", "--max-pixels", "memory", "sizes"].iter().any(|word| text.contains(word)),
            "{text}"
        );
        assert!(start.elapsed().as_secs_f64() < 5.0, "{name}");
    }
}
