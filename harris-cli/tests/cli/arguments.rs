//! Tests of the arguments of all subcommands: wrong ones end with the exit code 2, and help is there.

use std::fs;

use crate::program::{Folder, data, run, run_with_stdin, succeed};

/// Checks that a call ends with the exit code 2 and one line of error, and returns the line.
fn wrong(name: &str, args: &[&str]) -> String {
    let output = run(name, args);
    let text = String::from_utf8(output.stderr).unwrap();
    let line = text.lines().filter(|line| !line.starts_with("backend: ")).collect::<Vec<_>>();
    assert_eq!((output.status.code(), line.len()), (Some(2), 1), "{name} {args:?}: {text}");
    assert!(line[0].starts_with("error: ") && output.stdout.is_empty(), "{text}");
    line[0].to_owned()
}

#[test]
fn wrong_values_are_errors_of_the_arguments() {
    let camera = data("camera.png");
    for (options, part) in [
        (&["--preset", "foo"][..], "lococo_2011"),
        (&["--threads", "0"], "a whole number from 1 to 1024"),
        (&["--threads", "100000"], "a whole number from 1 to 1024"),
        (&["--threads", "-1"], "'-1' for '--threads"),
        (&["--jobs", "0"], "a whole number from 1 to 1024"),
        (&["--device", "x"], "a whole number is needed"),
        (&["--measure", "harris:nan"], "k must"),
        (&["--threshold", "relative:2"], "from 0 to 1"),
        (&["--min-distance", "nan"], "--min-distance"),
        (&["--min-distance", "-1"], "--min-distance"),
        (&["--nms-radius", "-1"], "a whole number is needed, at least 0"),
        (&["--max-corners", "-1"], "a whole number is needed, at least 0"),
        (&["--window", "box:1"], "from 2 to 127"),
        (&["--subpixel", "forstner:2"], "3"),
        (&["--border", "foo"], "reflect101"),
        (&["--octaves", "3"], "--detector fast-hessian"),
        (&["--octaves", "8"], "a whole number from 1 to 7"),
        (&["--detector", "fast-hessian", "--window", "box:3"], "--detector harris"),
        (&["--detector", "fast-hessian", "--preset", "lococo_2011"], "a preset of the Harris detector"),
        (&["--level", "sse2", "--backend", "reference"], "no instruction sets"),
        (&["--threads", "2", "--backend", "reference"], "one thread"),
        (&["--device", "1", "--backend", "cpu"], "no devices"),
        (&["--threads", "2", "--device", "1"], "belong to the CPU"),
        (&["--color=maybe"], "maybe"),
        (&["--fast"], "unexpected argument '--fast'"),
    ] {
        let line = wrong("detect", &[&[camera.as_str()], options].concat());
        assert!(line.contains(part), "{options:?}: {line}");
        for word in ["usize", "u32", "..=", "target type", "digit found", "found tip"] {
            assert!(!line.contains(word), "{line}");
        }
    }
    assert!(wrong("detect", &["-", "-"]).contains("named twice"));
    assert!(wrong("match", &[&camera, &camera, "--ratio", "2"]).contains("ratio"));
    assert!(wrong("match", &[&camera, &camera, "--magnification", "0"]).contains("magnification"));
    assert!(wrong("stream", &[&camera, "--rate", "-1"]).contains("frames per second from 0.001"));
    assert!(wrong("stream", &[&camera, "--in-flight", "0"]).contains("from 1 to 256"));
    assert!(wrong("reproduce", &["phull", "--largest", "0"]).contains("from 128"));
    assert!(wrong("reproduce", &["phull", "--seconds", "nan"]).contains("a number of seconds"));
    // Where the options are told.
    assert!(wrong("detect", &["--fast"]).ends_with("(see harris detect --help)"));
    assert!(wrong("nothing", &[]).ends_with("(see harris --help)"));
}

#[test]
fn files_and_folders_are_told_apart_before_work() {
    let folder = Folder::new();
    let at = |name: &str| folder.path(name);
    fs::create_dir(at("photos")).unwrap();
    for name in ["a.png", "b.png"] {
        fs::copy(data("camera.png"), at(&format!("photos/{name}"))).unwrap();
    }
    fs::write(at("there.png"), "a file").unwrap();
    fs::write(at("there"), "a file").unwrap();
    let (photos, before) = (at("photos"), folder.names());
    for (name, option) in
        [("detect", "--overlay"), ("detect", "--csv"), ("detect", "--response"), ("score", "--picture")]
    {
        for place in ["there.png", "there", "new.png", "new.CSV", "photos/new.npy", "new.jpeg"] {
            let truth = ["--truth", photos.as_str()];
            let place_there = at(place);
            let mut args = vec![photos.as_str(), option, &place_there];
            if name == "score" {
                args.extend(truth);
            }
            let line = wrong(name, &args);
            assert!(line.contains("several inputs need a folder") && line.contains("is a file"), "{line}");
            assert!(line.contains(place), "{line}");
        }
    }
    let line = wrong("match", &[&data("camera.png"), &photos, "--out", &at("new.png")]);
    assert!(line.contains("several inputs need a folder"), "{line}");
    assert!(wrong("detect", &[&photos, "--table", &photos]).contains("--table needs a file"));
    assert_eq!(folder.names(), before);
    // A folder may have any other name, and a folder that is there any at all.
    fs::create_dir(at("folder.png")).unwrap();
    succeed("detect", &[&photos, "--csv", &at("folder.png"), "--overlay", &at("v1.2")]);
    assert!(fs::exists(at("folder.png/a.csv")).unwrap() && fs::exists(at("v1.2/b.png")).unwrap());
}

#[cfg(target_os = "linux")]
#[test]
fn errors_name_the_file_and_not_its_temporary_name() {
    let output = run("detect", [data("camera.png").as_str(), "--csv", "/proc/corners.csv"]);
    let text = String::from_utf8(output.stderr).unwrap();
    assert!(text.contains("cannot write /proc/corners.csv: ") && !text.contains(".harris-"), "{text}");
}

#[test]
fn switches_and_print_config_take_their_value_behind_a_space_too() {
    let camera = data("camera.png");
    let json = succeed("detect", &["--print-config", "json"]);
    assert_eq!(json, succeed("detect", &["--print-config=json"]));
    assert!(json.starts_with('{') && !succeed("detect", &["--print-config"]).starts_with('{'));
    assert!(wrong("detect", &["--print-config", &camera]).contains("toml, json"));
    let list = |options: &[&str]| succeed("detect", &[&[camera.as_str(), "--csv", "-"], options].concat());
    let colors = ["--preset", "chahuara_2017"];
    let space = list(&[&colors[..], &["--color", "false"]].concat());
    assert_eq!(space, list(&[&colors[..], &["--color=false"]].concat()));
}

#[test]
fn a_configuration_is_never_dropped_and_may_come_from_a_pipe() {
    let folder = Folder::new();
    let camera = data("camera.png");
    let fast = succeed("detect", &["--detector", "fast-hessian", "--octaves", "2", "--print-config"]);
    let file = folder.path("fast.toml");
    fs::write(&file, &fast).unwrap();
    let line = wrong("detect", &[&camera, "--config", &file, "--detector", "harris"]);
    assert!(line.contains("configures the Fast-Hessian detector alone"), "{line}");
    succeed("detect", &[&camera, "--config", &file, "--detector", "fast-hessian"]);
    // One of both detectors serves either.
    fs::write(&file, format!("{fast}\n[harris]\nmax_corners = 3\n")).unwrap();
    let few = succeed("detect", &[&camera, "--config", &file, "--detector", "harris", "--csv", "-"]);
    assert_eq!(few.lines().count(), 1 + 3);
    for format in ["toml", "json"] {
        let text = succeed("detect", &["--max-corners", "7", "--print-config", format]);
        let output = run_with_stdin("detect", &["--config", "-", &camera, "--csv", "-"], text.as_bytes());
        assert_eq!(output.stdout.iter().filter(|&&byte| byte == b'\n').count(), 1 + 7, "{format}");
    }
    #[cfg(target_os = "linux")]
    {
        let args = ["--config", "/dev/stdin", &camera, "--csv", "-"];
        let output = run_with_stdin("detect", &args, b"[harris]\nmax_corners = 2\n");
        assert_eq!(String::from_utf8(output.stdout).unwrap().lines().count(), 1 + 2);
    }
    for (name, args) in [("detect", &["-", "--config", "-"][..]), ("stream", &["-", "--config", "-"])] {
        assert!(wrong(name, args).contains("both the configuration and an input"), "{name}");
    }
    assert!(wrong("match", &["-", &camera, "--config", "-"]).contains("both the configuration and an input"));
}

#[test]
fn parquet_is_offered_where_it_is_built_in() {
    let folder = Folder::new();
    let (camera, table) = (data("camera.png"), folder.path("table.parquet"));
    let help = succeed("detect", &["--help"]);
    if cfg!(feature = "parquet") {
        assert!(help.contains(".parquet"));
        succeed("detect", &[&camera, "--table", &table]);
    } else {
        assert!(!help.to_lowercase().contains("parquet"));
        assert!(wrong("detect", &[&camera, "--table", &table]).ends_with("the ending .csv"));
    }
}

/// Every subcommand has two examples that begin as a call of it.
#[test]
fn help_has_examples_and_outputs_come_before_the_detector() {
    for name in ["detect", "stream", "match", "track", "score", "bench", "reproduce", "completions", "man"] {
        for option in ["-h", "--help"] {
            let help = succeed(name, &[option]);
            let examples = help.split("Examples:\n").nth(1).unwrap_or_else(|| panic!("{name}: {help}"));
            let calls = examples.lines().filter(|line| line.contains(&format!("harris {name} ")));
            assert!(calls.count() >= 2, "{name}: {examples}");
        }
    }
    for name in ["detect", "stream", "match", "track", "score"] {
        let help = succeed(name, &["--help"]);
        let at = |heading: &str| help.find(&format!("\n{heading}:\n")).unwrap_or_else(|| panic!("{heading}"));
        assert!(at("Outputs") < at("Input") && at("Input") < at("Detector"), "{name}");
        let outputs = &help[at("Outputs")..at("Input")];
        assert!(outputs.contains("--json"), "{outputs}");
    }
    let help = succeed("detect", &["--help"]);
    for word in ["For users of OpenCV", "blockSize", "qualityLevel", "useHarrisDetector=False"] {
        assert!(help.contains(word), "{word}");
    }
}
