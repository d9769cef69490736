//! Arrays in a GPU's memory: the protocols `__dlpack__` and `__cuda_array_interface__`, and the
//! streams on which arrays are written.

use harris::Error;
use harris::cuda::harris_core::MAX_SIDE;
use harris::cuda::{self, CudaError};
use pyo3::exceptions::PyTypeError;
use pyo3::intern;
use pyo3::prelude::*;
use pyo3::types::{PyDict, PyInt};

use crate::dlpack::{self, CUDA, CUDA_MANAGED, GpuImage, GpuSample};
use crate::errors::{Failure, Result};

/// An array in a GPU's memory. Its producer keeps the memory while this exists.
pub(crate) struct GpuArray<'py> {
    pointer: u64,
    /// The device's number, where the producer tells it.
    device: Option<u32>,
    sample: Element,
    shape: Vec<i64>,
    /// In bytes; `None` for rows without gaps.
    strides: Option<Vec<i64>>,
    /// The stream after whose work the array is complete, as the driver knows it.
    pub(crate) stream: u64,
    _owner: Bound<'py, PyAny>,
}

/// A type of elements.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Element {
    Bool,
    Sample(GpuSample),
    Other,
}

/// Which memory an object's array is in.
pub(crate) enum Location {
    /// The host's, or the object has no protocol of GPUs.
    Host,
    /// A GPU's, by DLPack.
    Dlpack,
    /// A GPU's, by `__cuda_array_interface__`.
    Interface,
}

/// Tells in which memory an object's array is.
///
/// # Errors
/// [`Failure::Input`] for a device that is neither, and exceptions of the object.
pub(crate) fn location(object: &Bound<'_, PyAny>) -> Result<Location> {
    let py = object.py();
    if object.hasattr(intern!(py, "__dlpack_device__"))? {
        let (kind, _): (i32, i64) = object.call_method0(intern!(py, "__dlpack_device__"))?.extract()?;
        return match kind {
            // The host, and its pinned memory.
            1 | 3 => Ok(Location::Host),
            CUDA | CUDA_MANAGED => Ok(Location::Dlpack),
            _ => Err(Failure::Input(format!(
                "the array is in the memory of a device that is neither the CPU nor a CUDA GPU (kind {kind} of DLPack)"
            ))),
        };
    }
    let has = object.hasattr(intern!(py, "__cuda_array_interface__"))?;
    Ok(if has { Location::Interface } else { Location::Host })
}

impl<'py> GpuArray<'py> {
    /// Reads an object's array by a protocol. `stream` is the caller's, or `None` for the library's
    /// current one.
    ///
    /// # Errors
    /// [`Failure::Input`] for what the protocol does not allow, and exceptions of the object.
    pub(crate) fn of(
        object: &Bound<'py, PyAny>,
        location: &Location,
        stream: Option<&Bound<'py, PyAny>>,
    ) -> Result<Self> {
        let given = stream.map(stream_handle).transpose()?;
        match location {
            Location::Dlpack => Self::of_dlpack(object, given),
            Location::Host | Location::Interface => Self::of_interface(object, given),
        }
    }

    fn of_dlpack(object: &Bound<'py, PyAny>, given: Option<u64>) -> Result<Self> {
        let py = object.py();
        let stream = match given {
            Some(stream) => stream,
            None => current_stream(object)?,
        };
        // DLPack's name of the default stream is 1.
        let arguments = PyDict::new(py);
        arguments.set_item("stream", stream.max(1))?;
        arguments.set_item("max_version", (1, 0))?;
        let export = object.getattr(intern!(py, "__dlpack__"))?;
        let capsule = match export.call((), Some(&arguments)) {
            Err(error) if error.is_instance_of::<PyTypeError>(py) => {
                // Older producers do not know versions.
                arguments.del_item("max_version")?;
                export.call((), Some(&arguments))?
            }
            result => result?,
        };
        let tensor = dlpack::read(&capsule)?;
        let [kind, number] = tensor.device;
        if !matches!(kind, CUDA | CUDA_MANAGED) {
            let text =
                format!("__dlpack__ returned an array of kind {kind}, where __dlpack_device__ names a GPU");
            return Err(Failure::Input(text));
        }
        let sample = match (tensor.code, tensor.bits) {
            (6, 8) => Element::Bool,
            (1, 8) => Element::Sample(GpuSample::U8),
            (1, 16) => Element::Sample(GpuSample::U16),
            (2, 32) => Element::Sample(GpuSample::F32),
            _ => Element::Other,
        };
        let bytes = i64::from(tensor.bits / 8);
        let strides =
            tensor.strides.map(|strides| strides.iter().map(|stride| stride.saturating_mul(bytes)).collect());
        Ok(Self {
            pointer: tensor.pointer,
            device: u32::try_from(number).ok(),
            sample,
            shape: tensor.shape,
            strides,
            stream,
            _owner: capsule,
        })
    }

    fn of_interface(object: &Bound<'py, PyAny>, given: Option<u64>) -> Result<Self> {
        let wrong = |text: &str| Failure::Input(format!("__cuda_array_interface__ {text}"));
        let interface = object.getattr("__cuda_array_interface__")?;
        let interface = interface.cast::<PyDict>().map_err(|_| wrong("is not a dict"))?;
        let entry = |name: &str| interface.get_item(name).map(|entry| entry.filter(|entry| !entry.is_none()));
        let needed = |name: &str| entry(name)?.ok_or_else(|| wrong(&format!("has no {name}")));
        if entry("mask")?.is_some() {
            return Err(wrong("has a mask of its own, which no image has"));
        }
        let (pointer, _): (u64, bool) = needed("data")?.extract()?;
        let typestr: String = needed("typestr")?.extract()?;
        let sample = match typestr.as_str() {
            "|b1" => Element::Bool,
            "|u1" | "<u1" | ">u1" => Element::Sample(GpuSample::U8),
            "<u2" => Element::Sample(GpuSample::U16),
            "<f4" => Element::Sample(GpuSample::F32),
            _ => Element::Other,
        };
        // The producer's stream, where it tells one; older versions have none.
        let own: Option<u64> = entry("stream")?.map(|stream| stream.extract()).transpose()?;
        if let (Some(own), Some(given)) = (own, given)
            && own.max(1) != given.max(1)
        {
            let text = format!("names stream {own:#x}, which is not the given one; leave `stream` out");
            return Err(wrong(&text));
        }
        let stream = match given.or(own) {
            Some(stream) => stream,
            None => current_stream(object)?,
        };
        Ok(Self {
            pointer,
            device: None,
            sample,
            shape: needed("shape")?.extract()?,
            strides: entry("strides")?.map(|strides| strides.extract()).transpose()?,
            stream,
            _owner: object.clone(),
        })
    }

    /// The array as an image on a device.
    ///
    /// # Errors
    /// [`Failure::InputType`] and [`Failure::Input`] as for arrays of the host; the latter also for
    /// rows that are not contiguous. [`CudaError::NotDeviceMemory`] for an address that is no
    /// device's.
    pub(crate) fn image(&self, mask: Option<&Self>) -> Result<GpuImage> {
        let Element::Sample(samples) = self.sample else {
            return Err(Failure::InputType("samples must be uint8, uint16 or float32".to_owned()));
        };
        let [height, width, channels] = self.size("an image has the shape (H, W), (H, W, 1) or (H, W, 3)")?;
        if channels != 1 && channels != 3 {
            return Err(Error::Channels { channels }.into());
        }
        if height == 0 || width == 0 {
            return Err(Error::EmptyImage { width, height }.into());
        }
        if height > MAX_SIDE || width > MAX_SIDE {
            return Err(Error::ImageTooLarge { width, height, channels, stride: width * channels }.into());
        }
        let pitch = self.pitch([height, width, channels], samples.bytes())?;
        let ordinal = self.ordinal()?;
        let mask = mask.map(|mask| mask.as_mask((height, width), ordinal)).transpose()?;
        Ok(GpuImage { ordinal, pointer: self.pointer, pitch, width, height, channels, samples, mask })
    }

    /// The address of a mask, and its bytes from row to row.
    fn as_mask(&self, (height, width): (usize, usize), ordinal: u32) -> Result<(u64, usize)> {
        if !matches!(self.sample, Element::Bool | Element::Sample(GpuSample::U8)) {
            return Err(Failure::InputType("a mask must be bool or uint8".to_owned()));
        }
        let [mask_height, mask_width, channels] = self.size("a mask has the shape (H, W) or (H, W, 1)")?;
        if channels != 1 {
            return Err(Error::MaskFormat.into());
        }
        if (mask_height, mask_width) != (height, width) {
            return Err(Error::MaskSize { mask_width, mask_height, width, height }.into());
        }
        let pitch = self.pitch([height, width, 1], 1)?;
        let own = self.ordinal()?;
        if own != ordinal {
            let text =
                format!("the mask is in the memory of CUDA device {own}, the image of device {ordinal}");
            return Err(Failure::Input(text));
        }
        Ok((self.pointer, pitch))
    }

    /// Height, width and channels.
    fn size(&self, expected: &str) -> Result<[usize; 3]> {
        let whole: Option<Vec<_>> = self.shape.iter().map(|&side| usize::try_from(side).ok()).collect();
        match whole.as_deref() {
            Some(&[height, width]) => Ok([height, width, 1]),
            Some(&[height, width, channels]) => Ok([height, width, channels]),
            _ => {
                let shape: Vec<_> = self.shape.iter().map(ToString::to_string).collect();
                let comma = if shape.len() == 1 { "," } else { "" };
                Err(Failure::Input(format!("{expected}, not ({}{comma})", shape.join(", "))))
            }
        }
    }

    /// Bytes from row to row, if the samples of a row lie side by side.
    fn pitch(&self, [height, width, channels]: [usize; 3], bytes: usize) -> Result<usize> {
        let row = width * channels * bytes;
        let Some(strides) = &self.strides else { return Ok(row) };
        let next = |step: usize| i64::try_from(step).unwrap_or(i64::MAX);
        let (of_row, of_column, of_channel) = match strides[..] {
            [of_row, of_column] => (of_row, of_column, next(bytes)),
            [of_row, of_column, of_channel] => (of_row, of_column, of_channel),
            _ => return Err(Failure::Input("strides and shape have different lengths".to_owned())),
        };
        // An axis of one element has no next one.
        let side_by_side = (width == 1 || of_column == next(channels * bytes))
            && (channels == 1 || of_channel == next(bytes));
        match usize::try_from(of_row) {
            _ if height == 1 && side_by_side => Ok(row),
            Ok(pitch) if pitch >= row && side_by_side => Ok(pitch),
            _ => Err(Failure::Input(
                "the samples of a row must lie side by side in the GPU's memory; make the array contiguous first \
                 (CuPy: ascontiguousarray, PyTorch: contiguous)"
                    .to_owned(),
            )),
        }
    }

    /// The number of the device whose memory the array is in, as the driver says.
    fn ordinal(&self) -> Result<u32> {
        let found = cuda::device_of_pointer(self.pointer)?;
        match self.device {
            Some(device) if device != found => {
                // Managed memory may lie elsewhere; what else does is a producer's mistake.
                Err(CudaError::OtherDevice { image: found, detector: device }.into())
            }
            _ => Ok(found),
        }
    }

    /// What was read, for tests of the protocols on machines without a GPU.
    pub(crate) fn describe(&self, py: Python<'py>) -> Result<Bound<'py, PyDict>> {
        let text = PyDict::new(py);
        text.set_item("pointer", self.pointer)?;
        text.set_item("device", self.device)?;
        text.set_item("sample", format!("{:?}", self.sample))?;
        text.set_item("size", self.size("shape").map(|size| size.to_vec())?)?;
        let bytes = match self.sample {
            Element::Sample(sample) => sample.bytes(),
            Element::Bool | Element::Other => 1,
        };
        text.set_item("pitch", self.pitch(self.size("shape")?, bytes)?)?;
        text.set_item("stream", self.stream)?;
        Ok(text)
    }
}

/// The handle of a stream: an int, or an object with `__cuda_stream__`, `cuda_stream` (PyTorch) or
/// `ptr` (CuPy).
///
/// # Errors
/// [`Failure::InputType`] for other objects, [`Failure::Input`] for negative numbers.
fn stream_handle(stream: &Bound<'_, PyAny>) -> Result<u64> {
    let py = stream.py();
    let number = if stream.is_instance_of::<PyInt>() {
        stream.clone()
    } else if stream.hasattr(intern!(py, "__cuda_stream__"))? {
        // A method that returns a version and a handle; once it was a property.
        let member = stream.getattr(intern!(py, "__cuda_stream__"))?;
        let pair = if member.is_callable() { member.call0()? } else { member };
        let (version, handle): (i64, Bound<'_, PyAny>) = pair.extract()?;
        if version != 0 {
            return Err(Failure::Input(format!(
                "the stream has version {version} of __cuda_stream__, not 0"
            )));
        }
        handle
    } else if stream.hasattr(intern!(py, "cuda_stream"))? {
        stream.getattr(intern!(py, "cuda_stream"))?
    } else if stream.hasattr(intern!(py, "ptr"))? {
        stream.getattr(intern!(py, "ptr"))?
    } else {
        let name = stream.get_type().name()?.to_string();
        return Err(Failure::InputType(format!(
            "a stream must be a handle or an object with __cuda_stream__, not {name}"
        )));
    };
    number
        .extract()
        .map_err(|_| Failure::Input(format!("a stream's handle is a number of at least 0, not {number}")))
}

/// The handle of the current stream of the library that an array is of: PyTorch or CuPy. For others
/// the default stream.
fn current_stream(object: &Bound<'_, PyAny>) -> Result<u64> {
    let py = object.py();
    let module: String = object.get_type().module()?.extract()?;
    let stream = match module.split('.').next() {
        Some("torch") => py
            .import("torch")?
            .getattr("cuda")?
            .call_method1("current_stream", (object.getattr("device")?,))?
            .getattr("cuda_stream")?,
        Some("cupy") => {
            let cuda = py.import("cupy")?.getattr("cuda")?;
            let number = object.getattr("device")?.getattr("id")?;
            let stream = match cuda.call_method1("get_current_stream", (number,)) {
                Err(error) if error.is_instance_of::<PyTypeError>(py) => {
                    cuda.call_method0("get_current_stream")?
                }
                result => result?,
            };
            stream.getattr("ptr")?
        }
        _ => return Ok(0),
    };
    Ok(stream.extract()?)
}
