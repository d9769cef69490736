//! Whether there is a GPU to test on, and access to its driver.

#![allow(dead_code, reason = "each test uses a part")]

use std::ffi::c_void;

use harris_cuda::{CudaError, devices};

/// Whether there is a GPU. Without one, tests print that and end; with HARRIS_REQUIRE_GPU=1 they
/// fail. Any other error is a failure.
pub(crate) fn present() -> bool {
    match devices() {
        Ok(_) => true,
        Err(error @ (CudaError::NoDevice | CudaError::NoDriver { .. })) => {
            let required = std::env::var("HARRIS_REQUIRE_GPU").is_ok_and(|value| value == "1");
            assert!(!required, "HARRIS_REQUIRE_GPU=1, but {error}");
            println!("not tested: {error}");
            false
        }
        Err(error) => panic!("{error}"),
    }
}

/// Loads the driver's library a second time. Call it only if there is a GPU.
pub(crate) fn library() -> libloading::Library {
    let name = if cfg!(windows) { "nvcuda.dll" } else { "libcuda.so.1" };
    // SAFETY: the driver's library has no conditions on being loaded.
    #[allow(unsafe_code)]
    unsafe { libloading::Library::new(name) }.unwrap()
}

/// Returns the context that is current on this thread, null if none is.
pub(crate) fn current_context() -> *mut c_void {
    let library = library();
    let mut context = std::ptr::null_mut();
    // SAFETY: the function has this type, and writes one handle.
    #[allow(unsafe_code)]
    let code = unsafe {
        let get =
            library.get::<unsafe extern "system" fn(*mut *mut c_void) -> u32>("cuCtxGetCurrent").unwrap();
        get(&mut context)
    };
    assert_eq!(code, 0);
    context
}
