//! Every configuration has one plan, and the table of docs/coverage.md shows it.

use harris_conformance::pictures::{Depth, Picture, noise};
use harris_core::{Border, Detector, HarrisConfig, Smoothing, Threshold, Window, presets};
use harris_gpu::GpuDetector;
use harris_gpu::plan::coverage::{Choices, Row, rows, table};
use harris_gpu::plan::{Plan, Responses, Search, Shape};
use harris_gpu_host::HostDevice;

#[test]
fn every_combination_of_choices_has_a_plan_and_is_in_one_row_of_the_coverage_table() {
    let choices = Choices::all();
    let rows = rows(&choices);
    let mut cases = 0;
    choices.for_each_case(|case| {
        let plan = Plan::of(&case.shape, &case.config);
        let context = || format!("{:?}, {:?}: {plan}", case.shape, case.config);
        cases += 1;
        match plan.search {
            Search::FusedSweep { sweep, border_band, reads_map } => {
                assert!(!matches!(case.config.threshold(), Threshold::Rosin { .. }), "{}", context());
                // A radius that the sweep does not have is left to the map.
                assert!(reads_map || sweep.suppression == case.config.suppression_radius());
                assert!(!reads_map || !plan.responses.is_staged(), "{}", context());
                let needs_band = matches!(case.config.border(), Border::Replicate | Border::Zero);
                assert_eq!(border_band.is_some(), needs_band, "{}", context());
            }
            Search::MapSweep(sweep) => {
                assert!(sweep.suppression <= case.config.suppression_radius(), "{}", context());
            }
            // No sweep has a frame of two widths, or no suppression.
            Search::ThreadPerColumn => {
                let [before, behind] = case.config.invalid_frame();
                assert!(before != behind || case.config.suppression_radius() == 0, "{}", context());
            }
        }
        // A sample of all: to look a case up takes long.
        if cases % 4999 == 0 {
            let found: Vec<_> = rows.iter().filter(|row| row.contains(&case.choices)).collect();
            assert!(found.len() == 1 && found[0].outline == plan.outline(), "{}", context());
        }
        if let Responses::Staged(stages) = plan.responses {
            assert!(stages.kernels().len() >= 3, "{}", context());
        }
    });
    assert!(cases > 500_000, "{cases} cases");
    assert_eq!(rows.iter().map(Row::count).sum::<usize>(), cases);
    assert_eq!(table(&choices, &rows).lines().count(), rows.len() + 2);
}

#[test]
fn the_description_shows_the_plan_of_the_last_image() {
    let picture = Picture::draw(Depth::U8, (64, 48, 1), |x, y, _| noise(1, x, y, 0));
    let shape = Shape::new(&picture.view(), 1);
    let exact = HarrisConfig::builder().smoothing(Smoothing::Binomial3Exact).build().unwrap();
    let even = HarrisConfig::builder().window(Window::Box { size: 2 }).border(Border::Skip).build().unwrap();
    for (config, outline) in [
        (HarrisConfig::default(), "fused sweep"),
        (presets::chahuara_2017(), "float window, map sweep"),
        (exact, "staged, map sweep"),
        (even, "staged, thread per column"),
    ] {
        let plan = Plan::of(&shape, &config);
        assert_eq!(plan.outline(), outline, "{plan}");
        let mut detector = GpuDetector::new(HostDevice, config);
        assert_eq!(detector.describe(), "gpu kernels on the host");
        detector.detect(&picture.view()).unwrap();
        assert_eq!(detector.describe(), format!("gpu kernels on the host: {plan}"));
    }
}

#[test]
fn the_staged_plan_has_no_sweep() {
    let picture = Picture::draw(Depth::U8, (64, 48, 1), |_, _, _| 0.0);
    let shape = Shape::new(&picture.view(), 1);
    let plan = Plan::staged(&shape, &HarrisConfig::default());
    assert_eq!(
        plan.to_string(),
        "staged (load_u8, binomial3_i32, gradient_i32, box_response_i32), thread per column (suppress)"
    );
}
