//! What finds the corners of frames: one after the other, or several in flight.

use std::collections::VecDeque;
use std::time::{Duration, Instant};

use anyhow::{Context, Result};
use harris::Backend;
use harris::cuda::CudaPipeline;
use harris_core::{Error, ImageView, Keypoint};
use harris_examples::options::{BackendOptions, Detection, Timed};
use image::DynamicImage;

/// A frame that is done.
pub(crate) struct Done {
    pub(crate) image: DynamicImage,
    pub(crate) keypoints: Result<Vec<Keypoint>, Error>,
    /// From when it was there to when its corners were.
    pub(crate) latency: Duration,
}

/// A detector, or a pipeline of them.
pub(crate) enum Engine {
    One(Box<dyn Timed>),
    Pipeline {
        pipeline: Box<CudaPipeline>,
        /// Frames in flight, and since when.
        waiting: VecDeque<(DynamicImage, Instant)>,
    },
}

impl Engine {
    /// Several frames in flight on the CUDA backend, on all GPUs or the one that was named; one on the others.
    pub(crate) fn new(backend: &mut BackendOptions, detection: &Detection, in_flight: usize) -> Result<Self> {
        let Detection::Harris(config) = detection else { return Ok(Self::One(backend.detector(detection)?)) };
        let pipeline = backend.make(|options, backend| {
            let Backend::Cuda { device } = backend else { return Ok(None) };
            if options.staged {
                return Ok(None);
            }
            let ordinals: Vec<u32> = match options.device {
                Some(device) => vec![device],
                None if device > 0 => vec![device],
                None => {
                    let devices = harris::cuda::devices().context("cannot use the CUDA backend")?;
                    devices.iter().map(|device| device.ordinal).collect()
                }
            };
            let pipeline = CudaPipeline::on_devices(&ordinals, in_flight, config.clone());
            Ok(Some(pipeline.context("cannot use the CUDA backend")?))
        })?;
        Ok(match pipeline {
            Some(pipeline) => Self::Pipeline { pipeline: Box::new(pipeline), waiting: VecDeque::new() },
            None => Self::One(backend.detector(detection)?),
        })
    }

    /// Gives it a frame; returns one that is done, where one had to be waited for.
    pub(crate) fn push(&mut self, image: DynamicImage) -> Option<Done> {
        let start = Instant::now();
        match self {
            Self::One(detector) => {
                let keypoints = ImageView::try_from(&image).and_then(|view| detector.detect(&view));
                Some(Done { image, keypoints, latency: start.elapsed() })
            }
            Self::Pipeline { pipeline, waiting } => {
                let landed = match ImageView::try_from(&image) {
                    Ok(view) => pipeline.push(&view),
                    Err(error) => {
                        return Some(Done { image, keypoints: Err(error), latency: start.elapsed() });
                    }
                };
                waiting.push_back((image, start));
                landed.map(|landed| done(waiting, landed))
            }
        }
    }

    /// A frame that is done by now.
    pub(crate) fn poll(&mut self) -> Option<Done> {
        match self {
            Self::One(_) => None,
            Self::Pipeline { pipeline, waiting } => pipeline.next_done().map(|landed| done(waiting, landed)),
        }
    }

    /// The oldest frame in flight, when it is done.
    pub(crate) fn wait(&mut self) -> Option<Done> {
        match self {
            Self::One(_) => None,
            Self::Pipeline { pipeline, waiting } => pipeline.next().map(|landed| done(waiting, landed)),
        }
    }

    pub(crate) fn describe(&self) -> String {
        match self {
            Self::One(detector) => detector.describe(),
            Self::Pipeline { pipeline, .. } => {
                format!("{}, {} frames in flight", pipeline.describe(), pipeline.most_in_flight())
            }
        }
    }
}

fn done(waiting: &mut VecDeque<(DynamicImage, Instant)>, landed: harris::cuda::Detection) -> Done {
    let (image, start) = waiting.pop_front().expect("frames come back in order");
    Done { image, keypoints: landed.keypoints, latency: start.elapsed() }
}
