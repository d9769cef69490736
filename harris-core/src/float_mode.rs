//! The floating-point mode that the results are defined for: rounding to nearest even, and
//! subnormal numbers as they are.
//!
//! A program may have set another mode, as audio software and some libraries do: subnormal numbers
//! become 0, or results are rounded in another direction. Threads inherit the mode of the thread
//! that starts them. Backends compute inside [`standard`], so that no mode changes a result.

#![allow(unsafe_code)]

/// Calls `work` in the standard floating-point mode, and restores the caller's mode afterwards.
///
/// The mode is also restored where `work` panics. Exceptions do not trap meanwhile. It takes a few
/// nanoseconds; nothing is changed where the mode is standard already. x86 processors with SSE and
/// 64-bit ARM processors are supported; on others `work` is called in the mode there is.
///
/// ```
/// use harris_core::float_mode;
///
/// let smallest = float_mode::standard(|| std::hint::black_box(f32::MIN_POSITIVE) / 2.0);
/// assert!(smallest.is_subnormal());
/// ```
#[inline]
pub fn standard<R>(work: impl FnOnce() -> R) -> R {
    let _mode = Mode::enter();
    apart(work)
}

/// Keeps the compiler from moving operations of `work` to where the mode is not set.
#[inline(never)]
fn apart<R>(work: impl FnOnce() -> R) -> R {
    work()
}

/// Restores the caller's mode when it is dropped, if it was another one.
struct Mode {
    restore: Option<Control>,
}

impl Mode {
    #[inline]
    fn enter() -> Self {
        let control = read();
        if control & CONTROL == STANDARD {
            return Self { restore: None };
        }
        write(control & !CONTROL | STANDARD);
        Self { restore: Some(control) }
    }
}

impl Drop for Mode {
    #[inline]
    fn drop(&mut self) {
        if let Some(control) = self.restore {
            write(control);
        }
    }
}

#[cfg(all(any(target_arch = "x86", target_arch = "x86_64"), target_feature = "sse"))]
use x86::{CONTROL, Control, STANDARD, read, write};

#[cfg(all(any(target_arch = "x86", target_arch = "x86_64"), target_feature = "sse"))]
mod x86 {
    //! MXCSR.

    use std::arch::asm;

    pub(super) type Control = u32;

    /// Denormals are zero, masks of exceptions, rounding, flush to zero.
    pub(super) const CONTROL: Control = 1 << 6 | 0x3F << 7 | 3 << 13 | 1 << 15;
    /// All exceptions are masked.
    pub(super) const STANDARD: Control = 0x3F << 7;

    #[inline]
    pub(super) fn read() -> Control {
        let mut control = 0;
        // SAFETY: it writes the four bytes of `control`.
        unsafe { asm!("stmxcsr [{}]", in(reg) &raw mut control, options(nostack, preserves_flags)) };
        control
    }

    #[inline]
    pub(super) fn write(control: Control) {
        // SAFETY: it reads the four bytes of `control`, which were read from the register but for
        // defined bits. Code of this crate sees the standard mode, its callers the one they set.
        unsafe { asm!("ldmxcsr [{}]", in(reg) &raw const control, options(nostack, preserves_flags)) };
    }
}

#[cfg(target_arch = "aarch64")]
use arm::{CONTROL, Control, STANDARD, read, write};

#[cfg(target_arch = "aarch64")]
mod arm {
    //! FPCR.

    use std::arch::asm;

    pub(super) type Control = u64;

    /// FIZ, AH and NEP; traps; FZ16; rounding; FZ, DN and AHP.
    pub(super) const CONTROL: Control = 0b111 | 0x9F << 8 | 1 << 19 | 3 << 22 | 1 << 24 | 1 << 25 | 1 << 26;
    pub(super) const STANDARD: Control = 0;

    #[inline]
    pub(super) fn read() -> Control {
        let control;
        // SAFETY: it reads a register that every program may read.
        unsafe { asm!("mrs {}, fpcr", out(reg) control, options(nostack, preserves_flags)) };
        control
    }

    #[inline]
    pub(super) fn write(control: Control) {
        // SAFETY: every program may write the register; the value was read from it but for defined
        // bits. Code of this crate sees the standard mode, its callers the one they set.
        unsafe { asm!("msr fpcr, {}", in(reg) control, options(nostack, preserves_flags)) };
    }
}

#[cfg(not(any(
    all(any(target_arch = "x86", target_arch = "x86_64"), target_feature = "sse"),
    target_arch = "aarch64"
)))]
use other::{CONTROL, Control, STANDARD, read, write};

#[cfg(not(any(
    all(any(target_arch = "x86", target_arch = "x86_64"), target_feature = "sse"),
    target_arch = "aarch64"
)))]
mod other {
    //! Processors whose mode is not known.

    pub(super) type Control = u32;
    pub(super) const CONTROL: Control = 0;
    pub(super) const STANDARD: Control = 0;

    pub(super) fn read() -> Control {
        0
    }

    pub(super) fn write(_: Control) {}
}

#[cfg(test)]
mod tests {
    use std::hint::black_box;
    use std::panic::catch_unwind;

    use super::*;

    /// Another mode: subnormal numbers become 0, and results are rounded down.
    #[cfg(all(target_arch = "x86_64", target_feature = "sse"))]
    const OTHER: Control = 1 << 6 | 1 << 15 | 1 << 13;
    #[cfg(target_arch = "aarch64")]
    const OTHER: Control = 1 << 24 | 2 << 22;

    #[cfg(any(all(target_arch = "x86_64", target_feature = "sse"), target_arch = "aarch64"))]
    #[test]
    fn the_callers_mode_holds_before_and_behind_the_work_alone() {
        let third = || black_box(1.0_f32) / black_box(3.0);
        let half_of_least = || black_box(f32::MIN_POSITIVE) * black_box(0.5);
        let (nearest, before) = (third(), read());
        write(before & !CONTROL | STANDARD | OTHER);
        let (down, flushed) = (third(), half_of_least());
        let (inside, kept, nested) =
            standard(|| (third(), half_of_least(), standard(|| (third(), half_of_least()))));
        let behind = (third(), half_of_least());
        let panicked = catch_unwind(|| standard(|| assert!(black_box(false), "a panic that is caught")));
        let after_panic = (third(), half_of_least());
        write(before);
        assert!(panicked.is_err());
        assert_eq!((down, flushed), (nearest.next_down(), 0.0));
        assert_eq!((inside, kept), (nearest, f32::MIN_POSITIVE / 2.0));
        assert_eq!(nested, (inside, kept));
        assert_eq!(behind, (down, flushed));
        assert_eq!(after_panic, (down, flushed));
    }
}
