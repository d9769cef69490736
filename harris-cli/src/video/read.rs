//! Reading samples: memory grows with the data that arrive.

use std::io::{self, BufRead, Read};

use super::error::Error;

/// Bytes for which memory is taken before any data have arrived.
const FIRST: usize = 1 << 20;

/// Whether there is at least one more byte.
pub(super) fn has_more(source: &mut impl BufRead) -> io::Result<bool> {
    loop {
        match source.fill_buf() {
            Err(error) if error.kind() == io::ErrorKind::Interrupted => {}
            result => return result.map(|bytes| !bytes.is_empty()),
        }
    }
}

/// Fills a list with the next `length` bytes. Its old content and memory are used again.
///
/// Memory at most doubles at a time, so that it is never more than twice the data, or [`FIRST`].
pub(super) fn fill(source: &mut impl Read, list: &mut Vec<u8>, length: u64, frame: u64) -> Result<(), Error> {
    let out_of_memory = || Error::OutOfMemory { frame, bytes: length };
    let length = usize::try_from(length).map_err(|_| out_of_memory())?;
    list.truncate(length);
    let mut done = 0;
    while done < length {
        if list.len() == done {
            let more = (length - done).min(done.max(FIRST));
            list.try_reserve_exact(more).map_err(|_| out_of_memory())?;
            list.resize(done + more, 0);
        }
        source.read_exact(&mut list[done..]).map_err(|error| cut(error, frame))?;
        done = list.len();
    }
    Ok(())
}

/// Passes over the next bytes, without a copy.
pub(super) fn skip(source: &mut impl BufRead, mut length: u64, frame: u64) -> Result<(), Error> {
    while length > 0 {
        if !has_more(source)? {
            return Err(Error::Cut { frame });
        }
        // What has been read is in the buffer.
        let there = source.fill_buf()?.len();
        let passed = usize::try_from(length).map_or(there, |length| length.min(there));
        source.consume(passed);
        length -= passed as u64;
    }
    Ok(())
}

/// Makes 16-bit samples of two bytes each, the low one first. The full range is used: those of
/// fewer bits are shifted to the left.
pub(super) fn samples(bytes: &[u8], bits: u32, samples: &mut Vec<u16>, frame: u64) -> Result<(), Error> {
    samples.clear();
    let no_memory = |_| Error::OutOfMemory { frame, bytes: bytes.len() as u64 };
    samples.try_reserve_exact(bytes.len() / 2).map_err(no_memory)?;
    let mut used = 0;
    samples.extend(bytes.chunks_exact(2).map(|pair| {
        let sample = u16::from_le_bytes([pair[0], pair[1]]);
        used |= sample;
        sample << (16 - bits)
    }));
    if u32::from(used) >> bits == 0 { Ok(()) } else { Err(Error::Samples { frame, bits }) }
}

fn cut(error: io::Error, frame: u64) -> Error {
    match error.kind() {
        io::ErrorKind::UnexpectedEof => Error::Cut { frame },
        _ => Error::Read(error),
    }
}
