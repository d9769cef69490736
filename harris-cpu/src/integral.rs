//! Integral images in bands of rows, laid out for sampling at steps.

use std::ops::Range;

use harris_core::integral::gray;
use harris_core::{Error, ImageView, Raster, Sample, Samples, memory};

use crate::bands::Threads;
use crate::buffers::spread_pitch;

/// Sums of gray levels above and to the left of each place, (H + 1) × (W + 1), modulo 2³².
///
/// A row is kept in `step` phases, by the remainder of the column, so that samples `step` pixels
/// apart lie side by side. Sums are i32, whose additions wrap.
#[derive(Debug, Default)]
pub(crate) struct Sums {
    width: usize,
    height: usize,
    step: usize,
    /// Sums of a phase of a row.
    phase_len: usize,
    /// Sums from one row to the next.
    pitch: usize,
    sums: Vec<i32>,
}

impl Sums {
    /// Computes the sums of `image`, whose samples are checked.
    pub(crate) fn fill(
        &mut self,
        image: &ImageView<'_>,
        step: usize,
        threads: &Threads,
    ) -> Result<(), Error> {
        let (width, height) = (image.width(), image.height());
        let phase_len = (width + 1).div_ceil(step);
        let pitch = spread_pitch(phase_len * step);
        *self = Self { width, height, step, phase_len, pitch, sums: std::mem::take(&mut self.sums) };
        memory::resize(&mut self.sums, (height + 1) * pitch, 0)?;
        match image.samples() {
            Samples::U8(raster) => self.fill_from(raster, threads),
            Samples::U16(raster) => self.fill_from(raster, threads),
            Samples::F32(raster) => self.fill_from(raster, threads),
        }
    }

    fn fill_from<T: Sample>(&mut self, raster: Raster<'_, T>, threads: &Threads) -> Result<(), Error> {
        let (width, row, pitch, step) = (self.width, self.phase_len * self.step, self.pitch, self.step);
        let bands: Vec<_> = threads.bands(self.height).iter().collect();
        // The column sums above each band come first, from all bands but the last.
        let columns: Vec<_> =
            threads.map(bands[..bands.len() - 1].to_vec(), |band| column_sums(raster, band))?;
        let mut above = vec![memory::zeroed::<i32>(width)?];
        for sums in columns {
            let mut total = sums?;
            for (sum, above) in total.iter_mut().zip(&above[above.len() - 1]) {
                *sum = sum.wrapping_add(*above);
            }
            above.push(total);
        }
        let (first, mut rest) = self.sums.split_at_mut(pitch);
        first.fill(0);
        let mut work = Vec::with_capacity(bands.len());
        for (band, columns) in bands.into_iter().zip(above) {
            let (rows, below) = rest.split_at_mut(band.len() * pitch);
            work.push((band, columns, rows));
            rest = below;
        }
        let filled = threads.map(work, |(band, columns, rows)| {
            let mut line = memory::zeroed::<i32>(width + 1)?;
            // The row above the band's first.
            let mut above = memory::zeroed::<i32>(row)?;
            prefix(columns.iter().copied(), &mut line);
            split_phases(&line, step, &memory::zeroed(row)?, &mut above);
            let mut above: &[i32] = &above;
            for (y, out) in band.zip(rows.chunks_exact_mut(pitch)) {
                let out = &mut out[..row];
                prefix_levels(raster, y, &mut line);
                split_phases(&line, step, above, out);
                above = out;
            }
            Ok(())
        })?;
        filled.into_iter().collect()
    }

    /// The image's width and height.
    pub(crate) fn size(&self) -> (usize, usize) {
        (self.width, self.height)
    }

    /// All sums row by row, where rows have one phase, and the elements from one row to the next.
    pub(crate) fn in_one_phase(&self) -> (&[i32], usize) {
        assert_eq!(self.step, 1, "sums in one phase");
        (&self.sums, self.pitch)
    }

    /// Row `y` of the sums; the first or last one where it lies beyond.
    pub(crate) fn row(&self, y: isize) -> Row<'_> {
        let start = y.clamp(0, self.height as isize) as usize * self.pitch;
        Row {
            sums: &self.sums[start..start + self.phase_len * self.step],
            width: self.width,
            step: self.step,
            phase_len: self.phase_len,
        }
    }
}

/// A row of sums.
#[derive(Clone, Copy)]
pub(crate) struct Row<'a> {
    sums: &'a [i32],
    width: usize,
    step: usize,
    phase_len: usize,
}

impl<'a> Row<'a> {
    /// Columns between sums that lie side by side.
    pub(crate) fn step(&self) -> usize {
        self.step
    }

    /// The sum at column `x`; the first or last one where that lies beyond.
    pub(crate) fn at(&self, x: isize) -> i32 {
        let x = x.clamp(0, self.width as isize) as usize;
        // A division takes longer than all the rest.
        let (phase, place) = match self.step {
            1 => (0, x),
            2 => (x % 2, x / 2),
            step => (x % step, x / step),
        };
        self.sums[phase * self.phase_len + place]
    }

    /// The sums at column `x`, which lies inside, and at every `step`th column behind it.
    pub(crate) fn every_step(&self, x: usize) -> &'a [i32] {
        let start = x % self.step * self.phase_len;
        &self.sums[start + x / self.step..start + self.phase_len]
    }
}

/// Adds the gray levels of a row to `line`: prefix sums, from 0 on.
fn prefix_levels<T: Sample>(raster: Raster<'_, T>, y: usize, line: &mut [i32]) {
    let row = raster.row(y);
    match raster.channels() {
        1 => prefix(row.iter().map(|sample| sample.level() as i32), line),
        channels => prefix(row.chunks_exact(channels).map(|pixel| gray(pixel) as i32), line),
    }
}

/// Prefix sums of the levels, from 0 on.
fn prefix(levels: impl Iterator<Item = i32>, line: &mut [i32]) {
    let mut sum = 0_i32;
    for (out, level) in line[1..].iter_mut().zip(levels) {
        sum = sum.wrapping_add(level);
        *out = sum;
    }
}

/// The gray levels of some rows, summed column by column.
fn column_sums<T: Sample>(raster: Raster<'_, T>, rows: Range<usize>) -> Result<Vec<i32>, Error> {
    let mut sums = memory::zeroed::<i32>(raster.width())?;
    for y in rows {
        let row = raster.row(y);
        match raster.channels() {
            1 => add(&mut sums, row.iter().map(|sample| sample.level() as i32)),
            channels => add(&mut sums, row.chunks_exact(channels).map(|pixel| gray(pixel) as i32)),
        }
    }
    Ok(sums)
}

fn add(sums: &mut [i32], levels: impl Iterator<Item = i32>) {
    for (sum, level) in sums.iter_mut().zip(levels) {
        *sum = sum.wrapping_add(level);
    }
}

/// Distributes the sums of a row to its phases, and adds those of the row above.
fn split_phases(line: &[i32], step: usize, above: &[i32], out: &mut [i32]) {
    // In loops that the compiler vectorises.
    if step == 1 {
        for ((out, above), sum) in out.iter_mut().zip(above).zip(line) {
            *out = sum.wrapping_add(*above);
        }
        return;
    }
    if step == 2 {
        let (even, odd) = out.split_at_mut(out.len() / 2);
        let (even_above, odd_above) = above.split_at(even.len());
        let pairs = line.chunks_exact(2).zip(even.iter_mut().zip(odd));
        for ((pair, (even, odd)), (a, b)) in pairs.zip(even_above.iter().zip(odd_above)) {
            *even = pair[0].wrapping_add(*a);
            *odd = pair[1].wrapping_add(*b);
        }
        if let [last] = line.chunks_exact(2).remainder() {
            even[line.len() / 2] = last.wrapping_add(even_above[line.len() / 2]);
        }
        return;
    }
    let phase_len = out.len() / step;
    for (p, (out, above)) in out.chunks_exact_mut(phase_len).zip(above.chunks_exact(phase_len)).enumerate() {
        for ((out, above), sum) in out.iter_mut().zip(above).zip(line[p..].iter().step_by(step)) {
            *out = sum.wrapping_add(*above);
        }
    }
}
