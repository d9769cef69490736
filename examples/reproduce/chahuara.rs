//! Chahuara 2017: chessboards in gray and colour (tables 4.2 and 4.3), precision and recall (table 4.1), Rosin's threshold.

use anyhow::Result;
use harris_core::pipeline::threshold::{Binning, extent};
use harris_core::{HarrisConfig, ImageView, presets};
use harris_evaluation::scenes::{Chessboard, Scene};
use harris_evaluation::{Degradation, Score, score};
use harris_examples::options::Detection;
use plotters::chart::SeriesLabelPosition;

use crate::engines::{Bench, Engine};
use crate::photographs::gray_view;
use crate::published;
use crate::report::{Cell, Chart, Report, Table};

const SIDES: [usize; 6] = [128, 256, 512, 1024, 2048, 4096];
/// LOW, MED and FULL: squares along a side.
const BOARDS: [(&str, usize); 3] = [("LOW", 2), ("MED", 8), ("FULL", 32)];
/// The side up to which the reference is timed.
const REFERENCE_SIDE: usize = 1024;
/// Pixels that Chahuara allows between a corner and its place.
const TOLERANCE: f64 = 4.0;
/// Pixels within which chessboards' corners are asked for.
const CLOSE: f64 = 2.0;
const BINS: u32 = 256;

pub(crate) fn run(report: &mut Report, bench: &Bench) -> Result<()> {
    report.text(
        "LOW, MED and FULL are chessboards of 2 x 2, 8 x 8 and 32 x 32 squares, with 1, 49 and 961 corners. The preset is \
         `chahuara_2017`, without its limit of 200 corners unless said otherwise.",
    );
    boards(report, bench)?;
    accuracy(report, bench)?;
    scenes(report, bench)?;
    rosin(report, bench)?;
    published::table(report, "chahuara");
    Ok(())
}

fn unlimited() -> Result<HarrisConfig> {
    Ok(presets::chahuara_2017().to_builder().max_corners(None).build()?)
}

fn sides(bench: &Bench) -> impl Iterator<Item = usize> {
    let largest = bench.largest;
    SIDES.into_iter().filter(move |side| *side <= largest)
}

fn boards(report: &mut Report, bench: &Bench) -> Result<()> {
    report.heading("Times by image (tables 4.2 and 4.3)");
    let mut engines: Vec<_> = bench.engines.reference().then_some(Engine::Reference).into_iter().collect();
    engines.extend(bench.engines.fast());
    for (channels, name, title) in [(1, "gray", "Gray (table 4.2)"), (3, "colour", "Colour (table 4.3)")] {
        let head = ["side", "board"].map(str::to_owned);
        let device = bench.engines.gpu().map(|_| "GPU, on the device".to_owned());
        let columns = head.into_iter().chain(engines.iter().map(|engine| engine.name())).chain(device);
        let mut table = Table::new(name, format!("{title}, milliseconds"), columns);
        for size in sides(bench) {
            for (board, squares) in BOARDS {
                bench.say(format!("chahuara: {board} in {name}, {size} x {size}"));
                let image = Chessboard { squares, size, channels }.draw();
                let view = ImageView::try_from(&image)?;
                let (mut calls, mut on_device) = (Vec::new(), None);
                for &engine in &engines {
                    if engine == Engine::Reference && size > REFERENCE_SIDE {
                        calls.push(Cell::Nothing);
                        continue;
                    }
                    let mut detector = bench.engines.detector(engine, Detection::Harris(unlimited()?))?;
                    let timing = bench.time(&mut *detector, &view)?;
                    calls.push(timing.call.into());
                    on_device = timing.device;
                }
                let device = bench.engines.gpu().map(|_| Cell::from(on_device));
                table.row([size.into(), board.into()].into_iter().chain(calls).chain(device));
            }
        }
        report.table(table);
    }
    Ok(())
}

fn accuracy(report: &mut Report, bench: &Bench) -> Result<()> {
    report.heading("Precision and recall on chessboards");
    report.text(format!("Corners within {CLOSE} pixels of where four squares meet, in gray and in colour."));
    let columns = ["preset", "side", "board", "corners"].map(str::to_owned);
    let measured = ["gray", "colour"]
        .map(|kind| ["found", "precision", "recall", "mean error"].map(|what| format!("{what}, {kind}")));
    let columns = columns.into_iter().chain(measured.into_iter().flatten());
    let mut table = Table::new("boards", "Chessboards", columns);
    for (name, config) in [
        ("default", HarrisConfig::default()),
        ("chahuara_2017 without limit", unlimited()?),
        ("chahuara_2017", presets::chahuara_2017()),
    ] {
        let mut detector = bench.engines.detector(bench.engines.quickest(), Detection::Harris(config))?;
        for size in sides(bench) {
            for (label, squares) in BOARDS {
                bench.say(format!("chahuara: corners of {label}, {size} x {size}"));
                let corners = (squares - 1) * (squares - 1);
                let mut row: Vec<Cell> = vec![name.into(), size.into(), label.into(), corners.into()];
                for channels in [1, 3] {
                    let board = Chessboard { squares, size, channels };
                    let image = board.draw();
                    let found = detector.detect(&ImageView::try_from(&image)?)?;
                    let score = score(&found, &board.corners(), CLOSE)?;
                    row.push(score.found.into());
                    row.extend([score.precision(), score.recall()].map(Cell::Number));
                    row.push(score.mean_error().into());
                }
                table.row(row);
            }
        }
    }
    report.table(table);
    report.text(
        "FULL at 128 pixels has squares of 4 pixels, no more than the suppression radius of `chahuara_2017`. All its corners are equally \
         strong, and of equals within the radius the first stays: each has one before it, in its row or above, but for the very first.",
    );
    Ok(())
}

fn scenes(report: &mut Report, bench: &Bench) -> Result<()> {
    report.heading("Precision and recall on scenes (table 4.1)");
    report.text(format!(
        "Junctions and polygons with soft edges at known places, tolerance {TOLERANCE} pixels."
    ));
    let columns = ["preset", "shape", "noise", "precision", "recall", "mean error"];
    let mut table = Table::new("scenes", "Scenes, noise as standard deviation in levels of 255", columns);
    let drawn = Scene::SHAPES.map(|shape| (shape, Scene::of(shape, 6, 1)));
    for preset in presets::ALL {
        let config = (preset.config)().to_builder().max_corners(None).build()?;
        let mut detector = bench.engines.detector(bench.engines.quickest(), Detection::Harris(config))?;
        for noise in [0.0, 5.0] {
            let mut all = Vec::new();
            for (shape, scene) in &drawn {
                bench.say(format!("chahuara: {}, {shape:?}", preset.name));
                let image = Degradation { noise, seed: 1, ..Degradation::default() }.apply(&scene.levels);
                let found = detector.detect(&ImageView::try_from(&image)?)?;
                let score = score(&found, &scene.corners, TOLERANCE)?;
                table.row(row(preset.name, &format!("{shape:?}"), noise, &score));
                all.push(score);
            }
            table.row(row(preset.name, "all", noise, &all.into_iter().sum()));
        }
    }
    report.table(table);
    Ok(())
}

fn row(preset: &str, shape: &str, noise: f64, score: &Score) -> [Cell; 6] {
    let rates = (score.precision().into(), score.recall().into());
    [preset.into(), shape.into(), noise.into(), rates.0, rates.1, score.mean_error().into()]
}

fn rosin(report: &mut Report, bench: &Bench) -> Result<()> {
    report.heading("Rosin's threshold");
    report.text(
        "The histogram of responses, a line from its peak to its end, and the threshold at the bin farthest below the line.",
    );
    let mut table = Table::new(
        "rosin",
        "Thresholds",
        ["image", "greatest response", "threshold", "part of the greatest", "corners"],
    );
    for (name, photograph) in &bench.photographs {
        bench.say(format!("chahuara: histogram of {name}"));
        let gray = photograph.to_luma8();
        let view = gray_view(&gray)?;
        let mut detector =
            bench.engines.detector(bench.engines.quickest(), Detection::Harris(unlimited()?))?;
        let response = detector.response(&view)?;
        let Some(extent) = extent(response.iter().copied()) else { continue };
        let Some(binning) = Binning::new(extent.clone(), BINS) else { continue };
        let mut histogram = vec![0_u64; BINS as usize];
        response.iter().for_each(|value| histogram[binning.bin(*value)] += 1);
        let threshold = f64::from(binning.threshold(&histogram));
        let (least, greatest) = (f64::from(*extent.start()), f64::from(*extent.end()));
        let place = |bin: usize| least + (bin as f64 + 0.5) * (greatest - least) / f64::from(BINS);
        let points = || histogram.iter().enumerate().filter(|(_, count)| **count > 0);
        let line = points().map(|(bin, count)| (place(bin), *count as f64)).collect();
        let most = histogram.iter().copied().max().unwrap_or(1) as f64;
        report.chart(Chart {
            name: format!("rosin-{name}"),
            title: format!("Responses of {name}, and Rosin's threshold"),
            axes: ["response", "pixels"].map(str::to_owned),
            logarithmic: [false, true],
            legend: SeriesLabelPosition::UpperRight,
            lines: vec![
                ("pixels in a bin".to_owned(), line),
                ("threshold".to_owned(), vec![(threshold, 1.0), (threshold, most)]),
            ],
        });
        let corners = detector.detect(&view)?.len();
        table.row([
            name.as_str().into(),
            greatest.into(),
            threshold.into(),
            (threshold / greatest).into(),
            corners.into(),
        ]);
    }
    report.table(table);
    Ok(())
}
