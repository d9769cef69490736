//! The table of docs/coverage.md: which engine computes which configuration.

use std::collections::BTreeMap;
use std::fmt::Write;

use harris_core::pipeline::numerics::SampleType;
use harris_core::{Border, Gradient, HarrisConfig, Smoothing, Window};

use crate::plan::{Engine, Plan, Shape, Vectors};

/// The vectors of the table: their name, 32-bit lanes, and whether they are registers.
pub const VECTORS: [(&str, Vectors); 4] = [
    ("512 bits (avx512)", Vectors { lanes: 16, in_registers: true }),
    ("256 bits (avx2)", Vectors { lanes: 8, in_registers: true }),
    ("128 bits (sse2, neon)", Vectors { lanes: 4, in_registers: true }),
    ("arrays (portable)", Vectors { lanes: 8, in_registers: false }),
];

/// The formats of images: the type of samples, and channels.
pub const FORMATS: [(SampleType, usize); 6] = [
    (SampleType::U8, 1),
    (SampleType::U8, 3),
    (SampleType::U16, 1),
    (SampleType::U16, 3),
    (SampleType::F32, 1),
    (SampleType::F32, 3),
];

/// A smoothing of each kind.
pub const SMOOTHINGS: [Smoothing; 6] = [
    Smoothing::None,
    Smoothing::Binomial3,
    Smoothing::Binomial3Exact,
    Smoothing::Binomial5,
    Smoothing::Gaussian { size: 5, sigma: 1.0 },
    Smoothing::Gaussian { size: 127, sigma: 20.0 },
];

/// A gradient of each kind, and those between which the engine changes.
pub const GRADIENTS: [Gradient; 11] = [
    Gradient::Sobel3,
    Gradient::Scharr3,
    Gradient::Central,
    Gradient::Sobel5,
    Gradient::Sobel7,
    Gradient::Box { size: 3 },
    Gradient::Box { size: 5 },
    Gradient::Box { size: 21 },
    Gradient::Box { size: 31 },
    Gradient::GaussianDerivative { size: 5, sigma: 1.0 },
    Gradient::GaussianDerivative { size: 127, sigma: 20.0 },
];

/// A window of each kind, and those between which the engine changes.
pub const WINDOWS: [Window; 17] = [
    Window::Box { size: 3 },
    Window::Box { size: 5 },
    Window::Box { size: 7 },
    Window::Box { size: 9 },
    Window::Box { size: 11 },
    Window::Box { size: 31 },
    Window::Box { size: 57 },
    Window::Box { size: 127 },
    Window::Box { size: 4 },
    Window::Binomial { size: 3 },
    Window::Binomial { size: 5 },
    Window::Binomial { size: 7 },
    Window::Gaussian { size: 3, sigma: 1.0 },
    Window::Gaussian { size: 5, sigma: 1.0 },
    Window::Gaussian { size: 7, sigma: 1.0 },
    Window::Gaussian { size: 9, sigma: 1.0 },
    Window::Gaussian { size: 127, sigma: 20.0 },
];

/// All borders.
pub const BORDERS: [Border; 4] = [Border::Reflect101, Border::Replicate, Border::Zero, Border::Skip];

/// Configurations of a table row: a list of choices for each stage, of which every combination has the engine.
#[derive(Clone, Debug, PartialEq)]
struct Group {
    formats: Vec<usize>,
    smoothings: Vec<usize>,
    gradients: Vec<usize>,
    borders: Vec<usize>,
    /// The engine for each window; none where the configuration is not valid.
    engines: Vec<Option<String>>,
}

/// Merges groups that differ in one list of choices alone.
fn merge(groups: Vec<Group>, list: fn(&mut Group) -> &mut Vec<usize>) -> Vec<Group> {
    let mut merged: Vec<Group> = Vec::new();
    for mut group in groups {
        let own = std::mem::take(list(&mut group));
        let like = merged.iter_mut().find(|other| {
            let mut other = (*other).clone();
            list(&mut other).clear();
            other == group
        });
        match like {
            Some(other) => list(other).extend(own),
            None => {
                *list(&mut group) = own;
                merged.push(group);
            }
        }
    }
    merged
}

/// The engine of a configuration in a few words; none where it is not valid.
fn engine_of(
    vectors: Vectors,
    (samples, channels): (SampleType, usize),
    (smoothing, gradient, window): (Smoothing, Gradient, Window),
    border: Border,
) -> Option<String> {
    let config = HarrisConfig::builder().smoothing(smoothing).gradient(gradient).window(window);
    let config = config.border(border).build().ok()?;
    let shape = Shape { samples, channels, width: 1920, height: 1080, vectors };
    Some(match Plan::of(&shape, &config).engine {
        Engine::Sweep(engine) => engine.kind(),
        Engine::Staged(_) => "stages".to_owned(),
    })
}

fn groups(vectors: Vectors) -> Vec<Group> {
    let mut groups = Vec::new();
    for (format, &image) in FORMATS.iter().enumerate() {
        for (s, &smoothing) in SMOOTHINGS.iter().enumerate() {
            for (g, &gradient) in GRADIENTS.iter().enumerate() {
                for (b, &border) in BORDERS.iter().enumerate() {
                    let engine = |&window| engine_of(vectors, image, (smoothing, gradient, window), border);
                    groups.push(Group {
                        formats: vec![format],
                        smoothings: vec![s],
                        gradients: vec![g],
                        borders: vec![b],
                        engines: WINDOWS.iter().map(engine).collect(),
                    });
                }
            }
        }
    }
    let groups = merge(groups, |group| &mut group.borders);
    let groups = merge(groups, |group| &mut group.gradients);
    let groups = merge(groups, |group| &mut group.smoothings);
    merge(groups, |group| &mut group.formats)
}

/// The names of choices, separated by commas; "all" where none is missing.
fn names<T>(choices: &[usize], all: &[T], name: impl Fn(&T) -> String) -> String {
    if choices.len() == all.len() {
        return "all".to_owned();
    }
    choices.iter().map(|&i| name(&all[i])).collect::<Vec<_>>().join(", ")
}

fn format_name((samples, channels): &(SampleType, usize)) -> String {
    let samples = match samples {
        SampleType::U8 => "u8",
        SampleType::U16 => "u16",
        SampleType::F32 => "f32",
    };
    format!("{samples} {}", if *channels == 1 { "gray" } else { "color" })
}

/// The name of a choice without its sigma, of which no engine depends.
fn name_without_sigma(name: &str) -> String {
    name.split(':').take(2).collect::<Vec<_>>().join(":")
}

/// The rows "configuration × engine" of docs/coverage.md as Markdown, a table for each kind of vectors.
///
/// Rows with equal engines are joined. Measures, thresholds, radii and selection do not choose the engine of responses.
#[must_use]
pub fn markdown() -> String {
    let mut text = String::new();
    for (name, vectors) in VECTORS {
        let _ = writeln!(text, "### Vectors of {name}\n");
        text.push_str("| image | smoothing | gradient | border | window | engine |\n");
        text.push_str("| --- | --- | --- | --- | --- | --- |\n");
        for group in groups(vectors) {
            let mut windows: BTreeMap<&str, Vec<usize>> = BTreeMap::new();
            for (window, engine) in group.engines.iter().enumerate() {
                if let Some(engine) = engine {
                    windows.entry(engine).or_default().push(window);
                }
            }
            let image = names(&group.formats, &FORMATS, format_name);
            let smoothing =
                names(&group.smoothings, &SMOOTHINGS, |choice| name_without_sigma(&choice.to_string()));
            let gradient =
                names(&group.gradients, &GRADIENTS, |choice| name_without_sigma(&choice.to_string()));
            let border = names(&group.borders, &BORDERS, Border::to_string);
            for (engine, windows) in windows {
                let window = names(&windows, &WINDOWS, |choice| name_without_sigma(&choice.to_string()));
                let _ =
                    writeln!(text, "| {image} | {smoothing} | {gradient} | {border} | {window} | {engine} |");
            }
        }
        text.push('\n');
    }
    text
}
