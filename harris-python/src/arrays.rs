//! Images and masks in NumPy arrays: borrowed where the library can read them as they lie, else
//! copied once.

use harris::{Error, ImageView, Sample};
use ndarray::{Array3, ArrayView3, ArrayViewD, Axis, Dimension, Ix2, Ix3};
use numpy::{
    Element, PyArray, PyArrayDescrMethods, PyArrayMethods, PyReadonlyArray, PyReadonlyArrayDyn,
    PyUntypedArray, PyUntypedArrayMethods,
};
use pyo3::intern;
use pyo3::prelude::*;

use crate::errors::{Failure, Result};

/// NumPy's numbers of the sample types, and of `bool`.
const BOOL: i32 = 0;
const UINT8: i32 = 2;
const UINT16: i32 = 4;
const FLOAT32: i32 = 11;

/// An image in a NumPy array, with a mask.
pub(crate) struct HostImage<'py> {
    samples: HostArray<'py>,
    mask: Option<PyReadonlyArrayDyn<'py, u8>>,
}

/// Samples in a NumPy array. Python sees the array as borrowed while this exists.
enum HostArray<'py> {
    U8(PyReadonlyArrayDyn<'py, u8>),
    U16(PyReadonlyArrayDyn<'py, u16>),
    F32(PyReadonlyArrayDyn<'py, f32>),
}

impl<'py> HostImage<'py> {
    /// Borrows an array, and a mask.
    ///
    /// # Errors
    /// [`Failure::InputType`] for other types of samples, [`Failure::Input`] for other numbers of
    /// dimensions, and an exception where another thread is writing the array.
    pub(crate) fn of(array: &Bound<'py, PyUntypedArray>, mask: Option<&Bound<'py, PyAny>>) -> Result<Self> {
        let dtype = array.dtype();
        check_dimensions("an image", array)?;
        check_extent(array)?;
        let samples = match dtype.num() {
            UINT8 => HostArray::U8(borrow(array)?),
            UINT16 => HostArray::U16(borrow(&readable(array)?)?),
            FLOAT32 => HostArray::F32(borrow(&readable(array)?)?),
            _ => {
                let name = dtype.getattr(intern!(dtype.py(), "name"))?;
                return Err(Failure::InputType(format!(
                    "samples must be uint8, uint16 or float32, not {name}"
                )));
            }
        };
        Ok(Self { samples, mask: mask.map(mask_of).transpose()? })
    }

    /// The array and the mask as views that other threads can read.
    pub(crate) fn view(&self) -> Result<HostView<'_>> {
        let samples = match &self.samples {
            HostArray::U8(array) => SampleView::U8(three(array.as_array())?),
            HostArray::U16(array) => SampleView::U16(three(array.as_array())?),
            HostArray::F32(array) => SampleView::F32(three(array.as_array())?),
        };
        let mask = self.mask.as_ref().map(|mask| three(mask.as_array())).transpose()?;
        Ok(HostView { samples, mask })
    }
}

/// A NumPy array for an object: the object itself, or what it converts to without a copy.
///
/// `None` for objects that have no protocol of arrays in the host's memory.
///
/// # Errors
/// Exceptions of the conversion.
pub(crate) fn host_array<'py>(object: &Bound<'py, PyAny>) -> Result<Option<Bound<'py, PyUntypedArray>>> {
    if let Ok(array) = object.cast::<PyUntypedArray>() {
        return Ok(Some(array.clone()));
    }
    let py = object.py();
    let has = |name| object.hasattr(name);
    let convert = if has(intern!(py, "__array_interface__"))? || has(intern!(py, "__array__"))? {
        intern!(py, "asarray")
    } else if has(intern!(py, "__dlpack__"))? {
        intern!(py, "from_dlpack")
    } else {
        return Ok(None);
    };
    let array = py.import(intern!(py, "numpy"))?.call_method1(convert, (object,))?;
    Ok(Some(array.cast_into::<PyUntypedArray>().map_err(PyErr::from)?))
}

/// The failure for an object that is no array.
pub(crate) fn no_array(what: &str, object: &Bound<'_, PyAny>) -> Failure {
    let name = object.get_type().name().map_or_else(|_| "that".to_owned(), |name| name.to_string());
    Failure::InputType(format!("{what} must be a NumPy array or an object with its protocols, not {name}"))
}

fn mask_of<'py>(mask: &Bound<'py, PyAny>) -> Result<PyReadonlyArrayDyn<'py, u8>> {
    let py = mask.py();
    let array = host_array(mask)?.ok_or_else(|| no_array("a mask", mask))?;
    check_dimensions("a mask", &array)?;
    check_extent(&array)?;
    match array.dtype().num() {
        UINT8 => borrow(&array),
        BOOL => {
            let bytes = array.call_method1(intern!(py, "view"), (numpy::dtype::<u8>(py),))?;
            borrow(bytes.cast::<PyUntypedArray>().map_err(PyErr::from)?)
        }
        _ => Err(Failure::InputType(format!("a mask must be bool or uint8, not {}", array.dtype()))),
    }
}

/// Borrows an array whose elements are aligned.
///
/// # Errors
/// [`Failure::Input`] where another thread is writing the array, and an exception for elements or
/// dimensions of another type.
pub(crate) fn borrow<'py, T: Element, D: Dimension>(
    array: &Bound<'py, PyUntypedArray>,
) -> Result<PyReadonlyArray<'py, T, D>> {
    let array = array.cast::<PyArray<T, D>>().map_err(PyErr::from)?;
    let borrowed = array.try_readonly();
    borrowed.map_err(|_| Failure::Input("the array is being written by another call".to_owned()))
}

fn check_dimensions(what: &str, array: &Bound<'_, PyUntypedArray>) -> Result<()> {
    if matches!(array.ndim(), 2 | 3) {
        return Ok(());
    }
    let channels = if what == "a mask" { "(H, W) or (H, W, 1)" } else { "(H, W), (H, W, 1) or (H, W, 3)" };
    let shape: Vec<_> = array.shape().iter().map(ToString::to_string).collect();
    let comma = if shape.len() == 1 { "," } else { "" };
    Err(Failure::Input(format!("{what} has the shape {channels}, not ({}{comma})", shape.join(", "))))
}

/// Checks that the distance in memory from the first element to the last can be counted.
fn check_extent(array: &Bound<'_, PyUntypedArray>) -> Result<()> {
    let axes = array.shape().iter().zip(array.strides());
    let extent = axes.map(|(&len, stride)| len.saturating_sub(1).saturating_mul(stride.unsigned_abs()));
    if extent.fold(0, usize::saturating_add) < isize::MAX as usize {
        return Ok(());
    }
    Err(Failure::Input(format!("the strides are too large: {:?} bytes", array.strides())))
}

/// The array, or a copy where its elements are not aligned or in the other byte order.
pub(crate) fn readable<'py>(array: &Bound<'py, PyUntypedArray>) -> Result<Bound<'py, PyUntypedArray>> {
    let (py, dtype) = (array.py(), array.dtype());
    let size = dtype.itemsize().max(1);
    let whole = array.strides().iter().all(|stride| stride.unsigned_abs() % size == 0);
    let native = dtype.is_native_byteorder().unwrap_or(true);
    if array.is_aligned() && whole && native {
        return Ok(array.clone());
    }
    let native = dtype.call_method1(intern!(py, "newbyteorder"), ("=",))?;
    let copy = array.call_method1(intern!(py, "astype"), (native,))?;
    Ok(copy.cast_into::<PyUntypedArray>().map_err(PyErr::from)?)
}

/// A view with an axis of channels.
fn three<T>(view: ArrayViewD<'_, T>) -> Result<ArrayView3<'_, T>> {
    let shape = || Failure::Input("an image has two or three dimensions".to_owned());
    match view.ndim() {
        2 => Ok(view.into_dimensionality::<Ix2>().map_err(|_| shape())?.insert_axis(Axis(2))),
        _ => view.into_dimensionality::<Ix3>().map_err(|_| shape()),
    }
}

/// An image in a NumPy array, readable without the GIL.
pub(crate) struct HostView<'a> {
    samples: SampleView<'a>,
    mask: Option<ArrayView3<'a, u8>>,
}

enum SampleView<'a> {
    U8(ArrayView3<'a, u8>),
    U16(ArrayView3<'a, u16>),
    F32(ArrayView3<'a, f32>),
}

/// Copies of arrays whose rows are not contiguous.
#[derive(Default)]
pub(crate) struct Copies {
    u8: Option<Array3<u8>>,
    u16: Option<Array3<u16>>,
    f32: Option<Array3<f32>>,
    mask: Option<Array3<u8>>,
}

impl HostView<'_> {
    /// Height and width.
    pub(crate) fn size(&self) -> (usize, usize) {
        let (height, width, _) = match &self.samples {
            SampleView::U8(view) => view.dim(),
            SampleView::U16(view) => view.dim(),
            SampleView::F32(view) => view.dim(),
        };
        (height, width)
    }

    /// The image as the library takes it; copies go to `copies`.
    ///
    /// # Errors
    /// The errors of [`ImageView`], and [`Error::OutOfMemory`].
    pub(crate) fn image<'a>(&'a self, copies: &'a mut Copies) -> Result<ImageView<'a>, Error> {
        let image = match &self.samples {
            SampleView::U8(view) => in_rows(view, &mut copies.u8)?,
            SampleView::U16(view) => in_rows(view, &mut copies.u16)?,
            SampleView::F32(view) => in_rows(view, &mut copies.f32)?,
        };
        match &self.mask {
            None => Ok(image),
            Some(mask) => image.with_mask(in_rows(mask, &mut copies.mask)?),
        }
    }
}

fn in_rows<'a, T: Sample + Default>(
    view: &'a ArrayView3<'_, T>,
    copy: &'a mut Option<Array3<T>>,
) -> Result<ImageView<'a>, Error> {
    match ImageView::try_from(view.reborrow()) {
        Err(Error::RowsNotContiguous | Error::StrideTooShort { .. }) => {
            ImageView::try_from(copy.insert(standard(view)?).view())
        }
        result => result,
    }
}

/// A copy of a view, row by row.
fn standard<T: Sample + Default>(view: &ArrayView3<'_, T>) -> Result<Array3<T>, Error> {
    let mut samples = Vec::new();
    let refused = || Error::OutOfMemory { bytes: view.len().saturating_mul(size_of::<T>()) };
    samples.try_reserve_exact(view.len()).map_err(|_| refused())?;
    samples.resize(view.len(), T::default());
    let mut copy = Array3::from_shape_vec(view.dim(), samples).map_err(|_| refused())?;
    copy.assign(view);
    Ok(copy)
}
