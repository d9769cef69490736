//! The entry points of the PTX.

#![allow(unsafe_code)]

use crate::kernels;
use crate::simt::nvptx::{Nvptx, Pointer};

macro_rules! parameter {
    ([$word:ident]) => { *mut $word };
    ($word:ident) => { $word };
}

macro_rules! argument {
    ($argument:ident, [$word:ident]) => {
        Pointer($argument)
    };
    ($argument:ident, $word:ident) => {
        $argument
    };
}

macro_rules! thread {
    (0) => {
        Nvptx::new()
    };
    ($cells:literal) => {
        Nvptx::with_shared_memory::<$cells>()
    };
}

macro_rules! entries {
    ($($module:ident :: $name:ident [$threads:literal, $cells:tt] ($($argument:ident : $type:tt),*);)*) => {$(
        #[unsafe(no_mangle)]
        unsafe extern "ptx-kernel" fn $name($($argument: parameter!($type)),*) {
            // SAFETY: whoever launches the kernel passes buffers of the sizes of the table of kernels; the
            // host provider checks that bodies stay inside those and inside their cells.
            let thread = unsafe { thread!($cells) };
            kernels::$module::$name(thread, $(argument!($argument, $type)),*);
        }
    )*};
}

crate::for_each_kernel!(entries);
