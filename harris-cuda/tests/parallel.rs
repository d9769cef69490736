//! Many random images: results equal those of the CPU, which equal the reference's and are faster.

mod gpu;

use harris_conformance::strategies::{usual_configs, usual_pictures};
use harris_cpu::CpuDetector;
use harris_cuda::{CudaDetector, Detector};
use proptest::prelude::*;
use proptest::test_runner::TestRunner;

macro_rules! parallel_tests {
    ($($name:ident)*) => {$(
        #[test]
        fn $name() {
            usual_images_equal_the_cpu();
        }
    )*};
}

// Eight tests, so that detectors run on several threads. Each has 60 cases: the driver compiles the
// variants of kernels that they need, so all took 151 s on an H200.
parallel_tests! { first second third fourth fifth sixth seventh eighth }

fn usual_images_equal_the_cpu() {
    if !gpu::present() {
        return;
    }
    let default = ProptestConfig::default();
    let cases = if std::env::var_os("PROPTEST_CASES").is_some() { default.cases } else { 60 };
    let settings = ProptestConfig { cases, failure_persistence: None, ..default };
    let cases = (usual_configs(), prop::collection::vec(usual_pictures(), 1..4));
    let result = TestRunner::new(settings).run(&cases, |(config, pictures)| {
        let mut gpu = CudaDetector::new(config.clone()).unwrap();
        let mut cpu = CpuDetector::with_threads(config, 1).unwrap();
        for picture in &pictures {
            let message = |error: harris_cuda::Error| error.to_string();
            let found = gpu.detect(&picture.view()).map_err(message);
            let expected = cpu.detect(&picture.view()).map_err(message);
            gpu.response(&picture.view()).map_err(message).ok();
            if found != expected {
                let again = gpu.detect(&picture.view()).map_err(message);
                let (Ok(found), Ok(wanted)) = (&found, &expected) else {
                    panic!("{found:?} for {expected:?}")
                };
                let more: Vec<_> = found.iter().filter(|k| !wanted.contains(k)).collect();
                let less: Vec<_> = wanted.iter().filter(|k| !found.contains(k)).collect();
                prop_assert!(
                    false,
                    "{} keypoints for {}, once more {}; too many: {more:?}; missing: {less:?}",
                    found.len(),
                    wanted.len(),
                    if again == expected { "right" } else { "wrong" },
                );
            }
        }
        Ok(())
    });
    if let Err(error) = result {
        panic!("{error}");
    }
}
