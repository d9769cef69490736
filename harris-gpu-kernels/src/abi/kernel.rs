//! The kernels by their names in the PTX, and what launches need to know of them.

use super::{border_band, boxes, fused, gaussians, large};

macro_rules! kernel_enum {
    ($($module:ident :: $name:ident [$threads:literal, $cells:literal] ($($argument:ident : $type:tt),*);)*) => {
        /// A kernel, by its name in the PTX.
        #[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
        #[allow(non_camel_case_types, missing_docs)]
        pub enum Kernel {
            $($name,)*
        }

        impl Kernel {
            /// All of them.
            pub const ALL: &'static [Kernel] = &[$(Kernel::$name,)*];

            /// The name of the entry point.
            #[must_use]
            pub fn name(self) -> &'static str {
                match self {
                    $(Kernel::$name => stringify!($name),)*
                }
            }

            /// Threads of a block.
            #[must_use]
            pub fn threads(self) -> u32 {
                match self {
                    $(Kernel::$name => $threads,)*
                }
            }

            /// The names of its arguments.
            #[must_use]
            pub const fn arguments(self) -> &'static [&'static str] {
                match self {
                    $(Kernel::$name => &[$(stringify!($argument)),*],)*
                }
            }

            /// Cells, of 64 bits, of a block's shared memory.
            #[must_use]
            pub const fn cells(self) -> u32 {
                match self {
                    $(Kernel::$name => $cells,)*
                }
            }
        }

        #[cfg(feature = "host")]
        impl Kernel {
            /// Its body on the host.
            pub(crate) fn on_host(self) -> for<'a> fn(crate::simt::host::Thread<'a>, &'a [crate::simt::host::Argument]) {
                match self {
                    $(Kernel::$name => |thread, arguments| {
                        let [$($argument),*] = arguments else { panic!("another number of arguments") };
                        crate::kernels::$module::$name(thread, $(on_host!($argument, $type)),*);
                    },)*
                }
            }
        }
    };
}

#[cfg(feature = "host")]
macro_rules! on_host {
    ($argument:ident, [$word:ident]) => {
        $crate::simt::host::buffer::<$word>($argument)
    };
    ($argument:ident, $word:ident) => {
        $crate::simt::host::number::<$word>($argument)
    };
}

for_each_kernel!(kernel_enum);

impl Kernel {
    /// Whether it waits for the kernel before by itself, and so may be started before that one has ended.
    #[must_use]
    pub fn awaits_last(self) -> bool {
        self.sweep().is_some()
            || self.is_border_band()
            || matches!(self, Kernel::wait_for_copy | Kernel::bucket_scatter | Kernel::bucket_gather)
    }

    /// Whether it goes along the rim of images.
    fn is_border_band(self) -> bool {
        matches!(
            self,
            Kernel::border_band_u8
                | Kernel::border_band_u16
                | Kernel::border_band_f32
                | Kernel::border_band_rounded_u8
        )
    }

    /// How many blocks a multiprocessor is to hold, where registers must be shared out for it.
    #[must_use]
    pub fn blocks_held(self) -> Option<u32> {
        match self {
            // Else some assemblers spill, so that there may be more.
            Kernel::suppress => Some(4),
            _ if self.is_border_band() => Some(border_band::BLOCKS),
            Kernel::map_boxes31 => Some(large::BLOCKS),
            Kernel::map_gaussians9
            | Kernel::map_binomial_gaussians9
            | Kernel::map_smoothed_window9
            | Kernel::map_u16_window9
            | Kernel::map_f32_window9 => Some(gaussians::BLOCKS),
            Kernel::map_binomial_gaussians5
            | Kernel::map_smoothed_window5
            | Kernel::map_u16_window5
            | Kernel::map_f32_window5 => Some(gaussians::BLOCKS_OF_NARROW),
            Kernel::map_central_gaussian5 => Some(gaussians::BLOCKS_OF_CENTRAL),
            Kernel::map_rgb_central_gaussian5 => Some(gaussians::BLOCKS_OF_COLOURS),
            Kernel::box_gradient | Kernel::box_response_i32 | Kernel::box_response_i64 => Some(boxes::BLOCKS),
            _ => self.sweep().map(|sweep| sweep.blocks[0]),
        }
    }

    /// How many of a fused kernel where it writes responses.
    #[must_use]
    pub fn blocks_held_writing_responses(self) -> Option<u32> {
        self.sweep().map(|sweep| sweep.blocks[1])
    }

    /// The strips in which a fused kernel goes over images so wide, where a corner, or a response, depends on samples `reach` columns
    /// away, and suppression has this radius.
    #[must_use]
    pub fn strips(self, reach: u32, radius: u32, width: u32) -> Option<fused::Strips> {
        let sweep = self.sweep()?;
        let aligned = radius == fused::WRITES_RESPONSES || sweep.samples == fused::Samples::Responses;
        let side = if aligned { fused::side_of_map(reach) } else { reach };
        Some(fused::Strips::new(side, width, sweep.mirrors_words))
    }
}

/// What is known of a fused kernel.
struct Sweep {
    /// Blocks that a multiprocessor is to hold: where it finds corners, and where it writes responses.
    blocks: [u32; 2],
    samples: fused::Samples,
    /// See [`fused::Strips`].
    mirrors_words: bool,
}

macro_rules! fused_kernels {
    ($($name:ident [$blocks:literal, $of_responses:literal, $cells:literal] $word:ident: $samples:ident, $weights:ident, $window:literal, $most:literal;)*) => {
        impl Kernel {
            fn sweep(self) -> Option<Sweep> {
                match self {
                    $(Kernel::$name => Some(Sweep {
                        blocks: [$blocks, $of_responses],
                        samples: fused::Samples::$samples,
                        mirrors_words: matches!(
                            (fused::Samples::$samples, fused::Weights::$weights, $window),
                            (fused::Samples::Bytes, fused::Weights::Box, 1)
                        ),
                    }),)*
                    _ => None,
                }
            }

            /// The fused kernel for samples and a window, and for a radius of suppression, or for writing responses where that is
            /// [`fused::WRITES_RESPONSES`].
            #[must_use]
            pub fn fused(samples: fused::Samples, window: (fused::Weights, usize), radius: u32) -> Option<Kernel> {
                match (samples, window) {
                    $((fused::Samples::$samples, (fused::Weights::$weights, $window)) if radius <= $most => Some(Kernel::$name),)*
                    _ => None,
                }
            }
        }
    };
}

for_each_fused!([fused_kernels]);
