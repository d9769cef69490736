//! Memory of a GPU that Python gives and gets: the structures of DLPack, and calls of the library
//! with raw addresses. All unsafe code of the crate is here.
//!
//! Source: `dlpack.h`, version 1.1.

#![allow(unsafe_code)]

use std::ffi::{CStr, c_void};
use std::ptr::NonNull;
use std::sync::Arc;

use harris::cuda::{CudaDetector, CudaImage, CudaRows};
use harris::{Error, Keypoint};
use pyo3::ffi;
use pyo3::prelude::*;
use pyo3::types::PyCapsule;

use crate::errors::{Failure, Result};

/// Kinds of devices.
pub(crate) const CUDA: i32 = 2;
pub(crate) const CUDA_MANAGED: i32 = 13;

/// Names of capsules whose tensor nobody has taken.
const TENSOR: &CStr = c"dltensor";
const VERSIONED: &CStr = c"dltensor_versioned";

/// The version of the structures here.
const VERSION: [u32; 2] = [1, 0];

/// Bytes of a keypoint.
const KEYPOINT: usize = size_of::<Keypoint>();

#[repr(C)]
struct DlTensor {
    data: *mut c_void,
    device: [i32; 2],
    dimensions: i32,
    code: u8,
    bits: u8,
    lanes: u16,
    shape: *mut i64,
    strides: *mut i64,
    byte_offset: u64,
}

#[repr(C)]
struct Managed {
    tensor: DlTensor,
    owner: *mut c_void,
    deleter: Option<unsafe extern "C" fn(*mut Managed)>,
}

#[repr(C)]
struct ManagedVersioned {
    version: [u32; 2],
    owner: *mut c_void,
    deleter: Option<unsafe extern "C" fn(*mut ManagedVersioned)>,
    flags: u64,
    tensor: DlTensor,
}

/// What a tensor's structure says.
#[derive(Clone, Debug)]
pub(crate) struct Tensor {
    pub(crate) pointer: u64,
    /// The kind of device, and its number.
    pub(crate) device: [i32; 2],
    /// The kind of elements, and their bits.
    pub(crate) code: u8,
    pub(crate) bits: u32,
    pub(crate) shape: Vec<i64>,
    /// In elements; `None` for rows without gaps.
    pub(crate) strides: Option<Vec<i64>>,
}

/// Reads the tensor of a capsule that its producer has just made. The capsule keeps it.
///
/// # Errors
/// [`Failure::Input`] for another object, and for a version that is not known.
pub(crate) fn read(capsule: &Bound<'_, PyAny>) -> Result<Tensor> {
    let wrong = || Failure::Input("__dlpack__ did not return a DLPack capsule".to_owned());
    let capsule = capsule.cast::<PyCapsule>().map_err(|_| wrong())?;
    if let Ok(pointer) = capsule.pointer_checked(Some(VERSIONED)) {
        let managed = pointer.cast::<ManagedVersioned>();
        // SAFETY: a capsule of this name holds this structure until it is renamed or dropped. The
        // version comes first in all versions.
        let major = unsafe { managed.as_ref() }.version[0];
        if major != VERSION[0] {
            return Err(Failure::Input(format!(
                "the array is in version {major} of DLPack, not {}",
                VERSION[0]
            )));
        }
        // SAFETY: the structure is of a known version, and its arrays live as long as it does.
        return unsafe { of_tensor(&managed.as_ref().tensor) };
    }
    let pointer = capsule.pointer_checked(Some(TENSOR)).map_err(|_| wrong())?;
    // SAFETY: a capsule of this name holds this structure until it is renamed or dropped, and its
    // arrays live as long as it does.
    unsafe { of_tensor(&pointer.cast::<Managed>().as_ref().tensor) }
}

/// Copies a tensor's description.
///
/// # Safety
/// Shape and strides point to as many numbers as the tensor has dimensions; strides may be null.
unsafe fn of_tensor(tensor: &DlTensor) -> Result<Tensor> {
    let count = usize::try_from(tensor.dimensions).ok().filter(|count| *count <= 64);
    let count = count.ok_or_else(|| Failure::Input("the array's dimensions are not valid".to_owned()))?;
    let numbers = |start: *mut i64| -> Vec<i64> {
        if count == 0 {
            return Vec::new();
        }
        // SAFETY: `count` numbers are there, by the contract of this function.
        unsafe { std::slice::from_raw_parts(start, count) }.to_vec()
    };
    if count > 0 && tensor.shape.is_null() {
        return Err(Failure::Input("the array has no shape".to_owned()));
    }
    Ok(Tensor {
        pointer: (tensor.data as u64).wrapping_add(tensor.byte_offset),
        device: tensor.device,
        code: tensor.code,
        bits: u32::from(tensor.bits) * u32::from(tensor.lanes),
        shape: numbers(tensor.shape),
        strides: (!tensor.strides.is_null()).then(|| numbers(tensor.strides)),
    })
}

/// What keeps a tensor of keypoints alive.
struct Owner {
    _rows: Option<Arc<CudaRows>>,
    shape: [i64; 2],
    strides: [i64; 2],
}

/// Makes a capsule of keypoints in a device's memory: float32, N × 4.
///
/// # Errors
/// Exceptions of Python.
pub(crate) fn export<'py>(
    py: Python<'py>,
    rows: Option<&Arc<CudaRows>>,
    count: usize,
    ordinal: u32,
    versioned: bool,
) -> PyResult<Bound<'py, PyCapsule>> {
    let count = i64::try_from(count).unwrap_or(0);
    let pointer = rows.map_or(0, |rows| rows.pointer().0);
    let owner = Box::into_raw(Box::new(Owner { _rows: rows.cloned(), shape: [count, 4], strides: [4, 1] }));
    // SAFETY: the box was just made, and lives until the deleter takes it.
    let (shape, strides) = unsafe { (&raw mut (*owner).shape, &raw mut (*owner).strides) };
    let tensor = DlTensor {
        data: pointer as *mut c_void,
        device: [CUDA, ordinal.cast_signed()],
        dimensions: 2,
        code: 2,
        bits: 32,
        lanes: 1,
        shape: shape.cast(),
        strides: strides.cast(),
        byte_offset: 0,
    };
    let owner = owner.cast();
    if versioned {
        let managed =
            ManagedVersioned { version: VERSION, owner, deleter: Some(delete_versioned), flags: 0, tensor };
        let managed = NonNull::from(Box::leak(Box::new(managed)));
        // SAFETY: the structure is what the name promises; the destructor frees it unless a consumer
        // has taken it and renamed the capsule.
        unsafe {
            PyCapsule::new_with_pointer_and_destructor(py, managed.cast(), VERSIONED, Some(drop_versioned))
        }
    } else {
        let managed = NonNull::from(Box::leak(Box::new(Managed { tensor, owner, deleter: Some(delete) })));
        // SAFETY: as above.
        unsafe { PyCapsule::new_with_pointer_and_destructor(py, managed.cast(), TENSOR, Some(drop_plain)) }
    }
}

/// Frees a tensor that [`export`] made.
///
/// # Safety
/// It was made there, and is freed once.
unsafe extern "C" fn delete(managed: *mut Managed) {
    // SAFETY: both boxes were made by `export`, and are freed once, by the contract of this function.
    unsafe {
        drop(Box::from_raw((*managed).owner.cast::<Owner>()));
        drop(Box::from_raw(managed));
    }
}

/// Frees a tensor that [`export`] made.
///
/// # Safety
/// It was made there, and is freed once.
unsafe extern "C" fn delete_versioned(managed: *mut ManagedVersioned) {
    // SAFETY: both boxes were made by `export`, and are freed once, by the contract of this function.
    unsafe {
        drop(Box::from_raw((*managed).owner.cast::<Owner>()));
        drop(Box::from_raw(managed));
    }
}

/// Frees the tensor of a capsule that no consumer has taken.
///
/// # Safety
/// The capsule is one of [`export`], and is being dropped.
unsafe extern "C" fn drop_plain(capsule: *mut ffi::PyObject) {
    // SAFETY: a capsule that still has this name holds the structure, which nobody else frees.
    unsafe {
        if ffi::PyCapsule_IsValid(capsule, TENSOR.as_ptr()) == 1 {
            delete(ffi::PyCapsule_GetPointer(capsule, TENSOR.as_ptr()).cast());
        }
    }
}

/// Frees the tensor of a capsule that no consumer has taken.
///
/// # Safety
/// The capsule is one of [`export`], and is being dropped.
unsafe extern "C" fn drop_versioned(capsule: *mut ffi::PyObject) {
    // SAFETY: a capsule that still has this name holds the structure, which nobody else frees.
    unsafe {
        if ffi::PyCapsule_IsValid(capsule, VERSIONED.as_ptr()) == 1 {
            delete_versioned(ffi::PyCapsule_GetPointer(capsule, VERSIONED.as_ptr()).cast());
        }
    }
}

/// A type of samples in a GPU's memory.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum GpuSample {
    U8,
    U16,
    F32,
}

impl GpuSample {
    pub(crate) fn bytes(self) -> usize {
        match self {
            Self::U8 => 1,
            Self::U16 => 2,
            Self::F32 => 4,
        }
    }
}

/// An image in the memory of a GPU, as its producer describes it.
#[derive(Clone, Debug)]
pub(crate) struct GpuImage {
    pub(crate) ordinal: u32,
    pub(crate) pointer: u64,
    /// Bytes from row to row.
    pub(crate) pitch: usize,
    pub(crate) width: usize,
    pub(crate) height: usize,
    pub(crate) channels: usize,
    pub(crate) samples: GpuSample,
    /// The mask's address and its bytes from row to row.
    pub(crate) mask: Option<(u64, usize)>,
}

/// Where keypoints shall be.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Place {
    Host,
    Device,
}

/// Keypoints in the host's or in a GPU's memory.
pub(crate) enum Found {
    Host(Vec<Keypoint>),
    /// A copy, and its number of keypoints; no copy where there are none.
    Device(Option<CudaRows>, usize),
}

/// Alignment of images that the library reads as they lie, in bytes.
const ALIGNMENT: usize = 4;

/// Address and pitch of rows, or of a copy if the library cannot read them as they lie.
///
/// # Safety
/// The conditions of [`CudaRows::copy`].
unsafe fn aligned(
    ordinal: u32,
    (pointer, pitch): (u64, usize),
    (width, height): (usize, usize),
    stream: *mut c_void,
) -> Result<(u64, usize, Option<CudaRows>), Error> {
    // A single row has no next one.
    let pitch = if height == 1 { width.next_multiple_of(ALIGNMENT) } else { pitch };
    if pointer.is_multiple_of(ALIGNMENT as u64) && pitch.is_multiple_of(ALIGNMENT) {
        return Ok((pointer, pitch, None));
    }
    // SAFETY: passed on by the contract of this function.
    let copy = unsafe { CudaRows::copy(ordinal, pointer, pitch, width, height, stream) }?;
    let (pointer, pitch) = copy.pointer();
    Ok((pointer, pitch, Some(copy)))
}

/// Detects the corners of an image in a GPU's memory, after all work that is on a stream so far.
///
/// The caller keeps the producer's object, and so its memory, until the call returns. That the
/// memory is a device's was asked of the driver. The stream is the caller's: Python's protocols
/// have no way to check it.
///
/// # Errors
/// The errors of the library.
pub(crate) fn detect(
    detector: &mut CudaDetector,
    image: &GpuImage,
    stream: u64,
    place: Place,
) -> Result<Found> {
    let &GpuImage { ordinal, pointer, pitch, width, height, channels, samples, mask } = image;
    let (stream, row) = (stream as *mut c_void, width * channels * samples.bytes());
    // SAFETY: the producer's object keeps the rows, and the stream is alive, as told above.
    let (pointer, pitch, _copy) = unsafe { aligned(ordinal, (pointer, pitch), (row, height), stream) }?;
    let from_raw = match samples {
        GpuSample::U8 => CudaImage::from_raw::<u8>,
        GpuSample::U16 => CudaImage::from_raw::<u16>,
        GpuSample::F32 => CudaImage::from_raw::<f32>,
    };
    // SAFETY: as above; a copy lives until the end of this function.
    let mut resident = unsafe { from_raw(ordinal, pointer, pitch, width, height, channels) }?;
    let mut _mask_copy = None;
    if let Some(mask) = mask {
        // SAFETY: as above, for the mask's object.
        let (pointer, pitch, copy) = unsafe { aligned(ordinal, mask, (width, height), stream) }?;
        _mask_copy = copy;
        // SAFETY: as above.
        resident = unsafe { resident.with_mask_from_raw(pointer, pitch) }?;
    }
    // SAFETY: the stream is alive, and the memory stays until the detection is finished, below.
    let keypoints = unsafe { detector.detect_on_stream(&resident, stream) }?.finish()?;
    found(&keypoints, ordinal, stream, place)
}

/// Detects the corners of an image that was uploaded.
///
/// # Errors
/// The errors of the library.
pub(crate) fn detect_uploaded(detector: &mut CudaDetector, image: &CudaImage, place: Place) -> Result<Found> {
    let keypoints = detector.detect_on_device(image)?;
    found(&keypoints, image.ordinal(), std::ptr::null_mut(), place)
}

/// Copies keypoints to where they shall be.
fn found(
    keypoints: &harris::cuda::CudaKeypoints<'_>,
    ordinal: u32,
    stream: *mut c_void,
    place: Place,
) -> Result<Found> {
    let count = keypoints.len();
    match place {
        Place::Host => Ok(Found::Host(keypoints.to_vec()?)),
        Place::Device if count == 0 => Ok(Found::Device(None, 0)),
        Place::Device => {
            let bytes = count * KEYPOINT;
            // SAFETY: the detector's list is complete, and is not written while it is borrowed. The
            // stream is alive, or the default one.
            let rows = unsafe { CudaRows::copy(ordinal, keypoints.pointer(), bytes, bytes, 1, stream) }?;
            Ok(Found::Device(Some(rows), count))
        }
    }
}
