//! The hardware, the date and the command of a run.

use std::ffi::OsString;
use std::path::Path;
use std::time::{SystemTime, UNIX_EPOCH};

use crate::input;
use crate::reproduce::engines::Engines;

/// Returns the command, the date and the hardware, a line each.
pub(crate) fn describe(engines: &Engines) -> Vec<String> {
    let mut lines = vec![
        format!("Command: {}, version {}", command(std::env::args_os().skip(1)), env!("CARGO_PKG_VERSION")),
        format!("Date: {}", date()),
        format!("CPU: {}, {} threads", cpu(), engines.threads()),
    ];
    lines.push(match engines.gpu() {
        Some(gpu) => format!("GPU: {gpu}"),
        None => "GPU: none, so the columns of GPUs are missing".to_owned(),
    });
    if !engines.reference() {
        lines.push("The reference detector was not run.".to_owned());
    }
    lines
}

/// Formats the command as code of Markdown, quoted for a shell.
fn command(arguments: impl Iterator<Item = OsString>) -> String {
    let quote = |word: &str| {
        let is_plain = |c: char| c.is_alphanumeric() || "-_=.,/:+@%".contains(c);
        match !word.is_empty() && word.chars().all(is_plain) {
            true => word.to_owned(),
            false => format!("'{}'", word.replace('\'', "'\\''")),
        }
    };
    let words = arguments.map(|word| quote(&input::name_for_programs(Path::new(&word))));
    let line = std::iter::once("harris".to_owned()).chain(words).collect::<Vec<_>>().join(" ");
    let line = line.replace(char::is_control, "\u{fffd}");
    // Code with backticks needs longer ones around it.
    if line.contains('`') { format!("`` {line} ``") } else { format!("`{line}`") }
}

fn cpu() -> String {
    let text = std::fs::read_to_string("/proc/cpuinfo").unwrap_or_default();
    let model = text.lines().find_map(|line| line.strip_prefix("model name")?.split_once(": "));
    model.map_or_else(|| std::env::consts::ARCH.to_owned(), |(_, name)| name.to_owned())
}

/// Returns the date in UTC, as year-month-day.
fn date() -> String {
    let days = SystemTime::now().duration_since(UNIX_EPOCH).map_or(0, |time| time.as_secs() / 86400);
    let leap = |year: u64| year.is_multiple_of(4) && (!year.is_multiple_of(100) || year.is_multiple_of(400));
    let (mut year, mut left) = (1970, days);
    while left >= 365 + u64::from(leap(year)) {
        left -= 365 + u64::from(leap(year));
        year += 1;
    }
    let lengths = [31, 28 + u64::from(leap(year)), 31, 30, 31, 30, 31, 31, 30, 31, 30, 31];
    let mut month = 0;
    while left >= lengths[month] {
        left -= lengths[month];
        month += 1;
    }
    format!("{year}-{:02}-{:02}", month + 1, left + 1)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_command_can_be_copied_to_a_shell() {
        let of = |words: &[&str]| command(words.iter().map(OsString::from));
        assert_eq!(
            of(&["reproduce", "all", "--out=a/b.c", "--seconds", "0.1"]),
            "`harris reproduce all --out=a/b.c --seconds 0.1`"
        );
        assert_eq!(of(&["reproduce", "--out", "my results", ""]), "`harris reproduce --out 'my results' ''`");
        assert_eq!(of(&["it's", "$HOME"]), "`harris 'it'\\''s' '$HOME'`");
        assert_eq!(of(&["a`b"]), "`` harris 'a`b' ``");
    }
}
