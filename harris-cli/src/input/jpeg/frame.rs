//! The frame of a JPEG: its size, its components, and what is known of their coefficients.

use super::flaw::Flaw;

/// A coefficient of which nothing is known yet.
const UNKNOWN: u8 = u8::MAX;

/// A component, such as luma.
pub(super) struct Component {
    pub(super) id: u8,
    /// Blocks of an MCU, by columns and rows.
    pub(super) per_mcu: [usize; 2],
    /// Blocks that hold pixels, by columns and rows.
    pub(super) blocks: [usize; 2],
    /// Blocks in a row, those that fill the last MCU included.
    pub(super) row: usize,
    /// For each coefficient the lowest bit that is known, or [`UNKNOWN`].
    lowest_bit: [u8; 64],
    /// For each block of a progressive frame a bit for each coefficient that is not 0.
    pub(super) nonzero: Vec<u64>,
}

impl Component {
    /// Whether all coefficients are known in full precision.
    pub(super) fn complete(&self) -> bool {
        self.lowest_bit == [0; 64]
    }

    /// Notes that a scan gives coefficients `first..=last` to the bit `low`, refined from the bit
    /// `high` if that is not 0.
    pub(super) fn refine(&mut self, first: usize, last: usize, high: u8, low: u8) -> Result<(), Flaw> {
        let before = if high == 0 { UNKNOWN } else { high };
        let known = &mut self.lowest_bit[first..=last];
        if known.iter().any(|&bit| bit != before) {
            return Err(Flaw::Damaged("its scans do not follow each other"));
        }
        known.fill(low);
        Ok(())
    }
}

/// A frame: the picture that the scans together give.
pub(crate) struct Frame {
    /// Pixels in a row.
    pub(crate) width: u16,
    /// Rows.
    pub(crate) height: u16,
    pub(super) progressive: bool,
    pub(super) components: Vec<Component>,
    /// MCUs of interleaved scans, by columns and rows.
    pub(super) mcus: [usize; 2],
}

impl Frame {
    /// Reads a frame header.
    pub(super) fn read(code: u8, header: &[u8]) -> Result<Self, Flaw> {
        match code {
            0xc0..=0xc2 => {}
            0xc3 => return Err(Flaw::Unsupported("lossless JPEG")),
            0xc5..=0xc7 => return Err(Flaw::Unsupported("hierarchical JPEG")),
            _ => return Err(Flaw::Unsupported("arithmetic-coded JPEG")),
        }
        let &[precision, h1, h0, w1, w0, count, ref rest @ ..] = header else {
            return Err(Flaw::Damaged("its frame header is cut"));
        };
        if precision != 8 {
            return Err(Flaw::Unsupported("JPEG of other than 8 bits a sample"));
        }
        let (width, height) = (u16::from_be_bytes([w1, w0]), u16::from_be_bytes([h1, h0]));
        if width == 0 || height == 0 {
            return Err(Flaw::Damaged("it has no pixels"));
        }
        let (specs, rest) = rest.as_chunks::<3>();
        if !matches!(count, 1 | 3 | 4) {
            return Err(Flaw::Unsupported("JPEG of other than 1, 3 or 4 components"));
        }
        if specs.len() != usize::from(count) || !rest.is_empty() {
            return Err(Flaw::Damaged("its frame header has a wrong length"));
        }
        let sampling = |spec: &[u8; 3]| [usize::from(spec[1] >> 4), usize::from(spec[1] & 15)];
        if specs.iter().flat_map(sampling).any(|factor| !(1..=4).contains(&factor)) {
            return Err(Flaw::Damaged("its sampling factors are not from 1 to 4"));
        }
        let most = |axis: usize| specs.iter().map(|spec| sampling(spec)[axis]).max().unwrap_or(1);
        let (most, size) = ([most(0), most(1)], [usize::from(width), usize::from(height)]);
        let mcus = [0, 1].map(|axis| size[axis].div_ceil(8 * most[axis]));
        let components = specs
            .iter()
            .map(|spec| {
                // The only component of a scan has one block an MCU.
                let factors = sampling(spec);
                Component {
                    id: spec[0],
                    per_mcu: factors,
                    blocks: [0, 1].map(|axis| (size[axis] * factors[axis]).div_ceil(8 * most[axis])),
                    row: mcus[0] * factors[0],
                    lowest_bit: [UNKNOWN; 64],
                    nonzero: Vec::new(),
                }
            })
            .collect();
        Ok(Self { width, height, progressive: code == 0xc2, components, mcus })
    }

    /// Returns the number of blocks, those that fill the last MCUs included.
    pub(crate) fn blocks(&self) -> u64 {
        self.components.iter().map(|c| (c.row * self.mcus[1] * c.per_mcu[1]) as u64).sum()
    }

    /// Returns the number of components: 1, 3 or 4.
    pub(crate) fn channels(&self) -> usize {
        self.components.len()
    }

    /// Whether the frame is progressive.
    pub(crate) fn is_progressive(&self) -> bool {
        self.progressive
    }

    /// Takes the memory for a progressive frame's coefficients, 8 bytes a block.
    pub(super) fn reserve(&mut self) -> Result<(), Flaw> {
        if self.progressive {
            for component in &mut self.components {
                let blocks = component.row * self.mcus[1] * component.per_mcu[1];
                component.nonzero.try_reserve_exact(blocks).map_err(|_| Flaw::Memory)?;
                component.nonzero.resize(blocks, 0);
            }
        }
        Ok(())
    }

    /// Whether zune-jpeg 0.5 reads frames of this kind. It reads sequential frames of several scans,
    /// and those whose first component is not the finest, wrong; and knows no factors of 3.
    pub(super) fn is_usual(&self, scans: u32) -> bool {
        let first = self.components.first().map_or([1, 1], |component| component.per_mcu);
        let fits = |c: &Component| [0, 1].iter().all(|&axis| c.per_mcu[axis] <= first[axis]);
        let third = self.components.iter().any(|component| component.per_mcu.contains(&3));
        (self.progressive || scans == 1) && self.components.iter().all(fits) && !third
    }

    /// Whether all scans have come.
    pub(super) fn complete(&self) -> bool {
        self.components.iter().all(Component::complete)
    }
}
