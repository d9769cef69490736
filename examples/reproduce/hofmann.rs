//! Hofmann 2009: SURF's Fast-Hessian detector by image size and by step.

use anyhow::Result;
use harris_core::fast_hessian::{FastHessianConfig, StepTimes};
use harris_examples::options::Detection;

use crate::engines::{Bench, Engine, median, milliseconds};
use crate::photographs::{gray_view, tiled};
use crate::published;
use crate::report::{Cell, Report, Table};

const SIDES: [usize; 7] = [480, 640, 800, 1024, 1280, 1600, 2048];
/// The side up to which the reference is timed.
const REFERENCE_SIDE: usize = 1024;

pub(crate) fn run(report: &mut Report, bench: &Bench) -> Result<()> {
    report.text("The default of the Fast-Hessian detector; the first photograph is tiled to squares; medians in milliseconds.");
    let mut engines: Vec<_> = bench.engines.reference().then_some(Engine::Reference).into_iter().collect();
    engines.extend(bench.engines.fast());
    let device = bench.engines.gpu().map(|_| "GPU, on the device".to_owned());
    let columns = ["side".to_owned(), "blobs".to_owned()];
    let columns = columns.into_iter().chain(engines.iter().map(|engine| engine.name())).chain(device);
    let mut times = Table::new("sizes", "Image to list, milliseconds by side", columns);
    let names = ["engine", "side", "integral image", "determinants", "peaks", "list"];
    let mut steps = Table::new("steps", "By step, milliseconds", names);
    for side in SIDES.into_iter().filter(|side| *side <= bench.largest) {
        let image = tiled(&bench.photographs[0].1, side, side);
        let view = gray_view(&image)?;
        let (mut calls, mut on_device, mut blobs) = (Vec::new(), None, 0);
        for &engine in &engines {
            if engine == Engine::Reference && side > REFERENCE_SIDE {
                calls.push(Cell::Nothing);
                continue;
            }
            bench.say(format!("hofmann: {side} x {side}, {}", engine.name()));
            let mut detector =
                bench.engines.detector(engine, Detection::FastHessian(FastHessianConfig::default()))?;
            let timing = bench.time(&mut *detector, &view)?;
            calls.push(timing.call.into());
            (on_device, blobs) = (timing.device, timing.keypoints);
            let mut runs = Vec::new();
            bench.median(|| {
                detector.detect(&view)?;
                runs.extend(detector.step_times());
                Ok(())
            })?;
            let medians = [
                |times: &StepTimes| times.integral,
                |times: &StepTimes| times.responses,
                |times: &StepTimes| times.peaks,
                |times: &StepTimes| times.list,
            ]
            .map(|step| median(runs.iter().map(|times| milliseconds(step(times))).collect()));
            if medians.iter().all(Option::is_some) {
                steps.row([engine.name().into(), side.into()].into_iter().chain(medians.map(Cell::from)));
            }
        }
        let device = bench.engines.gpu().map(|_| Cell::from(on_device));
        times.row([side.into(), blobs.into()].into_iter().chain(calls).chain(device));
    }
    let mut chart = times.chart(["side in pixels", "milliseconds"], [true, true]);
    chart.lines.retain(|(name, _)| name != "blobs");
    report.heading("By image size");
    report.chart(chart);
    report.table(times);
    report.heading("By step");
    report.table(steps);
    published::table(report, "hofmann");
    Ok(())
}
