//! Kernels by name, with what the host needs to launch them.

use super::{border_band, boxes, fused, gaussians, large};

macro_rules! kernel_enum {
    ($($module:ident :: $name:ident [$threads:literal, $cells:literal] ($($argument:ident : $type:tt),*);)*) => {
        /// Kernel by its name in the PTX.
        #[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
        #[allow(non_camel_case_types, missing_docs)]
        pub enum Kernel {
            $($name,)*
        }

        impl Kernel {
            /// All kernels.
            pub const ALL: &'static [Kernel] = &[$(Kernel::$name,)*];

            /// Name of the entry point.
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

            /// Names of the arguments.
            #[must_use]
            pub const fn arguments(self) -> &'static [&'static str] {
                match self {
                    $(Kernel::$name => &[$(stringify!($argument)),*],)*
                }
            }

            /// Shared memory of a block, in cells of 64 bits.
            #[must_use]
            pub const fn cells(self) -> u32 {
                match self {
                    $(Kernel::$name => $cells,)*
                }
            }
        }
    };
}

for_each_kernel!(kernel_enum);

impl Kernel {
    /// Whether the kernel waits for the previous one by itself, so that it may start before that
    /// one ends.
    #[must_use]
    pub fn waits_for_previous_kernels(self) -> bool {
        self.sweep().is_some()
            || self.is_border_band()
            || matches!(self, Kernel::wait_for_copy | Kernel::bucket_scatter | Kernel::bucket_gather)
    }

    /// Whether the kernel computes the border band.
    fn is_border_band(self) -> bool {
        matches!(
            self,
            Kernel::border_band_u8
                | Kernel::border_band_u16
                | Kernel::border_band_f32
                | Kernel::border_band_rounded_u8
        )
    }

    /// Blocks that a multiprocessor must hold at a time, where this limits the registers of a
    /// thread.
    #[must_use]
    pub fn blocks_held(self) -> Option<u32> {
        match self {
            // Without a limit, some assemblers spill.
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

    /// Blocks that a multiprocessor must hold at a time, for a fused kernel that writes responses.
    #[must_use]
    pub fn blocks_held_writing_responses(self) -> Option<u32> {
        self.sweep().map(|sweep| sweep.blocks[1])
    }

    /// Strips of a fused kernel in an image of this width.
    ///
    /// `support_radius` is the number of columns from a corner or response to the farthest sample
    /// it depends on. `radius` is that of suppression.
    #[must_use]
    pub fn strips(self, support_radius: u32, radius: u32, width: u32) -> Option<fused::Strips> {
        let sweep = self.sweep()?;
        let aligned = radius == fused::NO_SUPPRESSION || sweep.input == fused::Input::ResponseMap;
        let overlap = if aligned { fused::overlap_of_map(support_radius) } else { support_radius };
        Some(fused::Strips::new(overlap, width, sweep.mirrors_words))
    }
}

/// Properties of a fused kernel.
struct Sweep {
    /// Blocks that a multiprocessor must hold: when finding corners, and when writing responses.
    blocks: [u32; 2],
    input: fused::Input,
    /// Whether gradients mirror whole words beside the image: see [`fused::Strips`].
    mirrors_words: bool,
}

macro_rules! fused_kernels {
    ($($name:ident [$blocks:literal, $of_responses:literal, $cells:literal] $word:ident: $input:ident, $weights:ident, $window:literal, $most:literal;)*) => {
        impl Kernel {
            fn sweep(self) -> Option<Sweep> {
                match self {
                    $(Kernel::$name => Some(Sweep {
                        blocks: [$blocks, $of_responses],
                        input: fused::Input::$input,
                        mirrors_words: matches!(
                            (fused::Input::$input, fused::Weights::$weights, $window),
                            (fused::Input::GrayU8, fused::Weights::Box, 1)
                        ),
                    }),)*
                    _ => None,
                }
            }

            /// Fused kernel for an input, a window and a radius of suppression. A radius of
            /// [`fused::NO_SUPPRESSION`] asks for a kernel that writes responses.
            #[must_use]
            pub fn fused(input: fused::Input, window: (fused::Weights, usize), radius: u32) -> Option<Kernel> {
                match (input, window) {
                    $((fused::Input::$input, (fused::Weights::$weights, $window)) if radius <= $most => Some(Kernel::$name),)*
                    _ => None,
                }
            }
        }
    };
}

for_each_fused!([fused_kernels]);
