//! Sample types of keypoint masks.

use bytemuck::Pod;
use harris_gpu_kernels::Word;
use harris_gpu_kernels::abi::Kernel;

/// A sample of a keypoint mask, which is 0 or 1: `u8`, or `f32` for programs that compute on
/// floats.
pub trait MaskSample: Word + Pod {
    /// The kernel that writes the ones.
    #[doc(hidden)]
    const KERNEL: Kernel;
}

impl MaskSample for u8 {
    const KERNEL: Kernel = Kernel::keypoint_mask_u8;
}

impl MaskSample for f32 {
    const KERNEL: Kernel = Kernel::keypoint_mask_f32;
}
