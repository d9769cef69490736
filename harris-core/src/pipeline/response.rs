//! Stage 6: the response. Each operation is one f32 operation, in the order written.

use ndarray::Array2;

use super::tensor::Tensor;
use crate::config::Measure;
use crate::error::Error;
use crate::image::ImageView;
use crate::memory;

/// The response of the tensor \[a b; b c\].
///
/// ```
/// use harris_core::{Measure, pipeline::response::measure};
///
/// // Two equal eigenvalues of 0.5.
/// assert_eq!(measure(Measure::ShiTomasi, 0.5, 0.0, 0.5), 0.5);
/// assert_eq!(measure(Measure::Harris { k: 0.0 }, 0.5, 0.0, 0.5), 0.25);
/// // An edge: one eigenvalue is zero.
/// assert_eq!(measure(Measure::Noble { eps: 1e-6 }, 1.0, 0.0, 0.0), 0.0);
/// assert!(measure(Measure::Triggs { alpha: 0.05 }, 1.0, 0.0, 0.0) < 0.0);
/// ```
#[must_use]
pub fn measure(measure: Measure, a: f32, b: f32, c: f32) -> f32 {
    let trace = a + c;
    let det = (a * c) - (b * b);
    match measure {
        Measure::Harris { k } => det - (k * trace) * trace,
        Measure::ShiTomasi => {
            let [mean, root] = eigenvalues(a, b, c);
            mean - root
        }
        Measure::Noble { eps } => (2.0 * det) / (trace + eps),
        Measure::Triggs { alpha } => {
            let [mean, root] = eigenvalues(a, b, c);
            (mean - root) - alpha * (mean + root)
        }
    }
}

/// The mean of the eigenvalues, and half their difference.
fn eigenvalues(a: f32, b: f32, c: f32) -> [f32; 2] {
    let half = (a - c) * 0.5;
    [(a + c) * 0.5, (half * half + b * b).sqrt()]
}

/// The response map: the response of every pixel, H × W.
///
/// # Errors
/// [`Error::OutOfMemory`].
///
/// # Panics
/// Where the arrays of the tensor have different sizes.
pub fn response(tensor: &Tensor, choice: Measure) -> Result<Array2<f32>, Error> {
    let Tensor { a, b, c } = tensor;
    memory::array_of(a.dim(), |y, x| measure(choice, a[[y, x]], b[[y, x]], c[[y, x]]))
}

/// The elements of a response map, row by row, with room for an image of H × W pixels.
///
/// Keeps the array's memory where it has this shape in standard layout, else makes a new array. For
/// [`response_into`](crate::Detector::response_into) of backends.
///
/// # Errors
/// [`Error::OutOfMemory`]. The array is then unchanged.
#[doc(hidden)]
pub fn reuse_map<'a>(map: &'a mut Array2<f32>, image: &ImageView<'_>) -> Result<&'a mut [f32], Error> {
    let shape = (image.height(), image.width());
    if map.dim() != shape || !map.is_standard_layout() {
        *map = memory::zeros(shape)?;
    }
    Ok(map.as_slice_mut().expect("an array in rows is a slice"))
}
