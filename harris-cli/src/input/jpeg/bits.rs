//! Bits of a scan's entropy-coded data.

use super::flaw::Flaw;

/// Reads bits from the entropy-coded data of a scan, without stuffed bytes, up to the next marker.
pub(super) struct Bits<'a> {
    bytes: &'a [u8],
    /// The next byte to load.
    at: usize,
    /// Loaded bits, the next one first. Bits past `count` are zero.
    buffer: u64,
    count: u32,
}

impl<'a> Bits<'a> {
    pub(super) fn new(bytes: &'a [u8], at: usize) -> Self {
        Self { bytes, at, buffer: 0, count: 0 }
    }

    /// Returns the position after the bytes that have been loaded. It is at most that of the next
    /// marker.
    pub(super) fn position(&self) -> usize {
        self.at
    }

    /// Returns the number of loaded bits.
    pub(super) fn loaded(&self) -> u32 {
        self.count
    }

    /// Loads bits: at least 32 in total, unless the data end before.
    #[inline]
    pub(super) fn refill(&mut self) {
        if self.count >= 32 {
            return;
        }
        if let Some(&word) = self.bytes.get(self.at..).and_then(<[u8]>::first_chunk) {
            let word = u32::from_be_bytes(word);
            let inverse = !word;
            let has_ff = inverse.wrapping_sub(0x0101_0101) & !inverse & 0x8080_8080 != 0;
            if !has_ff {
                self.buffer |= u64::from(word) << (32 - self.count);
                self.count += 32;
                self.at += 4;
                return;
            }
        }
        self.refill_bytewise();
    }

    #[cold]
    fn refill_bytewise(&mut self) {
        while self.count <= 56 {
            let Some(&byte) = self.bytes.get(self.at) else { return };
            let mut next = self.at + 1;
            if byte == 0xff {
                // Fill bytes may stand before the byte that tells data from a marker.
                while self.bytes.get(next) == Some(&0xff) {
                    next += 1;
                }
                if self.bytes.get(next) != Some(&0) {
                    return;
                }
                next += 1;
            }
            self.buffer |= u64::from(byte) << (56 - self.count);
            self.count += 8;
            self.at = next;
        }
    }

    /// Returns the next 16 bits without taking them. Bits past the end are zero.
    #[inline]
    pub(super) fn peek16(&self) -> u32 {
        (self.buffer >> 48) as u32
    }

    /// Skips up to 32 bits that are loaded.
    #[inline]
    pub(super) fn take(&mut self, number: u32) -> Result<(), Flaw> {
        if number > self.count {
            return Err(Flaw::End);
        }
        self.buffer <<= number;
        self.count -= number;
        Ok(())
    }

    /// Skips any number of bits.
    #[inline]
    pub(super) fn skip(&mut self, mut number: u32) -> Result<(), Flaw> {
        loop {
            self.refill();
            if number <= 32 {
                return self.take(number);
            }
            self.take(32)?;
            number -= 32;
        }
    }

    /// Reads up to 16 bits.
    pub(super) fn read(&mut self, number: u32) -> Result<u32, Flaw> {
        self.refill();
        let value = self.peek16() >> (16 - number);
        self.take(number)?;
        Ok(value)
    }

    /// Moves past the restart marker of this number, which must come next. Drops the bits before it.
    pub(super) fn restart(&mut self, number: u8) -> Result<(), Flaw> {
        (self.buffer, self.count) = (0, 0);
        loop {
            match self.bytes.get(self.at) {
                None => return Err(Flaw::End),
                Some(0xff) => match self.bytes.get(self.at + 1) {
                    None => return Err(Flaw::End),
                    Some(0xff) => self.at += 1,
                    Some(0) => self.at += 2,
                    Some(&code) if code == 0xd0 + number => {
                        self.at += 2;
                        return Ok(());
                    }
                    Some(0xd9) => return Err(Flaw::End),
                    Some(_) => return Err(Flaw::Damaged("a restart marker is missing")),
                },
                Some(_) => self.at += 1,
            }
        }
    }
}
