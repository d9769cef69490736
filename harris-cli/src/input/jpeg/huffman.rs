//! Huffman codes of a JPEG.

use super::bits::Bits;
use super::flaw::Flaw;

/// Bits of the table that is looked at first.
const FAST: u32 = 9;

/// A Huffman code, of at most 16 bits a symbol.
pub(super) struct Huffman {
    /// For each beginning of [`FAST`] bits the code's length and its symbol, or 0 for longer codes.
    fast: Box<[u16; 1 << FAST]>,
    symbols: Vec<u8>,
    /// For each length the first code that is longer, in 16 bits.
    ends: [u32; 17],
    /// For each length what to add to a code to have its symbol's index.
    offsets: [i32; 17],
}

impl Huffman {
    /// Makes a code from the number of codes of each length and the symbols.
    pub(super) fn new(counts: &[u8; 16], symbols: &[u8]) -> Result<Self, Flaw> {
        let mut fast = Box::new([0; 1 << FAST]);
        let (mut ends, mut offsets) = ([0; 17], [0; 17]);
        let (mut code, mut index) = (0_u32, 0_usize);
        for length in 1..=16_u32 {
            offsets[length as usize] = index as i32 - code as i32;
            for _ in 0..counts[length as usize - 1] {
                let symbol = *symbols.get(index).ok_or(Flaw::Damaged("a Huffman table is cut"))?;
                if code >> length != 0 {
                    return Err(Flaw::Damaged("a Huffman table has too many codes"));
                }
                if length <= FAST {
                    let first = (code << (FAST - length)) as usize;
                    fast[first..first + (1 << (FAST - length))]
                        .fill((length as u16) << 8 | u16::from(symbol));
                }
                (code, index) = (code + 1, index + 1);
            }
            ends[length as usize] = code << (16 - length);
            code <<= 1;
        }
        Ok(Self { fast, symbols: symbols.to_vec(), ends, offsets })
    }

    /// Returns the length of the next code and its symbol, without taking it.
    #[inline]
    fn look(&self, bits: &Bits<'_>) -> Result<(u32, u8), Flaw> {
        let next = bits.peek16();
        let entry = self.fast[(next >> (16 - FAST)) as usize];
        if entry != 0 {
            return Ok((u32::from(entry >> 8), entry as u8));
        }
        // A code that is cut at the data's end is no unknown code.
        self.look_long(next).map_err(|flaw| if bits.loaded() < 16 { Flaw::End } else { flaw })
    }

    #[cold]
    fn look_long(&self, next: u32) -> Result<(u32, u8), Flaw> {
        for length in FAST + 1..=16 {
            if next < self.ends[length as usize] {
                let index = (next >> (16 - length)) as i32 + self.offsets[length as usize];
                let symbol = usize::try_from(index).ok().and_then(|index| self.symbols.get(index));
                return symbol.map(|&symbol| (length, symbol)).ok_or(Flaw::Damaged("a code is unknown"));
            }
        }
        Err(Flaw::Damaged("a code is unknown"))
    }

    /// Reads a symbol.
    #[inline]
    pub(super) fn symbol(&self, bits: &mut Bits<'_>) -> Result<u8, Flaw> {
        bits.refill();
        let (length, symbol) = self.look(bits)?;
        bits.take(length)?;
        Ok(symbol)
    }

    /// Reads a symbol and skips as many bits as its low four bits say.
    #[inline]
    pub(super) fn symbol_and_value(&self, bits: &mut Bits<'_>) -> Result<u8, Flaw> {
        bits.refill();
        let (length, symbol) = self.look(bits)?;
        bits.take(length + u32::from(symbol & 15))?;
        Ok(symbol)
    }
}
