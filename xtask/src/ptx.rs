//! The PTX in harris-cuda/ptx/kernels.ptxz: the kernels of harris-gpu-kernels, compiled by rustc's
//! NVPTX backend.

use std::ffi::OsString;
use std::fmt::Write as _;
use std::fs;
use std::path::{Path, PathBuf};
use std::process::Command;

use anyhow::{Context, Result, bail, ensure};
use harris_cuda::ptx;
use harris_gpu_kernels::abi::{Kernel, early_start, specialise};
use sha2::{Digest, Sha256};

use crate::generated::{root, write_or_check};

const COMMAND: &str = "cargo xtask ptx";

/// The first release of rustc whose NVPTX backend compiles the kernels correctly.
const OLDEST: (u32, u32) = (1, 96);

/// Flags of the compiler. The MIR pass JumpThreading of 1.96 would copy barriers and shuffles into
/// both arms of a branch.
const FLAGS: &str = "-C target-cpu=sm_75 -C target-feature=+ptx78 -C linker=/bin/true -Zunstable-options \
                     -Cpanic=immediate-abort -Zmir-enable-passes=-JumpThreading";
const MORE_FLAGS: [&str; 2] = ["--emit=asm", "-Cllvm-args=-unroll-threshold=600"];

/// Architectures that the PTX is assembled for. A kernel has equal numbers of registers for sm_86
/// and sm_89.
const TARGETS: [&str; 6] = ["sm_75", "sm_80", "sm_89", "sm_90", "sm_100", "sm_120"];

/// Makes the PTX, or with `check` checks that the committed PTX is that of the sources. Then checks
/// its instructions and assembles it. `text` is a file to write it to as text.
pub(crate) fn make(check: bool, ptxas: Option<&Path>, text: Option<&Path>) -> Result<()> {
    let path = root().join("harris-cuda/ptx/kernels.ptxz");
    let sources = hash_of_sources()?;
    let compiler = Compiler::find()?;
    let made = if check {
        let committed = fs::read(&path).with_context(|| format!("cannot read the PTX; run {COMMAND}"))?;
        let committed =
            ptx::text(&committed).with_context(|| format!("{} is damaged; run {COMMAND}", path.display()))?;
        let header =
            |key: &str| committed.lines().find_map(|line| line.strip_prefix(key)).unwrap_or_default();
        ensure!(header(SOURCES) == sources, "{} does not match the sources; run {COMMAND}", path.display());
        match &compiler {
            Some(compiler) if compiler.version == header(COMPILER) => {
                let recompiled = compiler.compile(&sources)?;
                ensure!(recompiled == committed, "{} is stale; run {COMMAND}", path.display());
                println!("recompiled by {}: identical", compiler.version);
            }
            _ => println!("not recompiled: {} is not installed", header(COMPILER)),
        }
        committed
    } else {
        let Some(compiler) = compiler else {
            bail!(
                "no compiler: rustc {}.{} or later with its component rust-src is needed",
                OLDEST.0,
                OLDEST.1
            );
        };
        let made = compiler.compile(&sources)?;
        write_or_check(&path, &ptx::archive(&made), false, COMMAND)?;
        println!("compiled by {}", compiler.version);
        made
    };
    println!("{} lines", made.lines().count());
    if let Some(text) = text {
        fs::write(text, &made).with_context(|| format!("cannot write {}", text.display()))?;
    }
    lint(&made)?;
    match ptxas {
        Some(ptxas) => assemble(ptxas, &made),
        None => Ok(()),
    }
}

const SOURCES: &str = "// sources: ";
const COMPILER: &str = "// compiler: ";

/// Returns a hash of all inputs of the compiler.
fn hash_of_sources() -> Result<String> {
    let mut files = Vec::new();
    collect(&root().join("harris-gpu-kernels/src"), &mut files)?;
    files.sort();
    let mut hash = Sha256::new();
    hash.update(FLAGS);
    hash.update(MORE_FLAGS.concat());
    hash.update(launch_bounds());
    for file in files {
        let name = file.strip_prefix(root())?.to_string_lossy().replace('\\', "/");
        hash.update(name);
        // Line ends may differ between checkouts.
        hash.update(fs::read_to_string(&file)?.replace("\r\n", "\n"));
    }
    Ok(hash.finalize().iter().fold(String::new(), |mut text, byte| {
        let _ = write!(text, "{byte:02x}");
        text
    }))
}

fn collect(folder: &Path, files: &mut Vec<PathBuf>) -> Result<()> {
    for entry in fs::read_dir(folder)? {
        let path = entry?.path();
        if path.is_dir() {
            collect(&path, files)?;
        } else {
            files.push(path);
        }
    }
    Ok(())
}

/// Returns the table of launch bounds that LLVM reads, because Rust has no attribute for them.
fn launch_bounds() -> String {
    Kernel::ALL.iter().fold(String::new(), |mut table, kernel| {
        let _ = writeln!(table, "{},nvvm.maxntid={}", kernel.name(), kernel.threads());
        if let Some(blocks) = kernel.blocks_held() {
            let _ = writeln!(table, "{},nvvm.minctasm={blocks}", kernel.name());
        }
        table
    })
}

/// A compiler with the NVPTX backend and the source of `core`.
struct Compiler {
    rustc: OsString,
    version: String,
}

impl Compiler {
    /// Finds the compiler: `HARRIS_DEVICE_RUSTC` if set, else the first of `rustc` and
    /// `/usr/bin/rustc` that is new enough.
    fn find() -> Result<Option<Self>> {
        let named = std::env::var_os("HARRIS_DEVICE_RUSTC");
        let candidates =
            named.map_or_else(|| vec!["rustc".into(), "/usr/bin/rustc".into()], |rustc| vec![rustc]);
        for rustc in candidates {
            let ask = |question: &[&str]| {
                let answer = Command::new(&rustc).args(question).output().ok()?;
                answer.status.success().then(|| String::from_utf8_lossy(&answer.stdout).trim().to_owned())
            };
            let Some(version) = ask(&["--version"]) else { continue };
            let source = ask(&["--print", "sysroot"])
                .map(|sysroot| Path::new(&sysroot).join("lib/rustlib/src/rust/library/core"));
            if release(&version) >= OLDEST && source.is_some_and(|source| source.exists()) {
                return Ok(Some(Self { rustc, version }));
            }
        }
        Ok(None)
    }

    fn compile(&self, sources: &str) -> Result<String> {
        let target = root().join("target/ptx");
        fs::create_dir_all(&target)?;
        let bounds = target.join("launch_bounds.csv");
        fs::write(&bounds, launch_bounds())?;
        let deps = target.join("nvptx64-nvidia-cuda/release/deps");
        // Files of earlier builds have other names, so they are removed first.
        if deps.exists() {
            for file in assembly(&deps)? {
                fs::remove_file(file)?;
            }
        }
        // Compiles again even if the sources are unchanged: cargo does not see the table of launch bounds.
        let mut cargo = Command::new(std::env::var_os("CARGO").unwrap_or_else(|| "cargo".into()));
        cargo
            .current_dir(root())
            .args(["rustc", "--quiet", "--release", "--locked", "--package", "harris-gpu-kernels", "--lib"])
            .args(["--crate-type", "cdylib", "-Zbuild-std=core", "--target", "nvptx64-nvidia-cuda"])
            .arg("--target-dir")
            .arg(&target)
            .arg("--")
            .args(MORE_FLAGS)
            .arg(format!("-Cllvm-args=-forceattrs-csv-path={}", bounds.display()))
            .env("RUSTC", &self.rustc)
            .env("RUSTC_BOOTSTRAP", "1")
            .env("RUSTFLAGS", FLAGS)
            .env("CARGO_PROFILE_RELEASE_LTO", "fat")
            .env("CARGO_PROFILE_RELEASE_CODEGEN_UNITS", "1")
            .env_remove("CARGO_ENCODED_RUSTFLAGS")
            .env_remove("RUSTC_WRAPPER")
            .env_remove("RUSTC_WORKSPACE_WRAPPER")
            .env_remove("RUSTUP_TOOLCHAIN");
        let run = cargo.output().context("cannot run cargo")?;
        ensure!(run.status.success(), "the kernels do not compile: {}", String::from_utf8_lossy(&run.stderr));
        let [file] = &assembly(&deps)?[..] else {
            bail!("the compiler wrote no PTX, or several files of it")
        };
        let ptx = fs::read_to_string(file)?;
        Ok(format!(
            "// The kernels of harris-gpu-kernels, by {COMMAND}. Do not edit.\n{SOURCES}{sources}\n{COMPILER}{}\n{ptx}",
            self.version
        ))
    }
}

fn assembly(folder: &Path) -> Result<Vec<PathBuf>> {
    let mut found = Vec::new();
    for entry in fs::read_dir(folder)? {
        let path = entry?.path();
        if path.extension().is_some_and(|extension| extension == "s") {
            found.push(path);
        }
    }
    Ok(found)
}

fn release(version: &str) -> (u32, u32) {
    let mut numbers = version.split(|c: char| !c.is_ascii_digit()).filter_map(|part| part.parse().ok());
    (numbers.next().unwrap_or(0), numbers.next().unwrap_or(0))
}

/// Instructions that are allowed with a remark, because a kernel asks for them: see
/// `Simt::fma` and `Simt::sqrt_in_range`.
const ALLOWED: [(&str, &str); 2] = [
    ("fma.rn.f32", "// exact but for one rounding"),
    ("rsqrt.approx.ftz.f32", "// where a root starts that is rounded once"),
];

/// Checks that every kernel exists and has launch bounds, and that no instruction is slow or
/// inexact.
fn lint(ptx: &str) -> Result<()> {
    let mut kernels = Vec::new();
    for (number, line) in (1..).zip(ptx.lines()) {
        let code = line.split("//").next().unwrap_or_default().trim();
        if let Some(name) = code.strip_prefix(".visible .entry ") {
            kernels.push(name.trim_end_matches(['(', ')']).to_owned());
        }
        let is_allowed = |(instruction, remark)| code.starts_with(instruction) && line.ends_with(remark);
        if let Some(fault) = fault(code).filter(|_| !ALLOWED.into_iter().any(is_allowed)) {
            bail!("PTX, line {number}: {fault}: {code}");
        }
    }
    for kernel in Kernel::ALL {
        ensure!(
            kernels.iter().any(|name| name == kernel.name()),
            "the PTX lacks the kernel {}",
            kernel.name()
        );
    }
    let bounds = ptx.lines().filter(|line| line.starts_with(".maxntid")).count();
    ensure!(bounds == Kernel::ALL.len(), "{bounds} of {} kernels have launch bounds", Kernel::ALL.len());
    println!("{} kernels checked", kernels.len());
    Ok(())
}

/// Returns what is wrong with a line of PTX, if anything.
fn fault(code: &str) -> Option<&'static str> {
    if code.starts_with(".local") {
        return Some("local memory");
    }
    // Skip the predicate.
    let code = match code.strip_prefix('@') {
        Some(guarded) => guarded.split_once(char::is_whitespace).map_or("", |(_, code)| code.trim_start()),
        None => code,
    };
    let instruction = code.split(|c: char| c.is_whitespace() || c == ';').next().unwrap_or_default();
    let parts: Vec<_> = instruction.split('.').collect();
    let has = |part: &str| parts[1..].contains(&part);
    match parts[0] {
        "call" => Some("a call"),
        "ld" | "st" | "atom" | "red" if !has("global") && !has("shared") && !has("param") => {
            Some("a generic access")
        }
        "ld" | "st" if has("local") => Some("local memory"),
        "fma" | "mad" if has("f32") || has("f64") => Some("a fused multiply-add"),
        "add" | "sub" | "mul" | "div" | "sqrt" if has("f32") && !has("rn") => {
            Some("an operation without a rounding mode")
        }
        _ if has("ftz") => Some("flushing to zero"),
        _ if has("approx") => Some("an approximation"),
        _ => None,
    }
}

/// The architecture for which samples of the variants of kernels are assembled. For the others only
/// the first is, which most configurations use.
const TARGET_OF_SAMPLES: &str = "sm_90";

/// Bytes that the first variant of a kernel may spill: registers that loops do not use.
const MAX_SPILLED: u32 = 32;

/// Assembles for every architecture. First variants must spill no more than [`MAX_SPILLED`] bytes;
/// all spills are printed.
fn assemble(ptxas: &Path, text: &str) -> Result<()> {
    let archive = ptx::archive(text);
    let samples: Vec<_> = Kernel::ALL.iter().map(|&kernel| (kernel, specialise::samples(kernel))).collect();
    for target in TARGETS {
        let most = if target == TARGET_OF_SAMPLES {
            samples.iter().map(|(_, samples)| samples.len()).max().unwrap_or_default()
        } else {
            1
        };
        for number in 0..most {
            let variants =
                samples.iter().filter_map(|(kernel, samples)| Some((*kernel, *samples.get(number)?)));
            assemble_variants(ptxas, &archive, target, variants)?;
        }
        println!("assembled for {target}, variants of a kernel: up to {most}");
    }
    Ok(())
}

/// Assembles a variant each of some kernels.
fn assemble_variants(
    ptxas: &Path,
    archive: &[u8],
    target: &str,
    variants: impl Iterator<Item = (Kernel, usize)> + Clone,
) -> Result<()> {
    let folder = root().join("target/ptx");
    fs::create_dir_all(&folder)?;
    let [file, out] = ["kernels.ptx", "kernels.cubin"].map(|name| folder.join(name));
    let number: u32 = target["sm_".len()..].parse()?;
    let mut text = ptx::head(archive).context("the archive has a head")?;
    for (kernel, variant) in variants.clone() {
        let part = ptx::part(archive, kernel.name()).with_context(|| format!("{kernel:?} is missing"))?;
        text += &specialise::ptx(&part, kernel, variant)
            .with_context(|| format!("{kernel:?} does not load what is to be constant"))?;
    }
    if number >= 10 * early_start::LEAST.0 + early_start::LEAST.1 {
        text = early_start::ptx(&text);
    }
    fs::write(&file, text)?;
    let run = Command::new(ptxas)
        .args(["-v", "-arch", target, "-o"])
        .arg(&out)
        .arg(&file)
        .output()
        .with_context(|| format!("cannot run {}", ptxas.display()))?;
    let report = String::from_utf8_lossy(&run.stderr);
    ensure!(run.status.success(), "the PTX does not assemble for {target}: {report}");
    let (mut kernel, mut spills, mut has_usual) = ("", String::new(), false);
    for line in report.lines() {
        if let Some((_, name)) = line.split_once("Compiling entry function '") {
            kernel = name.split('\'').next().unwrap_or_default();
        }
        if let Some((_, spilled)) = line.split_once("bytes stack frame, ")
            && let Some(bytes) = spilled.split(' ').next().and_then(|bytes| bytes.parse::<u32>().ok())
            && bytes > 0
        {
            let variant =
                variants.clone().find(|(of, _)| of.name() == kernel).map_or(0, |(_, variant)| variant);
            has_usual |= variant == 0 && bytes > MAX_SPILLED;
            let _ = writeln!(spills, "{kernel}, variant {variant}, for {target}: {}", line.trim());
        }
    }
    ensure!(spills.is_empty() || !has_usual, "{spills}");
    print!("{spills}");
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn faults_are_found() {
        for code in [
            ".local .align 4 .b8 depot[16];",
            "call.uni (retval0), f, (p);",
            "ld.u32 %r1, [%rd1];",
            "@%p1 st.b32 [%rd1], %r1;",
            "ld.local.u32 %r1, [%rd1];",
            "fma.rn.f32 %f1, %f2, %f3, %f4;",
            "mul.f32 %f1, %f2, %f3;",
            "sqrt.approx.f32 %f1, %f2;",
            "add.rn.ftz.f32 %f1, %f2, %f3;",
        ] {
            assert!(fault(code).is_some(), "{code}");
        }
        for code in [
            "",
            "ld.param.b64 %rd1, [k_param_0];",
            "@%p1 ld.global.nc.u32 %r1, [%rd1];",
            "mul.rn.f32 %f1, %f2, %f3;",
            "mad.lo.s32 %r1, %r2, %r3, %r4;",
            "mov.b32 %r1, %f1;",
        ] {
            assert_eq!(fault(code), None, "{code}");
        }
    }

    #[test]
    fn releases_are_read() {
        assert_eq!(release("rustc 1.96.0 (ac68faa20 2026-05-25)"), (1, 96));
        assert!(release("rustc 1.95.0 (59807616e 2026-04-14)") < OLDEST);
    }
}
