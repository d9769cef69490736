//! Arrays that the compiler vectorises with the instructions of the target.

use std::array;

use super::vector::{Simd, SimdKernel};

/// Vectors as arrays: it needs no instructions beyond those of the target.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Portable;

const N: usize = 8;

#[inline(always)]
fn zip<T: Copy, U, const M: usize>(a: [T; M], b: [T; M], f: impl Fn(T, T) -> U) -> [U; M] {
    array::from_fn(|i| f(a[i], b[i]))
}

#[inline(always)]
fn load<T: Copy, const M: usize>(row: &[T], i: usize) -> [T; M] {
    let row = &row[i..i + M];
    array::from_fn(|i| row[i])
}

#[inline(always)]
fn bits<T: Copy, const M: usize>(a: [T; M], b: [T; M], f: impl Fn(T, T) -> bool) -> u32 {
    (0..M).fold(0, |bits, i| bits | u32::from(f(a[i], b[i])) << i)
}

impl Simd for Portable {
    const LANES: usize = N;
    const IN_REGISTERS: bool = false;
    type I16 = [i16; 2 * N];
    type I32 = [i32; N];
    type F32 = [f32; N];
    type F64 = [f64; N / 2];

    #[inline(always)]
    fn enter<K: SimdKernel>(self, kernel: K) -> K::Output {
        #[inline(never)]
        fn compiled<K: SimdKernel>(v: Portable, kernel: K) -> K::Output {
            kernel.run(v)
        }
        compiled(self, kernel)
    }

    #[inline(always)]
    fn load_u8(self, row: &[u8], i: usize) -> Self::I16 {
        load::<u8, { 2 * N }>(row, i).map(i16::from)
    }
    #[inline(always)]
    fn load_i16(self, row: &[i16], i: usize) -> Self::I16 {
        load(row, i)
    }
    #[inline(always)]
    fn store_i16(self, row: &mut [i16], i: usize, v: Self::I16) {
        row[i..i + 2 * N].copy_from_slice(&v);
    }
    #[inline(always)]
    fn load_i32(self, row: &[i32], i: usize) -> Self::I32 {
        load(row, i)
    }
    #[inline(always)]
    fn store_i32(self, row: &mut [i32], i: usize, v: Self::I32) {
        row[i..i + N].copy_from_slice(&v);
    }
    #[inline(always)]
    fn load_f32(self, row: &[f32], i: usize) -> Self::F32 {
        load(row, i)
    }
    #[inline(always)]
    fn store_f32(self, row: &mut [f32], i: usize, v: Self::F32) {
        row[i..i + N].copy_from_slice(&v);
    }
    #[inline(always)]
    fn load_f64(self, row: &[f64], i: usize) -> Self::F64 {
        load(row, i)
    }
    #[inline(always)]
    fn load_widened(self, row: &[f32], i: usize) -> Self::F64 {
        load::<f32, { N / 2 }>(row, i).map(f64::from)
    }
    #[inline(always)]
    fn store_f64(self, row: &mut [f64], i: usize, v: Self::F64) {
        row[i..i + N / 2].copy_from_slice(&v);
    }
    #[inline(always)]
    fn splat_i16(self, v: i16) -> Self::I16 {
        [v; 2 * N]
    }
    #[inline(always)]
    fn splat_i32(self, v: i32) -> Self::I32 {
        [v; N]
    }
    #[inline(always)]
    fn splat_f64(self, v: f64) -> Self::F64 {
        [v; N / 2]
    }
    #[inline(always)]
    fn splat_f32(self, v: f32) -> Self::F32 {
        [v; N]
    }
    #[inline(always)]
    fn add_i16(self, a: Self::I16, b: Self::I16) -> Self::I16 {
        zip(a, b, i16::wrapping_add)
    }
    #[inline(always)]
    fn sub_i16(self, a: Self::I16, b: Self::I16) -> Self::I16 {
        zip(a, b, i16::wrapping_sub)
    }
    #[inline(always)]
    fn shift_right_4(self, a: Self::I16) -> Self::I16 {
        a.map(|v| (v as u16 >> 4) as i16)
    }
    #[inline(always)]
    fn shift_right_8(self, a: Self::I16) -> Self::I16 {
        a.map(|v| (v as u16 >> 8) as i16)
    }
    #[inline(always)]
    fn mul_i16(self, a: Self::I16, b: Self::I16) -> Self::I16 {
        zip(a, b, i16::wrapping_mul)
    }
    #[inline(always)]
    fn rounded_sixteenth(self, a: Self::I16) -> Self::I16 {
        a.map(|v| v.wrapping_add(8) >> 4)
    }
    #[inline(always)]
    fn next_i16(self, a: Self::I16) -> Self::I16 {
        array::from_fn(|i| a[(i + 1) % (2 * N)])
    }
    #[inline(always)]
    fn odd_lanes(self, a: Self::I16) -> Self::I16 {
        array::from_fn(|i| if i % 2 == 1 { a[i] } else { 0 })
    }
    #[inline(always)]
    fn max_i16(self, a: Self::I16, b: Self::I16) -> Self::I16 {
        zip(a, b, i16::max)
    }
    #[inline(always)]
    fn greater_i16(self, a: Self::I16, b: Self::I16) -> u32 {
        bits(a, b, |a, b| a > b)
    }
    #[inline(always)]
    fn equal_i16(self, a: Self::I16, b: Self::I16) -> u32 {
        bits(a, b, |a, b| a == b)
    }
    #[inline(always)]
    fn upper_halves(self, low: Self::F32, high: Self::F32) -> Self::I16 {
        array::from_fn(|i| (if i < N { low[i] } else { high[i - N] }.to_bits() >> 16) as i16)
    }
    #[inline(always)]
    fn dot(self, a: Self::I16, b: Self::I16) -> Self::I32 {
        let product = |i: usize| i32::from(a[i]).wrapping_mul(i32::from(b[i]));
        array::from_fn(|i| product(2 * i).wrapping_add(product(2 * i + 1)))
    }
    #[inline(always)]
    fn dot_add(self, acc: Self::I32, a: Self::I16, b: Self::I16) -> Self::I32 {
        self.add_i32(acc, self.dot(a, b))
    }
    #[inline(always)]
    fn add_i32(self, a: Self::I32, b: Self::I32) -> Self::I32 {
        zip(a, b, i32::wrapping_add)
    }
    #[inline(always)]
    fn sub_i32(self, a: Self::I32, b: Self::I32) -> Self::I32 {
        zip(a, b, i32::wrapping_sub)
    }
    #[inline(always)]
    fn shifted_i32(self, a: Self::I32, n: usize) -> Self::I32 {
        array::from_fn(|i| a[(i + n) % N])
    }
    #[inline(always)]
    fn prefix_sums_i32(self, before: Self::I32, mut a: Self::I32) -> Self::I32 {
        let mut last = before[N - 1];
        for a in &mut a {
            last = last.wrapping_add(*a);
            *a = last;
        }
        a
    }
    #[inline(always)]
    fn to_f32(self, a: Self::I32) -> Self::F32 {
        a.map(|v| v as f32)
    }
    #[inline(always)]
    fn add(self, a: Self::F32, b: Self::F32) -> Self::F32 {
        zip(a, b, |a, b| a + b)
    }
    #[inline(always)]
    fn sub(self, a: Self::F32, b: Self::F32) -> Self::F32 {
        zip(a, b, |a, b| a - b)
    }
    #[inline(always)]
    fn mul(self, a: Self::F32, b: Self::F32) -> Self::F32 {
        zip(a, b, |a, b| a * b)
    }
    #[inline(always)]
    fn div(self, a: Self::F32, b: Self::F32) -> Self::F32 {
        zip(a, b, |a, b| a / b)
    }
    #[inline(always)]
    fn sqrt(self, a: Self::F32) -> Self::F32 {
        a.map(f32::sqrt)
    }
    #[inline(always)]
    fn max(self, a: Self::F32, b: Self::F32) -> Self::F32 {
        zip(a, b, |a, b| if a > b { a } else { b })
    }
    #[inline(always)]
    fn interleave(self, even: Self::F32, odd: Self::F32) -> [Self::F32; 2] {
        [0, N / 2]
            .map(|half| array::from_fn(|i| if i % 2 == 0 { even[half + i / 2] } else { odd[half + i / 2] }))
    }
    #[inline(always)]
    fn to_i32(self, a: Self::F32) -> Self::I32 {
        a.map(|v| v as i32)
    }
    #[inline(always)]
    fn narrow(self, a: [Self::F64; 2]) -> Self::F32 {
        array::from_fn(|i| a[2 * i / N][i % (N / 2)] as f32)
    }
    #[inline(always)]
    fn add_f64(self, a: Self::F64, b: Self::F64) -> Self::F64 {
        zip(a, b, |a, b| a + b)
    }
    #[inline(always)]
    fn sub_f64(self, a: Self::F64, b: Self::F64) -> Self::F64 {
        zip(a, b, |a, b| a - b)
    }
    #[inline(always)]
    fn mul_f64(self, a: Self::F64, b: Self::F64) -> Self::F64 {
        zip(a, b, |a, b| a * b)
    }
    #[inline(always)]
    fn add_product(self, acc: Self::F64, a: Self::F64, b: Self::F64) -> Self::F64 {
        self.add_f64(acc, self.mul_f64(a, b))
    }
    #[inline(always)]
    fn sub_product(self, acc: Self::F64, a: Self::F64, b: Self::F64) -> Self::F64 {
        self.sub_f64(acc, self.mul_f64(a, b))
    }
    #[inline(always)]
    fn prefix_sums_f64(self, mut a: Self::F64) -> Self::F64 {
        (1..N / 2).for_each(|i| a[i] += a[i - 1]);
        a
    }
    #[inline(always)]
    fn last_f64(self, a: Self::F64) -> Self::F64 {
        [a[N / 2 - 1]; N / 2]
    }
    #[inline(always)]
    fn min_i32(self, a: Self::I32, b: Self::I32) -> Self::I32 {
        zip(a, b, i32::min)
    }
    #[inline(always)]
    fn max_i32(self, a: Self::I32, b: Self::I32) -> Self::I32 {
        zip(a, b, i32::max)
    }
    #[inline(always)]
    fn greater_i32(self, a: Self::I32, b: Self::I32) -> u32 {
        bits(a, b, |a, b| a > b)
    }
    #[inline(always)]
    fn greater(self, a: Self::F32, b: Self::F32) -> u32 {
        bits(a, b, |a, b| a > b)
    }
    #[inline(always)]
    fn at_least(self, a: Self::F32, b: Self::F32) -> u32 {
        bits(a, b, |a, b| a >= b)
    }
}
