//! Loundagin 2015: stages and the whole pipeline by image size (figures 4.9, 4.18, 4.23 to 4.25, 4.29 to 4.31).

use std::time::Instant;

use anyhow::Result;
use harris_core::pipeline::plane::Plane;
use harris_core::pipeline::suppression::{Region, suppress};
use harris_core::pipeline::{gradient, response, selection, smoothing, tensor, threshold};
use harris_core::{HarrisConfig, ImageView, StageTimes};
use harris_examples::options::Detection;
use image::GrayImage;

use crate::engines::{Bench, Engine, median, milliseconds};
use crate::photographs::{gray_view, scaled};
use crate::published;
use crate::report::{Cell, Report, Table};

const SIDES: [usize; 6] = [32, 64, 128, 256, 512, 1024];

pub(crate) fn run(report: &mut Report, bench: &Bench) -> Result<()> {
    report.text(
        "Loundagin's default: binomial smoothing 3, Sobel 3, box window 3, k = 0.04, a threshold of 1 % and neighbourhoods of 5 x 5. \
         Each photograph is brought to each size; times are means over the photographs of medians, in milliseconds.",
    );
    pipeline(report, bench)?;
    stages(report, bench)?;
    published::table(report, "loundagin");
    Ok(())
}

fn sides(bench: &Bench) -> impl Iterator<Item = usize> {
    let largest = bench.largest;
    SIDES.into_iter().filter(move |side| *side <= largest)
}

fn pipeline(report: &mut Report, bench: &Bench) -> Result<()> {
    report.heading("The whole pipeline (figures 4.29 and 4.30, table 4.5)");
    let engines = bench.engines.all();
    let names = || engines.iter().map(|engine| engine.name());
    let device = |engine: &&Engine| matches!(engine, Engine::Gpu | Engine::GpuStaged);
    let on_device: Vec<_> =
        engines.iter().filter(device).map(|e| format!("{}, on the device", e.name())).collect();
    let side = || std::iter::once("side".to_owned());
    let title = "Image to sorted list, milliseconds by side of the image in pixels";
    let mut times = Table::new("pipeline", title, side().chain(names()).chain(on_device));
    let mut speedups =
        Table::new("speedup", "Times faster than the reference (figure 4.31)", side().chain(names()));
    for size in sides(bench) {
        let images = images(bench, size);
        let (mut calls, mut devices) = (Vec::new(), Vec::new());
        for &engine in &engines {
            bench.say(format!("loundagin: {size} x {size}, {}", engine.name()));
            let mut detector = bench.engines.detector(engine, Detection::Harris(HarrisConfig::default()))?;
            let mut timings = Vec::new();
            for image in &images {
                timings.push(bench.time(&mut *detector, &gray_view(image)?)?);
            }
            calls.push(timings.iter().map(|t| t.call).sum::<f64>() / timings.len() as f64);
            let on_device: Vec<_> = timings.iter().filter_map(|t| t.device).collect();
            devices.extend(
                (!on_device.is_empty()).then(|| on_device.iter().sum::<f64>() / on_device.len() as f64),
            );
        }
        let first = || std::iter::once(Cell::Count(size));
        times.row(first().chain(calls.iter().chain(&devices).map(|&time| time.into())));
        if bench.engines.reference() {
            speedups.row(first().chain(calls.iter().map(|time| (calls[0] / time).into())));
        }
    }
    report.chart(times.chart(["side in pixels", "milliseconds"], [true, true]));
    report.table(times);
    if bench.engines.reference() {
        report.chart(speedups.chart(["side in pixels", "times the reference"], [true, true]));
        report.table(speedups);
    }
    Ok(())
}

fn images(bench: &Bench, size: usize) -> Vec<GrayImage> {
    bench.photographs.iter().map(|(_, photograph)| scaled(photograph, size, size)).collect()
}

fn stages(report: &mut Report, bench: &Bench) -> Result<()> {
    report.heading("Stages");
    report.text(
        "The reference runs stage after stage, and so does the GPU with one kernel a stage. The CPU backend and the GPU's fused kernel \
         work through all stages at once: they have no times of stages.",
    );
    let names = stage_names();
    let measured: Vec<Engine> = bench
        .engines
        .all()
        .into_iter()
        .filter(|e| matches!(e, Engine::Reference | Engine::GpuStaged))
        .collect();
    let mut all = Vec::new();
    for &engine in &measured {
        for size in sides(bench) {
            bench.say(format!("loundagin: stages, {size} x {size}, {}", engine.name()));
            for radius in [1, 2, 3] {
                let config = HarrisConfig::builder().suppression_radius(radius).build()?;
                let times = mean_stages(bench, engine, &config, size)?;
                all.push((engine, size, radius, times));
            }
        }
    }
    let find = |engine: Engine, size: usize, radius: u32| {
        all.iter().find(|(e, s, r, _)| (*e, *s, *r) == (engine, size, radius)).and_then(|(.., times)| *times)
    };
    for (name, title, stages) in [
        ("convolution", "Smoothing 3 x 3 (figure 4.9), milliseconds", 0..1),
        ("detector", "Gradient, tensor and measure (figure 4.18), milliseconds", 1..4),
    ] {
        let columns = std::iter::once("side".to_owned()).chain(measured.iter().map(|engine| engine.name()));
        let mut table = Table::new(name, title, columns);
        for size in sides(bench) {
            let times = measured.iter().map(|&engine| {
                find(engine, size, 2).map(|times| stages.clone().map(|i| times[i]).sum::<f64>()).into()
            });
            table.row(std::iter::once(Cell::Count(size)).chain(times));
        }
        report.table(table);
    }
    let columns =
        measured.iter().flat_map(|engine| [3, 5, 7].map(|n| format!("{}, {n} x {n}", engine.name())));
    let title = "Threshold and suppression by neighbourhood (figures 4.23 to 4.25), milliseconds";
    let mut table = Table::new("suppression", title, std::iter::once("side".to_owned()).chain(columns));
    for size in sides(bench) {
        let times = measured.iter().flat_map(|&engine| {
            [1, 2, 3].map(|radius| find(engine, size, radius).map(|times| times[4]).into())
        });
        table.row(std::iter::once(Cell::Count(size)).chain(times));
    }
    report.chart(table.chart(["side in pixels", "milliseconds"], [true, true]));
    report.table(table);
    let columns = ["side", "engine"].into_iter().chain(names).map(str::to_owned);
    let mut table = Table::new("stages", "Every stage, milliseconds", columns);
    for &engine in &measured {
        for size in sides(bench) {
            if let Some(times) = find(engine, size, 2) {
                let head = [Cell::Count(size), engine.name().into()];
                table.row(head.into_iter().chain(times.map(Cell::Number)));
            }
        }
    }
    report.table(table);
    Ok(())
}

pub(crate) fn stage_names() -> [&'static str; 6] {
    ["smoothing", "gradient", "tensor", "measure", "threshold and suppression", "order and selection"]
}

pub(crate) fn in_milliseconds(times: StageTimes) -> [f64; 6] {
    let StageTimes { smoothing, gradient, tensor, response, suppression, selection } = times;
    [smoothing, gradient, tensor, response, suppression, selection].map(milliseconds)
}

/// The mean over the photographs of each stage's median.
fn mean_stages(
    bench: &Bench,
    engine: Engine,
    config: &HarrisConfig,
    size: usize,
) -> Result<Option<[f64; 6]>> {
    let mut sums = [0.0; 6];
    let images = images(bench, size);
    for image in &images {
        let Some(times) = median_stages(bench, engine, config, &gray_view(image)?)? else { return Ok(None) };
        sums.iter_mut().zip(times).for_each(|(sum, time)| *sum += time / images.len() as f64);
    }
    Ok(Some(sums))
}

/// Each stage's median; `None` where the engine has no stages.
pub(crate) fn median_stages(
    bench: &Bench,
    engine: Engine,
    config: &HarrisConfig,
    image: &ImageView<'_>,
) -> Result<Option<[f64; 6]>> {
    let mut runs = Vec::new();
    if engine == Engine::Reference {
        bench.median(|| {
            runs.push(in_milliseconds(reference_stages(config, image)));
            Ok(())
        })?;
    } else {
        let mut detector = bench.engines.detector(engine, Detection::Harris(config.clone()))?;
        detector.set_timed(true);
        detector.detect(image)?;
        bench.median(|| {
            detector.detect(image)?;
            runs.extend(detector.stage_times().map(in_milliseconds));
            Ok(())
        })?;
    }
    let medians: [Option<f64>; 6] = std::array::from_fn(|i| median(runs.iter().map(|run| run[i]).collect()));
    Ok(medians.iter().all(Option::is_some).then(|| medians.map(Option::unwrap_or_default)))
}

/// The reference's stages, as `ReferenceDetector` calls them.
fn reference_stages(config: &HarrisConfig, image: &ImageView<'_>) -> StageTimes {
    let border = config.border();
    let planes = Plane::channels(image);
    let mut since = Instant::now();
    let mut lap = || std::mem::replace(&mut since, Instant::now()).elapsed();
    let smoothed: Vec<_> =
        planes.iter().map(|plane| smoothing::smooth(plane, config.smoothing(), border)).collect();
    let smoothing = lap();
    let gradients: Vec<_> =
        smoothed.iter().map(|plane| gradient::gradient(plane, config.gradient(), border)).collect();
    let gradient = lap();
    let tensor = tensor::tensor(&gradients, config.window(), border, config.tensor_scale(image.full_scale()));
    let tensor_time = lap();
    let responses = response::response(&tensor, config.measure());
    let response = lap();
    let region = Region::new(image, config);
    let searched = || region.pixels().map(|(x, y)| responses[[y, x]]);
    let corners = threshold::threshold(config.threshold(), searched)
        .map(|limit| suppress(&responses, region, config, limit))
        .unwrap_or_default();
    let suppression = lap();
    std::hint::black_box(selection::select(&corners, config));
    StageTimes { smoothing, gradient, tensor: tensor_time, response, suppression, selection: lap() }
}
