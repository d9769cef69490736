//! Private functions of `harris._core`, for tests and benchmarks.

use std::time::Instant;

use numpy::PyArray1;
use pyo3::prelude::*;
use pyo3::types::PyDict;

use crate::arrays::Copies;
use crate::detection::{HasDetector, host_image};
use crate::detector::Detector;
use crate::device_keypoints::DeviceKeypoints;
use crate::gpu_array::{GpuArray, Location, location};

/// Reads what an object's protocols say of its array; None for an array of the host.
#[pyfunction]
#[pyo3(signature = (object, stream=None))]
pub(crate) fn _read_gpu_array<'py>(
    object: &Bound<'py, PyAny>,
    stream: Option<&Bound<'py, PyAny>>,
) -> PyResult<Option<Bound<'py, PyDict>>> {
    let location = location(object)?;
    if matches!(location, Location::Host) {
        return Ok(None);
    }
    Ok(Some(GpuArray::of(object, &location, stream)?.describe(object.py())?))
}

/// Makes an empty list in a GPU's memory.
#[pyfunction]
pub(crate) fn _empty_device_keypoints() -> DeviceKeypoints {
    DeviceKeypoints::new(None, 0, 0)
}

/// Panics while a detector works.
#[pyfunction]
pub(crate) fn _panic(py: Python<'_>, detector: &Detector, message: String) -> PyResult<()> {
    Ok(detector.session.run(py, |_| std::panic::panic_any(message))?)
}

/// Times the library's own calls, in seconds each.
#[pyfunction]
pub(crate) fn _time_detect<'py>(
    py: Python<'py>,
    detector: &Detector,
    image: &Bound<'py, PyAny>,
    count: usize,
) -> PyResult<Bound<'py, PyArray1<f64>>> {
    let image = host_image(image, None)?;
    let view = image.view()?;
    let times = detector.session.run(py, |engine| {
        let mut copies = Copies::default();
        let image = view.image(&mut copies)?;
        let mut times = Vec::with_capacity(count);
        for _ in 0..count {
            let start = Instant::now();
            let found = engine.detector().detect(&image)?;
            times.push(start.elapsed().as_secs_f64());
            drop(found);
        }
        Ok(times)
    })?;
    Ok(PyArray1::from_vec(py, times))
}
