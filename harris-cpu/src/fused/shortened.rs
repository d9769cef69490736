//! Lists that are cut short: what all of their corners exceed, told before all corners are found.
//!
//! It bounds what is looked at as a threshold does, and rises while the image is walked. Where corners are to be far apart, those count that are
//! kept whatever is found elsewhere; else all do.

use std::ops::Range;
use std::sync::{Mutex, PoisonError};

use harris_core::HarrisConfig;
use harris_core::pipeline::selection::{self, Key};

/// What a thread tells of how strong the corners of a list are.
#[derive(Debug, Default)]
pub(super) struct Shortened {
    /// With so many corners it pays to look at them; none where a list has all.
    enough: Option<usize>,
    /// Pixels among which they were found.
    pixels: usize,
    /// Responses of corners that are in the list if there is room.
    certain: Vec<f32>,
    memory: selection::Memory,
}

/// With so many it is known about how many it takes.
const FEW: usize = 300;
/// The parts of its pixels of which it takes the corners at most, and where these are to be far apart: to look at those of a greater one costs
/// about as much as it saves.
const PART: usize = 2;
const PART_IF_SPREAD: usize = 3;

impl Shortened {
    /// For an image's corners, which so many threads look for.
    pub(super) fn begin(&mut self, config: &HarrisConfig, threads: usize) {
        self.enough = config.max_corners().map(|most| FEW.min(more(most / threads)));
        self.pixels = 0;
    }

    /// What the list's corners exceed, where more of that can be told than the floor; then only those that do are left.
    pub(super) fn floor(
        &mut self,
        corners: &mut Vec<Key>,
        config: &HarrisConfig,
        floor: f32,
        seen: &Seen,
        certain: &Certain,
    ) -> Option<f32> {
        self.pixels += seen.rows.len() * seen.strip.len();
        self.enough.filter(|&enough| corners.len() >= enough)?;
        let (most, distance) = (config.max_corners()?, config.min_distance());
        let is_quick = distance <= 1.0;
        let part = if is_quick { PART } else { PART_IF_SPREAD };
        if floor == 0.0 && self.pixels > seen.width * seen.height / certain.threads / part {
            return None;
        }
        let all_is_known = |x, y| seen.has_around(x, y, distance.ceil() as usize);
        let (memory, own) = (&mut self.memory, &mut self.certain);
        let kept = selection::certain_responses(memory, corners, (most, config), all_is_known, own);
        let raised = certain.tell(seen.thread, own, most, floor);
        let number = if let Some(raised) = raised {
            corners.retain(|corner| corner.response() > raised);
            corners.len()
        } else {
            // As many more as it takes if others are as far apart.
            corners.len().saturating_mul((most / certain.threads).max(kept)) / kept.max(1)
        };
        self.enough = Some(more(if is_quick { number } else { number.saturating_add(number / 2) }));
        raised
    }
}

/// What the threads that share an image tell each other.
#[derive(Debug, Default)]
pub(super) struct Certain {
    threads: usize,
    /// What each of them told last, and room for all of it.
    responses: Mutex<(Vec<Vec<f32>>, Vec<f32>)>,
}

impl Certain {
    /// For an image that so many threads share.
    pub(super) fn begin(&mut self, threads: usize) {
        self.threads = threads;
        let (of_threads, _) = self.responses.get_mut().unwrap_or_else(PoisonError::into_inner);
        of_threads.iter_mut().for_each(Vec::clear);
        if of_threads.len() < threads {
            of_threads.resize_with(threads, Vec::new);
        }
    }

    /// Takes what a thread tells, and leaves it other memory. Returns what the strongest `most` of all that was told exceed, where so many
    /// exceed the floor.
    fn tell(&self, thread: usize, responses: &mut Vec<f32>, most: usize, floor: f32) -> Option<f32> {
        // It is locked for as long as it takes to look at some `most` numbers, which does not panic.
        let mut told = self.responses.lock().unwrap_or_else(PoisonError::into_inner);
        let (of_threads, all) = &mut *told;
        std::mem::swap(&mut of_threads[thread], responses);
        all.clear();
        for responses in of_threads {
            responses.retain(|&response| response > floor);
            all.extend_from_slice(responses);
        }
        let last = most.checked_sub(1).filter(|&last| last < all.len())?;
        let (_, &mut weakest, _) = all.select_nth_unstable_by(last, |one, other| other.total_cmp(one));
        Some(before(weakest))
    }
}

/// So many more than a number that it pays to look at them.
fn more(number: usize) -> usize {
    number.saturating_add(number / 4).saturating_add(64)
}

/// The number before a response, as corners have them: positive.
fn before(response: f32) -> f32 {
    f32::from_bits(response.to_bits() - 1)
}

/// Where a thread has found all corners: in a band of rows those of the strips before one, and of the upper rows of that.
pub(super) struct Seen {
    /// Which of those that share the image it is.
    pub(super) thread: usize,
    pub(super) width: usize,
    pub(super) height: usize,
    pub(super) band: Range<usize>,
    pub(super) strip: Range<usize>,
    /// The last of its rows that were looked at.
    pub(super) rows: Range<usize>,
}

impl Seen {
    /// Whether that holds for all pixels that are no more than `reach` columns and rows away.
    fn has_around(&self, x: usize, y: usize, reach: usize) -> bool {
        let far = |i: usize, len: usize| i.saturating_add(reach).min(len - 1);
        let (right, bottom) = (far(x, self.width), far(y, self.height));
        y.saturating_sub(reach) >= self.band.start
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

    /// Corners, and how an image is walked to find them.
    struct Case {
        width: usize,
        height: usize,
        /// Rows and columns of bands, of strips, of what is looked at together.
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

        /// What two threads find that share the bands, and leave out what they know is in no list; and how often they knew of some.
        fn found(&self, config: &HarrisConfig, random: &mut Rng) -> (Vec<Key>, usize) {
            let mut certain = Certain::default();
            certain.begin(2);
            let mut threads = [(); 2].map(|()| (Shortened::default(), Vec::new()));
            threads.iter_mut().for_each(|(shortened, _)| shortened.begin(config, 2));
            let (mut floor, mut times) = (0.0_f32, 0);
            for top in (0..self.height).step_by(self.band) {
                let band = top..(top + self.band).min(self.height);
                let thread = random.usize(..2);
                let (shortened, found) = &mut threads[thread];
                for left in (0..self.width).step_by(self.strip) {
                    let strip = left..(left + self.strip).min(self.width);
                    for y in band.clone().step_by(self.rows) {
                        let rows = y..(y + self.rows).min(band.end);
                        found.extend(self.corners.iter().filter_map(|&(x, y, corner)| {
                            let is_here = strip.contains(&x) && rows.contains(&y);
                            (is_here && corner.response() > floor).then_some(corner)
                        }));
                        let (band, strip) = (band.clone(), strip.clone());
                        let seen = Seen { thread, width: self.width, height: self.height, band, strip, rows };
                        if let Some(raised) = shortened.floor(found, config, floor, &seen, &certain) {
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
        let list = |keys: &[Key]| select_keys(&mut Memory::default(), [keys].into_iter(), 0.0, config);
        let all: Vec<_> = case.corners.iter().map(|&(_, _, corner)| corner).collect();
        let (found, times) = case.found(config, random);
        assert_eq!(list(&found), list(&all), "{config:?}");
        times
    }

    #[test]
    fn lists_are_the_same_without_what_is_left_out() {
        let random = &mut Rng::with_seed(3);
        let mut known = [0; 3];
        for i in 0..300 {
            let (kind, most) = (i % 3, [1, 2, 10, 60, 200][random.usize(..5)]);
            let distance = [0.5, 6.0 * random.f64(), 30.0 * random.f64()][kind];
            let order = if random.bool() { Order::Response } else { Order::Raster };
            let config = HarrisConfig::builder().max_corners(most).min_distance(distance).order(order);
            let mut case = Case::new(random);
            // Many that are alike, and in some part of the image all that are strong.
            let levels = [3.0, 1e3, 1e6][random.usize(..3)];
            for _ in 0..random.usize(..4000) {
                let x = random.f32() * case.width as f32;
                let strength = random.f32().powi(3) * if 2.0 * x < case.width as f32 { 1.0 } else { 0.2 };
                case.add(x, random.f32() * case.height as f32, (strength * levels).ceil() / levels);
            }
            known[kind] += assert_same_list(&case, &config.build().unwrap(), random);
        }
        assert!(known.iter().all(|&times| times > 50), "{known:?}");
    }

    /// Each of some corners, which lie just beyond what is seen, or is near to such, keeps five weaker ones out of the list, which would
    /// fill it.
    #[test]
    fn what_is_not_seen_yet_may_keep_others_out() {
        let random = &mut Rng::with_seed(4);
        for i in 0..600 {
            let distance = f32::from(random.u8(12..20));
            let mut case = Case::new(random);
            if i % 2 == 0 {
                // One band, or one strip.
                if i % 4 == 0 { case.band = case.height } else { case.strip = case.width }
            }
            // Enough corners to look at them at once, of which one is kept, in each of the first bands.
            let mut kept = 0;
            for top in [0.0, case.band as f32 + 50.0] {
                let number = case.corners.len();
                for y in 0..8_u8 {
                    let (y, weaker) = (top + f32::from(y), f32::from(y) / 100.0);
                    (0..8_u8).for_each(|x| case.add(x.into(), y, 0.9 - f32::from(x) / 100.0 - weaker));
                }
                kept += usize::from(case.corners.len() > number);
            }
            let mut along = 3.0 * distance;
            while along < 900.0 {
                let beyond = f32::from(random.u8(..3));
                let (x, y) = match i % 12 / 3 {
                    0 => (case.strip as f32 + beyond, along),
                    1 => (along, case.band as f32 + beyond),
                    // Those in the band before may be found by another thread.
                    2 => (along, case.band as f32 - 1.0 - beyond),
                    _ => (along, (case.rows * random.usize(1..4)) as f32 + beyond),
                };
                let (number, turned) = (case.corners.len(), TAU * random.f32());
                case.add(x, y, 0.8);
                kept += case.corners.len() - number;
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
