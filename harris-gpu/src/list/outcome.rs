//! What came of an execution: complete lists, or what must be done again.

use harris_core::{Error, ImageView, Keypoint, memory};
use harris_gpu_kernels::abi::state;

use super::keypoints::{self, KEYPOINT_BYTES};
use super::min_distance;
use crate::device::Device;
use crate::exec::context::{Execution, PendingLists};
use crate::exec::prediction::is_verified;
use crate::exec::workspace::Slot;
use crate::plan::Shape;

/// What came of an execution.
pub(crate) enum Outcome {
    /// How many keypoints each image has in [`Slot::Keypoints`].
    Found(Vec<usize>),
    /// Lists overflowed, and are to be made again: the capacity is now large enough.
    RebuildLists,
    /// A predicted threshold did not hold: the image is to be searched again.
    SearchAgain,
}

/// Waits for the lists.
pub(crate) fn wait<D: Device>(
    execution: &mut Execution<'_, D>,
    lists: &PendingLists<D>,
) -> Result<Outcome, Error> {
    execution.device.wait()?;
    let mut states: Vec<[u32; state::WORDS]> = words(&execution.device.fetched(&lists.states))?;
    if let Some(image) = states.iter().position(|state| state[state::INVALID] != 0) {
        check_samples(execution, image)?;
    }
    if !states.iter().all(is_verified) {
        return Ok(Outcome::SearchAgain);
    }
    if execution.capacity.grow(&states) {
        for state in &mut states {
            (state[state::LENGTH], state[state::BUCKET_OVERFLOW]) = (0, 0);
        }
        execution.set_states(&states)?;
        return Ok(Outcome::RebuildLists);
    }
    let config = execution.context.config;
    let most = config.max_corners().unwrap_or(usize::MAX);
    let counts: Vec<_> = states.iter().map(|state| (state[state::LENGTH] as usize).min(most)).collect();
    execution.capacity.last_corners = counts.iter().copied().max().unwrap_or(0);
    let word = if min_distance::is_enforced(config) { state::LENGTH_BEFORE_DISTANCE } else { state::LENGTH };
    execution.capacity.last_sorted = states.iter().map(|state| state[word] as usize).max().unwrap_or(0);
    Ok(Outcome::Found(counts))
}

/// Finds the invalid sample that a kernel noted in an image of floats; returns the error.
fn check_samples<D: Device>(execution: &mut Execution<'_, D>, image: usize) -> Result<(), Error> {
    let shape = execution.context.shape;
    let Shape { width, height, channels, stride, .. } = shape;
    let bytes = shape.bytes();
    let memory = execution.workspace.buffer::<u8>(Slot::Image).memory;
    let fetched = execution.device.fetch(memory, bytes * (image + 1))?;
    execution.device.wait()?;
    let samples: Vec<f32> = words(&execution.device.fetched(&fetched)[bytes * image..])?;
    let (width, height, channels) = (width as usize, height as usize, channels as usize);
    ImageView::strided(&samples, width, height, channels, stride)?.check_samples()
}

/// Reads the keypoints of each image, when it is known how many there are.
pub(crate) fn read<D: Device>(
    execution: &mut Execution<'_, D>,
    lists: &PendingLists<D>,
    counts: &[usize],
) -> Result<Vec<Vec<Keypoint>>, Error> {
    match &lists.keypoints {
        Some((keypoints, each)) if counts.len() > 1 || counts[0] <= *each => {
            let lists = execution.device.fetched(keypoints);
            let read = |(list, count): (&[u8], &usize)| keypoints::of_bytes(&list[..KEYPOINT_BYTES * count]);
            lists.chunks(KEYPOINT_BYTES * each).zip(counts).map(read).collect()
        }
        Some(_) | None => {
            let list = execution.workspace.buffer::<f32>(Slot::Keypoints).memory;
            Ok(vec![keypoints::download(execution.device, list, counts[0])?])
        }
    }
}

/// Words from bytes of any alignment.
fn words<T: bytemuck::Pod>(bytes: &[u8]) -> Result<Vec<T>, Error> {
    let mut words = memory::zeroed::<T>(bytes.len() / size_of::<T>())?;
    bytemuck::cast_slice_mut(&mut words).copy_from_slice(bytes);
    Ok(words)
}
