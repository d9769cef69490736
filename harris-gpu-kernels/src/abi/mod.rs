//! The kernels, their arguments and the numbers by which choices are named, once for all sides.

#[macro_use]
mod kernels;
pub mod specialise;

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

            /// The measure, where it is an argument.
            fn specialised_by_measure(self) -> &'static [specialise::Parameter] {
                match self {
                    $(Kernel::$name => const { &specialise::measure_of(&[$(stringify!($argument)),*]) }.as_slice(),)*
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

            /// The parameters that become constants when it is loaded.
            #[must_use]
            pub fn specialised(self) -> &'static [specialise::Parameter] {
                match self {
                    $(Kernel::$name => const { specialise::of_sweep(fused::Samples::$samples) },)*
                    _ => self.specialised_by_measure(),
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

/// Border rules.
pub mod border {
    /// dcb|abcd|cba
    pub const REFLECT: u32 = 0;
    /// aaa|abcd|ddd
    pub const REPLICATE: u32 = 1;
    /// 000|abcd|000
    pub const ZERO: u32 = 2;
}

/// Axes of lines.
pub mod axis {
    /// Along a row.
    pub const X: u32 = 0;
    /// Along a column.
    pub const Y: u32 = 1;
}

/// Box sums.
pub mod boxes {
    /// The sum of the whole box.
    pub const SUM: u32 = 0;
    /// The side after the centre minus the side before it.
    pub const DIFFERENCE: u32 = 1;
    /// The greatest size.
    pub const MAX_SIZE: u32 = 127;
    /// Threads of a block that sums boxes of integers.
    pub const THREADS: u32 = 128;
    /// Columns that each adds up.
    pub const COLUMNS_PER_THREAD: usize = 4;
    /// Blocks that a multiprocessor is to hold.
    pub const BLOCKS: u32 = 4;

    /// Columns that are added up to each side of a block's, where boxes reach so far.
    #[must_use]
    pub const fn margin(radius: u32) -> u32 {
        radius.next_multiple_of(COLUMNS_PER_THREAD as u32)
    }

    /// Columns of a block of an image's so many, for boxes of some size: about as many for each.
    #[must_use]
    pub const fn columns(width: u32, size: u32) -> u32 {
        // There is a sum before the first.
        const {
            assert!(
                THREADS * COLUMNS_PER_THREAD as u32 > 2 * margin(MAX_SIZE / 2) + COLUMNS_PER_THREAD as u32
            )
        };
        let most = THREADS * COLUMNS_PER_THREAD as u32 - 2 * margin(size / 2) - COLUMNS_PER_THREAD as u32;
        width.div_ceil(width.div_ceil(most)).next_multiple_of(COLUMNS_PER_THREAD as u32)
    }
}

/// Box gradients and box windows in one walk, of larger sizes than [`fused`] kernels have.
pub mod large {
    use super::fused::EACH;
    use crate::simt::WARP;

    /// Columns that a lane has.
    pub const LANE: u32 = 8;
    /// Blocks, which are warps, that a multiprocessor is to hold.
    pub const BLOCKS: u32 = 12;
    /// The greatest radii of gradient and window.
    pub const MOST: u32 = 15;

    /// Rows of samples that wait in shared memory: from the last to come to that which leaves what leaves the window.
    #[must_use]
    pub const fn rows(reach: u32) -> u32 {
        2 * reach + 2
    }

    /// Columns of which a warp leaves the responses, where these depend on samples so many columns away.
    #[must_use]
    pub const fn own(reach: u32) -> u32 {
        LANE * WARP - (2 * reach).next_multiple_of(EACH)
    }
}

/// Gaussian windows in one walk, with the gradients behind which they are.
pub mod gaussians {
    use super::fused::{COLUMNS, EACH};

    /// Blocks, which are warps, that a multiprocessor is to hold.
    pub const BLOCKS: u32 = 8;
    /// Of kernels for narrow windows.
    pub const BLOCKS_OF_NARROW: u32 = 12;
    /// Behind central differences.
    pub const BLOCKS_OF_CENTRAL: u32 = 16;
    /// Behind those of three channels.
    pub const BLOCKS_OF_COLOURS: u32 = 12;
    /// The greatest radius of smoothing, of gradients, and of windows behind them.
    pub const MOST: u32 = 4;
    /// That of narrow windows, of gradients before such, and of windows behind central differences.
    pub const MOST_NARROW: u32 = 2;
    /// That of binomials.
    pub const MOST_OF_BINOMIAL: u32 = 2;

    /// Columns to each side of a warp's that only lead to others, for a kernel of such greatest radii, the gradient's with that of what smooths
    /// before it.
    #[must_use]
    pub const fn side(gradient: u32, window: u32) -> u32 {
        (gradient + window).next_multiple_of(EACH)
    }

    /// Columns of which a warp leaves the responses.
    #[must_use]
    pub const fn own(gradient: u32, window: u32) -> u32 {
        COLUMNS - 2 * side(gradient, window)
    }
}

/// Gradients, of fixed taps but for one.
pub mod gradient {
    /// Sobel's.
    pub const SOBEL: u32 = 0;
    /// Scharr's.
    pub const SCHARR: u32 = 1;
    /// Central differences.
    pub const CENTRAL: u32 = 2;
}

/// Fused kernels.
pub mod fused {
    /// Columns that a warp sees.
    pub const COLUMNS: u32 = 128;
    /// Columns that a lane has.
    pub const EACH: u32 = 4;
    /// Rows that are fetched at once, and then walked.
    pub const ROWS: usize = 3;
    /// The most columns and rows from a corner to a sample on which it depends, the radii of all stages together, where no gradient is a
    /// box and no window wide.
    pub const MOST_REACH: u32 = 8;
    /// The greatest radius of a window whose rows are held in registers.
    pub const MOST_NARROW: usize = 3;
    /// The greatest radii of wide windows that there are kernels for.
    pub const WIDE: [usize; 2] = [10, 15];
    /// The greatest radius of box gradients, and of windows behind them, that there are kernels for.
    pub const MOST_OF_BOXES: usize = 4;

    /// How the columns of an image are shared out to strips, side by side, which overlap.
    ///
    /// Lanes may compute the gradients of their first two columns from one word, those of the others from another, and mirror words beside
    /// the image. Then none of a column inside is to be among these: where anything depends on the column before the image's first, that is
    /// the second of two, and the one after the last is the first of two. Strips of images of odd widths thus lie a column farther left, but
    /// for the first.
    #[derive(Clone, Copy, Debug)]
    pub struct Strips {
        /// How many there are.
        pub number: u32,
        /// Columns from one to the next, which is the most that are a strip's own.
        pub columns: u32,
        /// Columns to each side of its own that only lead to others.
        side: u32,
        /// How many columns strips lie farther left, and those but for the first of images of odd widths.
        shift: u32,
        odd: u32,
    }

    impl Strips {
        /// Of an image at least twice [`MOST_REACH`] wide, where corners or responses depend on columns so far to each side.
        #[must_use]
        pub const fn new(side: u32, width: u32, mirrors_words: bool) -> Self {
            let most = COLUMNS - 2 * side;
            let [shift, odd] = if mirrors_words { [side % 2, width % 2] } else { [0; 2] };
            // Of odd images the first strip sees nothing of the column after the last.
            let fewer = width.saturating_sub(3) & !3;
            if odd == 1 && fewer < most {
                return Self { number: 2, columns: fewer, side, shift, odd };
            }
            Self { number: (width + shift + odd).div_ceil(most), columns: most, side, shift, odd }
        }

        /// Those whose numbers [`Strips::new`] has told, without a division.
        #[must_use]
        pub const fn told(number: u32, columns: u32, side: u32, width: u32, mirrors_words: bool) -> Self {
            let [shift, odd] = if mirrors_words { [side % 2, width % 2] } else { [0; 2] };
            Self { number, columns, side, shift, odd }
        }

        /// The first column that a strip sees; its own are from `side` columns farther right on.
        #[must_use]
        pub const fn left(&self, strip: u32) -> i32 {
            let odd = if strip > 0 { self.odd } else { 0 };
            (strip * self.columns) as i32 - (self.side + self.shift + odd) as i32
        }

        /// How many columns are its own: of one that begins left of the image, which is the first, and of others.
        #[must_use]
        pub const fn own(&self, left: i32) -> u32 {
            self.columns - if left < 0 { self.odd } else { 0 }
        }
    }

    /// Columns to each side of a warp's that only lead to others where it leaves responses which depend on samples so many columns away, or
    /// seeks corners among them: all of a lane's own are left, or read, at once.
    #[must_use]
    pub const fn side_of_map(reach: u32) -> u32 {
        reach.next_multiple_of(EACH)
    }

    /// The radius of suppression of a kernel that writes responses and finds no corners.
    pub const WRITES_RESPONSES: u32 = 0;
    /// The greatest radius of suppression of walks from samples.
    pub const MOST_RADIUS: usize = 2;
    /// That of walks among responses; around corners of which a greater one is asked for these are looked at again.
    pub const MOST_RADIUS_IN_MAP: usize = 4;
    /// Warps that do so in a piece.
    pub const THINNING: u32 = 4;

    /// The greatest magnitude that float samples may have.
    pub const MAX_SAMPLE: f32 = 1e8;

    /// The weights of a window.
    #[derive(Clone, Copy, Debug, PartialEq, Eq)]
    pub enum Weights {
        /// All alike.
        Box,
        /// All alike, of any radius up to one of [`WIDE`], or [`MOST_OF_BOXES`] behind box gradients, which an argument tells.
        Wide,
        /// A row of Pascal's triangle.
        Binomial,
        /// Those that arguments tell, from the centre on.
        Gaussian,
    }

    /// What samples are.
    #[derive(Clone, Copy, Debug, PartialEq, Eq)]
    pub enum Samples {
        /// Of 8 bits and one channel; rows are a multiple of 4 apart.
        Bytes,
        /// Of 16 bits and one channel.
        Words,
        /// Floats of one channel.
        Floats,
        /// Of 8 bits and three channels.
        Colours,
        /// Bytes, of which gradients are the sum of a box on one side minus that on the other, of any radius up to [`MOST_OF_BOXES`],
        /// which an argument tells.
        BoxGradients,
        /// Responses, among which corners are sought.
        Responses,
    }
}

/// The rim of images, as deep as border rules have a part in their corners.
pub mod border_band {
    /// Columns, or rows, of a tile along an edge.
    pub const TILE: u32 = 32;
    /// Blocks that a multiprocessor is to hold.
    pub const BLOCKS: u32 = 3;

    /// Tiles along a line of so many pixels.
    #[must_use]
    pub const fn tiles_across(len: u32) -> u32 {
        len.div_ceil(TILE)
    }

    /// Tiles of an image, which is at least twice as wide and high as its rim is deep.
    #[must_use]
    pub const fn tiles(width: u32, height: u32, depth: u32) -> u32 {
        2 * (tiles_across(width) + tiles_across(height - 2 * depth))
    }
}

/// Measures of the structure tensor.
pub mod measure {
    /// Harris's; the parameter is k.
    pub const HARRIS: u32 = 0;
    /// Shi's and Tomasi's.
    pub const SHI_TOMASI: u32 = 1;
    /// Noble's; the parameter is epsilon.
    pub const NOBLE: u32 = 2;
    /// Triggs's; the parameter is alpha.
    pub const TRIGGS: u32 = 3;

    /// All measures, as the values that kernels are specialised by.
    pub(super) const ALL: &[Option<u32>] = &[Some(HARRIS), Some(SHI_TOMASI), Some(NOBLE), Some(TRIGGS)];
}

/// Thresholds.
pub mod threshold {
    /// The value itself.
    pub const ABSOLUTE: u32 = 0;
    /// The value times the greatest response.
    pub const RELATIVE: u32 = 1;
    /// That of the state, which kernels before have left there.
    pub const FROM_STATE: u32 = 2;
    /// The most of Rosin's bins that a block counts by itself.
    pub const MAX_BINS_IN_BLOCK: u32 = 4096;
}

/// Words of the state, which kernels leave for each other: zeros to start with. Stacks of images have one each.
pub mod state {
    /// The least response, as bits that compare like numbers, all turned.
    pub const LEAST: usize = 0;
    /// The greatest response, as bits that compare like numbers.
    pub const GREATEST: usize = 1;
    /// The threshold, as the bits of an f32.
    pub const THRESHOLD: usize = 2;
    /// Corners of the list; where it is not complete, more than there is room for.
    pub const LENGTH: usize = 3;
    /// Corners of the list before those that are too near to others were taken out of it.
    pub const LENGTH_BEFORE_DISTANCE: usize = 4;
    /// Whether a bin had no room for all its keys.
    pub const BUCKET_OVERFLOW: usize = 5;
    /// Whether a sample is no number that images may have.
    pub const INVALID: usize = 6;
    /// What the greatest response was set to before the walk, as others before were greater: see [`foretold`](super::foretold). It holds
    /// where the walk has found a greater one.
    pub const PREDICTED: usize = 7;
    /// What the greatest response of the last image foretells.
    pub const NEXT_PREDICTION: usize = 8;
    /// How many images in a row had a greater one than the one before foretold.
    pub const PREDICTIONS_HELD: usize = 9;
    /// Corners of the list that those too near to others are being taken out of; more than there is room for where some are missing.
    pub const DISTANCE_INPUT: usize = 10;
    /// Peaks of the Fast-Hessian detector whose place between samples is half a sample away or more.
    pub const REJECTED: usize = 11;
    /// Its length, some of which is not used: states of a stack begin at whole sectors of the cache.
    pub const WORDS: usize = 16;
}

/// The least that the greatest response of an image is, told from those of the images before it: a walk that knows it looks for fewer
/// corners from its beginning on. Where it has not found a greater one, corners may be missing, and it is to be done again without.
pub mod prediction {
    /// How many times as great the last one was, as a difference of bits: four times.
    pub const MARGIN: u32 = 2 << 23;
    /// Images in a row for which it would have held before it is relied on.
    pub const LEAST_HELD: u32 = 8;
}

/// Which pixels of a plateau are corners, as what is added to the bits of a response that comes before one: the corner's bits reach that.
pub mod plateau {
    /// All of its pixels are corners: only a greater response beats one.
    pub const ALL: u32 = 0;
    /// Of equal responses the first in the order of rows beats the others.
    pub const FIRST: u32 = 1;
}

/// Lists of corners.
///
/// A corner's key has its response's bits, all turned, in the upper half, and its pixel's number in the lower: keys
/// ascend as results do, from the strongest on; with their halves exchanged, in the order of rows.
pub mod order {
    /// Keys are sorted as they are: the strongest first, of equals the first in the order of rows.
    pub const BY_RESPONSE: u32 = 0;
    /// Keys are sorted in the order of rows.
    pub const BY_ROWS: u32 = 1;
    /// The strongest first, of equals the last in the order of rows.
    pub const BY_RESPONSE_LAST_FIRST: u32 = 2;
    /// Keys that a block compares with at a time.
    pub const KEYS_AT_ONCE: u32 = 1024;
    /// Runs that are merged at a time.
    pub const RUNS_PER_MERGE: u32 = 16;
    /// Threads that count together how many keys come before one.
    pub const THREADS_PER_KEY: u32 = 8;
    /// Shares of a list that are counted together.
    pub const SHARES_PER_COUNT: u32 = 8;
    /// Not yet decided.
    pub const UNDECIDED: u32 = 0;
    /// Kept.
    pub const KEPT: u32 = 1;
    /// Too near to one that is kept.
    pub const REJECTED: u32 = 2;
}

/// Corners between pixels.
pub mod refine {
    /// The greatest radius that there is room for.
    pub const MAX_RADIUS: u32 = 15;
}

/// GPUs that can start a kernel before the one ahead of it has ended.
pub mod early_start {
    /// The least compute capability of such.
    pub const LEAST: (u32, u32) = (9, 0);

    /// PTX as they are to have it: what it says that it is for is theirs, and their instructions are remarks no more.
    #[cfg(not(target_arch = "nvptx64"))]
    #[must_use]
    pub fn ptx(ptx: &str) -> alloc::string::String {
        ptx.replacen("\n.target sm_75", "\n.target sm_90", 1).replace("// from sm_90 on: ", "")
    }
}

/// Bins of keys.
pub mod buckets {
    /// How many there are at most.
    pub const MAX: u32 = 32768;
    /// Keys that one has room for.
    pub const CAPACITY: u32 = 256;
    /// Warps that scatter the candidates of a piece.
    pub const WARPS_PER_TILE: u32 = 1;
    /// Bins whose keys a warp brings together.
    pub const PER_WARP: u32 = 2;
    /// Bins that are counted together.
    pub const GROUP: u32 = 256;
    /// How often a group is counted, by some blocks each, apart from each other: what counts in one place is done one after the other.
    pub const COPIES: u32 = 8;

    /// Words that count all groups once.
    #[must_use]
    pub const fn groups(buckets: u32) -> u32 {
        // Whole lines of a cache.
        buckets.div_ceil(GROUP).next_multiple_of(32)
    }

    /// Words that count an image's bins: all of each group, so many times, then each bin.
    #[must_use]
    pub const fn counters(buckets: u32) -> u32 {
        COPIES * groups(buckets) + buckets
    }
}

/// Tables of the Fast-Hessian detector's layers and of the triples of them that are compared.
///
/// A blob's key has its determinant's bits, all turned, in the upper half, and its sample's number in the lower.
pub mod pyramid {
    /// A layer's words.
    pub mod layer {
        /// Width of the filter.
        pub const FILTER: usize = 0;
        /// Pixels between samples.
        pub const STEP: usize = 1;
        /// Samples in a row.
        pub const WIDTH: usize = 2;
        /// Number of its first sample among those of all layers.
        pub const FIRST: usize = 3;
        /// What brings sums to the units of an image in 0..1, as the bits of an f32.
        pub const UNIT: usize = 4;
        /// Column and row of its first sample, in pixels.
        pub const ORIGIN: usize = 5;
        /// What a determinant that is not above it becomes, as the bits of an f32.
        pub const LEAST: usize = 6;
        /// How many words a layer has.
        pub const WORDS: usize = 7;
    }

    /// A triple's words.
    pub mod triple {
        /// Number of the bottom layer; those of the middle and the top follow.
        pub const BOTTOM: usize = 0;
        /// Number of the first column, and row, of samples that are compared.
        pub const MARGIN: usize = 3;
        /// Samples in a row that are compared.
        pub const COLUMNS: usize = 4;
        /// Number of its first sample among those of all triples.
        pub const FIRST: usize = 5;
        /// Pixels between samples.
        pub const STEP: usize = 6;
        /// Column and row of the octave's first sample, in pixels.
        pub const ORIGIN: usize = 7;
        /// How many words a triple has.
        pub const WORDS: usize = 8;
    }
}

/// The SURF descriptor's window, tables and cells.
pub mod surf {
    /// Values.
    pub const LENGTH: u32 = 64;
    /// Samples in the circle that the direction is taken from.
    pub const CIRCLE: u32 = 109;
    /// Sectors that are tried.
    pub const DIRECTIONS: u32 = 42;
    /// Samples along a side of the window.
    pub const GRID: u32 = 24;
    /// Samples along a side of a subregion.
    pub const REGION: u32 = 9;
    /// Samples from one subregion to the next.
    pub const SPACING: u32 = 5;
    /// Subregions along a side of the window.
    pub const REGIONS: u32 = 4;

    /// Where the table has the circle's samples: column, row and weight each.
    pub const CIRCLE_TABLE: u32 = 0;
    /// The sectors: where each begins and ends, x and y.
    pub const SECTOR_TABLE: u32 = CIRCLE_TABLE + 3 * CIRCLE;
    /// The weights of a subregion's samples.
    pub const REGION_TABLE: u32 = SECTOR_TABLE + 4 * DIRECTIONS;
    /// The weights of the subregions.
    pub const REGIONS_TABLE: u32 = REGION_TABLE + REGION * REGION;
    /// Floats of the table.
    pub const TABLE: u32 = REGIONS_TABLE + REGIONS * REGIONS;

    /// Shared cells of the sectors; the window's samples, and before them the circle's, come first.
    pub const SECTOR_CELLS: u32 = GRID * GRID;
    /// Those of the values.
    pub const VALUE_CELLS: u32 = SECTOR_CELLS + DIRECTIONS;

    const _: () = assert!(VALUE_CELLS + LENGTH <= 688);
}

/// Tiles of descriptors that are matched.
pub mod matching {
    /// Descriptors of a tile.
    pub const TILE: u32 = 64;
    /// Threads along a side of a block.
    pub const SIDE: u32 = 16;
    /// Words of a nearest: number, squared distance, squared distance of the second.
    pub const WORDS: usize = 3;
}
