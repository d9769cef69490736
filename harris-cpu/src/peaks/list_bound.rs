//! A threshold that follows from `max_corners`: a response that all corners of the list exceed,
//! known before all are found.
//!
//! It rises during the sweep. With `min_distance` it counts only corners that are kept whatever is
//! found elsewhere, else all.

use std::ops::Range;
use std::sync::{Mutex, PoisonError};

use harris_core::pipeline::selection::{self, Key};
use harris_core::{Error, HarrisConfig, memory};

/// A thread's part in the bound.
#[derive(Debug, Default)]
pub(crate) struct ListBound {
    /// The number of corners from which on the bound is computed; none where `max_corners` is not
    /// set.
    enough: Option<usize>,
    /// Pixels that have been searched.
    pixels: usize,
    /// Responses of corners that only `max_corners` can keep out of the list.
    certain: Vec<f32>,
    memory: selection::Memory,
}

/// Corners after which the bound is first tried: they suffice to estimate how many it takes.
const FIRST_TRY: usize = 300;
/// A thread gives up where it has searched more than 1 / `GIVE_UP_DIVISOR` of its pixels and knows
/// no bound, or more than 1 / `GIVE_UP_DIVISOR_WITH_DISTANCE` with `min_distance`: later the bound
/// costs about as much as it saves.
const GIVE_UP_DIVISOR: usize = 2;
const GIVE_UP_DIVISOR_WITH_DISTANCE: usize = 3;

impl ListBound {
    /// Begins an image that so many threads search.
    pub(crate) fn begin(&mut self, config: &HarrisConfig, threads: usize) {
        self.enough = config.max_corners().map(|most| FIRST_TRY.min(next_try(most / threads)));
        self.pixels = 0;
    }

    /// A bound above `floor` that all corners of the list exceed, if one is known; then `corners`
    /// keeps only those that do.
    pub(crate) fn raised_floor(
        &mut self,
        corners: &mut Vec<Key>,
        config: &HarrisConfig,
        floor: f32,
        area: &SearchedArea,
        certain: &CertainResponses,
    ) -> Result<Option<f32>, Error> {
        self.pixels += area.rows.len() * area.strip.len();
        let (Some(enough), Some(most)) = (self.enough, config.max_corners()) else { return Ok(None) };
        if corners.len() < enough {
            return Ok(None);
        }
        let distance = config.min_distance();
        let any_distance = distance <= 1.0;
        let divisor = if any_distance { GIVE_UP_DIVISOR } else { GIVE_UP_DIVISOR_WITH_DISTANCE };
        if floor == 0.0 && self.pixels > area.width * area.height / certain.threads / divisor {
            return Ok(None);
        }
        let all_is_known = |x, y| area.has_around(x, y, distance.ceil() as usize);
        let (memory, own) = (&mut self.memory, &mut self.certain);
        let kept = selection::certain_responses(memory, corners, (most, config), all_is_known, own)?;
        let raised = certain.publish(area.thread, own, most, floor)?;
        let corner_count = if let Some(raised) = raised {
            corners.retain(|corner| corner.response() > raised);
            corners.len()
        } else {
            // An estimate: others are as far apart as these.
            corners.len().saturating_mul((most / certain.threads).max(kept)) / kept.max(1)
        };
        self.enough = Some(next_try(if any_distance {
            corner_count
        } else {
            corner_count.saturating_add(corner_count / 2)
        }));
        Ok(raised)
    }
}

/// The certain responses of all threads that share an image.
#[derive(Debug, Default)]
pub(crate) struct CertainResponses {
    threads: usize,
    /// The responses that each thread published last, and memory to join them.
    responses: Mutex<(Vec<Vec<f32>>, Vec<f32>)>,
}

impl CertainResponses {
    /// Begins an image that so many threads share.
    pub(crate) fn begin(&mut self, threads: usize) {
        self.threads = threads;
        let (of_threads, _) = self.responses.get_mut().unwrap_or_else(PoisonError::into_inner);
        of_threads.iter_mut().for_each(Vec::clear);
        if of_threads.len() < threads {
            of_threads.resize_with(threads, Vec::new);
        }
    }

    /// Replaces what a thread published by `responses`, which gets other memory. Returns a bound
    /// that the strongest `most` of all threads exceed, if so many exceed the floor.
    fn publish(
        &self,
        thread: usize,
        responses: &mut Vec<f32>,
        most: usize,
        floor: f32,
    ) -> Result<Option<f32>, Error> {
        // It is locked while some `most` numbers are compared, which does not panic.
        let mut published = self.responses.lock().unwrap_or_else(PoisonError::into_inner);
        let (of_threads, all) = &mut *published;
        std::mem::swap(&mut of_threads[thread], responses);
        all.clear();
        for responses in of_threads {
            responses.retain(|&response| response > floor);
            memory::extend(all, responses)?;
        }
        let Some(last) = most.checked_sub(1).filter(|&last| last < all.len()) else { return Ok(None) };
        let (_, &mut weakest, _) = all.select_nth_unstable_by(last, |one, other| other.total_cmp(one));
        Ok(Some(next_below(weakest)))
    }
}

/// Corners after which a next try pays, behind one at `corner_count`.
fn next_try(corner_count: usize) -> usize {
    corner_count.saturating_add(corner_count / 4).saturating_add(64)
}

/// The greatest float below a positive response.
fn next_below(response: f32) -> f32 {
    f32::from_bits(response.to_bits() - 1)
}

/// The part of a band in which a thread has found all corners: the strips before one, and the upper
/// rows of that.
pub(crate) struct SearchedArea {
    /// The number of the thread among those that share the image.
    pub(crate) thread: usize,
    pub(crate) width: usize,
    pub(crate) height: usize,
    pub(crate) band: Range<usize>,
    pub(crate) strip: Range<usize>,
    /// The rows of the strip that were searched last.
    pub(crate) rows: Range<usize>,
}

impl SearchedArea {
    /// Whether it holds all pixels within `radius` columns and rows.
    fn has_around(&self, x: usize, y: usize, radius: usize) -> bool {
        let far = |i: usize, len: usize| i.saturating_add(radius).min(len - 1);
        let (right, bottom) = (far(x, self.width), far(y, self.height));
        y.saturating_sub(radius) >= self.band.start
            && (right < self.strip.end && bottom < self.rows.end
                || right < self.strip.start && bottom < self.band.end)
    }
}

#[cfg(test)]
mod tests {
    use std::f32::consts::TAU;

    use fastrand::Rng;
    use harris_core::Order;
    use harris_core::pipeline::selection::{Memory, select_keys};

    use super::*;

    /// Corners, and the bands, strips and rows in which they are found.
    struct Case {
        width: usize,
        height: usize,
        /// Rows of a band, columns of a strip, rows that are searched together.
        band: usize,
        strip: usize,
        rows: usize,
        corners: Vec<(usize, usize, Key)>,
    }

    impl Case {
        fn new(random: &mut Rng) -> Self {
            let [width, height] = [(); 2].map(|()| random.usize(100..900));
            let [band, strip] = [height, width].map(|len| random.usize(len / 4..len + len / 2));
            Self { width, height, band, strip, rows: random.usize(10..60), corners: Vec::new() }
        }

        fn add(&mut self, x: f32, y: f32, response: f32) {
            let (x, y) = (x.round(), y.round());
            if (0.0..self.width as f32).contains(&x) && (0.0..self.height as f32).contains(&y) {
                self.corners.push((x as usize, y as usize, Key::new(x as u16, y as u16, response)));
            }
        }

        /// The corners that two threads find who leave out what the bound excludes, and how often
        /// the bound rose.
        fn found(&self, config: &HarrisConfig, random: &mut Rng) -> (Vec<Key>, usize) {
            let mut certain = CertainResponses::default();
            certain.begin(2);
            let mut threads = [(); 2].map(|()| (ListBound::default(), Vec::new()));
            threads.iter_mut().for_each(|(bound, _)| bound.begin(config, 2));
            let (mut floor, mut times) = (0.0_f32, 0);
            for top in (0..self.height).step_by(self.band) {
                let band = top..(top + self.band).min(self.height);
                let thread = random.usize(..2);
                let (bound, found) = &mut threads[thread];
                for left in (0..self.width).step_by(self.strip) {
                    let strip = left..(left + self.strip).min(self.width);
                    for y in band.clone().step_by(self.rows) {
                        let rows = y..(y + self.rows).min(band.end);
                        found.extend(self.corners.iter().filter_map(|&(x, y, corner)| {
                            let is_here = strip.contains(&x) && rows.contains(&y);
                            (is_here && corner.response() > floor).then_some(corner)
                        }));
                        let (band, strip) = (band.clone(), strip.clone());
                        let area = SearchedArea {
                            thread,
                            width: self.width,
                            height: self.height,
                            band,
                            strip,
                            rows,
                        };
                        let raised = bound.raised_floor(found, config, floor, &area, &certain).unwrap();
                        if let Some(raised) = raised {
                            times += usize::from(raised > floor);
                            floor = floor.max(raised);
                        }
                    }
                }
            }
            (threads.map(|(_, found)| found).concat(), times)
        }
    }

    fn assert_same_list(case: &Case, config: &HarrisConfig, random: &mut Rng) -> usize {
        let list =
            |keys: &[Key]| select_keys(&mut Memory::default(), [keys].into_iter(), 0.0, config).unwrap();
        let all: Vec<_> = case.corners.iter().map(|&(_, _, corner)| corner).collect();
        let (found, times) = case.found(config, random);
        assert_eq!(list(&found), list(&all), "{config:?}");
        times
    }

    #[test]
    fn corners_below_the_bound_change_no_list() {
        let random = &mut Rng::with_seed(3);
        let mut raises = [0; 3];
        for i in 0..300 {
            let (kind, most) = (i % 3, [1, 2, 10, 60, 200][random.usize(..5)]);
            let distance = [0.5, 6.0 * random.f64(), 30.0 * random.f64()][kind];
            let order = if random.bool() { Order::Response } else { Order::Raster };
            let config = HarrisConfig::builder().max_corners(most).min_distance(distance).order(order);
            let mut case = Case::new(random);
            // Many equal ones, and in some part of the image all strong ones.
            let levels = [3.0, 1e3, 1e6][random.usize(..3)];
            for _ in 0..random.usize(..4000) {
                let x = random.f32() * case.width as f32;
                let strength = random.f32().powi(3) * if 2.0 * x < case.width as f32 { 1.0 } else { 0.2 };
                case.add(x, random.f32() * case.height as f32, (strength * levels).ceil() / levels);
            }
            raises[kind] += assert_same_list(&case, &config.build().unwrap(), random);
        }
        assert!(raises.iter().all(|&times| times > 50), "{raises:?}");
    }

    /// Corners just outside the searched area, or near to such, each keep five weaker ones out of
    /// the list, which these would fill.
    #[test]
    fn corners_outside_the_searched_area_may_keep_others_out() {
        let random = &mut Rng::with_seed(4);
        for i in 0..600 {
            let distance = f32::from(random.u8(12..20));
            let mut case = Case::new(random);
            if i % 2 == 0 {
                // A single band or strip.
                if i % 4 == 0 { case.band = case.height } else { case.strip = case.width }
            }
            // In each of the first bands enough corners for a first try, of which one is kept.
            let mut kept = 0;
            for top in [0.0, case.band as f32 + 50.0] {
                let before = case.corners.len();
                for y in 0..8_u8 {
                    let (y, weaker) = (top + f32::from(y), f32::from(y) / 100.0);
                    (0..8_u8).for_each(|x| case.add(x.into(), y, 0.9 - f32::from(x) / 100.0 - weaker));
                }
                kept += usize::from(case.corners.len() > before);
            }
            let mut along = 3.0 * distance;
            while along < 900.0 {
                let beyond = f32::from(random.u8(..3));
                let (x, y) = match i % 12 / 3 {
                    0 => (case.strip as f32 + beyond, along),
                    1 => (along, case.band as f32 + beyond),
                    // Another thread may find those in the band before.
                    2 => (along, case.band as f32 - 1.0 - beyond),
                    _ => (along, (case.rows * random.usize(1..4)) as f32 + beyond),
                };
                let (before, turned) = (case.corners.len(), TAU * random.f32());
                case.add(x, y, 0.8);
                kept += case.corners.len() - before;
                for corner in 0..5_u8 {
                    let (sine, cosine) = (turned + TAU * f32::from(corner) / 5.0).sin_cos();
                    case.add(x + (distance - 1.0) * cosine, y + (distance - 1.0) * sine, 0.6);
                }
                along += 3.2 * distance;
            }
            for _ in 0..random.usize(100..3000) {
                let (x, y) = (random.f32() * case.width as f32, random.f32() * case.height as f32);
                case.add(x, y, 0.1 + 0.1 * random.f32());
            }
            let config = HarrisConfig::builder().max_corners(kept + 1 + i % 2);
            let config = config.min_distance(distance.into());
            assert_same_list(&case, &config.build().unwrap(), random);
        }
    }
}
