//! Modules import downwards only: the files of this crate and their `use` lines form no circle.

use std::collections::{BTreeMap, BTreeSet};
use std::fs;
use std::path::Path;

/// The modules of the crate: the path of each, as in `sweep::row`, and its source.
fn modules(folder: &Path, path: &[String], all: &mut BTreeMap<String, String>) {
    for entry in fs::read_dir(folder).unwrap() {
        let file = entry.unwrap().path();
        let name = file.file_stem().unwrap().to_str().unwrap().to_owned();
        if file.is_dir() {
            modules(&file, &[path, &[name]].concat(), all);
        } else {
            let own = if name == "mod" || name == "lib" { path.to_vec() } else { [path, &[name]].concat() };
            all.insert(own.join("::"), fs::read_to_string(&file).unwrap());
        }
    }
}

/// The module that a path in `use` names: the longest one that is a module.
fn resolve(path: &str, all: &BTreeMap<String, String>) -> Option<String> {
    let parts: Vec<&str> = path.split("::").collect();
    (1..=parts.len()).rev().map(|n| parts[..n].join("::")).find(|module| all.contains_key(module))
}

/// The paths of a tree such as `a::{b, c::{d, e}}`.
fn paths(tree: &str) -> Vec<String> {
    let Some((prefix, rest)) = tree.split_once('{') else {
        return vec![tree.split(" as ").next().unwrap().trim().to_owned()];
    };
    let inner = rest.rsplit_once('}').unwrap().0;
    let (mut depth, mut part, mut parts) = (0, String::new(), Vec::new());
    for c in inner.chars() {
        match c {
            ',' if depth == 0 => parts.push(std::mem::take(&mut part)),
            other => {
                depth += i32::from(other == '{') - i32::from(other == '}');
                part.push(other);
            }
        }
    }
    parts.push(part);
    let parts = parts.iter().map(|part| part.trim()).filter(|part| !part.is_empty());
    parts.flat_map(paths).map(|path| format!("{}{path}", prefix.trim())).collect()
}

/// The modules that a module imports from, but for itself.
fn imports(module: &str, source: &str, all: &BTreeMap<String, String>) -> BTreeSet<String> {
    // Tests may import whatever they like.
    let source = source.split("#[cfg(test)]\nmod tests").next().unwrap();
    let parent = module.rsplit_once("::").map_or("", |(parent, _)| parent);
    let children: Vec<&str> =
        source.lines().filter_map(|line| line.trim().trim_end_matches(';').split("mod ").nth(1)).collect();
    let mut found = BTreeSet::new();
    for statement in source.split(';') {
        let Some(start) = statement.rfind("use ").filter(|&start| {
            let before = statement[..start].lines().last().unwrap_or("").trim();
            before.is_empty() || before.starts_with("pub")
        }) else {
            continue;
        };
        for path in paths(statement[start + 4..].trim()) {
            let absolute = if let Some(path) = path.strip_prefix("crate::") {
                path.to_owned()
            } else if let Some(path) = path.strip_prefix("super::") {
                format!("{parent}::{path}").trim_start_matches("::").to_owned()
            } else if children.contains(&path.split("::").next().unwrap()) {
                format!("{module}::{path}").trim_start_matches("::").to_owned()
            } else {
                continue;
            };
            found.extend(resolve(&absolute, all).filter(|other| other != module));
        }
    }
    found
}

#[test]
fn files_import_in_no_circle() {
    let mut all = BTreeMap::new();
    modules(&Path::new(env!("CARGO_MANIFEST_DIR")).join("src"), &[], &mut all);
    let mut left: BTreeMap<_, _> =
        all.iter().map(|(module, source)| (module.clone(), imports(module, source, &all))).collect();
    let is_read = left["detector::work"].contains("list") && left["list"].contains("exec::context");
    assert!(is_read, "{left:?}");
    // Modules whose imports are all gone are no part of a circle.
    loop {
        let done: Vec<String> =
            left.iter().filter(|(_, imports)| imports.is_empty()).map(|(module, _)| module.clone()).collect();
        if done.is_empty() {
            break;
        }
        for module in done {
            left.remove(&module);
            left.values_mut().for_each(|imports| {
                imports.remove(&module);
            });
        }
    }
    assert!(left.is_empty(), "modules in a circle, or above one: {left:#?}");
}
