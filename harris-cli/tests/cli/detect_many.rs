//! Tests of `detect` on many images: the table, parts, images that cannot be read, and runs that go
//! on after an interruption.

use std::fs::{self, File, OpenOptions};
use std::io::Write;
use std::path::Path;
use std::process::{Child, Command, Output, Stdio};
use std::thread;
use std::time::Duration;

use image::{GrayImage, Luma};
use serde_json::Value;

use crate::program::Folder;

const HEADER: &str = "file,x,y,response,scale,error\n";

fn detect(args: &[&str]) -> Output {
    crate::program::run("detect", args)
}

fn succeed(args: &[&str]) -> String {
    crate::program::succeed("detect", args)
}

/// Draws a picture of rectangles, other ones for each number.
fn picture(path: impl AsRef<Path>, number: u32) {
    let (width, height) = (40 + number * 7 % 31, 30 + number * 5 % 23);
    let sample = |x: u32, y: u32| Luma([((x / (5 + number % 4) + y / 7) % 2 * (60 + 4 * number)) as u8]);
    GrayImage::from_fn(width, height, sample).save(path).unwrap();
}

/// Makes a folder `in` of pictures `00.png`, `01.png` and so on. Returns their paths in order.
fn pictures(folder: &Folder, number: u32) -> Vec<String> {
    fs::create_dir(folder.path("in")).unwrap();
    (0..number)
        .map(|i| {
            let path = folder.path(&format!("in/{i:02}.png"));
            picture(&path, i);
            path
        })
        .collect()
}

/// Returns the table of images as single runs tell it.
fn table_of_single_runs<'a>(images: impl IntoIterator<Item = &'a String>) -> String {
    let mut table = HEADER.to_owned();
    for image in images {
        let output = detect(&[image, "--csv", "-", "--backend", "cpu"]);
        let list = String::from_utf8(output.stdout).unwrap();
        let rows: Vec<_> = list.lines().skip(1).collect();
        for row in &rows {
            table += &format!("{image},{row},\n");
        }
        if !output.status.success() {
            let errors = String::from_utf8(output.stderr).unwrap();
            table += &format!("{image},,,,,\"{}\"\n", errors.strip_prefix("error: ").unwrap().trim_end());
        } else if rows.is_empty() {
            table += &format!("{image},,,,,\n");
        }
    }
    table
}

#[test]
fn the_table_is_that_of_single_runs_in_the_order_of_the_inputs() {
    let folder = Folder::new();
    let images = pictures(&folder, 40);
    fs::write(&images[7], "no image").unwrap();
    GrayImage::from_pixel(50, 40, Luma([7])).save(&images[11]).unwrap();
    let expected = table_of_single_runs(&images);
    assert!(expected.lines().count() > 400);
    let (inputs, table) = (folder.path("in"), folder.path("table.csv"));
    for options in [&["--jobs", "1"][..], &["--jobs", "7"], &["--jobs", "7", "--resume"], &["--threads", "1"]]
    {
        let output = detect(&[&[inputs.as_str(), "--table", &table, "--backend", "cpu"], options].concat());
        assert_eq!(output.status.code(), Some(1));
        assert!(fs::read_to_string(&table).unwrap() == expected, "{options:?}");
        let errors = String::from_utf8(output.stderr).unwrap();
        assert!(errors.starts_with("error: cannot read ") && errors.contains("07.png"), "{errors}");
        assert_eq!(errors.lines().count(), 1);
        let text = String::from_utf8(output.stdout).unwrap();
        let lines: Vec<_> = text.lines().collect();
        // One line for each image that could be read, in their order, and one for all.
        assert_eq!(lines.len(), 40);
        assert!(lines[..39].windows(2).all(|pair| pair[0] < pair[1]));
        assert!(lines[39].starts_with("40 images in ") && lines[39].contains(" 1 failed; "), "{text}");
        fs::remove_file(&table).unwrap();
    }
    assert_eq!(folder.names(), ["in"]);
    // In the order of the arguments.
    let turned: Vec<_> = images.iter().rev().collect();
    let mut args: Vec<_> = turned.iter().map(|image| image.as_str()).collect();
    args.extend(["--table", "-", "--jobs", "3"]);
    assert!(String::from_utf8(detect(&args).stdout).unwrap() == table_of_single_runs(turned));
    let output = detect(&[&inputs, "--json", "--jobs", "5", "--table", &table]);
    let lines: Vec<Value> =
        output.stdout.split(|b| *b == b'\n').filter_map(|line| serde_json::from_slice(line).ok()).collect();
    assert_eq!(lines.len(), 41);
    assert!(lines[7]["error"].as_str().unwrap().contains("07.png"));
    assert_eq!((&lines[11]["file"], &lines[11]["keypoints"]), (&images[11].clone().into(), &0.into()));
    assert_eq!((&lines[40]["images"], &lines[40]["failed"]), (&40.into(), &1.into()));
    let rows = expected.lines().filter(|line| line.ends_with(',') && !line.ends_with(",,,,")).count();
    assert_eq!(lines[40]["keypoints"], rows);
}

#[test]
fn each_image_has_its_files_and_the_table_besides() {
    let folder = Folder::new();
    let images = pictures(&folder, 9);
    let (inputs, lists, table) = (folder.path("in"), folder.path("lists"), folder.path("table.csv"));
    succeed(&[&inputs, "--csv", &lists, "--overlay", &lists, "--table", &table, "--jobs", "4"]);
    assert!(fs::read_to_string(&table).unwrap() == table_of_single_runs(&images));
    for (i, image) in images.iter().enumerate() {
        let list = fs::read_to_string(Path::new(&lists).join(format!("{i:02}.csv"))).unwrap();
        assert_eq!(list, succeed(&[image, "--csv", "-"]));
        assert!(Path::new(&lists).join(format!("{i:02}.png")).is_file());
    }
}

#[test]
fn parts_together_are_the_whole() {
    let folder = Folder::new();
    let images = pictures(&folder, 10);
    let (inputs, table) = (folder.path("in"), folder.path("table.csv"));
    for number in 1..=3 {
        let mine = images.iter().skip(number - 1).step_by(3);
        succeed(&[&inputs, "--shard", &format!("{number}/3"), "--table", &table]);
        assert!(fs::read_to_string(&table).unwrap() == table_of_single_runs(mine), "{number}");
    }
    // More parts than images.
    succeed(&[&inputs, "--shard", "11/11", "--table", &table]);
    assert_eq!(fs::read_to_string(&table).unwrap(), HEADER);
    for part in ["0/3", "4/3", "1/0", "x"] {
        assert!(crate::program::error_line("detect", &[&inputs, "--shard", part]).contains("I/N"));
    }
}

/// Starts a run that works on one image after another and writes what is done so far.
fn start(args: &[&str]) -> Child {
    Command::new(env!("CARGO_BIN_EXE_harris"))
        .arg("detect")
        .args(args)
        .stdout(Stdio::null())
        .stderr(Stdio::piped())
        .spawn()
        .unwrap()
}

/// Returns the number of lines of what is done so far, the header among them.
fn lines(path: &str) -> usize {
    fs::read(path).map_or(0, |text| text.iter().filter(|byte| **byte == b'\n').count())
}

#[test]
fn a_run_that_is_killed_again_and_again_gives_the_same_table() {
    let folder = Folder::new();
    let images = pictures(&folder, 40);
    fs::write(&images[9], "no image").unwrap();
    let (inputs, table, part) = (folder.path("in"), folder.path("table.csv"), folder.path("table.csv.part"));
    let expected = table_of_single_runs(&images);
    let args = [&inputs, "--table", &table, "--resume", "--backend", "reference", "--jobs", "2"];
    let (mut halfway, mut before) = (0, 0);
    for run in 0.. {
        assert!(run < 200, "no end");
        let mut child = start(&args);
        // Half of the runs end after some images, and half after some time.
        let (more, time) = (1 + run % 5, Duration::from_micros(700 * (run as u64 * 7 % 40)));
        if run % 2 == 0 {
            while lines(&part) < before + more && child.try_wait().unwrap().is_none() {
                thread::sleep(Duration::from_micros(100));
            }
        } else {
            thread::sleep(time);
        }
        let ended = child.try_wait().unwrap();
        if let Some(status) = ended {
            assert_eq!(status.code(), Some(1));
            break;
        }
        child.kill().unwrap();
        if child.wait().unwrap().code().is_some() {
            break;
        }
        assert!(lines(&part) >= before, "what was done is lost");
        before = lines(&part);
        halfway += usize::from((2..40).contains(&before));
        assert!(!Path::new(&table).exists() || before > 41, "a table that is not complete");
    }
    assert!(halfway > 3, "no run was killed halfway");
    assert!(fs::read_to_string(&table).unwrap() == expected);
}

/// Makes a folder of pictures, and what an interrupted run has left: the records of some of them.
fn interrupted(number: usize) -> (Folder, Vec<String>) {
    let folder = Folder::new();
    let images = pictures(&folder, 12);
    let (inputs, table) = (folder.path("in"), folder.path("table.csv"));
    let part = folder.path("table.csv.part");
    // A pipe in place of an image holds the run up there.
    let image = Path::new(&images[number]);
    let content = fs::read(image).unwrap();
    fs::remove_file(image).unwrap();
    pipe(image);
    let mut args: Vec<&str> = images.iter().map(String::as_str).collect();
    args.extend(["--table", &table, "--resume", "--jobs", "1"]);
    let mut child = start(&args);
    while lines(&part) < 1 + number {
        assert!(child.try_wait().unwrap().is_none(), "the run has ended");
        thread::sleep(Duration::from_millis(1));
    }
    child.kill().unwrap();
    child.wait().unwrap();
    fs::remove_file(image).unwrap();
    fs::write(image, content).unwrap();
    assert_eq!((lines(&part), Path::new(&inputs).is_dir()), (1 + number, true));
    (folder, images)
}

fn pipe(path: &Path) {
    assert!(Command::new("mkfifo").arg(path).status().unwrap().success());
}

/// Arguments for all images of a folder, by name, and its table.
fn arguments<'a>(images: &'a [String], table: &'a str) -> Vec<&'a str> {
    images.iter().map(String::as_str).chain(["--table", table, "--resume"]).collect()
}

#[cfg(unix)]
#[test]
fn what_is_done_is_not_done_again_and_a_torn_line_does_not_count() {
    for torn in ["", "{\"image\":5,\"keyp", "{"] {
        let (folder, images) = interrupted(5);
        let (table, part) = (folder.path("table.csv"), folder.path("table.csv.part"));
        OpenOptions::new().append(true).open(&part).unwrap().write_all(torn.as_bytes()).unwrap();
        let text = succeed(&arguments(&images, &table));
        assert_eq!(text.lines().count(), 8, "{text}");
        assert!(text.lines().next().unwrap().contains("05.png") && text.contains("5 more were done before"));
        assert!(fs::read_to_string(&table).unwrap() == table_of_single_runs(&images));
        // A complete table is left alone.
        let written = fs::metadata(&table).unwrap().modified().unwrap();
        let output = detect(&arguments(&images, &table));
        assert!(output.status.success());
        assert!(String::from_utf8(output.stderr).unwrap().contains("table.csv is complete"));
        assert_eq!(fs::metadata(&table).unwrap().modified().unwrap(), written);
        assert_eq!(folder.names(), ["in", "table.csv", "table.csv.part"]);
    }
}

#[cfg(unix)]
#[test]
fn records_of_other_inputs_or_options_are_refused() {
    let (folder, images) = interrupted(3);
    let (table, part) = (folder.path("table.csv"), folder.path("table.csv.part"));
    let before = fs::read(&part).unwrap();
    let all = arguments(&images, &table);
    for args in [
        arguments(&images[1..], &table),
        [&all[..], &["--preset", "lococo_2011"]].concat(),
        [&all[..], &["--threshold", "absolute:1e-7"]].concat(),
        [&all[..], &["--color"]].concat(),
        [&all[..], &["--mask", &images[0]]].concat(),
        [&all[..], &["--shard", "1/2"]].concat(),
        [&all[..], &["--no-orientation"]].concat(),
    ] {
        let line = crate::program::error_line("detect", &args);
        assert!(line.contains("cannot resume from") || line.contains("the mask has"), "{line}");
        assert!(fs::read(&part).unwrap() == before, "{args:?}");
    }
    // How it runs does not matter.
    succeed(&[&all[..], &["--jobs", "3", "--backend", "reference"]].concat());
    assert!(fs::read_to_string(&table).unwrap() == table_of_single_runs(&images));
}

#[cfg(unix)]
#[test]
fn files_that_are_no_records_are_left_alone() {
    let folder = Folder::new();
    let images = pictures(&folder, 3);
    let (table, part) = (folder.path("table.csv"), folder.path("table.csv.part"));
    let all = arguments(&images, &table);
    for text in ["precious", "precious\n", "{\"version\":\"0\"", "{}\n", "\n"] {
        fs::write(&part, text).unwrap();
        let line = crate::program::error_line("detect", &all);
        assert!(line.contains("cannot resume from") && line.contains("remove it to start again"), "{line}");
        assert_eq!(fs::read_to_string(&part).unwrap(), text);
    }
    // An input, by name or by a link.
    fs::copy(&images[0], &part).unwrap();
    let output = detect(&[&all[..], &[&part]].concat());
    assert_eq!(output.status.code(), Some(2));
    assert!(String::from_utf8(output.stderr).unwrap().contains("--resume would overwrite"));
    fs::remove_file(&part).unwrap();
    std::os::unix::fs::symlink(&images[0], &part).unwrap();
    let output = detect(&all);
    assert_eq!(output.status.code(), Some(2));
    assert!(fs::read(&images[0]).unwrap().starts_with(b"\x89PNG"));
    fs::remove_file(&part).unwrap();
    fs::create_dir(&part).unwrap();
    assert!(crate::program::error_line("detect", &all).contains("cannot resume from"));
    fs::remove_dir(&part).unwrap();
    pipe(Path::new(&part));
    assert!(crate::program::error_line("detect", &all).contains("it is no file"));
    fs::remove_file(&part).unwrap();
    // An empty file is what a run leaves that was killed at once.
    File::create(&part).unwrap();
    succeed(&all);
    assert_eq!(folder.names(), ["in", "table.csv", "table.csv.part"]);
    // Places that cannot be gone on with.
    for options in [&["--resume"][..], &["--table", "-", "--resume"], &["--table", "/dev/null", "--resume"]] {
        let output = detect(&[&[images[0].as_str()], options].concat());
        assert_eq!(output.status.code(), Some(2), "{options:?}");
    }
}

#[cfg(unix)]
#[test]
fn records_that_are_damaged_are_refused() {
    let (folder, images) = interrupted(3);
    let (table, part) = (folder.path("table.csv"), folder.path("table.csv.part"));
    let before = fs::read_to_string(&part).unwrap();
    for line in ["{\"image\":12}", "{\"image\":-1}", "{}", "", "[1]", "{\"image\":99999999999999999999}"] {
        fs::write(&part, format!("{before}{line}\n")).unwrap();
        assert!(
            crate::program::error_line("detect", &arguments(&images, &table)).contains("cannot resume from")
        );
    }
    fs::write(&part, format!("{before}{{\"image\":3,\"keypoints\":[\"1,2\"]}}\n")).unwrap();
    assert!(crate::program::error_line("detect", &arguments(&images, &table)).contains("table.csv"));
    assert!(!Path::new(&table).exists());
}

#[cfg(unix)]
#[test]
fn a_second_run_of_one_table_is_refused() {
    let folder = Folder::new();
    let mut images = pictures(&folder, 3);
    let (table, part) = (folder.path("table.csv"), folder.path("table.csv.part"));
    let held = folder.path("in/held.png");
    pipe(Path::new(&held));
    images.push(held.clone());
    let all = arguments(&images, &table);
    let mut first = start(&all);
    while lines(&part) < 4 {
        assert!(first.try_wait().unwrap().is_none(), "the run has ended");
        thread::sleep(Duration::from_millis(1));
    }
    for _ in 0..3 {
        assert!(crate::program::error_line("detect", &all).contains("another run writes it"));
    }
    let last = folder.path("last.png");
    picture(&last, 8);
    fs::write(&held, fs::read(&last).unwrap()).unwrap();
    assert!(first.wait().unwrap().success());
    fs::rename(&last, &held).unwrap();
    assert!(fs::read_to_string(&table).unwrap() == table_of_single_runs(&images));
    assert_eq!(folder.names(), ["in", "table.csv", "table.csv.part"]);
    // Many runs at once: one makes the table, and the others are refused or find it complete.
    for _ in 0..5 {
        fs::remove_file(&table).unwrap();
        let runs: Vec<Child> = (0..6).map(|_| start(&all)).collect();
        for run in runs {
            let output = run.wait_with_output().unwrap();
            let errors = String::from_utf8(output.stderr).unwrap();
            let refused = errors.contains("another run writes it");
            assert_eq!(output.status.code(), Some(i32::from(refused)), "{errors}");
        }
        assert!(fs::read_to_string(&table).unwrap() == table_of_single_runs(&images));
        assert_eq!(folder.names(), ["in", "table.csv", "table.csv.part"]);
    }
}

#[cfg(unix)]
#[test]
fn images_whose_files_are_not_there_are_done_again() {
    let (folder, images) = interrupted(4);
    let (table, lists) = (folder.path("table.csv"), folder.path("lists"));
    // The interrupted run wrote no lists.
    let text = succeed(&[&arguments(&images, &table)[..], &["--csv", &lists]].concat());
    assert_eq!(text.lines().count(), 13, "{text}");
    assert_eq!(fs::read_dir(&lists).unwrap().count(), 12);
    assert!(fs::read_to_string(&table).unwrap() == table_of_single_runs(&images));
    // Without a table, too.
    succeed(&[&folder.path("in"), "--csv", &lists, "--resume"]);
    fs::remove_file(Path::new(&lists).join("07.csv")).unwrap();
    let text = succeed(&[&folder.path("in"), "--csv", &lists, "--resume"]);
    assert!(text.lines().count() == 2 && text.contains("07.png"), "{text}");
    assert!(text.contains("1 image in") && text.contains("11 more were done before"), "{text}");
}
