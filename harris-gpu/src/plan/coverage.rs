//! Every combination of choices, and what runs for it: the content of docs/coverage.md.

use std::collections::BTreeMap;
use std::fmt::Write as _;

use harris_core::config::MeasureKind;
use harris_core::{Border, Gradient, HarrisConfig, Measure, Smoothing, Subpixel, Threshold, Window};

use super::{Plan, Shape};
use crate::device::Depth;

/// Side in pixels of the images of a [`Case`]: large enough for every kernel.
const SIDE: u32 = 1024;

/// Number of axes along which choices vary.
pub const AXES: usize = 9;

/// Names of the axes.
pub const AXIS_NAMES: [&str; AXES] =
    ["samples", "smoothing", "gradient", "window", "measure", "threshold", "border", "suppression", "other"];

/// The axes from this one on are merged before those before it.
const FIRST_INNER_AXIS: usize = 4;

/// A combination of choices.
#[derive(Clone, Debug)]
pub struct Case {
    /// Shape of the image.
    pub shape: Shape,
    /// The configuration.
    pub config: HarrisConfig,
    /// Numbers of the choices, one an axis: see [`Choices::names`].
    pub choices: [usize; AXES],
}

/// What varies along the last axis.
#[derive(Clone, Copy, Debug)]
enum OtherChoice {
    Nothing,
    Mask,
    Quadratic,
}

/// The choices of each axis.
///
/// Sizes are those at which plans change, and one beyond.
#[derive(Clone, Debug)]
pub struct Choices {
    samples: Vec<(Depth, u32)>,
    smoothings: Vec<Smoothing>,
    gradients: Vec<Gradient>,
    windows: Vec<Window>,
    measures: Vec<Measure>,
    thresholds: Vec<Threshold>,
    borders: Vec<Border>,
    radii: Vec<u32>,
    others: Vec<OtherChoice>,
}

impl Choices {
    /// All choices.
    #[must_use]
    pub fn all() -> Self {
        let sigma = 1.2;
        let depths = [Depth::U8, Depth::U16, Depth::F32];
        let mut smoothings =
            vec![Smoothing::None, Smoothing::Binomial3, Smoothing::Binomial3Exact, Smoothing::Binomial5];
        smoothings.extend([5, 9, 11].map(|size| Smoothing::Gaussian { size, sigma }));
        let mut gradients =
            vec![Gradient::Sobel3, Gradient::Scharr3, Gradient::Central, Gradient::Sobel5, Gradient::Sobel7];
        gradients.extend([9, 11, 31].map(|size| Gradient::Box { size }));
        gradients.extend([5, 9, 11].map(|size| Gradient::GaussianDerivative { size, sigma }));
        let mut windows = [2, 3, 5, 7, 9, 21, 31, 33].map(|size| Window::Box { size }).to_vec();
        windows.extend([3, 5, 7].map(|size| Window::Binomial { size }));
        windows.extend([3, 5, 7, 9, 11].map(|size| Window::Gaussian { size, sigma }));
        Self {
            samples: depths.into_iter().flat_map(|depth| [(depth, 1), (depth, 3)]).collect(),
            smoothings,
            gradients,
            windows,
            // No plan depends on the measure: two show it.
            measures: vec![MeasureKind::Harris.usual(), MeasureKind::Noble.usual()],
            thresholds: vec![Threshold::Relative(0.01), Threshold::Rosin { bins: 64 }],
            borders: vec![Border::Reflect101, Border::Replicate, Border::Zero, Border::Skip],
            radii: vec![0, 2, 3, 5],
            others: vec![OtherChoice::Nothing, OtherChoice::Mask, OtherChoice::Quadratic],
        }
    }

    /// Names of the choices of each axis, in the notation of configurations, without what no plan
    /// depends on.
    #[must_use]
    pub fn names(&self) -> [Vec<String>; AXES] {
        let sample_type = |&(depth, channels): &(Depth, u32)| {
            let depth = match depth {
                Depth::U8 => "u8",
                Depth::U16 => "u16",
                Depth::F32 => "f32",
            };
            if channels == 1 { format!("{depth} gray") } else { format!("{depth} color") }
        };
        let threshold = |threshold: &Threshold| match threshold {
            Threshold::Absolute(_) | Threshold::Relative(_) | Threshold::None => "value".to_owned(),
            Threshold::Rosin { .. } => "rosin".to_owned(),
        };
        let other = |other: &OtherChoice| match other {
            OtherChoice::Nothing => "none".to_owned(),
            OtherChoice::Mask => "mask".to_owned(),
            OtherChoice::Quadratic => "quadratic".to_owned(),
        };
        [
            self.samples.iter().map(sample_type).collect(),
            self.smoothings.iter().map(|choice| parts(&choice.to_string(), 2)).collect(),
            self.gradients.iter().map(|choice| parts(&choice.to_string(), 2)).collect(),
            self.windows.iter().map(|choice| parts(&choice.to_string(), 2)).collect(),
            self.measures.iter().map(|choice| parts(&choice.to_string(), 1)).collect(),
            self.thresholds.iter().map(threshold).collect(),
            self.borders.iter().map(ToString::to_string).collect(),
            self.radii.iter().map(ToString::to_string).collect(),
            self.others.iter().map(other).collect(),
        ]
    }

    /// Calls `check` with every valid combination of choices, in the order of the axes.
    pub fn for_each_case(&self, mut check: impl FnMut(&Case)) {
        let counts = self.names().map(|names| names.len());
        let total: usize = counts.iter().product();
        for combination in 0..total {
            let mut rest = combination;
            let mut choices = [0; AXES];
            for (choice, count) in choices.iter_mut().zip(counts).rev() {
                (*choice, rest) = (rest % count, rest / count);
            }
            if let Some(case) = self.case(choices) {
                check(&case);
            }
        }
    }

    /// A combination; `None` beyond the limits of the arithmetic.
    fn case(&self, choices: [usize; AXES]) -> Option<Case> {
        let [samples, smoothing, gradient, window, measure, threshold, border, radius, other] = choices;
        let (subpixel, is_masked) = match self.others[other] {
            OtherChoice::Nothing => (Subpixel::None, false),
            OtherChoice::Mask => (Subpixel::None, true),
            OtherChoice::Quadratic => (Subpixel::Quadratic, false),
        };
        let config = HarrisConfig::builder()
            .smoothing(self.smoothings[smoothing])
            .gradient(self.gradients[gradient])
            .window(self.windows[window])
            .measure(self.measures[measure])
            .threshold(self.thresholds[threshold])
            .border(self.borders[border])
            .suppression_radius(self.radii[radius])
            .subpixel(subpixel)
            .build()
            .ok()?;
        let (depth, channels) = self.samples[samples];
        let (width, height, stride) = (SIDE, SIDE, (SIDE * channels) as usize);
        let mask_pitch = if is_masked { SIDE as usize } else { 0 };
        let shape = Shape { width, height, channels, depth, stride, mask_pitch, images: 1 };
        Some(Case { shape, config, choices })
    }
}

/// The first parts of a notation such as `gaussian:5:1.2`, separated by spaces.
fn parts(notation: &str, count: usize) -> String {
    notation.split(':').take(count).collect::<Vec<_>>().join(" ")
}

/// Choices of each axis, and what runs for all combinations of them.
#[derive(Clone, Debug, PartialEq)]
pub struct Row {
    /// Bit i of an axis stands for its choice number i.
    pub choices: [u32; AXES],
    /// [`Plan::outline`].
    pub outline: String,
}

impl Row {
    /// Whether a combination is one of the row's.
    #[must_use]
    pub fn contains(&self, choices: &[usize; AXES]) -> bool {
        self.choices.iter().zip(choices).all(|(bits, choice)| bits >> choice & 1 == 1)
    }

    /// The number of combinations.
    #[must_use]
    pub fn count(&self) -> usize {
        self.choices.iter().map(|bits| bits.count_ones() as usize).product()
    }
}

/// Combinations, as [`Row::choices`], and the number of their outline.
type NumberedRow = ([u32; AXES], usize);

/// What runs for all combinations, in rows that are merged along one axis after the other.
#[must_use]
pub fn rows(choices: &Choices) -> Vec<Row> {
    let mut outlines: Vec<String> = Vec::new();
    let (mut rows, mut inner): (Vec<NumberedRow>, Vec<NumberedRow>) = (Vec::new(), Vec::new());
    choices.for_each_case(|case| {
        let choices = case.choices.map(|choice| 1 << choice);
        if inner.first().is_some_and(|(first, _)| first[..FIRST_INNER_AXIS] != choices[..FIRST_INNER_AXIS]) {
            rows.append(&mut merge(std::mem::take(&mut inner), FIRST_INNER_AXIS..AXES));
        }
        let outline = Plan::of(&case.shape, &case.config).outline();
        let outline_index = outlines.iter().position(|known| *known == outline).unwrap_or_else(|| {
            outlines.push(outline);
            outlines.len() - 1
        });
        inner.push((choices, outline_index));
    });
    rows.append(&mut merge(inner, FIRST_INNER_AXIS..AXES));
    let rows = merge(rows, 0..FIRST_INNER_AXIS).into_iter();
    rows.map(|(choices, outline_index)| Row { choices, outline: outlines[outline_index].clone() }).collect()
}

/// Merges rows that differ in one axis alone, for some axes, the last first. Rows keep the order of
/// the first of each.
fn merge(mut rows: Vec<NumberedRow>, axes: std::ops::Range<usize>) -> Vec<NumberedRow> {
    for axis in axes.rev() {
        let mut places: BTreeMap<NumberedRow, usize> = BTreeMap::new();
        let mut merged: Vec<NumberedRow> = Vec::new();
        for (choices, outline) in rows {
            let mut others = choices;
            others[axis] = 0;
            let place = *places.entry((others, outline)).or_insert(merged.len());
            match merged.get_mut(place) {
                Some((known, _)) => known[axis] |= choices[axis],
                None => merged.push((choices, outline)),
            }
        }
        rows = merged;
    }
    rows
}

/// Rows as a table in Markdown. A cell has `*` where all choices of its axis run alike.
#[must_use]
pub fn table(choices: &Choices, rows: &[Row]) -> String {
    let names = choices.names();
    let mut table = format!("| {} | runs |\n|{}\n", AXIS_NAMES.join(" | "), " --- |".repeat(AXES + 1));
    for row in rows {
        for (names, bits) in names.iter().zip(row.choices) {
            let chosen: Vec<_> = names
                .iter()
                .enumerate()
                .filter(|(i, _)| bits >> i & 1 == 1)
                .map(|(_, name)| &**name)
                .collect();
            let cell = if chosen.len() == names.len() { "*".to_owned() } else { chosen.join(", ") };
            let _ = write!(table, "| {cell} ");
        }
        let _ = writeln!(table, "| {} |", row.outline);
    }
    table
}
