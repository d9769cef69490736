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

/// Exact matching on a GPU: computes all distances.
///
/// ```
/// use harris_core::matching::{MatchConfig, Matcher};
/// use harris_gpu::GpuMatcher;
/// use harris_gpu::host::HostDevice;
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
    config: MatchConfig,
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

    fn is_on_device(&self) -> bool {
        match self {
            Self::Host(_) => false,
            Self::Device { .. } => true,
        }
    }
}

impl<D: Device> GpuMatcher<D> {
    /// A matcher on `device`.
    #[must_use]
    pub fn new(device: D, config: MatchConfig) -> Self {
        Self { device, config, workspace: Workspace::new() }
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
        let (queries, trained) = ((Slot::Descriptors, query.len()), (Slot::OtherDescriptors, train.len()));
        if queries.1 == 0 || trained.1 == 0 {
            return Ok(Vec::new());
        }
        let lent =
            [(Slot::Descriptors, query.is_on_device()), (Slot::OtherDescriptors, train.is_on_device())];
        let matched = (self.set(Slot::Descriptors, query))
            .and_then(|()| self.set(Slot::OtherDescriptors, train))
            .and_then(|()| self.search(queries, trained));
        if matched.is_err() {
            // The device may still read memory that is not its own.
            let _ = self.device.wait();
        }
        for (slot, _) in lent.into_iter().filter(|(_, is_lent)| *is_lent) {
            self.workspace.take(slot);
        }
        matched
    }

    /// Puts a set into a slot.
    fn set(&mut self, slot: Slot, set: DescriptorSet<'_, D::Memory>) -> Result<(), Error> {
        match set {
            DescriptorSet::Host(descriptors) => self.upload(slot, descriptors),
            DescriptorSet::Device { memory, len } => {
                self.workspace.put(slot, memory, len * LENGTH * size_of::<f32>());
                Ok(())
            }
        }
    }

    fn search(&mut self, queries: (Slot, usize), trained: (Slot, usize)) -> Result<Vec<Match>, Error> {
        self.device.mark(Mark::Uploaded)?;
        let back = self.config.cross_check().then(|| self.nearest(trained, queries)).transpose()?;
        let nearest = self.nearest(queries, trained)?;
        float_mode::standard(|| self.config.select(&nearest, back.as_deref()))
    }

    fn upload(&mut self, slot: Slot, descriptors: ArrayView2<'_, f32>) -> Result<(), Error> {
        let copied;
        let values = match descriptors.as_slice() {
            Some(values) => values,
            None => {
                copied = memory::collect(descriptors.iter().copied())?;
                &copied[..]
            }
        };
        self.workspace.fit::<f32>(&self.device, slot, values.len())?;
        let memory = self.workspace.buffer::<f32>(slot).memory;
        let lines = RowSource::Packed(bytemuck::cast_slice(values), size_of::<f32>() * LENGTH);
        self.device.upload(memory, Rows::copied(&lines, values.len() / LENGTH))
    }

    /// For each of `queries` descriptors in slot `query`, the nearest of `trained` descriptors in
    /// slot `train`.
    fn nearest(
        &mut self,
        (query, queries): (Slot, usize),
        (train, trained): (Slot, usize),
    ) -> Result<Vec<Nearest>, Error> {
        let Self { device, workspace, .. } = self;
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
