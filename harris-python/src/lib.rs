//! The Python package `harris`: its compiled module `harris._core`.
//!
//! The package does no arithmetic of its own. It reads arrays, calls the library without the GIL,
//! and turns results and errors into Python's.

#![deny(unsafe_code)]

mod arrays;
mod backend;
mod config;
mod config_file;
mod detection;
mod detector;
mod device_keypoints;
mod dlpack;
mod errors;
mod fast_hessian;
mod fast_hessian_config;
mod gpu_array;
mod hooks;
mod keypoints;
mod matching;
mod session;
mod surf;
mod values;

use pyo3::prelude::*;

#[pymodule]
fn _core(module: &Bound<'_, PyModule>) -> PyResult<()> {
    module.add("__version__", env!("CARGO_PKG_VERSION"))?;
    module.add_function(wrap_pyfunction!(backend::backends, module)?)?;
    module.add_function(wrap_pyfunction!(config::presets, module)?)?;
    module.add_class::<config::Config>()?;
    module.add_function(wrap_pyfunction!(matching::find_homography, module)?)?;
    module.add_function(wrap_pyfunction!(hooks::_read_gpu_array, module)?)?;
    module.add_function(wrap_pyfunction!(hooks::_empty_device_keypoints, module)?)?;
    module.add_function(wrap_pyfunction!(hooks::_panic, module)?)?;
    module.add_function(wrap_pyfunction!(hooks::_time_detect, module)?)?;
    module.add_class::<detector::Detector>()?;
    module.add_class::<device_keypoints::DeviceKeypoints>()?;
    module.add_class::<fast_hessian_config::FastHessianConfig>()?;
    module.add_class::<fast_hessian::FastHessian>()?;
    module.add_class::<surf::Surf>()?;
    module.add_class::<surf::Features>()?;
    module.add_class::<matching::Matcher>()?;
    Ok(())
}
