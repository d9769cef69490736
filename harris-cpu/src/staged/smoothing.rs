//! Smoothing of a block of rows.

use std::ops::Range;

use harris_core::pipeline::plane::Number;
use harris_core::pipeline::taps;
use harris_core::{Error, HarrisConfig, Smoothing};

use super::block::Block;
use super::line::{self, Convert, Element};
use crate::buffers::Buffers;

/// Smooths `samples` into the rows `rows`, padded for the gradient and in its element type.
pub(crate) fn smooth<S: Element, G: Element + Convert<S>>(
    samples: Block<S>,
    config: &HarrisConfig,
    rows: Range<usize>,
    buffers: &mut Buffers,
) -> Result<Block<G>, Error> {
    let mut smoothed = Block::<G>::like(&samples, rows, config.gradient().radius(), buffers)?;
    let store = |out: &mut [G], sums: &[S]| line::update(out, sums, |_, sum| G::convert(sum));
    let width = samples.width();
    let divides = match config.smoothing() {
        Smoothing::Binomial3Exact => false,
        Smoothing::None | Smoothing::Binomial3 | Smoothing::Binomial5 | Smoothing::Gaussian { .. } => true,
    };
    match config.smoothing() {
        Smoothing::None => smoothed.compute(|y, out| store(out, samples.row(0, y as isize))),
        Smoothing::Binomial3 | Smoothing::Binomial3Exact => {
            let across = across(&samples, buffers, |s, y, out| {
                let [left, centre, right] = [-1, 0, 1].map(|dx| s.row(dx, y));
                line::combine3(out, left, centre, right, binomial3);
            })?;
            smoothed.compute(|y, out| {
                let [up, centre, down] = [-1, 0, 1].map(|dy| across.row(0, y as isize + dy));
                line::combine3(out, up, centre, down, |u, c, d| {
                    let sum = binomial3(u, c, d);
                    G::convert(if divides { S::normalised(sum, 4) } else { sum })
                });
            });
            across.put(buffers);
        }
        Smoothing::Binomial5 => {
            let mut sums = buffers.take::<S>(width)?;
            let across = across(&samples, buffers, |s, y, out| binomial5(out, |i| s.row(i, y)))?;
            smoothed.compute(|y, out| {
                binomial5(&mut sums, |i| across.row(0, y as isize + i));
                line::update(out, &sums, |_, sum| G::convert(S::normalised(sum, 8)));
            });
            across.put(buffers);
            buffers.put(sums);
        }
        Smoothing::Gaussian { size, sigma } => {
            let taps = taps::gaussian(size, sigma);
            let (r, pad) = ((size / 2) as isize, (size / 2) as usize);
            let mut column = buffers.take::<S>(width + 2 * pad)?;
            let mut sums = buffers.take::<S>(width)?;
            smoothed.compute(|y, out| {
                let lines = (-r..=r).map(|i| samples.row(0, y as isize + i));
                line::weighted_sum(&mut column[pad..pad + width], &taps, lines);
                line::extend(&mut column, pad, samples.border());
                line::weighted_sum(&mut sums, &taps, column.windows(width));
                store(out, &sums);
            });
            buffers.put(column);
            buffers.put(sums);
        }
    }
    samples.put(buffers);
    Ok(smoothed)
}

/// Sums all rows across.
fn across<S: Element>(
    samples: &Block<S>,
    buffers: &mut Buffers,
    row: impl Fn(&Block<S>, isize, &mut [S]),
) -> Result<Block<S>, Error> {
    let mut across = Block::like(samples, samples.rows(), 0, buffers)?;
    across.compute(|y, out| row(samples, y as isize, out));
    Ok(across)
}

fn binomial3<S: Number>(before: S, centre: S, after: S) -> S {
    (before + after) + S::weight(2) * centre
}

fn binomial5<'a, S: Number + 'a>(out: &mut [S], line: impl Fn(isize) -> &'a [S]) {
    line::combine(out, line(-2), line(2), |u, v| u + v);
    let (before, after) = (line(-1), line(1));
    for (i, out) in out.iter_mut().enumerate() {
        *out = *out + S::weight(4) * (before[i] + after[i]);
    }
    line::update(out, line(0), |acc, v| acc + S::weight(6) * v);
}
