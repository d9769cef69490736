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
pub const SMOOTHINGS: [Smoothing; 5] = [
    Smoothing::None,
    Smoothing::Binomial3,
    Smoothing::Binomial3Exact,
    Smoothing::Binomial5,
    Smoothing::Gaussian { size: 5, sigma: 1.0 },
];

/// A gradient of each kind, and those between which the engine changes.
pub const GRADIENTS: [Gradient; 9] = [
    Gradient::Sobel3,
    Gradient::Scharr3,
    Gradient::Central,
    Gradient::Sobel5,
    Gradient::Sobel7,
    Gradient::Box { size: 3 },
    Gradient::Box { size: 5 },
    Gradient::Box { size: 31 },
    Gradient::GaussianDerivative { size: 5, sigma: 1.0 },
];

/// A window of each kind, and those between which the engine changes.
pub const WINDOWS: [Window; 14] = [
    Window::Box { size: 3 },
    Window::Box { size: 5 },
    Window::Box { size: 7 },
    Window::Box { size: 9 },
    Window::Box { size: 11 },
    Window::Box { size: 31 },
    Window::Box { size: 4 },
    Window::Binomial { size: 3 },
    Window::Binomial { size: 5 },
    Window::Binomial { size: 7 },
    Window::Gaussian { size: 3, sigma: 1.0 },
    Window::Gaussian { size: 5, sigma: 1.0 },
    Window::Gaussian { size: 7, sigma: 1.0 },
    Window::Gaussian { size: 9, sigma: 1.0 },
];

/// All borders.
pub const BORDERS: [Border; 4] = [Border::Reflect101, Border::Replicate, Border::Zero, Border::Skip];

/// The choices of a table row: formats, smoothings, gradients, borders and windows, by their places
/// in the lists above.
type Choices = [Vec<usize>; 5];

/// A table row: configurations of which every valid combination has the engine.
type Row = (Choices, String);

/// Joins rows that differ in one list of choices alone.
fn join(rows: Vec<Row>, list: usize) -> Vec<Row> {
    let mut joined: Vec<Row> = Vec::new();
    let mut places: BTreeMap<Row, usize> = BTreeMap::new();
    for (mut choices, engine) in rows {
        let own = std::mem::take(&mut choices[list]);
        let key = (choices, engine);
        if let Some(&place) = places.get(&key) {
            joined[place].0[list].extend(own);
        } else {
            places.insert(key.clone(), joined.len());
            let (mut choices, engine) = key;
            choices[list] = own;
            joined.push((choices, engine));
        }
    }
    joined.iter_mut().for_each(|(choices, _)| choices[list].sort_unstable());
    joined
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

fn rows(vectors: Vectors) -> Vec<Row> {
    let mut rows = Vec::new();
    for (f, &format) in FORMATS.iter().enumerate() {
        for (s, &smoothing) in SMOOTHINGS.iter().enumerate() {
            for (g, &gradient) in GRADIENTS.iter().enumerate() {
                for (b, &border) in BORDERS.iter().enumerate() {
                    let engine = |&window| engine_of(vectors, format, (smoothing, gradient, window), border);
                    let engines: Vec<_> = WINDOWS.iter().map(engine).collect();
                    // A window that is not valid joins the row of the one before it, or of the
                    // first.
                    let mut last = engines.iter().flatten().next().cloned();
                    for (w, engine) in engines.into_iter().enumerate() {
                        last = engine.or(last);
                        if let Some(engine) = last.clone() {
                            rows.push(([f, s, g, b, w].map(|i| vec![i]), engine));
                        }
                    }
                }
            }
        }
    }
    // Borders first, then windows, gradients, smoothings, formats.
    [3, 4, 2, 1, 0].into_iter().fold(rows, join)
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

/// The name of a choice without its sigma, on which no engine depends.
fn without_sigma(name: &str) -> String {
    name.split(':').take(2).collect::<Vec<_>>().join(":")
}

/// The rows "configuration × engine" of docs/coverage.md as Markdown, a table for each kind of
/// vectors.
///
/// Rows with equal engines are joined, and so are equal tables. Some rows also hold combinations
/// that are no valid configuration. Measures, thresholds, radii and selection do not choose the
/// engine of responses.
#[must_use]
pub fn markdown() -> String {
    let mut text = String::new();
    let mut tables: Vec<(String, Vec<Row>)> = Vec::new();
    for (name, vectors) in VECTORS {
        let rows = rows(vectors);
        match tables.iter_mut().find(|(_, other)| *other == rows) {
            Some((names, _)) => {
                let _ = write!(names, ", {name}");
            }
            None => tables.push((name.to_owned(), rows)),
        }
    }
    for (name, rows) in tables {
        let _ = writeln!(text, "### Vectors: {name}\n");
        text.push_str("| image | smoothing | gradient | border | window | engine |\n");
        text.push_str("| --- | --- | --- | --- | --- | --- |\n");
        for ([formats, smoothings, gradients, borders, windows], engine) in rows {
            let image = names(&formats, &FORMATS, format_name);
            let smoothing = names(&smoothings, &SMOOTHINGS, |choice| without_sigma(&choice.to_string()));
            let gradient = names(&gradients, &GRADIENTS, |choice| without_sigma(&choice.to_string()));
            let border = names(&borders, &BORDERS, Border::to_string);
            let window = names(&windows, &WINDOWS, |choice| without_sigma(&choice.to_string()));
            let _ = writeln!(text, "| {image} | {smoothing} | {gradient} | {border} | {window} | {engine} |");
        }
        text.push('\n');
    }
    text
}
