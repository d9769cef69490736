//! Features of frames, matched with a fixed set or with the frame before.

use std::sync::{Arc, Mutex, PoisonError};

use harris_core::features::{FeatureConfig, Features};
use harris_core::matching::{Match, MatchConfig, check};
use harris_core::{Error, ImageView, Keypoint};
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

    /// Whether a frame's result depends on the frame before, so that one device works on all.
    #[must_use]
    pub fn is_sequential(&self) -> bool {
        match self.train {
            TrainSet::Fixed(_) => false,
            TrainSet::PreviousFrame => true,
        }
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
    /// With [`TrainSet::PreviousFrame`], the keypoints of the frame that this one is matched with.
    /// `None` for the first frame.
    pub previous: Option<Arc<[Keypoint]>>,
}

/// Finds features on a device and matches them there: see [`FrameWorker`].
#[derive(Debug)]
pub struct GpuMatchedFeatures<D: Device> {
    features: GpuFeatures<D>,
    search: NearestSearch,
    train: Arc<Mutex<TrainMemory<D>>>,
}

impl<D: Device> GpuMatchedFeatures<D> {
    /// Makes a worker for each of some queues of one device.
    ///
    /// They share what frames are matched with, so a pipeline has all of them. If frames are
    /// matched with the frame before ([`MatchedFeatureConfig::is_sequential`]), it has no other
    /// workers.
    ///
    /// The memory of descriptors goes from worker to worker. So the work of up to 7 frames in
    /// flight is recorded; with more of them it is asked for call by call.
    #[must_use]
    pub fn workers(queues: Vec<D>, config: &MatchedFeatureConfig) -> Vec<Self> {
        let memory = Arc::new(Mutex::new(match &config.train {
            TrainSet::Fixed(descriptors) => {
                TrainMemory::Fixed { descriptors: descriptors.clone(), memory: None }
            }
            TrainSet::PreviousFrame => TrainMemory::PreviousFrame(None),
        }));
        let worker = |device| Self {
            features: GpuFeatures::new(device, config.features.clone()),
            search: NearestSearch::new(config.matching),
            train: memory.clone(),
        };
        queues.into_iter().map(worker).collect()
    }
}

/// The keypoints of the frame before, if there was one.
type Previous = Option<Arc<[Keypoint]>>;

/// A piece of memory and its size in bytes.
type Memory<D> = (<D as Device>::Memory, usize);

/// Descriptors that frames are matched with, shared by the workers of a device.
#[derive(Debug)]
enum TrainMemory<D: Device> {
    /// The same for all frames. On the device once the first frame needs them.
    Fixed { descriptors: Arc<Array2<f32>>, memory: Option<Memory<D>> },
    /// Those of the frame before and its keypoints, if there was one.
    PreviousFrame(Option<(Memory<D>, Arc<[Keypoint]>)>),
}

impl<D: Device> TrainMemory<D> {
    /// Matches features whose descriptors are in [`QUERY`], complete.
    fn matches(
        &mut self,
        device: &mut D,
        workspace: &mut Workspace<D>,
        search: &NearestSearch,
        features: Features,
    ) -> Result<MatchedFeatures, Error> {
        let queries = features.keypoints.len();
        let (trained, previous) = self.put(device, workspace)?;
        let matches = match (queries, trained) {
            (0, _) | (_, 0) => Ok(Vec::new()),
            _ => search.matches(device, workspace, queries, trained),
        };
        if matches.is_err() {
            // The device may still read them.
            let _ = device.wait();
        }
        let matched = matches.is_ok().then_some(&features.keypoints[..]);
        self.take_back(workspace, previous.clone(), matched);
        Ok(MatchedFeatures { features, matches: matches?, previous })
    }

    /// Puts the descriptors into [`TRAIN`], complete. Returns how many they are, and the keypoints
    /// of the frame before.
    fn put(&mut self, device: &mut D, workspace: &mut Workspace<D>) -> Result<(usize, Previous), Error> {
        match self {
            Self::Fixed { descriptors, .. } if descriptors.is_empty() => Ok((0, None)),
            Self::Fixed { descriptors, memory } => {
                match memory.take() {
                    Some(memory) => workspace.give(TRAIN, memory),
                    None => {
                        matching::upload(device, workspace, TRAIN, descriptors.view())?;
                        // Other queues use them next.
                        device.wait()?;
                    }
                }
                Ok((descriptors.nrows(), None))
            }
            Self::PreviousFrame(previous) => Ok(match previous.take() {
                Some((memory, keypoints)) => {
                    workspace.give(TRAIN, memory);
                    (keypoints.len(), Some(keypoints))
                }
                None => (0, None),
            }),
        }
    }

    /// Takes the descriptors out of [`TRAIN`]. If a frame's were matched, in [`QUERY`], the next
    /// frame is matched with them; if not, with those of the `previous` one.
    fn take_back(&mut self, workspace: &mut Workspace<D>, previous: Previous, matched: Option<&[Keypoint]>) {
        let before = workspace.take(TRAIN);
        match (self, matched) {
            (Self::Fixed { memory, .. }, _) => *memory = before,
            (Self::PreviousFrame(kept), None) => *kept = before.zip(previous),
            (Self::PreviousFrame(kept), Some(keypoints)) => {
                *kept = workspace.take(QUERY).map(|memory| (memory, keypoints.into()));
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
        // After a panic the memory is in the workspace of the worker that panicked.
        let mut train = self.train.lock().unwrap_or_else(PoisonError::into_inner);
        let matched =
            found.into_iter().map(|features| train.matches(device, workspace, &self.search, features));
        matched.collect()
    }

    fn describe_device(&self) -> String {
        self.features.describe_device()
    }
}
