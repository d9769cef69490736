//! Every combination of choices, and what runs for it: the content of docs/coverage.md.

use std::collections::BTreeMap;
use std::fmt::Write as _;

use harris_core::config::MeasureKind;
use harris_core::{Border, Gradient, HarrisConfig, Smoothing, Subpixel, Threshold, Window};

use super::{Plan, Shape};
use crate::device::Depth;

/// Side in pixels of the images of a [`Case`]: large enough for every kernel.
const SIDE: u32 = 1024;

/// A combination of choices, with the name of each.
#[derive(Clone, Debug)]
pub struct Case {
    /// Shape of the image.
    pub shape: Shape,
    /// The configuration.
    pub config: HarrisConfig,
    /// Names of the choices, one an axis of [`AXES`].
    pub names: [String; AXES.len()],
}

/// The axes of a [`Case`].
pub const AXES: [&str; 9] =
    ["samples", "smoothing", "gradient", "window", "measure", "threshold", "border", "suppression", "other"];

/// The last axis of a [`Case`].
#[derive(Clone, Copy)]
enum Other {
    Nothing,
    Mask,
    Quadratic,
}

/// Calls `check` with every valid combination of choices, in a fixed order.
///
/// Sizes are those at which plans change, and one beyond.
pub fn for_each_case(mut check: impl FnMut(Case)) {
    let samples =
        [(Depth::U8, 1), (Depth::U8, 3), (Depth::U16, 1), (Depth::U16, 3), (Depth::F32, 1), (Depth::F32, 3)];
    let (gaussian, sigma) = ([5, 9, 11], 1.2);
    let smoothings = [Smoothing::None, Smoothing::Binomial3, Smoothing::Binomial3Exact, Smoothing::Binomial5]
        .into_iter()
        .chain(gaussian.map(|size| Smoothing::Gaussian { size, sigma }));
    let gradients =
        [Gradient::Sobel3, Gradient::Scharr3, Gradient::Central, Gradient::Sobel5, Gradient::Sobel7]
            .into_iter()
            .chain([9, 11, 31].map(|size| Gradient::Box { size }))
            .chain(gaussian.map(|size| Gradient::GaussianDerivative { size, sigma }));
    let windows = [2, 3, 5, 7, 9, 21, 31, 33]
        .map(|size| Window::Box { size })
        .into_iter()
        .chain([3, 5, 7].map(|size| Window::Binomial { size }))
        .chain([3, 5, 7, 9, 11].map(|size| Window::Gaussian { size, sigma }));
    let measures = MeasureKind::ALL.map(MeasureKind::usual);
    let thresholds = [Threshold::Relative(0.01), Threshold::Rosin { bins: 64 }];
    let borders = [Border::Reflect101, Border::Replicate, Border::Zero, Border::Skip];
    let others = [Other::Nothing, Other::Mask, Other::Quadratic];
    for (depth, channels) in samples {
        for smoothing in smoothings.clone() {
            for gradient in gradients.clone() {
                for window in windows.clone() {
                    let stages =
                        HarrisConfig::builder().smoothing(smoothing).gradient(gradient).window(window);
                    for measure in measures {
                        for threshold in thresholds {
                            for border in borders {
                                for radius in [0, 1, 2, 3, 5] {
                                    for other in others {
                                        let subpixel = match other {
                                            Other::Quadratic => Subpixel::Quadratic,
                                            Other::Nothing | Other::Mask => Subpixel::None,
                                        };
                                        let config = (stages.clone().measure(measure).threshold(threshold))
                                            .border(border)
                                            .suppression_radius(radius)
                                            .subpixel(subpixel);
                                        // Combinations beyond the limits of the arithmetic are no
                                        // configuration.
                                        if let Ok(config) = config.build() {
                                            check(Case::new((depth, channels), config, other));
                                        }
                                    }
                                }
                            }
                        }
                    }
                }
            }
        }
    }
}

impl Case {
    fn new((depth, channels): (Depth, u32), config: HarrisConfig, other: Other) -> Self {
        let samples = match depth {
            Depth::U8 => "u8",
            Depth::U16 => "u16",
            Depth::F32 => "f32",
        };
        let sized = |text: &str, size: u32| format!("{text} {size}");
        let smoothing = match config.smoothing() {
            Smoothing::None => "none".to_owned(),
            Smoothing::Binomial3 => sized("binomial", 3),
            Smoothing::Binomial3Exact => "exact binomial 3".to_owned(),
            Smoothing::Binomial5 => sized("binomial", 5),
            Smoothing::Gaussian { size, .. } => sized("gaussian", size),
        };
        let gradient = match config.gradient() {
            Gradient::Sobel3 => sized("sobel", 3),
            Gradient::Sobel5 => sized("sobel", 5),
            Gradient::Sobel7 => sized("sobel", 7),
            Gradient::Scharr3 => sized("scharr", 3),
            Gradient::Central => "central".to_owned(),
            Gradient::Box { size } => sized("box", size),
            Gradient::GaussianDerivative { size, .. } => sized("gaussian", size),
        };
        let window = match config.window() {
            Window::Box { size } => sized("box", size),
            Window::Binomial { size } => sized("binomial", size),
            Window::Gaussian { size, .. } => sized("gaussian", size),
        };
        let measure = config.measure().to_string();
        let measure = measure.split(':').next().unwrap_or_default().to_owned();
        let threshold = match config.threshold() {
            Threshold::Absolute(_) | Threshold::Relative(_) | Threshold::None => "value",
            Threshold::Rosin { .. } => "rosin",
        };
        let border = match config.border() {
            Border::Reflect101 => "reflect101",
            Border::Replicate => "replicate",
            Border::Zero => "zero",
            Border::Skip => "skip",
        };
        let suppression = config.suppression_radius().to_string();
        let (other, is_masked) = match other {
            Other::Nothing => ("none", false),
            Other::Mask => ("mask", true),
            Other::Quadratic => ("quadratic", false),
        };
        let (width, height, stride) = (SIDE, SIDE, (SIDE * channels) as usize);
        let mask_pitch = if is_masked { SIDE as usize } else { 0 };
        Self {
            shape: Shape { width, height, channels, depth, stride, mask_pitch, images: 1 },
            config,
            names: [
                format!("{samples}x{channels}"),
                smoothing,
                gradient,
                window,
                measure,
                threshold.to_owned(),
                border.to_owned(),
                suppression,
                other.to_owned(),
            ],
        }
    }
}

/// Choices of each axis, and what runs for all combinations of them.
#[derive(Clone, Debug, PartialEq)]
pub struct Row {
    /// Names of the choices of each axis of [`AXES`].
    pub choices: [Vec<String>; AXES.len()],
    /// [`Plan::outline`].
    pub outline: String,
}

/// All combinations of [`for_each_case`] and what runs for them, in as few rows as merging along
/// one axis after the other gives.
#[must_use]
pub fn rows() -> Vec<Row> {
    let mut names: [Vec<String>; AXES.len()] = Default::default();
    let mut outlines: Vec<String> = Vec::new();
    // Each row has bits for the choices of each axis.
    let mut merged: Vec<([u32; AXES.len()], usize)> = Vec::new();
    for_each_case(|case| {
        let mut choices = [0; AXES.len()];
        for ((choice, known), name) in choices.iter_mut().zip(&mut names).zip(case.names) {
            *choice = 1 << place(known, name);
        }
        merged.push((choices, place(&mut outlines, Plan::of(&case.shape, &case.config).outline())));
    });
    for axis in (0..AXES.len()).rev() {
        // By all that must be equal, in the order of the first that has it.
        let mut groups: BTreeMap<([u32; AXES.len()], usize), (usize, u32)> = BTreeMap::new();
        for (i, (choices, outline)) in merged.into_iter().enumerate() {
            let mut others = choices;
            others[axis] = 0;
            groups.entry((others, outline)).or_insert((i, 0)).1 |= choices[axis];
        }
        let mut rows: Vec<_> = groups.into_iter().collect();
        rows.sort_by_key(|&(_, (first, _))| first);
        merged = rows
            .into_iter()
            .map(|((mut choices, outline), (_, bits))| {
                choices[axis] = bits;
                (choices, outline)
            })
            .collect();
    }
    let list = |names: &[String], bits: u32| {
        names.iter().enumerate().filter(|(i, _)| bits >> i & 1 == 1).map(|(_, name)| name.clone()).collect()
    };
    merged
        .into_iter()
        .map(|(choices, outline)| Row {
            choices: std::array::from_fn(|axis| list(&names[axis], choices[axis])),
            outline: outlines[outline].clone(),
        })
        .collect()
}

/// The place of an item in a list, to whose end it is added unless it is there.
fn place(list: &mut Vec<String>, item: String) -> usize {
    list.iter().position(|known| *known == item).unwrap_or_else(|| {
        list.push(item);
        list.len() - 1
    })
}

/// [`rows`] as a table in Markdown. An axis whose choices all run alike is marked by `*`.
#[must_use]
pub fn table() -> String {
    let rows = rows();
    let total = |axis: usize| {
        let mut names: Vec<_> = rows.iter().flat_map(|row| &row.choices[axis]).collect();
        names.sort();
        names.dedup();
        names.len()
    };
    let totals: [usize; AXES.len()] = std::array::from_fn(total);
    let mut table = format!("| {} | runs |\n|{}\n", AXES.join(" | "), " --- |".repeat(AXES.len() + 1));
    for row in &rows {
        for (choices, &total) in row.choices.iter().zip(&totals) {
            let cell = if choices.len() == total { "*".to_owned() } else { choices.join(", ") };
            let _ = write!(table, "| {cell} ");
        }
        let _ = writeln!(table, "| {} |", row.outline);
    }
    table
}
