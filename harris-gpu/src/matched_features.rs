//! Features of frames, matched with a fixed set or with the frame before.

use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use harris_core::features::{FeatureConfig, Features};
use harris_core::matching::{Match, MatchConfig, check};
use harris_core::{Error, ImageView};
use ndarray::Array2;

use crate::device::Device;
use crate::error::GpuError;
use crate::exec::upload::UploadMode;
use crate::exec::workspace::Workspace;
use crate::features::GpuFeatures;
use crate::frame_worker::FrameWorker;
use crate::matching::{self, NearestSearch, QUERY, TRAIN};

/// A configuration of features whose descriptors are matched, frame after frame.
///
/// ```
/// use harris_core::features::FeatureConfig;
/// use harris_core::matching::MatchConfig;
/// use harris_gpu::{MatchedFeatureConfig, TrainSet};
///
/// let config = MatchedFeatureConfig::new(
///     FeatureConfig::default(),
///     MatchConfig::default(),
///     TrainSet::PreviousFrame,
/// )?;
/// # let _ = config;
/// # Ok::<(), harris_core::Error>(())
/// ```
#[derive(Clone, Debug)]
pub struct MatchedFeatureConfig {
    features: FeatureConfig,
    matching: MatchConfig,
    train: TrainSet,
}

impl MatchedFeatureConfig {
    /// Puts together how features are found, how they are matched, and what with.
    ///
    /// # Errors
    /// Those of [`Matcher::matches`](harris_core::matching::Matcher::matches) for a fixed set.
    pub fn new(features: FeatureConfig, matching: MatchConfig, train: TrainSet) -> Result<Self, Error> {
        if let TrainSet::Fixed(descriptors) = &train {
            check(descriptors.view())?;
            GpuError::check_descriptors(descriptors.nrows())?;
        }
        Ok(Self { features, matching, train })
    }

    /// What each frame is matched with.
    #[must_use]
    pub fn train(&self) -> &TrainSet {
        &self.train
    }
}

/// What the descriptors of a frame are matched with.
#[derive(Clone, Debug, PartialEq)]
pub enum TrainSet {
    /// These descriptors, N × 64.
    Fixed(Arc<Array2<f32>>),
    /// The descriptors of the last frame before that had no error. The first frame has no matches.
    PreviousFrame,
}

/// The features of a frame, and their matches.
#[derive(Clone, Debug, Default, PartialEq)]
#[non_exhaustive]
pub struct MatchedFeatures {
    /// The frame's features.
    pub features: Features,
    /// Matches: `query` is an index of the frame's features, `train` one of the set that they are
    /// matched with.
    pub matches: Vec<Match>,
}

/// Finds features on a device and matches them there: see [`FrameWorker`].
#[derive(Debug)]
pub struct GpuMatchedFeatures<D: Device> {
    features: GpuFeatures<D>,
    search: NearestSearch,
    trained: SharedTrained<D>,
}

impl<D: Device> GpuMatchedFeatures<D> {
    /// Makes a worker for each of some queues of one device, for one pipeline. They share what
    /// frames are matched with.
    #[must_use]
    pub fn workers(devices: Vec<D>, config: &MatchedFeatureConfig) -> Vec<Self> {
        let trained = SharedTrained(Arc::new(Mutex::new(match &config.train {
            TrainSet::Fixed(descriptors) => Trained::Fixed { descriptors: descriptors.clone(), memory: None },
            TrainSet::PreviousFrame => Trained::PreviousFrame(None),
        })));
        let worker = |device| Self {
            features: GpuFeatures::new(device, config.features.clone()),
            search: NearestSearch::new(config.matching),
            trained: SharedTrained(trained.0.clone()),
        };
        devices.into_iter().map(worker).collect()
    }
}

/// What frames are matched with, shared by the workers of a device.
#[derive(Debug)]
struct SharedTrained<D: Device>(Arc<Mutex<Trained<D>>>);

impl<D: Device> SharedTrained<D> {
    fn lock(&self) -> MutexGuard<'_, Trained<D>> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

/// A piece of memory and its size in bytes.
type Memory<D> = (<D as Device>::Memory, usize);

/// Descriptors that frames are matched with.
#[derive(Debug)]
enum Trained<D: Device> {
    /// The same for all frames. On the device once the first frame needs them.
    Fixed { descriptors: Arc<Array2<f32>>, memory: Option<Memory<D>> },
    /// Those of the frame before and how many they are, if there was one.
    PreviousFrame(Option<(Memory<D>, usize)>),
}

impl<D: Device> Trained<D> {
    /// Matches so many descriptors in [`QUERY`], which are complete.
    fn matches(
        &mut self,
        device: &mut D,
        workspace: &mut Workspace<D>,
        search: &NearestSearch,
        queries: usize,
    ) -> Result<Vec<Match>, Error> {
        let trained = self.put(device, workspace)?;
        let matches = match (queries, trained) {
            (0, _) | (_, 0) => Ok(Vec::new()),
            _ => search.matches(device, workspace, queries, trained),
        };
        if matches.is_err() {
            // The device may still read them.
            let _ = device.wait();
        }
        self.take_back(workspace, trained, matches.is_ok().then_some(queries));
        matches
    }

    /// Puts the descriptors into [`TRAIN`], complete, and returns how many they are.
    fn put(&mut self, device: &mut D, workspace: &mut Workspace<D>) -> Result<usize, Error> {
        match self {
            Self::Fixed { descriptors, .. } if descriptors.is_empty() => Ok(0),
            Self::Fixed { descriptors, memory } => {
                match memory.take() {
                    Some(memory) => workspace.give(TRAIN, memory),
                    None => {
                        matching::upload(device, workspace, TRAIN, descriptors.view())?;
                        // Other queues use them next.
                        device.wait()?;
                    }
                }
                Ok(descriptors.nrows())
            }
            Self::PreviousFrame(previous) => Ok(previous.take().map_or(0, |(memory, count)| {
                workspace.give(TRAIN, memory);
                count
            })),
        }
    }

    /// Takes the `trained` descriptors out of [`TRAIN`]. Where so many of [`QUERY`] were matched,
    /// the next frame is matched with them.
    fn take_back(&mut self, workspace: &mut Workspace<D>, trained: usize, matched: Option<usize>) {
        let before = workspace.take(TRAIN);
        match (self, matched) {
            (Self::Fixed { memory, .. }, _) => *memory = before,
            (Self::PreviousFrame(previous), None) => *previous = before.map(|memory| (memory, trained)),
            (Self::PreviousFrame(previous), Some(count)) => {
                *previous = workspace.take(QUERY).map(|memory| (memory, count));
                // The next frame here takes the memory of those before.
                if let Some(memory) = before {
                    workspace.give(QUERY, memory);
                }
            }
        }
    }
}

impl<D: Device> FrameWorker for GpuMatchedFeatures<D> {
    type Output = MatchedFeatures;

    fn batch_len(&self, images: &[ImageView<'_>]) -> usize {
        self.features.batch_len(images)
    }

    fn begin(&mut self, images: &[ImageView<'_>], mode: UploadMode) -> Result<(), Error> {
        self.features.begin(images, mode)
    }

    fn is_done(&self) -> bool {
        self.features.is_done()
    }

    /// Frames are finished in their order. Other frames in flight keep the device busy while this
    /// one's matches are waited for.
    fn finish(&mut self) -> Result<Vec<MatchedFeatures>, Error> {
        let found = self.features.finish()?;
        let (device, workspace) = self.features.device_and_workspace();
        let match_one = |features: Features| {
            let queries = features.keypoints.len();
            let matches = self.trained.lock().matches(device, workspace, &self.search, queries)?;
            Ok(MatchedFeatures { features, matches })
        };
        found.into_iter().map(match_one).collect()
    }

    fn describe_device(&self) -> String {
        self.features.describe_device()
    }
}
