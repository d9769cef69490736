//! Exact matching: descriptors in, nearest descriptors out.

use harris_core::matching::{Match, MatchConfig, Matcher, Nearest, check};
use harris_core::surf::LENGTH;
use harris_core::{Error, float_mode, memory};
use harris_gpu_kernels::abi::{Kernel, matching};
use ndarray::ArrayView2;

use crate::device::{Device, Mark, RowSource, Rows};
use crate::error::GpuError;
use crate::exec::workspace::{Slot, Workspace};
use crate::launch::{self, grid};

/// Blocks for each multiprocessor, so that none is idle.
const BLOCKS_PER_MULTIPROCESSOR: usize = 4;

/// Matcher of descriptors on any [`Device`]: exact, by all distances.
///
/// ```
/// use harris_core::matching::{MatchConfig, Matcher};
/// use harris_gpu::GpuMatcher;
/// use harris_gpu_host::HostDevice;
/// use ndarray::Array2;
///
/// let train = Array2::from_shape_fn((3, 64), |(i, j)| if i == j { 1.0 } else { 0.0 });
/// let matches = GpuMatcher::new(HostDevice, MatchConfig::default()).matches(train.view(), train.view())?;
/// assert!(matches.iter().all(|found| found.query == found.train));
/// # Ok::<(), harris_core::Error>(())
/// ```
#[derive(Debug)]
pub struct GpuMatcher<D: Device> {
    device: D,
    search: NearestSearch,
    workspace: Workspace<D>,
}

/// Descriptors to match: a row of 64 floats each.
#[derive(Debug)]
pub enum DescriptorSet<'a, M> {
    /// On the host.
    Host(ArrayView2<'a, f32>),
    /// In the device's memory, complete, row after row without gaps.
    Device {
        /// The memory, which stays as it is until the matches are there.
        memory: M,
        /// How many descriptors there are.
        len: usize,
    },
}

impl<M> DescriptorSet<'_, M> {
    fn len(&self) -> usize {
        match self {
            Self::Host(descriptors) => descriptors.nrows(),
            Self::Device { len, .. } => *len,
        }
    }

    fn check(&self) -> Result<(), Error> {
        match self {
            Self::Host(descriptors) => check(*descriptors)?,
            Self::Device { .. } => {}
        }
        Ok(GpuError::check_descriptors(self.len())?)
    }
}

impl<D: Device> GpuMatcher<D> {
    /// A matcher on `device`.
    #[must_use]
    pub fn new(device: D, config: MatchConfig) -> Self {
        Self { device, search: NearestSearch::new(config), workspace: Workspace::new() }
    }

    /// The device.
    #[must_use]
    pub fn device(&self) -> &D {
        &self.device
    }

    /// Matches two sets, each on the host or on the device.
    ///
    /// # Errors
    /// As [`Matcher::matches`]. Descriptors on the device are not checked.
    pub fn matches_of(
        &mut self,
        query: DescriptorSet<'_, D::Memory>,
        train: DescriptorSet<'_, D::Memory>,
    ) -> Result<Vec<Match>, Error> {
        query.check()?;
        train.check()?;
        let (queries, trained) = (query.len(), train.len());
        if queries == 0 || trained == 0 {
            return Ok(Vec::new());
        }
        let matched = self
            .set(QUERY, query)
            .and_then(|()| self.set(TRAIN, train))
            .and_then(|()| self.search.matches(&mut self.device, &mut self.workspace, queries, trained));
        if matched.is_err() {
            // The device may still read memory that is not its own.
            let _ = self.device.wait();
        }
        self.workspace.return_lent();
        matched
    }

    /// Puts a set into a slot.
    fn set(&mut self, slot: Slot, set: DescriptorSet<'_, D::Memory>) -> Result<(), Error> {
        match set {
            DescriptorSet::Host(descriptors) => {
                upload(&mut self.device, &mut self.workspace, slot, descriptors)
            }
            DescriptorSet::Device { memory, len } => {
                self.workspace.lend(slot, memory, len * LENGTH * size_of::<f32>());
                Ok(())
            }
        }
    }
}

/// Uploads descriptors to a slot.
pub(crate) fn upload<D: Device>(
    device: &mut D,
    workspace: &mut Workspace<D>,
    slot: Slot,
    descriptors: ArrayView2<'_, f32>,
) -> Result<(), Error> {
    let copied;
    let values = match descriptors.as_slice() {
        Some(values) => values,
        None => {
            copied = memory::collect(descriptors.iter().copied())?;
            &copied[..]
        }
    };
    workspace.fit::<f32>(device, slot, values.len())?;
    let memory = workspace.buffer::<f32>(slot).memory;
    let lines = RowSource::Packed(bytemuck::cast_slice(values), size_of::<f32>() * LENGTH);
    device.upload(memory, Rows::copied(&lines, values.len() / LENGTH))
}

/// The slot of descriptors that are matched.
pub(crate) const QUERY: Slot = Slot::Descriptors;

/// The slot of descriptors that they are matched with.
pub(crate) const TRAIN: Slot = Slot::OtherDescriptors;

/// Matches descriptors that are in a workspace.
#[derive(Debug)]
pub(crate) struct NearestSearch {
    config: MatchConfig,
}

impl NearestSearch {
    pub(crate) fn new(config: MatchConfig) -> Self {
        Self { config }
    }

    /// Matches so many descriptors in [`QUERY`] with so many in [`TRAIN`].
    ///
    /// # Panics
    /// Where there are none.
    pub(crate) fn matches<D: Device>(
        &self,
        device: &mut D,
        workspace: &mut Workspace<D>,
        queries: usize,
        trained: usize,
    ) -> Result<Vec<Match>, Error> {
        let (query, train) = ((QUERY, queries), (TRAIN, trained));
        device.mark(Mark::Uploaded)?;
        let back = match self.config.cross_check() {
            true => Some(nearest(device, workspace, train, query)?),
            false => None,
        };
        let nearest = nearest(device, workspace, query, train)?;
        float_mode::standard(|| self.config.select(&nearest, back.as_deref()))
    }
}

/// For each of `queries` descriptors in slot `query`, the nearest of `trained` descriptors in slot
/// `train`.
fn nearest<D: Device>(
    device: &mut D,
    workspace: &mut Workspace<D>,
    (query, queries): (Slot, usize),
    (train, trained): (Slot, usize),
) -> Result<Vec<Nearest>, Error> {
    let tiles = |count: usize| count.div_ceil(matching::TILE as usize);
    let parts = (BLOCKS_PER_MULTIPROCESSOR * device.multiprocessors() as usize)
        .div_ceil(tiles(queries))
        .min(tiles(trained));
    workspace.fit::<u32>(device, Slot::PartNearest, parts * queries * matching::WORDS)?;
    workspace.fit::<u32>(device, Slot::Nearest, queries * matching::WORDS)?;
    let found = workspace.buffer::<u32>(Slot::Nearest);
    launch::nearest_descriptors(
        device,
        [tiles(queries) as u32, parts as u32],
        workspace.buffer(query),
        workspace.buffer(train),
        workspace.buffer(Slot::PartNearest),
        queries as u32,
        trained as u32,
        parts as u32,
    )?;
    launch::merge_nearest(
        device,
        grid(Kernel::merge_nearest, queries, 1),
        workspace.buffer(Slot::PartNearest),
        found,
        queries as u32,
        parts as u32,
    )?;
    device.mark(Mark::Done)?;
    let mut words = memory::zeroed::<[u32; matching::WORDS]>(queries)?;
    device.download(found.memory, bytemuck::cast_slice_mut(&mut words))?;
    let nearest = |[index, distance, second]: [u32; 3]| Nearest {
        index: index as usize,
        distance: f32::from_bits(distance),
        second: f32::from_bits(second),
    };
    memory::collect(words.into_iter().map(nearest))
}

impl<D: Device> Matcher for GpuMatcher<D> {
    fn matches(
        &mut self,
        query: ArrayView2<'_, f32>,
        train: ArrayView2<'_, f32>,
    ) -> Result<Vec<Match>, Error> {
        self.matches_of(DescriptorSet::Host(query), DescriptorSet::Host(train))
    }
}
