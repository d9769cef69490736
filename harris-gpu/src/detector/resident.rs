//! Images that are in the device's memory, and results that stay there.

use harris_core::{Error, Subpixel, float_mode};
use harris_gpu_kernels::abi::state;

use super::{GpuDetector, work};
use crate::device::{Argument, Device, Mark, Resident};
use crate::exec::context::Destination;
use crate::exec::workspace::Slot;
use crate::keypoint_mask::MaskSample;
use crate::launch;
use crate::plan::{Search, Shape};
use crate::search::tiles::{RemainingRows, WorkTiles};

impl<D: Device> GpuDetector<D> {
    /// Finds the corners of an image that is in the device's memory, and writes their keypoints
    /// there: see [`GpuDetector::keypoints_on_device`]. Returns how many they are.
    ///
    /// # Errors
    /// As [`Detector::detect`](harris_core::Detector::detect), but that samples are not checked,
    /// nor their range.
    pub fn detect_on_device(&mut self, image: Resident<D::Memory>) -> Result<usize, Error> {
        self.begin_resident(image, true)?;
        self.finish_on_device()
    }

    /// Begins [`GpuDetector::detect_on_device`] without waiting for the device. The image's memory
    /// stays there until [`GpuDetector::finish_on_device`], or whatever is begun next.
    ///
    /// # Errors
    /// As [`GpuDetector::detect_on_device`].
    pub fn begin_on_device(&mut self, image: Resident<D::Memory>) -> Result<(), Error> {
        self.begin_resident(image, false)
    }

    /// Begins work on an image in the device's memory, whose content may change before it is
    /// finished unless it `is_repeatable`.
    fn begin_resident(&mut self, image: Resident<D::Memory>, is_repeatable: bool) -> Result<(), Error> {
        self.ran_staged = false;
        self.abandon_pending();
        self.check_size(image.width, image.height)?;
        let shape = Shape::resident(&image);
        self.workspace.put(Slot::Image, image.memory, image.pitch * image.height);
        if let Some((mask, pitch)) = image.mask {
            self.workspace.put(Slot::Mask, mask, pitch * image.height);
        }
        let marked = self.device.mark(Mark::Uploaded);
        let begun =
            marked.and_then(|()| float_mode::standard(|| self.enqueue_resident(shape, is_repeatable)));
        if begun.is_err() {
            let _ = self.device.wait();
            self.release_resident(&shape, Destination::Device);
        }
        begun
    }

    fn enqueue_resident(&mut self, shape: Shape, is_repeatable: bool) -> Result<(), Error> {
        let plan = self.set_plan(&shape);
        if !plan.can_overlap() {
            return self.enqueue_uploaded(shape, plan, is_repeatable, Destination::Device);
        }
        let (mut execution, recordings) = self.execution(shape, plan);
        let tiles = WorkTiles::new(&execution, false, is_repeatable).expect("a plan with a sweep");
        let lists = work::find(&mut execution, recordings, &tiles, RemainingRows::ALL, Destination::Device)?;
        self.job =
            Some(super::Job { shape, plan, tiles: Some(tiles), destination: Destination::Device, lists });
        Ok(())
    }

    /// How many corners the image has that was begun with [`GpuDetector::begin_on_device`], when
    /// all of them are in the device's memory.
    ///
    /// # Errors
    /// As [`Detector::detect`](harris_core::Detector::detect).
    ///
    /// # Panics
    /// Where none was begun.
    pub fn finish_on_device(&mut self) -> Result<usize, Error> {
        self.complete(|_, _, counts, _| Ok(counts[0]))
    }

    /// Keypoints of the image last begun with [`GpuDetector::begin_on_device`].
    ///
    /// Each has x, y, scale and response as 32-bit floats. They are complete when the queue's work
    /// is done, and stay until the next image is begun.
    ///
    /// # Panics
    /// Where there was no image.
    #[must_use]
    pub fn keypoints_on_device(&self) -> &D::Memory {
        self.workspace.buffer::<f32>(Slot::Keypoints).memory
    }

    /// Writes a mask of the first `count` keypoints to the device's memory, for an image of this
    /// size.
    ///
    /// The keypoints are those of [`GpuDetector::keypoints_on_device`]. The mask is 1 at the pixel
    /// of each, else 0, row after row. It is complete when this returns.
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

    /// Number of corners of the image last begun with [`GpuDetector::begin_on_device`]: the memory
    /// that has it as a 32-bit word, and the word's offset in bytes.
    ///
    /// It is greater than [`GpuDetector::keypoint_capacity`] where the list is not complete
    /// before [`GpuDetector::finish_on_device`].
    ///
    /// # Panics
    /// Where there was no image.
    #[must_use]
    pub fn count_on_device(&self) -> (&D::Memory, usize) {
        (self.workspace.buffer::<u32>(Slot::State).memory, size_of::<u32>() * state::LENGTH)
    }

    /// Capacity of [`GpuDetector::keypoints_on_device`], in keypoints; 0 before the first image.
    #[must_use]
    pub fn keypoint_capacity(&self) -> usize {
        self.capacity.as_ref().map_or(0, |capacity| capacity.corners)
    }

    /// Whether [`GpuDetector::finish_on_device`] may read an image again that was begun with
    /// [`GpuDetector::begin_on_device`], or its mask, where its list overflowed.
    #[must_use]
    pub fn may_read_again(&self) -> bool {
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

    /// Writes the responses of an image that is in the device's memory to other memory there, row
    /// after row without gaps, as 32-bit floats: see [`GpuDetector::responses_on_device`]. A mask
    /// has no part in it.
    ///
    /// # Errors
    /// As [`Detector::response`](harris_core::Detector::response), but that samples are not
    /// checked.
    pub fn respond_on_device(&mut self, image: Resident<D::Memory>) -> Result<(), Error> {
        self.ran_staged = false;
        self.abandon_pending();
        self.check_size(image.width, image.height)?;
        let shape = Shape { mask_pitch: 0, ..Shape::resident(&image) };
        self.workspace.put(Slot::Image, image.memory, image.pitch * image.height);
        let responded = (self.device.mark(Mark::Uploaded))
            .and_then(|()| self.respond(&shape))
            .and_then(|()| self.device.mark(Mark::Done));
        let waited = self.device.wait();
        self.workspace.take(Slot::Image);
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
