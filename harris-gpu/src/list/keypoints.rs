//! Keypoints from the bytes that kernels write.

use harris_core::{Error, Keypoint, memory};

use crate::device::Device;

/// Bytes of a keypoint.
pub(crate) const KEYPOINT_BYTES: usize = size_of::<[f32; 4]>();

/// All keypoints of some bytes.
pub(crate) fn of_bytes(bytes: &[u8]) -> Result<Vec<Keypoint>, Error> {
    let keypoint = |bytes: &[u8]| {
        let [x, y, scale, response]: [f32; 4] = bytemuck::pod_read_unaligned(bytes);
        Keypoint { x, y, scale, response }
    };
    memory::collect(bytes.chunks_exact(KEYPOINT_BYTES).map(keypoint))
}

/// Waits for the first `count` keypoints of a list.
pub(crate) fn download<D: Device>(
    device: &mut D,
    list: &D::Memory,
    count: usize,
) -> Result<Vec<Keypoint>, Error> {
    let mut bytes = memory::zeroed(KEYPOINT_BYTES * count)?;
    device.download(list, &mut bytes)?;
    of_bytes(&bytes)
}
