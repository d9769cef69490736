//! Images that are in the device's memory, and results that stay there.

use harris_core::{Error, Subpixel, float_mode};
use harris_gpu_kernels::abi::state;

use super::{GpuDetector, work};
use crate::detect_on_device::DetectOnDevice;
use crate::device::{Argument, Device, Mark, Resident};
use crate::exec::context::Destination;
use crate::exec::workspace::Slot;
use crate::keypoint_mask::MaskSample;
use crate::launch;
use crate::plan::{Search, Shape};
use crate::search::tiles::{RemainingRows, WorkTiles};

impl<D: Device> DetectOnDevice for GpuDetector<D> {
    type Device = D;

    fn begin_on_device(&mut self, image: Resident<D::Memory>, is_repeatable: bool) -> Result<(), Error> {
        self.begin_resident(image, is_repeatable, Destination::Device)
    }

    fn finish_on_device(&mut self) -> Result<usize, Error> {
        self.complete(|_, _, counts, _| Ok(counts[0]))
    }

    fn device(&self) -> &D {
        Self::device(self)
    }

    fn keypoints_on_device(&self) -> &D::Memory {
        self.workspace.buffer::<f32>(Slot::Keypoints).memory
    }

    fn count_on_device(&self) -> (&D::Memory, usize) {
        (self.workspace.buffer::<u32>(Slot::State).memory, size_of::<u32>() * state::LENGTH)
    }

    fn keypoint_capacity(&self) -> usize {
        self.capacity.as_ref().map_or(0, |capacity| capacity.corners)
    }

    fn may_read_again(&self) -> bool {
        let reads_image = match self.config().subpixel() {
            Subpixel::None => false,
            Subpixel::Quadratic | Subpixel::Forstner { .. } => true,
        };
        let reads_mask = self.job.as_ref().is_some_and(|job| match job.plan.search {
            Search::ThreadPerColumn => job.shape.is_masked(),
            Search::FusedSweep { .. } | Search::MapSweep(_) => false,
        });
        reads_image || reads_mask
    }
}

impl<D: Device> GpuDetector<D> {
    /// Begins work on an image in the device's memory.
    pub(crate) fn begin_resident(
        &mut self,
        image: Resident<D::Memory>,
        is_repeatable: bool,
        destination: Destination,
    ) -> Result<(), Error> {
        self.ran_staged = false;
        self.abandon_pending();
        self.check_size(image.width, image.height)?;
        // Samples are not on the host, where their range would be found.
        self.ranges.clear();
        let shape = self.workspace.lend_image(image);
        let marked = self.device.mark(Mark::Uploaded);
        let begun = marked
            .and_then(|()| float_mode::standard(|| self.enqueue_resident(shape, is_repeatable, destination)));
        if begun.is_err() {
            let _ = self.device.wait();
            self.workspace.return_lent();
        }
        begun
    }

    fn enqueue_resident(
        &mut self,
        shape: Shape,
        is_repeatable: bool,
        destination: Destination,
    ) -> Result<(), Error> {
        let plan = self.set_plan(&shape);
        if !plan.can_overlap() {
            return self.enqueue_uploaded(shape, plan, is_repeatable, destination);
        }
        let (mut execution, recordings) = self.execution(shape, plan);
        let tiles = WorkTiles::new(&execution, false, is_repeatable).expect("a plan with a sweep");
        let lists = work::find(&mut execution, recordings, &tiles, RemainingRows::ALL, destination)?;
        self.job = Some(super::Job { shape, plan, tiles: Some(tiles), destination, lists });
        Ok(())
    }

    /// Writes a mask of the first `count` keypoints to the device's memory, for an image of this
    /// size.
    ///
    /// The keypoints are those of [`DetectOnDevice::keypoints_on_device`]. The mask is 1 at the
    /// pixel of each, else 0, row after row. It is complete when this returns.
    ///
    /// # Errors
    /// Where the device fails.
    ///
    /// # Panics
    /// Where there are fewer keypoints.
    pub fn keypoint_mask_on_device<T: MaskSample>(
        &mut self,
        count: usize,
        width: usize,
        height: usize,
    ) -> Result<&D::Memory, Error> {
        let corners = self.keypoint_capacity();
        let Self { device, workspace, .. } = self;
        let words = (width * height * size_of::<T>()).div_ceil(size_of::<u32>());
        workspace.fit::<u32>(device, Slot::KeypointMask, words)?;
        device.clear(workspace.buffer::<u32>(Slot::KeypointMask).memory, words)?;
        if count > 0 {
            assert!(count <= corners, "more keypoints than the list has");
            let grid = launch::grid(T::KERNEL, count, 1);
            let [keypoints, mask] = [Slot::Keypoints, Slot::KeypointMask]
                .map(|slot| Argument::Memory(workspace.buffer::<u32>(slot).memory));
            let [count, width, height] =
                [count, width, height].map(|number| Argument::Word((number as u32).into()));
            device.launch(T::KERNEL, grid, &[keypoints, mask, count, width, height])?;
        }
        device.wait()?;
        Ok(workspace.buffer::<T>(Slot::KeypointMask).memory)
    }

    /// Reads as many pixels as `mask` has, from the first on, of the mask that
    /// [`GpuDetector::keypoint_mask_on_device`] wrote.
    ///
    /// # Errors
    /// Where the device fails.
    ///
    /// # Panics
    /// Where there is no mask.
    pub fn read_keypoint_mask<T: MaskSample>(&mut self, mask: &mut [T]) -> Result<(), Error> {
        let memory = self.workspace.buffer::<u32>(Slot::KeypointMask).memory;
        self.device.download(memory, bytemuck::cast_slice_mut(mask))
    }

    /// Writes the responses of an image that is in the device's memory to other memory there, row
    /// after row without gaps, as 32-bit floats: see [`GpuDetector::responses_on_device`].
    ///
    /// A mask has no part in it.
    ///
    /// # Errors
    /// As [`Detector::response`](harris_core::Detector::response), but that samples are not
    /// checked.
    pub fn respond_on_device(&mut self, image: Resident<D::Memory>) -> Result<(), Error> {
        self.ran_staged = false;
        self.abandon_pending();
        self.check_size(image.width, image.height)?;
        let shape = self.workspace.lend_image(Resident { mask: None, ..image });
        let responded = (self.device.mark(Mark::Uploaded))
            .and_then(|()| self.respond(&shape))
            .and_then(|()| self.device.mark(Mark::Done));
        let waited = self.device.wait();
        self.workspace.return_lent();
        responded.and(waited)
    }

    /// The memory that has the responses of the image that [`GpuDetector::respond_on_device`] was
    /// last given, until the next image.
    ///
    /// # Panics
    /// Where there was no image.
    #[must_use]
    pub fn responses_on_device(&self) -> &D::Memory {
        self.workspace.buffer::<f32>(Slot::Response).memory
    }

    /// Reads as many responses as `map` has, from the first on, of those that
    /// [`GpuDetector::respond_on_device`] wrote.
    ///
    /// # Errors
    /// Where the device fails.
    ///
    /// # Panics
    /// Where there are no responses.
    pub fn read_responses(&mut self, map: &mut [f32]) -> Result<(), Error> {
        let memory = self.workspace.buffer::<f32>(Slot::Response).memory;
        self.device.download(memory, bytemuck::cast_slice_mut(map))
    }
}
