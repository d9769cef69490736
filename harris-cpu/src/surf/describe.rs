//! Directions and descriptors, many sums side by side, each in the order of the definition.
//!
//! The loops are plain: the compiler vectorises them for each level.

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
    fn run<V: Simd>(self, _: V) {
        let Self { wavelets, config, keypoints, rows } = self;
        for (row, keypoint) in rows.chunks_exact_mut(LENGTH).zip(keypoints) {
            let frame = Frame::new(keypoint, config.magnification());
            let (x, y) = (nearest(frame.x), nearest(frame.y));
            let direction = if config.upright() {
                [1.0, 0.0]
            } else if wavelets.holds(x, y, 7 * frame.pixels) {
                direction(&sample_circle::<true>(&wavelets, x, y, frame.pixels))
            } else {
                direction(&sample_circle::<false>(&wavelets, x, y, frame.pixels))
            };
            // The farthest sample is 11.5 · √2 scales away.
            let reach = (16.3 * frame.scale) as i32 + frame.pixels + 2;
            let gradients = match wavelets.holds(x, y, reach) {
                true => sample_window::<true>(&wavelets, &frame, direction),
                false => sample_window::<false>(&wavelets, &frame, direction),
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
fn sample_circle<const INSIDE: bool>(
    wavelets: &Wavelets<'_>,
    x: i32,
    y: i32,
    pixels: i32,
) -> [[f32; 2]; CIRCLE] {
    let mut gradients = [[0.0; 2]; CIRCLE];
    for (gradient, (u, v, weight)) in gradients.iter_mut().zip(&Tables::get().circle) {
        let [across, down] = wavelets.at::<INSIDE>(x + u * pixels, y + v * pixels, 2 * pixels);
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

/// Gradients of the window along the axes of the keypoint, across in one array, down in the other.
type Window = [[[f32; GRID]; GRID]; 2];

#[inline(always)]
fn sample_window<const INSIDE: bool>(wavelets: &Wavelets<'_>, frame: &Frame, [cos, sin]: [f32; 2]) -> Window {
    let place = |i: usize| (i as f32 - 11.5) * frame.scale;
    let mut window = [[[0.0; GRID]; GRID]; 2];
    for v in 0..GRID {
        let b = place(v);
        let (mut xs, mut ys) = ([0; GRID], [0; GRID]);
        for u in 0..GRID {
            let a = place(u);
            xs[u] = nearest(frame.x + (a * cos - b * sin));
            ys[u] = nearest(frame.y + (a * sin + b * cos));
        }
        let (mut across, mut down) = ([0; GRID], [0; GRID]);
        for u in 0..GRID {
            [across[u], down[u]] = wavelets.at::<INSIDE>(xs[u], ys[u], frame.pixels);
        }
        for u in 0..GRID {
            let (across, down) = (across[u] as f32, down[u] as f32);
            window[0][v][u] = across * cos + down * sin;
            window[1][v][u] = down * cos - across * sin;
        }
    }
    window
}

/// The sums of all subregions at once, as a descriptor of length 1.
#[inline(always)]
fn describe(window: &Window, row: &mut [f32]) {
    let tables = Tables::get();
    // By kind, row and column of subregions.
    let mut sums = [[[0.0_f32; REGIONS]; REGIONS]; 4];
    for j in 0..REGION {
        for i in 0..REGION {
            let weight = tables.region[j * REGION + i];
            for q in 0..REGIONS {
                let (across, down) = (&window[0][q * SPACING + j], &window[1][q * SPACING + j]);
                for p in 0..REGIONS {
                    let (dx, dy) = (weight * across[p * SPACING + i], weight * down[p * SPACING + i]);
                    sums[0][q][p] += dx;
                    sums[1][q][p] += dy;
                    sums[2][q][p] += dx.abs();
                    sums[3][q][p] += dy.abs();
                }
            }
        }
    }
    for (region, values) in row.chunks_exact_mut(4).enumerate() {
        for (kind, value) in values.iter_mut().enumerate() {
            *value = tables.regions[region] * sums[kind][region / REGIONS][region % REGIONS];
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
