//! Blobs, descriptors and matches, at every level and with several threads.

use harris_conformance::Features;
use harris_cpu::{CpuFastHessian, CpuFeatures, CpuMatcher, CpuSurf, Level};

/// At a level of this machine; one that it lacks is stood in for by the best, and said so.
fn level(name: &str) -> Level {
    name.parse().unwrap_or_else(|error| {
        println!("{error}");
        Level::best()
    })
}

macro_rules! at_levels {
    ($($name:ident: $threads:literal, $level:literal;)*) => {$(
        harris_conformance::features!($name, Features {
            detector: |config| {
                Box::new(CpuFastHessian::with_threads(config, $threads).unwrap().at_level(level($level)))
            },
            extractor: |config| Box::new(CpuSurf::with_threads(config, $threads).unwrap().at_level(level($level))),
            matcher: |config| Box::new(CpuMatcher::with_threads(config, $threads).unwrap().at_level(level($level))),
            features: |config| {
                Box::new(CpuFeatures::with_threads(config, $threads).unwrap().at_level(level($level)))
            },
        });
    )*};
}

at_levels! {
    avx512: 1, "avx512";
    avx2: 3, "avx2";
    sse2: 2, "sse2";
}

#[cfg(feature = "portable")]
at_levels! {
    portable: 4, "portable";
}

#[test]
fn the_shared_pool_equals_the_reference() {
    harris_conformance::blobs::on_photographs(|config| Box::new(CpuFastHessian::new(config)));
    harris_conformance::descriptors::on_photographs(|config| Box::new(CpuSurf::new(config)));
    harris_conformance::matches::on_random_descriptors(|config| Box::new(CpuMatcher::new(config)));
    harris_conformance::features::on_photographs(|config| Box::new(CpuFeatures::new(config)));
}
