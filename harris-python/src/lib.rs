//! The Python package `harris`: its compiled module `harris._core`.
//!
//! The package does no arithmetic of its own. It reads arrays, calls the library without the GIL,
//! and turns results and errors into Python's.

#![deny(unsafe_code)]

mod arrays;
mod backend;
mod config;
mod config_file;
mod detector;
mod errors;
mod keypoints;
mod session;
mod values;

use pyo3::prelude::*;

#[pymodule]
fn _core(module: &Bound<'_, PyModule>) -> PyResult<()> {
    module.add("__version__", env!("CARGO_PKG_VERSION"))?;
    module.add_function(wrap_pyfunction!(backend::backends, module)?)?;
    module.add_function(wrap_pyfunction!(config::presets, module)?)?;
    module.add_class::<config::Config>()?;
    module.add_class::<detector::Detector>()?;
    Ok(())
}
