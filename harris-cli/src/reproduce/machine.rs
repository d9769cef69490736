//! The hardware, the date and the command of a run.

use std::time::{SystemTime, UNIX_EPOCH};

use crate::reproduce::engines::Engines;

/// Returns the command, the date and the hardware, a line each.
pub(crate) fn describe(engines: &Engines) -> Vec<String> {
    let words: Vec<_> = std::env::args().skip(1).collect();
    let mut lines = vec![
        format!("Command: `reproduce {}`, version {}", words.join(" "), env!("CARGO_PKG_VERSION")),
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
