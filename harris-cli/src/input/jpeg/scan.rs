//! Walks through all blocks of a scan, without reconstructing them.

use std::mem;

use super::bits::Bits;
use super::flaw::Flaw;
use super::frame::Frame;
use super::huffman::Huffman;

/// Huffman tables by their number, for DC and for AC coefficients.
#[derive(Default)]
pub(super) struct Tables {
    pub(super) dc: [Option<Huffman>; 4],
    pub(super) ac: [Option<Huffman>; 4],
}

/// The header of a scan.
pub(super) struct Scan {
    /// Indices of components, with the numbers of their DC and AC tables.
    components: Vec<(usize, usize, usize)>,
    /// First and last coefficient in zigzag order.
    band: [usize; 2],
    /// Bit that is refined (0 in a coefficient's first scan), and lowest bit that the scan gives.
    high: u8,
    low: u8,
}

impl Scan {
    /// Reads a scan header.
    pub(super) fn read(header: &[u8], frame: &Frame) -> Result<Self, Flaw> {
        let flaw = Flaw::Damaged("a scan header has a wrong length");
        let (&count, rest) = header.split_first().ok_or(flaw)?;
        let (specs, &[first, last, bits]) = rest.split_at_checked(2 * usize::from(count)).ok_or(flaw)? else {
            return Err(flaw);
        };
        if !(1..=4).contains(&count) {
            return Err(flaw);
        }
        let mut components: Vec<(usize, usize, usize)> = Vec::with_capacity(4);
        for [id, tables] in specs.as_chunks::<2>().0 {
            let index = frame.components.iter().position(|component| component.id == *id);
            let index = index.ok_or(Flaw::Damaged("a scan has an unknown component"))?;
            if components.iter().any(|&(other, ..)| other == index) {
                return Err(Flaw::Damaged("a scan has a component twice"));
            }
            components.push((index, usize::from(tables >> 4 & 3), usize::from(tables & 3)));
        }
        if !frame.progressive {
            return Ok(Self { components, band: [0, 63], high: 0, low: 0 });
        }
        let (high, low) = (bits >> 4, bits & 15);
        let band_fits = if first == 0 { last == 0 } else { first <= last && last < 64 && count == 1 };
        if !band_fits || low > 13 || (high != 0 && high != low + 1) {
            return Err(Flaw::Damaged("a scan header is wrong"));
        }
        Ok(Self { components, band: [first.into(), last.into()], high, low })
    }

    /// Walks through the scan's data, which start at `start`. Returns the position of their end.
    pub(super) fn walk(
        &self,
        frame: &mut Frame,
        tables: &Tables,
        bytes: &[u8],
        start: usize,
        interval: usize,
    ) -> Result<usize, Flaw> {
        for &(index, ..) in &self.components {
            frame.components[index].refine(self.band[0], self.band[1], self.high, self.low)?;
        }
        let mut blocks = Blocks { bits: Bits::new(bytes, start), end_of_band_run: 0, scan: self };
        // A scan of one component has no MCUs of several blocks, and none that only fill an MCU.
        let alone = self.components.len() == 1;
        let [columns, rows] = if alone { frame.components[self.components[0].0].blocks } else { frame.mcus };
        let mut coders = Vec::with_capacity(4);
        for &(index, dc, ac) in &self.components {
            let component = &mut frame.components[index];
            let [across, down] = if alone { [1, 1] } else { component.per_mcu };
            let coder = Coder::new(self, frame.progressive, tables.dc[dc].as_ref(), tables.ac[ac].as_ref())?;
            coders.push((coder, across, down, component.row, mem::take(&mut component.nonzero)));
        }
        let mut count = 0_usize;
        for y in 0..rows {
            for x in 0..columns {
                if interval > 0 && count > 0 && count.is_multiple_of(interval) {
                    blocks.bits.restart(((count / interval - 1) % 8) as u8)?;
                    blocks.end_of_band_run = 0;
                }
                count += 1;
                for (coder, across, down, row, nonzero) in &mut coders {
                    for j in 0..*down {
                        for i in 0..*across {
                            let at = (y * *down + j) * *row + x * *across + i;
                            blocks.read(coder, nonzero.get_mut(at))?;
                        }
                    }
                }
            }
        }
        for (&(index, ..), (.., nonzero)) in self.components.iter().zip(coders) {
            frame.components[index].nonzero = nonzero;
        }
        Ok(blocks.bits.position())
    }
}

/// How blocks are coded in a scan, with the tables that it needs.
enum Coder<'a> {
    Sequential(&'a Huffman, &'a Huffman),
    FirstDc(&'a Huffman),
    RefineDc,
    FirstAc(&'a Huffman),
    RefineAc(&'a Huffman),
}

impl<'a> Coder<'a> {
    fn new(
        scan: &Scan,
        progressive: bool,
        dc: Option<&'a Huffman>,
        ac: Option<&'a Huffman>,
    ) -> Result<Self, Flaw> {
        let missing = Flaw::Damaged("a Huffman table is missing");
        let (dc, ac) = (dc.ok_or(missing), ac.ok_or(missing));
        Ok(match (progressive, scan.band[0] == 0, scan.high == 0) {
            (false, ..) => Self::Sequential(dc?, ac?),
            (true, true, true) => Self::FirstDc(dc?),
            (true, true, false) => Self::RefineDc,
            (true, false, true) => Self::FirstAc(ac?),
            (true, false, false) => Self::RefineAc(ac?),
        })
    }
}

/// The state while blocks are read.
struct Blocks<'a> {
    bits: Bits<'a>,
    /// Blocks, from the next on, that have no new coefficients.
    end_of_band_run: u32,
    scan: &'a Scan,
}

/// More coefficients than a block has.
const OVERRUN: Flaw = Flaw::Damaged("a block has too many coefficients");

impl Blocks<'_> {
    /// Reads a block. `nonzero` has a bit for each coefficient that is not 0, in progressive frames.
    #[inline]
    fn read(&mut self, coder: &Coder<'_>, nonzero: Option<&mut u64>) -> Result<(), Flaw> {
        match coder {
            Coder::Sequential(dc, ac) => self.sequential(dc, ac),
            Coder::FirstDc(dc) => self.dc(dc),
            Coder::RefineDc => self.bits.skip(1),
            Coder::FirstAc(ac) => self.first_ac(ac, nonzero.ok_or(OVERRUN)?),
            Coder::RefineAc(ac) => self.refine_ac(ac, nonzero.ok_or(OVERRUN)?),
        }
    }

    #[inline]
    fn dc(&mut self, table: &Huffman) -> Result<(), Flaw> {
        match table.symbol_and_value(&mut self.bits)? {
            0..16 => Ok(()),
            _ => Err(Flaw::Damaged("a coefficient is too large")),
        }
    }

    #[inline]
    fn sequential(&mut self, dc: &Huffman, ac: &Huffman) -> Result<(), Flaw> {
        self.dc(dc)?;
        let mut next = 1;
        while next < 64 {
            let symbol = ac.symbol_and_value(&mut self.bits)?;
            let run = usize::from(symbol >> 4);
            if symbol & 15 == 0 && run < 15 {
                return Ok(());
            }
            next += run + 1;
        }
        if next > 64 { Err(OVERRUN) } else { Ok(()) }
    }

    fn first_ac(&mut self, table: &Huffman, nonzero: &mut u64) -> Result<(), Flaw> {
        if self.end_of_band_run > 0 {
            self.end_of_band_run -= 1;
            return Ok(());
        }
        let [mut next, last] = self.scan.band;
        while next <= last {
            let symbol = table.symbol(&mut self.bits)?;
            let (run, size) = (symbol >> 4, symbol & 15);
            if size == 0 && run < 15 {
                self.end_of_band_run = (1 << run) - 1 + self.bits.read(run.into())?;
                return Ok(());
            }
            next += usize::from(run);
            if size > 0 {
                if next > last {
                    return Err(OVERRUN);
                }
                self.bits.skip(size.into())?;
                *nonzero |= 1 << next;
            }
            next += 1;
        }
        Ok(())
    }

    fn refine_ac(&mut self, table: &Huffman, nonzero: &mut u64) -> Result<(), Flaw> {
        let [mut next, last] = self.scan.band;
        while next <= last && self.end_of_band_run == 0 {
            let symbol = table.symbol(&mut self.bits)?;
            let (run, size) = (symbol >> 4, symbol & 15);
            if size == 0 && run < 15 {
                self.end_of_band_run = (1 << run) + self.bits.read(run.into())?;
                break;
            }
            // The sign of a new coefficient.
            if size > 0 {
                self.bits.skip(1)?;
            }
            // A correction bit for each coefficient that is not 0; `run` others are passed over.
            let (mut zeros, mut corrections) = (run, 0);
            while next <= last {
                if *nonzero >> next & 1 == 1 {
                    corrections += 1;
                } else if zeros == 0 {
                    break;
                } else {
                    zeros -= 1;
                }
                next += 1;
            }
            self.bits.skip(corrections)?;
            if size > 0 {
                if next > last {
                    return Err(OVERRUN);
                }
                *nonzero |= 1 << next;
            }
            next += 1;
        }
        if self.end_of_band_run > 0 {
            if next <= last {
                let band = (u64::MAX >> (63 - last)) & (u64::MAX << next);
                self.bits.skip((*nonzero & band).count_ones())?;
            }
            self.end_of_band_run -= 1;
        }
        Ok(())
    }
}
