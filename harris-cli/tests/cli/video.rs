//! Tests of the reader of videos: colour spaces, cuts at every byte, headers that lie.

use std::io::Read;

use harris_cli::video::{Error, Frames, Header, Planes, Writer, Ycbcr};
use image::{DynamicImage, Rgb, RgbImage};

const MAX_PIXELS: u64 = 1 << 30;

/// Every colour space that ffmpeg writes: its name, bits of a sample, and what a frame of 5 x 3 has
/// after its luma, in samples.
const COLOURS: [(&str, u32, usize); 28] = [
    ("", 8, 12),
    (" C420", 8, 12),
    (" C420jpeg XYSCSS=420JPEG", 8, 12),
    (" C420mpeg2 XYSCSS=420MPEG2", 8, 12),
    (" C420paldv XYSCSS=420PALDV", 8, 12),
    (" C411 XYSCSS=411", 8, 12),
    (" C422 XYSCSS=422", 8, 18),
    (" C444 XYSCSS=444", 8, 30),
    (" C444alpha XYSCSS=444", 8, 45),
    (" Cmono", 8, 0),
    (" Cmono9", 9, 0),
    (" Cmono10", 10, 0),
    (" Cmono12", 12, 0),
    (" Cmono14", 14, 0),
    (" Cmono16", 16, 0),
    (" C420p9 XYSCSS=420P9", 9, 12),
    (" C420p10 XYSCSS=420P10", 10, 12),
    (" C420p12 XYSCSS=420P12", 12, 12),
    (" C420p14 XYSCSS=420P14", 14, 12),
    (" C420p16 XYSCSS=420P16", 16, 12),
    (" C422p9 XYSCSS=422P9", 9, 18),
    (" C422p10 XYSCSS=422P10", 10, 18),
    (" C422p12 XYSCSS=422P12", 12, 18),
    (" C422p16 XYSCSS=422P16", 16, 18),
    (" C444p9 XYSCSS=444P9", 9, 30),
    (" C444p10 XYSCSS=444P10", 10, 30),
    (" C444p14 XYSCSS=444P14", 14, 30),
    (" C444p16 XYSCSS=444P16", 16, 30),
];

fn frames(bytes: &[u8]) -> Result<Frames<&[u8]>, Error> {
    Frames::y4m(bytes, MAX_PIXELS)
}

/// Returns a message for the error of a header.
fn header_error(text: &str) -> String {
    frames(text.as_bytes()).unwrap_err().to_string()
}

/// Makes a video of two frames of 5 x 3, and returns it with the luma of both.
fn video(colour: &str, bits: u32, rest: usize) -> (Vec<u8>, [Vec<u16>; 2]) {
    let mut bytes = format!("YUV4MPEG2 W5 H3 F25:1 Ip A0:0{colour} Xremark\n").into_bytes();
    let put = |bytes: &mut Vec<u8>, sample: u16| match bits {
        8 => bytes.push(sample as u8),
        _ => bytes.extend(sample.to_le_bytes()),
    };
    let lumas = [0, 1].map(|frame: u16| {
        let most = (1_u32 << bits) - 1;
        let luma: Vec<_> =
            (0..15).map(|i| (u32::from(40 * frame + 7 * i) * 977 % (most + 1)) as u16).collect();
        bytes.extend(if frame == 0 { &b"FRAME\n"[..] } else { &b"FRAME Ippp Xremark\n"[..] });
        luma.iter().for_each(|sample| put(&mut bytes, *sample));
        (0..rest).for_each(|i| put(&mut bytes, i as u16));
        luma
    });
    (bytes, lumas)
}

/// Returns the samples of a frame, at full range.
fn samples(frame: &DynamicImage) -> Vec<u16> {
    match frame {
        DynamicImage::ImageLuma8(image) => image.as_raw().iter().map(|&sample| sample.into()).collect(),
        DynamicImage::ImageLuma16(image) => image.as_raw().clone(),
        other => panic!("a frame is gray, not {:?}", other.color()),
    }
}

#[test]
fn luma_comes_first_in_every_colour_space() {
    for (colour, bits, rest) in COLOURS {
        let (bytes, lumas) = video(colour, bits, rest);
        let mut frames = frames(&bytes).unwrap();
        for luma in lumas {
            let frame = frames.next().unwrap().unwrap();
            assert_eq!((frame.width(), frame.height()), (5, 3));
            let shift = if bits == 8 { 0 } else { 16 - bits };
            assert_eq!(samples(&frame), luma.iter().map(|&v| v << shift).collect::<Vec<_>>(), "{colour}");
            frames.recycle(frame);
        }
        assert!(frames.next().is_none(), "{colour}");
    }
}

/// Makes a header's line and frames of a colour space again.
fn written(bytes: &[u8], change: impl Fn(&Header, &mut DynamicImage, &mut Planes)) -> Vec<u8> {
    let mut frames = frames(bytes).unwrap().keep_planes();
    let mut writer = Writer::new(Vec::new(), frames.header().clone()).unwrap();
    while let Some(frame) = frames.next() {
        let (mut luma, mut planes) = (frame.unwrap(), frames.take_planes());
        change(writer.header(), &mut luma, &mut planes);
        writer.write(&luma, &planes).unwrap();
    }
    writer.into_inner()
}

#[test]
fn videos_are_written_as_they_are_read() {
    for (colour, bits, rest) in COLOURS {
        let (bytes, _) = video(colour, bits, rest);
        assert_eq!(written(&bytes, |_, _, _| {}), bytes, "{colour}");
        // What is not covered stays.
        let nothing = |header: &Header, luma: &mut DynamicImage, planes: &mut Planes| {
            planes.draw(header, luma, &[0; 15], Ycbcr([180, 72, 58]));
        };
        assert_eq!(written(&bytes, nothing), bytes, "{colour}");
    }
}

/// A column of each colour space, opaque and half covered: luma, chroma and alpha.
#[test]
fn colours_are_drawn_on_all_planes() {
    for (colour, bits, rest) in COLOURS {
        let (bytes, _) = video(colour, bits, rest);
        for (cover, part) in [(255, 1.0), (102, 0.4)] {
            let coverage: Vec<u8> = (0..15).map(|i| if i % 5 == 4 { cover } else { 0 }).collect();
            let drawn = written(&bytes, |header, luma, planes| {
                planes.draw(header, luma, &coverage, Ycbcr([180, 72, 58]));
            });
            let width = if bits > 8 { 2 } else { 1 };
            let line = bytes.iter().position(|&byte| byte == b'\n').unwrap() + 1 + b"FRAME\n".len();
            let sample = |bytes: &[u8], i: usize| match width {
                1 => f64::from(bytes[line + i]),
                _ => f64::from(u16::from_le_bytes([bytes[line + 2 * i], bytes[line + 2 * i + 1]])),
            };
            let scale = f64::from(1 << (bits - 8));
            // The columns of a plane. The last is that of the fifth column alone.
            let columns = match rest {
                12 if colour.contains("411") => 2,
                12 | 18 => 3,
                _ => 5,
            };
            let plane = if rest == 45 { 15 } else { rest / 2 };
            for i in 0..15 + rest {
                let (old, new) = (sample(&bytes, i), sample(&drawn, i));
                let (level, covered) = match i.checked_sub(15) {
                    None => (180.0 * scale, if i % 5 == 4 { part } else { 0.0 }),
                    Some(i) => {
                        let level = [72.0 * scale, 58.0 * scale, 256.0 * scale - 1.0][i / plane];
                        (level, if i % plane % columns == columns - 1 { part } else { 0.0 })
                    }
                };
                let expected = old + (level - old) * covered;
                assert!((new - expected).abs() <= 0.5, "{colour}, {i}: {old} becomes {new}, not {expected}");
            }
        }
    }
}

#[test]
fn frames_of_another_video_are_refused() {
    let (bytes, _) = video(" C420", 8, 12);
    let header = frames(&bytes).unwrap().header().clone();
    let start = Writer::new(Vec::new(), header.clone()).unwrap().into_inner().len();
    let picture = RgbImage::from_pixel(5, 3, Rgb([250, 9, 9]));
    let (luma, planes) = Planes::of_picture(&picture);
    for (luma, planes) in [
        (DynamicImage::new_luma8(5, 4), planes.clone()),
        (luma.clone(), planes.clone()),
        (luma.clone(), Planes::default()),
        (DynamicImage::new_luma16(5, 3), planes.clone()),
        (DynamicImage::new_rgb8(5, 3), planes.clone()),
    ] {
        let mut writer = Writer::new(Vec::new(), header.clone()).unwrap();
        assert!(writer.write(&luma, &planes).is_err());
        assert_eq!(writer.into_inner().len(), start);
    }
    let mut writer = Writer::new(Vec::new(), Header::of_pictures(5, 3)).unwrap();
    writer.write(&luma, &planes).unwrap();
    let bytes = writer.into_inner();
    let read: Vec<_> = frames(&bytes).unwrap().map(Result::unwrap).collect();
    assert!(read.len() == 1 && samples(&read[0]).iter().all(|&level| level == 81), "{read:?}");
}

#[test]
fn a_video_may_end_exactly_before_a_frame_and_nowhere_else() {
    for (colour, bits, rest) in [(" C420", 8, 12), (" C422p10", 10, 18), (" Cmono", 8, 0)] {
        let (bytes, _) = video(colour, bits, rest);
        let starts: Vec<_> = (0..bytes.len()).filter(|&i| bytes[i..].starts_with(b"FRAME")).collect();
        for end in 0..=bytes.len() {
            let read = match frames(&bytes[..end]) {
                Ok(frames) => frames.collect::<Vec<_>>(),
                Err(Error::Header(_)) => {
                    assert!(end < starts[0], "{colour}, {end}");
                    continue;
                }
                Err(error) => panic!("{colour}, {end}: {error}"),
            };
            assert!(end >= starts[0]);
            // Frames that are whole: those before the last one begun.
            let begun = starts.iter().filter(|&&start| start < end).count();
            let at_boundary = starts.contains(&end) || end == bytes.len();
            let whole = if at_boundary { begun } else { begun - 1 };
            assert_eq!(read.iter().filter(|frame| frame.is_ok()).count(), whole, "{colour}, {end}");
            if at_boundary {
                assert_eq!(read.len(), whole);
            } else {
                assert_eq!(read.len(), whole + 1);
                let error = read[whole].as_ref().unwrap_err().to_string();
                assert_eq!(
                    error,
                    format!("the video ends in the middle of frame {whole}"),
                    "{colour}, {end}"
                );
            }
        }
    }
}

#[test]
fn every_byte_of_a_header_may_be_wrong_without_a_panic() {
    let (bytes, _) = video(" C420p10", 10, 12);
    let header = bytes.iter().position(|&byte| byte == b'\n').unwrap();
    let frame_line = header + 1..header + 7;
    for i in (0..=header).chain(frame_line) {
        for wrong in [0, b'\n', b' ', b'0', b'9', b'-', b'C', b'W', 0xff] {
            let mut bytes = bytes.clone();
            bytes[i] = wrong;
            for frame in frames(&bytes).into_iter().flatten().take(100) {
                let size = frame.map(|frame| (frame.width(), frame.height()));
                assert!(size.is_err() || size.is_ok_and(|(width, height)| width * height <= 1500));
            }
        }
    }
}

#[test]
fn headers_that_lie_are_refused_before_memory_is_taken() {
    for (sides, word) in [
        ("W0 H5", "the width 0 is not"),
        ("W5 H0", "the height 0 is not"),
        ("W16777217 H1", "the width 16777217 is not from 1 to 16777216"),
        ("W1 H4294967295", "the height 4294967295 is not"),
        ("W1 H4294967296", "the height `4294967296` is not"),
        ("W2906290908 H2115725812", "the width 2906290908 is not"),
        ("W16777216 H16777216", "more than the limit of 1073741824 pixels"),
        ("W32769 H32768", "more than the limit"),
    ] {
        for colour in ["Cmono", "C420p10", "C444p16", "C444alpha"] {
            let error = header_error(&format!("YUV4MPEG2 {sides} F25:1 {colour}\n"));
            assert!(error.contains(word), "{sides}: {error}");
        }
    }
    // A frame of 2 GB, of which nothing is there: memory is taken as data arrive.
    let claims = b"YUV4MPEG2 W32768 H32768 F25:1 Cmono16\nFRAME\n0123";
    let mut frames = frames(claims).unwrap();
    assert!(matches!(frames.next(), Some(Err(Error::Cut { frame: 0 }))));
    assert!(frames.next().is_none());
}

#[test]
fn colour_spaces_that_are_not_known_are_named() {
    for colour in ["C410", "C440", "Cmono11", "C420p8", "C444p18", "C", "Cyuv", "C420JPEG"] {
        let error = header_error(&format!("YUV4MPEG2 W5 H3 F25:1 {colour}\n"));
        assert!(error.contains(&format!("`{colour}` is not known")), "{error}");
    }
}

#[test]
fn what_is_no_frame_is_named() {
    let garbage = |line: &[u8]| {
        let bytes = [b"YUV4MPEG2 W2 H1 Cmono\nFRAME\nab", line, b"cd"].concat();
        let read: Vec<_> = frames(&bytes).unwrap().collect();
        assert!(read.len() == 2 && read[0].is_ok());
        read[1].as_ref().unwrap_err().to_string()
    };
    assert!(garbage(b"NOISE\n").contains("where frame 1 should begin there is `NOISE\\n` instead"));
    assert!(garbage(b"FRAMES\n").contains("`FRAMES\\n` instead of FRAME"));
    assert!(garbage(b"FRAME W9\n").contains("the unknown parameter `W9`"));
    assert!(garbage(b"\n").contains("`\\n` instead of FRAME"));
    let long = [b"FRAME X", &[b'x'; 5000][..], b"\n"].concat();
    assert!(garbage(&long).contains("a line of more than 4096 bytes"));
    assert!(garbage(&[b'x'; 100_000]).len() < 200);
}

#[test]
fn samples_of_too_many_bits_fail_their_frame_alone() {
    let mut bytes = b"YUV4MPEG2 W2 H1 Cmono10\n".to_vec();
    for samples in [[1, 1023], [1024, 0], [5, 6]] {
        bytes.extend(b"FRAME\n");
        bytes.extend(samples.map(u16::to_le_bytes).concat());
    }
    let read: Vec<_> = frames(&bytes).unwrap().collect();
    assert!(read.len() == 3 && read[0].is_ok() && read[2].is_ok());
    assert!(read[1].as_ref().unwrap_err().to_string().contains("more than 10 bits"));
}

#[test]
fn raw_frames_are_whole_or_an_error() {
    let bytes: Vec<u8> = (0..30).collect();
    for end in 0..=30 {
        let read: Vec<_> = Frames::raw(&bytes[..end], 5, 2, MAX_PIXELS).unwrap().collect();
        assert_eq!(read.iter().filter(|frame| frame.is_ok()).count(), end / 10);
        assert_eq!(read.len(), end.div_ceil(10));
        if let Some(Ok(frame)) = read.get(1) {
            assert_eq!(samples(frame), (10..20).collect::<Vec<_>>());
        }
    }
    for (width, height) in [(0, 5), (5, 0), (1 << 25, 1), (1 << 20, 1 << 20)] {
        assert!(matches!(Frames::raw(&bytes[..], width, height, MAX_PIXELS), Err(Error::Header(_))));
    }
}

/// Data that come one byte at a time, as over a slow pipe.
struct Slow<'a>(&'a [u8]);

impl Read for Slow<'_> {
    fn read(&mut self, buffer: &mut [u8]) -> std::io::Result<usize> {
        let length = buffer.len().min(1);
        self.0.read(&mut buffer[..length])
    }
}

#[test]
fn data_may_come_in_small_pieces() {
    for (colour, bits, rest) in [(" C420", 8, 12), (" C444p12", 12, 30)] {
        let (bytes, _) = video(colour, bits, rest);
        let slow = Frames::y4m(std::io::BufReader::with_capacity(3, Slow(&bytes)), MAX_PIXELS).unwrap();
        let (slow, fast): (Vec<_>, Vec<_>) =
            (slow.map(Result::unwrap).collect(), frames(&bytes).unwrap().map(Result::unwrap).collect());
        assert_eq!(slow, fast);
    }
}

#[test]
fn recycled_memory_of_another_size_does_no_harm() {
    let (bytes, lumas) = video("", 8, 12);
    let mut frames = frames(&bytes).unwrap();
    frames.recycle(DynamicImage::new_luma8(40, 40));
    assert_eq!(samples(&frames.next().unwrap().unwrap()), lumas[0]);
    frames.recycle(DynamicImage::new_luma8(2, 2));
    frames.recycle(DynamicImage::new_rgb8(2, 2));
    assert_eq!(samples(&frames.next().unwrap().unwrap()), lumas[1]);
}
