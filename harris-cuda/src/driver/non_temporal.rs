//! Copies with non-temporal stores, which do not go through the caches.

/// Copies rows to memory that a device reads next. The device then reads at the bus's speed.
/// Modified lines in the caches of many cores would be fetched one by one.
///
/// # Panics
/// If a row and its destination differ in length.
#[cfg(target_arch = "x86_64")]
pub(crate) fn copy_non_temporal<'a>(rows: impl Iterator<Item = (&'a [u8], &'a mut [u8])>) {
    use std::arch::x86_64::{__m128i, _mm_loadu_si128, _mm_sfence, _mm_stream_si128};

    for (row, place) in rows {
        assert_eq!(row.len(), place.len(), "row and destination have the same length");
        // SAFETY: every bit pattern is a valid vector.
        let (before, vectors, after) = unsafe { place.align_to_mut::<__m128i>() };
        let (first, rest) = row.split_at(before.len());
        let (middle, last) = rest.split_at(size_of_val(vectors));
        before.copy_from_slice(first);
        after.copy_from_slice(last);
        for (vector, bytes) in vectors.iter_mut().zip(middle.chunks_exact(size_of::<__m128i>())) {
            // SAFETY: every x86-64 processor has the instructions; the chunk holds a vector, whose
            // place is aligned.
            unsafe { _mm_stream_si128(vector, _mm_loadu_si128(bytes.as_ptr().cast())) };
        }
    }
    // SAFETY: every x86-64 processor has the instruction. It makes the rows visible before anything
    // that is stored later.
    unsafe { _mm_sfence() };
}

/// Copies rows with ordinary stores, on processors other than x86-64.
///
/// # Panics
/// If a row and its destination differ in length.
#[cfg(not(target_arch = "x86_64"))]
pub(crate) fn copy_non_temporal<'a>(rows: impl Iterator<Item = (&'a [u8], &'a mut [u8])>) {
    for (row, place) in rows {
        place.copy_from_slice(row);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn rows_arrive_at_any_alignment() {
        let source: Vec<u8> = (0..200_u8).collect();
        for i in 0..17 * 17 * 8 {
            let (from, to, len) = (i % 17, i / 17 % 17, [0, 1, 15, 16, 17, 63, 64, 100][i / 17 / 17]);
            let mut places = [0xAA; 200];
            copy_non_temporal(std::iter::once((&source[from..from + len], &mut places[to..to + len])));
            assert_eq!(places[to..to + len], source[from..from + len]);
            assert!(places[..to].iter().chain(&places[to + len..]).all(|byte| *byte == 0xAA));
        }
    }
}
