//! A stand-in for CUDA's driver library: every function reports that there is no device.

use std::collections::BTreeSet;
use std::fs;
use std::path::Path;
use std::process::Command;

use anyhow::{Context, Result, ensure};

use crate::generated::root;

/// CUDA_ERROR_NO_DEVICE.
const NO_DEVICE: u32 = 100;

/// Writes `folder/lib64/libcuda.so`, also as libcuda.so.1, by which name programs look for it.
pub(crate) fn write(folder: &Path) -> Result<()> {
    let library = folder.join("lib64");
    fs::create_dir_all(&library).with_context(|| format!("cannot make {}", library.display()))?;
    let mut source =
        String::from("#![no_std]\n#[panic_handler]\nfn panic(_: &core::panic::PanicInfo) -> ! { loop {} }\n");
    for name in functions()? {
        source += &format!("#[unsafe(no_mangle)]\npub extern \"C\" fn {name}() -> u32 {{ {NO_DEVICE} }}\n");
    }
    let file = library.join("stub.rs");
    fs::write(&file, source)?;
    let target = library.join("libcuda.so");
    let run = Command::new(std::env::var_os("RUSTC").unwrap_or_else(|| "rustc".into()))
        .args([
            "--edition=2024",
            "--crate-type=cdylib",
            "--crate-name=cuda",
            "-Cpanic=abort",
            "-Copt-level=1",
        ])
        .args(["-Clink-arg=-Wl,-soname,libcuda.so.1", "-Clink-arg=-nostartfiles"])
        .arg("-o")
        .args([&target, &file])
        .output()
        .context("cannot run rustc")?;
    ensure!(run.status.success(), "the stand-in does not compile: {}", String::from_utf8_lossy(&run.stderr));
    fs::copy(&target, library.join("libcuda.so.1"))?;
    fs::remove_file(file)?;
    let folder = folder.canonicalize()?;
    println!("export CUDA_LIBRARY_PATH={0} LD_LIBRARY_PATH={0}/lib64", folder.display());
    Ok(())
}

/// The driver's functions that cust or harris-cuda declare.
fn functions() -> Result<BTreeSet<String>> {
    let metadata = Command::new(std::env::var_os("CARGO").unwrap_or_else(|| "cargo".into()))
        .current_dir(root())
        .args(["metadata", "--format-version=1", "--locked"])
        .output()
        .context("cannot run cargo")?;
    ensure!(metadata.status.success(), "cargo metadata: {}", String::from_utf8_lossy(&metadata.stderr));
    let metadata: serde_json::Value = serde_json::from_slice(&metadata.stdout)?;
    let packages = metadata["packages"].as_array().context("packages in cargo's metadata")?;
    let folder = |name: &str| {
        let package = packages.iter().find(|package| package["name"] == name)?;
        Path::new(package["manifest_path"].as_str()?).parent().map(Path::to_owned)
    };
    let cust = folder("cust_raw").context("cust_raw among the dependencies")?.join("src/cuda.rs");
    let own = root().join("harris-cuda/src/driver/ffi.rs");
    let mut names = BTreeSet::new();
    for file in [cust, own] {
        let text = fs::read_to_string(&file).with_context(|| format!("cannot read {}", file.display()))?;
        for declaration in text.split("fn cu").skip(1) {
            let rest: String =
                declaration.chars().take_while(|c| c.is_ascii_alphanumeric() || *c == '_').collect();
            names.insert(format!("cu{rest}"));
        }
    }
    ensure!(names.len() > 100, "only {} functions found", names.len());
    Ok(names)
}
