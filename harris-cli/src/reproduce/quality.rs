//! Quality of the corners: localisation and repeatability, by measure, preset and subpixel mode.

use crate::options::{Detection, Timed};
use anyhow::Result;
use harris_core::{Error, HarrisConfig, ImageView, Keypoint, Measure, Subpixel, Window, presets};
use harris_evaluation::scenes::Scene;
use harris_evaluation::{Correspondence, Degradation, DegradationBuilder, Score, View, score};
use plotters::chart::SeriesLabelPosition;

use crate::reproduce::engines::Bench;
use crate::reproduce::photographs::levels;
use crate::reproduce::report::{Cell, Report, Table};

/// The tolerance between a corner and its true position, in pixels.
const TOLERANCE: f64 = 4.0;
/// The tolerance between a keypoint and its position in the first view, in pixels.
const REPEAT_TOLERANCE: f64 = 1.5;
/// The number of strongest corners of each view that count.
const STRONGEST: usize = 500;
/// The width of the edge of both views that does not count, in pixels.
const MARGIN: f64 = 12.0;

pub(crate) fn run(report: &mut Report, bench: &Bench) -> Result<()> {
    localisation(report, bench)?;
    repeatability(report, bench)
}

fn subpixel_modes() -> [(&'static str, Subpixel); 3] {
    [
        ("integer", Subpixel::None),
        ("quadratic", Subpixel::Quadratic),
        ("forstner:5", Subpixel::Forstner { radius: 5 }),
    ]
}

fn detector(bench: &Bench, config: HarrisConfig) -> Result<Box<dyn Timed>> {
    bench.engines.detector(bench.engines.fastest(), Detection::Harris(config))
}

fn localisation(report: &mut Report, bench: &Bench) -> Result<()> {
    report.heading("Localisation");
    report.text(format!(
        "The scenes are junctions and polygons with soft edges at exact places, at random angles, \
         64 of each shape. A corner is right within {TOLERANCE} pixels. Errors are means over \
         right corners, in pixels. Noise is given as its standard deviation in levels of 255, blur \
         as that of a Gaussian in pixels, contrast as a gain.",
    ));
    let conditions = [
        ("as drawn", Degradation::builder()),
        ("noise 5", Degradation::builder().noise(5.0)),
        ("noise 10", Degradation::builder().noise(10.0)),
        ("blur 1", Degradation::builder().blur(1.0)),
        ("blur 2", Degradation::builder().blur(2.0)),
        ("contrast 0.5, noise 5", Degradation::builder().gain(0.5).offset(0.25).noise(5.0)),
    ];
    let scenes = Scene::SHAPES.map(|shape| (shape, Scene::of(shape, 8, 2)));
    let head = ["configuration", "condition"].map(str::to_owned);
    let ends = ["all", "precision", "recall"].map(str::to_owned);
    let columns = head.into_iter().chain(Scene::SHAPES.map(|shape| format!("{shape:?}"))).chain(ends);
    let mut table = Table::new("localisation", "Mean error by sub-pixel mode and shape, pixels", columns);
    let mut configs: Vec<_> = subpixel_modes()
        .into_iter()
        .map(|(name, subpixel)| (format!("default, {name}"), HarrisConfig::builder().subpixel(subpixel)))
        .collect();
    let base = HarrisConfig::builder;
    configs.push(("Shi-Tomasi, integer".to_owned(), base().measure(Measure::ShiTomasi)));
    configs.push((
        "Shi-Tomasi, forstner:5".to_owned(),
        base().measure(Measure::ShiTomasi).subpixel(Subpixel::Forstner { radius: 5 }),
    ));
    for window in
        [Window::Box { size: 5 }, Window::Binomial { size: 5 }, Window::Gaussian { size: 5, sigma: 1.5 }]
    {
        configs.push((format!("window {window}, integer"), base().window(window)));
    }
    configs.push(("opencv_gftt, integer".to_owned(), presets::opencv_gftt().to_builder()));
    let wider = presets::opencv_gftt().to_builder().window(Window::Gaussian { size: 5, sigma: 1.5 });
    configs.push(("opencv_gftt with window gaussian:5:1.5, integer".to_owned(), wider));
    for (name, builder) in configs {
        let mut detector = detector(bench, builder.build()?)?;
        for (condition, degradation) in &conditions {
            bench.show(format!("quality: {name}, {condition}"));
            let mut scores = Vec::new();
            for (i, (_, scene)) in scenes.iter().enumerate() {
                let image = degradation.seed(i as u64).build()?.apply(&scene.levels);
                let found = detector.detect(&ImageView::try_from(&image)?)?;
                scores.push(score(&found, &scene.corners, TOLERANCE)?);
            }
            let errors: Vec<Cell> = scores.iter().map(|score| score.mean_error().into()).collect();
            let all: Score = scores.into_iter().sum();
            let ends = [all.mean_error().into(), all.precision().into(), all.recall().into()];
            table.row([name.as_str().into(), (*condition).into()].into_iter().chain(errors).chain(ends));
        }
    }
    report.table(table);
    Ok(())
}

/// A series of views, each with its number on the axis.
type Views = (&'static str, &'static str, Vec<(f64, View)>);

fn all_views() -> Result<Vec<Views>, Error> {
    let grain = Degradation::builder().noise(1.0);
    let seen = |degradation: DegradationBuilder| View::builder().degradation(degradation.build()?).build();
    let plain = seen(grain)?.to_builder();
    let over = |values: &[f64], view: &dyn Fn(f64) -> Result<View, Error>| {
        values.iter().map(|&v| Ok((v, view(v)?))).collect::<Result<Vec<_>, Error>>()
    };
    let degrees = [0.0, 5.0, 15.0, 30.0, 45.0, 60.0, 90.0];
    let scales = [0.5, 0.7, 0.85, 1.0, 1.2, 1.5, 2.0];
    let gains = [0.4, 0.6, 0.8, 1.0, 1.2, 1.4];
    Ok(vec![
        ("rotation", "degrees", over(&degrees, &|degrees| plain.degrees(degrees).build())?),
        ("scale", "magnification", over(&scales, &|scale| plain.scale(scale).build())?),
        (
            "noise",
            "standard deviation in levels of 255",
            over(&[0.0, 2.0, 5.0, 10.0, 20.0], &|noise| seen(grain.noise(noise)))?,
        ),
        (
            "blur",
            "standard deviation in pixels",
            over(&[0.0, 0.5, 1.0, 1.5, 2.0], &|blur| seen(grain.blur(blur)))?,
        ),
        ("light", "gain", over(&gains, &|gain| seen(grain.gain(gain)))?),
    ])
}

fn repeatability(report: &mut Report, bench: &Bench) -> Result<()> {
    report.heading("Repeatability");
    report.text(format!(
        "Each photograph is compared with a view of it, by the {STRONGEST} strongest corners of \
         each (Schmid, Mohr and Bauckhage 2000). A corner is repeated where the other view has one \
         within {REPEAT_TOLERANCE} pixels. The rate is relative to the view that has fewer corners \
         in the part that both show. Rates are means over the photographs. Views other than those \
         of noise have noise of standard deviation 1.",
    ));
    let mut configs: Vec<(String, HarrisConfig)> = Vec::new();
    let limited = |config: HarrisConfig| config.to_builder().max_corners(STRONGEST);
    for preset in presets::ALL {
        configs.push((preset.name.to_owned(), limited((preset.config)()).build()?));
    }
    for (name, measure) in [("shi-tomasi", Measure::ShiTomasi), ("noble", Measure::Noble { eps: 1e-6 })] {
        configs.push((name.to_owned(), limited(HarrisConfig::default()).measure(measure).build()?));
    }
    for (name, subpixel) in subpixel_modes().into_iter().skip(1) {
        let config = limited(HarrisConfig::default()).subpixel(subpixel).build()?;
        configs.push((format!("default, {name}"), config));
    }
    let mut detectors = Vec::new();
    for (name, config) in configs {
        detectors.push((name, detector(bench, config)?));
    }
    let photographs: Vec<_> = bench.photographs.iter().map(|(_, photograph)| levels(photograph)).collect();
    let mut plain = Vec::new();
    for (_, detector) in &mut detectors {
        let found = photographs.iter().map(|levels| detect(&mut **detector, &Degradation::default(), levels));
        plain.push(found.collect::<Result<Vec<_>>>()?);
    }
    for (what, unit, views) in all_views()? {
        let columns =
            || std::iter::once(unit.to_owned()).chain(detectors.iter().map(|(name, _)| name.clone()));
        let mut rates = Table::new(what, format!("Repeatability under {what}"), columns());
        let title = format!("Mean distance of repeated corners under {what}, pixels");
        let mut errors = Table::new(&format!("{what}-errors"), title, columns());
        for (value, view) in views {
            bench.show(format!("quality: {what} {value}"));
            let images: Vec<_> =
                photographs.iter().map(|photograph| view.draw(photograph)).collect::<Result<_, _>>()?;
            let (mut row, mut error_row) = (vec![Cell::Number(value)], vec![Cell::Number(value)]);
            for ((_, detector), plain) in detectors.iter_mut().zip(&plain) {
                let (mut rate, mut distances) = (0.0, Vec::new());
                for ((photograph, image), first) in photographs.iter().zip(&images).zip(plain) {
                    let (height, width) = photograph.dim();
                    let (homography, seen) = (view.homography(width, height), view.size(width, height));
                    let views = Correspondence::builder(homography, [width, height], seen)
                        .margin(MARGIN)
                        .tolerance(REPEAT_TOLERANCE)
                        .build()?;
                    let second = detector.detect(&ImageView::try_from(image)?)?;
                    let repeated = views.repeatability(first, &second);
                    rate += repeated.rate() / photographs.len() as f64;
                    distances.extend(repeated.mean_error());
                }
                row.push(rate.into());
                let mean =
                    (!distances.is_empty()).then(|| distances.iter().sum::<f64>() / distances.len() as f64);
                error_row.push(mean.into());
            }
            rates.row(row);
            errors.row(error_row);
        }
        let mut chart = rates.chart([unit, "repeatability"], [false, false]);
        chart.legend = SeriesLabelPosition::LowerLeft;
        report.chart(chart);
        report.table(rates);
        report.table(errors);
    }
    Ok(())
}

fn detect(
    detector: &mut dyn Timed,
    degradation: &Degradation,
    levels: &ndarray::Array2<f64>,
) -> Result<Vec<Keypoint>> {
    let image = degradation.apply(levels);
    Ok(detector.detect(&ImageView::try_from(&image)?)?)
}
