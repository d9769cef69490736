//! PBM, PGM, PPM and PAM of netpbm, plain and raw, with comments wherever netpbm allows them.
//!
//! Samples are scaled to the full range of 8 bits, or of 16 if the largest sample is above 255.
//! Samples above that largest sample count as it. Only the first image of a file is read.

use anyhow::{Result, bail, ensure};

use super::limits::{check_length, check_size, zeros};
use super::raster::{Raster, Samples};

/// The header of an image.
struct Header {
    width: u64,
    height: u64,
    channels: usize,
    /// The sample of full brightness.
    most: u32,
    coding: Coding,
}

/// How samples are stored.
enum Coding {
    /// Digits `0` (white) and `1` (black).
    PlainBits,
    /// Decimal numbers.
    Plain,
    /// Bits, 1 being black, in rows of whole bytes.
    Bits,
    /// Bytes, or pairs of them.
    Raw,
}

/// Reads an image.
///
/// # Errors
/// The file is damaged or truncated, or claims more pixels than it can hold or than are allowed.
pub(super) fn read(bytes: &[u8], max_pixels: u64) -> Result<Raster> {
    let mut text = Text { bytes, at: 2 };
    let header = match bytes.get(1) {
        Some(b'7') => text.pam_header()?,
        Some(&kind) => text.header(kind)?,
        None => bail!("its header is cut"),
    };
    let Header { width, height, channels, most, coding } = header;
    check_size(width, height, max_pixels)?;
    ensure!((1..=0xffff).contains(&most), "its largest sample must be from 1 to 65535, not {most}");
    let samples = (width * height).saturating_mul(channels as u64);
    let wide = most > 0xff;
    let needed = match coding {
        Coding::PlainBits => samples,
        Coding::Plain => 2 * samples - 1,
        Coding::Bits => width.div_ceil(8) * height,
        Coding::Raw => samples * if wide { 2 } else { 1 },
    };
    let raster = &bytes[text.at..];
    check_length((width, height), needed, raster.len() as u64, 1)?;
    let (width, height) = (usize::try_from(width)?, usize::try_from(height)?);
    let number = usize::try_from(samples)?;
    let scaled = Scale { most };
    let samples = match coding {
        Coding::PlainBits => {
            let mut samples = zeros(number)?;
            for sample in &mut samples {
                *sample = if text.bit()? { 0_u8 } else { 255 };
            }
            Samples::U8(samples)
        }
        Coding::Bits => {
            let mut samples = zeros(number)?;
            for (line, packed) in samples.chunks_exact_mut(width).zip(raster.chunks(width.div_ceil(8))) {
                for (x, sample) in line.iter_mut().enumerate() {
                    *sample = if packed[x / 8] >> (7 - x % 8) & 1 == 1 { 0 } else { 255 };
                }
            }
            Samples::U8(samples)
        }
        Coding::Plain if wide => {
            let mut samples = zeros(number)?;
            for sample in &mut samples {
                *sample = scaled.to(0xffff, text.number()?) as u16;
            }
            Samples::U16(samples)
        }
        Coding::Plain => {
            let mut samples = zeros(number)?;
            for sample in &mut samples {
                *sample = scaled.to(0xff, text.number()?) as u8;
            }
            Samples::U8(samples)
        }
        Coding::Raw if wide => {
            let mut samples = zeros(number)?;
            for (sample, bytes) in samples.iter_mut().zip(raster.as_chunks::<2>().0) {
                *sample = scaled.to(0xffff, u16::from_be_bytes(*bytes).into()) as u16;
            }
            Samples::U16(samples)
        }
        Coding::Raw => {
            let mut samples: Vec<u8> = zeros(number)?;
            samples.copy_from_slice(&raster[..number]);
            if most < 0xff {
                for sample in &mut samples {
                    *sample = scaled.to(0xff, (*sample).into()) as u8;
                }
            }
            Samples::U8(samples)
        }
    };
    Ok(Raster { width, height, channels, samples })
}

/// Scales samples from 0 to `most`.
struct Scale {
    most: u32,
}

impl Scale {
    /// Scales a sample to the range from 0 to `full`, rounding to the nearest.
    fn to(&self, full: u32, sample: u32) -> u32 {
        if self.most == full {
            return sample.min(full);
        }
        let scaled = u64::from(sample.min(self.most)) * u64::from(full) + u64::from(self.most / 2);
        (scaled / u64::from(self.most)) as u32
    }
}

/// The text of a header or of a plain raster.
struct Text<'a> {
    bytes: &'a [u8],
    at: usize,
}

/// Whether a byte separates numbers.
fn is_space(byte: u8) -> bool {
    matches!(byte, b' ' | b'\t' | b'\n' | b'\r' | 0x0b | 0x0c)
}

impl Text<'_> {
    /// Returns the next byte. A comment counts as the end of its line.
    fn byte(&mut self) -> Option<u8> {
        let byte = *self.bytes.get(self.at)?;
        self.at += 1;
        if byte != b'#' {
            return Some(byte);
        }
        let rest = &self.bytes[self.at..];
        let line = rest.iter().position(|&byte| matches!(byte, b'\n' | b'\r'))?;
        self.at += line + 1;
        Some(rest[line])
    }

    /// Returns the next byte that is no space.
    fn word(&mut self) -> Result<u8> {
        loop {
            match self.byte() {
                Some(byte) if is_space(byte) => {}
                Some(byte) => return Ok(byte),
                None => bail!("it is truncated"),
            }
        }
    }

    /// Reads a decimal number and the byte after it. Without that byte the number may be cut: as in
    /// netpbm, this is an error.
    fn number(&mut self) -> Result<u32> {
        let mut byte = self.word()?;
        let mut number = 0_u32;
        loop {
            ensure!(byte.is_ascii_digit(), "it has {:?} in place of a number", char::from(byte));
            number = number.saturating_mul(10).saturating_add(u32::from(byte - b'0'));
            byte = match self.byte() {
                Some(byte) if is_space(byte) => return Ok(number),
                Some(byte) => byte,
                None => bail!("it is truncated: nothing follows its last number"),
            };
        }
    }

    /// Reads a pixel of a plain PBM.
    fn bit(&mut self) -> Result<bool> {
        match self.word()? {
            b'0' => Ok(false),
            b'1' => Ok(true),
            byte => bail!("it has {:?} in place of 0 or 1", char::from(byte)),
        }
    }

    /// Reads the header of PBM, PGM and PPM after its first two bytes.
    fn header(&mut self, kind: u8) -> Result<Header> {
        let (width, height) = (self.number()?.into(), self.number()?.into());
        let bits = matches!(kind, b'1' | b'4');
        let most = if bits { 1 } else { self.number()? };
        let coding = match kind {
            b'1' => Coding::PlainBits,
            b'2' | b'3' => Coding::Plain,
            b'4' => Coding::Bits,
            _ => Coding::Raw,
        };
        let channels = if matches!(kind, b'3' | b'6') { 3 } else { 1 };
        Ok(Header { width, height, channels, most, coding })
    }

    /// Reads the header of PAM after its first two bytes.
    fn pam_header(&mut self) -> Result<Header> {
        let [mut width, mut height, mut depth, mut most] = [None; 4];
        loop {
            let rest = &self.bytes[self.at..];
            let Some(length) = rest.iter().position(|&byte| byte == b'\n') else { bail!("it is truncated") };
            self.at += length + 1;
            let line = String::from_utf8_lossy(&rest[..length]);
            let (key, value) = line.trim().split_once(char::is_whitespace).unwrap_or((line.trim(), ""));
            let field = match key {
                "ENDHDR" => break,
                "WIDTH" => &mut width,
                "HEIGHT" => &mut height,
                "DEPTH" => &mut depth,
                "MAXVAL" => &mut most,
                "TUPLTYPE" | "" => continue,
                key if key.starts_with('#') => continue,
                key => bail!("its header has an unknown line {key:?}"),
            };
            let Ok(number) = value.trim().parse::<u32>() else {
                bail!("its header has {value:?} in place of a number");
            };
            *field = Some(number);
        }
        let (Some(width), Some(height), Some(depth), Some(most)) = (width, height, depth, most) else {
            bail!("its header lacks WIDTH, HEIGHT, DEPTH or MAXVAL");
        };
        ensure!((1..=4).contains(&depth), "images of {depth} channels are not supported");
        let (width, height) = (width.into(), height.into());
        Ok(Header { width, height, channels: depth as usize, most, coding: Coding::Raw })
    }
}
