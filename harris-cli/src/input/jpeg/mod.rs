//! Decides whether the picture data of a JPEG are complete.
//!
//! Decoders fill what is missing with gray, and markers do not tell: cameras write stray bytes, and
//! broken files may have an end marker. So all Huffman codes are read here, block by block. A
//! sequential picture is complete once each component had a whole scan; a progressive one, once each
//! coefficient of each component is known to its last bit from whole scans. What follows is ignored.

mod bits;
mod flaw;
mod frame;
mod huffman;
mod scan;

use std::borrow::Cow;
use std::ops::Range;

use anyhow::{Result, bail};

use flaw::Flaw;
pub(super) use frame::Frame;
use huffman::Huffman;
use scan::{Scan, Tables};

/// The most scans of a picture. Encoders write about ten; each takes time for all blocks.
const MAX_SCANS: u32 = 500;

/// A JPEG whose picture data are complete.
pub(super) struct Checked<'a> {
    /// The file, or what a decoder should see of it: no stray bytes, nothing after the last scan.
    pub(super) bytes: Cow<'a, [u8]>,
    /// The first Exif data, without the identifier.
    pub(super) exif: Option<&'a [u8]>,
    /// Whether the usual decoder reads pictures of this kind.
    pub(super) usual: bool,
}

/// Checks that the picture data of a JPEG are complete. `accept` sees the frame before memory is
/// taken for it.
///
/// # Errors
/// The file is truncated, damaged or of an unsupported kind, or `accept` refuses it.
pub(super) fn check(bytes: &[u8], accept: impl FnOnce(&Frame) -> Result<()>) -> Result<Checked<'_>> {
    let mut accept = Some(accept);
    let mut reader = Reader { bytes, at: 2, pieces: Vec::new(), clean: true };
    let mut frame: Option<Frame> = None;
    let mut tables = Tables::default();
    let (mut interval, mut scans, mut exif) = (0, 0, None);
    loop {
        let Some((code, payload)) = reader.segment() else { bail!(Flaw::End) };
        match code {
            0xc4 => huffman_tables(payload, &mut tables)?,
            0xc0..=0xcf if code != 0xc8 && code != 0xcc => {
                let Some(accept) = accept.take() else { bail!(Flaw::Damaged("it has two frame headers")) };
                let mut read = Frame::read(code, payload)?;
                accept(&read)?;
                read.reserve()?;
                frame = Some(read);
            }
            0xdd => match payload {
                &[high, low] => interval = u16::from_be_bytes([high, low]).into(),
                _ => bail!(Flaw::Damaged("its restart interval has a wrong length")),
            },
            0xe1 => {
                if let (None, Some(data)) = (exif, payload.strip_prefix(b"Exif\0\0")) {
                    exif = Some(data);
                }
            }
            0xda => {
                let Some(frame) = &mut frame else { bail!(Flaw::Damaged("it has no frame header")) };
                scans += 1;
                if scans > MAX_SCANS {
                    bail!(Flaw::Damaged("it has more than 500 scans"));
                }
                let scan = Scan::read(payload, frame)?;
                let end = scan.walk(frame, &tables, bytes, reader.at, interval)?;
                reader.scan(end);
                if frame.complete() {
                    let usual = frame.is_usual(scans);
                    return Ok(Checked { bytes: reader.finish()?, exif, usual });
                }
            }
            _ => {}
        }
    }
}

/// Reads the Huffman tables of a segment.
fn huffman_tables(mut payload: &[u8], tables: &mut Tables) -> Result<(), Flaw> {
    while let Some((&place, rest)) = payload.split_first() {
        let Some((counts, rest)) = rest.split_first_chunk::<16>() else {
            return Err(Flaw::Damaged("a Huffman table is cut"));
        };
        let number = counts.iter().map(|&count| usize::from(count)).sum();
        let Some((symbols, rest)) = rest.split_at_checked(number) else {
            return Err(Flaw::Damaged("a Huffman table is cut"));
        };
        let class = if place >> 4 == 0 { &mut tables.dc } else { &mut tables.ac };
        class[usize::from(place & 3)] = Some(Huffman::new(counts, symbols)?);
        payload = rest;
    }
    Ok(())
}

/// Reads segments, and notes which bytes belong to them.
struct Reader<'a> {
    bytes: &'a [u8],
    at: usize,
    /// The parts of the file that a decoder needs.
    pieces: Vec<Range<usize>>,
    /// Whether the file has nothing else so far.
    clean: bool,
}

impl<'a> Reader<'a> {
    /// Returns the next segment's code and payload. Passes over stray bytes. `None` at the end of
    /// the file, or of the picture.
    fn segment(&mut self) -> Option<(u8, &'a [u8])> {
        loop {
            let code = self.marker()?;
            match code {
                // Without a payload: a restart marker in the wrong place, start, or reserved.
                0x01 | 0xd0..=0xd8 => self.clean = false,
                0xd9 => return None,
                _ => {
                    let start = self.at - 2;
                    let rest = &self.bytes[self.at..];
                    let length = usize::from(u16::from_be_bytes(*rest.first_chunk()?));
                    let payload = rest.get(2..length)?;
                    self.at += length;
                    self.keep(start..self.at);
                    return Some((code, payload));
                }
            }
        }
    }

    /// Moves past the next marker and returns its code.
    fn marker(&mut self) -> Option<u8> {
        loop {
            let rest = &self.bytes[self.at..];
            let start = rest.iter().position(|&byte| byte == 0xff)?;
            let fill = rest[start..].iter().position(|&byte| byte != 0xff)?;
            self.clean &= start == 0 && fill == 1;
            self.at += start + fill + 1;
            match rest[start + fill] {
                0 => self.clean = false,
                code => return Some(code),
            }
        }
    }

    /// Notes a scan's data, which end at `end`.
    fn scan(&mut self, end: usize) {
        self.keep(self.at..end);
        self.at = end;
    }

    fn keep(&mut self, piece: Range<usize>) {
        match self.pieces.last_mut() {
            Some(last) if last.end == piece.start => last.end = piece.end,
            _ => self.pieces.push(piece),
        }
    }

    /// Returns the whole file if it is clean and ends with an end marker, else its parts between a
    /// start and an end marker.
    fn finish(self) -> Result<Cow<'a, [u8]>, Flaw> {
        if self.clean && self.bytes[self.at..].starts_with(&[0xff, 0xd9]) {
            return Ok(Cow::Borrowed(self.bytes));
        }
        let mut parts = Vec::new();
        parts.try_reserve_exact(self.bytes.len() + 4).map_err(|_| Flaw::Memory)?;
        parts.extend([0xff, 0xd8]);
        for piece in self.pieces {
            parts.extend_from_slice(&self.bytes[piece]);
        }
        parts.extend([0xff, 0xd9]);
        Ok(Cow::Owned(parts))
    }
}
