//! Loundagin 2015: stages, the whole pipeline and feature matching by image size (tables 4.1, 4.5
//! and 5.3, and their figures).

use std::time::Instant;

use crate::options::Detection;
use anyhow::Result;
use harris_core::fast_hessian::FastHessianConfig;
use harris_core::integral::Integral;
use harris_core::matching::MatchConfig;
use harris_core::pipeline::plane::Plane;
use harris_core::pipeline::suppression::{Region, suppress};
use harris_core::pipeline::{gradient, response, selection, smoothing, tensor, threshold};
use harris_core::surf::SurfConfig;
use harris_core::{HarrisConfig, ImageView, StageTimes, presets};
use harris_evaluation::View;
use image::{DynamicImage, GrayImage};
use plotters::chart::SeriesLabelPosition;

use crate::reproduce::engines::{Bench, Engine, mean, median, milliseconds};
use crate::reproduce::photographs::{gray_view, levels, scaled};
use crate::reproduce::published::{Figure, Theirs, comparison_table, figures, row, theirs};
use crate::reproduce::report::{Cell, Report, Table};

/// Images are scaled down from the largest side in steps.
const LARGEST: usize = 1024;
const STEP: usize = 32;
/// The rotation of a scene against the image of the object, in degrees.
const TURN: f64 = 15.0;

pub(crate) fn run(report: &mut Report, bench: &Bench) -> Result<()> {
    report.text(
        "The preset `loundagin_2015` has smoothing 3 without rounding, Sobel 3, a box window of 3 \
         (he gives no width) and k = 0.04. Its threshold is absolute (10^7 in his units); its \
         neighbourhoods of 5 x 5 keep equals; the border is not extended; the list is in raster \
         order. Each photograph is scaled to each size. Times are in milliseconds: medians, and \
         their means over the photographs. His hardware is a Core i7 920 and a GeForce GTX 660 Ti. \
         His CUDA times include the transfers both ways. So do ours of the GPU, unless they are \
         said to be on the device. His figures are quoted as printed, although his listings are \
         not what his text timed.",
    );
    pipeline(report, bench)?;
    stages(report, bench)?;
    integral(report, bench)?;
    matching(report, bench)
}

/// Returns the sides of a table's square images, up to the limit on the command line.
fn sides(bench: &Bench, theirs: &Theirs) -> Vec<usize> {
    theirs.sizes().into_iter().map(|(side, _)| side).filter(|side| *side <= bench.largest).collect()
}

fn first(side: usize) -> impl Iterator<Item = Cell> {
    std::iter::once(Cell::Count(side))
}

fn columns(names: impl IntoIterator<Item = String>, theirs: &Theirs) -> Vec<String> {
    std::iter::once("side".to_owned()).chain(names).chain(theirs.columns()).collect()
}

fn pipeline(report: &mut Report, bench: &Bench) -> Result<()> {
    report.heading("The whole pipeline (figures 4.29 to 4.31, table 4.5)");
    report.text("The reference detector is slow, so it is timed at the powers of two only.");
    let engines = bench.engines.all();
    let names = || engines.iter().map(|engine| engine.name());
    let device = |engine: &&Engine| matches!(engine, Engine::Gpu | Engine::GpuStaged);
    let on_device = engines.iter().filter(device).map(|e| format!("{}, on the device", e.name()));
    let table_4_5 = theirs("", "Loundagin 2015, table 4.5", |figure| figure.unit == "ms");
    let mut times = Table::new(
        "pipeline",
        "Image to list, milliseconds by side of the image in pixels",
        columns(names().chain(on_device), &table_4_5),
    );
    let title = "Times faster than the reference (figure 4.31)";
    let mut speedups = Table::new("speedup", title, std::iter::once("side".to_owned()).chain(names()));
    let mut measured: Vec<Vec<Option<f64>>> = Vec::new();
    for size in (STEP..=LARGEST.min(bench.largest)).step_by(STEP) {
        let images = images(bench, size);
        let (mut calls, mut devices) = (Vec::new(), Vec::new());
        for &engine in &engines {
            if engine == Engine::Reference && !size.is_power_of_two() {
                calls.push(None);
                continue;
            }
            bench.show(format!("loundagin: {size} x {size}, {}", engine.name()));
            let mut detector =
                bench.engines.detector(engine, Detection::Harris(presets::loundagin_2015()))?;
            let mut timings = Vec::new();
            for image in &images {
                timings.push(bench.time(&mut *detector, &gray_view(image)?)?);
            }
            calls.push(mean(&timings.iter().map(|t| t.call).collect::<Vec<_>>()));
            if device(&&engine) {
                devices.push(mean(&timings.iter().filter_map(|t| t.device).collect::<Vec<_>>()));
            }
        }
        let ours = calls.iter().chain(&devices).map(|&time| Cell::from(time));
        times.row(first(size).chain(ours).chain(table_4_5.cells((size, size))));
        if let (true, Some(reference)) = (bench.engines.reference(), calls[0]) {
            speedups
                .row(first(size).chain(calls.iter().map(|time| time.map(|time| reference / time).into())));
        }
        measured.push(calls);
    }
    report.chart(times.chart(["side in pixels", "milliseconds"], [true, true]));
    report.table(times);
    if bench.engines.reference() {
        report.chart(speedups.chart(["side in pixels", "times the reference"], [true, true]));
        report.table(speedups);
    }
    // His optimised program runs on a GPU; without a GPU, all threads stand for it.
    let Some(best) = engines.last() else { return Ok(()) };
    let columns = ["ours", "ours is"].map(str::to_owned);
    let title = "Mean speed-up of the optimised program over the sizes that both were timed at";
    let mut table = comparison_table("mean-speedup", title, columns);
    let find = |engine: Engine| engines.iter().position(|e| *e == engine);
    for figure in
        figures("Loundagin 2015, section 4.5 and chapter 6", |figure| figure.item == "whole pipeline")
    {
        let counterpart = match figure.platform.split_once(',').map(|(program, _)| program) {
            Some("standard C") => Some(Engine::Reference),
            Some("naive CUDA") => Some(Engine::GpuStaged),
            _ => None,
        };
        let ours = counterpart.and_then(find).map(|i| {
            let ratios = measured.iter().filter_map(|calls| Some(calls[i]? / calls[calls.len() - 1]?));
            (mean(&ratios.collect::<Vec<_>>()), format!("{} over {}", engines[i].name(), best.name()))
        });
        let (ratio, what) = ours.unzip();
        table.row(row(figure, [ratio.flatten().into(), what.into()]));
    }
    report.table(table);
    Ok(())
}

fn images(bench: &Bench, size: usize) -> Vec<GrayImage> {
    bench.photographs.iter().map(|(_, photograph)| scaled(photograph, size, size)).collect()
}

fn stages(report: &mut Report, bench: &Bench) -> Result<()> {
    report.heading("Stages");
    report.text(
        "The reference detector runs stage after stage, and so does the GPU with one kernel for \
         each stage. The GPU's times are those on the device, without transfers; his include them. \
         The CPU backend and the GPU's fused kernel compute all stages in one pass, so they have \
         no times of stages.",
    );
    let table_4_1 = theirs("speed-up of optimised CUDA over", "Loundagin 2015, table 4.1", |_| true);
    let sides = sides(bench, &table_4_1);
    let measured: Vec<Engine> = bench
        .engines
        .all()
        .into_iter()
        .filter(|e| matches!(e, Engine::Reference | Engine::GpuStaged))
        .collect();
    let mut all = Vec::new();
    for &engine in &measured {
        for &size in &sides {
            bench.show(format!("loundagin: stages, {size} x {size}, {}", engine.name()));
            for radius in [1, 2, 3] {
                let config = presets::loundagin_2015().to_builder().suppression_radius(radius).build()?;
                let times = mean_stages(bench, engine, &config, size)?;
                all.push((engine, size, radius, times));
            }
        }
    }
    let find = |engine: Engine, size: usize, radius: u32| {
        all.iter().find(|(e, s, r, _)| (*e, *s, *r) == (engine, size, radius)).and_then(|(.., times)| *times)
    };
    let names = || measured.iter().map(|engine| engine.name());
    let ratio = "ours: reference over GPU, staged".to_owned();
    let title = "One convolution, the smoothing 3 x 3 (figure 4.9, table 4.1): milliseconds, and speed-ups";
    let mut table = Table::new("convolution", title, columns(names().chain([ratio]), &table_4_1));
    for &size in &sides {
        let time = |engine: Engine| find(engine, size, 2).map(|times| times[0]);
        let ratio = time(Engine::Reference).zip(time(Engine::GpuStaged)).map(|(slow, fast)| slow / fast);
        let ours = measured.iter().map(|&engine| time(engine)).chain([ratio]).map(Cell::from);
        table.row(first(size).chain(ours).chain(table_4_1.cells((size, size))));
    }
    report.table(table);
    let title = "Gradient, tensor and measure (figure 4.18, drawn only), milliseconds";
    let mut table = Table::new("detector", title, std::iter::once("side".to_owned()).chain(names()));
    for &size in &sides {
        let time = |&engine| find(engine, size, 2).map(|times| times[1..4].iter().sum::<f64>()).into();
        table.row(first(size).chain(measured.iter().map(time)));
    }
    report.table(table);
    let of_neighbourhoods =
        measured.iter().flat_map(|engine| [3, 5, 7].map(|n| format!("{}, {n} x {n}", engine.name())));
    let title = "Threshold and suppression by neighbourhood (figures 4.23 to 4.25, drawn only), milliseconds";
    let mut table =
        Table::new("suppression", title, std::iter::once("side".to_owned()).chain(of_neighbourhoods));
    for &size in &sides {
        let times = measured.iter().flat_map(|&engine| {
            [1, 2, 3].map(|radius| find(engine, size, radius).map(|times| times[4]).into())
        });
        table.row(first(size).chain(times));
    }
    report.chart(table.chart(["side in pixels", "milliseconds"], [true, true]));
    report.table(table);
    let title = "What his text says of the stages, beside ours at the largest size, milliseconds";
    let mut table = comparison_table("stage-limits", title, names().map(|name| format!("ours: {name}")));
    let of_stages = |figure: &Figure| ["4.3.3", "4.4.3"].iter().any(|end| figure.source.ends_with(end));
    for figure in figures("Loundagin 2015, section", of_stages) {
        let ours = measured.iter().map(|&engine| {
            let radius = (1..=3).find(|r| figure.parameter.contains(&format!("{}x", 2 * r + 1)));
            let times = find(engine, *sides.last()?, radius.unwrap_or(2))?;
            Some(if radius.is_some() { times[4] } else { times[2..4].iter().sum() })
        });
        table.row(row(figure, ours.map(Cell::from)));
    }
    report.table(table);
    let columns = ["side", "engine"].into_iter().chain(stage_names()).map(str::to_owned);
    let mut table = Table::new("stages", "Every stage, milliseconds", columns);
    for &engine in &measured {
        for &size in &sides {
            if let Some(times) = find(engine, size, 2) {
                let head = [Cell::Count(size), engine.name().into()];
                table.row(head.into_iter().chain(times.map(Cell::Number)));
            }
        }
    }
    report.table(table);
    Ok(())
}

fn integral(report: &mut Report, bench: &Bench) -> Result<()> {
    report.heading("One integral image (figure 4.17, drawn only)");
    report.text(
        "His are three integral images of products of gradients, in doubles, with transfers. Ours \
         is one of gray levels, in integers: the first step of the Fast-Hessian detector. The \
         GPU's time is that on the device. The reference is `harris_core::integral`.",
    );
    let engines = bench.engines.with_reference();
    let columns = std::iter::once("side".to_owned()).chain(engines.iter().map(|engine| engine.name()));
    let mut table = Table::new("integral", "Integral image, milliseconds", columns);
    let config = FastHessianConfig::builder().octaves(1).build()?;
    for size in sides(bench, &theirs("", "Loundagin 2015, table 4.1", |_| true)) {
        let image = scaled(&bench.photographs[0].1, size, size);
        let view = gray_view(&image)?;
        let mut times = Vec::new();
        for &engine in &engines {
            bench.show(format!("loundagin: integral image, {size} x {size}, {}", engine.name()));
            times.push(if engine == Engine::Reference {
                Some(bench.median(|| Ok(Integral::new(&view)?))?)
            } else if config.check_image(&view).is_err() {
                // The image is smaller than the detector's filters.
                None
            } else {
                let mut detector = bench.engines.detector(engine, Detection::FastHessian(config.clone()))?;
                let mut runs = Vec::new();
                bench.median(|| {
                    detector.detect(&view)?;
                    runs.extend(detector.step_times().map(|times| milliseconds(times.integral)));
                    Ok(())
                })?;
                median(runs)
            });
        }
        table.row(first(size).chain(times.into_iter().map(Cell::from)));
    }
    report.chart(table.chart(["side in pixels", "milliseconds"], [true, true]));
    report.table(table);
    Ok(())
}

fn matching(report: &mut Report, bench: &Bench) -> Result<()> {
    report.heading("Feature matching (figures 5.6 and 5.7, table 5.3)");
    report.text(format!(
        "Corners, SURF descriptors (magnification 2) and matches (ratio 0.7) of a scene are \
         compared with those of the object, which are computed beforehand. The scene is the \
         photograph turned by {TURN} degrees. Our program runs each step on the named backend and \
         compares all pairs of descriptors. His platform is that of the corners alone; descriptors \
         and nearest neighbours are OpenCV's on the CPU. Frames a second follow from the mean time \
         over the photographs.",
    ));
    let table_5_3 = theirs("", "Loundagin 2015, table 5.3", |_| true);
    let engines = bench.engines.fast();
    let mut head: Vec<_> = ["corners of all scenes", "matches of all scenes"].map(str::to_owned).into();
    head.extend(engines.iter().map(|engine| format!("{}, frames a second", engine.name())));
    let mut table = Table::new("matching", "Feature matching", columns(head, &table_5_3));
    let turned: Vec<_> = (bench.photographs.iter())
        .map(|(_, photograph)| {
            let view = View::builder().degrees(TURN).build()?.draw(&levels(photograph))?;
            let (height, width) = view.dim();
            let pixels = GrayImage::from_fn(width as u32, height as u32, |x, y| {
                image::Luma([view[[y as usize, x as usize]]])
            });
            Ok(DynamicImage::from(pixels))
        })
        .collect::<Result<_>>()?;
    for size in sides(bench, &table_5_3) {
        let (objects, mut rates, mut counts) = (images(bench, size), Vec::new(), [0; 2]);
        for &engine in &engines {
            bench.show(format!("loundagin: matching, {size} x {size}, {}", engine.name()));
            let mut detector =
                bench.engines.detector(engine, Detection::Harris(presets::loundagin_2015()))?;
            let mut options = bench.engines.options(engine);
            let mut extractor = options.extractor(&SurfConfig::builder().magnification(2.0).build()?)?;
            let mut matcher = options.matcher(&MatchConfig::default())?;
            let mut times = Vec::new();
            counts = [0; 2];
            for (object, scene) in objects.iter().zip(&turned) {
                let (object, scene) = (gray_view(object)?, scaled(scene, size, size));
                let scene = gray_view(&scene)?;
                let corners = detector.detect(&object)?;
                let trained = extractor.extract(&object, &corners)?;
                let mut last = [0; 2];
                times.push(bench.median(|| {
                    let corners = detector.detect(&scene)?;
                    let found = extractor.extract(&scene, &corners)?;
                    let matches = matcher.matches(found.view(), trained.view())?;
                    last = [corners.len(), matches.len()];
                    Ok(())
                })?);
                counts.iter_mut().zip(last).for_each(|(sum, count)| *sum += count);
            }
            rates.push(mean(&times).map(|time| 1e3 / time));
        }
        let ours = counts.map(Cell::Count).into_iter().chain(rates.into_iter().map(Cell::from));
        table.row(first(size).chain(ours).chain(table_5_3.cells((size, size))));
    }
    let mut chart = table.chart(["side in pixels", "frames a second"], [true, true]);
    chart.lines.retain(|(name, _)| name.contains("second"));
    chart.legend = SeriesLabelPosition::LowerLeft;
    report.chart(chart);
    report.table(table);
    Ok(())
}

pub(crate) fn stage_names() -> [&'static str; 6] {
    ["smoothing", "gradient", "tensor", "measure", "threshold and suppression", "order and selection"]
}

pub(crate) fn in_milliseconds(times: StageTimes) -> [f64; 6] {
    let StageTimes { smoothing, gradient, tensor, response, suppression, selection, .. } = times;
    [smoothing, gradient, tensor, response, suppression, selection].map(milliseconds)
}

/// Returns the mean over the photographs of each stage's median.
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

/// Returns each stage's median; `None` if the engine has no stages.
pub(crate) fn median_stages(
    bench: &Bench,
    engine: Engine,
    config: &HarrisConfig,
    image: &ImageView<'_>,
) -> Result<Option<[f64; 6]>> {
    let mut runs = Vec::new();
    if engine == Engine::Reference {
        bench.median(|| {
            runs.push(in_milliseconds(reference_stages(config, image)?));
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

/// Runs the reference's stages as `ReferenceDetector` does.
fn reference_stages(config: &HarrisConfig, image: &ImageView<'_>) -> Result<StageTimes, harris_core::Error> {
    let border = config.border();
    let planes = Plane::channels(image)?;
    let mut since = Instant::now();
    let mut lap = || std::mem::replace(&mut since, Instant::now()).elapsed();
    let smoothed = planes
        .iter()
        .map(|plane| smoothing::smooth(plane, config.smoothing(), border))
        .collect::<Result<Vec<_>, _>>()?;
    let mut times = StageTimes::default();
    times.smoothing = lap();
    let gradients = smoothed
        .iter()
        .map(|plane| gradient::gradient(plane, config.gradient(), border))
        .collect::<Result<Vec<_>, _>>()?;
    times.gradient = lap();
    let tensor =
        tensor::tensor(&gradients, config.window(), border, config.tensor_scale(image.full_scale()))?;
    times.tensor = lap();
    let responses = response::response(&tensor, config.measure())?;
    times.response = lap();
    let region = Region::new(image, config);
    let searched = || region.pixels().map(|(x, y)| responses[[y, x]]);
    let corners = match threshold::threshold(config.threshold(), searched)? {
        Some(limit) => suppress(&responses, region, config, limit)?,
        None => Vec::new(),
    };
    times.suppression = lap();
    std::hint::black_box(selection::select(&corners, config)?);
    times.selection = lap();
    Ok(times)
}
