//! What the way to a GPU takes, and many frames on it at once.

use std::time::{Duration, Instant};

use harris_core::{Detector, Error, HarrisConfig, ImageView, Sample};
use harris_cuda::{CudaDetector, CudaImage, CudaPipeline, PinnedImage, devices};

use crate::Transfers;

/// Images of a batch.
const BATCH: usize = 64;

/// Times whole images in pinned memory, the bare copy, a stream and a batch of them.
pub(crate) fn time<T: Sample>(
    samples: &[T],
    channels: usize,
    (width, height): (usize, usize),
    config: &HarrisConfig,
    ordinal: u32,
    seconds: f64,
) -> Result<Transfers, Error> {
    let image = PinnedImage::copied(samples, width, height, channels)?;
    let copy = image.copy_time(ordinal)?;
    let seconds = Duration::from_secs_f64(seconds);

    let mut detector = CudaDetector::on_device(ordinal, config.clone())?;
    detector.detect(&image.view())?;
    let pinned = median(seconds, || detector.detect(&image.view()).map(drop))?;

    let resident = CudaImage::upload(ordinal, &image.view())?;
    let mut device_times = Vec::new();
    median(seconds, || {
        detector.detect_on_device(&resident)?;
        device_times.push(detector.device_time().map_err(Error::from)?);
        Ok(())
    })?;
    device_times.sort();
    let resident = device_times[device_times.len() / 2];

    let all: Vec<u32> = devices()?.iter().map(|device| device.ordinal).collect();
    let streaming = stream(samples, channels, (width, height), config, &[ordinal], seconds)?;
    let on_all = match all.len() {
        1 => None,
        _ => Some(stream(samples, channels, (width, height), config, &all, seconds)?),
    };

    // As many images as fill the bus for long enough, each in memory of its own.
    let count = BATCH.min((256 << 20) / (width * height * channels * size_of::<T>())).max(1);
    let images: Vec<_> = (0..count)
        .map(|_| PinnedImage::copied(samples, width, height, channels))
        .collect::<Result<_, Error>>()?;
    let views: Vec<ImageView<'_>> = images.iter().map(PinnedImage::view).collect();
    detector.detect_batch(&views)?;
    let batch = median(seconds, || detector.detect_batch(&views).map(drop))?;

    let ms = |seconds: f64| seconds * 1e3;
    Ok(Transfers {
        resident_ms: ms(resident.as_secs_f64()),
        copy_ms: ms(copy.as_secs_f64()),
        pinned_ms: ms(pinned),
        streaming_ms: ms(streaming),
        batch_ms: ms(batch / count as f64),
        on_all_ms: on_all.map(ms),
    })
}

/// Seconds a frame of a stream over some GPUs.
fn stream<T: Sample>(
    samples: &[T],
    channels: usize,
    (width, height): (usize, usize),
    config: &HarrisConfig,
    ordinals: &[u32],
    seconds: Duration,
) -> Result<f64, Error> {
    let mut pipeline = CudaPipeline::<T>::on_devices(ordinals, IN_FLIGHT, config.clone())?;
    let most = pipeline.most_in_flight();
    let mut spare = Vec::new();
    for _ in 0..=most {
        spare.push(PinnedImage::copied(samples, width, height, channels)?);
    }
    let (mut frames, mut start) = (0, Instant::now());
    while frames < 4 * most || start.elapsed() < seconds {
        let frame = spare.pop().expect("one more than can be in flight");
        if let Some(detection) = pipeline.push_pinned(frame) {
            detection.keypoints?;
            spare.extend(detection.image);
        }
        frames += 1;
        if frames == 2 * most {
            // There is memory for all of them now.
            start = Instant::now();
        }
    }
    let mean = start.elapsed().as_secs_f64() / (frames - 2 * most) as f64;
    while let Some(detection) = pipeline.next() {
        detection.keypoints?;
    }
    Ok(mean)
}

/// Frames in flight on each GPU of the stream that is timed.
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
