//! The number type of every stage: integers while they are exact, f32 from the first float weight
//! on.
//!
//! docs/arithmetic.md fixes where an integer image becomes float. Which of several exact types
//! holds an integer is a backend's choice; the limits that it must respect are here.

use crate::config::{Border, Gradient, HarrisConfig, Smoothing, Window};
use crate::image::{ImageView, Samples};

/// The type of an image's samples.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum SampleType {
    /// 8-bit integers, 255 at full brightness.
    U8,
    /// 16-bit integers, 65535 at full brightness.
    U16,
    /// Floats, 1 at full brightness.
    F32,
}

impl SampleType {
    /// All sample types.
    pub const ALL: [Self; 3] = [Self::U8, Self::U16, Self::F32];

    /// The sample type of an image.
    #[must_use]
    pub fn of(image: &ImageView<'_>) -> Self {
        match image.samples() {
            Samples::U8(_) => Self::U8,
            Samples::U16(_) => Self::U16,
            Samples::F32(_) => Self::F32,
        }
    }

    /// Bytes of a sample: 1, 2 or 4.
    #[must_use]
    pub const fn bytes(self) -> usize {
        match self {
            Self::U8 => 1,
            Self::U16 => 2,
            Self::F32 => 4,
        }
    }

    /// The sample of full brightness, as [`Sample::FULL_SCALE`](crate::Sample::FULL_SCALE).
    #[must_use]
    pub const fn full_scale(self) -> f64 {
        match self {
            Self::U8 => u8::MAX as f64,
            Self::U16 => u16::MAX as f64,
            Self::F32 => 1.0,
        }
    }

    /// Whether samples are integers.
    #[must_use]
    pub const fn is_integer(self) -> bool {
        match self {
            Self::U8 | Self::U16 => true,
            Self::F32 => false,
        }
    }
}

/// The kind of numbers in a stage's output.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum NumberKind {
    /// Exact integers, 32 bits wide for smoothed samples and gradients.
    Integer,
    /// f32 numbers, one rounding an operation.
    Float,
}

/// The narrowest type that holds the window sums of products.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum SumType {
    /// Exact sums below 2³¹ in magnitude.
    I32,
    /// Exact sums below 2⁶³ in magnitude.
    I64,
    /// f32 sums, one rounding an operation.
    F32,
}

impl SumType {
    /// Whether sums are exact, so that any order gives the same.
    #[must_use]
    pub const fn is_exact(self) -> bool {
        match self {
            Self::I32 | Self::I64 => true,
            Self::F32 => false,
        }
    }
}

/// What each stage of one configuration computes on, for one kind of image.
///
/// ```
/// use harris_core::HarrisConfig;
/// use harris_core::pipeline::numerics::{NumberKind, Numerics, SampleType, SumType};
///
/// let numerics = Numerics::of(&HarrisConfig::default(), SampleType::U8, 1);
/// assert_eq!(numerics.gradient, NumberKind::Integer);
/// assert_eq!(numerics.sums, SumType::I32);
/// // Sobel's gradient is at most 4 · 255, and 9 squares of it are added up.
/// assert_eq!(numerics.max_gradient, Some(1020.0));
/// assert_eq!(numerics.max_window_sum, Some(9.0 * 1020.0 * 1020.0));
/// ```
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Numerics {
    /// The output of smoothing.
    pub smoothed: NumberKind,
    /// gx and gy.
    pub gradient: NumberKind,
    /// Window sums of products of gradients.
    pub sums: SumType,
    /// The greatest |gx| and |gy|; `None` where gradients are floats.
    pub max_gradient: Option<f64>,
    /// The greatest window sum of gx² or gy² over all channels; `None` where it is a float.
    pub max_window_sum: Option<f64>,
    /// The greatest sum of gx² or gy² over all channels of a pixel; `None` where gradients are
    /// floats.
    greatest_product: Option<f64>,
    /// The sum of the window's weights along one axis.
    taps: f64,
    /// Whether unsigned 32-bit sums of squares fit, with signed ones of gx·gy.
    fits_u32: bool,
}

impl Numerics {
    /// The numbers of `config` for images of `channels` channels, 1 or 3.
    #[must_use]
    pub fn of(config: &HarrisConfig, samples: SampleType, channels: usize) -> Self {
        let smoothed = match config.smoothing() {
            Smoothing::Gaussian { .. } => NumberKind::Float,
            Smoothing::None | Smoothing::Binomial3 | Smoothing::Binomial3Exact | Smoothing::Binomial5 => {
                if samples.is_integer() {
                    NumberKind::Integer
                } else {
                    NumberKind::Float
                }
            }
        };
        // The greatest gradient is none where the gradient's weights are floats.
        let max_gradient = match smoothed {
            NumberKind::Integer => config.max_gradient(samples.full_scale()),
            NumberKind::Float => None,
        };
        let has_exact_weights = match config.window() {
            Window::Box { .. } | Window::Binomial { .. } => true,
            Window::Gaussian { .. } => false,
        };
        let greatest_product = max_gradient.map(|greatest| channels as f64 * (greatest * greatest));
        let max_window_sum = greatest_product
            .filter(|_| has_exact_weights)
            .map(|greatest| greatest * config.window().weight_sum());
        Self {
            smoothed,
            gradient: if max_gradient.is_some() { NumberKind::Integer } else { NumberKind::Float },
            sums: match max_window_sum {
                Some(greatest) if greatest <= f64::from(i32::MAX) => SumType::I32,
                Some(_) => SumType::I64,
                None => SumType::F32,
            },
            max_gradient,
            max_window_sum,
            greatest_product,
            taps: config.window().weight_sum().sqrt(),
            fits_u32: fits_u32(config, samples, channels),
        }
    }

    /// Whether gradients, and twice as much, are 16-bit integers.
    #[must_use]
    pub fn gradients_fit_i16(&self) -> bool {
        self.max_gradient.is_some_and(|greatest| 2.0 * greatest <= f64::from(i16::MAX))
    }

    /// Whether gradients are integers that f32 holds exactly.
    #[must_use]
    pub fn gradients_fit_f32(&self) -> bool {
        self.max_gradient.is_some_and(|greatest| greatest < EXACT_F32)
    }

    /// Whether products of gradients, summed over the channels, are integers that f32 holds
    /// exactly.
    #[must_use]
    pub fn products_fit_f32(&self) -> bool {
        self.greatest_product.is_some_and(|greatest| greatest <= EXACT_F32)
    }

    /// Whether window sums are integers that fit in 32 bits with a sign.
    #[must_use]
    pub fn sums_fit_i32(&self) -> bool {
        match self.sums {
            SumType::I32 => true,
            SumType::I64 | SumType::F32 => false,
        }
    }

    /// Whether 32 bits hold every window sum, where those of gx² and gy² have no sign.
    ///
    /// The sums of gx·gy keep a sign. For a binomial window of 7 docs/arithmetic.md shows that they
    /// fit.
    #[must_use]
    pub fn sums_fit_u32(&self) -> bool {
        self.sums_fit_i32() || self.fits_u32
    }

    /// Whether f64 holds every window sum exactly, and running sums over `columns` columns of the
    /// sums down them.
    #[must_use]
    pub fn running_sums_fit_f64(&self, columns: usize) -> bool {
        self.max_window_sum
            .is_some_and(|greatest| greatest.max(greatest / self.taps * columns as f64) <= EXACT_F64)
    }
}

/// The integers up to which f32 is exact: 2²⁴.
const EXACT_F32: f64 = (1 << 24) as f64;
/// The integers up to which f64 is exact: 2⁵³.
const EXACT_F64: f64 = (1_u64 << 53) as f64;

/// Whether the case of docs/arithmetic.md holds in which sums fit in 32 bits, those of squares
/// unsigned.
fn fits_u32(config: &HarrisConfig, samples: SampleType, channels: usize) -> bool {
    let is_rounded = match config.smoothing() {
        Smoothing::None | Smoothing::Binomial3 | Smoothing::Binomial5 => true,
        Smoothing::Binomial3Exact | Smoothing::Gaussian { .. } => false,
    };
    // Under `Replicate` rows and columns of gradients beyond the edges repeat, as in no image.
    let is_as_an_image = match config.border() {
        Border::Reflect101 | Border::Zero | Border::Skip => true,
        Border::Replicate => false,
    };
    samples == SampleType::U8
        && channels == 1
        && is_rounded
        && config.gradient() == Gradient::Sobel3
        && config.window() == (Window::Binomial { size: 7 })
        && is_as_an_image
}

#[cfg(test)]
mod tests {
    use std::collections::{BTreeSet, HashMap};

    use super::*;
    use crate::config::HarrisConfigBuilder;

    fn numerics(
        choices: impl FnOnce(HarrisConfigBuilder) -> HarrisConfigBuilder,
        samples: SampleType,
        channels: usize,
    ) -> Numerics {
        let config = choices(HarrisConfig::builder()).build().expect("choices are valid");
        Numerics::of(&config, samples, channels)
    }

    #[test]
    fn an_image_becomes_float_at_the_first_float_weight() {
        use NumberKind::{Float, Integer};
        let stages = |numerics: Numerics| (numerics.smoothed, numerics.gradient, numerics.sums.is_exact());
        let gaussian = Smoothing::Gaussian { size: 3, sigma: 1.0 };
        let derivative = Gradient::GaussianDerivative { size: 3, sigma: 1.0 };
        let window = Window::Gaussian { size: 3, sigma: 1.0 };
        for samples in [SampleType::U8, SampleType::U16] {
            assert_eq!(stages(numerics(|b| b, samples, 1)), (Integer, Integer, true));
            assert_eq!(stages(numerics(|b| b.smoothing(gaussian), samples, 3)), (Float, Float, false));
            assert_eq!(stages(numerics(|b| b.gradient(derivative), samples, 1)), (Integer, Float, false));
            assert_eq!(stages(numerics(|b| b.window(window), samples, 1)), (Integer, Integer, false));
        }
        let floats = numerics(|b| b, SampleType::F32, 1);
        assert_eq!(stages(floats), (Float, Float, false));
        assert_eq!((floats.max_gradient, floats.max_window_sum), (None, None));
    }

    /// The table of docs/arithmetic.md, section Limits.
    #[test]
    fn window_sums_have_the_types_of_the_table() {
        let sums = |gradient, window, samples, channels| {
            numerics(|b| b.gradient(gradient).window(window), samples, channels).sums
        };
        let (sobel, scharr) = (Gradient::Sobel3, Gradient::Scharr3);
        let (box3, box7, binomial7) =
            (Window::Box { size: 3 }, Window::Box { size: 7 }, Window::Binomial { size: 7 });
        assert_eq!(sums(sobel, box3, SampleType::U8, 1), SumType::I32);
        assert_eq!(sums(sobel, box3, SampleType::U8, 3), SumType::I32);
        assert_eq!(sums(sobel, box7, SampleType::U8, 1), SumType::I32);
        assert_eq!(sums(sobel, box3, SampleType::U16, 1), SumType::I64);
        assert_eq!(sums(sobel, binomial7, SampleType::U8, 1), SumType::I64);
        assert_eq!(sums(scharr, binomial7, SampleType::U8, 3), SumType::I64);
    }

    #[test]
    fn exact_types_end_at_their_limits() {
        let gradient = |gradient, samples| numerics(|b| b.gradient(gradient), samples, 1);
        assert!(gradient(Gradient::Scharr3, SampleType::U8).gradients_fit_i16());
        assert!(!gradient(Gradient::Sobel7, SampleType::U8).gradients_fit_i16());
        assert!(!gradient(Gradient::Central, SampleType::U16).gradients_fit_i16());
        assert!(gradient(Gradient::Box { size: 21 }, SampleType::U16).gradients_fit_f32());
        assert!(!gradient(Gradient::Box { size: 31 }, SampleType::U16).gradients_fit_f32());
        assert!(gradient(Gradient::Scharr3, SampleType::U8).products_fit_f32());
        assert!(!gradient(Gradient::Central, SampleType::U16).products_fit_f32());
        // 9 · (4 · 65535)² = 2^39.2, a third of it down a window, and 2^53 is 2^15.4 times that.
        assert!(gradient(Gradient::Sobel3, SampleType::U16).running_sums_fit_f64(40_000));
        assert!(!gradient(Gradient::Sobel3, SampleType::U16).running_sums_fit_f64(44_000));
        assert!(!gradient(Gradient::Sobel3, SampleType::F32).running_sums_fit_f64(1));
    }

    #[test]
    fn unsigned_sums_are_told_for_sobel_and_binomial_7_alone() {
        let fits = |border, smoothing, size, channels| {
            let window = Window::Binomial { size };
            numerics(|b| b.border(border).smoothing(smoothing).window(window), SampleType::U8, channels)
                .sums_fit_u32()
        };
        assert!(fits(Border::Reflect101, Smoothing::Binomial3, 7, 1));
        assert!(fits(Border::Replicate, Smoothing::Binomial3, 5, 1));
        assert!(!fits(Border::Replicate, Smoothing::Binomial3, 7, 1));
        assert!(!fits(Border::Reflect101, Smoothing::Binomial3Exact, 7, 1));
        assert!(!fits(Border::Reflect101, Smoothing::Binomial3, 7, 3));
    }

    const WEIGHTS: [u32; 7] = [1, 6, 15, 20, 15, 6, 1];

    /// The greatest sum of ((gx + gy)/2)² over `count` pixels along a diagonal, of images of 0 and
    /// 1.
    ///
    /// The diagonal runs to the lower right. All images of two values are tried.
    fn greatest_diagonal_sum(count: i32) -> u32 {
        let neighbours =
            |k: i32| [(1, 0), (0, 1), (1, 1), (-1, 0), (0, -1), (-1, -1)].map(|(x, y)| (x + k, y + k));
        let places: BTreeSet<_> = (0..count).flat_map(neighbours).collect();
        let bits: HashMap<_, _> = places.into_iter().enumerate().map(|(bit, place)| (place, bit)).collect();
        let terms: Vec<_> = (0..count).map(|k| neighbours(k).map(|place| bits[&place])).collect();
        let square = |image: u32, term: &[usize; 6]| {
            let [a, b, c, d, e, f] = term.map(|bit| (image >> bit & 1) as i32);
            (a + b + c - d - e - f).pow(2).cast_unsigned()
        };
        let sum = |image| terms.iter().map(|term| square(image, term)).sum();
        (0..1 << bits.len()).map(sum).max().expect("there are images")
    }

    /// Upper bound, in 255², on the window sum of gx·gy for weights across and down.
    ///
    /// `greatest` has the greatest sums over one, two and three pixels of a diagonal.
    fn greatest_weighted_sum(across: &[u32], down: &[u32], greatest: [u32; 3]) -> u32 {
        let weight = |x: usize, d: i32| {
            let y = usize::try_from(x as i32 + d).ok();
            across[x] * y.and_then(|y| down.get(y)).copied().unwrap_or(0)
        };
        let along_diagonal = |d| {
            let mut remaining: Vec<u32> = (0..across.len()).map(|x| weight(x, d)).collect();
            let mut sum = 0;
            for count in [3, 2, 1] {
                let least =
                    |weights: &[u32], i: usize| weights[i..i + count].iter().copied().min().expect("some");
                let mut starts: Vec<_> = (0..(remaining.len() + 1).saturating_sub(count)).collect();
                starts.sort_by_key(|&i| std::cmp::Reverse(least(&remaining, i)));
                for i in starts {
                    let taken = least(&remaining, i);
                    remaining[i..i + count].iter_mut().for_each(|weight| *weight -= taken);
                    sum += taken * greatest[count - 1];
                }
            }
            sum
        };
        (-(across.len() as i32)..=down.len() as i32).map(along_diagonal).sum()
    }

    /// The weights of the pixels of a line of `len` in a window around `centre`, mirrored at both
    /// ends.
    ///
    /// Differences are 0 at the ends, so these weigh nothing.
    fn mirrored_weights(len: i32, centre: i32) -> Vec<u32> {
        let mut weights = vec![0; len as usize];
        for (i, weight) in (centre - 3..).zip(WEIGHTS) {
            let place = if len == 1 { 0 } else { i.rem_euclid(2 * (len - 1)) };
            weights[place.min(2 * (len - 1) - place) as usize] += weight;
        }
        (weights[0], weights[len as usize - 1]) = (0, 0);
        weights
    }

    #[test]
    fn sums_of_binomial_windows_of_7_have_32_bits() {
        assert!(4096 * 1020_u64.pow(2) < 1 << 32);
        let greatest = [1, 2, 3].map(greatest_diagonal_sum);
        assert_eq!(greatest, [9, 18, 22]);
        assert_eq!(255 * 255 * greatest_weighted_sum(&WEIGHTS, &WEIGHTS, greatest), 2_093_089_725);
        let near_edges = (1..=15).flat_map(|len| (0..len).map(move |centre| mirrored_weights(len, centre)));
        let cut = (0..7).flat_map(|start| (start + 1..=7).map(move |end| WEIGHTS[start..end].to_vec()));
        for lines in [near_edges.collect::<BTreeSet<_>>(), cut.collect()] {
            for across in &lines {
                for down in &lines {
                    let sum = 255 * 255 * u64::from(greatest_weighted_sum(across, down, greatest));
                    assert!(sum <= 2_093_089_725, "{across:?}, {down:?}: {sum}");
                }
            }
        }
    }
}
