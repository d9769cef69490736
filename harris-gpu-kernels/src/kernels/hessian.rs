//! The Fast-Hessian detector: determinants of all layers, peaks in scale space, and their
//! keypoints.

use super::corner_list::CornerList;
use super::integral::Sums;
use super::mask::Mask;
use crate::Simt;
use crate::abi::pyramid::{layer, triple};
use crate::abi::state;

/// Index of the first word of the table entry that contains sample `i`.
///
/// The table has `count` entries of `words` words. Word `first` of an entry is the index of its
/// first sample; it ascends.
#[inline(always)]
fn entry<S: Simt>(s: S, table: S::Buffer<u32>, count: u32, words: usize, first: usize, i: u32) -> usize {
    let mut entry = 0;
    while entry + 1 < count as usize && s.load_constant(table, (entry + 1) * words + first) <= i {
        entry += 1;
    }
    entry * words
}

/// Exact sums under the three filters of width `filter` at a pixel: second derivatives xx, yy and
/// xy.
#[inline(always)]
fn hessian<S: Simt>(sums: Sums<S>, filter: u32, x: u32, y: u32) -> [i32; 3] {
    let (x, y, filter) = (x as i32, y as i32, filter as i32);
    let (lobe, half) = (filter / 3, filter / 2);
    let (middle, flank) = (lobe / 2, lobe - 1);
    // The sum of the rectangle between two rows and two columns.
    let between = |rows: [usize; 2], columns: [u32; 2]| {
        let [above, below] = rows.map(|row| sums.at(row, columns[1]).wrapping_sub(sums.at(row, columns[0])));
        below.wrapping_sub(above)
    };
    let rows = |from: i32, to: i32| [sums.row(y + from), sums.row(y + to)];
    let columns = |from: i32, to: i32| [sums.column(x + from), sums.column(x + to)];
    let minus_three_times = |whole: u32, part: u32| whole.wrapping_sub(part.wrapping_mul(3));
    let band = rows(-flank, flank + 1);
    let xx = minus_three_times(
        between(band, columns(-half, half + 1)),
        between(band, columns(-middle, middle + 1)),
    );
    let band = columns(-flank, flank + 1);
    let yy =
        minus_three_times(between(rows(-half, half + 1), band), between(rows(-middle, middle + 1), band));
    let (before, after) = (columns(-lobe, 0), columns(1, lobe + 1));
    let difference = |rows| between(rows, after).wrapping_sub(between(rows, before));
    let xy = difference(rows(-lobe, 0)).wrapping_sub(difference(rows(1, lobe + 1)));
    [xx as i32, yy as i32, xy as i32]
}

/// Computes the determinant of the Hessian for every sample of all layers; at least the layer's
/// least value.
pub(crate) fn hessian_determinants<S: Simt>(
    s: S,
    sums: S::Buffer<u32>,
    layers: S::Buffer<u32>,
    responses: S::Buffer<f32>,
    width: u32,
    height: u32,
    pitch: u32,
    count: u32,
    samples: u32,
) {
    let i = s.index();
    if i >= samples {
        return;
    }
    let entry = entry(s, layers, count, layer::WORDS, layer::FIRST, i);
    let word = |word: usize| s.load_constant(layers, entry + word);
    let (step, index, columns) = (word(layer::STEP), i - word(layer::FIRST), word(layer::WIDTH));
    let origin = word(layer::ORIGIN);
    let (x, y) = (origin + index % columns * step, origin + index / columns * step);
    let hessian = hessian(Sums::new(s, sums, width, height, pitch), word(layer::FILTER), x, y);
    let unit = f32::from_bits(word(layer::UNIT));
    let [xx, yy, xy] = hessian.map(|sum| sum as f32 * unit);
    let (determinant, least) = (xx * yy - 0.81 * xy * xy, f32::from_bits(word(layer::LEAST)));
    s.store(responses, i as usize, if determinant > least { determinant } else { least });
}

/// A sample of a triple of layers, with access to the determinants around it.
#[derive(Clone, Copy)]
struct Sample<S: Simt> {
    s: S,
    layers: S::Buffer<u32>,
    triples: S::Buffer<u32>,
    responses: S::Buffer<f32>,
    /// Index of the triple's first word.
    entry: usize,
    column: u32,
    row: u32,
}

impl<S: Simt> Sample<S> {
    /// The sample with index `i` among those of all triples.
    #[inline(always)]
    fn new(
        s: S,
        layers: S::Buffer<u32>,
        triples: S::Buffer<u32>,
        responses: S::Buffer<f32>,
        count: u32,
        i: u32,
    ) -> Self {
        let entry = entry(s, triples, count, triple::WORDS, triple::FIRST, i);
        let word = |word: usize| s.load_constant(triples, entry + word);
        let (index, columns, margin) = (i - word(triple::FIRST), word(triple::COLUMNS), word(triple::MARGIN));
        let (column, row) = (index % columns + margin, index / columns + margin);
        Self { s, layers, triples, responses, entry, column, row }
    }

    /// A word of the triple.
    #[inline(always)]
    fn word(self, word: usize) -> u32 {
        self.s.load_constant(self.triples, self.entry + word)
    }

    /// A word of one of the triple's layers: 0 is the bottom, 1 the middle, 2 the top.
    #[inline(always)]
    fn layer(self, which: usize, word: usize) -> u32 {
        let number = self.word(triple::BOTTOM + which) as usize;
        self.s.load_constant(self.layers, number * layer::WORDS + word)
    }

    /// Column and row of the sample in pixels.
    #[inline(always)]
    fn pixel(self) -> (u32, u32) {
        let (step, origin) = (self.word(triple::STEP), self.word(triple::ORIGIN));
        (origin + self.column * step, origin + self.row * step)
    }

    /// The determinants around the sample in one of the three layers.
    #[inline(always)]
    fn plane(self, which: usize) -> Plane<S> {
        let step = self.layer(which, layer::STEP);
        let (stride, pitch) = (self.word(triple::STEP) / step, self.layer(which, layer::WIDTH));
        let before = (self.word(triple::ORIGIN) - self.layer(which, layer::ORIGIN)) / step;
        let (column, row) = (before + self.column * stride, before + self.row * stride);
        let centre = self.layer(which, layer::FIRST) + row * pitch + column;
        Plane { s: self.s, responses: self.responses, centre, across: stride, down: stride * pitch }
    }

    #[inline(always)]
    fn planes(self) -> [Plane<S>; 3] {
        [self.plane(0), self.plane(1), self.plane(2)]
    }
}

/// The determinants of one layer around a sample.
#[derive(Clone, Copy)]
struct Plane<S: Simt> {
    s: S,
    responses: S::Buffer<f32>,
    /// Index of the determinant at the sample.
    centre: u32,
    /// Distance of the indices of neighbouring columns, and of neighbouring rows.
    across: u32,
    down: u32,
}

impl<S: Simt> Plane<S> {
    /// The determinant `dx` samples to the right and `dy` below, each −1, 0 or 1.
    #[inline(always)]
    fn at(self, dx: i32, dy: i32) -> f32 {
        let index = self.centre as i32 + dx * self.across as i32 + dy * self.down as i32;
        self.s.load_constant(self.responses, index as usize)
    }

    /// The greatest of the nine determinants.
    #[inline(always)]
    fn greatest(self) -> f32 {
        let mut greatest = f32::NEG_INFINITY;
        for dy in -1..=1 {
            for dx in -1..=1 {
                greatest = greatest.max(self.at(dx, dy));
            }
        }
        greatest
    }
}

/// Whether the determinant in the middle is greater than the 26 around it.
#[inline(always)]
fn is_peak<S: Simt>(planes: [Plane<S>; 3], value: f32) -> bool {
    let mut greatest = f32::NEG_INFINITY;
    // The nearest neighbours first: most samples are rejected by them.
    for (dx, dy) in [(-1, 0), (1, 0), (0, -1), (0, 1)] {
        greatest = greatest.max(planes[1].at(dx, dy));
    }
    if greatest >= value {
        return false;
    }
    for (dx, dy) in [(-1, -1), (1, -1), (-1, 1), (1, 1)] {
        greatest = greatest.max(planes[1].at(dx, dy));
    }
    value > greatest && value > planes[0].greatest() && value > planes[2].greatest()
}

/// The peak of a quadratic fit to the 27 determinants, in samples across, down and between layers.
///
/// Returns the peak, and whether it lies within half a sample of the centre on each axis.
#[inline(always)]
fn offset<S: Simt>([bottom, middle, top]: [Plane<S>; 3]) -> ([f32; 3], bool) {
    let v = middle.at(0, 0);
    let one = 1.0 / v;
    let (left, right) = (middle.at(-1, 0), middle.at(1, 0));
    let (up, down) = (middle.at(0, -1), middle.at(0, 1));
    let (below, above) = (bottom.at(0, 0), top.at(0, 0));
    let gx = (0.5 * (right - left)) * one;
    let gy = (0.5 * (down - up)) * one;
    let gs = (0.5 * (above - below)) * one;
    let xx = ((right + left) - 2.0 * v) * one;
    let yy = ((down + up) - 2.0 * v) * one;
    let ss = ((above + below) - 2.0 * v) * one;
    let across = |plane: Plane<S>, dy: i32| plane.at(1, dy) - plane.at(-1, dy);
    let along = |plane: Plane<S>| plane.at(0, 1) - plane.at(0, -1);
    let xy = (0.25 * (across(middle, 1) - across(middle, -1))) * one;
    let xs = (0.25 * (across(top, 0) - across(bottom, 0))) * one;
    let ys = (0.25 * (along(top) - along(bottom))) * one;
    let (a, b, c) = (yy * ss - ys * ys, xs * ys - xy * ss, xy * ys - xs * yy);
    let (d, e, f) = (xx * ss - xs * xs, xy * xs - xx * ys, xx * yy - xy * xy);
    let determinant = (xx * a + xy * b) + xs * c;
    let x = -((a * gx + b * gy) + c * gs) / determinant;
    let y = -((b * gx + d * gy) + e * gs) / determinant;
    let layer = -((c * gx + e * gy) + f * gs) / determinant;
    let within = |offset: f32| offset > -0.5 && offset < 0.5;
    ([x, y, layer], within(x) && within(y) && within(layer))
}

/// Appends the keys of scale-space peaks above the threshold to a list, in no particular order.
pub(crate) fn scale_peaks<S: Simt>(
    s: S,
    layers: S::Buffer<u32>,
    triples: S::Buffer<u32>,
    responses: S::Buffer<f32>,
    mask: S::Buffer<u8>,
    state: S::Buffer<u32>,
    keys: S::Buffer<u64>,
    capacity: u32,
    mask_pitch: u32,
    threshold: f32,
    count: u32,
    samples: u32,
) {
    let i = s.index();
    if i >= samples {
        return;
    }
    let sample = Sample::new(s, layers, triples, responses, count, i);
    let value = sample.plane(1).at(0, 0);
    if value <= threshold {
        return;
    }
    let planes = sample.planes();
    if !is_peak(planes, value) {
        return;
    }
    let (x, y) = sample.pixel();
    if !Mask::new(s, mask, mask_pitch).allows(x, y) {
        return;
    }
    if !offset(planes).1 {
        s.atomic_add(state, state::REJECTED_PEAKS, 1);
        return;
    }
    let index = s.atomic_add(state, state::LENGTH, 1);
    if index < capacity {
        s.store(keys, index as usize, u64::from(!value.to_bits()) << 32 | u64::from(i));
    }
}

/// Writes the keypoint of each key: x, y, scale and response.
pub(crate) fn write_blobs<S: Simt>(
    s: S,
    sums: S::Buffer<u32>,
    layers: S::Buffer<u32>,
    triples: S::Buffer<u32>,
    responses: S::Buffer<f32>,
    keys: S::Buffer<u64>,
    keypoints: S::Buffer<f32>,
    state: S::Buffer<u32>,
    width: u32,
    height: u32,
    pitch: u32,
    count: u32,
    most: u32,
) {
    let i = s.index();
    if i >= CornerList::new(s, state, most, most).count {
        return;
    }
    let number = s.load_constant(keys, i as usize) as u32;
    let sample = Sample::new(s, layers, triples, responses, count, number);
    let planes = sample.planes();
    let ([dx, dy, layer], _) = offset(planes);
    let value = planes[1].at(0, 0);
    let filter = |which: usize| sample.layer(which, layer::FILTER);
    let (x, y) = sample.pixel();
    let [xx, yy, _] = hessian(Sums::new(s, sums, width, height, pitch), filter(1), x, y);
    let response = if xx >= -yy { value } else { -value };
    let difference = filter(1) as f32 - filter(0) as f32;
    let (step, origin) = (sample.word(triple::STEP) as f32, sample.word(triple::ORIGIN) as f32);
    let first = 4 * i as usize;
    s.store(keypoints, first, (sample.column as f32 + dx) * step + origin);
    s.store(keypoints, first + 1, (sample.row as f32 + dy) * step + origin);
    s.store(keypoints, first + 2, (1.2 / 9.0) * (filter(1) as f32 + layer * difference));
    s.store(keypoints, first + 3, response);
}

/// Bits of the magnitude of a keypoint's response.
#[inline(always)]
fn strength<S: Simt>(s: S, keypoints: S::Buffer<f32>, i: u32) -> u32 {
    s.load_constant(keypoints, 4 * i as usize + 3).to_bits() & 0x7FFF_FFFF
}

/// The order of keypoints of equal strength: by sign, y, x, then scale. Coordinates are positive,
/// so bits compare as floats do.
#[inline(always)]
fn tie_order<S: Simt>(s: S, keypoints: S::Buffer<f32>, i: u32) -> (u64, u64) {
    let bits = |word: usize| u64::from(s.load_constant(keypoints, 4 * i as usize + word).to_bits());
    ((bits(3) >> 31) << 32 | bits(1), bits(0) << 32 | bits(2))
}

/// Sorts keypoints of equal strength by their tie order, in a list that is already sorted by
/// strength.
pub(crate) fn sort_ties<S: Simt>(
    s: S,
    from: S::Buffer<f32>,
    to: S::Buffer<f32>,
    state: S::Buffer<u32>,
    most: u32,
) {
    let (i, count) = (s.index(), CornerList::new(s, state, most, most).count);
    if i >= count {
        return;
    }
    let (own, own_order) = (strength(s, from, i), tie_order(s, from, i));
    let mut index = i;
    let mut other = i;
    while other > 0 && strength(s, from, other - 1) == own {
        other -= 1;
        // Keypoints that are equal in everything keep their order.
        if tie_order(s, from, other) > own_order {
            index -= 1;
        }
    }
    other = i + 1;
    while other < count && strength(s, from, other) == own {
        if tie_order(s, from, other) < own_order {
            index += 1;
        }
        other += 1;
    }
    for word in 0..4 {
        s.store(to, 4 * index as usize + word, s.load_constant(from, 4 * i as usize + word));
    }
}
