//! Tests of `detect --resume` once a run has ended: what is done again, what is refused, and what
//! earlier runs have left.

use std::fs::{self, File};
use std::path::Path;
use std::process::Output;
use std::time::Duration;

use image::{GrayImage, Luma};

use crate::program::Folder;

/// Draws a picture of rectangles, other ones for each number.
fn picture(path: impl AsRef<Path>, number: u32) {
    let sample = |x: u32, y: u32| Luma([((x / (5 + number % 4) + y / 7) % 2 * (60 + 4 * number)) as u8]);
    GrayImage::from_fn(40 + number, 30 + number, sample).save(path).unwrap();
}

/// Makes a folder `in` of pictures `0.png`, `1.png` and so on.
fn pictures(number: u32) -> (Folder, String) {
    let folder = Folder::new();
    fs::create_dir(folder.path("in")).unwrap();
    for i in 0..number {
        picture(folder.path(&format!("in/{i}.png")), i);
    }
    let inputs = folder.path("in");
    (folder, inputs)
}

fn detect(args: &[&str]) -> Output {
    crate::program::run("detect", [args, &["--backend", "cpu"]].concat())
}

/// Runs with an exit code, and returns standard output and standard error.
fn run(args: &[&str], code: i32) -> (String, String) {
    let output = detect(args);
    let text = |bytes| String::from_utf8(bytes).unwrap();
    let (out, errors) = (text(output.stdout), text(output.stderr));
    assert_eq!(output.status.code(), Some(code), "{args:?}: {out}{errors}");
    (out, errors)
}

/// Returns the table that a run without `--resume` writes.
fn table_of(args: &[&str]) -> String {
    String::from_utf8(detect(&[args, &["--table", "-"]].concat()).stdout).unwrap()
}

/// Sets the time of a file's last change some seconds back.
fn make_older(path: &str, seconds: u64) {
    let file = File::options().append(true).open(path).unwrap();
    let time = file.metadata().unwrap().modified().unwrap() - Duration::from_secs(seconds);
    file.set_modified(time).unwrap();
}

#[test]
fn a_table_of_the_same_images_and_options_is_complete() {
    let (folder, inputs) = pictures(4);
    let table = folder.path("t.csv");
    let args = [inputs.as_str(), "--table", &table, "--resume"];
    run(&args, 0);
    let (before, modified) = (fs::read(&table).unwrap(), fs::metadata(&table).unwrap().modified().unwrap());
    let (out, errors) = run(&args, 0);
    assert!(errors.contains("t.csv is complete"), "{errors}");
    assert!(out.starts_with("0 images in ") && out.contains("4 more were done before"), "{out}");
    assert!(fs::read(&table).unwrap() == before);
    assert_eq!(fs::metadata(&table).unwrap().modified().unwrap(), modified);
    // A table that was removed is written again from what is known.
    fs::remove_file(&table).unwrap();
    let (out, _) = run(&args, 0);
    assert!(out.contains("4 more were done before"), "{out}");
    assert!(fs::read(&table).unwrap() == before);
}

#[test]
fn a_table_of_other_inputs_or_options_is_refused() {
    let (folder, inputs) = pictures(3);
    let (table, other) = (folder.path("t.csv"), folder.path("other"));
    fs::create_dir(&other).unwrap();
    picture(folder.path("other/0.png"), 9);
    run(&[&inputs, "--table", &table, "--resume"], 0);
    let before = fs::read(&table).unwrap();
    for args in [
        &[inputs.as_str(), "--max-corners", "3"][..],
        &[&inputs, "--color"],
        &[&inputs, "--shard", "1/2"],
        &[&other],
        &[&folder.path("in/1.png")],
    ] {
        let args = [args, &["--table", &table, "--resume"]].concat();
        let (_, errors) = run(&args, 1);
        assert!(errors.contains("t.csv.part: it is of other inputs or options"), "{errors}");
        assert!(errors.contains("remove it and ") && errors.contains("t.csv to start again"), "{errors}");
        assert!(fs::read(&table).unwrap() == before, "{args:?}");
    }
}

#[test]
fn a_table_that_no_journal_tells_of_is_refused() {
    let (folder, inputs) = pictures(2);
    let (table, part) = (folder.path("t.csv"), folder.path("t.csv.part"));
    let args = [inputs.as_str(), "--table", &table, "--resume"];
    for content in ["", "hello\n", "file,x,y,response,scale,error\n"] {
        fs::write(&table, content).unwrap();
        let (_, errors) = run(&args, 1);
        assert!(errors.contains("t.csv: it is not known from which inputs"), "{errors}");
        assert_eq!(fs::read_to_string(&table).unwrap(), content);
        assert!(!Path::new(&part).exists());
    }
    // A run without --resume does not tell either.
    run(&args[..3], 0);
    run(&args, 1);
    fs::remove_file(&table).unwrap();
    run(&args, 0);
    // Now somebody else writes the table.
    let mut bytes = fs::read(&table).unwrap();
    let last = bytes.len() - 3;
    bytes[last] ^= 1;
    fs::write(&table, &bytes).unwrap();
    let (_, errors) = run(&args, 1);
    assert!(errors.contains("t.csv: it is not known"), "{errors}");
    assert!(fs::read(&table).unwrap() == bytes);
}

#[test]
fn images_that_failed_are_tried_again() {
    let (folder, inputs) = pictures(3);
    let (table, bad) = (folder.path("t.csv"), folder.path("in/1.png"));
    fs::write(&bad, "no image").unwrap();
    let args = [inputs.as_str(), "--table", &table, "--resume"];
    for run_before in [0, 2, 2] {
        let (out, errors) = run(&args, 1);
        assert!(errors.contains("1.png") && out.contains(" 1 failed"), "{out}{errors}");
        assert_eq!(out.contains("; 2 more were done before"), run_before == 2, "{out}");
    }
    // The image keeps its size and time, so only its failure says that it must be read again.
    let (size, time) = (8, fs::metadata(&bad).unwrap().modified().unwrap());
    picture(&bad, 1);
    File::options().append(true).open(&bad).unwrap().set_modified(time).unwrap();
    assert_ne!(fs::metadata(&bad).unwrap().len(), size);
    let (out, _) = run(&args, 0);
    assert!(out.contains("1 image in ") && out.contains(" 0 failed"), "{out}");
    assert!(fs::read_to_string(&table).unwrap() == table_of(&[&inputs]));
}

#[test]
fn images_that_changed_or_were_added_are_done() {
    let (folder, inputs) = pictures(5);
    let table = folder.path("t.csv");
    let args = [inputs.as_str(), "--table", &table, "--resume"];
    run(&args, 0);
    picture(folder.path("in/3.png"), 30);
    make_older(&folder.path("in/4.png"), 7);
    picture(folder.path("in/10.png"), 5);
    let (out, _) = run(&args, 0);
    let lines: Vec<_> = out.lines().collect();
    assert_eq!(lines.len(), 4, "{out}");
    for (line, name) in lines.iter().zip(["10.png", "3.png", "4.png", "3 images in "]) {
        assert!(line.contains(name), "{out}");
    }
    assert!(lines[3].contains("; 3 more were done before"), "{out}");
    assert!(fs::read_to_string(&table).unwrap() == table_of(&[&inputs]));
    // Without an image that is in the table, the inputs are others.
    fs::remove_file(folder.path("in/0.png")).unwrap();
    assert!(run(&args, 1).1.contains("other inputs or options"));
}

#[test]
fn a_mask_that_changed_is_another_option() {
    let (folder, inputs) = pictures(1);
    let (table, mask) = (folder.path("t.csv"), folder.path("mask.png"));
    let args = [inputs.as_str(), "--table", &table, "--resume", "--mask", &mask];
    GrayImage::from_pixel(40, 30, Luma([255])).save(&mask).unwrap();
    run(&args, 0);
    run(&args, 0);
    make_older(&mask, 9);
    assert!(run(&args, 1).1.contains("other inputs or options"));
}

#[test]
fn files_without_a_table_are_known_by_a_journal() {
    let (folder, inputs) = pictures(4);
    let (lists, list) = (folder.path("lists"), folder.path("lists/2.csv"));
    let args = [inputs.as_str(), "--csv", &lists, "--resume"];
    run(&args, 0);
    assert_eq!(folder.names(), ["in", "lists", "lists.part"]);
    let before = fs::read(&list).unwrap();
    assert!(run(&args, 0).0.contains("; 4 more were done before"));
    // Lists that are not as they were written are written again.
    for content in [&b""[..], b"other"] {
        fs::write(&list, content).unwrap();
        let (out, _) = run(&args, 0);
        assert!(out.contains("2.png") && out.contains("; 3 more were done before"), "{out}");
        assert!(fs::read(&list).unwrap() == before);
    }
    picture(folder.path("in/2.png"), 20);
    assert!(run(&args, 0).0.contains("; 3 more were done before"));
    assert!(fs::read(&list).unwrap() != before);
    let (_, errors) = run(&[&args[..], &["--max-corners", "4"]].concat(), 1);
    assert!(errors.contains("lists.part: it is of other inputs or options"), "{errors}");
    // Another output is missing for all.
    let (out, _) = run(&[&args[..], &["--overlay", &folder.path("lists/")]].concat(), 0);
    assert!(out.contains("4 images in ") && !out.contains("done before"), "{out}");
    // Lists that no journal tells of may be of any options.
    fs::remove_file(folder.path("lists.part")).unwrap();
    assert!(!run(&args, 0).0.contains("done before"));
    // One input, and a folder with a separator at its end.
    let image = folder.path("in/0.png");
    for _ in 0..2 {
        run(&[&image, "--csv", &folder.path("one.csv"), "--resume"], 0);
        run(&[&inputs, "--csv", &folder.path("more/"), "--resume"], 0);
    }
    let expected = ["in", "lists", "lists.part", "more", "more.part", "one.csv", "one.csv.part"];
    assert_eq!(folder.names(), expected);
}

#[test]
fn a_journal_of_files_is_not_one_of_a_table() {
    let (folder, inputs) = pictures(2);
    let (image, path) = (folder.path("in/0.png"), folder.path("x.csv"));
    run(&[&image, "--csv", &path, "--resume"], 0);
    fs::remove_file(&path).unwrap();
    assert!(run(&[&image, "--table", &path, "--resume"], 1).1.contains("other inputs or options"));
    assert!(!Path::new(&path).exists() && Path::new(&inputs).exists());
}

#[test]
fn a_run_without_resume_removes_the_old_journal_and_nothing_else() {
    let (folder, inputs) = pictures(2);
    let (table, part) = (folder.path("t.csv"), folder.path("t.csv.part"));
    run(&[&inputs, "--table", &table, "--resume"], 0);
    assert!(Path::new(&part).exists());
    run(&[&inputs, "--table", &table, "--max-corners", "2"], 0);
    assert_eq!(folder.names(), ["in", "t.csv"]);
    for content in ["precious", "{\"version\":\"0\"}\n", ""] {
        fs::write(&part, content).unwrap();
        run(&[&inputs, "--table", &table], 0);
        assert_eq!(fs::read_to_string(&part).unwrap(), content);
    }
}

#[cfg(unix)]
#[test]
fn temporary_files_of_killed_runs_are_removed_if_nobody_writes_them() {
    let (folder, inputs) = pictures(2);
    let lists = folder.path("lists");
    fs::create_dir(&lists).unwrap();
    let at = |name: &str| folder.path(&format!("lists/{name}"));
    for name in [".harris-aB3xY9", ".harris-locked"] {
        fs::write(at(name), "half").unwrap();
    }
    for name in [".harris-note", ".harris-longer-name", ".harris-a.b-c1", "harris-aB3xY9"] {
        fs::write(at(name), "of somebody else").unwrap();
    }
    std::os::unix::fs::symlink(at(".harris-note"), at(".harris-link00")).unwrap();
    let locked = File::open(at(".harris-locked")).unwrap();
    locked.lock().unwrap();
    let names = || {
        let mut names: Vec<_> =
            fs::read_dir(&lists).unwrap().map(|e| e.unwrap().file_name().into_string().unwrap()).collect();
        names.retain(|name| !name.ends_with(".csv"));
        names.sort();
        names
    };
    let kept = [
        ".harris-a.b-c1",
        ".harris-link00",
        ".harris-locked",
        ".harris-longer-name",
        ".harris-note",
        "harris-aB3xY9",
    ];
    run(&[&inputs, "--csv", &lists], 0);
    assert_eq!(names().len(), 7, "without --resume nothing is removed");
    run(&[&inputs, "--csv", &lists, "--resume"], 0);
    assert_eq!(names(), kept);
}
