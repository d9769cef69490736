//! Phull et al. 2011: LoCoCo against Harris by image size and by kernel size (figures 3 and 4, table 1).

use anyhow::Result;
use harris_core::{Gradient, HarrisConfig, ImageView, Keypoint, Window, presets};
use harris_evaluation::score;
use harris_examples::options::Detection;

use crate::engines::{Bench, Engine};
use crate::photographs::{gray_view, tiled};
use crate::published;
use crate::report::{Cell, Chart, Report, Table};

const SIDES: [usize; 5] = [256, 512, 1024, 2048, 4096];
const KERNELS: [u32; 7] = [9, 13, 17, 21, 25, 29, 31];
/// Corners whose finding by both is compared.
const STRONGEST: usize = 500;
/// Pixels that may lie between.
const TOLERANCE: f64 = 2.0;

pub(crate) fn run(report: &mut Report, bench: &Bench) -> Result<()> {
    report.text(
        "Harris: derivative of a Gaussian and Gaussian window, n x n, sigma n / 6. LoCoCo: box gradient and box window, n x n. Both with \
         suppression radius 4 and a threshold of 1 %. On the GPU the time is the device's.",
    );
    sizes(report, bench)?;
    kernels(report, bench)?;
    detections(report, bench)?;
    published::table(report, "phull");
    Ok(())
}

fn harris(size: u32) -> Result<HarrisConfig> {
    let sigma = f64::from(size) / 6.0;
    let builder = presets::harris_phull_2011().to_builder();
    Ok(builder
        .gradient(Gradient::GaussianDerivative { size, sigma })
        .window(Window::Gaussian { size, sigma })
        .build()?)
}

fn lococo(size: u32) -> Result<HarrisConfig> {
    let builder = presets::lococo_2011().to_builder();
    Ok(builder.gradient(Gradient::Box { size }).window(Window::Box { size }).build()?)
}

/// Times of Harris, of LoCoCo and their ratio, for each engine.
fn times(bench: &Bench, size: u32, image: &ImageView<'_>) -> Result<Vec<Cell>> {
    let mut cells = Vec::new();
    for engine in bench.engines.fast() {
        let time = |config: HarrisConfig| -> Result<f64> {
            let mut detector = bench.engines.detector(engine, Detection::Harris(config))?;
            let timing = bench.time(&mut *detector, image)?;
            Ok(timing.device.unwrap_or(timing.call))
        };
        let (harris, lococo) = (time(harris(size)?)?, time(lococo(size)?)?);
        cells.extend([harris, lococo, harris / lococo].map(Cell::Number));
    }
    Ok(cells)
}

fn columns(bench: &Bench, first: &str) -> Vec<String> {
    let engines = bench.engines.fast();
    let each =
        |engine: &Engine| ["Harris", "LoCoCo", "ratio"].map(|what| format!("{what}, {}", engine.name()));
    std::iter::once(first.to_owned()).chain(engines.iter().flat_map(each)).collect()
}

/// Draws all but the ratios.
fn draw(report: &mut Report, mut chart: Chart) {
    chart.lines.retain(|(name, _)| !name.starts_with("ratio"));
    report.chart(chart);
}

fn sizes(report: &mut Report, bench: &Bench) -> Result<()> {
    report.heading("By image size, kernels of 9 x 9 (figure 3, table 1)");
    let mut table = Table::new("sizes", "Milliseconds by side of the image", columns(bench, "side"));
    for side in SIDES.into_iter().filter(|side| *side <= bench.largest) {
        bench.say(format!("phull: {side} x {side}"));
        let image = tiled(&bench.photographs[0].1, side, side);
        table.row(std::iter::once(Cell::Count(side)).chain(times(bench, 9, &gray_view(&image)?)?));
    }
    draw(report, table.chart(["side in pixels", "milliseconds"], [true, true]));
    report.table(table);
    Ok(())
}

fn kernels(report: &mut Report, bench: &Bench) -> Result<()> {
    report.heading("By kernel size, images of 1024 x 1024 (figure 4)");
    let mut table =
        Table::new("kernels", "Milliseconds by side of gradient and window", columns(bench, "kernel"));
    let side = bench.largest.min(1024);
    let image = tiled(&bench.photographs[0].1, side, side);
    for kernel in KERNELS {
        bench.say(format!("phull: kernels of {kernel} x {kernel}"));
        table.row(std::iter::once(Cell::Count(kernel as usize)).chain(times(
            bench,
            kernel,
            &gray_view(&image)?,
        )?));
    }
    draw(report, table.chart(["side of the kernels in pixels", "milliseconds"], [false, true]));
    report.table(table);
    report.heading("Kernels of 31 x 31 by image size");
    let mut table =
        Table::new("largest-kernels", "Milliseconds by side of the image", columns(bench, "side"));
    for side in SIDES.into_iter().filter(|side| *side <= bench.largest) {
        bench.say(format!("phull: kernels of 31 x 31, {side} x {side}"));
        let image = tiled(&bench.photographs[0].1, side, side);
        table.row(std::iter::once(Cell::Count(side)).chain(times(bench, 31, &gray_view(&image)?)?));
    }
    report.table(table);
    Ok(())
}

/// Harris detectors that LoCoCo's kernels may be said to stand for: a name, sigma as a part of the kernel, and whether the window
/// is a box.
const STOOD_FOR: [(&str, f64, bool); 4] = [
    ("sigma n / 6, Gaussian window", 1.0 / 6.0, false),
    ("sigma n / 6, box window", 1.0 / 6.0, true),
    ("sigma n / 3.5, Gaussian window", 1.0 / 3.5, false),
    ("sigma n / 3.5, box window", 1.0 / 3.5, true),
];

fn detections(report: &mut Report, bench: &Bench) -> Result<()> {
    report.heading("Detections of both");
    report.text(format!(
        "How many of Harris's {STRONGEST} strongest corners (or all, where there are fewer) have one of LoCoCo's within {TOLERANCE} \
         pixels, one to one. The papers' sigma and window were not at hand: a Gaussian of n / 6 fits into the kernel, one of n / 3.5 is as \
         wide as the box that stands for it.",
    ));
    let head = ["photograph", "kernel", "corners of LoCoCo"].map(str::to_owned);
    let measured = STOOD_FOR
        .map(|(name, ..)| ["corners", "found", "mean distance"].map(|what| format!("{what}, {name}")));
    let columns = head.into_iter().chain(measured.into_iter().flatten());
    let mut table = Table::new("detections", "LoCoCo against Harris", columns);
    for (name, photograph) in &bench.photographs {
        let gray = photograph.to_luma8();
        let view = gray_view(&gray)?;
        for kernel in KERNELS {
            bench.say(format!("phull: detections, {name}, {kernel} x {kernel}"));
            let detect = |config: HarrisConfig| -> Result<Vec<Keypoint>> {
                let mut detector =
                    bench.engines.detector(bench.engines.quickest(), Detection::Harris(config))?;
                Ok(detector.detect(&view)?)
            };
            let lococo = detect(lococo(kernel)?)?;
            let mut row: Vec<Cell> =
                vec![name.as_str().into(), (kernel as usize).into(), lococo.len().into()];
            for (_, part, is_box) in STOOD_FOR {
                let (size, sigma) = (kernel, part * f64::from(kernel));
                let window = if is_box { Window::Box { size } } else { Window::Gaussian { size, sigma } };
                let builder = harris(kernel)?.to_builder().window(window);
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
