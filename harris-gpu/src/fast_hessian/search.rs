//! The steps from an integral image to blobs, on a device and its memory.

use harris_core::fast_hessian::{FastHessianConfig, Pyramid};
use harris_core::{Error, Keypoint, Ties, float_mode};
use harris_gpu_kernels::abi::pyramid::{layer, triple};
use harris_gpu_kernels::abi::{Kernel, state};

use super::tables::Tables;
use crate::device::{Device, Mark};
use crate::exec::capacity::round_up;
use crate::exec::context::Destination;
use crate::exec::recordings::Key;
use crate::exec::upload;
use crate::exec::workspace::{Slot, Workspace};
use crate::integral::integrate;
use crate::launch::{self, grid};
use crate::list::keypoints::{self, KEYPOINT_BYTES};
use crate::list::sort::{KeyLists, SortOrder};
use crate::plan::Shape;

/// The shortest list that is expected, in keypoints.
const MIN_EXPECTED: usize = 1024;

/// A search for blobs, image after image.
#[derive(Debug)]
pub(crate) struct BlobSearch {
    config: FastHessianConfig,
    /// The tables that are on the device.
    tables: Option<Tables>,
    /// Blobs of the last image.
    last_found: Option<usize>,
    /// Peaks of the last image that were rejected.
    pub(crate) rejected: usize,
}

/// An image whose integral image is on the device.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Integrated {
    pub(crate) shape: Shape,
    /// Words from row to row of the integral image.
    pub(crate) pitch: u32,
}

/// Blobs that the device was asked for.
#[derive(Debug)]
pub(crate) struct PendingBlobs<D: Device> {
    pub(crate) image: Integrated,
    /// Keypoints that the list holds.
    pub(crate) capacity: usize,
    destination: Destination,
    state: D::Fetched,
    /// Keypoints that are fetched, and how many.
    keypoints: Option<(D::Fetched, usize)>,
}

impl<D: Device> Clone for PendingBlobs<D> {
    fn clone(&self) -> Self {
        Self { state: self.state.clone(), keypoints: self.keypoints.clone(), ..*self }
    }
}

/// The slot of the blobs' keypoints.
pub(crate) const KEYPOINTS: Slot = Slot::OtherKeypoints;

impl BlobSearch {
    pub(crate) fn new(config: FastHessianConfig) -> Self {
        Self { config, tables: None, last_found: None, rejected: 0 }
    }

    pub(crate) fn config(&self) -> &FastHessianConfig {
        &self.config
    }

    /// The most keypoints that are wanted.
    fn most(&self) -> usize {
        self.config.max_keypoints().unwrap_or(usize::MAX)
    }

    /// Forgets what is on the device.
    pub(crate) fn clear(&mut self) {
        (self.tables, self.last_found) = (None, None);
    }

    /// Uploads the tables of images of a size, unless they are on the device.
    pub(crate) fn set_tables<D: Device>(
        &mut self,
        device: &mut D,
        workspace: &mut Workspace<D>,
        pyramid: &Pyramid,
        levels: u32,
    ) -> Result<(), Error> {
        let least = self.config.min_determinant();
        let tables = float_mode::standard(|| Tables::new(pyramid, levels, least))?;
        if self.tables.as_ref() != Some(&tables) {
            self.tables = None;
            upload::words(device, workspace, Slot::Layers, &tables.layers)?;
            upload::words(device, workspace, Slot::Triples, &tables.triples)?;
            self.tables = Some(tables);
        }
        Ok(())
    }

    fn tables(&self) -> &Tables {
        self.tables.as_ref().expect("set before")
    }

    /// Asks for the determinants of all layers, in [`Slot::Response`].
    pub(crate) fn respond<D: Device>(
        &self,
        device: &mut D,
        workspace: &mut Workspace<D>,
        image: Integrated,
    ) -> Result<(), Error> {
        let tables = self.tables();
        workspace.fit::<f32>(device, Slot::Response, tables.responses)?;
        launch::hessian_determinants(
            device,
            grid(Kernel::hessian_determinants, tables.responses, 1),
            workspace.buffer(Slot::Integral),
            workspace.buffer(Slot::Layers),
            workspace.buffer(Slot::Response),
            image.shape.width,
            image.shape.height,
            image.pitch,
            (tables.layers.len() / layer::WORDS) as u32,
            tables.responses as u32,
        )?;
        device.mark(Mark::Responded)
    }

    /// Identifies the work of [`BlobSearch::enqueue`] on an image of this shape in [`Slot::Image`].
    /// `followed_by` identifies what follows it.
    pub(crate) fn key<D: Device>(
        &self,
        device: &D,
        workspace: &Workspace<D>,
        shape: &Shape,
        destination: Destination,
        followed_by: [u64; 2],
    ) -> Key {
        let address = |slot| device.address(workspace.buffer::<u8>(slot).memory);
        let mask = if shape.is_masked() { address(Slot::Mask) } else { 0 };
        let kind = u64::from(shape.channels) << 8 | (shape.depth as u64) << 4 | destination as u64;
        let capacity = self.capacity(workspace);
        [
            u64::from(shape.width) << 32 | u64::from(shape.height),
            kind,
            shape.stride as u64,
            address(Slot::Image),
            mask,
            shape.mask_pitch as u64,
            (capacity as u64) << 32 | self.expected(capacity) as u64,
            followed_by[0],
            followed_by[1],
        ]
    }

    /// Keypoints that the list of the next image holds.
    fn capacity<D: Device>(&self, workspace: &Workspace<D>) -> usize {
        let keys = workspace.capacity::<u64>(Slot::Keys);
        self.last_found.map_or(keys, |last| round_up(last).max(MIN_EXPECTED)).min(keys)
    }

    /// Asks for the blobs of the image in [`Slot::Image`].
    pub(crate) fn enqueue<D: Device>(
        &self,
        device: &mut D,
        workspace: &mut Workspace<D>,
        shape: Shape,
        destination: Destination,
    ) -> Result<PendingBlobs<D>, Error> {
        let image = Integrated { shape, pitch: integrate(device, workspace, &shape)? };
        self.respond(device, workspace, image)?;
        // As many as most images have. Where there are more, they are counted, and the search is
        // repeated.
        workspace.fit::<u64>(device, Slot::Keys, self.tables().sought / 256 + 256)?;
        self.search(device, workspace, image)?;
        let capacity = self.capacity(workspace);
        self.list(device, workspace, image, destination, capacity)
    }

    /// Fills [`Slot::Keys`] with all peaks, in no order, and counts them in the state.
    fn search<D: Device>(
        &self,
        device: &mut D,
        workspace: &mut Workspace<D>,
        image: Integrated,
    ) -> Result<(), Error> {
        let tables = self.tables();
        workspace.fit::<u32>(device, Slot::State, state::WORDS)?;
        device.clear(workspace.buffer::<u32>(Slot::State).memory, state::WORDS)?;
        let capacity = workspace.capacity::<u64>(Slot::Keys).min(u32::MAX as usize);
        let (mask, mask_pitch) = workspace.mask(image.shape.mask_pitch);
        launch::scale_peaks(
            device,
            grid(Kernel::scale_peaks, tables.sought, 1),
            workspace.buffer(Slot::Layers),
            workspace.buffer(Slot::Triples),
            workspace.buffer(Slot::Response),
            mask,
            workspace.buffer(Slot::State),
            workspace.buffer(Slot::Keys),
            capacity as u32,
            mask_pitch,
            self.config.threshold(),
            (tables.triples.len() / triple::WORDS) as u32,
            tables.sought as u32,
        )?;
        device.mark(Mark::Searched)
    }

    /// Sorts at most `capacity` peaks, writes their keypoints and fetches those that are expected,
    /// if they go to the host.
    ///
    /// Where there are more peaks, there are no keypoints.
    fn list<D: Device>(
        &self,
        device: &mut D,
        workspace: &mut Workspace<D>,
        image: Integrated,
        destination: Destination,
        capacity: usize,
    ) -> Result<PendingBlobs<D>, Error> {
        let tables = self.tables();
        workspace.fit::<u64>(device, Slot::OtherKeys, capacity)?;
        let lists = KeyLists { count: 1, pitch: capacity, limit: capacity };
        let order = SortOrder::Response(Ties::Ascending);
        let (keys, _) = lists.sort(device, workspace, (Slot::Keys, Slot::OtherKeys), order)?;
        workspace.fit::<f32>(device, Slot::Keypoints, 4 * capacity)?;
        // More of them are fetched than there are.
        workspace.fit_cleared::<f32>(device, KEYPOINTS, 4 * capacity)?;
        let state = workspace.buffer(Slot::State);
        let (unordered, ordered) = (workspace.buffer(Slot::Keypoints), workspace.buffer(KEYPOINTS));
        launch::write_blobs(
            device,
            grid(Kernel::write_blobs, capacity, 1),
            workspace.buffer(Slot::Integral),
            workspace.buffer(Slot::Layers),
            workspace.buffer(Slot::Triples),
            workspace.buffer(Slot::Response),
            workspace.buffer(keys),
            unordered,
            state,
            image.shape.width,
            image.shape.height,
            image.pitch,
            (tables.triples.len() / triple::WORDS) as u32,
            capacity as u32,
        )?;
        let grid = grid(Kernel::sort_ties, capacity, 1);
        launch::sort_ties(device, grid, unordered, ordered, state, capacity as u32)?;
        device.mark(Mark::Done)?;
        let count = self.expected(capacity);
        let keypoints = match destination.includes_host() {
            true => Some((device.fetch(ordered.memory, KEYPOINT_BYTES * count)?, count)),
            false => None,
        };
        let state = device.fetch(workspace.buffer::<u32>(Slot::State).memory, 4 * state::WORDS)?;
        Ok(PendingBlobs { image, capacity, destination, state, keypoints })
    }

    /// Keypoints that are fetched from a list without knowing its length.
    pub(crate) fn expected(&self, capacity: usize) -> usize {
        let expected = round_up(self.last_found.unwrap_or(0)).max(MIN_EXPECTED);
        expected.min(capacity).min(self.most())
    }

    /// Waits for the blobs. Where there are more than their list holds, asks for them again, and
    /// calls `again` for what follows them.
    ///
    /// Returns how many are wanted.
    pub(crate) fn complete<D: Device>(
        &mut self,
        device: &mut D,
        workspace: &mut Workspace<D>,
        pending: &mut PendingBlobs<D>,
        mut again: impl FnMut(&mut D, &mut Workspace<D>, &PendingBlobs<D>) -> Result<(), Error>,
    ) -> Result<usize, Error> {
        loop {
            device.wait()?;
            let mut words = [0_u32; state::WORDS];
            bytemuck::bytes_of_mut(&mut words).copy_from_slice(&device.fetched(&pending.state));
            let found = words[state::LENGTH] as usize;
            self.rejected = words[state::REJECTED_PEAKS] as usize;
            self.last_found = Some(found);
            if found <= pending.capacity {
                return Ok(found.min(self.most()));
            }
            if found > workspace.capacity::<u64>(Slot::Keys) {
                workspace.fit::<u64>(device, Slot::Keys, round_up(found))?;
                self.search(device, workspace, pending.image)?;
            }
            let capacity = round_up(found).min(workspace.capacity::<u64>(Slot::Keys));
            *pending = self.list(device, workspace, pending.image, pending.destination, capacity)?;
            again(device, workspace, pending)?;
        }
    }

    /// The first `count` keypoints of a complete list.
    pub(crate) fn read<D: Device>(
        &self,
        device: &mut D,
        workspace: &Workspace<D>,
        pending: &PendingBlobs<D>,
        count: usize,
    ) -> Result<Vec<Keypoint>, Error> {
        match &pending.keypoints {
            Some((keypoints, fetched)) if count <= *fetched => {
                keypoints::of_bytes(&device.fetched(keypoints)[..KEYPOINT_BYTES * count])
            }
            Some(_) | None => keypoints::download(device, workspace.buffer::<f32>(KEYPOINTS).memory, count),
        }
    }
}
