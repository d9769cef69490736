//! Rows on their way to pinned memory.

use std::sync::atomic::AtomicUsize;
use std::sync::atomic::Ordering::Relaxed;
use std::sync::{Mutex, PoisonError, mpsc};

use harris_gpu::Rows;

use crate::driver::copy_past_caches;

/// Bytes that a thread stages at a time. Up to two of these are not worth waking another.
const SHARE: usize = 256 << 10;

/// Shares that are sent at once are at least so many, but for the first ones and the last: each copy costs the device 2 µs.
const SENT: usize = 8;

/// Threads that help: together they are quicker than a device copies.
const HELPERS: usize = 8;

/// Brings `rows` to `places`, which begin with that of row number `first`, and sends them in their order: `send` is given the number
/// of a row and pieces of memory that lie one behind the other, from that row on.
///
/// One thread stages more slowly than a device copies: threads of rayon's current pool help it. What is staged is sent while they go
/// on, little at first.
pub(crate) fn stage<'a, E>(
    rows: &Rows<'_>,
    first: usize,
    places: &'a mut [u8],
    mut send: impl FnMut(usize, &[&'a [u8]]) -> Result<(), E>,
) -> Result<(), E> {
    let pitch = rows.pitch;
    if places.len() <= 2 * SHARE {
        for (i, place) in places.chunks_exact_mut(pitch).enumerate() {
            let row = rows.row(first + i);
            place[..row.len()].copy_from_slice(row);
        }
        return send(first, &[places]);
    }
    let share = (SHARE / pitch).max(1);
    let shares: Vec<_> = places.chunks_mut(share * pitch).map(|places| Mutex::new(Some(places))).collect();
    let next = AtomicUsize::new(0);
    // Stages the next share, and returns its number and where it is; none where all are taken.
    let step = || {
        let i = next.fetch_add(1, Relaxed);
        let places =
            shares.get(i)?.lock().unwrap_or_else(PoisonError::into_inner).take().expect("taken once");
        copy_past_caches(places.chunks_exact_mut(pitch).enumerate().map(|(j, place)| {
            let row = rows.row(first + i * share + j);
            (row, &mut place[..row.len()])
        }));
        Some((i, &*places))
    };
    let (tell, told) = mpsc::channel();
    rayon::in_place_scope(|scope| {
        for _ in 0..HELPERS.min(shares.len() - 1) {
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
            if ready.len() >= (sent + 1).min(SENT) || sent + ready.len() == staged.len() {
                send(first + sent * share, &ready)?;
                sent += ready.len();
            }
        }
        Ok(())
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
        stage(&rows, 3, &mut places, |first, pieces| {
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
            assert_eq!(staged(width, height, pitch) == 1, pitch * (height - 3) <= 2 * SHARE);
        }
        // Rows longer than a share.
        staged(SHARE + 1, 9, SHARE + 16);
    }

    #[test]
    fn it_is_done_where_no_thread_can_help() {
        let pool = rayon::ThreadPoolBuilder::new().num_threads(1).build().unwrap();
        pool.install(|| staged(3000, 2000, 3008));
    }

    #[test]
    fn a_failure_to_send_ends_it() {
        let samples = vec![0_u8; 4 << 20];
        let image = ImageView::gray(&samples, 2048, 2048).unwrap();
        let images = [Lines::of(&image)];
        let rows = Rows { images: &images, rows: 0..2048, pitch: 2048, offset: 0, lasting: true };
        let (mut places, mut sent) = (vec![0; 4 << 20], 0);
        let result = stage(&rows, 0, &mut places, |_, _| {
            sent += 1;
            if sent == 2 { Err("no") } else { Ok(()) }
        });
        assert_eq!((result, sent), (Err("no"), 2));
    }
}
