//! The headers of Y4M (YUV4MPEG2), as ffmpeg and mjpegtools write it.
//!
//! A video is a line with parameters, and for each frame a line that begins with `FRAME` and the
//! planes without any padding: luma first in every colour space, then chroma and alpha.

use std::io::{BufRead, Read};

use super::error::Error;
use super::header::Header;
use super::layout::{ChromaFormat, Layout, MAX_SIDE};

/// The first bytes of a video.
pub const MAGIC: &[u8] = b"YUV4MPEG2";

/// The first bytes of a frame.
pub(super) const FRAME: &[u8] = b"FRAME";

/// The longest line of parameters.
const MAX_LINE: u64 = 4096;

/// Reads the line at the beginning of a video.
///
/// | parameter | use |
/// | --- | --- |
/// | `W`, `H` | size |
/// | `C` | colour space and depth; 8-bit 4:2:0 without it |
/// | `XYSCSS=` | what old programs write instead of `C` |
/// | `F`, `I`, `A`, other `X` | rate, interlacing, aspect and remarks: ignored |
pub(super) fn header(source: &mut impl BufRead) -> Result<Header, Error> {
    let fault = |what: String| Err(Error::Header(what));
    let line = line(source)?;
    let Some(parameters) = line.strip_prefix(MAGIC).filter(|rest| matches!(rest, [b' ' | b'\n', ..] | []))
    else {
        return fault("it is not a Y4M video".to_owned());
    };
    let Some(parameters) = parameters.strip_suffix(b"\n") else {
        return fault(match line.len() as u64 > MAX_LINE {
            true => format!("its Y4M header is longer than {MAX_LINE} bytes"),
            false => "its Y4M header is cut off".to_owned(),
        });
    };
    let (mut width, mut height, mut colour, mut old_colour) = (None, None, None, None);
    for parameter in parameters.split(|byte| *byte == b' ').filter(|parameter| !parameter.is_empty()) {
        let known = match parameter {
            [b'W', rest @ ..] => width.replace(rest).is_none(),
            [b'H', rest @ ..] => height.replace(rest).is_none(),
            [b'C', rest @ ..] => colour.replace(rest).is_none(),
            [b'X', b'Y', b'S', b'C', b'S', b'S', b'=', rest @ ..] => {
                old_colour = Some(rest);
                true
            }
            [b'F' | b'I' | b'A' | b'X', ..] => true,
            _ => return fault(format!("its Y4M header has the unknown parameter `{}`", shown(parameter))),
        };
        if !known {
            return fault(format!("its Y4M header has two parameters `{}`", shown(&parameter[..1])));
        }
    }
    let (width, height) = (side("width", width)?, side("height", height)?);
    let colour = match (colour, old_colour) {
        (Some(colour), _) => String::from_utf8_lossy(colour).into_owned(),
        (None, Some(old)) => String::from_utf8_lossy(old).to_ascii_lowercase().replace("gray", "mono"),
        (None, None) => "420".to_owned(),
    };
    match colour_space(&colour) {
        Some((chroma, bits)) => {
            Ok(Header { layout: Layout { width, height, bits, chroma }, parameters: parameters.to_owned() })
        }
        None => fault(format!("its colour space `C{}` is not known", shown(colour.as_bytes()))),
    }
}

/// Reads the line at the beginning of a frame. Returns its parameters; `None` at the video's end.
pub(super) fn frame_line(source: &mut impl BufRead, frame: u64) -> Result<Option<Vec<u8>>, Error> {
    let line = line(source)?;
    if line.is_empty() {
        return Ok(None);
    }
    let garbage = |what| Err(Error::Garbage { frame, what });
    let Some(parameters) = line.strip_prefix(FRAME) else {
        return match FRAME.starts_with(&line) {
            true => Err(Error::Cut { frame }),
            false => garbage(format!("`{}` instead of FRAME", shown(&line))),
        };
    };
    if !matches!(parameters, [b' ' | b'\n', ..] | []) {
        return garbage(format!("`{}` instead of FRAME", shown(&line)));
    }
    let Some(parameters) = parameters.strip_suffix(b"\n") else {
        return match line.len() as u64 > MAX_LINE {
            true => garbage(format!("a line of more than {MAX_LINE} bytes")),
            false => Err(Error::Cut { frame }),
        };
    };
    for parameter in parameters.split(|byte| *byte == b' ') {
        // Interlacing and remarks change no sample. Anything else might.
        if !matches!(parameter, [] | [b'I' | b'X', ..]) {
            return garbage(format!("the unknown parameter `{}`", shown(parameter)));
        }
    }
    Ok(Some(parameters.to_owned()))
}

/// Reads a line with its line feed. One that is too long comes without its end.
fn line(source: &mut impl BufRead) -> Result<Vec<u8>, Error> {
    let mut line = Vec::new();
    source.take(MAX_LINE + 1).read_until(b'\n', &mut line)?;
    Ok(line)
}

/// Parses the width or height. Its range is checked later.
fn side(name: &str, digits: Option<&[u8]>) -> Result<u32, Error> {
    let Some(digits) = digits else {
        return Err(Error::Header(format!("its Y4M header has no {name}")));
    };
    let text = std::str::from_utf8(digits).ok().filter(|text| text.bytes().all(|byte| byte.is_ascii_digit()));
    text.and_then(|text| text.parse().ok())
        .ok_or_else(|| Error::Header(format!("the {name} `{}` is not from 1 to {}", shown(digits), MAX_SIDE)))
}

/// Returns the planes of a colour space, and the bits of a sample.
fn colour_space(name: &str) -> Option<(ChromaFormat, u32)> {
    let deep = |bits: &str| match bits {
        "9" => Some(9),
        "10" => Some(10),
        "12" => Some(12),
        "14" => Some(14),
        "16" => Some(16),
        _ => None,
    };
    Some(match name {
        "mono" => (ChromaFormat::None, 8),
        "420" | "420jpeg" | "420mpeg2" | "420paldv" => (ChromaFormat::Subsampled(2, 2), 8),
        "411" => (ChromaFormat::Subsampled(4, 1), 8),
        "422" => (ChromaFormat::Subsampled(2, 1), 8),
        "444" => (ChromaFormat::Subsampled(1, 1), 8),
        "444alpha" => (ChromaFormat::FullWithAlpha, 8),
        _ => {
            let of = |prefix, chroma| Some((chroma, deep(name.strip_prefix(prefix)?)?));
            of("mono", ChromaFormat::None)
                .or_else(|| of("420p", ChromaFormat::Subsampled(2, 2)))
                .or_else(|| of("422p", ChromaFormat::Subsampled(2, 1)))
                .or_else(|| of("444p", ChromaFormat::Subsampled(1, 1)))?
        }
    })
}

/// Formats the beginning of some bytes for a message of one line.
fn shown(bytes: &[u8]) -> String {
    bytes[..bytes.len().min(24)].escape_ascii().to_string()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn parse(text: &str) -> Result<Layout, String> {
        header(&mut text.as_bytes()).map(|header| header.layout).map_err(|error| error.to_string())
    }

    #[test]
    fn planes_of_odd_sizes_are_rounded_up() {
        for (name, bits, rest) in [
            ("mono", 8, 0),
            ("mono16", 16, 0),
            ("420jpeg", 8, 2 * 3 * 2),
            ("420p9", 9, 2 * 2 * 3 * 2),
            ("411", 8, 2 * 2 * 3),
            ("422p10", 10, 2 * 2 * 3 * 3),
            ("444", 8, 2 * 5 * 3),
            ("444alpha", 8, 3 * 5 * 3),
        ] {
            let layout = parse(&format!("YUV4MPEG2 W5 H3 F25:1 Ip A1:1 C{name} Xa=b\n")).unwrap();
            assert_eq!(
                (layout.width, layout.height, layout.bits, layout.rest()),
                (5, 3, bits, rest),
                "{name}"
            );
        }
        assert_eq!(parse("YUV4MPEG2 W5 H3\n"), parse("YUV4MPEG2 C420 H3  W5\n"));
        assert_eq!(parse("YUV4MPEG2 W5 H3 XYSCSS=422P10\n"), parse("YUV4MPEG2 W5 H3 C422p10\n"));
        assert_eq!(parse("YUV4MPEG2 W5 H3 XYSCSS=GRAY\n"), parse("YUV4MPEG2 W5 H3 Cmono\n"));
        assert_eq!(parse("YUV4MPEG2 W5 H3 C422 XYSCSS=420JPEG\n"), parse("YUV4MPEG2 W5 H3 C422\n"));
    }

    #[test]
    fn faults_of_headers_are_named() {
        let long = format!("YUV4MPEG2 W5 H3 X{}\n", "x".repeat(5000));
        for (text, word) in [
            ("", "not a Y4M video"),
            ("YUV4MPEG W5 H3\n", "not a Y4M video"),
            ("YUV4MPEG22 W5 H3\n", "not a Y4M video"),
            ("YUV4MPEG2 W5 H3", "cut off"),
            ("YUV4MPEG2", "cut off"),
            (&long, "longer than 4096"),
            ("YUV4MPEG2 W5\n", "no height"),
            ("YUV4MPEG2 H5\n", "no width"),
            ("YUV4MPEG2 W H5\n", "the width `` is not"),
            ("YUV4MPEG2 W+5 H5\n", "the width `+5` is not"),
            ("YUV4MPEG2 W5 H-1\n", "the height `-1` is not"),
            ("YUV4MPEG2 W99999999999 H5\n", "the width `99999999999` is not"),
            ("YUV4MPEG2 W5 H3 W6\n", "two parameters `W`"),
            ("YUV4MPEG2 W5 H3 Cmono C420\n", "two parameters `C`"),
            ("YUV4MPEG2 W5 H3 Q1\n", "unknown parameter `Q1`"),
            ("YUV4MPEG2 W5 H3 C410\n", "colour space `C410` is not known"),
            ("YUV4MPEG2 W5 H3 C420p11\n", "colour space `C420p11` is not known"),
            ("YUV4MPEG2 W5 H3 Cmono\u{7}\n", "colour space `Cmono\\x07` is not known"),
        ] {
            let error = parse(text).unwrap_err();
            assert!(error.contains(word) && error.lines().count() == 1, "{text}: {error}");
        }
    }
}
