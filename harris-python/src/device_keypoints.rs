//! `harris.DeviceKeypoints`: keypoints in a GPU's memory.

use std::sync::Arc;

use harris::cuda::CudaRows;
use pyo3::prelude::*;
use pyo3::types::{PyCapsule, PyDict};

use crate::dlpack::{CUDA, export};
use crate::errors::Failure;

/// Keypoints in a GPU's memory: float32 of shape (N, 4) with the columns x, y, scale and response.
///
/// The memory is the object's own. It is complete: kernels on any stream may read it. Other
/// libraries take it without a copy, by `__dlpack__` or `__cuda_array_interface__`, as
/// ``torch.from_dlpack(keypoints)`` or ``cupy.asarray(keypoints)``.
///
/// Examples
/// --------
/// >>> import numpy as np
/// >>> import harris
/// >>> image = np.zeros((48, 64), np.uint8)
/// >>> try:
/// ...     keypoints = harris.Detector(backend="cuda").detect(image, device=True)
/// ... except harris.BackendError:  # There is no GPU.
/// ...     keypoints = harris.Detector(backend="cpu").detect(image)
/// >>> len(keypoints)
/// 0
#[pyclass(module = "harris", frozen)]
pub(crate) struct DeviceKeypoints {
    /// `None` where there are no keypoints.
    rows: Option<Arc<CudaRows>>,
    count: usize,
    ordinal: u32,
}

impl DeviceKeypoints {
    pub(crate) fn new(rows: Option<CudaRows>, count: usize, ordinal: u32) -> Self {
        Self { rows: rows.map(Arc::new), count, ordinal }
    }
}

#[pymethods]
impl DeviceKeypoints {
    /// The array's shape, (N, 4).
    #[getter]
    fn shape(&self) -> (usize, usize) {
        (self.count, 4)
    }

    /// The number of the GPU.
    #[getter]
    fn device(&self) -> u32 {
        self.ordinal
    }

    /// The address of the array in the GPU's memory; 0 where it is empty.
    #[getter]
    fn pointer(&self) -> u64 {
        self.rows.as_ref().map_or(0, |rows| rows.pointer().0)
    }

    /// The array by the CUDA Array Interface, version 3.
    #[getter]
    fn __cuda_array_interface__<'py>(&self, py: Python<'py>) -> PyResult<Bound<'py, PyDict>> {
        let interface = PyDict::new(py);
        interface.set_item("shape", self.shape())?;
        interface.set_item("typestr", "<f4")?;
        interface.set_item("data", (self.pointer(), false))?;
        interface.set_item("strides", py.None())?;
        // The array is complete, so there is no stream to wait for.
        interface.set_item("stream", py.None())?;
        interface.set_item("version", 3)?;
        Ok(interface)
    }

    /// The kind of device, and its number, by DLPack.
    fn __dlpack_device__(&self) -> (i32, u32) {
        (CUDA, self.ordinal)
    }

    /// Make a DLPack capsule. It keeps the memory.
    #[pyo3(signature = (*, stream=None, max_version=None, dl_device=None, copy=None))]
    fn __dlpack__<'py>(
        &self,
        py: Python<'py>,
        stream: Option<&Bound<'py, PyAny>>,
        max_version: Option<(u32, u32)>,
        dl_device: Option<(i32, u32)>,
        copy: Option<bool>,
    ) -> PyResult<Bound<'py, PyCapsule>> {
        // The array is complete, so that no stream has to wait.
        let _ = stream;
        let elsewhere = dl_device.is_some_and(|device| device != self.__dlpack_device__());
        if elsewhere || copy == Some(true) {
            let text = "the keypoints can be exported on their device without a copy alone".to_owned();
            return Err(Failure::Input(text).into());
        }
        let versioned = max_version.is_some_and(|(major, _)| major >= 1);
        export(py, self.rows.as_ref(), self.count, self.ordinal, versioned)
    }

    fn __len__(&self) -> usize {
        self.count
    }

    fn __repr__(&self) -> String {
        format!("<harris.DeviceKeypoints: {} on CUDA device {}>", self.count, self.ordinal)
    }
}
