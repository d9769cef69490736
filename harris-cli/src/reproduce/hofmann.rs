//! Hofmann 2009: SURF's Fast-Hessian detector by image size and by step (figures 17 to 19).

use crate::options::Detection;
use anyhow::{Result, ensure};
use harris::cuda::PinnedImage;
use harris_core::fast_hessian::{FastHessianConfig, StepTimes, presets};
use image::{DynamicImage, GrayImage};

use crate::reproduce::engines::{Bench, Engine, median, milliseconds};
use crate::reproduce::photographs::{gray_view, scaled, tiled};
use crate::reproduce::published::{comparison_table, figures, row};
use crate::reproduce::report::{Cell, Report, Table};

const SIDES: [usize; 8] = [480, 512, 640, 768, 1024, 1280, 1536, 2048];
/// The side of the image that is scaled down to the others, in pixels.
const WHOLE: usize = 2048;
/// The largest side at which the reference is measured, in pixels.
const REFERENCE_SIDE: usize = 1024;

/// The times of an engine at one size.
struct Run {
    preset: &'static str,
    side: usize,
    engine: Engine,
    call: f64,
    device: Option<f64>,
    copy: Option<f64>,
    /// The times of integral image, determinants, peaks and list.
    steps: [Option<f64>; 4],
    /// The numbers of peaks that were kept, and that the interpolation rejected.
    peaks: [usize; 2],
}

pub(crate) fn run(report: &mut Report, bench: &Bench) -> Result<()> {
    report.text(
        "Both presets of the Fast-Hessian detector are timed: `default` (OpenSURF's rules with \
         Hofmann's parameters) and `hofmann_2009` (his own). The first photograph is tiled to 2048 \
         x 2048 and scaled down to the sizes of figure 17. Times are medians in milliseconds. His \
         hardware is a GeForce 9800 GTX+; his times include the copy to the GPU, but no \
         allocation. His image has float samples, ours 8-bit samples. The reference detector is \
         timed up to 1024 x 1024.",
    );
    let whole = tiled(&bench.photographs[0].1, WHOLE, WHOLE);
    let whole = DynamicImage::from(whole);
    let mut runs = Vec::new();
    for preset in presets::ALL {
        for side in SIDES.into_iter().filter(|side| *side <= bench.largest) {
            let image = scaled(&whole, side, side);
            for engine in bench.engines.with_reference() {
                if engine != Engine::Reference || side <= REFERENCE_SIDE {
                    bench.show(format!("hofmann: {}, {side} x {side}, {}", preset.name, engine.name()));
                    runs.push(time(bench, preset.name, (preset.config)(), &image, engine)?);
                }
            }
        }
    }
    ensure!(!runs.is_empty(), "--largest {} leaves no size: the least is {}", bench.largest, SIDES[0]);
    for preset in presets::ALL {
        sizes(report, bench, &runs, preset.name);
    }
    steps(report, &runs);
    at_512(report, bench, &runs);
    Ok(())
}

fn time(
    bench: &Bench,
    preset: &'static str,
    config: FastHessianConfig,
    image: &GrayImage,
    engine: Engine,
) -> Result<Run> {
    let (view, side) = (gray_view(image)?, image.width() as usize);
    let mut detector = bench.engines.detector(engine, Detection::FastHessian(config))?;
    let timing = bench.time(&mut *detector, &view)?;
    let mut steps = Vec::new();
    if detector.step_times().is_some() {
        bench.median(|| {
            detector.detect(&view)?;
            steps.extend(detector.step_times());
            Ok(())
        })?;
    }
    let of = [
        |times: &StepTimes| times.integral,
        |times: &StepTimes| times.responses,
        |times: &StepTimes| times.peaks,
        |times: &StepTimes| times.list,
    ];
    let copy = match (engine, bench.engines.ordinal()) {
        (Engine::Gpu, Some(ordinal)) => {
            let pinned = PinnedImage::<u8>::from_samples(image.as_raw(), side, side, 1)?;
            Some(milliseconds(PinnedImage::copy_time(&[pinned], ordinal)?))
        }
        _ => None,
    };
    Ok(Run {
        preset,
        side,
        engine,
        call: timing.call,
        device: timing.device,
        copy,
        steps: of.map(|step| median(steps.iter().map(|times| milliseconds(step(times))).collect())),
        peaks: [timing.keypoints, detector.rejected_peaks().unwrap_or_default()],
    })
}

fn sizes(report: &mut Report, bench: &Bench, runs: &[Run], preset: &str) {
    report.heading(format!("By image size, preset {preset} (figures 17 and 18, drawn only)"));
    let engines = bench.engines.with_reference();
    let head = ["side", "keypoints"].map(str::to_owned);
    let device = bench.engines.gpu().map(|_| "GPU, on the device".to_owned());
    let names = || engines.iter().map(|engine| engine.name());
    let name = |what: &str| if preset == "default" { what.to_owned() } else { format!("{what}-{preset}") };
    let title = format!("Image to list, preset {preset}, milliseconds by side");
    let mut times = Table::new(&name("sizes"), title, head.into_iter().chain(names()).chain(device));
    let title = format!("Growth, preset {preset}: times relative to those at {0} x {0}", SIDES[0]);
    let columns = ["side", "pixels"].map(str::to_owned).into_iter().chain(names());
    let mut growth = Table::new(&name("growth"), title, columns);
    let find = |side: usize, engine: Engine| {
        runs.iter().find(|run| run.preset == preset && run.side == side && run.engine == engine)
    };
    for side in SIDES {
        let at: Vec<_> = engines.iter().map(|&engine| find(side, engine)).collect();
        let Some(any) = at.iter().flatten().next() else { continue };
        let calls = at.iter().map(|run| run.map(|run| run.call).into());
        let device = bench.engines.gpu().map(|_| find(side, Engine::Gpu).and_then(|run| run.device).into());
        times.row([side.into(), any.peaks[0].into()].into_iter().chain(calls).chain(device));
        let ratio = |run: &Run| Some(run.call / find(SIDES[0], run.engine)?.call);
        let ratios = at.iter().map(|run| run.and_then(ratio).into());
        let pixels = (side * side) as f64 / (SIDES[0] * SIDES[0]) as f64;
        growth.row([side.into(), pixels.into()].into_iter().chain(ratios));
    }
    let mut chart = times.chart(["side in pixels", "milliseconds"], [true, true]);
    chart.lines.retain(|(name, _)| name != "keypoints");
    report.chart(chart);
    report.table(times);
    report.chart(growth.chart(["side in pixels", "times that at the least side"], [false, false]));
    report.table(growth);
}

fn steps(report: &mut Report, runs: &[Run]) {
    report.heading("By step (figure 19, drawn only)");
    report.text(
        "The copy is that of the image to the GPU; nothing overlaps with it. His text names it \
         and the determinants as the two steps that grow fastest.",
    );
    let names = ["preset", "engine", "side", "copy", "integral image", "determinants", "peaks", "list"];
    let mut table = Table::new("steps", "By step, milliseconds", names);
    for run in runs.iter().filter(|run| run.steps.iter().all(Option::is_some)) {
        let head = [run.preset.into(), run.engine.name().into(), run.side.into(), run.copy.into()];
        table.row(head.into_iter().chain(run.steps.map(Cell::from)));
    }
    report.table(table);
}

fn at_512(report: &mut Report, bench: &Bench, runs: &[Run]) {
    report.heading("His figures beside ours");
    report.text(
        "Our figures are those of the preset `hofmann_2009`. His counts are of his test image, \
         ours of the image above at 512 x 512. He allocates once beforehand; our first call does \
         so and is not counted. His speed-up and growth compare OpenSURF with his CUDA program; \
         ours use the reference detector up to 1024 x 1024.",
    );
    let engines = bench.engines.with_reference();
    let ours = engines.iter().map(|engine| format!("ours: {}", engine.name()));
    let mut table = comparison_table("at-512", "Figures in print", ours);
    let find = |engine: Engine, side: usize| {
        runs.iter().find(|run| run.preset == "hofmann_2009" && run.side == side && run.engine == engine)
    };
    let best = engines.last().copied();
    for figure in figures("Hofmann 2009, section 4.7", |figure| !figure.quantity.starts_with("runs")) {
        let cells = engines.iter().map(|&engine| {
            let run = find(engine, figure.sides().map_or(REFERENCE_SIDE, |(side, _)| side))?;
            let other = find(best?, run.side)?;
            let growth = |run: &Run| Some(run.call / find(run.engine, SIDES[0])?.call);
            Some(match (figure.item.split(' ').next()?, figure.quantity.as_str()) {
                ("copy", _) => run.copy?.into(),
                ("Fast-Hessian", quantity) if quantity.starts_with("mean") => run.call.into(),
                ("Fast-Hessian", quantity) if quantity.starts_with("speed-up") => {
                    (run.call / other.call).into()
                }
                ("Fast-Hessian", quantity) if quantity.starts_with("growth") => {
                    (growth(run)? / growth(other)?).into()
                }
                ("test", "interest points found") => run.peaks.iter().sum::<usize>().into(),
                ("test", "interest points left") => run.peaks[0].into(),
                ("test", _) => run.peaks[1].into(),
                _ => return None,
            })
        });
        table.row(row(figure, cells.map(Option::<Cell>::unwrap_or_default)));
    }
    report.table(table);
}
