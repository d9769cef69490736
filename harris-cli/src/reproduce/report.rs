//! The results of an experiment: tables as CSV, charts as SVG, and both in a page of Markdown.

use std::path::{Path, PathBuf};

use crate::output;
use anyhow::{Result, anyhow};
use plotters::coord::ranged1d::{AsRangedCoord, ValueFormatter};
use plotters::prelude::*;

/// The page of an experiment.
pub(crate) struct Report {
    name: String,
    machine: Vec<String>,
    parts: Vec<Part>,
}

enum Part {
    Heading(String),
    Text(String),
    Table(Table),
    Chart(Chart),
}

/// A table, written to a CSV file of its own.
pub(crate) struct Table {
    /// The name of the file.
    name: String,
    title: String,
    columns: Vec<String>,
    rows: Vec<Vec<Cell>>,
}

/// A cell of a table.
#[derive(Clone, Debug, Default)]
pub(crate) enum Cell {
    Text(String),
    Number(f64),
    Count(usize),
    /// A number as a paper prints it.
    Printed(String),
    /// A figure that was not measured, or is not printed.
    #[default]
    Nothing,
}

/// A chart of lines, written to an SVG file of its own.
pub(crate) struct Chart {
    pub(crate) name: String,
    pub(crate) title: String,
    /// The texts of the axes, with units.
    pub(crate) axes: [String; 2],
    pub(crate) logarithmic: [bool; 2],
    /// The corner of the chart for the legend.
    pub(crate) legend: SeriesLabelPosition,
    pub(crate) lines: Vec<(String, Vec<(f64, f64)>)>,
}

impl Report {
    pub(crate) fn new(name: &str, machine: Vec<String>) -> Self {
        Self { name: name.to_owned(), machine, parts: Vec::new() }
    }

    pub(crate) fn heading(&mut self, text: impl Into<String>) {
        self.parts.push(Part::Heading(text.into()));
    }

    pub(crate) fn text(&mut self, text: impl Into<String>) {
        self.parts.push(Part::Text(text.into()));
    }

    pub(crate) fn table(&mut self, table: Table) {
        self.parts.push(Part::Table(table));
    }

    pub(crate) fn chart(&mut self, chart: Chart) {
        self.parts.push(Part::Chart(chart));
    }

    /// Returns the names of the tables without rows.
    pub(crate) fn empty_tables(&self) -> Vec<&str> {
        let tables = self.parts.iter().filter_map(|part| match part {
            Part::Table(table) => Some(table),
            _ => None,
        });
        tables.filter(|table| table.rows.is_empty()).map(|table| table.name.as_str()).collect()
    }

    /// Writes all files and returns the page's path.
    pub(crate) fn write(&self, folder: &Path) -> Result<PathBuf> {
        let file = |name: &str, ending: &str| folder.join(format!("{}-{name}.{ending}", self.name));
        let mut page = format!("# {}\n\n", self.name);
        for line in &self.machine {
            page += &format!("- {line}\n");
        }
        for part in &self.parts {
            page += "\n";
            match part {
                Part::Heading(text) => page += &format!("## {text}\n"),
                Part::Text(text) => page += &format!("{text}\n"),
                Part::Table(table) => {
                    output::whole(&file(&table.name, "csv"), |out| {
                        Ok(out.write_all(table.csv().as_bytes())?)
                    })?;
                    page += &table.markdown();
                }
                Part::Chart(chart) => {
                    let svg = chart.svg().map_err(|error| anyhow!("cannot draw {}: {error}", chart.name))?;
                    output::whole(&file(&chart.name, "svg"), |out| Ok(out.write_all(svg.as_bytes())?))?;
                    page += &format!("![{}]({}-{}.svg)\n", chart.title, self.name, chart.name);
                }
            }
        }
        let path = folder.join(format!("{}.md", self.name));
        output::whole(&path, |out| Ok(out.write_all(page.as_bytes())?))?;
        Ok(path)
    }
}

impl Table {
    pub(crate) fn new<S: Into<String>>(
        name: &str,
        title: impl Into<String>,
        columns: impl IntoIterator<Item = S>,
    ) -> Self {
        let columns = columns.into_iter().map(Into::into).collect();
        Self { name: name.to_owned(), title: title.into(), columns, rows: Vec::new() }
    }

    pub(crate) fn row(&mut self, cells: impl IntoIterator<Item = Cell>) {
        let cells: Vec<_> = cells.into_iter().collect();
        assert_eq!(cells.len(), self.columns.len(), "a row of {} has a cell a column", self.name);
        self.rows.push(cells);
    }

    /// Makes a chart with the columns from the second on as lines over the first, whose cells are
    /// numbers.
    pub(crate) fn chart(&self, axes: [&str; 2], logarithmic: [bool; 2]) -> Chart {
        let line = |i: usize| {
            let points = self.rows.iter().filter_map(|row| Some((row[0].value()?, row[i].value()?)));
            (self.columns[i].clone(), points.collect())
        };
        Chart {
            name: self.name.clone(),
            title: self.title.clone(),
            axes: axes.map(str::to_owned),
            logarithmic,
            legend: SeriesLabelPosition::UpperLeft,
            lines: (1..self.columns.len()).map(line).collect(),
        }
    }

    fn csv(&self) -> String {
        let quoted = |text: &str| match text.contains([',', '"', '\n']) {
            true => format!("\"{}\"", text.replace('"', "\"\"")),
            false => text.to_owned(),
        };
        let header: Vec<_> = self.columns.iter().map(|column| quoted(column)).collect();
        let rows = self.rows.iter().map(|row| {
            let cells: Vec<_> = row.iter().map(|cell| quoted(&cell.text())).collect();
            cells.join(",")
        });
        let lines: Vec<_> = std::iter::once(header.join(",")).chain(rows).collect();
        lines.join("\n") + "\n"
    }

    fn markdown(&self) -> String {
        let line = |cells: Vec<String>| format!("| {} |\n", cells.join(" | "));
        let mut text = format!("**{}**\n\n{}", self.title, line(self.columns.clone()));
        text += &line(vec!["---".to_owned(); self.columns.len()]);
        for row in &self.rows {
            text += &line(row.iter().map(Cell::text).collect());
        }
        if self.rows.is_empty() {
            text += "\nThe table has no rows: the run left out what they need, by --largest or --backend.\n";
        }
        text
    }
}

impl Cell {
    fn value(&self) -> Option<f64> {
        match self {
            Self::Number(value) => Some(*value),
            Self::Count(count) => Some(*count as f64),
            Self::Printed(text) => text.parse().ok(),
            Self::Text(_) | Self::Nothing => None,
        }
    }

    /// Formats numbers with three digits, and integers in full.
    fn text(&self) -> String {
        match self {
            Self::Text(text) | Self::Printed(text) => text.clone(),
            Self::Count(count) => count.to_string(),
            Self::Nothing => String::new(),
            Self::Number(value) if value.abs() < 1e-12 => "0".to_owned(),
            Self::Number(value) => {
                let digits = (2 - value.abs().max(1e-9).log10().floor() as i32).clamp(0, 9) as usize;
                format!("{value:.digits$}")
            }
        }
    }
}

impl From<&str> for Cell {
    fn from(text: &str) -> Self {
        Self::Text(text.to_owned())
    }
}

impl From<String> for Cell {
    fn from(text: String) -> Self {
        Self::Text(text)
    }
}

impl From<f64> for Cell {
    fn from(value: f64) -> Self {
        Self::Number(value)
    }
}

impl From<usize> for Cell {
    fn from(count: usize) -> Self {
        Self::Count(count)
    }
}

impl<T: Into<Cell>> From<Option<T>> for Cell {
    fn from(value: Option<T>) -> Self {
        value.map_or(Self::Nothing, Into::into)
    }
}

impl Chart {
    fn svg(&self) -> Result<String, Box<dyn std::error::Error>> {
        let extent = |values: &mut dyn Iterator<Item = f64>, logarithmic: bool| {
            let (least, most) =
                values.fold((f64::INFINITY, f64::NEG_INFINITY), |e, v| (e.0.min(v), e.1.max(v)));
            match (least.is_finite(), logarithmic) {
                (false, _) => 1.0..10.0,
                (true, true) => least * 0.8..most * 1.25,
                (true, false) => least.min(0.0)..(most * 1.05).max(least + 1e-9),
            }
        };
        let points = || self.lines.iter().flat_map(|(_, points)| points);
        let x = extent(&mut points().map(|p| p.0), self.logarithmic[0]);
        let y = extent(&mut points().map(|p| p.1), self.logarithmic[1]);
        let mut svg = String::new();
        // A long legend needs space for many lines.
        let height = 400 + 25 * self.lines.len().max(4) as u32;
        let area = SVGBackend::with_string(&mut svg, (800, height)).into_drawing_area();
        area.fill(&WHITE)?;
        match self.logarithmic {
            [true, true] => self.draw(&area, x.log_scale(), y.log_scale())?,
            [true, false] => self.draw(&area, x.log_scale(), y)?,
            [false, true] => self.draw(&area, x, y.log_scale())?,
            [false, false] => self.draw(&area, x, y)?,
        }
        area.present()?;
        drop(area);
        Ok(svg)
    }

    fn draw<X, Y>(
        &self,
        area: &DrawingArea<SVGBackend<'_>, plotters::coord::Shift>,
        x: X,
        y: Y,
    ) -> Result<(), Box<dyn std::error::Error>>
    where
        X: AsRangedCoord<Value = f64>,
        Y: AsRangedCoord<Value = f64>,
        X::CoordDescType: ValueFormatter<f64>,
        Y::CoordDescType: ValueFormatter<f64>,
    {
        let mut chart = ChartBuilder::on(area)
            .caption(&self.title, ("sans-serif", 18))
            .margin(12)
            .x_label_area_size(42)
            .y_label_area_size(64)
            .build_cartesian_2d(x, y)?;
        let short = |value: &f64| Cell::Number(*value).text();
        chart
            .configure_mesh()
            .x_desc(&self.axes[0])
            .y_desc(&self.axes[1])
            .x_label_formatter(&short)
            .y_label_formatter(&short)
            .light_line_style(WHITE)
            .draw()?;
        for (i, (name, points)) in self.lines.iter().enumerate() {
            let color = color(i);
            chart
                .draw_series(LineSeries::new(points.iter().copied(), color.stroke_width(2)).point_size(3))?
                .label(name)
                .legend(move |(x, y)| PathElement::new([(x, y), (x + 18, y)], color.stroke_width(2)));
        }
        chart
            .configure_series_labels()
            .position(self.legend.clone())
            .background_style(WHITE.mix(0.8))
            .border_style(BLACK.mix(0.3))
            .draw()?;
        Ok(())
    }
}

/// Returns the colour of a line: hues are far from each other, and dark enough for a white page.
fn color(i: usize) -> RGBAColor {
    let lightness = if i.is_multiple_of(2) { 0.35 } else { 0.5 };
    HSLColor((i as f64 * 0.618_034).fract(), 0.85, lightness).to_rgba()
}
