//! Runs the body of any kernel in a thread of any provider.

use crate::abi::Kernel;
use crate::kernels;
use crate::simt::{Simt, Word};

/// The arguments of a launch. A kernel reads each once, in their order.
pub trait KernelArguments<S: Simt> {
    /// The next argument, a buffer.
    fn buffer<T: Word>(&mut self) -> S::Buffer<T>;
    /// The next argument, a number.
    fn word<T: Word>(&mut self) -> T;
}

macro_rules! argument {
    ($arguments:ident, [$word:ident]) => {
        $arguments.buffer::<$word>()
    };
    ($arguments:ident, $word:ident) => {
        $arguments.word::<$word>()
    };
}

macro_rules! bodies {
    ($($module:ident :: $name:ident [$threads:literal, $cells:literal] ($($argument:ident : $type:tt),*);)*) => {
        /// Runs what one thread of a kernel does.
        pub fn run<S: Simt, A: KernelArguments<S>>(kernel: Kernel, thread: S, arguments: &mut A) {
            // A function for each kernel, so that each has a stack frame of its own size.
            let body: fn(S, &mut A) = match kernel {
                $(Kernel::$name => |thread, arguments| {
                    $(let $argument = argument!(arguments, $type);)*
                    kernels::$module::$name(thread, $($argument),*);
                },)*
            };
            body(thread, arguments);
        }
    };
}

for_each_kernel!(bodies);
