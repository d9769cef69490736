//! GPUs that can start a kernel before the one ahead of it has ended.

/// The least compute capability of such.
pub const LEAST: (u32, u32) = (9, 0);

/// PTX as they are to have it: what it says that it is for is theirs, and their instructions are remarks no more.
#[cfg(not(target_arch = "nvptx64"))]
#[must_use]
pub fn ptx(ptx: &str) -> alloc::string::String {
    ptx.replacen("\n.target sm_75", "\n.target sm_90", 1).replace("// from sm_90 on: ", "")
}
