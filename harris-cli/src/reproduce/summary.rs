//! Times of the whole pipeline by image size: all papers and this library.

use std::collections::HashSet;

use crate::options::Detection;
use anyhow::Result;
use harris_core::{fast_hessian, presets};
use plotters::chart::SeriesLabelPosition;

use crate::reproduce::engines::{Bench, Engine};
use crate::reproduce::photographs::{gray_view, tiled};
use crate::reproduce::published::{Figure, figures};
use crate::reproduce::report::{Chart, Report, Table};

const SIDES: [usize; 6] = [128, 256, 512, 1024, 2048, 4096];

/// Whether a figure is the time of a whole pipeline, or frames per second, with a size. Of
/// Chahuara's boards, the gray one with 49 corners counts.
fn is_whole(figure: &Figure) -> bool {
    let item = match figure.paper() {
        "Loundagin 2015" | "Jobanputra & Stentz" => "whole pipeline",
        "Phull 2011" => "LoCoCo, image to corners",
        "Chahuara 2017" => "whole detector (4 stages)",
        "Hofmann 2009" => "Fast-Hessian detector, image to list",
        _ => return false,
    };
    let board = "board MED (49 corners), gray";
    let wanted = figure.paper() != "Chahuara 2017" || figure.parameter.starts_with(board);
    figure.item == item && figure.milliseconds().is_some() && figure.sides().is_some() && wanted
}

pub(crate) fn run(report: &mut Report, bench: &Bench) -> Result<()> {
    report.text(
        "Times are from image to list, one image after the other. The papers' figures are as \
         printed, by paper and hardware. Loundagin's at 1024 x 1024 are partly bounds or \
         approximations from his text. Jobanputra & Stentz's follow from frames a second. \
         Chahuara's are those of the gray board with 49 corners. Ours are those of the presets \
         `loundagin_2015` (Harris) and `hofmann_2009` (Fast-Hessian) on the first photograph, \
         tiled to squares. On the GPU they are whole calls with the copies.",
    );
    let mut lines: Vec<(String, Vec<(f64, f64)>)> = Vec::new();
    let mut table = Table::new(
        "theirs",
        "Whole pipelines in print, milliseconds",
        ["paper", "platform", "size", "pixels", "milliseconds", "quantity", "source"],
    );
    let mut known = HashSet::new();
    let mut whole = figures("", is_whole);
    // Times come before their inverses, and tables before the text.
    whole.sort_by_key(|figure| (figure.unit == "1/s", !figure.source.contains("table")));
    for figure in whole {
        let (Some((width, height)), Some(time)) = (figure.sides(), figure.milliseconds()) else { continue };
        // A time and its inverse are one point.
        if !known.insert((&figure.platform, &figure.size)) {
            continue;
        }
        let name = format!("{}: {}", figure.paper(), figure.platform);
        let point = ((width * height) as f64, time);
        match lines.iter_mut().find(|(other, _)| *other == name) {
            Some((_, points)) => points.push(point),
            None => lines.push((name, vec![point])),
        }
        let texts = [figure.paper(), &figure.platform, &figure.size].map(Into::into);
        let ends = [
            (width * height).into(),
            time.into(),
            figure.quantity.as_str().into(),
            figure.source.as_str().into(),
        ];
        table.row(texts.into_iter().chain(ends));
    }
    lines.iter_mut().for_each(|(_, points)| points.sort_by(|a, b| a.0.total_cmp(&b.0)));
    let engines: Vec<_> =
        bench.engines.fast().into_iter().filter(|e| matches!(e, Engine::Cpu(1) | Engine::Gpu)).collect();
    let detections = [
        ("Harris", Detection::Harris(presets::loundagin_2015())),
        ("Fast-Hessian", Detection::FastHessian(fast_hessian::presets::hofmann_2009())),
    ];
    let columns = detections.iter().flat_map(|(detector, _)| {
        engines.iter().map(move |engine| format!("ours: {detector}, {}", engine.name()))
    });
    let mut ours = Table::new(
        "ours",
        "Ours, milliseconds by side of the image",
        std::iter::once("side".to_owned()).chain(columns),
    );
    for side in SIDES.into_iter().filter(|side| *side <= bench.largest) {
        let image = tiled(&bench.photographs[0].1, side, side);
        let view = gray_view(&image)?;
        let mut row = vec![side.into()];
        for (name, detection) in &detections {
            for &engine in &engines {
                bench.show(format!("summary: {name}, {side} x {side}, {}", engine.name()));
                let mut detector = bench.engines.detector(engine, detection.clone())?;
                row.push(bench.time(&mut *detector, &view)?.call.into());
            }
        }
        ours.row(row);
    }
    let squared = |(name, points): (String, Vec<(f64, f64)>)| {
        (name, points.into_iter().map(|(side, time)| (side * side, time)).collect())
    };
    lines.splice(0..0, ours.chart(["", ""], [true, true]).lines.into_iter().map(squared));
    report.chart(Chart {
        name: "times".to_owned(),
        title: "Image to list: five papers and this library".to_owned(),
        axes: ["pixels of the image", "milliseconds"].map(str::to_owned),
        logarithmic: [true, true],
        legend: SeriesLabelPosition::UpperLeft,
        lines,
    });
    report.table(ours);
    report.table(table);
    Ok(())
}
