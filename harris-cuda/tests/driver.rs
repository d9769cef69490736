//! Errors where the driver is missing, damaged, incomplete, too old or without a device, and in
//! forked children.
//!
//! A process loads the driver once, so each case is a process of its own: this program runs again,
//! with a fake library in front of the system's.

#![cfg(target_os = "linux")]

mod gpu;

use std::path::{Path, PathBuf};
use std::process::Command;

use harris_cuda::{CudaDetector, CudaError, Error, HarrisConfig, devices, is_available};

/// Compiles `folder/libcuda.so.1`: it has all functions that the crate needs except `without`.
/// cuInit returns `init`, the driver's version is `version`, and there are `devices` devices. All
/// other functions do nothing.
fn fake(folder: &Path, init: u32, version: i32, devices: i32, without: &str) -> PathBuf {
    let table = include_str!("../src/driver/library.rs");
    let table = table.split("\n    needed {\n").nth(1).unwrap().split("\n    optional {\n").next().unwrap();
    let mut source =
        String::from("#![no_std]\n#[panic_handler]\nfn panic(_: &core::panic::PanicInfo) -> ! { loop {} }\n");
    let mut functions = 0;
    for name in table.split("fn ").skip(1).map(|rest| rest.split('(').next().unwrap()) {
        let (arguments, body) = match name {
            _ if name == without => continue,
            "cuInit" => ("_: u32", format!("{init}")),
            "cuDriverGetVersion" => ("to: *mut i32", format!("unsafe {{ *to = {version} }}; 0")),
            "cuDeviceGetCount" => ("to: *mut i32", format!("unsafe {{ *to = {devices} }}; 0")),
            "cuGetErrorName" => (
                "_: u32, to: *mut *const i8",
                "unsafe { *to = c\"CUDA_ERROR_FAKE\".as_ptr().cast() }; 0".to_owned(),
            ),
            _ => ("", "0".to_owned()),
        };
        source +=
            &format!("#[unsafe(no_mangle)] pub extern \"C\" fn {name}({arguments}) -> u32 {{ {body} }}\n");
        functions += 1;
    }
    assert!(functions > 30, "{functions}");
    let (file, library) = (folder.join("fake.rs"), folder.join("libcuda.so.1"));
    std::fs::write(&file, source).unwrap();
    let compiler = Command::new(std::env::var_os("RUSTC").unwrap_or_else(|| "rustc".into()))
        .args(["--edition=2024", "--crate-type=cdylib", "--crate-name=cuda"])
        .args(["-Cpanic=abort", "-Copt-level=1", "-Clink-arg=-nostartfiles", "-o"])
        .args([&library, &file])
        .output()
        .unwrap();
    assert!(compiler.status.success(), "{}", String::from_utf8_lossy(&compiler.stderr));
    library
}

/// Set in a process that only prints its answers, and may fork.
const FORKS: &str = "HARRIS_TEST_FORKS";

/// Whether this machine can compile a library.
fn has_compiler() -> bool {
    let has = Command::new(std::env::var_os("RUSTC").unwrap_or_else(|| "rustc".into()))
        .arg("--version")
        .output()
        .is_ok();
    if !has {
        println!("not tested: there is no rustc");
    }
    has
}

/// Runs the test `all_calls_return_the_same_error` with the library in a folder. Returns the line
/// of that process and the line of its forked child.
fn answers(folder: &Path) -> [String; 2] {
    let run = Command::new(std::env::current_exe().unwrap())
        .args(["--exact", "all_calls_return_the_same_error", "--nocapture", "--test-threads", "1"])
        .env("LD_LIBRARY_PATH", folder)
        .env("HARRIS_REQUIRE_GPU", "0")
        .env(FORKS, "1")
        .output()
        .unwrap();
    let text = String::from_utf8_lossy(&run.stdout).into_owned();
    assert!(run.status.success(), "{text}{}", String::from_utf8_lossy(&run.stderr));
    ["parent: ", "child: "].map(|who| {
        let line = text.lines().find_map(|line| line.split_once(who));
        line.unwrap_or_else(|| panic!("{text}")).1.to_owned()
    })
}

/// The other tests run this in a process of its own. Run directly, it checks the machine as it is.
#[test]
fn all_calls_return_the_same_error() {
    let print_answer = |who: &str| {
        let found = devices();
        assert_eq!(found.is_ok(), is_available());
        let text =
            found.as_ref().map_or_else(ToString::to_string, |devices| format!("{} devices", devices.len()));
        // A device of a fake library cannot be opened.
        if let Err(error) = found {
            let Error::Backend(made) = CudaDetector::new(HarrisConfig::default()).unwrap_err() else {
                panic!()
            };
            assert_eq!(made.downcast_ref(), Some(&error));
            assert_eq!(devices().unwrap_err(), error);
        }
        println!("{who}: {text}");
    };
    print_answer("parent");
    if std::env::var_os(FORKS).is_none() {
        return;
    }
    // SAFETY: no other test runs in this process, so the child finds no lock taken; it ends by
    // itself.
    #[allow(unsafe_code)]
    match unsafe { libc::fork() } {
        0 => {
            let told = std::panic::catch_unwind(|| print_answer("child"));
            // SAFETY: the child ends without running or writing anything of the parent's.
            #[allow(unsafe_code)]
            unsafe {
                libc::_exit(i32::from(told.is_err()))
            }
        }
        child => {
            let mut status = 0;
            // SAFETY: writes one number.
            #[allow(unsafe_code)]
            unsafe {
                libc::waitpid(child, &mut status, 0);
            }
            assert_eq!(status, 0);
        }
    }
}

const FORKED: &str = "CUDA was started before this process was forked, and cannot be used here; start workers as new processes";

#[test]
fn each_fault_has_its_error_also_in_a_forked_child() {
    if !has_compiler() {
        return;
    }
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path();
    const MISSING: &str =
        "the CUDA driver's library has no function cuMemAlloc_v2; it is damaged, too old, or another library";
    const OLD: &str = "the driver supports CUDA 11.4, but 11.8 is needed; update the driver";
    const NONE: &str = "there is no CUDA GPU on this machine, or none that this process may use";
    const MISMATCH: &str = "the CUDA driver does not start: CUDA_ERROR_FAKE (803)";
    for (init, version, devices, without, parent, child) in [
        (0, 13_000, 1, "cuMemAlloc_v2", MISSING, MISSING),
        (100, 13_000, 1, "", NONE, NONE),
        (803, 13_000, 1, "", MISMATCH, MISMATCH),
        (0, 11_040, 1, "", OLD, OLD),
        (0, 11_040, 1, "cuDevicePrimaryCtxRelease_v2", OLD, OLD),
        (0, 13_000, 0, "", NONE, FORKED),
        (0, 11_080, 2, "", "2 devices", FORKED),
    ] {
        fake(path, init, version, devices, without);
        assert_eq!(answers(path), [parent, child]);
    }
}

#[test]
fn an_unloadable_library_returns_no_driver() {
    let folder = tempfile::tempdir().unwrap();
    std::fs::write(
        folder.path().join("libcuda.so.1"),
        "not a library, but long enough to have a header of one",
    )
    .unwrap();
    for answer in answers(folder.path()) {
        assert!(
            answer.starts_with("there is no CUDA driver: ") && answer.contains("libcuda.so.1"),
            "{answer}"
        );
    }
    // Without any library the answer is `NoDriver` as well, unless the system has one.
    let nothing = tempfile::tempdir().unwrap();
    if matches!(devices(), Err(CudaError::NoDriver { .. })) {
        for answer in answers(nothing.path()) {
            assert!(answer.starts_with("there is no CUDA driver: libcuda.so.1: cannot open"), "{answer}");
        }
    }
}

/// Each call restores the context that was current on the thread.
#[test]
fn calls_restore_the_current_context() {
    if !gpu::present() {
        return;
    }
    std::thread::spawn(|| {
        assert!(gpu::current_context().is_null());
        let samples = vec![7_u8; 64 * 48];
        let view = harris_cuda::ImageView::gray(&samples, 64, 48).unwrap();
        let mut detector = CudaDetector::new(HarrisConfig::default()).unwrap();
        assert!(gpu::current_context().is_null());
        harris_cuda::Detector::detect(&mut detector, &view).unwrap();
        harris_cuda::Detector::detect_batch(&mut detector, &[view, view]).unwrap();
        assert!(gpu::current_context().is_null());
        drop(detector);
        assert!(gpu::current_context().is_null());
    })
    .join()
    .unwrap();
}
