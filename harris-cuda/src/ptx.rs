//! The kernels' PTX: an archive of single kernels, each compressed on its own.
//!
//! The archive starts with a table in ASCII. Each line has the name of a part, a space, and the
//! number of bytes that the part takes. An empty line ends the table.
//!
//! The parts follow without gaps, each a zlib stream. The first part is the head of the PTX
//! (version and target). Each of the others is an entry point, and has its name. `cargo xtask ptx`
//! writes the archive from `harris-gpu-kernels`.

use std::borrow::Cow;

/// The version of the PTX, major and minor.
pub const VERSION: (u32, u32) = (7, 8);

/// The first CUDA version whose drivers accept this PTX version.
pub const NEEDS_CUDA: (u32, u32) = (11, 8);

/// The first compute capability that the PTX is compiled for.
pub const NEEDS_CAPABILITY: (u32, u32) = (7, 5);

/// The name of the first part, which has no entry point.
const HEAD: &str = ".head";

/// The archive of this crate's kernels.
pub const ARCHIVE: &[u8] = include_bytes!("../ptx/kernels.ptxz");

const ENTRY: &str = "\n.visible .entry ";

/// Returns PTX with one entry point.
///
/// `None` if the archive has none of this name, or is damaged.
#[must_use]
pub fn kernel(archive: &[u8], name: &str) -> Option<String> {
    Some(head(archive)? + &part(archive, name)?)
}

/// Returns all of the PTX. `None` if the archive is damaged.
#[must_use]
pub fn text(archive: &[u8]) -> Option<String> {
    parts(archive)?.into_iter().map(|(_, bytes)| unpack(bytes)).collect()
}

/// Returns the text before the first entry point.
#[must_use]
pub fn head(archive: &[u8]) -> Option<String> {
    part(archive, HEAD)
}

/// Returns one entry point without the head.
#[must_use]
pub fn part(archive: &[u8], name: &str) -> Option<String> {
    parts(archive)?.into_iter().find(|(named, _)| *named == name).and_then(|(_, bytes)| unpack(bytes))
}

fn unpack(bytes: &[u8]) -> Option<String> {
    String::from_utf8(miniz_oxide::inflate::decompress_to_vec_zlib(bytes).ok()?).ok()
}

/// Returns the names and bytes of all parts.
fn parts(archive: &[u8]) -> Option<Vec<(&str, &[u8])>> {
    let end = archive.windows(2).position(|pair| pair == b"\n\n")?;
    let (table, mut rest) = (str::from_utf8(&archive[..end]).ok()?, &archive[end + 2..]);
    table
        .lines()
        .map(|line| {
            let (name, bytes) = line.split_once(' ')?;
            let (part, later) = rest.split_at_checked(bytes.parse().ok()?)?;
            rest = later;
            Some((name, part))
        })
        .collect()
}

/// Makes the archive of a PTX text.
#[must_use]
pub fn archive(text: &str) -> Vec<u8> {
    let head = text
        .find(ENTRY)
        .map_or(text.len(), |entry| text[..entry].rfind("\n}\n").map_or(entry, |end| end + 3));
    let mut parts: Vec<(&str, Cow<'_, str>)> = vec![(HEAD, text[..head].into())];
    for part in text[head..].split_inclusive("\n}\n") {
        let name = part.split_once(ENTRY).and_then(|(_, rest)| rest.split('(').next());
        match (name, parts.last_mut()) {
            (Some(name), _) => parts.push((name, part.into())),
            // Text behind the last entry point.
            (None, Some((_, last))) => last.to_mut().push_str(part),
            (None, None) => {}
        }
    }
    let packed = parts
        .iter()
        .map(|(name, text)| (*name, miniz_oxide::deflate::compress_to_vec_zlib(text.as_bytes(), 10)));
    let (mut table, mut bytes) = (String::new(), Vec::new());
    for (name, part) in packed {
        table += &format!("{name} {}\n", part.len());
        bytes.extend(part);
    }
    [table.into_bytes(), b"\n".to_vec(), bytes].concat()
}

#[cfg(test)]
mod tests {
    use harris_gpu_kernels::abi::{Kernel, early_start, specialise};

    use super::*;

    #[test]
    fn the_version_is_that_of_the_kernels() {
        let ((major, minor), (high, low)) = (VERSION, NEEDS_CAPABILITY);
        let head = part(ARCHIVE, HEAD).unwrap();
        assert!(head.contains(&format!("\n.version {major}.{minor}\n.target sm_{high}{low}\n")), "{head}");
    }

    #[test]
    fn every_kernel_stands_alone() {
        for entry in Kernel::ALL {
            let ptx = kernel(ARCHIVE, entry.name()).unwrap();
            assert_eq!(ptx.matches(".entry").count(), 1, "{entry:?}");
            assert!(
                ptx.contains(&format!(".entry {}(", entry.name())) && ptx.trim_end().ends_with("\n}"),
                "{ptx}"
            );
            assert!(ptx.starts_with(&part(ARCHIVE, HEAD).unwrap()));
        }
        assert_eq!(kernel(ARCHIVE, "none"), None);
    }

    #[test]
    fn every_constant_can_be_set() {
        for &entry in Kernel::ALL {
            let text = kernel(ARCHIVE, entry.name()).unwrap();
            for variant in specialise::samples(entry) {
                assert!(
                    specialise::ptx(&text, entry, variant).is_some(),
                    "{entry:?}, {:?}",
                    specialise::constants(entry, variant)
                );
            }
        }
    }

    #[test]
    fn an_archive_gives_its_text_back() {
        let text = text(ARCHIVE).unwrap();
        assert_eq!(text.matches(ENTRY).count(), Kernel::ALL.len());
        let short = &text[..text.match_indices("\n}\n").nth(2).unwrap().0 + 3];
        for text in ["", "head alone\n", short, &format!("{short}\n// an end\n")] {
            assert_eq!(super::text(&archive(text)).as_deref(), Some(text));
        }
        let archive = archive(short);
        // An archive that is cut anywhere is damaged, or lacks its last part.
        for bytes in 0..archive.len() {
            assert_eq!(super::text(&archive[..bytes]), None, "{bytes}");
        }
    }

    /// The wait comes before the kernel accesses memory.
    #[test]
    fn kernels_wait_that_are_launched_as_such() {
        for entry in Kernel::ALL {
            let chain = early_start::ptx(&kernel(ARCHIVE, entry.name()).unwrap());
            assert_eq!(chain.matches("\n.target sm_90\n").count(), 1, "{entry:?}");
            assert_eq!(
                chain.matches("\n\tgriddepcontrol.wait;").count(),
                usize::from(entry.waits_for_previous_kernels()),
                "{entry:?}"
            );
            let before = chain.split_once("griddepcontrol.wait").map_or("", |(before, _)| before);
            let accesses = |access: &str| before.contains(&format!("\t{access}.global"));
            assert!(!["ld", "ld.relaxed.gpu", "st", "atom", "red"].into_iter().any(accesses), "{entry:?}");
        }
    }
}
