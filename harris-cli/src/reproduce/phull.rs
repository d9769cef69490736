//! Phull et al. 2011: LoCoCo against Harris by image size and by kernel size (figures 3 and 4,
//! table I).

use crate::options::Detection;
use anyhow::Result;
use harris_core::{Gradient, HarrisConfig, ImageView, Keypoint, Window, presets};
use harris_evaluation::score;

use crate::reproduce::engines::{Bench, Engine};
use crate::reproduce::photographs::{gray_view, tiled};
use crate::reproduce::published::{comparison_table, figures, row};
use crate::reproduce::report::{Cell, Report, Table};

const SIDES: [usize; 5] = [256, 512, 1024, 2048, 4096];
/// The side of the image for each kernel size, in pixels.
const SIDE: usize = 1024;
const KERNELS: [u32; 7] = [9, 13, 17, 21, 25, 29, 31];
/// The number of strongest corners that are compared.
const STRONGEST: usize = 500;
/// The tolerance between two corners, in pixels.
const TOLERANCE: f64 = 2.0;

pub(crate) fn run(report: &mut Report, bench: &Bench) -> Result<()> {
    report.text(
        "Harris has the derivative of a Gaussian, n x n, with sigma n / 6 (the paper gives none). \
         Its window is a box n x n, as in the paper, or a Gaussian of that sigma. The Gaussian's \
         sums cost as much as the paper's, which are convolutions; box sums are running sums here. \
         LoCoCo has a box gradient and a box window, n x n. All have suppression radius 4 and a \
         threshold of 1 %. On the GPU, times are the device's. The paper's hardware is a GeForce \
         GTX 280 and a Core 2 Duo E6750. The paper gives no sizes for its charts; these are ours.",
    );
    report.text(
        "**The ratios measure different things.** The paper's Harris sorts all responses on the \
         GPU before it suppresses. Its LoCoCo suppresses without sorting, which the authors name \
         as the reason for the gain at 9 x 9. Both of ours suppress without sorting.",
    );
    table_1(report, bench)?;
    let sizes = sizes(report, bench)?;
    let kernels = kernels(report, bench)?;
    ratios(report, bench, &sizes, &kernels);
    detections(report, bench)
}

fn harris(size: u32, is_box: bool) -> Result<HarrisConfig> {
    let sigma = f64::from(size) / 6.0;
    let builder = presets::harris_phull_2011().to_builder();
    let window = if is_box { Window::Box { size } } else { Window::Gaussian { size, sigma } };
    Ok(builder.gradient(Gradient::GaussianDerivative { size, sigma }).window(window).build()?)
}

fn lococo(size: u32) -> Result<HarrisConfig> {
    let builder = presets::lococo_2011().to_builder();
    Ok(builder.gradient(Gradient::Box { size }).window(Window::Box { size }).build()?)
}

/// The times of Harris with a box window, Harris with a Gaussian window, and LoCoCo: on a GPU,
/// those on the device.
type Times = [f64; 3];

const DETECTORS: [&str; 3] = ["Harris, box window", "Harris, Gaussian window", "LoCoCo"];

fn configs(kernel: u32) -> Result<[HarrisConfig; 3]> {
    Ok([harris(kernel, true)?, harris(kernel, false)?, lococo(kernel)?])
}

/// Returns the times of each engine for one kernel size and image.
fn times(bench: &Bench, kernel: u32, image: &ImageView<'_>) -> Result<Vec<(Engine, Times)>> {
    let mut all = Vec::new();
    for engine in bench.engines.fast() {
        let mut times = [0.0; 3];
        for (time, config) in times.iter_mut().zip(configs(kernel)?) {
            let mut detector = bench.engines.detector(engine, Detection::Harris(config))?;
            let timing = bench.time(&mut *detector, image)?;
            *time = timing.device.unwrap_or(timing.call);
        }
        all.push((engine, times));
    }
    Ok(all)
}

/// Measured times by a number: a side or a kernel size.
type Measured = Vec<(usize, Vec<(Engine, Times)>)>;

/// Adds a table with a row for each number and engine, and a chart of its times.
fn tabulate(report: &mut Report, bench: &Bench, name: &str, title: &str, axis: &str, measured: &Measured) {
    let ratios = ["box", "Gaussian"].map(|window| format!("Harris, {window} window, over LoCoCo"));
    let columns = [axis, "engine"].into_iter().chain(DETECTORS).map(str::to_owned).chain(ratios);
    let mut table = Table::new(name, title, columns);
    for (number, engines) in measured {
        for (engine, times) in engines {
            let ratios = [times[0] / times[2], times[1] / times[2]];
            let cells = times.iter().chain(&ratios).map(|&value| Cell::Number(value));
            table.row([(*number).into(), engine.name().into()].into_iter().chain(cells));
        }
    }
    let columns = bench.engines.fast().into_iter().flat_map(|engine| DETECTORS.map(|name| (engine, name)));
    let columns = columns.map(|(engine, name)| format!("{name}, {}", engine.name()));
    let mut chart = Table::new(name, title, std::iter::once(axis.to_owned()).chain(columns));
    for (number, engines) in measured {
        let times = engines.iter().flat_map(|(_, times)| times.map(Cell::Number));
        chart.row(std::iter::once(Cell::Count(*number)).chain(times));
    }
    report.chart(chart.chart([axis, "milliseconds"], [axis.contains("image"), true]));
    report.table(table);
}

fn table_1(report: &mut Report, bench: &Bench) -> Result<()> {
    report.heading("An image with its copies (table I)");
    report.text(
        "Times are those of whole calls with the copies both ways, at the paper's size. Kernels \
         are 9 x 9.",
    );
    let engines = bench.engines.fast();
    let columns = engines.iter().flat_map(|engine| {
        [DETECTORS[2], DETECTORS[0]].map(|detector| format!("ours: {detector}, {}", engine.name()))
    });
    let mut table = comparison_table("table-1", "Milliseconds", columns);
    for figure in figures("Phull 2011, table I", |_| true) {
        let Some((width, height)) = figure.sides().filter(|(width, _)| *width <= bench.largest) else {
            continue;
        };
        bench.show(format!("phull: {width} x {height}"));
        let image = tiled(&bench.photographs[0].1, width, height);
        let mut cells = Vec::new();
        for &engine in &engines {
            for config in [lococo(9)?, harris(9, true)?] {
                let mut detector = bench.engines.detector(engine, Detection::Harris(config))?;
                cells.push(bench.time(&mut *detector, &gray_view(&image)?)?.call.into());
            }
        }
        table.row(row(figure, cells));
    }
    report.table(table);
    Ok(())
}

fn sizes(report: &mut Report, bench: &Bench) -> Result<Measured> {
    report.heading("By image size, kernels of 9 x 9 (figures 3 and 4(a), drawn only)");
    let mut measured = Measured::new();
    for side in SIDES.into_iter().filter(|side| *side <= bench.largest) {
        bench.show(format!("phull: {side} x {side}"));
        let image = tiled(&bench.photographs[0].1, side, side);
        measured.push((side, times(bench, 9, &gray_view(&image)?)?));
    }
    let axis = "side of the image in pixels";
    tabulate(report, bench, "sizes", "Milliseconds by side of the image, kernels 9 x 9", axis, &measured);
    Ok(measured)
}

fn kernels(report: &mut Report, bench: &Bench) -> Result<Measured> {
    let side = bench.largest.min(SIDE);
    report.heading(format!("By kernel size, images of {side} x {side} (figure 4(b), drawn only)"));
    let image = tiled(&bench.photographs[0].1, side, side);
    let mut measured = Measured::new();
    for kernel in KERNELS {
        bench.show(format!("phull: kernels of {kernel} x {kernel}"));
        measured.push((kernel as usize, times(bench, kernel, &gray_view(&image)?)?));
    }
    let axis = "side of gradient and window in pixels";
    tabulate(report, bench, "kernels", "Milliseconds by side of the kernels", axis, &measured);
    report.heading("Kernels of 31 x 31 by image size");
    let mut largest = Measured::new();
    for side in SIDES.into_iter().filter(|side| *side <= bench.largest) {
        bench.show(format!("phull: kernels of 31 x 31, {side} x {side}"));
        let image = tiled(&bench.photographs[0].1, side, side);
        largest.push((side, times(bench, 31, &gray_view(&image)?)?));
    }
    let axis = "side of the image in pixels";
    let title = "Milliseconds by side of the image, kernels 31 x 31";
    tabulate(report, bench, "largest-kernels", title, axis, &largest);
    Ok(measured)
}

fn ratios(report: &mut Report, bench: &Bench, sizes: &Measured, kernels: &Measured) {
    report.heading("Ratios in print beside ours");
    report.text(format!(
        "Ours are at {0} x {0}; Harris has its box window. A speed-up over Harris is Harris's \
         time divided by LoCoCo's. A speed-up over LoCoCo on a CPU is that engine's time divided \
         by the GPU's on the device.",
        bench.largest.min(SIDE)
    ));
    let engines = bench.engines.fast();
    let ours = engines.iter().map(|engine| format!("ours: {}", engine.name()));
    let mut table = comparison_table("ratios", "LoCoCo's speed-up", ours);
    let find = |measured: &Measured, number: usize, engine: Engine| {
        let (_, engines) = measured.iter().find(|(n, _)| *n == number)?;
        engines.iter().find(|(e, _)| *e == engine).map(|(_, times)| *times)
    };
    for figure in figures("Phull 2011", |figure| figure.quantity.starts_with("speed-up")) {
        let kernel = if figure.parameter.ends_with("31x31") { 31 } else { 9 };
        let cells = engines.iter().map(|&engine| {
            let on_gpu = engine == Engine::Gpu;
            let [harris, _, lococo] = match kernel {
                31 => find(kernels, 31, engine)?,
                _ => find(sizes, bench.largest.min(SIDE), engine)?,
            };
            match figure.source.as_str() {
                source if source.ends_with("figure 3") => {
                    let [.., gpu] = find(sizes, bench.largest.min(SIDE), Engine::Gpu)?;
                    (!on_gpu).then_some(lococo / gpu)
                }
                source if source.contains("figure 4") => Some(harris / lococo),
                source if source.contains("Mainali") => (!on_gpu).then_some(harris / lococo),
                _ => None,
            }
        });
        table.row(row(figure, cells.map(Cell::from)));
    }
    report.table(table);
}

/// Harris detectors that LoCoCo's kernels can be compared with: a name, sigma as a fraction of the
/// kernel, and whether the window is a box.
const COUNTERPARTS: [(&str, f64, bool); 4] = [
    ("sigma n / 6, Gaussian window", 1.0 / 6.0, false),
    ("sigma n / 6, box window", 1.0 / 6.0, true),
    ("sigma n / 3.5, Gaussian window", 1.0 / 3.5, false),
    ("sigma n / 3.5, box window", 1.0 / 3.5, true),
];

fn detections(report: &mut Report, bench: &Bench) -> Result<()> {
    report.heading("Detections of both");
    report.text(format!(
        "A corner of Harris is found where LoCoCo has one within {TOLERANCE} pixels; each of \
         LoCoCo's counts once. Counted are Harris's {STRONGEST} strongest corners, or all where \
         there are fewer. The paper has a box window and gives no sigma. A Gaussian of n / 6 fits \
         into the kernel, one of n / 3.5 is as wide as the box.",
    ));
    let head = ["photograph", "kernel", "corners of LoCoCo"].map(str::to_owned);
    let measured = COUNTERPARTS
        .map(|(name, ..)| ["corners", "found", "mean distance"].map(|what| format!("{what}, {name}")));
    let columns = head.into_iter().chain(measured.into_iter().flatten());
    let mut table = Table::new("detections", "LoCoCo against Harris", columns);
    for (name, photograph) in &bench.photographs {
        let gray = photograph.to_luma8();
        let view = gray_view(&gray)?;
        for kernel in KERNELS {
            bench.show(format!("phull: detections, {name}, {kernel} x {kernel}"));
            let detect = |config: HarrisConfig| -> Result<Vec<Keypoint>> {
                let mut detector =
                    bench.engines.detector(bench.engines.fastest(), Detection::Harris(config))?;
                Ok(detector.detect(&view)?)
            };
            let lococo = detect(lococo(kernel)?)?;
            let mut row: Vec<Cell> =
                vec![name.as_str().into(), (kernel as usize).into(), lococo.len().into()];
            for (_, part, is_box) in COUNTERPARTS {
                let (size, sigma) = (kernel, part * f64::from(kernel));
                let window = if is_box { Window::Box { size } } else { Window::Gaussian { size, sigma } };
                let builder = harris(kernel, is_box)?.to_builder().window(window);
                let harris = detect(builder.gradient(Gradient::GaussianDerivative { size, sigma }).build()?)?;
                let strongest = harris.iter().take(STRONGEST);
                let places: Vec<_> = strongest.map(|k| [f64::from(k.x), f64::from(k.y)]).collect();
                let found = score(&lococo, &places, TOLERANCE)?;
                row.extend([places.len().into(), found.recall().into(), found.mean_error().into()]);
            }
            table.row(row);
        }
    }
    report.table(table);
    Ok(())
}
