//! Jobanputra & Stentz: frames per second, speed-up by threads, the GPU's steps, and masks against
//! a compressed list.

use crate::options::Detection;
use anyhow::Result;
use harris::cuda::{CudaDetector, CudaImage};
use harris_core::{ImageView, presets};

use crate::reproduce::engines::{Bench, Engine};
use crate::reproduce::loundagin::{median_stages, stage_names};
use crate::reproduce::photographs::{gray_view, tiled};
use crate::reproduce::published::{Theirs, comparison_table, figures, row, theirs};
use crate::reproduce::report::{Cell, Report, Table};

/// The size of a corner in this library's list, in bytes.
const CORNER: usize = 16;
/// The most pixels with which the reference is measured.
const REFERENCE_PIXELS: usize = 1920 * 1080;

pub(crate) fn run(report: &mut Report, bench: &Bench) -> Result<()> {
    report.text(
        "The preset `jobanputra_stentz` has smoothing 3 and Sobel 3 without rounding, plain \
         window sums, a suppression that keeps equal neighbours, and raster order. Their report \
         gives no sizes of window and suppression, no k and no thresholds; here they are 3, 3, \
         0.04 and 1 % of the greatest response. The first photograph is tiled to the sizes of \
         their five images. Times are medians. Their hardware is a Jetson Nano for CUDA and a \
         MacBook Pro 2019 for OpenMP.",
    );
    let calls = threads(report, bench)?;
    frames(report, bench, &calls)?;
    let sizes = sizes(bench);
    if bench.engines.gpu().is_some() {
        steps(report, bench, &sizes)?;
    }
    output(report, bench, &sizes)
}

/// Returns the sizes of the paper's images, up to the limit on the command line.
fn sizes(bench: &Bench) -> Vec<(usize, usize)> {
    let mut sizes = theirs("", "Jobanputra & Stentz, section III.A", |_| true).sizes();
    sizes.retain(|(width, _)| *width <= bench.largest);
    sizes.sort_unstable();
    sizes
}

fn size_name((width, height): (usize, usize)) -> String {
    format!("{width} x {height}")
}

/// Returns the times of each engine at one size.
type Calls = Vec<(Engine, Option<f64>)>;

fn of(calls: &Calls, engine: Engine) -> Option<f64> {
    calls.iter().find(|(e, _)| *e == engine).and_then(|(_, time)| *time)
}

fn threads(report: &mut Report, bench: &Bench) -> Result<Vec<((usize, usize), Calls)>> {
    let tried = figures("Jobanputra", |figure| figure.quantity == "number of threads tried");
    let counts = bench.engines.thread_counts(tried.iter().map(|figure| figure.number() as usize));
    report.heading("Speed-up by threads (figure 17, drawn only)");
    report.text(format!(
        "The numbers of threads are theirs and that of this machine, {}; some are more than it \
         runs at once. The reference detector is not timed at the largest size.",
        bench.engines.threads()
    ));
    let mut engines: Vec<_> = bench.engines.reference().then_some(Engine::Reference).into_iter().collect();
    engines.extend(counts.iter().map(|&count| Engine::Cpu(count)));
    engines.extend(bench.engines.gpu().map(|_| Engine::Gpu));
    let head = ["image", "pixels"].map(str::to_owned);
    let columns = head.iter().cloned().chain(engines.iter().map(|engine| engine.name()));
    let mut times = Table::new("threads", "Image to list, milliseconds", columns);
    let sizes = sizes(bench);
    let columns = std::iter::once("threads".to_owned()).chain(sizes.iter().map(|&size| size_name(size)));
    let mut speedups = Table::new("speedup", "Times faster than one thread", columns);
    let mut by_size = Vec::new();
    for &size in &sizes {
        let (width, height) = size;
        let image = tiled(&bench.photographs[0].1, width, height);
        let mut calls = Calls::new();
        for &engine in &engines {
            if engine == Engine::Reference && width * height > REFERENCE_PIXELS {
                calls.push((engine, None));
                continue;
            }
            bench.show(format!("jobanputra: {}, {}", size_name(size), engine.name()));
            let mut detector =
                bench.engines.detector(engine, Detection::Harris(presets::jobanputra_stentz()))?;
            calls.push((engine, Some(bench.time(&mut *detector, &gray_view(&image)?)?.call)));
        }
        let head = [Cell::from(size_name(size)), Cell::Count(width * height)];
        times.row(head.into_iter().chain(calls.iter().map(|(_, time)| Cell::from(*time))));
        by_size.push(calls);
    }
    report.table(times);
    for &count in &counts {
        speedups.row(std::iter::once(Cell::Count(count)).chain(by_size.iter().map(|calls| {
            of(calls, Engine::Cpu(1)).zip(of(calls, Engine::Cpu(count))).map(|(one, many)| one / many).into()
        })));
    }
    if !counts.is_empty() {
        report.chart(speedups.chart(["threads", "times one thread"], [false, false]));
        report.table(speedups);
    }
    let title = "Their speed-ups beside ours";
    let mut table = comparison_table("best-speedup", title, ["ours", "ours is"].map(str::to_owned));
    let ratios = |slow: Engine, fast: Engine| {
        let ratio = move |calls| Some(of(calls, slow)? / of(calls, fast)?);
        let ratios = by_size.iter().zip(&sizes).filter_map(move |(calls, size)| Some((ratio(calls)?, *size)));
        ratios.map(move |(ratio, size)| (ratio, fast, size)).collect::<Vec<_>>()
    };
    for figure in figures("Jobanputra", |figure| figure.quantity.contains("over the serial program")) {
        let (slow, fast): (_, Vec<_>) = match figure.platform.starts_with("OpenMP") {
            true => (Engine::Cpu(1), counts.iter().map(|&count| Engine::Cpu(count)).collect()),
            false => (Engine::Reference, vec![Engine::Gpu]),
        };
        let all = fast.into_iter().flat_map(|fast| ratios(slow, fast));
        let best = all.max_by(|a, b| a.0.total_cmp(&b.0)).map(|(ratio, fast, size)| {
            (ratio, format!("{} over {}, at best: {}", fast.name(), slow.name(), size_name(size)))
        });
        let (ratio, what) = best.unzip();
        table.row(row(figure, [ratio.into(), what.into()]));
    }
    report.table(table);
    Ok(sizes.into_iter().zip(by_size).collect())
}

fn frames(report: &mut Report, bench: &Bench, calls: &[((usize, usize), Calls)]) -> Result<()> {
    report.heading("Frames a second");
    report.text(
        "Frames are processed one after the other. On a GPU, their times and ours include the \
         copies both ways.",
    );
    let engines = bench.engines.fast();
    let printed =
        theirs("", "Jobanputra & Stentz, section IV", |figure| figure.quantity == "frames a second");
    let head = std::iter::once("image".to_owned()).chain(engines.iter().map(|engine| engine.name()));
    let mut table = Table::new("frames", "Frames a second", head.chain(printed.columns()));
    for (size, calls) in calls {
        let ours = engines.iter().map(|&engine| of(calls, engine).map(|time| 1e3 / time).into());
        table.row(std::iter::once(size_name(*size).into()).chain(ours).chain(printed.cells(*size)));
    }
    report.table(table);
    Ok(())
}

fn steps(report: &mut Report, bench: &Bench, sizes: &[(usize, usize)]) -> Result<()> {
    report.heading("The GPU's time by step");
    report.text(
        "Each stage is one kernel. The column `way there and back` is the time outside the \
         device's: both copies through pinned memory, and the host's part of the call. Our parts \
         are those at the largest size; cornerness is tensor and measure. Their parts sum to 97 %.",
    );
    let columns = ["image", "way there and back"].into_iter().chain(stage_names());
    let mut table = Table::new("steps", "Milliseconds", columns);
    let mut last = None;
    for &size in sizes {
        bench.show(format!("jobanputra: steps, {}", size_name(size)));
        let image = tiled(&bench.photographs[0].1, size.0, size.1);
        let (view, config) = (gray_view(&image)?, presets::jobanputra_stentz());
        let Some(stages) = median_stages(bench, Engine::GpuStaged, &config, &view)? else { continue };
        let mut detector = bench.engines.detector(Engine::GpuStaged, Detection::Harris(config))?;
        let timing = bench.time(&mut *detector, &view)?;
        let way = timing.device.map(|device| timing.call - device);
        table.row([size_name(size).into(), way.into()].into_iter().chain(stages.map(Cell::Number)));
        last = Some((timing.call, way, stages));
    }
    report.table(table);
    let mut parts = comparison_table("parts", "Parts of the whole, %", ["ours".to_owned()]);
    for figure in figures("Jobanputra & Stentz, section III.B", |_| true) {
        let ours = last.and_then(|(call, way, stages)| {
            let time = match figure.item.split(' ').next()? {
                "copy" => way?,
                "cornerness" => stages[2] + stages[3],
                "Sobel" => stages[1],
                "suppression" => stages[4],
                _ => return None,
            };
            Some(100.0 * time / call)
        });
        parts.row(row(figure, [ours.into()]));
    }
    report.table(parts);
    Ok(())
}

/// Returns the times to a list, a mask of bytes and a mask of floats on the host. On a GPU, the
/// image is on the device.
fn output_times(bench: &Bench, engine: Engine, image: &ImageView<'_>) -> Result<[f64; 3]> {
    let config = presets::jobanputra_stentz();
    if let (Engine::Gpu, Some(ordinal)) = (engine, bench.engines.ordinal()) {
        let image = CudaImage::upload(ordinal, image)?;
        let mut detector = CudaDetector::on_device(ordinal, config)?;
        // The first calls allocate memory.
        detector.keypoint_mask_on_device::<u8>(&image)?.to_array()?;
        detector.keypoint_mask_on_device::<f32>(&image)?.to_array()?;
        return Ok([
            bench.median(|| Ok(detector.detect_on_device(&image)?.to_vec()?))?,
            bench.median(|| Ok(detector.keypoint_mask_on_device::<u8>(&image)?.to_array()?))?,
            bench.median(|| Ok(detector.keypoint_mask_on_device::<f32>(&image)?.to_array()?))?,
        ]);
    }
    let mut detector = bench.engines.detector(engine, Detection::Harris(config))?;
    detector.detect(image)?;
    Ok([
        bench.median(|| Ok(detector.detect(image)?))?,
        bench.median(|| Ok(detector.keypoint_mask(image)?))?,
        bench.median(|| Ok(detector.keypoint_mask(image)?.mapv(f32::from)))?,
    ])
}

fn output(report: &mut Report, bench: &Bench, sizes: &[(usize, usize)]) -> Result<()> {
    report.heading("Masks against a compressed list");
    report.text(
        "A mask has a byte or a float for each pixel, a list 16 bytes for each corner. Our times \
         end with the output on the host; on a GPU they begin with an image on the device. Theirs \
         are the copy to the host alone.",
    );
    let engine = if bench.engines.gpu().is_some() { Engine::Gpu } else { bench.engines.fastest() };
    let columns = [
        "image",
        "corners",
        "bytes of the list",
        "bytes of a mask of bytes",
        "bytes of a mask of floats",
        "ms to the list",
        "ms to a mask of bytes",
        "ms to a mask of floats",
    ];
    let copies = ["characters", "floats"].map(|kind| {
        theirs(&format!("copy as {kind}"), "Jobanputra & Stentz, section III.A, output", |figure| {
            figure.item.starts_with("copy") && figure.parameter.starts_with(kind)
        })
    });
    let columns = columns.map(str::to_owned).into_iter().chain(copies.iter().flat_map(Theirs::columns));
    let mut table = Table::new("output", format!("Output, {}", engine.name()), columns);
    for &size in sizes {
        let pixels = size.0 * size.1;
        bench.show(format!("jobanputra: output, {}", size_name(size)));
        let image = tiled(&bench.photographs[0].1, size.0, size.1);
        let view = gray_view(&image)?;
        let detection = Detection::Harris(presets::jobanputra_stentz());
        let corners = bench.engines.detector(engine, detection)?.detect(&view)?.len();
        let bytes = [CORNER * corners, pixels, 4 * pixels].map(Cell::Count);
        let ours = [size_name(size).into(), corners.into()].into_iter().chain(bytes);
        let times = output_times(bench, engine, &view)?.map(Cell::Number);
        table.row(ours.chain(times).chain(copies.iter().flat_map(|copy| copy.cells(size))));
    }
    report.table(table);
    let title = "Their compressed list, which did not pay";
    let list =
        figures("Jobanputra & Stentz, section III.A, output", |figure| figure.item.starts_with("list"));
    let mut table = comparison_table("list", title, []);
    list.into_iter().for_each(|figure| table.row(row(figure, [])));
    report.table(table);
    Ok(())
}
