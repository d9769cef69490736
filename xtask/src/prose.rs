//! Rules for the prose of the documents that people read first: short sentences, short lines, links
//! that lead somewhere, and a README that is soon read.

mod markdown;

use std::collections::BTreeMap;
use std::fs;
use std::path::{Component, Path, PathBuf};

use anyhow::{Context, Result, ensure};

use crate::generated::root;
use markdown::{Document, is_html};

/// The most words of a sentence.
const MAX_SENTENCE: usize = 30;

/// The most columns of a line.
const MAX_COLUMNS: usize = 100;

/// The most words of README.md, as `wc -w` counts them.
const MAX_README: usize = 900;

/// The documents that are checked, beside the guide's pages.
const DOCUMENTS: [&str; 4] = ["README.md", "examples/README.md", "ARCHITECTURE.md", "CONTRIBUTING.md"];

/// The folder of the guide's pages.
const GUIDE: &str = "docs/guide/src";

/// Checks some documents, given by their paths from the workspace's folder, or without any all that
/// must pass.
///
/// # Errors
/// Names every fault with its file and line. A document that cannot be read is an error, too.
pub(crate) fn check(documents: &[PathBuf]) -> Result<()> {
    let documents = if documents.is_empty() { all_documents()? } else { documents.to_vec() };
    ensure!(!documents.is_empty(), "there are no documents");
    let mut faults = Vec::new();
    let mut targets = Targets::default();
    for path in &documents {
        let text = read(path)?;
        let document = Document::parse(&text);
        let mut found = long_lines(&text);
        found.extend(long_sentences(&document));
        found.extend(dead_links(path, &document, &mut targets));
        found.sort();
        faults.extend(found.into_iter().map(|(line, fault)| format!("{}:{line}: {fault}", path.display())));
        let words = text.split_whitespace().count();
        if path == Path::new("README.md") && words > MAX_README {
            faults.push(format!("README.md has {words} words, more than {MAX_README}"));
        }
    }
    ensure!(faults.is_empty(), "{}", faults.join("\n"));
    println!(
        "{} documents: no sentence of over {MAX_SENTENCE} words, no line of over {MAX_COLUMNS} columns, no dead link",
        documents.len()
    );
    Ok(())
}

fn all_documents() -> Result<Vec<PathBuf>> {
    let mut documents: Vec<_> = DOCUMENTS.iter().map(PathBuf::from).collect();
    let guide = root().join(GUIDE);
    if guide.is_dir() {
        for entry in fs::read_dir(guide)? {
            let name = PathBuf::from(entry?.file_name());
            if name.extension().is_some_and(|ending| ending == "md") {
                documents.push(Path::new(GUIDE).join(name));
            }
        }
    }
    documents.sort();
    Ok(documents)
}

fn read(path: &Path) -> Result<String> {
    fs::read_to_string(root().join(path)).with_context(|| format!("cannot read {}", path.display()))
}

/// Lines of too many columns, with their numbers. Rows of tables may be longer, and so may lines
/// of HTML and lines that are one link or address.
fn long_lines(text: &str) -> Vec<(usize, String)> {
    let is_long = |line: &str| {
        let content = line.trim_start_matches(['-', '*', '>', ' ']);
        line.chars().count() > MAX_COLUMNS
            && !content.starts_with('|')
            && !is_html(content)
            && !is_one_link(content)
    };
    let long = text.lines().enumerate().filter(|(_, line)| is_long(line));
    long.map(|(i, line)| (i + 1, format!("{} columns", line.chars().count()))).collect()
}

/// Whether a line is an address, or one link with its text.
fn is_one_link(content: &str) -> bool {
    let content = content.trim_end_matches(['.', ',', ';', ':']).trim_end();
    let is_address = !content.contains(char::is_whitespace) && content.contains("://");
    let is_definition = content.starts_with('[') && content.split_whitespace().count() == 2;
    let is_link = content.trim_start_matches('!').starts_with('[')
        && content.ends_with(')')
        && content.matches("](").count() == 1;
    is_address || is_link || (is_definition && content.contains("]: "))
}

fn long_sentences(document: &Document) -> Vec<(usize, String)> {
    let mut faults = Vec::new();
    for sentence in document.sentences() {
        if sentence.words.len() > MAX_SENTENCE {
            let start = sentence.words[..6].join(" ");
            faults
                .push((sentence.line, format!("a sentence of {} words: {start} ...", sentence.words.len())));
        }
    }
    faults
}

/// The anchors of each document that a link leads to; none where the file is no document.
#[derive(Default)]
struct Targets(BTreeMap<PathBuf, Option<Vec<String>>>);

impl Targets {
    /// Why a link from a document leads nowhere; `None` where it leads somewhere.
    fn fault(&mut self, from: &Path, target: &str) -> Option<String> {
        let (file, anchor) = target.split_once('#').unwrap_or((target, ""));
        let path = if file.is_empty() {
            from.to_owned()
        } else {
            lexical(&from.parent().unwrap_or(Path::new("")).join(file))
        };
        let absolute = root().join(&path);
        if !absolute.exists() {
            return Some(format!("there is no {target}"));
        }
        if anchor.is_empty() || path.extension().is_none_or(|ending| ending != "md") {
            return None;
        }
        let anchors = self.0.entry(path).or_insert_with(|| {
            fs::read_to_string(absolute).ok().map(|text| Document::parse(&text).anchors())
        });
        let known = anchors.as_ref().is_some_and(|anchors| anchors.iter().any(|known| known == anchor));
        (!known).then(|| format!("there is no heading #{anchor} in {target}"))
    }
}

/// A path without `.` and `..`, where that is possible.
fn lexical(path: &Path) -> PathBuf {
    let mut clean = PathBuf::new();
    for part in path.components() {
        match part {
            Component::CurDir => {}
            Component::ParentDir if clean.file_name().is_some() => {
                clean.pop();
            }
            other => clean.push(other),
        }
    }
    clean
}

fn dead_links(path: &Path, document: &Document, targets: &mut Targets) -> Vec<(usize, String)> {
    let relative = |target: &str| !target.contains("://") && !target.starts_with("mailto:");
    let links = document.links().into_iter().filter(|link| relative(&link.target));
    links.filter_map(|link| Some((link.line, targets.fault(path, &link.target)?))).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn lines_of_over_100_columns_are_found_but_for_table_rows_and_links() {
        let long = "word ".repeat(20) + "w";
        assert_eq!(long_lines(&format!("short\n{long}\n")), [(2, "101 columns".to_owned())]);
        assert_eq!(long_lines(&format!("{}\n", &long[..100])), []);
        assert_eq!(long_lines(&format!("| {long} |\n")), []);
        assert_eq!(long_lines(&format!("<p>{long}</p>\n")), []);
        assert_eq!(long_lines(&format!("    {long}\n")).len(), 1);
        let address = format!("https://example.org/{}", "a".repeat(100));
        for line in [
            address.clone(),
            format!("- <{address}>"),
            format!("[a few words]({address})."),
            format!("[page]: {address}"),
        ] {
            assert_eq!(long_lines(&line), [], "{line}");
        }
        assert_eq!(long_lines(&format!("Words before {address}")).len(), 1);
        // Columns are characters.
        assert_eq!(long_lines(&"é".repeat(100)), []);
    }

    #[test]
    fn sentences_of_over_30_words_are_found() {
        let words = |n: usize| vec!["word"; n].join(" ");
        let faults = |text: &str| long_sentences(&Document::parse(text));
        assert_eq!(faults(&format!("{}.", words(30))), []);
        assert_eq!(faults(&format!("{}. {}.", words(20), "Word ".repeat(20))), []);
        let found = faults(&format!("\nShort.\n\n{}\n{}.", words(20), words(11)));
        assert_eq!(found, [(4, "a sentence of 31 words: word word word word word word ...".to_owned())]);
        let list = format!("- {}\n- {}\n", words(20), words(20));
        assert_eq!(faults(&list), []);
        let list = format!("- {}\n  {}\n", words(20), words(20));
        assert_eq!(faults(&list).len(), 1);
    }

    #[test]
    fn links_to_missing_files_and_headings_are_found() {
        let faults = |from: &str, text: &str| {
            dead_links(Path::new(from), &Document::parse(text), &mut Targets::default()).len()
        };
        assert_eq!(faults("README.md", "[a](ARCHITECTURE.md#crates-and-layers) [b](docs) <https://a.b>"), 0);
        assert_eq!(faults("docs/clusters.md", "[a](../README.md), ![p](corners.png)"), 0);
        assert_eq!(faults("README.md", "[a](no.md)"), 1);
        assert_eq!(faults("README.md", "[a](ARCHITECTURE.md#no-such-heading)"), 1);
        assert_eq!(faults("docs/clusters.md", "[a](README.md)"), 1);
        assert_eq!(faults("README.md", "[a]\n\n[a]: no.md\n"), 1);
        assert_eq!(faults("README.md", "```\n[a](no.md)\n```\n`[a](no.md)`"), 0);
    }
}
