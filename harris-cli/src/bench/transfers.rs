//! Times of transfers to a GPU, and of many frames in flight.

use std::collections::VecDeque;
use std::time::{Duration, Instant};

use harris::cuda::{CudaDetector, CudaImage, CudaPipeline, PinnedImage, devices};
use harris_core::{Detector, Error, HarrisConfig, Sample};
use serde::Serialize;

use crate::messages;

/// The number of images of a batch, and the most bytes that they may have together.
const BATCH: usize = 1000;
const BATCH_BYTES: usize = 512 << 20;

/// Times of images on the device and in pinned memory, in milliseconds.
#[derive(Serialize)]
pub(crate) struct Transfers {
    /// From an image on the device to the list there, by the device's clock: median.
    pub(crate) resident_ms: f64,
    /// From an image on the device to the list there, behind other work, so that the device never
    /// waits for the host: median.
    pub(crate) resident_behind_ms: f64,
    /// From an image on the device to the end of the call, by the host's clock: median.
    pub(crate) resident_call_ms: f64,
    /// The copy of the image to the device alone: median.
    pub(crate) copy_ms: f64,
    /// Detection from a pinned image to the list: median.
    pub(crate) pinned_ms: f64,
    /// A frame of a stream with several in flight: mean.
    pub(crate) streaming_ms: f64,
    /// Latency of a frame of a stream at half the greatest rate: median and 99th percentile.
    pub(crate) latency_ms: [f64; 2],
    /// The copy of an image among those of a batch, one after another: median.
    pub(crate) copies_ms: f64,
    /// An image of a batch: median.
    pub(crate) batch_ms: f64,
    /// A frame of a stream over all GPUs, if there are several: mean.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(crate) on_all_ms: Option<f64>,
}

/// Measures images in pinned memory, the copy alone, a stream and a batch, each for the first of
/// the two durations. Streams take the second. The copies do not include the mask.
pub(crate) fn time<T: Sample>(
    samples: &[T],
    channels: usize,
    (width, height): (usize, usize),
    mask: Option<&[u8]>,
    config: &HarrisConfig,
    ordinal: u32,
    (seconds, stream_seconds): (Duration, Duration),
) -> Result<Transfers, Error> {
    let pinned_image = || pinned(samples, mask, (width, height), channels);
    let image = [pinned_image()?];
    let copy = PinnedImage::copy_time(&image, ordinal)?;
    let view = image[0].view();

    let mut detector = CudaDetector::on_device(ordinal, config.clone())?;
    detector.detect(&view)?;
    let pinned = median(seconds, || detector.detect(&view).map(drop))?;

    let resident_image = CudaImage::upload(ordinal, &view)?;
    detector.detect_on_device(&resident_image)?;
    let resident_call = median(seconds, || detector.detect_on_device(&resident_image).map(drop))?;
    detector.set_timed(true);
    let mut device_times = Vec::new();
    median(seconds, || {
        detector.detect_on_device(&resident_image)?;
        device_times.push(detector.device_time().map_err(Error::from)?);
        Ok(())
    })?;
    device_times.sort();
    let resident = device_times[device_times.len() / 2];
    detector.set_timed(false);
    let behind = behind_other_work(&mut detector, &resident_image, config, ordinal, seconds)?;

    let all: Vec<u32> = devices()?.iter().map(|device| device.ordinal).collect();
    let streaming = stream(pinned_image, config, &[ordinal], stream_seconds)?;
    let on_all = match all.len() {
        1 => None,
        _ => Some(stream(pinned_image, config, &all, stream_seconds)?),
    };

    let latencies = at_half_load(pinned_image, config, ordinal, 2.0 * streaming)?;

    // Each image has memory of its own.
    let count = BATCH.min(BATCH_BYTES / (width * height * channels * size_of::<T>())).max(1);
    let images: Vec<_> = (0..count).map(|_| pinned_image()).collect::<Result<_, Error>>()?;
    let copies = PinnedImage::copy_time(&images, ordinal)?;
    let views: Vec<_> = images.iter().map(PinnedImage::view).collect();
    detector.detect_batch(&views)?;
    let batch = median(seconds, || detector.detect_batch(&views).map(drop))?;

    let ms = messages::rounded_milliseconds;
    Ok(Transfers {
        resident_ms: ms(resident.as_secs_f64()),
        copy_ms: ms(copy.as_secs_f64()),
        pinned_ms: ms(pinned),
        resident_behind_ms: ms(behind),
        resident_call_ms: ms(resident_call),
        streaming_ms: ms(streaming),
        latency_ms: latencies.map(ms),
        copies_ms: ms(copies.as_secs_f64() / count as f64),
        batch_ms: ms(batch / count as f64),
        on_all_ms: on_all.map(ms),
    })
}

/// Makes a pinned image, with a mask if there is one.
fn pinned<T: Sample>(
    samples: &[T],
    mask: Option<&[u8]>,
    (width, height): (usize, usize),
    channels: usize,
) -> Result<PinnedImage<T>, Error> {
    let image = PinnedImage::from_samples(samples, width, height, channels)?;
    let Some(mask) = mask else { return Ok(image) };
    let mut image = image.with_mask()?;
    image.mask_mut().expect("just made").copy_from_slice(mask);
    Ok(image)
}

/// Returns the time in seconds, by the device's clock, from an image on the device to the list. The
/// detection is queued behind work of `other`, so that the host has queued all of it before the
/// device starts.
#[allow(unsafe_code, reason = "the caller of detect_on_stream answers for the life of the stream")]
fn behind_other_work(
    other: &mut CudaDetector,
    image: &CudaImage,
    config: &HarrisConfig,
    ordinal: u32,
    seconds: Duration,
) -> Result<f64, Error> {
    let mut detector = CudaDetector::on_device(ordinal, config.clone())?;
    detector.set_timed(true);
    let default_stream = std::ptr::null_mut();
    let mut times = Vec::new();
    median(seconds, || {
        // SAFETY: the default stream is always there; nothing writes the image.
        let before = unsafe { other.detect_on_stream(image, default_stream) }?;
        // SAFETY: the default stream is always there; nothing writes the image.
        let behind = unsafe { detector.detect_on_stream(image, default_stream) }?;
        before.finish()?;
        behind.finish()?;
        times.push(detector.device_time().map_err(Error::from)?.as_secs_f64());
        Ok(())
    })?;
    times.sort_by(f64::total_cmp);
    Ok(times[times.len() / 2])
}

/// Returns the seconds that a frame of a stream takes, over some GPUs.
fn stream<T: Sample>(
    image: impl Fn() -> Result<PinnedImage<T>, Error>,
    config: &HarrisConfig,
    ordinals: &[u32],
    seconds: Duration,
) -> Result<f64, Error> {
    let mut pipeline = CudaPipeline::<T>::on_devices(ordinals, IN_FLIGHT, config.clone())?;
    let most = pipeline.max_in_flight();
    let mut spare = Vec::new();
    for _ in 0..=most {
        spare.push(image()?);
    }
    let (mut frames, mut start) = (0, Instant::now());
    while frames < 4 * most || start.elapsed() < seconds {
        let frame = spare.pop().expect("one more than can be in flight");
        if let Some(detection) = pipeline.push_pinned(frame) {
            detection.result?;
            spare.extend(detection.image);
        }
        frames += 1;
        if frames == 2 * most {
            // All frames have memory now.
            start = Instant::now();
        }
    }
    let mean = start.elapsed().as_secs_f64() / (frames - 2 * most) as f64;
    while let Some(detection) = pipeline.next() {
        detection.result?;
    }
    Ok(mean)
}

/// Returns the median and the 99th percentile of the latency in seconds, for frames that come
/// `apart` seconds after each other.
fn at_half_load<T: Sample>(
    image: impl Fn() -> Result<PinnedImage<T>, Error>,
    config: &HarrisConfig,
    ordinal: u32,
    apart: f64,
) -> Result<[f64; 2], Error> {
    let mut pipeline = CudaPipeline::<T>::on_devices(&[ordinal], IN_FLIGHT, config.clone())?;
    let mut spare = Vec::new();
    for _ in 0..=IN_FLIGHT {
        spare.push(image()?);
    }
    let (mut begun, mut latencies) = (VecDeque::new(), Vec::new());
    let start = Instant::now();
    let mut next = 0;
    while latencies.len() < PACED_FRAMES {
        let mut finished = None;
        if start.elapsed().as_secs_f64() >= apart * f64::from(next) {
            begun.push_back(apart * f64::from(next));
            next += 1;
            finished = pipeline.push_pinned(spare.pop().expect("one more than can be in flight"));
        }
        if let Some(detection) = finished.or_else(|| pipeline.try_next()) {
            detection.result?;
            spare.extend(detection.image);
            let since = begun.pop_front().expect("results come in order");
            latencies.push(start.elapsed().as_secs_f64() - since);
        }
    }
    // The first are left out: memory is allocated and work recorded for them.
    latencies.drain(..PACED_FRAMES / 10);
    latencies.sort_by(f64::total_cmp);
    Ok([latencies[latencies.len() / 2], latencies[latencies.len() * 99 / 100]])
}

/// The number of frames whose latency is measured.
const PACED_FRAMES: usize = 2000;

/// Frames in flight on each GPU of the streams that are measured.
const IN_FLIGHT: usize = 6;

fn median(seconds: Duration, mut work: impl FnMut() -> Result<(), Error>) -> Result<f64, Error> {
    let (mut times, begin) = (Vec::new(), Instant::now());
    while times.len() < 5 || begin.elapsed() < seconds {
        let start = Instant::now();
        work()?;
        times.push(start.elapsed().as_secs_f64());
    }
    times.sort_by(f64::total_cmp);
    Ok(times[times.len() / 2])
}
