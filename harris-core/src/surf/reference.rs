//! The reference descriptor, with which every backend is compared.

use ndarray::{Array2, Axis};

use super::config::SurfConfig;
use super::extractor::Extractor;
use super::tables::{GRID, REGION, REGIONS, SPACING, Tables};
use crate::error::Error;
use crate::image::ImageView;
use crate::integral::Integral;
use crate::keypoint::Keypoint;
use crate::limits::LENGTH;
use crate::{float_mode, memory};

/// The reference implementation of the SURF descriptor: plain code on one thread, and slow.
#[derive(Clone, Debug)]
pub struct ReferenceSurf {
    config: SurfConfig,
}

impl ReferenceSurf {
    /// Makes an extractor of this configuration.
    #[must_use]
    pub fn new(config: SurfConfig) -> Self {
        Self { config }
    }
}

impl Extractor for ReferenceSurf {
    fn extract(&mut self, image: &ImageView<'_>, keypoints: &[Keypoint]) -> Result<Array2<f32>, Error> {
        float_mode::standard(|| self.descriptors(image, keypoints))
    }
}

impl ReferenceSurf {
    fn descriptors(&self, image: &ImageView<'_>, keypoints: &[Keypoint]) -> Result<Array2<f32>, Error> {
        self.config.check(image, keypoints)?;
        let integral = Integral::new(image)?;
        let haar = |x, y, half| haar(&integral, x, y, half);
        let mut descriptors = memory::zeros((keypoints.len(), LENGTH))?;
        for (mut row, keypoint) in descriptors.axis_iter_mut(Axis(0)).zip(keypoints) {
            let frame = Frame::new(keypoint, self.config.magnification());
            let direction = if self.config.upright() { [1.0, 0.0] } else { direction(&frame, haar) };
            let descriptor = describe(&frame, direction, haar);
            row.iter_mut().zip(descriptor).for_each(|(value, described)| *value = described);
        }
        Ok(descriptors)
    }
}

/// A keypoint's descriptor window: its centre and the spacing of its samples.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Frame {
    /// Column of the keypoint.
    pub x: f32,
    /// Row of the keypoint.
    pub y: f32,
    /// Pixels between samples.
    pub scale: f32,
    /// Pixels between samples, rounded to the nearest integer, at least 1.
    pub pixels: i32,
}

impl Frame {
    /// The window of a keypoint that has passed [`SurfConfig::check`].
    #[must_use]
    pub fn new(keypoint: &Keypoint, magnification: f32) -> Self {
        let scale = keypoint.scale * magnification;
        Self { x: keypoint.x, y: keypoint.y, scale, pixels: nearest(scale).max(1) }
    }
}

/// The nearest integer, halves up: ⌊v + 0.5⌋.
#[inline]
fn nearest(v: f32) -> i32 {
    (v + 0.5).floor() as i32
}

/// Haar's wavelets at a pixel, across (right minus left) and down (lower minus upper), over squares
/// of side 2 · `half`: exact integers.
fn haar(integral: &Integral, x: i32, y: i32, half: i32) -> [i32; 2] {
    let sum = |left, top, right, bottom| integral.sum(left, top, right, bottom);
    let across = sum(x, y - half, x + half, y + half).wrapping_sub(sum(x - half, y - half, x, y + half));
    let down = sum(x - half, y, x + half, y + half).wrapping_sub(sum(x - half, y - half, x + half, y));
    [across as i32, down as i32]
}

/// The direction of the gradient around a keypoint, as a unit vector: that of the strongest sum of
/// wavelets over a sector of 60 degrees. `haar` gives the wavelets at a column and a row with a
/// half side.
fn direction(frame: &Frame, haar: impl Fn(i32, i32, i32) -> [i32; 2]) -> [f32; 2] {
    let tables = Tables::get();
    let (x, y, s) = (nearest(frame.x), nearest(frame.y), frame.pixels);
    let gradients = tables.circle.map(|(u, v, weight)| {
        let [across, down] = haar(x + u * s, y + v * s, 2 * s);
        [weight * across as f32, weight * down as f32]
    });
    let (mut greatest, mut best) = (0.0, [1.0, 0.0]);
    for [from, to] in tables.sectors {
        let (mut x, mut y) = (0.0_f32, 0.0_f32);
        for g in gradients {
            // Left of where the sector begins, right of where it ends.
            if from[0] * g[1] - from[1] * g[0] >= 0.0 && g[0] * to[1] - g[1] * to[0] > 0.0 {
                x += g[0];
                y += g[1];
            }
        }
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

/// The descriptor of a window that is rotated to a direction, given as cosine and sine.
fn describe(frame: &Frame, [cos, sin]: [f32; 2], haar: impl Fn(i32, i32, i32) -> [i32; 2]) -> [f32; LENGTH] {
    let tables = Tables::get();
    let place = |i: usize| (i as f32 - 11.5) * frame.scale;
    let mut gradients = [[[0.0_f32; 2]; GRID]; GRID];
    for (v, row) in gradients.iter_mut().enumerate() {
        for (u, gradient) in row.iter_mut().enumerate() {
            let (a, b) = (place(u), place(v));
            let x = nearest(frame.x + (a * cos - b * sin));
            let y = nearest(frame.y + (a * sin + b * cos));
            let [across, down] = haar(x, y, frame.pixels).map(|sum| sum as f32);
            *gradient = [across * cos + down * sin, down * cos - across * sin];
        }
    }
    let mut descriptor = [0.0; LENGTH];
    for (i, values) in descriptor.chunks_exact_mut(4).enumerate() {
        let (left, top) = (i % REGIONS * SPACING, i / REGIONS * SPACING);
        let mut sums = [0.0_f32; 4];
        for j in 0..REGION * REGION {
            let g = gradients[top + j / REGION][left + j % REGION];
            let (dx, dy) = (tables.region[j] * g[0], tables.region[j] * g[1]);
            sums[0] += dx;
            sums[1] += dy;
            sums[2] += dx.abs();
            sums[3] += dy.abs();
        }
        for (value, sum) in values.iter_mut().zip(sums) {
            *value = tables.regions[i] * sum;
        }
    }
    let mut squares = 0.0;
    for value in descriptor {
        squares += value * value;
    }
    if squares > 0.0 {
        let length = squares.sqrt();
        descriptor.iter_mut().for_each(|value| *value /= length);
    }
    descriptor
}
