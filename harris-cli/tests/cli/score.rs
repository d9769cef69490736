//! Tests of the subcommand `score`.

use std::fs;
use std::path::Path;
use std::process::Output;

use harris_evaluation::scenes::Chessboard;
use image::{GrayImage, Luma, Rgb};
use serde_json::Value;

use crate::program::Folder;

fn succeed(args: &[&str]) -> String {
    crate::program::succeed("score", args)
}

/// Runs the program, which must end with a code and one line of error.
fn fails(args: &[&str], code: i32) -> String {
    assert_eq!(crate::program::run("score", args).status.code(), Some(code), "{args:?}");
    crate::program::error_line("score", args)
}

/// Writes a file of the folder and returns its path.
fn write(folder: &Folder, name: &str, text: impl AsRef<[u8]>) -> String {
    fs::write(folder.path(name), text).unwrap();
    folder.path(name)
}

/// Draws a chessboard, and returns its corners as rows of CSV.
fn board(path: &str, squares: usize, shift: [f64; 2]) -> String {
    let board = Chessboard::builder().squares(squares).size(128).build().unwrap();
    GrayImage::from_raw(128, 128, board.draw().into_iter().collect()).unwrap().save(path).unwrap();
    board.corners().iter().map(|[x, y]| format!("{},{}\n", x + shift[0], y + shift[1])).collect()
}

/// Draws a gray picture without corners.
fn plain(folder: &Folder, name: &str) -> String {
    GrayImage::from_pixel(100, 80, Luma([90])).save(folder.path(name)).unwrap();
    folder.path(name)
}

/// Parses lines of JSON.
fn json(text: &str) -> Vec<Value> {
    text.lines().map(|line| serde_json::from_str(line).unwrap()).collect()
}

/// Returns the fields of each line of a table.
fn fields(text: &str) -> Vec<Vec<&str>> {
    text.lines().map(|line| line.split_whitespace().collect()).collect()
}

#[test]
fn all_corners_of_a_chessboard_are_hits() {
    let folder = Folder::new();
    let image = folder.path("board.png");
    let truth = write(&folder, "truth.csv", "x,y\n".to_owned() + &board(&image, 8, [0.0; 2]));
    for options in [&[][..], &["--backend", "reference"], &["--backend", "cpu", "--threads", "1"]] {
        let text = succeed(&[&[image.as_str(), "--truth", &truth], options].concat());
        let rows = fields(&text);
        assert_eq!(rows.len(), 3, "{text}");
        let header = "file found corners hits precision recall mean error max error";
        assert_eq!(rows[0].join(" "), header);
        assert_eq!(rows[1][..6], [image.as_str(), "49", "49", "49", "1.0000", "1.0000"]);
        // A corner between four pixels is found in one of them.
        assert_eq!(rows[1][6..], ["0.707", "0.707"]);
        assert_eq!((rows[2][0], &rows[2][1..]), ("all", &rows[1][1..]));
        // Columns are aligned.
        let widths: Vec<_> = text.lines().map(str::len).collect();
        assert!(widths.iter().all(|width| *width == widths[0]), "{text}");
    }
    let few = succeed(&[&image, "--truth", &truth, "--max-corners", "7", "--json"]);
    let few = json(&few);
    assert_eq!(
        (&few[0]["found"], &few[0]["precision"], &few[0]["hits"]),
        (&7.into(), &1.0.into(), &7.into())
    );
    assert_eq!(few[0]["recall"], 7.0 / 49.0);
    // A mask leaves the corners of one half.
    let mask = folder.path("mask.png");
    GrayImage::from_fn(128, 128, |x, _| Luma([u8::from(x < 56)])).save(&mask).unwrap();
    let half = json(&succeed(&[&image, "--truth", &truth, "--mask", &mask, "--json"]));
    assert_eq!((&half[0]["hits"], &half[0]["precision"]), (&21.into(), &1.0.into()));
}

#[test]
fn a_shift_of_the_truth_is_the_error() {
    let folder = Folder::new();
    let image = folder.path("board.png");
    let rows = board(&image, 4, [0.0; 2]);
    let keypoints = write(&folder, "keypoints.csv", format!("x,y\n{rows}"));
    let shifted = board(&image, 4, [3.0, -2.0]);
    let truth = write(&folder, "truth.csv", format!("y,note,x\n{}", swap(&shifted)));
    let score = |tolerance: &str| {
        let args = [&image, "--truth", &truth, "--keypoints", &keypoints, "--json", "--tolerance", tolerance];
        json(&succeed(&args)).remove(0)
    };
    let error = f64::hypot(3.0, 2.0);
    let all = score("4");
    assert_eq!((&all["found"], &all["corners"], &all["hits"]), (&9.into(), &9.into(), &9.into()));
    assert!((all["mean_error"].as_f64().unwrap() - error).abs() < 1e-12);
    assert_eq!(all["max_error"], error);
    let none = score("3.6");
    assert_eq!((&none["hits"], &none["precision"], &none["recall"]), (&0.into(), &0.0.into(), &0.0.into()));
    assert_eq!((&none["mean_error"], &none["max_error"]), (&Value::Null, &Value::Null));
    // The default is 4.
    let args = [&image, "--truth", &truth, "--keypoints", &keypoints, "--json"];
    assert_eq!(json(&succeed(&args))[0], all);
}

/// Turns `x,y` into `y,,x`.
fn swap(rows: &str) -> String {
    rows.lines().map(|row| row.split_once(',').unwrap()).map(|(x, y)| format!("{y},,{x}\n")).collect()
}

#[test]
fn a_tolerance_includes_its_own_distance() {
    let folder = Folder::new();
    let image = plain(&folder, "a.png");
    let truth = write(&folder, "truth.csv", "x,y\n10,10\n50,50\n");
    let keypoints = write(&folder, "keypoints.csv", "x,y\n13,14\n50,50\n");
    let hits = |tolerance: &str| {
        let args = [&image, "--truth", &truth, "--keypoints", &keypoints, "--json", "--tolerance", tolerance];
        json(&succeed(&args))[0]["hits"].as_u64().unwrap()
    };
    assert_eq!(["0", "4.999", "5", "1e6", "5.001"].map(hits), [1, 1, 2, 2, 2]);
    for tolerance in ["-1", "nan", "inf", "1000001", "x", ""] {
        let line = fails(&[&image, "--truth", &truth, "--tolerance", tolerance], 2);
        assert!(line.contains("from 0 to 1000000"), "{line}");
    }
}

/// Makes a folder `in` of three boards with 1, 9 and 49 corners and a plain picture. Returns rows
/// of a list with a column for names.
fn boards(folder: &Folder) -> String {
    fs::create_dir(folder.path("in")).unwrap();
    let mut rows = String::new();
    for (name, squares) in [("a.png", 2), ("b.png", 4), ("c.png", 8)] {
        let corners = board(&folder.path(&format!("in/{name}")), squares, [0.0; 2]);
        rows += &corners.lines().map(|row| format!("{row},{name}\n")).collect::<String>();
    }
    plain(folder, "in/d.png");
    rows
}

#[test]
fn several_images_are_told_apart_by_name_or_by_their_own_files() {
    let folder = Folder::new();
    let rows = boards(&folder);
    let images = folder.path("in");
    let one = write(&folder, "truth.csv", format!("\u{feff}x,y,file\r\n{rows},,elsewhere/d.png\r\n"));
    fs::create_dir(folder.path("each")).unwrap();
    for stem in ["a", "b", "c", "d"] {
        let own = rows.lines().filter(|row| row.ends_with(&format!("{stem}.png")));
        let own: String = own.map(|row| row.rsplit_once(',').unwrap().0.to_owned() + "\n").collect();
        write(&folder, &format!("each/{stem}.csv"), format!("x,y\n{own}"));
    }
    let csv = folder.path("scores.csv");
    let text = succeed(&[&images, "--truth", &one]);
    let numbers: Vec<Vec<&str>> = fields(&text).into_iter().map(|row| row[1..4].to_vec()).collect();
    assert_eq!(numbers[1..5], [["1"; 3], ["9"; 3], ["49"; 3], ["0"; 3]]);
    assert_eq!(fields(&text)[5][..6], ["all", "59", "59", "59", "1.0000", "1.0000"]);
    assert_eq!(fields(&text)[4][4..], ["1.0000", "1.0000", "-", "-"]);
    assert_eq!(succeed(&[&images, "--truth", &folder.path("each"), "--csv", &csv]), text);

    // The table as CSV, and as lines of JSON.
    let table = fs::read_to_string(&csv).unwrap();
    let lines: Vec<&str> = table.lines().collect();
    assert_eq!(lines[0], "file,found,corners,hits,precision,recall,mean_error,max_error,error");
    assert_eq!(lines.len(), 6);
    assert_eq!(lines[4], format!("{images}/d.png,0,0,0,1,1,,,"));
    assert!(lines[5].starts_with("all,59,59,59,1,1,0.707"), "{}", lines[5]);
    assert_eq!(succeed(&[&images, "--truth", &one, "--csv", "-"]), table);
    let values = json(&succeed(&[&images, "--truth", &one, "--json"]));
    assert_eq!(values.len(), 5);
    assert_eq!(values[1]["file"], format!("{images}/b.png"));
    let all = (&values[4]["images"], &values[4]["failed"], &values[4]["corners"], &values[4]["recall"]);
    assert_eq!(all, (&4.into(), &0.into(), &59.into(), &1.0.into()));

    // Lists that detect has written, of one image each and of all.
    let (lists, list) = (folder.path("lists"), folder.path("list.csv"));
    crate::program::succeed("detect", &[&images, "--csv", &lists, "--table", &list]);
    for keypoints in [&lists, &list] {
        assert_eq!(succeed(&[&images, "--truth", &one, "--keypoints", keypoints]), text);
    }
    // Keypoints as truth.
    let same = json(&succeed(&[&images, "--truth", &list, "--json", "--tolerance", "0"]));
    assert_eq!((&same[4]["precision"], &same[4]["recall"]), (&1.0.into(), &1.0.into()));
}

#[test]
fn an_empty_truth_has_no_corners() {
    let folder = Folder::new();
    let rows = boards(&folder);
    assert!(rows.lines().count() == 59);
    for header in ["x,y\n", "x,y", "file,x,y\n"] {
        let truth = write(&folder, "truth.csv", header);
        let [plain, board] = ["in/d.png", "in/b.png"].map(|name| folder.path(name));
        let values = json(&succeed(&[&plain, "--truth", &truth, "--json"]));
        assert_eq!((&values[0]["precision"], &values[0]["recall"]), (&1.0.into(), &1.0.into()));
        let values = json(&succeed(&[&board, "--truth", &truth, "--json"]));
        assert_eq!((&values[0]["precision"], &values[0]["recall"]), (&0.0.into(), &1.0.into()));
    }
}

#[test]
fn images_that_cannot_be_scored_are_told_and_counted() {
    let folder = Folder::new();
    let rows = boards(&folder);
    let images = folder.path("in");
    write(&folder, "in/b.png", b"no image");
    fs::remove_file(folder.path("in/d.png")).unwrap();
    let truth = write(&folder, "truth.csv", format!("x,y,file\n{rows}"));
    let csv = folder.path("scores.csv");
    let text = |output: &Output| {
        assert_eq!(output.status.code(), Some(1));
        let errors = String::from_utf8(output.stderr.clone()).unwrap();
        let errors = errors.lines().filter(|line| !line.starts_with("backend: "));
        (String::from_utf8(output.stdout.clone()).unwrap(), errors.map(str::to_owned).collect::<Vec<_>>())
    };
    let (table, errors) = text(&crate::program::run("score", [&images, "--truth", &truth, "--csv", &csv]));
    assert_eq!(errors.len(), 2, "{errors:?}");
    assert!(errors[0].starts_with("error: cannot read ") && errors[0].contains("b.png"), "{errors:?}");
    assert_eq!(errors[1], "1 of 3 images have no score");
    assert_eq!(fields(&table).len(), 4);
    assert_eq!(fields(&table)[3][..4], ["all", "50", "50", "50"]);
    let table = fs::read_to_string(&csv).unwrap();
    assert!(table.lines().nth(2).unwrap().contains("in/b.png,,,,,,,,\"cannot read"), "{table}");
    assert!(table.lines().nth(4).unwrap().starts_with("all,50,50,50,"), "{table}");
    let (lines, _) = text(&crate::program::run("score", [&images, "--truth", &truth, "--json"]));
    let lines = json(&lines);
    assert!(lines[1]["error"].as_str().unwrap().contains("b.png") && lines[1]["found"].is_null());
    assert_eq!(
        (&lines[3]["images"], &lines[3]["failed"], &lines[3]["found"]),
        (&3.into(), &1.into(), &50.into())
    );

    // The truth has no row of an image; an image's file is not there; a table of detect has an error.
    let truth = write(&folder, "truth.csv", format!("x,y,file\n{}", rows.replace("c.png", "C.png")));
    let (_, errors) = text(&crate::program::run("score", [&images, "--truth", &truth]));
    assert!(errors[1].contains("c.png") && errors[1].contains("has no row for c.png"), "{errors:?}");
    fs::create_dir(folder.path("each")).unwrap();
    write(&folder, "each/a.csv", "x,y\n");
    let (_, errors) = text(&crate::program::run("score", [&images, "--truth", &folder.path("each")]));
    assert!(errors[1].contains("each/c.csv") && errors.len() == 3, "{errors:?}");
    let list = folder.path("list.csv");
    assert_eq!(crate::program::run("detect", [&images, "--table", &list]).status.code(), Some(1));
    let truth = write(&folder, "truth.csv", format!("x,y,file\n{rows}"));
    let (_, errors) = text(&crate::program::run("score", [&images, "--truth", &truth, "--keypoints", &list]));
    assert!(errors[0].contains("it has an error for this image: cannot read"), "{errors:?}");
    // Without any score there is no table.
    let line = fails(&[&folder.path("in/b.png"), "--truth", &truth], 1);
    assert!(line.contains("not a PNG"), "{line}");
    let output = crate::program::run("score", [&folder.path("in/b.png"), "--truth", &truth]);
    assert!(output.stdout.is_empty());
}

#[test]
fn lists_that_are_not_valid_are_one_line_of_error() {
    let folder = Folder::new();
    let image = plain(&folder, "a.png");
    let good = write(&folder, "good.csv", "x,y\n1,2\n");
    for (text, part) in [
        (&b""[..], "line 1: there is no column `x`"),
        (b"1,2\n3,4\n", "line 1: there is no column `x`"),
        (b"x;y\n1;2\n", "line 1: there is no column `x`"),
        (b"x,y\n1,2\n3,nan\n", "line 3: y is not a finite number: \"nan\""),
        (b"x,y\r\n1,2\r\n-inf,4\r\n", "line 3: x is not a finite number: \"-inf\""),
        (b"x,y\n1,\xff\xfe\n", "line 2: y is not a finite number"),
        (b"\xff\xfex\0,\0y\0\n\0", "line 1: there is no column `x`"),
        (b"x,y\n1,2,3\n", "line 2: it has 3 fields, and the header 2"),
        (b"x,y,file\n1,2,\n", "line 2: there is no file name"),
        (b"\x89PNG\r\n\x1a\n\0\0\0\rIHDR", "line 1: there is no column `x`"),
    ] {
        let bad = write(&folder, "bad.csv", text);
        for args in
            [[&image, "--truth", &bad, "--keypoints", &good], [&image, "--truth", &good, "--keypoints", &bad]]
        {
            let line = fails(&args, 1);
            assert!(line.contains("bad.csv") && line.contains(part), "{line}");
        }
    }
    assert!(fails(&[&image, "--truth", &folder.path("none.csv")], 1).contains("none.csv"));
    assert!(fails(&[&image], 2).contains("--truth"));
    assert!(fails(&["--truth", &good], 2).contains("IMAGE"));
    // Several images with a list of one; two images of one name.
    let other = plain(&folder, "b.png");
    let line = fails(&[&image, &other, "--truth", &good], 1);
    assert!(line.contains("good.csv: there is no column `file`"), "{line}");
    fs::create_dir(folder.path("more")).unwrap();
    let (again, jpeg) = (plain(&folder, "more/a.png"), plain(&folder, "more/a.jpg"));
    let named = write(&folder, "named.csv", "x,y,file\n1,2,a.png\n");
    assert!(fails(&[&image, &again, "--truth", &named], 2).contains("have the same name"));
    assert!(fails(&[&image, &jpeg, "--truth", &folder.path("more")], 2).contains("have the same name"));
    // Options of detection with a list.
    for options in
        [&["--preset", "lococo_2011"][..], &["--mask", &image], &["--backend", "cpu"], &["--color"]]
    {
        let line = fails(&[&[image.as_str(), "--truth", &good, "--keypoints", &good], options].concat(), 2);
        assert!(line.contains("--keypoints") && line.contains(options[0]), "{line}");
    }
    // A long file is refused at once.
    let long = folder.path("long.csv");
    fs::File::create(&long).unwrap().set_len((64 << 20) + 1).unwrap();
    assert!(fails(&[&image, "--truth", &long], 1).contains("longer than 64 MiB"));
}

#[test]
fn too_many_pairs_are_an_error() {
    let folder = Folder::new();
    let image = plain(&folder, "a.png");
    let many = write(&folder, "many.csv", "x,y\n".to_owned() + &"5,5\n".repeat(40_000));
    let line = fails(&[&image, "--truth", &many, "--keypoints", &many], 1);
    assert!(line.contains("choose a smaller --tolerance"), "{line}");
}

#[test]
fn pictures_show_hits_misses_and_false_keypoints() {
    let folder = Folder::new();
    let image = plain(&folder, "a.png");
    let truth = write(&folder, "truth.csv", "x,y\n21,20\n50,40\n1e30,7\n");
    let keypoints = write(&folder, "keypoints.csv", "x,y\n20,20\n80,60\n");
    let out = folder.path("out.png");
    succeed(&[&image, "--truth", &truth, "--keypoints", &keypoints, "--picture", &out]);
    let drawn = image::open(&out).unwrap().into_rgb8();
    assert_eq!(drawn.dimensions(), (100, 80));
    let at = |x: u32, y: u32| drawn.get_pixel(x, y).0;
    // Rings of a radius of three pixels, around the keypoint.
    let [r, g, b] = at(23, 20);
    assert!(g > r + 60 && g > b + 60, "{r} {g} {b}");
    let [r, g, b] = at(80, 57);
    assert!(r > b + 60 && g > b + 60, "{r} {g} {b}");
    let [r, g, b] = at(50, 40);
    assert!(r > 180 && g < 90 && b < 90, "{r} {g} {b}");
    // The middle of a ring, and what is far from marks.
    for (x, y) in [(20, 20), (80, 60), (50, 20), (5, 75), (99, 7)] {
        assert_eq!(at(x, y), [90; 3], "{x} {y}");
    }
    // Several pictures, and one after detection.
    let many = folder.path("many");
    let named = write(&folder, "named.csv", "x,y,file\n21,20,a.png\n,,b.png\n");
    let other = plain(&folder, "b.png");
    succeed(&[&image, &other, "--truth", &named, "--picture", &many]);
    let missed = image::open(Path::new(&many).join("a.png")).unwrap().into_rgb8();
    assert!(missed.get_pixel(21, 20).0[0] > 180);
    assert!(
        image::open(Path::new(&many).join("b.png")).unwrap().into_rgb8().pixels().all(|p| *p == Rgb([90; 3]))
    );
    succeed(&[&image, "--truth", &truth, "--picture", &folder.path("out.jpg")]);
    assert_eq!(image::image_dimensions(folder.path("out.jpg")).unwrap(), (100, 80));
}

#[test]
fn nothing_that_is_read_is_overwritten() {
    let folder = Folder::new();
    let image = plain(&folder, "a.png");
    let truth = write(&folder, "a.csv", "x,y\n21,20\n");
    let keypoints = write(&folder, "keypoints.csv", "x,y\n20,20\n");
    let mask = plain(&folder, "mask.png");
    let (at, here) = (|name: &str| folder.path(name), folder.path(""));
    fs::hard_link(&truth, at("hard.csv")).unwrap();
    let before: Vec<_> = folder.names().iter().map(|name| fs::read(at(name)).unwrap()).collect();
    for outputs in [
        &["--picture", &image][..],
        &["--picture", &at("x/../a.png")],
        &["--csv", &truth],
        &["--csv", &at("hard.csv")],
        &["--csv", &keypoints],
        &["--csv", &at("scores.txt")],
        &["--picture", &at("out.gif")],
        &["--picture", "-", "--csv", "-"],
        &["--csv", "-", "--json"],
    ] {
        let args = [&[image.as_str(), "--truth", &truth, "--keypoints", &keypoints], outputs].concat();
        let code = crate::program::run("score", &args).status.code();
        // A path through a folder that is not there is an error of the file.
        assert!(code == Some(2) || outputs[1].contains("x/../"), "{args:?}");
        crate::program::error_line("score", &args);
    }
    for (options, code) in [
        (&["--mask", &mask, "--picture", &mask][..], 2),
        // Folders of results in which the inputs are.
        (&["--truth", &here, "--picture", &here, &mask], 2),
    ] {
        let truth: &[&str] = if options.contains(&"--truth") { &[] } else { &["--truth", &truth] };
        fails(&[&[image.as_str()], truth, options].concat(), code);
    }
    let after: Vec<_> = folder.names().iter().map(|name| fs::read(at(name)).unwrap()).collect();
    assert!(before == after);
}

#[test]
fn rows_are_found_by_the_whole_path_before_the_name() {
    let folder = Folder::new();
    for name in ["da", "db", "mix"] {
        fs::create_dir(folder.path(name)).unwrap();
    }
    let (a, b, mix) = (folder.path("da/x.png"), folder.path("db/x.png"), folder.path("mix/x.png"));
    squares(&a, 0);
    squares(&b, 7);
    fs::copy(&b, &mix).unwrap();
    let (both, first) = (folder.path("both.csv"), folder.path("first.csv"));
    let table = |args: &[&str]| crate::program::succeed("detect", &[args, &["--backend", "cpu"]].concat());
    table(&[&folder.path("da"), &folder.path("db"), "--table", &both]);
    table(&[&folder.path("da"), "--table", &first]);
    // The table of detect is the truth of the same images: each keypoint is a hit.
    for images in [&[a.as_str(), &b][..], &[&b, &a], &[&a], &[&folder.path("da"), &folder.path("db")]] {
        let output = crate::program::run(
            "score",
            [images, &["--truth", &both, "--json", "--tolerance", "0"]].concat(),
        );
        assert!(output.status.success() && !String::from_utf8(output.stderr).unwrap().contains("told by"));
        for line in json(&String::from_utf8(output.stdout).unwrap()) {
            assert_eq!((&line["precision"], &line["recall"]), (&1.0.into(), &1.0.into()), "{line}");
        }
    }
    // A file of the same name elsewhere is taken if it is the only one, and this is told.
    let output = crate::program::run("score", [mix.as_str(), "--truth", &first]);
    assert!(output.status.success());
    let note = String::from_utf8(output.stderr).unwrap();
    assert!(note.contains("mix/x.png is told by the rows of") && note.contains("da/x.png"), "{note}");
    let line = crate::program::error_line("score", &[&mix, "--truth", &both]);
    assert!(line.contains("rows for 2 files of this name in other folders"), "{line}");
}

/// Draws some squares, shifted by a number of pixels.
fn squares(path: &str, shift: u32) {
    let sample = |x: u32, y: u32| Luma([((x + shift) / 9 + y / 9) as u8 % 2 * 200]);
    GrayImage::from_fn(64, 48, sample).save(path).unwrap();
}
