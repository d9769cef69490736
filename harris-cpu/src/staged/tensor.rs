//! The products of the gradient and their window sums.

use harris_core::pipeline::taps;
use harris_core::{Error, HarrisConfig, Window};

use super::block::Block;
use super::line::{self, Convert, Element};
use crate::buffers::Buffers;

/// Computes gx², gx·gy and gy², summed over the channels in order, without padding, in the element
/// type of the window.
pub(crate) fn products<'a, G: Element, P: Element + Convert<G>, W: Element + Convert<P>>(
    gradients: &'a [(Block<G>, Block<G>)],
    buffers: &mut Buffers,
) -> Result<[Block<W>; 3], Error> {
    let (first, rest) = gradients.split_first().expect("an image has a channel");
    let mut sums = buffers.take::<P>(first.0.width())?;
    // Which of gx, gy are multiplied.
    let mut product = |factors: [usize; 2]| -> Result<Block<W>, Error> {
        let mut block = Block::<W>::like(&first.0, first.0.rows(), 0, buffers)?;
        block.compute(|y, out| {
            let y = y as isize;
            let rows = |(gx, gy): &'a (Block<G>, Block<G>)| factors.map(|i| [gx, gy][i].row(0, y));
            let [u, v] = rows(first);
            line::combine(&mut sums, u, v, |u, v| P::convert(u) * P::convert(v));
            for [u, v] in rest.iter().map(rows) {
                let products = u.iter().zip(v);
                for (sum, (&u, &v)) in sums.iter_mut().zip(products) {
                    *sum = *sum + P::convert(u) * P::convert(v);
                }
            }
            line::update(out, &sums, |_, sum| W::convert(sum));
        });
        Ok(block)
    };
    let products = [product([0, 0])?, product([0, 1])?, product([1, 1])?];
    buffers.put(sums);
    Ok(products)
}

/// Computes the window sums of row y: down into `column`, which has the window's radius of padding,
/// then across.
///
/// Exact box sums slide: `column` holds the sums of the row before, unless y is the `first` row.
pub(crate) fn window_sum<W: Element>(
    product: &Block<W>,
    config: &HarrisConfig,
    y: usize,
    first: bool,
    column: &mut [W],
    out: &mut [W],
) {
    let (width, pad) = (product.width(), config.window().radius());
    let down = |dy: isize| product.row(0, y as isize + dy);
    let sums = &mut column[pad..pad + width];
    match config.window() {
        Window::Box { .. } if W::EXACT && !first => {
            let [before, behind] = config.window().reach().map(|reach| reach as isize);
            line::slide(sums, down(behind), down(-1 - before));
        }
        window @ (Window::Box { .. } | Window::Binomial { .. } | Window::Gaussian { .. }) => {
            line_sum(window, sums, down);
        }
    }
    line::extend(column, pad, config.border());
    let column = &*column;
    match config.window() {
        Window::Box { size } => line::sum_across(out, column, size as usize),
        window @ (Window::Binomial { .. } | Window::Gaussian { .. }) => {
            line_sum(window, out, |dx| &column[pad.wrapping_add_signed(dx)..][..width]);
        }
    }
}

fn line_sum<'a, W: Element>(window: Window, out: &mut [W], line: impl Fn(isize) -> &'a [W]) {
    let w = W::weight;
    // out + weight · (line(−i) + line(i))
    let add_pair = |out: &mut [W], i: isize, weight: u8| {
        let pairs = line(-i).iter().zip(line(i));
        for (out, (&before, &after)) in out.iter_mut().zip(pairs) {
            *out = *out + w(weight) * (before + after);
        }
    };
    let first_pair =
        |out: &mut [W], i: isize| line::combine(out, line(-i), line(i), |before, after| before + after);
    let add_centre = |out: &mut [W], weight: u8| line::update(out, line(0), |acc, v| acc + w(weight) * v);
    match window {
        Window::Box { .. } => {
            let [before, behind] = window.reach().map(|reach| reach as isize);
            line::sum(out, (-before..=behind).map(line));
        }
        Window::Gaussian { size, sigma } => {
            let r = (size / 2) as isize;
            line::weighted_sum(out, &taps::gaussian(size, sigma), (-r..=r).map(line));
        }
        Window::Binomial { size: 3 } => {
            first_pair(out, 1);
            add_centre(out, 2);
        }
        Window::Binomial { size: 5 } => {
            first_pair(out, 2);
            add_pair(out, 1, 4);
            add_centre(out, 6);
        }
        Window::Binomial { size: 7 } => {
            first_pair(out, 3);
            add_pair(out, 2, 6);
            add_pair(out, 1, 15);
            add_centre(out, 20);
        }
        Window::Binomial { .. } => unreachable!("a valid configuration has no other binomial"),
    }
}
