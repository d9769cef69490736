//! Responses from 8-bit samples by large box gradients and box windows, at a cost independent of
//! their sizes.
//!
//! These sizes exceed those of
//! [`BoxGradientSource`](super::box_gradient_source::BoxGradientSource). Window sums need 64 bits,
//! and shared memory cannot hold the rows of gradients. Lanes have twice as many columns. Shared
//! memory holds samples instead, from which leaving gradients are computed again.
//!
//! A column's sums are those of boxes that end with it. They are differences of prefix sums.

use core::array;

use super::integer_gradients::{PAIRS, split};
use super::lane::LANE_COLUMNS;
use super::mirror::{columns, mirrored};
use super::running_products::{cell, pair};
use crate::Simt;
use crate::abi::large::{self, LANE_COLUMNS as LANE, MAX_RADIUS};
use crate::kernels::boxes::{Integer, exclusive_prefix_sums};
use crate::kernels::geometry::Size;
use crate::kernels::response::measure;
use crate::simt::WARP;

/// Columns of a lane, and groups of columns whose samples are loaded together.
const COLUMNS: usize = LANE as usize;
const GROUPS: usize = COLUMNS / LANE_COLUMNS;

/// Shared-memory index of a word of flags for each lane, which saves registers.
///
/// The lowest bits mark columns with gradients outside the image, the next ones columns without a
/// valid response. The last ones mark groups whose responses are written.
const COLUMN_FLAGS: u32 = 2 * WARP * large::rows(2 * MAX_RADIUS);

/// Numbers of a lane's columns in halves of words.
type Halves = [[u32; PAIRS]; GROUPS];

/// Number of lower bits of a sum that are added up apart from the upper ones.
const LOW_BITS: u32 = 20;

/// Words with a lane's samples of a row, two for each group.
type SampleWords = [[u32; 2]; GROUPS];

/// Column sums of a gradient's box.
#[derive(Clone, Copy)]
struct Sums {
    /// Sum over the box, and lower side less upper side.
    whole: Halves,
    sides: Halves,
    /// Middle row of the box.
    middle: Halves,
}

/// Strip of columns of a warp.
struct Strip<S: Simt> {
    s: S,
    image: S::Buffer<u8>,
    size: Size,
    pitch: u32,
    /// Positions of a lane's samples in a row: see [`columns`].
    columns: [(u32, u32); GROUPS],
    /// Radii of the gradient and of the window.
    gradient: u32,
    window: u32,
    /// Column of the pixel at the centre of the warp's first window.
    left: i32,
    /// Whether some pixels lie outside the image or have no valid response: see [`COLUMN_FLAGS`].
    at_edge: bool,
    /// Width of the band along the edges without valid responses.
    frame: u32,
    /// Cells of the ring of samples in shared memory, and the cell of the latest row.
    rows: u32,
    last: u32,
}

impl<S: Simt> Strip<S> {
    /// Loads the words with a row's samples.
    #[inline(always)]
    fn load(&self, row: i32) -> SampleWords {
        let y = mirrored(row, self.size.height);
        let start = self.s.mul_wide(y, self.pitch) as usize;
        self.columns.map(|(column, _)| {
            let at = start + column as usize;
            [self.s.load_four_bytes(self.image, at), self.s.load_four_bytes(self.image, at + 4)]
        })
    }

    /// Stores the samples of the next row in shared memory.
    #[inline(always)]
    fn store_samples(&mut self, words: SampleWords) {
        let samples =
            array::from_fn(|group| self.s.permute(words[group][0], words[group][1], self.columns[group].1));
        let next = self.last + WARP;
        self.last = if next >= self.rows { next - self.rows } else { next };
        self.s.set_shared(self.last + self.s.lane(), cell(samples));
    }

    /// Samples of the row `rows` before the latest.
    #[inline(always)]
    fn samples_before(&self, rows: u32) -> Halves {
        let index = self.last.wrapping_sub(WARP * rows);
        // A wrapped index is larger than any valid one.
        let index = index.min(index.wrapping_add(self.rows));
        let samples = pair(self.s.shared(index + self.s.lane()));
        // Selector digit 4 yields a zero byte.
        samples.map(|samples| [0x4140, 0x4342].map(|selector| self.s.permute(samples, 0, selector)))
    }

    /// Moves the box down by one row, to end `rows` before the latest row.
    #[inline(always)]
    fn slide_box(&self, sums: &mut Sums, rows: u32) {
        let [enters, middle, leaves] =
            [0, self.gradient, 2 * self.gradient + 1].map(|before| self.samples_before(rows + before));
        for group in 0..GROUPS {
            for k in 0..PAIRS {
                let (enters, leaves) = (enters[group][k], leaves[group][k]);
                let whole = &mut sums.whole[group][k];
                *whole = whole.wrapping_add(enters).wrapping_sub(leaves);
                // The new middle row leaves the lower side, and the previous one enters the upper
                // side.
                let between = middle[group][k].wrapping_add(sums.middle[group][k]);
                let sides = &mut sums.sides[group][k];
                *sides = sides.wrapping_add(enters.wrapping_add(leaves)).wrapping_sub(between);
            }
        }
        sums.middle = middle;
    }

    /// Loads and stores the samples of `rows` rows, from `row` on.
    #[inline(always)]
    fn load_rows(&mut self, row: i32, rows: u32) {
        /// Rows loaded together.
        const ROWS_PER_LOAD: usize = 16;
        let mut first = 0;
        while first < rows {
            let words: [SampleWords; ROWS_PER_LOAD] =
                array::from_fn(|i| self.load(row + first as i32 + i as i32));
            for i in 0..ROWS_PER_LOAD {
                if first + (i as u32) < rows {
                    self.store_samples(words[i]);
                }
            }
            first += ROWS_PER_LOAD as u32;
        }
    }

    /// Computes the box sums that end `rows` before the latest row.
    #[inline(always)]
    fn box_sums(&self, rows: u32) -> Sums {
        const NONE: Halves = [[0; PAIRS]; GROUPS];
        let mut sums = Sums { whole: NONE, sides: NONE, middle: NONE };
        let radius = self.gradient as i32;
        for offset in -radius..=radius {
            let samples = self.samples_before(rows + (radius - offset) as u32);
            let sign = offset.signum() as u32;
            for group in 0..GROUPS {
                for k in 0..PAIRS {
                    let sample = samples[group][k];
                    sums.whole[group][k] = sums.whole[group][k].wrapping_add(sample);
                    let sides = &mut sums.sides[group][k];
                    *sides = sides.wrapping_add(sign.wrapping_mul(sample));
                }
            }
            if offset == 0 {
                sums.middle = samples;
            }
        }
        sums
    }

    /// Writes the responses of the rows from `top` to `bottom`, exclusive.
    #[inline(always)]
    fn write_responses(
        mut self,
        top: i32,
        bottom: i32,
        (to, scale, kind, parameter): (S::Buffer<f32>, f32, u32, f32),
    ) {
        let support_radius = self.gradient + self.window;
        // Begins with the highest row of samples that the first response needs.
        self.load_rows(top - support_radius as i32, 2 * support_radius + 1);
        let mut ahead = self.load(top + support_radius as i32 + 1);
        let mut entering = self.box_sums(2 * self.window);
        let mut leaving = entering;
        let mut products = [[0_i64; COLUMNS]; 3];
        let window = self.window as i32;
        for row in top - window..top + window {
            let [gradients] = self.gradients([(&entering, row)]);
            add(&mut products, gradients, [[0; COLUMNS]; 2]);
            self.slide_box(&mut entering, (top + window - 1 - row) as u32);
        }
        let [gradients] = self.gradients([(&entering, top + window)]);
        add(&mut products, gradients, [[0; COLUMNS]; 2]);
        for y in top..bottom {
            // Well before the next load: assemblers count outstanding loads, and would wait for
            // that one, too.
            self.store_samples(ahead);
            let [a, b, c] = self.tensors(products, scale);
            let responses: [f32; COLUMNS] =
                array::from_fn(|i| measure(|square| self.s.sqrt(square), kind, parameter, a[i], b[i], c[i]));
            self.store(to, y as u32, responses);
            ahead = self.load(y + support_radius as i32 + 2);
            self.slide_box(&mut entering, 0);
            let [enters, leaves] = self.gradients([(&entering, y + 1 + window), (&leaving, y - window)]);
            add(&mut products, enters, leaves);
            self.slide_box(&mut leaving, 2 * self.window);
        }
    }

    /// Writes the responses of a row.
    #[inline(always)]
    fn store(&self, to: S::Buffer<f32>, y: u32, mut responses: [f32; COLUMNS]) {
        let (s, Size { width, height }) = (self.s, self.size);
        let flags = s.shared_word(COLUMN_FLAGS + s.lane());
        if y.wrapping_sub(self.frame) >= height.saturating_sub(2 * self.frame) {
            responses = [0.0; COLUMNS];
        } else if self.at_edge {
            for i in 0..COLUMNS {
                if flags >> (COLUMNS + i) & 1 == 1 {
                    responses[i] = 0.0;
                }
            }
        }
        for group in 0..GROUPS {
            if flags >> (2 * COLUMNS + group) & 1 == 0 {
                continue;
            }
            let column = LANE * s.lane() + (group * LANE_COLUMNS) as u32;
            let x = self.left.wrapping_add(column as i32) as u32;
            let at = self.size.index(x, y) as usize;
            let responses: [f32; LANE_COLUMNS] = array::from_fn(|i| responses[group * LANE_COLUMNS + i]);
            if width.is_multiple_of(LANE_COLUMNS as u32) {
                s.store_four_words(to, at, responses);
            } else {
                for i in 0..LANE_COLUMNS {
                    if x + (i as u32) < width {
                        s.store(to, at + i, responses[i]);
                    }
                }
            }
        }
    }

    /// Computes gx and gy of some rows. gy has the opposite sign above and below the image.
    #[inline(always)]
    fn gradients<const ROWS: usize>(&self, rows: [(&Sums, i32); ROWS]) -> [[[i32; COLUMNS]; 2]; ROWS] {
        match self.gradient % LANE {
            0 => self.gradients_of::<ROWS, 0, 1>(rows),
            1 => self.gradients_of::<ROWS, 1, 3>(rows),
            2 => self.gradients_of::<ROWS, 2, 5>(rows),
            3 => self.gradients_of::<ROWS, 3, 7>(rows),
            4 => self.gradients_of::<ROWS, 4, 1>(rows),
            5 => self.gradients_of::<ROWS, 5, 3>(rows),
            6 => self.gradients_of::<ROWS, 6, 5>(rows),
            _ => self.gradients_of::<ROWS, 7, 7>(rows),
        }
    }

    /// Computes gx and gy where the radius is `REST` columns, and the size `REST_OF_SIZE`, more
    /// than whole lanes.
    #[inline(always)]
    fn gradients_of<const ROWS: usize, const REST: usize, const REST_OF_SIZE: usize>(
        &self,
        rows: [(&Sums, i32); ROWS],
    ) -> [[[i32; COLUMNS]; 2]; ROWS] {
        let s = self.s;
        // Prefix sums within the lane.
        let own = rows.map(|(sums, _)| {
            // Sums of samples are not negative.
            let halves =
                |pairs: [u32; PAIRS]| array::from_fn(|i| (pairs[i / 2] >> (16 * (i % 2)) & 0xFFFF) as i32);
            prefix_sums([by_column(sums.whole, halves), by_column(sums.sides, split)])
        });
        let start = exclusive_prefix_sums(s, own.map(|own| own.map(|own| own[COLUMNS - 1])));
        let through: [[[i32; COLUMNS]; 2]; ROWS] = array::from_fn(|row| {
            array::from_fn(|kind| own[row][kind].map(|sum| sum.wrapping_add(start[row][kind])))
        });
        let lanes = (2 * self.gradient + 1) / LANE;
        array::from_fn(|row| {
            // Prefix sums before the first column are 0.
            let before_box = through[row].map(|through| {
                let mut before = shifted::<S, i32, REST_OF_SIZE>(s, through, lanes);
                if s.lane() <= lanes {
                    before[REST_OF_SIZE - 1] = 0;
                }
                before
            });
            let [whole, sides] = through[row];
            let to_centre = shifted::<S, i32, REST>(s, whole, self.gradient / LANE);
            let left_of_first = {
                let lanes = self.gradient / LANE + (REST + 1).div_ceil(COLUMNS) as u32;
                whole[(2 * COLUMNS - REST - 1) % COLUMNS].of_lane_below(s, lanes)
            };
            let gx = array::from_fn(|i| {
                let to_left = if i == 0 { left_of_first } else { to_centre[i - 1] };
                let left = to_left.wrapping_sub(before_box[0][i]);
                whole[i].wrapping_sub(to_centre[i]).wrapping_sub(left)
            });
            let mut gy = array::from_fn(|i| sides[i].wrapping_sub(before_box[1][i]));
            if rows[row].1 as u32 >= self.size.height {
                gy = gy.map(i32::wrapping_neg);
            }
            [gx, gy]
        })
    }

    /// Tensors of the windows, from their column sums of products.
    #[inline(always)]
    fn tensors(&self, mut sums: [[i64; COLUMNS]; 3], scale: f32) -> [[f32; COLUMNS]; 3] {
        let s = self.s;
        if self.at_edge {
            // Beside the image gx has the opposite sign.
            let flags = s.shared_word(COLUMN_FLAGS + s.lane());
            for i in 0..COLUMNS {
                if flags >> i & 1 == 1 {
                    sums[1][i] = sums[1][i].wrapping_neg();
                }
            }
        }
        let own = prefix_sums(sums);
        // Upper and lower bits apart: a conditional 64-bit addition with carry takes more
        // instructions.
        let parts = own.map(|own| {
            let all = own[COLUMNS - 1];
            [(all >> LOW_BITS) as i32, (all & ((1 << LOW_BITS) - 1)) as i32]
        });
        let start = exclusive_prefix_sums(s, parts)
            .map(|[upper, lower]| (i64::from(upper) << LOW_BITS) + i64::from(lower));
        let through = array::from_fn(|kind| own[kind].map(|sum| sum.wrapping_add(start[kind])));
        let size = 2 * self.window + 1;
        match size % LANE {
            1 => tensors_of::<S, 1>(s, through, size / LANE, scale),
            3 => tensors_of::<S, 3>(s, through, size / LANE, scale),
            5 => tensors_of::<S, 5>(s, through, size / LANE, scale),
            _ => tensors_of::<S, 7>(s, through, size / LANE, scale),
        }
    }
}

/// Tensors of windows of `lanes` whole lanes and `REST` columns, from prefix sums.
#[inline(always)]
fn tensors_of<S: Simt, const REST: usize>(
    s: S,
    through: [[i64; COLUMNS]; 3],
    lanes: u32,
    scale: f32,
) -> [[f32; COLUMNS]; 3] {
    array::from_fn(|kind| {
        let before = shifted::<S, i64, REST>(s, through[kind], lanes);
        array::from_fn(|i| through[kind][i].wrapping_sub(before[i]) as f32 * scale)
    })
}

/// Unpacks the numbers of each column.
#[inline(always)]
fn by_column(halves: Halves, each: impl Fn([u32; PAIRS]) -> [i32; LANE_COLUMNS]) -> [i32; COLUMNS] {
    let groups = halves.map(each);
    array::from_fn(|i| groups[i / LANE_COLUMNS][i % LANE_COLUMNS])
}

/// Prefix sums within a lane, inclusive.
#[inline(always)]
fn prefix_sums<T: Integer, const KINDS: usize>(mut own: [[T; COLUMNS]; KINDS]) -> [[T; COLUMNS]; KINDS] {
    for kind in 0..KINDS {
        for i in 1..COLUMNS {
            own[kind][i] = own[kind][i].plus(own[kind][i - 1]);
        }
    }
    own
}

/// Values `lanes` lanes and `REST` columns before each of the lane's columns. They are undefined
/// where there is no such column.
#[inline(always)]
fn shifted<S: Simt, T: Integer, const REST: usize>(s: S, numbers: [T; COLUMNS], lanes: u32) -> [T; COLUMNS] {
    array::from_fn(|i| {
        let lanes = if i < REST { lanes + 1 } else { lanes };
        numbers[(i + COLUMNS - REST) % COLUMNS].of_lane_below(s, lanes)
    })
}

/// Writes the responses of the rows from `first` to `last`, exclusive, to a dense map. Responses
/// that are not valid become 0. `gradient` and `window` are radii.
#[inline(always)]
pub(crate) fn map_boxes31<S: Simt>(
    s: S,
    image: S::Buffer<u8>,
    response: S::Buffer<f32>,
    width: u32,
    height: u32,
    pitch: u32,
    first: u32,
    last: u32,
    rows: u32,
    gradient: u32,
    window: u32,
    scale: f32,
    kind: u32,
    parameter: f32,
    frame: u32,
) {
    const {
        let size = 2 * MAX_RADIUS as i64 + 1;
        assert!(255 * size < 1 << 16, "a column's sum fits in half a word without a sign");
        assert!(255 * (MAX_RADIUS as i64) < 1 << 15, "the sum of a side fits in half a word with a sign");
        let of_column = size * (255 * size * MAX_RADIUS as i64).pow(2);
        assert!(
            ((LANE * WARP) as i64 * of_column) >> LOW_BITS < 1 << 31,
            "upper bits of all columns' sums fit"
        );
        assert!(WARP << LOW_BITS < 1 << 31 && LOW_BITS <= 24, "lower bits of all columns' sums fit");
    }
    let size = Size { width, height };
    let (support_radius, own) = (gradient + window, large::own(gradient + window));
    let strips = width.div_ceil(own).max(1);
    let (strip, row_block) = (s.block() % strips, s.block() / strips);
    let top = first + row_block * rows;
    let bottom = last.min(top + rows);
    // Columns whose windows begin before the warp's first column.
    let overlap = LANE * WARP - own;
    let (left, first) = ((strip * own) as i32 - overlap as i32, LANE * s.lane());
    // Pixel at the centre of the lane's first window. The window ends as many columns after it as
    // its radius.
    let x = left + first as i32;
    let (beyond, wide) = (window.max(frame) as i32, width as i32);
    let mut flags = 0;
    for i in 0..LANE as i32 {
        let is_valid = x + i >= frame as i32 && x + i < wide - frame as i32;
        flags |= u32::from((x + i + window as i32) as u32 >= width) << i;
        flags |= u32::from(!is_valid) << (LANE as i32 + i);
    }
    for group in 0..GROUPS as u32 {
        // A group is written as a whole or not at all.
        let column = LANE_COLUMNS as u32 * group;
        let leaves = first + column >= overlap && x + (column as i32) < wide;
        flags |= u32::from(leaves) << (2 * LANE + group);
    }
    s.set_shared_word(COLUMN_FLAGS + s.lane(), flags);
    let strip = Strip {
        s,
        image,
        size,
        pitch,
        columns: array::from_fn(|group| {
            columns(x + (support_radius as usize + group * LANE_COLUMNS) as i32, width)
        }),
        gradient,
        window,
        left,
        at_edge: left < frame as i32 || left + (LANE * WARP) as i32 + beyond > wide,
        frame,
        rows: WARP * large::rows(support_radius),
        last: 0,
    };
    strip.write_responses(top as i32, bottom as i32, (response, scale, kind, parameter));
}

/// Adds the products of entering gradients, and subtracts those of leaving ones.
#[inline(always)]
fn add(
    [xx, xy, yy]: &mut [[i64; COLUMNS]; 3],
    [gx, gy]: [[i32; COLUMNS]; 2],
    [old_gx, old_gy]: [[i32; COLUMNS]; 2],
) {
    let product = |a: i32, b: i32| i64::from(a) * i64::from(b);
    for i in 0..COLUMNS {
        // e² - l² = (e + l)(e - l).
        xx[i] = xx[i].wrapping_add(product(gx[i].wrapping_add(old_gx[i]), gx[i].wrapping_sub(old_gx[i])));
        yy[i] = yy[i].wrapping_add(product(gy[i].wrapping_add(old_gy[i]), gy[i].wrapping_sub(old_gy[i])));
        let leaves = product(old_gx[i].wrapping_neg(), old_gy[i]);
        xy[i] = xy[i].wrapping_add(product(gx[i], gy[i])).wrapping_add(leaves);
    }
}
