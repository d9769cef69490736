//! Plans: every configuration has one, the usual ones have the engine that they are meant to have,
//! and a detector shows it.

use harris_core::config::MeasureKind;
use harris_core::{
    Border, Gradient, HarrisConfig, HarrisConfigBuilder, Smoothing, Subpixel, Threshold, Window,
};
use harris_cpu::coverage::{self, BORDERS, FORMATS, GRADIENTS, SMOOTHINGS, VECTORS, WINDOWS};
use harris_cpu::plan::{
    CornerSearch, Engine, Plan, RowPlan, SampleType, Shape, SweepEngine, TileNumbers, Vectors,
};
use harris_cpu::{CpuDetector, Detector, ImageView, Level};

const WIDEST: Vectors = Vectors { lanes: 16, in_registers: true };

fn shape(samples: SampleType, channels: usize, vectors: Vectors) -> Shape {
    Shape { samples, channels, width: 640, height: 480, vectors }
}

/// Calls `check` with every valid combination of smoothing, gradient, window and border.
fn for_each_stages(mut check: impl FnMut(HarrisConfigBuilder)) {
    for smoothing in SMOOTHINGS {
        for gradient in GRADIENTS {
            for window in WINDOWS {
                for border in BORDERS {
                    let builder = HarrisConfig::builder().smoothing(smoothing).gradient(gradient);
                    let builder = builder.window(window).border(border);
                    if builder.clone().build().is_ok() {
                        check(builder);
                    }
                }
            }
        }
    }
}

fn tile_numbers(engine: SweepEngine) -> Option<TileNumbers> {
    match engine {
        SweepEngine::Tile(tile) | SweepEngine::TileOrRow { tile, .. } => Some(tile.numbers),
        SweepEngine::Row(_) => None,
    }
}

fn row_plan(engine: SweepEngine) -> Option<RowPlan> {
    match engine {
        SweepEngine::Row(row) | SweepEngine::TileOrRow { row, .. } => Some(row),
        SweepEngine::Tile(_) => None,
    }
}

#[test]
fn every_configuration_has_a_plan_that_its_image_and_vectors_allow() {
    let mut plans = 0;
    for_each_stages(|builder| {
        let config = builder.build().unwrap();
        for (_, vectors) in VECTORS {
            for (samples, channels) in FORMATS {
                let plan = Plan::of(&shape(samples, channels, vectors), &config);
                plans += 1;
                let Engine::Sweep(engine) = plan.engine else {
                    assert_eq!(plan.corners, CornerSearch::Map, "{config:?}: {plan}");
                    continue;
                };
                assert!(config.window().is_centred(), "{config:?}: {plan}");
                if let SweepEngine::Tile(tile) | SweepEngine::TileOrRow { tile, .. } = engine {
                    let lanes = 2 * vectors.lanes;
                    assert!(
                        vectors.in_registers && (10..lanes).contains(&tile.columns),
                        "{config:?}: {plan}"
                    );
                }
                match tile_numbers(engine) {
                    Some(TileNumbers::I16) => assert_eq!(samples, SampleType::U8, "{config:?}: {plan}"),
                    Some(TileNumbers::F32Exact | TileNumbers::F32Rounded) => {
                        assert_eq!(vectors, WIDEST, "{plan}");
                    }
                    None => {}
                }
                match row_plan(engine) {
                    Some(RowPlan::I16 { .. }) => assert_eq!(samples, SampleType::U8, "{config:?}: {plan}"),
                    Some(RowPlan::F32Exact { .. }) => {
                        assert_ne!(samples, SampleType::F32, "{config:?}: {plan}");
                    }
                    Some(RowPlan::F32Rounded) | None => {}
                }
            }
        }
    });
    assert!(plans > 40_000, "{plans}");
}

#[test]
fn measures_thresholds_and_radii_choose_only_where_corners_are_found() {
    let thresholds =
        [Threshold::Absolute(0.1), Threshold::Relative(0.01), Threshold::None, Threshold::Rosin { bins: 9 }];
    let subpixels = [Subpixel::None, Subpixel::Quadratic, Subpixel::Forstner { radius: 3 }];
    let mut number = 0;
    for_each_stages(|builder| {
        // One in some hundred, all choices in turn.
        number += 1;
        if number % 97 != 0 {
            return;
        }
        for (samples, channels) in FORMATS {
            let shape = shape(samples, channels, WIDEST);
            let engine = Plan::of(&shape, &builder.clone().build().unwrap()).engine;
            for measure in MeasureKind::ALL.map(MeasureKind::usual) {
                for threshold in thresholds {
                    for subpixel in subpixels {
                        for radius in [0, 1, 8, 9, 100] {
                            let builder = builder.clone().measure(measure).threshold(threshold);
                            let builder = builder.subpixel(subpixel).suppression_radius(radius);
                            let plan = Plan::of(&shape, &builder.build().unwrap());
                            assert_eq!(plan.engine, engine);
                            let has_map = matches!(threshold, Threshold::Rosin { .. })
                                || subpixel == Subpixel::Quadratic;
                            let expected = match engine {
                                Engine::Sweep(_) if radius <= 8 && has_map => CornerSearch::SweepWithMap,
                                Engine::Sweep(_) if radius <= 8 => CornerSearch::Sweep,
                                Engine::Sweep(_) | Engine::Staged(_) => CornerSearch::Map,
                            };
                            assert_eq!(plan.corners, expected);
                        }
                    }
                }
            }
        }
    });
}

#[test]
fn images_with_sides_of_more_than_16_bits_have_their_corners_in_a_map() {
    let config = HarrisConfig::default();
    for (width, height, corners) in [
        (65_536, 65_536, CornerSearch::Sweep),
        (65_537, 9, CornerSearch::Map),
        (9, 65_537, CornerSearch::Map),
    ] {
        let shape = Shape { width, height, ..shape(SampleType::U8, 1, WIDEST) };
        assert_eq!(Plan::of(&shape, &config).corners, corners, "{width} x {height}");
    }
}

/// The engine of usual configurations with the longest vectors, and with those of 256 bits.
#[test]
fn usual_configurations_have_their_engines() {
    let default = HarrisConfig::builder;
    let avx2 = Vectors { lanes: 8, in_registers: true };
    let table = [
        (default(), SampleType::U8, 1, "tiles of i16", "tiles of i16 or rows of i16"),
        (default(), SampleType::U8, 3, "tiles of i16", "tiles of i16 or rows of i16"),
        (default(), SampleType::U16, 1, "tiles of f32 with exact sums", "rows of f32 with exact sums"),
        (default(), SampleType::F32, 1, "tiles of f32", "rows of f32"),
        (
            default().window(Window::Box { size: 9 }),
            SampleType::U8,
            1,
            "tiles of i16 or rows of i16",
            "rows of i16",
        ),
        (default().window(Window::Box { size: 31 }), SampleType::U8, 1, "rows of i16", "rows of i16"),
        (
            default().window(Window::Binomial { size: 7 }),
            SampleType::U8,
            1,
            "tiles of i16",
            "rows of f32 with exact sums",
        ),
        (
            default().window(Window::Binomial { size: 7 }).border(Border::Replicate),
            SampleType::U8,
            1,
            "tiles of f32 with exact sums or rows of f32 with exact sums",
            "rows of f32 with exact sums",
        ),
        (
            default().window(Window::Gaussian { size: 3, sigma: 1.0 }),
            SampleType::U8,
            1,
            "tiles of f32",
            "rows of f32",
        ),
        (
            default().smoothing(Smoothing::Gaussian { size: 5, sigma: 1.0 }),
            SampleType::U8,
            1,
            "rows of f32",
            "rows of f32",
        ),
        (
            default().gradient(Gradient::Box { size: 5 }),
            SampleType::U8,
            1,
            "rows of f32 with exact sums",
            "rows of f32 with exact sums",
        ),
    ];
    for (builder, samples, channels, widest, shorter) in table {
        let config = builder.build().unwrap();
        for (vectors, expected) in [(WIDEST, widest), (avx2, shorter)] {
            let plan = Plan::of(&shape(samples, channels, vectors), &config);
            let Engine::Sweep(engine) = plan.engine else { panic!("{config:?}: {plan}") };
            assert_eq!(engine.kind(), expected, "{config:?}, {samples:?}, {channels}: {plan}");
        }
    }
    for builder in [
        default().gradient(Gradient::Sobel5),
        default().gradient(Gradient::Sobel7),
        default().window(Window::Box { size: 4 }),
    ] {
        let config = builder.build().unwrap();
        let plan = Plan::of(&shape(SampleType::U8, 1, WIDEST), &config);
        assert!(matches!(plan.engine, Engine::Staged(_)), "{config:?}: {plan}");
    }
}

#[test]
fn a_detector_describes_the_plan_of_its_last_image() {
    let samples = [0_u8; 40 * 30];
    let image = ImageView::gray(&samples, 40, 30).unwrap();
    for level in Level::available() {
        let mut detector = CpuDetector::with_threads(HarrisConfig::default(), 1).unwrap().at_level(level);
        assert_eq!(detector.describe(), format!("cpu: 1 thread, {level}"));
        detector.detect(&image).unwrap();
        let plan = detector.plan(SampleType::U8, 1, [40, 30]);
        assert_eq!(detector.describe(), format!("cpu: 1 thread, {level}: {plan}"));
    }
}

#[test]
fn the_table_of_engines_names_every_choice() {
    let table = coverage::markdown();
    assert_eq!(table, coverage::markdown());
    for (name, _) in VECTORS {
        assert!(table.contains(name), "{name}");
    }
    for engine in ["tiles of i16", "tiles of f32", "rows of i16", "rows of f32 with exact sums", "stages"] {
        assert!(table.contains(&format!("| {engine}")), "{engine}");
    }
    // A column too few or too many would break the table.
    assert!(table.lines().filter(|line| line.starts_with('|')).all(|line| line.matches('|').count() == 7));
    println!("{table}");
}
