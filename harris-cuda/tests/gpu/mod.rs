//! Whether there is a GPU to test on.

use harris_cuda::{CudaError, devices};

/// Without one, tests say so and end; with HARRIS_REQUIRE_GPU=1 they fail. Anything but its absence is a failure.
pub(crate) fn present() -> bool {
    match devices() {
        Ok(_) => true,
        Err(CudaError::NoDevice) => {
            let required = std::env::var("HARRIS_REQUIRE_GPU").is_ok_and(|value| value == "1");
            assert!(!required, "HARRIS_REQUIRE_GPU=1, but there is no GPU");
            println!("no GPU: not tried");
            false
        }
        Err(error) => panic!("{error}"),
    }
}
