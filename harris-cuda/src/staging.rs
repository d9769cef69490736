//! Rows on their way to pinned memory, and what comes back by way of it.

use std::sync::atomic::Ordering::{Acquire, Relaxed, Release};
use std::sync::atomic::{AtomicBool, AtomicUsize};
use std::sync::{Mutex, PoisonError, RwLock, mpsc};

use harris_gpu::Rows;

use crate::driver::copy_non_temporal;

/// Bytes that a thread stages at a time. Up to two of these are not worth waking another.
pub(crate) const CHUNK: usize = 256 << 10;

/// Bytes of a part of what comes back.
pub(crate) const PART: usize = 4 << 20;

/// Shares that are sent at once are at least so many, but for the first ones and the last: each copy costs the device 2 µs.
const MIN_CHUNKS_PER_COPY: usize = 8;

/// Threads that help: together they are quicker than a device copies.
const MAX_HELPERS: usize = 8;

/// Brings `rows` to `places`, which begin with that of row number `first`, and sends them in their order: `send` is given the number
/// of a row and pieces of memory that lie one behind the other, from that row on.
///
/// One thread stages more slowly than a device copies: threads of rayon's current pool help it. What is staged is sent while they go
/// on, little at first.
pub(crate) fn stage_rows<'a, E>(
    rows: &Rows<'_>,
    first: usize,
    places: &'a mut [u8],
    mut send: impl FnMut(usize, &[&'a [u8]]) -> Result<(), E>,
) -> Result<(), E> {
    let pitch = rows.pitch;
    if places.len() <= 2 * CHUNK {
        for (i, place) in places.chunks_exact_mut(pitch).enumerate() {
            let row = rows.row(first + i);
            place[..row.len()].copy_from_slice(row);
        }
        return send(first, &[places]);
    }
    let share = (CHUNK / pitch).max(1);
    let shares: Vec<_> = places.chunks_mut(share * pitch).map(|places| Mutex::new(Some(places))).collect();
    let next = AtomicUsize::new(0);
    // Stages the next share, and returns its number and where it is; none where all are taken.
    let step = || {
        let i = next.fetch_add(1, Relaxed);
        let places =
            shares.get(i)?.lock().unwrap_or_else(PoisonError::into_inner).take().expect("taken once");
        copy_non_temporal(places.chunks_exact_mut(pitch).enumerate().map(|(j, place)| {
            let row = rows.row(first + i * share + j);
            (row, &mut place[..row.len()])
        }));
        Some((i, &*places))
    };
    let (tell, told) = mpsc::channel();
    rayon::in_place_scope(|scope| {
        for _ in 0..MAX_HELPERS.min(shares.len() - 1) {
            let (tell, step) = (tell.clone(), &step);
            // Nobody listens any more where sending failed.
            scope.spawn(move |_| while step().is_some_and(|staged| tell.send(staged).is_ok()) {});
        }
        drop(tell);
        // Dropped on the way out.
        let told = told;
        let mut staged = vec![None; shares.len()];
        let mut sent = 0;
        while sent < staged.len() {
            // This thread does as the others, which may be at work elsewhere, and in the end waits for them.
            let more = told.try_recv().ok().or_else(&step).or_else(|| told.recv().ok());
            let (i, places) = more.expect("whoever takes a share stages it");
            staged[i] = Some(places);
            let ready: Vec<_> = staged[sent..].iter().map_while(|places| *places).collect();
            if ready.len() >= (sent + 1).min(MIN_CHUNKS_PER_COPY) || sent + ready.len() == staged.len() {
                send(first + sent * share, &ready)?;
                sent += ready.len();
            }
        }
        Ok(())
    })
}

/// Brings to `to` what comes to pinned memory in parts, by turns to each of `places`, which are equally long, whole shares: `ask` asks for
/// a part, by its number and where it is to be, and `has_come` tells whether it is there.
///
/// Threads of rayon's current pool help: one alone copies more slowly than a device.
pub(crate) fn copy_parts_to_host<E>(
    places: Vec<&mut [u8]>,
    to: &mut [u8],
    mut ask: impl FnMut(usize, &mut [u8]) -> Result<(), E>,
    mut has_come: impl FnMut(usize) -> Result<bool, E>,
) -> Result<(), E> {
    let part = places[0].len();
    let (len, parts, each) = (to.len(), to.len().div_ceil(part), part / CHUNK);
    let places: Vec<_> = places.into_iter().map(RwLock::new).collect();
    let shares: Vec<_> = to.chunks_mut(CHUNK).map(|share| Mutex::new(Some(share))).collect();
    // Shares that have come, the next to be copied, how many are left of each part, and whether no more come.
    let (come, next) = (AtomicUsize::new(0), AtomicUsize::new(0));
    let left: Vec<_> =
        (0..parts).map(|number| AtomicUsize::new(each.min(shares.len() - number * each))).collect();
    let failed = AtomicBool::new(false);
    // Copies the next share that has come; tells whether there was one.
    let step = || {
        let has_come = |i: usize| (i < come.load(Acquire)).then_some(i + 1);
        let Ok(i) = next.fetch_update(Relaxed, Relaxed, has_come) else { return false };
        let share = shares[i].lock().unwrap_or_else(PoisonError::into_inner).take().expect("taken once");
        let place = places[i / each % places.len()].read().unwrap_or_else(PoisonError::into_inner);
        share.copy_from_slice(&place[i % each * CHUNK..][..share.len()]);
        drop(place);
        left[i / each].fetch_sub(1, Release);
        true
    };
    let is_over = || next.load(Relaxed) == shares.len() || failed.load(Relaxed);
    let mut lead = || {
        let (mut asked, mut there) = (0, 0);
        while !is_over() {
            let is_free =
                |number: usize| number < places.len() || left[number - places.len()].load(Acquire) == 0;
            while asked < parts && is_free(asked) {
                let mut place = places[asked % places.len()].write().unwrap_or_else(PoisonError::into_inner);
                ask(asked, &mut place[..part.min(len - asked * part)])?;
                asked += 1;
            }
            while there < asked && has_come(there)? {
                there += 1;
                come.store((there * each).min(shares.len()), Release);
            }
            if !step() {
                std::thread::yield_now();
            }
        }
        Ok(())
    };
    rayon::in_place_scope(|scope| {
        for _ in 0..MAX_HELPERS.min(shares.len() - 1) {
            scope.spawn(|_| {
                while !is_over() {
                    if !step() {
                        std::thread::yield_now();
                    }
                }
            });
        }
        let read = lead();
        failed.store(read.is_err(), Relaxed);
        read
    })
}

#[cfg(test)]
mod tests {
    use harris_core::ImageView;
    use harris_gpu::Lines;

    use super::*;

    /// Stages an image from its fourth row on, looks at what is sent, and tells in how many parts.
    fn staged(width: usize, height: usize, pitch: usize) -> usize {
        let samples: Vec<u8> =
            (0..width * height).map(|i| (i.wrapping_mul(0x9E37_79B9) >> 11) as u8).collect();
        let image = ImageView::gray(&samples, width, height).unwrap();
        let images = [Lines::of(&image)];
        let rows = Rows { images: &images, rows: 0..height, pitch, offset: 0, lasting: true };
        let len = (height - 3) * pitch;
        let mut places = vec![0; len];
        let (mut bytes, mut parts) = (Vec::new(), 0);
        stage_rows(&rows, 3, &mut places, |first, pieces| {
            assert_eq!((first - 3) * pitch, bytes.len());
            assert!(pieces.windows(2).all(|pair| pair[0].as_ptr_range().end == pair[1].as_ptr()));
            bytes.extend(pieces.concat());
            parts += 1;
            Ok::<_, ()>(())
        })
        .unwrap();
        for (row, place) in samples.chunks(width).skip(3).zip(bytes.chunks(pitch)) {
            assert_eq!(place[..width], *row);
            assert!(place[width..].iter().all(|byte| *byte == 0));
        }
        assert_eq!(bytes.len(), len);
        parts
    }

    #[test]
    fn rows_are_staged_and_sent_in_their_order() {
        for (width, height, pitch) in
            [(1, 4, 1), (300, 200, 304), (1000, 525, 1000), (1001, 530, 1008), (3000, 2000, 3008)]
        {
            assert_eq!(staged(width, height, pitch) == 1, pitch * (height - 3) <= 2 * CHUNK);
        }
        // Rows longer than a share.
        staged(CHUNK + 1, 9, CHUNK + 16);
    }

    #[test]
    fn it_is_done_where_no_thread_can_help() {
        let pool = rayon::ThreadPoolBuilder::new().num_threads(1).build().unwrap();
        pool.install(|| staged(3000, 2000, 3008));
    }

    /// Brings back so many bytes, which come after some questions; the part that is asked for at `fault`, and such as come at it, fail.
    fn copied_in_parts(len: usize, part: usize, slots: usize, fault: Option<usize>) -> Result<(), usize> {
        let from: Vec<u8> = (0..len).map(|i| (i.wrapping_mul(0x9E37_79B9) >> 11) as u8).collect();
        let mut places = vec![0; slots * part];
        let mut to = vec![0; len];
        let (mut calls, mut questions) = (0, 0);
        let mut call = || {
            calls += 1;
            if Some(calls) == fault { Err(calls) } else { Ok(()) }
        };
        let call = std::cell::RefCell::new(&mut call);
        copy_parts_to_host(
            places.chunks_mut(part).collect(),
            &mut to,
            |number, place| {
                place.copy_from_slice(&from[number * part..][..place.len()]);
                (call.borrow_mut())()
            },
            |_| {
                questions += 1;
                (call.borrow_mut())().map(|()| questions % 3 == 0)
            },
        )?;
        assert!(to == from, "{len} bytes in parts of {part}");
        Ok(())
    }

    #[test]
    fn what_comes_in_parts_is_whole() {
        for len in [1, CHUNK, 3 * CHUNK - 1, 4 * CHUNK, 9 * CHUNK + 5, 40 * CHUNK] {
            for (part, slots) in [(CHUNK, 1), (CHUNK, 4), (2 * CHUNK, 2), (3 * CHUNK, 4)] {
                copied_in_parts(len, part, slots, None).unwrap();
            }
        }
        let one_thread = rayon::ThreadPoolBuilder::new().num_threads(1).build().unwrap();
        one_thread.install(|| copied_in_parts(20 * CHUNK + 1, 2 * CHUNK, 2, None)).unwrap();
    }

    #[test]
    fn a_failure_on_the_way_back_ends_it() {
        for fault in 1..20 {
            assert_eq!(copied_in_parts(20 * CHUNK, 2 * CHUNK, 3, Some(fault)), Err(fault));
        }
    }

    #[test]
    fn a_failure_to_send_ends_it() {
        let samples = vec![0_u8; 4 << 20];
        let image = ImageView::gray(&samples, 2048, 2048).unwrap();
        let images = [Lines::of(&image)];
        let rows = Rows { images: &images, rows: 0..2048, pitch: 2048, offset: 0, lasting: true };
        let (mut places, mut sent) = (vec![0; 4 << 20], 0);
        let result = stage_rows(&rows, 0, &mut places, |_, _| {
            sent += 1;
            if sent == 2 { Err("no") } else { Ok(()) }
        });
        assert_eq!((result, sent), (Err("no"), 2));
    }
}
