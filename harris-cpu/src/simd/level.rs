//! The levels of vector instructions, chosen at run time.

use std::fmt;
use std::str::FromStr;

#[cfg(target_arch = "x86_64")]
use super::avx2;
#[cfg(target_arch = "x86_64")]
use super::avx512;
#[cfg(target_arch = "aarch64")]
use super::neon;
use super::portable::Portable;
#[cfg(target_arch = "x86_64")]
use super::sse2;
use super::vector::{Simd, WithSimd};

/// A set of vector instructions that this processor has.
///
/// ```
/// use harris_cpu::Level;
///
/// for level in Level::available() {
///     assert_eq!(level.to_string().parse::<Level>()?, level);
/// }
/// # Ok::<(), harris_cpu::UnknownLevel>(())
/// ```
#[derive(Clone, Copy, PartialEq, Eq)]
pub struct Level(Kind);

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Kind {
    Portable(Portable),
    #[cfg(target_arch = "x86_64")]
    Sse2(sse2::Sse2),
    #[cfg(target_arch = "x86_64")]
    Avx2(avx2::Avx2),
    #[cfg(target_arch = "x86_64")]
    Avx512(avx512::Avx512),
    #[cfg(target_arch = "aarch64")]
    Neon(neon::Neon),
}

/// Error for a text that names no level of this processor.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error("`{name}` is no instruction set of this processor; it has {available}")]
pub struct UnknownLevel {
    name: String,
    available: String,
}

impl Level {
    /// The levels of this processor, the widest vectors first.
    ///
    /// The last one, `portable`, is everywhere.
    #[must_use]
    pub fn available() -> Vec<Self> {
        let mut levels = Vec::new();
        #[cfg(target_arch = "x86_64")]
        {
            levels.extend(avx512::Avx512::new().map(Kind::Avx512));
            levels.extend(avx2::Avx2::new().map(Kind::Avx2));
            levels.extend(sse2::Sse2::new().map(Kind::Sse2));
        }
        #[cfg(target_arch = "aarch64")]
        levels.extend(neon::Neon::new().map(Kind::Neon));
        levels.push(Kind::Portable(Portable));
        levels.into_iter().map(Self).collect()
    }

    /// The level with the widest vectors.
    #[must_use]
    pub fn best() -> Self {
        Self::available()[0]
    }

    /// 32-bit lanes of its vectors, and whether these are registers.
    pub(crate) fn vectors(self) -> (usize, bool) {
        struct Shape;
        impl WithSimd for Shape {
            type Output = (usize, bool);

            fn with<V: Simd>(self, _: V) -> (usize, bool) {
                (V::LANES, V::IN_REGISTERS)
            }
        }
        self.call(Shape)
    }

    /// Calls `task` with the vectors of this level.
    pub(crate) fn call<T: WithSimd>(self, task: T) -> T::Output {
        match self.0 {
            Kind::Portable(portable) => task.with(portable),
            #[cfg(target_arch = "x86_64")]
            Kind::Sse2(sse2) => task.with(sse2),
            #[cfg(target_arch = "x86_64")]
            Kind::Avx2(avx2) => task.with(avx2),
            #[cfg(target_arch = "x86_64")]
            Kind::Avx512(avx512) => task.with(avx512),
            #[cfg(target_arch = "aarch64")]
            Kind::Neon(neon) => task.with(neon),
        }
    }
}

impl fmt::Display for Level {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self.0 {
            Kind::Portable(_) => "portable",
            #[cfg(target_arch = "x86_64")]
            Kind::Sse2(_) => "sse2",
            #[cfg(target_arch = "x86_64")]
            Kind::Avx2(_) => "avx2",
            #[cfg(target_arch = "x86_64")]
            Kind::Avx512(_) => "avx512",
            #[cfg(target_arch = "aarch64")]
            Kind::Neon(_) => "neon",
        })
    }
}

impl fmt::Debug for Level {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "Level({self})")
    }
}

impl FromStr for Level {
    type Err = UnknownLevel;

    fn from_str(name: &str) -> Result<Self, UnknownLevel> {
        let available = Self::available();
        available.iter().find(|level| level.to_string() == name).copied().ok_or_else(|| UnknownLevel {
            name: name.to_owned(),
            available: available.iter().map(Self::to_string).collect::<Vec<_>>().join(", "),
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::simd::vector::MAX_LANES;

    struct Sums;

    impl WithSimd for Sums {
        type Output = ();

        fn with<V: Simd>(self, v: V) {
            let numbers: [i32; 64] = std::array::from_fn(|i| (i as i32 - 5).wrapping_mul(0x1234_5677));
            let mut running = v.splat_i32(0);
            let mut expected = 0_i32;
            for i in (0..numbers.len()).step_by(V::LANES) {
                running = v.prefix_sums_i32(running, v.load_i32(&numbers, i));
                let mut sums = [0; 16];
                v.store_i32(&mut sums, 0, running);
                for (&number, sum) in numbers[i..].iter().zip(&sums[..V::LANES]) {
                    expected = expected.wrapping_add(number);
                    assert_eq!(*sum, expected, "{} lanes", V::LANES);
                }
            }
        }
    }

    #[test]
    fn prefix_sums_carry_over_vectors_at_every_level() {
        for level in Level::available() {
            level.call(Sums);
        }
    }

    struct Shift;

    impl WithSimd for Shift {
        type Output = ();

        fn with<V: Simd>(self, v: V) {
            let numbers: [i32; 16] = std::array::from_fn(|i| i as i32 + 7);
            for n in [1, 2, 4, 5] {
                let mut out = [0; 16];
                v.store_i32(&mut out, 0, v.shifted_i32(v.load_i32(&numbers, 0), n));
                let lanes = V::LANES.saturating_sub(n);
                assert_eq!(out[..lanes], numbers[n.min(V::LANES)..][..lanes], "{n} of {}", V::LANES);
            }
        }
    }

    #[test]
    fn lanes_shift_by_constants() {
        for level in Level::available() {
            level.call(Shift);
        }
    }

    struct Lanes;

    impl Lanes {
        fn shifted<V: Simd, const K: usize>(v: V, row: &[f32]) {
            let mut out = [0.0; 16];
            v.store_f32(&mut out, 0, v.shifted::<K>(v.load_f32(row, 0), v.load_f32(row, V::LANES)));
            let lanes = if K < V::LANES { V::LANES } else { 0 };
            assert_eq!(out[..lanes], row[K..][..lanes], "{K} of {}", V::LANES);
        }
    }

    impl WithSimd for Lanes {
        type Output = ();

        fn with<V: Simd>(self, v: V) {
            // Sums of one element and twice another are rounded.
            let row: [f32; 64] = std::array::from_fn(|i| (i as f32 - 9.5) * 1.1_f32.powi(3 * i as i32));
            Self::shifted::<V, 1>(v, &row);
            Self::shifted::<V, 2>(v, &row);
            Self::shifted::<V, 3>(v, &row);
            Self::shifted::<V, 4>(v, &row);
            Self::shifted::<V, 5>(v, &row);
            Self::shifted::<V, 6>(v, &row);
            let [a, b] = [v.load_f32(&row, 3), v.load_f32(&row, 20)];
            let mut out = [0.0; 16];
            v.store_f32(&mut out, 0, v.add_twice(a, b));
            for i in 0..V::LANES {
                assert_eq!(out[i], row[3 + i] + (row[20 + i] + row[20 + i]));
            }
            v.store_f32(&mut out, 0, v.abs(a));
            for i in 0..V::LANES {
                assert_eq!(out[i].to_bits(), row[3 + i].abs().to_bits());
            }
            let wide = row.map(f64::from);
            let mut out = [0.0; 8];
            v.store_f64(&mut out, 0, v.next_f64(v.load_f64(&wide, 0), v.load_f64(&wide, V::LANES / 2)));
            assert_eq!(out[..V::LANES / 2], wide[1..][..V::LANES / 2]);
            let numbers: [u16; 32] = std::array::from_fn(|i| (i as u16).wrapping_mul(40503));
            let mut out = [0; 16];
            v.store_i32(&mut out, 0, v.shift_right_i32::<4>(v.load_u16(&numbers, 5)));
            for i in 0..V::LANES {
                assert_eq!(out[i], i32::from(numbers[5 + i]) >> 4);
            }
            // With the highest bit set, and more bits than floats hold.
            let unsigned = numbers.map(|number| u32::from(number) * 65_537);
            assert!(unsigned[..V::LANES].iter().any(|&number| number >> 31 == 1));
            let words = v.load_i32(&unsigned.map(u32::cast_signed), 0);
            let mut floats = [0.0; MAX_LANES];
            v.store_i32(&mut out, 0, v.shift_right_i32::<1>(words));
            v.store_f32(&mut floats, 0, v.unsigned_to_f32(words));
            for i in 0..V::LANES {
                assert_eq!((out[i], floats[i]), ((unsigned[i] >> 1).cast_signed(), unsigned[i] as f32));
            }
            let bytes = numbers.map(|number| (number >> 8) as u8);
            v.store_i32(&mut out, 0, v.load_bytes(&bytes, 7));
            for i in 0..V::LANES {
                assert_eq!(out[i], bytes[7 + i].into());
            }
        }
    }

    #[test]
    fn lanes_shift_and_numbers_widen_at_every_level() {
        for level in Level::available() {
            level.call(Lanes);
        }
    }
}
