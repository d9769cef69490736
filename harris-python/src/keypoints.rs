//! Lists of keypoints as arrays of Python, N × 4: x, y, scale and response.

use harris::Keypoint;
use ndarray::Array2;
use numpy::PyArray2;
use pyo3::intern;
use pyo3::prelude::*;
use pyo3::sync::PyOnceLock;

use crate::errors::{Failure, Result};

/// Makes Python's `Keypoints` of a list. The list's memory becomes the array's.
pub(crate) fn keypoints(py: Python<'_>, list: Vec<Keypoint>) -> Result<Bound<'_, PyAny>> {
    static WRAP: PyOnceLock<Py<PyAny>> = PyOnceLock::new();
    let wrap = WRAP.get_or_try_init(py, || -> PyResult<_> {
        let class = py.import("harris._results")?.getattr("Keypoints")?;
        Ok(class.getattr("_of_table")?.unbind())
    })?;
    Ok(wrap.bind(py).call1((table(py, list)?,))?)
}

fn table(py: Python<'_>, list: Vec<Keypoint>) -> Result<Bound<'_, PyArray2<f32>>> {
    let len = list.len();
    // Elements of the same size are collected in place.
    let rows: Vec<[f32; 4]> = list.into_iter().map(|k| [k.x, k.y, k.scale, k.response]).collect();
    let table = Array2::from_shape_vec((len, 4), rows.into_flattened());
    let table = table.map_err(|error| Failure::Input(error.to_string()))?;
    Ok(PyArray2::from_owned_array(py, table))
}

/// Reads keypoints of Python: `Keypoints`, or an array of N × 4 or N × 2 numbers.
///
/// # Errors
/// [`Failure::Input`] for another shape.
pub(crate) fn read_keypoints(object: &Bound<'_, PyAny>) -> Result<Vec<Keypoint>> {
    let py = object.py();
    let class = py.import(intern!(py, "harris._results"))?.getattr(intern!(py, "Keypoints"))?;
    let made = if object.is_instance(&class)? { object.clone() } else { class.call1((object,))? };
    let table = made.getattr(intern!(py, "table"))?;
    let table: numpy::PyReadonlyArray2<'_, f32> = table.extract()?;
    let table = table.as_array();
    Ok(table
        .rows()
        .into_iter()
        .map(|row| Keypoint { x: row[0], y: row[1], scale: row[2], response: row[3] })
        .collect())
}
