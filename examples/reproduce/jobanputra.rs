//! Jobanputra & Stentz: speed-up by threads, the GPU's steps, and dense against compressed output.

use anyhow::Result;
use harris_core::{HarrisConfig, Threshold, presets};
use harris_examples::options::Detection;

use crate::engines::{Bench, Engine};
use crate::loundagin::{median_stages, stage_names};
use crate::photographs::{gray_view, tiled};
use crate::published;
use crate::report::{Cell, Report, Table};

const SIZES: [(usize, usize); 6] =
    [(256, 256), (512, 512), (1024, 1024), (1280, 720), (1920, 1080), (3840, 2160)];

pub(crate) fn run(report: &mut Report, bench: &Bench) -> Result<()> {
    report.text(
        "The preset `jobanputra_stentz`, but with a threshold of 1 % of the strongest: the published one, 0.2 in its units, is above \
         every response on most photographs. The first photograph is tiled to each size; medians.",
    );
    threads(report, bench)?;
    if bench.engines.gpu().is_some() {
        steps(report, bench)?;
    }
    output(report, bench)?;
    published::table(report, "jobanputra");
    Ok(())
}

fn config() -> Result<HarrisConfig> {
    Ok(presets::jobanputra_stentz().to_builder().threshold(Threshold::Relative(0.01)).build()?)
}

fn sizes(bench: &Bench) -> impl Iterator<Item = (usize, usize)> {
    let largest = bench.largest;
    SIZES.into_iter().filter(move |(width, _)| *width <= largest)
}

fn size_name((width, height): (usize, usize)) -> String {
    format!("{width} x {height}")
}

fn threads(report: &mut Report, bench: &Bench) -> Result<()> {
    let most = bench.engines.threads();
    let mut counts: Vec<_> =
        std::iter::successors(Some(1), |n| Some(n * 2)).take_while(|n| *n < most).collect();
    counts.extend((most > 0).then_some(most));
    report.heading("Speed-up by threads");
    let mut engines: Vec<_> = bench.engines.reference().then_some(Engine::Reference).into_iter().collect();
    engines.extend(counts.iter().map(|&count| Engine::Cpu(count)));
    engines.extend(bench.engines.gpu().map(|_| Engine::Gpu));
    let head = ["image", "pixels"].map(str::to_owned);
    let columns = head.iter().cloned().chain(engines.iter().map(|engine| engine.name()));
    let mut times = Table::new("threads", "Image to list, milliseconds", columns);
    let columns = std::iter::once("threads".to_owned()).chain(sizes(bench).map(size_name));
    let mut speedups = Table::new("speedup", "Times faster than one thread", columns);
    let mut by_size = Vec::new();
    for size @ (width, height) in sizes(bench) {
        let image = tiled(&bench.photographs[0].1, width, height);
        let mut calls = Vec::new();
        for &engine in &engines {
            bench.say(format!("jobanputra: {}, {}", size_name(size), engine.name()));
            let mut detector = bench.engines.detector(engine, Detection::Harris(config()?))?;
            calls.push(bench.time(&mut *detector, &gray_view(&image)?)?.call);
        }
        let head = [Cell::from(size_name(size)), Cell::Count(width * height)];
        times.row(head.into_iter().chain(calls.iter().map(|&time| time.into())));
        by_size.push(calls);
    }
    let first = usize::from(bench.engines.reference());
    for (i, count) in counts.iter().enumerate() {
        let ratios = by_size.iter().map(|calls| (calls[first] / calls[first + i]).into());
        speedups.row(std::iter::once(Cell::Count(*count)).chain(ratios));
    }
    report.table(times);
    if !counts.is_empty() {
        report.chart(speedups.chart(["threads", "times one thread"], [false, false]));
        report.table(speedups);
    }
    Ok(())
}

fn steps(report: &mut Report, bench: &Bench) -> Result<()> {
    report.heading("The GPU's time by step");
    report.text(
        "What is not on the device is the image's way there through pinned memory, the list's way back, and the host's part of the call.",
    );
    let columns = ["image", "way there and back"].into_iter().chain(stage_names());
    let mut table = Table::new("steps", "Milliseconds", columns);
    for size @ (width, height) in sizes(bench) {
        bench.say(format!("jobanputra: steps, {}", size_name(size)));
        let image = tiled(&bench.photographs[0].1, width, height);
        let (view, config) = (gray_view(&image)?, config()?);
        let Some(stages) = median_stages(bench, Engine::GpuStaged, &config, &view)? else { continue };
        let mut detector = bench.engines.detector(Engine::GpuStaged, Detection::Harris(config))?;
        let timing = bench.time(&mut *detector, &view)?;
        let way = timing.device.map(|device| timing.call - device);
        table.row([size_name(size).into(), way.into()].into_iter().chain(stages.map(Cell::Number)));
    }
    report.table(table);
    Ok(())
}

fn output(report: &mut Report, bench: &Bench) -> Result<()> {
    report.heading("Map against compressed list");
    report.text(
        "A mask has a byte a pixel, a list 16 bytes a corner, the map of responses 4 bytes a pixel. The library gives lists and maps of \
         responses; the time of a map has neither threshold nor suppression in it.",
    );
    let engine = if bench.engines.gpu().is_some() { Engine::Gpu } else { bench.engines.quickest() };
    let columns = [
        "image",
        "corners",
        "bytes of the list",
        "bytes of a mask",
        "bytes of the map",
        "ms to the list",
        "ms to the map",
    ];
    let mut table = Table::new("output", format!("Output, {}", engine.name()), columns);
    for size @ (width, height) in sizes(bench) {
        bench.say(format!("jobanputra: output, {}", size_name(size)));
        let image = tiled(&bench.photographs[0].1, width, height);
        let view = gray_view(&image)?;
        let mut detector = bench.engines.detector(engine, Detection::Harris(config()?))?;
        let list = bench.time(&mut *detector, &view)?;
        let map = bench.median(|| {
            std::hint::black_box(detector.response(&view)?);
            Ok(())
        })?;
        let pixels = width * height;
        table.row([
            size_name(size).into(),
            list.keypoints.into(),
            (16 * list.keypoints).into(),
            pixels.into(),
            (4 * pixels).into(),
            list.call.into(),
            map.into(),
        ]);
    }
    report.table(table);
    Ok(())
}
