//! What all detectors do with images in the host's memory.

use harris::{Detector, Error, ImageView};
use numpy::{PyArray2, PyArrayMethods, PyUntypedArray, PyUntypedArrayMethods};
use pyo3::prelude::*;
use pyo3::types::PyList;

use crate::arrays::{Copies, HostImage, HostView, host_array, no_array};
use crate::backend::ChunkLimits;
use crate::errors::{Failure, Result};
use crate::gpu_array::{Location, location};
use crate::keypoints::keypoints;
use crate::session::{Recipe, Session};

/// A detector of one of the backends.
pub(crate) trait HasDetector: Send {
    fn detector(&mut self) -> &mut dyn Detector;

    /// Writes a response map into a slice of the image's size.
    fn response_into(&mut self, image: &ImageView<'_>, out: &mut [f32]) -> Result<(), Error> {
        let map = self.detector().response(image)?;
        out.iter_mut().zip(&map).for_each(|(out, value)| *out = *value);
        Ok(())
    }
}

/// Borrows an image of the host, and a mask.
///
/// # Errors
/// The errors of [`HostImage::of`].
pub(crate) fn host_image<'py>(
    image: &Bound<'py, PyAny>,
    mask: Option<&Bound<'py, PyAny>>,
) -> Result<HostImage<'py>> {
    HostImage::of(&on_host(image)?, mask)
}

/// A NumPy array for an image of the host.
fn on_host<'py>(image: &Bound<'py, PyAny>) -> Result<Bound<'py, PyUntypedArray>> {
    if !image.is_instance_of::<PyUntypedArray>() && !matches!(location(image)?, Location::Host) {
        let text = "the image is in a GPU's memory, where only Detector.detect finds corners".to_owned();
        return Err(Failure::Input(text));
    }
    host_array(image)?.ok_or_else(|| no_array("an image", image))
}

/// Borrows images of the host, and masks.
///
/// # Errors
/// [`Failure::Input`] for masks of another number, and the errors of [`host_image`].
pub(crate) fn host_images<'py>(
    images: &Bound<'py, PyAny>,
    masks: Option<&Bound<'py, PyAny>>,
) -> Result<Vec<HostImage<'py>>> {
    let Some(masks) = masks else {
        return images.try_iter()?.map(|image| host_image(&image?, None)).collect();
    };
    let images: Vec<_> = images.try_iter()?.collect::<PyResult<_>>()?;
    let masks: Vec<_> = masks.try_iter()?.collect::<PyResult<_>>()?;
    if images.len() != masks.len() {
        return Err(Failure::Input(format!("there are {} masks for {} images", masks.len(), images.len())));
    }
    let pairs = images.iter().zip(&masks);
    pairs.map(|(image, mask)| host_image(image, (!mask.is_none()).then_some(mask))).collect()
}

/// `Detector.detect`.
pub(crate) fn detect<'py, R: Recipe<Made: HasDetector>>(
    py: Python<'py>,
    session: &Session<R>,
    image: &HostImage<'py>,
) -> Result<Bound<'py, PyAny>> {
    let view = image.view()?;
    let found = session.run(py, |made| {
        let mut copies = Copies::default();
        Ok(made.detector().detect(&view.image(&mut copies)?)?)
    })?;
    keypoints(py, found)
}

/// Calls a function with chunks of images, and looks for signals between them.
pub(crate) fn in_chunks<'py, R: Recipe, T: Send>(
    py: Python<'py>,
    session: &Session<R>,
    images: &[HostImage<'py>],
    limits: ChunkLimits,
    work: impl Fn(&mut R::Made, &[ImageView<'_>]) -> Result<Vec<T>, Error> + Sync,
) -> Result<Vec<T>> {
    let views = images.iter().map(HostImage::view).collect::<Result<Vec<_>>>()?;
    let mut all = Vec::with_capacity(views.len());
    let mut rest = &views[..];
    while !rest.is_empty() {
        let mut pixels = 0_usize;
        let mut fits = |(height, width): (usize, usize)| {
            pixels = height.saturating_mul(width).saturating_add(pixels);
            pixels <= limits.pixels
        };
        let count =
            rest.iter().take(limits.images).map(HostView::size).take_while(|&size| fits(size)).count();
        let (chunk, later) = rest.split_at(count.max(1));
        all.extend(session.run(py, |made| {
            let mut copies: Vec<_> = chunk.iter().map(|_| Copies::default()).collect();
            let images = chunk.iter().zip(&mut copies).map(|(view, copies)| view.image(copies));
            let images = images.collect::<Result<Vec<_>, Error>>()?;
            Ok(work(made, &images)?)
        })?);
        rest = later;
        py.check_signals()?;
    }
    Ok(all)
}

/// `Detector.detect_batch`.
pub(crate) fn detect_batch<'py, R: Recipe<Made: HasDetector>>(
    py: Python<'py>,
    session: &Session<R>,
    images: &[HostImage<'py>],
    limits: ChunkLimits,
) -> Result<Bound<'py, PyList>> {
    let found = in_chunks(py, session, images, limits, |made, images| made.detector().detect_batch(images))?;
    let found = found.into_iter().map(|found| keypoints(py, found)).collect::<Result<Vec<_>>>()?;
    Ok(PyList::new(py, found)?)
}

/// `Detector.response`.
pub(crate) fn response<'py, R: Recipe<Made: HasDetector>>(
    py: Python<'py>,
    session: &Session<R>,
    image: &Bound<'py, PyAny>,
    out: Option<&Bound<'py, PyAny>>,
) -> Result<Bound<'py, PyArray2<f32>>> {
    let array = on_host(image)?;
    let image = HostImage::of(&array, None)?;
    let view = image.view()?;
    let Some(out) = out else {
        let map = session.run(py, |made| {
            let mut copies = Copies::default();
            Ok(made.detector().response(&view.image(&mut copies)?)?)
        })?;
        return Ok(PyArray2::from_owned_array(py, map));
    };
    let out = output(out, &array, view.size())?;
    let mut target =
        out.try_readwrite().map_err(|error| Failure::Input(format!("out cannot be used: {error}")))?;
    let target = target.as_slice_mut().map_err(|_| Failure::Input("out must be contiguous".to_owned()))?;
    session.run(py, |made| {
        let mut copies = Copies::default();
        Ok(made.response_into(&view.image(&mut copies)?, target)?)
    })?;
    Ok(out.clone())
}

/// `Detector.keypoint_mask`.
pub(crate) fn keypoint_mask<'py, R: Recipe<Made: HasDetector>>(
    py: Python<'py>,
    session: &Session<R>,
    image: &HostImage<'py>,
) -> Result<Bound<'py, PyArray2<u8>>> {
    let view = image.view()?;
    let mask = session.run(py, |made| {
        let mut copies = Copies::default();
        Ok(made.detector().keypoint_mask(&view.image(&mut copies)?)?)
    })?;
    Ok(PyArray2::from_owned_array(py, mask))
}

/// Checks an array for the response map of an image.
///
/// # Errors
/// [`Failure::InputType`] for another type, [`Failure::Input`] for another shape or layout, for an
/// array that cannot be written, and for one that shares memory with the image.
fn output<'a, 'py>(
    out: &'a Bound<'py, PyAny>,
    image: &Bound<'py, PyUntypedArray>,
    (height, width): (usize, usize),
) -> Result<&'a Bound<'py, PyArray2<f32>>> {
    let wrong = |text: &str| Err(Failure::Input(format!("out must {text}")));
    let Ok(untyped) = out.cast::<PyUntypedArray>() else { return Err(no_array("out", out)) };
    if untyped.shape() != [height, width] {
        return wrong(&format!("have the shape ({height}, {width}), not {}", out.getattr("shape")?));
    }
    let Ok(array) = out.cast::<PyArray2<f32>>() else {
        return Err(Failure::InputType(format!("out must be float32, not {}", untyped.dtype())));
    };
    if !(array.is_c_contiguous() && array.is_aligned()) {
        return wrong("be contiguous, row after row");
    }
    if !out.getattr("flags")?.getattr("writeable")?.extract::<bool>()? {
        return wrong("be writeable");
    }
    let shares = out.py().import("numpy")?.call_method1("may_share_memory", (image, out))?;
    if shares.extract()? {
        return wrong("not share memory with the image");
    }
    Ok(array)
}
