//! What masks of keypoints are made of.

use bytemuck::Pod;
use harris_gpu_kernels::Word;
use harris_gpu_kernels::abi::Kernel;

/// A sample of a mask of keypoints, which is 0 or 1: `u8`, or `f32` for those who go on with floats.
pub trait MaskSample: Word + Pod {
    /// What writes the ones.
    #[doc(hidden)]
    const KERNEL: Kernel;
}

impl MaskSample for u8 {
    const KERNEL: Kernel = Kernel::keypoint_mask_u8;
}

impl MaskSample for f32 {
    const KERNEL: Kernel = Kernel::keypoint_mask_f32;
}
