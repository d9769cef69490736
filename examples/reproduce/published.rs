//! What the papers report, as data: `published.csv`.

use crate::report::{Report, Table};

const ROWS: &str = include_str!("published.csv");

/// Adds a table of what a paper and those beside it report.
pub(crate) fn table(report: &mut Report, experiment: &str) {
    let mut rows = ROWS.lines().map(|line| line.split(';').map(str::trim).collect::<Vec<_>>());
    let columns = rows.next().unwrap_or_default();
    let mut table = Table::new("published", "What was published", columns.into_iter().skip(1));
    for row in rows.filter(|row| row.first() == Some(&experiment)) {
        table.row(row.into_iter().skip(1).map(Into::into));
    }
    report.heading("Published figures");
    report.text(
        "Figures that could be checked at their source. Times of the papers' own tables that are not here were not at hand; a line in \
         `examples/reproduce/published.csv` adds one.",
    );
    report.table(table);
}
