//! Directions and descriptors, many sums side by side, each in the order of the definition.
//!
//! Most loops are plain: the compiler vectorises them for each level.

use harris_core::Keypoint;
use harris_core::surf::{
    CIRCLE, DIRECTIONS, Frame, GRID, LENGTH, REGION, REGIONS, SPACING, SurfConfig, Tables,
};

use super::wavelets::Wavelets;
use crate::simd::{Simd, SimdKernel, WithSimd};

/// Some keypoints and their descriptors.
pub(super) struct Describe<'a> {
    pub(super) wavelets: Wavelets<'a>,
    pub(super) config: &'a SurfConfig,
    pub(super) keypoints: &'a [Keypoint],
    pub(super) rows: &'a mut [f32],
}

impl WithSimd for Describe<'_> {
    type Output = ();

    fn with<V: Simd>(self, v: V) {
        v.enter(self);
    }
}

impl SimdKernel for Describe<'_> {
    type Output = ();

    #[inline(always)]
    fn run<V: Simd>(self, v: V) {
        let Self { wavelets, config, keypoints, rows } = self;
        for (row, keypoint) in rows.chunks_exact_mut(LENGTH).zip(keypoints) {
            let frame = Frame::new(keypoint, config.magnification());
            let (x, y) = (nearest(frame.x), nearest(frame.y));
            let direction = if config.upright() {
                [1.0, 0.0]
            } else {
                direction(&sample_circle(&wavelets, x, y, frame.pixels))
            };
            // The farthest sample is 11.5 · √2 scales away.
            let reach = (16.3 * frame.scale) as i32 + frame.pixels + 2;
            let gradients = match wavelets.holds(x, y, reach) {
                true => sample_window::<V, true>(v, &wavelets, &frame, direction),
                false => sample_window::<V, false>(v, &wavelets, &frame, direction),
            };
            describe(&gradients, row);
        }
    }
}

/// ⌊v + 0.5⌋
#[inline(always)]
fn nearest(v: f32) -> i32 {
    let v = v + 0.5;
    let truncated = v as i32;
    truncated - i32::from(truncated as f32 > v)
}

/// Weighted gradients around a keypoint.
#[inline(always)]
fn sample_circle(wavelets: &Wavelets<'_>, x: i32, y: i32, pixels: i32) -> [[f32; 2]; CIRCLE] {
    let mut gradients = [[0.0; 2]; CIRCLE];
    let wavelets = wavelets.circle(x, y, pixels);
    for ((gradient, [across, down]), (_, _, weight)) in
        gradients.iter_mut().zip(wavelets).zip(&Tables::get().circle)
    {
        *gradient = [weight * across as f32, weight * down as f32];
    }
    gradients
}

/// Sectors, a multiple of the lanes of vectors.
const SECTORS: usize = DIRECTIONS.next_multiple_of(16);

/// The direction of the strongest sum over a sector; all sectors are summed at once.
#[inline(always)]
fn direction(gradients: &[[f32; 2]; CIRCLE]) -> [f32; 2] {
    let mut ends = [[0.0_f32; SECTORS]; 4];
    for (i, [from, to]) in Tables::get().sectors.iter().enumerate() {
        [ends[0][i], ends[1][i]] = *from;
        [ends[2][i], ends[3][i]] = *to;
    }
    let (mut xs, mut ys) = ([0.0_f32; SECTORS], [0.0_f32; SECTORS]);
    for [gx, gy] in gradients {
        for i in 0..SECTORS {
            let inside =
                (ends[0][i] * gy - ends[1][i] * gx >= 0.0) & (gx * ends[3][i] - gy * ends[2][i] > 0.0);
            // No sum is ever −0, so that adding 0 changes none.
            xs[i] += if inside { *gx } else { 0.0 };
            ys[i] += if inside { *gy } else { 0.0 };
        }
    }
    let (mut greatest, mut best) = (0.0, [1.0, 0.0]);
    for (x, y) in xs.into_iter().zip(ys).take(DIRECTIONS) {
        let strength = x * x + y * y;
        if strength > greatest {
            (greatest, best) = (strength, [x, y]);
        }
    }
    if greatest > 0.0 {
        let length = greatest.sqrt();
        best = [best[0] / length, best[1] / length];
    }
    best
}

/// The place of column `u` in a row of the window. Columns `SPACING` apart lie side by side, so that
/// vectors sum the subregions of a row.
#[inline(always)]
const fn place_in_row(u: usize) -> usize {
    u % SPACING * GRID.div_ceil(SPACING) + u / SPACING
}

/// The columns of the window in the order of their places.
const COLUMNS: [f32; GRID] = {
    let mut columns = [0.0; GRID];
    let mut u = 0;
    while u < GRID {
        columns[place_in_row(u)] = u as f32;
        u += 1;
    }
    columns
};

/// Gradients of the window along the axes of the keypoint, across in one array, down in the other.
type Window = [[[f32; GRID]; GRID]; 2];

#[inline(always)]
fn sample_window<V: Simd, const INSIDE: bool>(
    v: V,
    wavelets: &Wavelets<'_>,
    frame: &Frame,
    [cos, sin]: [f32; 2],
) -> Window {
    let offset = |i: f32| (i - 11.5) * frame.scale;
    let (cosines, sines) = (COLUMNS.map(|u| offset(u) * cos), COLUMNS.map(|u| offset(u) * sin));
    // The first elements of vectors; the last one may overlap the one before.
    let starts = || (0..GRID).step_by(V::LANES).map(|i| i.min(GRID - V::LANES));
    let mut window = [[[0.0; GRID]; GRID]; 2];
    for row in 0..GRID {
        let b = offset(row as f32);
        let (mut xs, mut ys) = ([0; GRID], [0; GRID]);
        if INSIDE {
            let half = v.splat_f32(0.5);
            for i in starts() {
                let x = v.sub(v.load_f32(&cosines, i), v.splat_f32(b * sin));
                let y = v.add(v.load_f32(&sines, i), v.splat_f32(b * cos));
                // Rounding towards zero is rounding down: pixels inside have no negative places.
                v.store_i32(&mut xs, i, v.to_i32(v.add(v.add(v.splat_f32(frame.x), x), half)));
                v.store_i32(&mut ys, i, v.to_i32(v.add(v.add(v.splat_f32(frame.y), y), half)));
            }
        } else {
            for u in 0..GRID {
                xs[u] = nearest(frame.x + (cosines[u] - b * sin));
                ys[u] = nearest(frame.y + (sines[u] + b * cos));
            }
        }
        let (mut across, mut down) = ([0; GRID], [0; GRID]);
        for u in 0..GRID {
            [across[u], down[u]] = wavelets.at::<INSIDE>(xs[u], ys[u], frame.pixels);
        }
        let (cos, sin) = (v.splat_f32(cos), v.splat_f32(sin));
        for i in starts() {
            let across = v.to_f32(v.load_i32(&across, i));
            let down = v.to_f32(v.load_i32(&down, i));
            v.store_f32(&mut window[0][row], i, v.add(v.mul(across, cos), v.mul(down, sin)));
            v.store_f32(&mut window[1][row], i, v.sub(v.mul(down, cos), v.mul(across, sin)));
        }
    }
    window
}

/// The sums of all subregions at once, as a descriptor of length 1.
#[inline(always)]
fn describe(window: &Window, row: &mut [f32]) {
    let tables = Tables::get();
    // By row of subregions, kind and column of subregions.
    let mut sums = [[[0.0_f32; REGIONS]; 4]; REGIONS];
    for (q, sums) in sums.iter_mut().enumerate() {
        for j in 0..REGION {
            let [across, down] = [0, 1].map(|axis| &window[axis][q * SPACING + j]);
            for i in 0..REGION {
                let weight = tables.region[j * REGION + i];
                let first = place_in_row(i);
                for p in 0..REGIONS {
                    let (dx, dy) = (weight * across[first + p], weight * down[first + p]);
                    sums[0][p] += dx;
                    sums[1][p] += dy;
                    sums[2][p] += dx.abs();
                    sums[3][p] += dy.abs();
                }
            }
        }
    }
    for (region, values) in row.chunks_exact_mut(4).enumerate() {
        for (kind, value) in values.iter_mut().enumerate() {
            *value = tables.regions[region] * sums[region / REGIONS][kind][region % REGIONS];
        }
    }
    let mut squares = 0.0;
    for value in row.iter() {
        squares += value * value;
    }
    if squares > 0.0 {
        let length = squares.sqrt();
        row.iter_mut().for_each(|value| *value /= length);
    }
}
