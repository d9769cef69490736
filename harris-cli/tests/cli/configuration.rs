//! Tests of configuration files, shell completions and the manual.

use std::fs;

use crate::program::{Folder, data, error_line, run, succeed};

/// Options of the Harris and of the Fast-Hessian detector, with numbers of many digits.
const OPTIONS: [&[&str]; 6] = [
    &[],
    &["--preset", "opencv_gftt"],
    &["--preset", "lococo_2011", "--color", "--max-corners", "50"],
    &["--smoothing", "gaussian:5:1.1000000000000003", "--window", "gaussian:7:1.7976931348623157"],
    &["--measure", "harris:0.05999999999999999", "--threshold", "relative:0.012345678901234567"],
    &["--detector", "fast-hessian", "--octaves", "2", "--determinant", "1.2345679e-5"],
];

#[test]
fn a_printed_configuration_gives_the_same_keypoints_and_prints_the_same() {
    let folder = Folder::new();
    let image = data("coffee.png");
    for options in OPTIONS {
        let expected = succeed("detect", &[&[image.as_str(), "--csv", "-"], options].concat());
        for format in ["toml", "json"] {
            let print = format!("--print-config={format}");
            let text = succeed("detect", &[options, &[print.as_str()]].concat());
            let file = folder.path(&format!("config.{format}"));
            fs::write(&file, &text).unwrap();
            assert_eq!(succeed("detect", &["--config", &file, &print]), text, "{options:?}");
            let found = succeed("detect", &[&image, "--config", &file, "--csv", "-"]);
            assert!(found == expected, "{options:?} {format}");
        }
    }
    // TOML is the default, and options change what the file has.
    let file = folder.path("config.toml");
    fs::write(&file, succeed("detect", &["--preset", "opencv_gftt", "--print-config"])).unwrap();
    let args = [&image, "--csv", "-", "--max-corners", "9"];
    assert_eq!(
        succeed("detect", &[&args[..], &["--config", &file]].concat()),
        succeed("detect", &[&args[..], &["--preset", "opencv_gftt"]].concat())
    );
}

/// Numbers keep all their bits in both formats.
#[test]
fn numbers_of_configurations_are_exact() {
    let folder = Folder::new();
    let mut bits = 0x9e37_79b9_7f4a_7c15_u64;
    for _ in 0..20 {
        bits = bits.wrapping_mul(0xd134_2543_de82_ef95).wrapping_add(1);
        // From 1 to 2.
        let sigma = f64::from_bits(bits >> 12 | 1.0_f64.to_bits());
        let window = format!("gaussian:7:{sigma}");
        for format in ["toml", "json"] {
            let print = format!("--print-config={format}");
            let text = succeed("detect", &["--window", &window, &print]);
            assert!(text.contains(&sigma.to_string()), "{sigma}: {text}");
            let file = folder.path(&format!("config.{format}"));
            fs::write(&file, &text).unwrap();
            assert_eq!(succeed("detect", &["--config", &file, &print]), text);
        }
    }
}

#[test]
fn bad_configuration_files_are_one_line_of_error() {
    let folder = Folder::new();
    for (name, text, part) in [
        ("a.toml", "detector = 3", "a.toml"),
        ("b.toml", "[harris]\nwindou = 3", "windou"),
        ("c.json", "{\"detector\": \"harris\"", "c.json"),
        ("d.json", "", "d.json"),
        ("e.yaml", "", "must end in .toml or .json"),
        ("f.toml", "\u{0}\u{1}", "f.toml"),
        ("g.json", &"[".repeat(100_000), "g.json"),
        ("h.toml", &format!("a = {}", "[".repeat(100_000)), "h.toml"),
        ("i.json", &" ".repeat((1 << 20) + 1), "longer than 1 MiB"),
    ] {
        let file = folder.path(name);
        fs::write(&file, text).unwrap();
        let line = error_line("detect", &[&data("camera.png"), "--config", &file]);
        assert!(line.contains(part) && line.len() < 2000, "{line}");
    }
    let none = folder.path("none.toml");
    assert!(error_line("detect", &[&data("camera.png"), "--config", &none]).contains("none.toml"));
}

#[test]
fn completions_are_made_for_all_shells() {
    for shell in ["bash", "elvish", "fish", "powershell", "zsh"] {
        let script = succeed("completions", &[shell]);
        for word in ["harris", "detect", "score", "tolerance", "print-config"] {
            assert!(script.contains(word), "{shell}: {word}");
        }
    }
    assert!(error_line("completions", &["csh"]).contains("bash"));
}

#[test]
fn the_manual_has_a_page_for_each_subcommand() {
    let folder = Folder::new();
    succeed("man", &[&folder.path("")]);
    let help = String::from_utf8(run("help", [""; 0]).stdout).unwrap();
    let commands = help.split("Commands:").nth(1).unwrap().split("Options:").next().unwrap();
    let commands = commands.lines().filter_map(|line| line.split_whitespace().next());
    let names = folder.names();
    let mut number = 0;
    for command in commands.filter(|command| *command != "help") {
        assert!(names.contains(&format!("harris-{command}.1")), "{command}: {names:?}");
        number += 1;
    }
    assert!(number >= 8 && names.contains(&"harris.1".to_owned()));
    let page = fs::read_to_string(folder.path("harris-score.1")).unwrap();
    assert!(page.contains("tolerance") && page.contains("precision"), "{page}");
    assert!(error_line("man", &[&folder.path("none")]).contains("cannot write"));
}
