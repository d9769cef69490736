//! Kernels that start before the previous one has ended, on GPUs that support it.

/// Least compute capability of these GPUs.
pub const LEAST: (u32, u32) = (9, 0);

/// PTX for these GPUs: it has their target, and their instructions are no longer commented out.
#[cfg(not(target_arch = "nvptx64"))]
#[must_use]
pub fn ptx(ptx: &str) -> alloc::string::String {
    ptx.replacen("\n.target sm_75", "\n.target sm_90", 1).replace("// from sm_90 on: ", "")
}
