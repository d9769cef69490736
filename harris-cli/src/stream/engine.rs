//! Work on frames: one after another, or several in flight.

use std::collections::VecDeque;
use std::time::Instant;

use anyhow::{Context, Result};
use harris::Backend;
use harris::cuda::{CudaPipeline, FrameTask};
use harris_core::features::{DetectAndDescribe, FeatureConfig, Features};
use harris_core::{Error, ImageView, Keypoint};

use super::frames::Frame;
use crate::options::{BackendOptions, Detection, Timed};

/// A finished frame.
pub(crate) struct Done<O> {
    pub(crate) frame: Frame,
    pub(crate) output: Result<O, Error>,
    /// When the frame arrived.
    pub(crate) start: Instant,
}

/// What works on one frame at a time.
pub(crate) trait Worker<O> {
    fn run(&mut self, image: &ImageView<'_>) -> Result<O, Error>;

    fn describe(&self) -> String;
}

impl Worker<Vec<Keypoint>> for Box<dyn Timed> {
    fn run(&mut self, image: &ImageView<'_>) -> Result<Vec<Keypoint>, Error> {
        self.detect(image)
    }

    fn describe(&self) -> String {
        self.as_ref().describe()
    }
}

impl Worker<Features> for Box<dyn DetectAndDescribe> {
    fn run(&mut self, image: &ImageView<'_>) -> Result<Features, Error> {
        self.detect_and_describe(image)
    }

    fn describe(&self) -> String {
        self.as_ref().describe()
    }
}

/// What works on several frames at a time. They come back in order.
pub(crate) trait Pipeline<O> {
    fn push(&mut self, image: &ImageView<'_>) -> Option<Result<O, Error>>;

    fn try_next(&mut self) -> Option<Result<O, Error>>;

    fn next(&mut self) -> Option<Result<O, Error>>;

    fn describe(&self) -> String;
}

impl<C: FrameTask> Pipeline<C::Output> for CudaPipeline<u8, C> {
    fn push(&mut self, image: &ImageView<'_>) -> Option<Result<C::Output, Error>> {
        CudaPipeline::push(self, image).map(|frame| frame.result)
    }

    fn try_next(&mut self) -> Option<Result<C::Output, Error>> {
        CudaPipeline::try_next(self).map(|frame| frame.result)
    }

    fn next(&mut self) -> Option<Result<C::Output, Error>> {
        CudaPipeline::next(self).map(|frame| frame.result)
    }

    fn describe(&self) -> String {
        format!("{}, {} frames in flight", CudaPipeline::describe(self), self.max_in_flight())
    }
}

/// A worker, or a pipeline of workers.
pub(crate) enum Engine<O> {
    One(Box<dyn Worker<O>>),
    Pipeline {
        pipeline: Box<dyn Pipeline<O>>,
        /// The start time of each frame in flight.
        waiting: VecDeque<(Frame, Instant)>,
    },
}

impl Engine<Vec<Keypoint>> {
    /// Makes an engine that detects keypoints.
    ///
    /// # Errors
    /// The backend cannot be used.
    pub(crate) fn detector(
        backend: &mut BackendOptions,
        detection: &Detection,
        in_flight: usize,
    ) -> Result<Self> {
        let pipeline = match detection {
            Detection::Harris(config) => pipeline(backend, config, in_flight)?,
            Detection::FastHessian(config) => pipeline(backend, config, in_flight)?,
        };
        Ok(match pipeline {
            Some(pipeline) => pipeline,
            None => Self::One(Box::new(backend.detector(detection)?)),
        })
    }
}

impl Engine<Features> {
    /// Makes an engine that detects keypoints and describes them.
    ///
    /// # Errors
    /// The backend cannot be used.
    pub(crate) fn features(
        backend: &mut BackendOptions,
        config: &FeatureConfig,
        in_flight: usize,
    ) -> Result<Self> {
        Ok(match pipeline(backend, config, in_flight)? {
            Some(pipeline) => pipeline,
            None => Self::One(Box::new(backend.features(config)?)),
        })
    }
}

/// Makes a pipeline with several frames in flight for the CUDA backend, on all GPUs or on the chosen
/// one. There is none for other backends.
fn pipeline<C: FrameTask + Clone + 'static>(
    backend: &mut BackendOptions,
    config: &C,
    in_flight: usize,
) -> Result<Option<Engine<C::Output>>> {
    backend.make(|options, backend| {
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
        let pipeline = CudaPipeline::<u8, C>::on_devices(&ordinals, in_flight, config.clone());
        let pipeline = Box::new(pipeline.context("cannot use the CUDA backend")?);
        Ok(Some(Engine::Pipeline { pipeline, waiting: VecDeque::new() }))
    })
}

impl<O> Engine<O> {
    /// Starts on a frame. Returns a finished one if it had to wait for it.
    pub(crate) fn push(&mut self, frame: Frame) -> Option<Done<O>> {
        let start = Instant::now();
        match self {
            Self::One(worker) => {
                let output = ImageView::try_from(&frame.picture).and_then(|view| worker.run(&view));
                Some(Done { frame, output, start })
            }
            Self::Pipeline { pipeline, waiting } => {
                let finished = match ImageView::try_from(&frame.picture) {
                    Ok(view) => pipeline.push(&view),
                    Err(error) => return Some(Done { frame, output: Err(error), start }),
                };
                waiting.push_back((frame, start));
                finished.map(|output| done(waiting, output))
            }
        }
    }

    /// Returns a frame that is finished by now, if any.
    pub(crate) fn poll(&mut self) -> Option<Done<O>> {
        match self {
            Self::One(_) => None,
            Self::Pipeline { pipeline, waiting } => pipeline.try_next().map(|output| done(waiting, output)),
        }
    }

    /// Waits for the oldest frame in flight and returns it.
    pub(crate) fn wait(&mut self) -> Option<Done<O>> {
        match self {
            Self::One(_) => None,
            Self::Pipeline { pipeline, waiting } => pipeline.next().map(|output| done(waiting, output)),
        }
    }

    pub(crate) fn describe(&self) -> String {
        match self {
            Self::One(worker) => worker.describe(),
            Self::Pipeline { pipeline, .. } => pipeline.describe(),
        }
    }
}

fn done<O>(waiting: &mut VecDeque<(Frame, Instant)>, output: Result<O, Error>) -> Done<O> {
    let (frame, start) = waiting.pop_front().expect("frames come back in order");
    Done { frame, output, start }
}
