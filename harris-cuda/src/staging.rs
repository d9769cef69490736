//! Copies between ordinary and pinned memory by several threads, while the device copies too.

use std::sync::atomic::Ordering::{Acquire, Relaxed, Release};
use std::sync::atomic::{AtomicBool, AtomicUsize};
use std::sync::{Mutex, PoisonError, RwLock, mpsc};

use harris_gpu::Rows;

use crate::driver::copy_non_temporal;

/// Bytes that a thread copies at a time. For up to two chunks, waking another thread does not pay.
pub(crate) const CHUNK: usize = 256 << 10;

/// Bytes of a part of a download.
pub(crate) const PART: usize = 4 << 20;

/// The fewest chunks that are sent in one copy, except for the first copies and the last: each copy
/// costs the device 2 µs.
const MIN_CHUNKS_PER_COPY: usize = 8;

/// The most threads that help. Together they copy faster than a device.
const MAX_HELPERS: usize = 8;

/// Copies rows of `rows`, from number `first` on, to the pinned memory `places`, and sends them in
/// order. `send` receives the number of a row, and adjacent slices of `places` that hold the rows
/// from there on.
///
/// One thread copies more slowly than a device, so threads of rayon's current pool help. Rows are
/// sent while others are still copied, in small groups at first.
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
    let rows_per_chunk = (CHUNK / pitch).max(1);
    let chunks: Vec<_> =
        places.chunks_mut(rows_per_chunk * pitch).map(|places| Mutex::new(Some(places))).collect();
    let next = AtomicUsize::new(0);
    // Copies the next chunk, and returns its number and its memory; none if all are taken.
    let copy_next = || {
        let i = next.fetch_add(1, Relaxed);
        let places =
            chunks.get(i)?.lock().unwrap_or_else(PoisonError::into_inner).take().expect("taken once");
        copy_non_temporal(places.chunks_exact_mut(pitch).enumerate().map(|(j, place)| {
            let row = rows.row(first + i * rows_per_chunk + j);
            (row, &mut place[..row.len()])
        }));
        Some((i, &*places))
    };
    let (sender, receiver) = mpsc::channel();
    rayon::in_place_scope(|scope| {
        for _ in 0..MAX_HELPERS.min(chunks.len() - 1) {
            let (sender, copy_next) = (sender.clone(), &copy_next);
            // After a failed `send` the receiver is gone.
            scope.spawn(move |_| while copy_next().is_some_and(|staged| sender.send(staged).is_ok()) {});
        }
        drop(sender);
        // Moved here, so that it is dropped on every way out.
        let receiver = receiver;
        let mut staged = vec![None; chunks.len()];
        let mut sent = 0;
        while sent < staged.len() {
            // This thread copies chunks too, and waits for the others only at the end.
            let more = receiver.try_recv().ok().or_else(&copy_next).or_else(|| receiver.recv().ok());
            let (i, places) = more.expect("the thread that takes a chunk copies it");
            staged[i] = Some(places);
            let ready: Vec<_> = staged[sent..].iter().map_while(|places| *places).collect();
            if ready.len() >= (sent + 1).min(MIN_CHUNKS_PER_COPY) || sent + ready.len() == staged.len() {
                send(first + sent * rows_per_chunk, &ready)?;
                sent += ready.len();
            }
        }
        Ok(())
    })
}

/// Copies a download to `to` while its parts arrive in pinned memory. The parts use the buffers
/// `places` in rotation; these have equal lengths, a multiple of [`CHUNK`].
///
/// `request` requests a part by its number, into the given buffer. `has_arrived` tells whether a
/// part has arrived.
///
/// Threads of rayon's current pool help, because one copies more slowly than a device.
pub(crate) fn copy_parts_to_host<E>(
    places: Vec<&mut [u8]>,
    to: &mut [u8],
    mut request: impl FnMut(usize, &mut [u8]) -> Result<(), E>,
    mut has_arrived: impl FnMut(usize) -> Result<bool, E>,
) -> Result<(), E> {
    let part = places[0].len();
    let (len, parts, chunks_per_part) = (to.len(), to.len().div_ceil(part), part / CHUNK);
    let places: Vec<_> = places.into_iter().map(RwLock::new).collect();
    let chunks: Vec<_> = to.chunks_mut(CHUNK).map(|chunk| Mutex::new(Some(chunk))).collect();
    // Chunks that have arrived, the next one to copy, the number left of each part, and whether a
    // request failed.
    let (arrived_chunks, next) = (AtomicUsize::new(0), AtomicUsize::new(0));
    let remaining: Vec<_> = (0..parts)
        .map(|number| AtomicUsize::new(chunks_per_part.min(chunks.len() - number * chunks_per_part)))
        .collect();
    let failed = AtomicBool::new(false);
    // Copies the next chunk that has arrived; tells whether there was one.
    let copy_next = || {
        let has_arrived = |i: usize| (i < arrived_chunks.load(Acquire)).then_some(i + 1);
        let Ok(i) = next.fetch_update(Relaxed, Relaxed, has_arrived) else { return false };
        let chunk = chunks[i].lock().unwrap_or_else(PoisonError::into_inner).take().expect("taken once");
        let place = places[i / chunks_per_part % places.len()].read().unwrap_or_else(PoisonError::into_inner);
        chunk.copy_from_slice(&place[i % chunks_per_part * CHUNK..][..chunk.len()]);
        drop(place);
        remaining[i / chunks_per_part].fetch_sub(1, Release);
        true
    };
    let is_done = || next.load(Relaxed) == chunks.len() || failed.load(Relaxed);
    let mut request_and_copy = || {
        let (mut requested, mut arrived) = (0, 0);
        while !is_done() {
            let is_free =
                |number: usize| number < places.len() || remaining[number - places.len()].load(Acquire) == 0;
            while requested < parts && is_free(requested) {
                let mut place =
                    places[requested % places.len()].write().unwrap_or_else(PoisonError::into_inner);
                request(requested, &mut place[..part.min(len - requested * part)])?;
                requested += 1;
            }
            while arrived < requested && has_arrived(arrived)? {
                arrived += 1;
                arrived_chunks.store((arrived * chunks_per_part).min(chunks.len()), Release);
            }
            if !copy_next() {
                std::thread::yield_now();
            }
        }
        Ok(())
    };
    rayon::in_place_scope(|scope| {
        for _ in 0..MAX_HELPERS.min(chunks.len() - 1) {
            scope.spawn(|_| {
                while !is_done() {
                    if !copy_next() {
                        std::thread::yield_now();
                    }
                }
            });
        }
        let read = request_and_copy();
        failed.store(read.is_err(), Relaxed);
        read
    })
}

#[cfg(test)]
mod tests {
    use harris_core::ImageView;
    use harris_gpu::RowSource;

    use super::*;

    /// Copies an image from its fourth row on, checks what is sent, and returns the number of
    /// copies.
    fn staged(width: usize, height: usize, pitch: usize) -> usize {
        let samples: Vec<u8> =
            (0..width * height).map(|i| (i.wrapping_mul(0x9E37_79B9) >> 11) as u8).collect();
        let image = ImageView::gray(&samples, width, height).unwrap();
        let images = [RowSource::of(&image)];
        let rows = Rows { images: &images, rows: 0..height, pitch, offset: 0, borrowed: true };
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
    fn rows_are_copied_and_sent_in_order() {
        for (width, height, pitch) in
            [(1, 4, 1), (300, 200, 304), (1000, 525, 1000), (1001, 530, 1008), (3000, 2000, 3008)]
        {
            assert_eq!(staged(width, height, pitch) == 1, pitch * (height - 3) <= 2 * CHUNK);
        }
        // Rows longer than a chunk.
        staged(CHUNK + 1, 9, CHUNK + 16);
    }

    #[test]
    fn one_thread_alone_copies_everything() {
        let pool = rayon::ThreadPoolBuilder::new().num_threads(1).build().unwrap();
        pool.install(|| staged(3000, 2000, 3008));
    }

    /// Copies `len` bytes, which arrive after some queries. The call number `fault` fails.
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
    fn downloads_in_parts_are_complete() {
        for len in [1, CHUNK, 3 * CHUNK - 1, 4 * CHUNK, 9 * CHUNK + 5, 40 * CHUNK] {
            for (part, slots) in [(CHUNK, 1), (CHUNK, 4), (2 * CHUNK, 2), (3 * CHUNK, 4)] {
                copied_in_parts(len, part, slots, None).unwrap();
            }
        }
        let one_thread = rayon::ThreadPoolBuilder::new().num_threads(1).build().unwrap();
        one_thread.install(|| copied_in_parts(20 * CHUNK + 1, 2 * CHUNK, 2, None)).unwrap();
    }

    #[test]
    fn a_failed_request_ends_the_download() {
        for fault in 1..20 {
            assert_eq!(copied_in_parts(20 * CHUNK, 2 * CHUNK, 3, Some(fault)), Err(fault));
        }
    }

    #[test]
    fn a_failed_send_ends_the_upload() {
        let samples = vec![0_u8; 4 << 20];
        let image = ImageView::gray(&samples, 2048, 2048).unwrap();
        let images = [RowSource::of(&image)];
        let rows = Rows { images: &images, rows: 0..2048, pitch: 2048, offset: 0, borrowed: true };
        let (mut places, mut sent) = (vec![0; 4 << 20], 0);
        let result = stage_rows(&rows, 0, &mut places, |_, _| {
            sent += 1;
            if sent == 2 { Err("no") } else { Ok(()) }
        });
        assert_eq!((result, sent), (Err("no"), 2));
    }
}
