//! Detection in frames: one after another, or several in flight.

use std::collections::VecDeque;
use std::time::{Duration, Instant};

use crate::input::Picture;
use crate::options::{BackendOptions, Detection, Timed};
use anyhow::{Context, Result};
use harris::Backend;
use harris::cuda::CudaPipeline;
use harris_core::{Error, ImageView, Keypoint};

/// A finished frame.
pub(crate) struct Done {
    pub(crate) image: Picture,
    pub(crate) keypoints: Result<Vec<Keypoint>, Error>,
    /// The time from the frame's arrival to its corners.
    pub(crate) latency: Duration,
}

/// A detector, or a pipeline of them.
pub(crate) enum Engine {
    One(Box<dyn Timed>),
    Pipeline {
        pipeline: Box<CudaPipeline>,
        /// The start time of each frame in flight.
        waiting: VecDeque<(Picture, Instant)>,
    },
}

impl Engine {
    /// Makes a pipeline with several frames in flight for the CUDA backend, on all GPUs or on the
    /// chosen one. Other backends get a detector.
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

    /// Starts on a frame. Returns a finished one if it had to wait for it.
    pub(crate) fn push(&mut self, image: Picture) -> Option<Done> {
        let start = Instant::now();
        match self {
            Self::One(detector) => {
                let keypoints = ImageView::try_from(&image).and_then(|view| detector.detect(&view));
                Some(Done { image, keypoints, latency: start.elapsed() })
            }
            Self::Pipeline { pipeline, waiting } => {
                let finished = match ImageView::try_from(&image) {
                    Ok(view) => pipeline.push(&view),
                    Err(error) => {
                        return Some(Done { image, keypoints: Err(error), latency: start.elapsed() });
                    }
                };
                waiting.push_back((image, start));
                finished.map(|finished| done(waiting, finished))
            }
        }
    }

    /// Returns a frame that is finished by now, if any.
    pub(crate) fn poll(&mut self) -> Option<Done> {
        match self {
            Self::One(_) => None,
            Self::Pipeline { pipeline, waiting } => {
                pipeline.try_next().map(|finished| done(waiting, finished))
            }
        }
    }

    /// Waits for the oldest frame in flight and returns it.
    pub(crate) fn wait(&mut self) -> Option<Done> {
        match self {
            Self::One(_) => None,
            Self::Pipeline { pipeline, waiting } => pipeline.next().map(|finished| done(waiting, finished)),
        }
    }

    pub(crate) fn describe(&self) -> String {
        match self {
            Self::One(detector) => detector.describe(),
            Self::Pipeline { pipeline, .. } => {
                format!("{}, {} frames in flight", pipeline.describe(), pipeline.max_in_flight())
            }
        }
    }
}

fn done(waiting: &mut VecDeque<(Picture, Instant)>, finished: harris::cuda::Frame) -> Done {
    let (image, start) = waiting.pop_front().expect("frames come back in order");
    Done { image, keypoints: finished.result, latency: start.elapsed() }
}
