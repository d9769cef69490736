//! Tests of the program `reproduce`, and of the results in docs/results.

use std::collections::{BTreeMap, HashSet};
use std::fs;
use std::path::{Path, PathBuf};

use crate::program::{Folder, error_line, succeed};

/// Returns the rows of a CSV file, by the names of its columns.
fn rows(path: impl AsRef<Path>) -> Vec<BTreeMap<String, String>> {
    let mut reader = csv::ReaderBuilder::new().comment(Some(b'#')).from_path(path).unwrap();
    reader.deserialize().map(Result::unwrap).collect()
}

fn table(folder: &Folder, name: &str) -> Vec<BTreeMap<String, String>> {
    rows(folder.path(name))
}

#[test]
fn an_experiment_is_a_page_with_its_tables_and_charts() {
    let folder = Folder::new();
    let args = ["--backend", "cpu", "--seconds", "0.001", "--largest", "256", "--out", &folder.path("")];
    let printed = succeed("reproduce", &[&["chahuara"], &args[..]].concat());
    assert_eq!(printed.trim_end(), folder.path("chahuara.md"));
    let page = fs::read_to_string(folder.path("chahuara.md")).unwrap();
    assert!(
        page.contains("GPU: none, so the columns") && page.contains("The reference detector was not run"),
        "{page}"
    );
    for name in folder.names() {
        let is_shown = !name.ends_with(".svg") || page.contains(&name);
        assert!(is_shown, "{name} is in no page");
    }
    for name in ["camera", "coffee", "brick"] {
        let chart = fs::read_to_string(folder.path(&format!("chahuara-rosin-{name}.svg"))).unwrap();
        assert!(chart.starts_with("<svg") && chart.contains("threshold"));
    }
    // All corners of chessboards are found and no others, unless the squares are as small as the
    // suppression radius.
    let boards = table(&folder, "chahuara-boards.csv");
    let of = |preset: &str| boards.iter().filter(|row| row["preset"] == preset).collect::<Vec<_>>();
    assert_eq!(of("default").len(), 6);
    for row in of("default").into_iter().chain(of("chahuara_2017 without limit")) {
        let whole = row["preset"] == "default" || row["side"] != "128" || row["board"] != "FULL";
        for kind in ["gray", "colour"] {
            assert_eq!(row[&format!("precision, {kind}")], "1.00", "{row:?}");
            assert_eq!(row[&format!("recall, {kind}")] == "1.00", whole, "{row:?}");
        }
    }
    assert!(boards.iter().all(|row| !row["side"].contains("512")), "--largest cuts the run");
}

#[test]
fn times_have_a_column_for_each_engine() {
    let folder = Folder::new();
    let args =
        ["--threads", "2", "--seconds", "0.001", "--largest", "256", "--out", &folder.path("made/here")];
    succeed("reproduce", &[&["jobanputra"], &args[..]].concat());
    let rows = table(&folder, "made/here/jobanputra-threads.csv");
    assert_eq!(rows.len(), 1);
    for column in ["reference", "CPU, 1 thread", "CPU, 2 threads"] {
        assert!(rows[0].contains_key(column), "{column}: {rows:?}");
    }
    assert!(rows[0]["reference"].parse::<f64>().unwrap() > 0.0);
}

#[test]
fn a_run_whose_size_limit_leaves_nothing_says_so() {
    let folder = Folder::new();
    let args = ["--backend", "cpu", "--seconds", "0.001", "--out", &folder.path("")];
    let line = error_line("reproduce", &[&["hofmann", "--largest", "479"], &args[..]].concat());
    assert!(line.contains("--largest 479 leaves no size: the least is 480"), "{line}");
    assert_eq!(folder.names(), Vec::<String>::new());
    // Some tables of others are without rows.
    let all = [&["reproduce", "phull", "--largest", "128"], &args[..]].concat();
    let output = crate::program::run("reproduce", &all[1..]);
    assert!(output.status.success());
    let (page, notes) =
        (fs::read_to_string(folder.path("phull.md")).unwrap(), String::from_utf8(output.stderr).unwrap());
    assert!(page.contains("The table has no rows"), "{page}");
    assert!(notes.contains("phull: tables without rows"), "{notes}");
    let empty = folder
        .names()
        .iter()
        .filter(|name| {
            name.ends_with(".csv") && { fs::read_to_string(folder.path(name)).unwrap().lines().count() == 1 }
        })
        .count();
    assert_eq!(page.matches("The table has no rows").count(), empty);
    // The command is as it was called.
    let command = format!("Command: `harris {}`, version", all.join(" "));
    assert!(page.contains(&command), "{page}");
}

#[test]
fn figures_of_papers_are_numbers_with_a_source() {
    let mut papers = HashSet::new();
    for name in ["loundagin-2015", "jobanputra-stentz", "phull-2011", "chahuara-2017", "hofmann-2009"] {
        for row in rows(crate::program::data(&format!("published/{name}.csv"))) {
            assert!(row["value"].parse::<f64>().unwrap().is_finite(), "{row:?}");
            assert!(!row["item"].is_empty(), "{row:?}");
            papers.extend(row["source"].split(',').next().map(str::to_owned));
        }
    }
    for paper in ["Loundagin 2015", "Jobanputra & Stentz", "Phull 2011", "Chahuara 2017", "Hofmann 2009"] {
        assert!(papers.contains(paper), "{paper}");
    }
}

#[test]
fn bad_arguments_are_one_line_of_error() {
    let folder = Folder::new();
    let out = folder.path("");
    assert!(error_line("reproduce", &["surf", "--out", &out]).contains("surf"));
    assert!(
        error_line("reproduce", &["phull", "--seconds", "0", "--out", &out]).contains("a number of seconds")
    );
    assert!(error_line("reproduce", &["phull", "--largest", "64", "--out", &out]).contains("from 128"));
    assert!(error_line("reproduce", &["phull", "--threads", "0", "--out", &out]).contains("thread"));
    assert!(
        error_line("reproduce", &["phull", "--images", "/no/such/folder", "--out", &out])
            .contains("/no/such")
    );
    assert_eq!(folder.names(), Vec::<String>::new());
}

/// Returns the numbers with a decimal point of a text.
fn numbers(text: &str) -> Vec<&str> {
    let is_part = |c: char| c.is_ascii_digit() || c == '.';
    let words = text.split(|c| !is_part(c)).map(|word| word.trim_matches('.'));
    words.filter(|word| word.contains('.')).collect()
}

#[test]
fn every_number_of_the_results_was_written_by_the_program() {
    let root = Path::new(env!("CARGO_MANIFEST_DIR")).join("..");
    let results = fs::read_to_string(root.join("RESULTS.md")).unwrap();
    let mut written = HashSet::new();
    let pages: Vec<PathBuf> = ["docs/results/h200", "docs/results/cpu"]
        .into_iter()
        .flat_map(|folder| fs::read_dir(root.join(folder)).unwrap().map(|entry| entry.unwrap().path()))
        .filter(|path| path.extension().is_some_and(|ending| ending == "md"))
        .collect();
    assert_eq!(pages.len(), 14);
    for page in &pages {
        written.extend(numbers(&fs::read_to_string(page).unwrap()).into_iter().map(str::to_owned));
    }
    // Figures of the papers have numbers like 4.18, which the pages contain, too.
    for number in numbers(&results) {
        assert!(written.contains(number), "RESULTS.md says {number}, which no page in docs/results does");
    }
}
