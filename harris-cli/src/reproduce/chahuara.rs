//! Chahuara 2017: chessboards in gray and colour (tables 4.2 and 4.3), photographs (table 4.4),
//! precision and recall (table 4.1), and Rosin's threshold.

use crate::options::Detection;
use anyhow::Result;
use harris_core::pipeline::threshold::{Binning, extent};
use harris_core::{HarrisConfig, ImageView, Window, presets};
use harris_evaluation::scenes::{Chessboard, Scene};
use harris_evaluation::{Degradation, Score, score};
use plotters::chart::SeriesLabelPosition;

use crate::reproduce::engines::{Bench, Engine};
use crate::reproduce::photographs::{gray_view, with_channels};
use crate::reproduce::published::{Figure, figures, theirs};
use crate::reproduce::report::{Cell, Chart, Report, Table};

/// The tables with times in gray and in colour.
const TABLES: [&str; 2] = ["Chahuara 2017, table 4.2", "Chahuara 2017, table 4.3"];
/// The chessboards LOW, MED and FULL, with the number of squares along a side.
const BOARDS: [(&str, usize); 3] = [("LOW", 2), ("MED", 8), ("FULL", 32)];
/// The largest side at which the reference is measured, in pixels.
const REFERENCE_SIDE: usize = 1024;
/// Chahuara's tolerance between a corner and its true position, in pixels.
const TOLERANCE: f64 = 4.0;
/// The tolerance for corners of chessboards, in pixels.
const CHESSBOARD_TOLERANCE: f64 = 2.0;
const BINS: u32 = 256;

pub(crate) fn run(report: &mut Report, bench: &Bench) -> Result<()> {
    report.text(
        "LOW, MED and FULL are chessboards of 2 x 2, 8 x 8 and 32 x 32 squares, with 1, 49 and \
         961 corners. The preset is `chahuara_2017`, without its limit of 200 corners unless \
         stated. Chahuara's hardware is a Jetson TK1, with a Cortex A15 at 2.33 GHz and the GPU \
         GK20A. His CUDA times include the copies; his OpenCV times exclude suppression and list.",
    );
    boards(report, bench)?;
    photographs(report, bench)?;
    accuracy(report, bench)?;
    scenes(report, bench)?;
    rosin(report, bench)?;
    Ok(())
}

fn unlimited() -> Result<HarrisConfig> {
    Ok(presets::chahuara_2017().to_builder().max_corners(None).build()?)
}

fn chessboard(squares: usize, size: usize, channels: usize) -> Result<Chessboard> {
    Ok(Chessboard::builder().squares(squares).size(size).channels(channels).build()?)
}

/// Returns the sides of the chessboards that were chosen on the command line.
fn sides(bench: &Bench) -> Vec<usize> {
    let sizes = theirs("", TABLES[0], |_| true).sizes();
    sizes.into_iter().map(|(side, _)| side).filter(|side| *side <= bench.largest).collect()
}

fn boards(report: &mut Report, bench: &Bench) -> Result<()> {
    report.heading("Times by image (tables 4.2 and 4.3)");
    report.text(format!("The reference detector is timed up to {REFERENCE_SIDE} x {REFERENCE_SIDE}."));
    let engines = bench.engines.with_reference();
    for ((channels, name, title), source) in
        [(1, "gray", "Gray (table 4.2)"), (3, "colour", "Colour (table 4.3)")].into_iter().zip(TABLES)
    {
        let printed = BOARDS.map(|(board, _)| {
            let parameter = format!("board {board} ");
            theirs("", source, move |figure| figure.unit == "ms" && figure.parameter.starts_with(&parameter))
        });
        let head = ["side", "board"].map(str::to_owned);
        let device = bench.engines.gpu().map(|_| "GPU, on the device".to_owned());
        let columns = head.into_iter().chain(engines.iter().map(|engine| engine.name())).chain(device);
        let columns = columns.chain(printed[0].columns());
        let mut table = Table::new(name, format!("{title}, milliseconds"), columns);
        for size in sides(bench) {
            for ((board, squares), printed) in BOARDS.into_iter().zip(&printed) {
                bench.show(format!("chahuara: {board} in {name}, {size} x {size}"));
                let image = chessboard(squares, size, channels)?.draw();
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
                let ours = [size.into(), board.into()].into_iter().chain(calls).chain(device);
                table.row(ours.chain(printed.cells((size, size))));
            }
        }
        report.table(table);
    }
    Ok(())
}

/// Returns the number of channels and the side of the Gaussian window with which a work of table
/// 4.4 is repeated.
fn repeated(figure: &Figure) -> Option<(usize, u32)> {
    let (kind, rest) = figure.parameter.split_once(", Gaussian filter ")?;
    let side = rest.split_once('x')?.0.parse().ok().filter(|side| [3, 5].contains(side))?;
    Some((if kind == "colour" { 3 } else { 1 }, side))
}

fn photographs(report: &mut Report, bench: &Bench) -> Result<()> {
    report.heading("Photographs, and other works (table 4.4)");
    report.text(
        "The thesis does not name its photographs; ours is the first one in colour, scaled to \
         each size. Where a work has a Gaussian filter of 3 x 3 or 5 x 5, our times are those of \
         `chahuara_2017` with that window (sigma 1.5). The image has the same size, gray or \
         colour; the detectors differ.",
    );
    let engines = bench.engines.fast();
    let columns = ["work", "platform", "size", "parameters", "theirs"].map(str::to_owned);
    let ours = engines.iter().map(|engine| format!("ours: {}", engine.name()));
    let mut table = Table::new("photographs", "Milliseconds", columns.into_iter().chain(ours));
    // Times by size, channels and window.
    let mut known = Vec::<(_, Vec<f64>)>::new();
    for figure in figures("Chahuara 2017, table 4.4", |figure| figure.unit == "ms") {
        let wanted = figure.sides().filter(|(width, _)| *width <= bench.largest);
        let key = wanted.zip(repeated(figure)).map(|(sides, (channels, window))| (sides, channels, window));
        if let Some(key @ (sides, channels, size)) = key.filter(|key| known.iter().all(|(k, _)| k != key)) {
            bench
                .show(format!("chahuara: photograph of {}, {channels} channels, window {size}", figure.size));
            let image = with_channels(&bench.photographs, sides, channels);
            let config = unlimited()?.to_builder().window(Window::Gaussian { size, sigma: 1.5 }).build()?;
            let mut calls = Vec::new();
            for &engine in &engines {
                let mut detector = bench.engines.detector(engine, Detection::Harris(config.clone()))?;
                calls.push(bench.time(&mut *detector, &ImageView::try_from(&image)?)?.call);
            }
            known.push((key, calls));
        }
        let ours = key.and_then(|key| known.iter().find(|(k, _)| *k == key));
        let cells = (0..engines.len()).map(|i| ours.map(|(_, calls)| calls[i]).into());
        let texts = [&figure.item, &figure.platform, &figure.size, &figure.parameter];
        table.row(texts.map(|text| text.as_str().into()).into_iter().chain([figure.cell()]).chain(cells));
    }
    report.table(table);
    Ok(())
}

fn accuracy(report: &mut Report, bench: &Bench) -> Result<()> {
    report.heading("Precision and recall on chessboards");
    report.text(format!(
        "A corner is right within {CHESSBOARD_TOLERANCE} pixels of a point where four squares \
         meet. Boards are in gray and in colour."
    ));
    let columns = ["preset", "side", "board", "corners"].map(str::to_owned);
    let measured = ["gray", "colour"]
        .map(|kind| ["found", "precision", "recall", "mean error"].map(|what| format!("{what}, {kind}")));
    let columns = columns.into_iter().chain(measured.into_iter().flatten());
    let mut table = Table::new("boards", "Chessboards", columns);
    let presets = [
        ("default", HarrisConfig::default()),
        ("chahuara_2017 without limit", unlimited()?),
        ("chahuara_2017", presets::chahuara_2017()),
    ];
    let mut detectors = Vec::new();
    for (name, config) in presets {
        let detector = bench.engines.detector(bench.engines.fastest(), Detection::Harris(config))?;
        detectors.push((name, detector, Vec::new()));
    }
    for size in sides(bench) {
        for (label, squares) in BOARDS {
            bench.show(format!("chahuara: corners of {label}, {size} x {size}"));
            let boards = [chessboard(squares, size, 1)?, chessboard(squares, size, 3)?];
            let images = boards.each_ref().map(Chessboard::draw);
            for (name, detector, rows) in &mut detectors {
                let corners = (squares - 1) * (squares - 1);
                let mut row: Vec<Cell> = vec![(*name).into(), size.into(), label.into(), corners.into()];
                for (board, image) in boards.iter().zip(&images) {
                    let found = detector.detect(&ImageView::try_from(image)?)?;
                    let score = score(&found, &board.corners(), CHESSBOARD_TOLERANCE)?;
                    row.push(score.found.into());
                    row.extend([score.precision(), score.recall()].map(Cell::Number));
                    row.push(score.mean_error().into());
                }
                rows.push(row);
            }
        }
    }
    detectors.into_iter().flat_map(|(.., rows)| rows).for_each(|row| table.row(row));
    report.table(table);
    report.text(
        "FULL at 128 pixels has squares of 4 pixels, no more than the suppression radius of \
         `chahuara_2017`. All its corners are equally strong, and only the first of equals within \
         the radius stays. So each corner but the very first is suppressed by one in its row or \
         above.",
    );
    Ok(())
}

fn scenes(report: &mut Report, bench: &Bench) -> Result<()> {
    report.heading("Precision and recall (table 4.1)");
    report.text(format!(
        "A corner is right within {TOLERANCE} pixels of a true one; each true corner counts once. \
         The thesis has four photographs with corners marked by hand, which are not published. \
         Ours are scenes: junctions and polygons with soft edges at known places. No preset limits \
         the number of corners."
    ));
    let columns = ["images", "detector", "true corners", "found", "right", "precision, %", "recall, %"];
    let mut beside = Table::new("protocol", "The protocol of table 4.1: theirs, then ours", columns);
    let printed = figures("Chahuara 2017, table 4.1", |_| true);
    for found in printed.iter().filter(|figure| figure.quantity == "corners found") {
        let find = |platform: &str, quantity: &str| {
            let same = |figure: &&&Figure| {
                figure.item == found.item && figure.platform == platform && figure.quantity == quantity
            };
            printed.iter().find(same).map_or(Cell::Nothing, |figure| figure.cell())
        };
        let rates = ["true positives", "precision", "recall"].map(|quantity| find(&found.platform, quantity));
        let head = [found.item.as_str().into(), found.platform.as_str().into()];
        let counts = [find("", "corners in the ground truth"), found.cell()];
        beside.row(head.into_iter().chain(counts).chain(rates));
    }
    let columns = ["preset", "shape", "noise", "precision", "recall", "mean error"];
    let mut table = Table::new("scenes", "Scenes, noise as standard deviation in levels of 255", columns);
    let drawn = Scene::SHAPES.map(|shape| (shape, Scene::of(shape, 6, 1)));
    for preset in presets::ALL {
        let config = (preset.config)().to_builder().max_corners(None).build()?;
        let mut detector = bench.engines.detector(bench.engines.fastest(), Detection::Harris(config))?;
        for noise in [0.0, 5.0] {
            let mut all = Vec::new();
            for (shape, scene) in &drawn {
                bench.show(format!("chahuara: {}, {shape:?}", preset.name));
                let image = Degradation::builder().noise(noise).seed(1).build()?.apply(&scene.levels);
                let found = detector.detect(&ImageView::try_from(&image)?)?;
                let score = score(&found, &scene.corners, TOLERANCE)?;
                table.row(row(preset.name, &format!("{shape:?}"), noise, &score));
                all.push(score);
            }
            let all: Score = all.into_iter().sum();
            table.row(row(preset.name, "all", noise, &all));
            if ["default", "chahuara_2017"].contains(&preset.name) {
                beside.row([
                    format!("ours: all scenes, noise {noise}").into(),
                    format!("ours: {}", preset.name).into(),
                    all.wanted.into(),
                    all.found.into(),
                    all.errors.len().into(),
                    (100.0 * all.precision()).into(),
                    (100.0 * all.recall()).into(),
                ]);
            }
        }
    }
    report.table(beside);
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
        "Each chart shows the histogram of responses, a line from its peak to its end, and the \
         threshold. The threshold is at the bin farthest below the line.",
    );
    let mut table = Table::new(
        "rosin",
        "Thresholds",
        ["image", "greatest response", "threshold", "part of the greatest", "corners"],
    );
    for (name, photograph) in &bench.photographs {
        bench.show(format!("chahuara: histogram of {name}"));
        let gray = photograph.to_luma8();
        let view = gray_view(&gray)?;
        let mut detector =
            bench.engines.detector(bench.engines.fastest(), Detection::Harris(unlimited()?))?;
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
