//! The figures that the papers print: the files of `examples/data/published`, one figure a line.

use std::sync::LazyLock;

use serde::Deserialize;

use crate::reproduce::report::{Cell, Table};

const FILES: [&str; 5] = [
    include_str!("../../data/published/loundagin-2015.csv"),
    include_str!("../../data/published/jobanputra-stentz.csv"),
    include_str!("../../data/published/phull-2011.csv"),
    include_str!("../../data/published/chahuara-2017.csv"),
    include_str!("../../data/published/hofmann-2009.csv"),
];

static FIGURES: LazyLock<Vec<Figure>> = LazyLock::new(|| {
    let rows = |file: &&str| {
        let reader = csv::ReaderBuilder::new().comment(Some(b'#')).from_reader(file.as_bytes());
        reader.into_deserialize().map(|row| row.expect("the files are valid: held by a test")).collect()
    };
    FILES.iter().flat_map(|file| -> Vec<_> { rows(file) }).collect()
});

/// A number that a paper prints.
#[derive(Debug, Deserialize)]
pub(crate) struct Figure {
    /// Paper and table, figure or section.
    pub(crate) source: String,
    /// What was measured.
    pub(crate) item: String,
    pub(crate) quantity: String,
    /// Program and hardware.
    pub(crate) platform: String,
    /// Width and height of the image, if the paper tells them.
    pub(crate) size: String,
    pub(crate) parameter: String,
    /// The value as printed.
    pub(crate) value: String,
    pub(crate) unit: String,
}

impl Figure {
    pub(crate) fn number(&self) -> f64 {
        self.value.parse().expect("values are numbers: held by a test")
    }

    /// Returns width and height of the image.
    pub(crate) fn sides(&self) -> Option<(usize, usize)> {
        let (width, height) = self.size.split_once('x')?;
        Some((width.parse().ok()?, height.parse().ok()?))
    }

    /// Returns the time of one image in milliseconds, also from frames per second.
    pub(crate) fn milliseconds(&self) -> Option<f64> {
        match self.unit.as_str() {
            "ms" => Some(self.number()),
            "us" => Some(self.number() / 1e3),
            "1/s" => Some(1e3 / self.number()),
            _ => None,
        }
    }

    /// Returns the paper, without table or section.
    pub(crate) fn paper(&self) -> &str {
        self.source.split_once(',').map_or(&self.source, |(paper, _)| paper)
    }

    pub(crate) fn cell(&self) -> Cell {
        Cell::Printed(self.value.clone())
    }
}

/// Returns the figures whose source begins with a text, in the order of the files.
pub(crate) fn figures(source: &str, keep: impl Fn(&Figure) -> bool) -> Vec<&'static Figure> {
    FIGURES.iter().filter(|figure| figure.source.starts_with(source) && keep(figure)).collect()
}

/// A paper's figures as columns beside ours: a column for each platform, a cell for each image
/// size.
pub(crate) struct Theirs {
    label: String,
    figures: Vec<&'static Figure>,
}

/// Makes the columns of the figures whose source begins with a text. The label tells what they are,
/// if the platform does not.
pub(crate) fn theirs(label: &str, source: &str, keep: impl Fn(&Figure) -> bool) -> Theirs {
    Theirs { label: label.to_owned(), figures: figures(source, keep) }
}

impl Theirs {
    fn platforms(&self) -> Vec<&'static Figure> {
        let mut first: Vec<&Figure> = Vec::new();
        for figure in &self.figures {
            if !first.iter().any(|other| other.platform == figure.platform) {
                first.push(figure);
            }
        }
        first
    }

    pub(crate) fn columns(&self) -> Vec<String> {
        let label = if self.label.is_empty() { String::new() } else { format!(", {}", self.label) };
        let unit = |figure: &Figure| match figure.unit.as_str() {
            "1/s" => "frames a second".to_owned(),
            "ratio of times" => "times".to_owned(),
            unit => unit.to_owned(),
        };
        let column = |figure: &&Figure| format!("theirs{label}: {}, {}", figure.platform, unit(figure));
        self.platforms().iter().map(column).collect()
    }

    /// Returns the cells of an image size; empty if the paper has no figure.
    pub(crate) fn cells(&self, sides: (usize, usize)) -> Vec<Cell> {
        let of = |platform: &str| {
            let at = |figure: &&&Figure| figure.platform == platform && figure.sides() == Some(sides);
            self.figures.iter().find(at).map_or(Cell::Nothing, |figure| figure.cell())
        };
        self.platforms().iter().map(|figure| of(&figure.platform)).collect()
    }

    /// Returns the image sizes that the paper has figures for, in its order.
    pub(crate) fn sizes(&self) -> Vec<(usize, usize)> {
        let mut sizes = Vec::new();
        for size in self.figures.iter().filter_map(|figure| figure.sides()) {
            if !sizes.contains(&size) {
                sizes.push(size);
            }
        }
        sizes
    }
}

/// Makes a table of single figures, followed by columns of ours.
pub(crate) fn comparison_table(name: &str, title: &str, ours: impl IntoIterator<Item = String>) -> Table {
    let theirs = ["source", "item", "quantity", "platform", "size", "parameter", "unit", "theirs"];
    Table::new(name, title, theirs.map(str::to_owned).into_iter().chain(ours))
}

/// Returns the cells of a figure for a table of [`comparison_table`].
pub(crate) fn row(figure: &Figure, ours: impl IntoIterator<Item = Cell>) -> Vec<Cell> {
    let Figure { source, item, quantity, platform, size, parameter, unit, .. } = figure;
    let texts = [source, item, quantity, platform, size, parameter, unit];
    texts.map(|text| text.as_str().into()).into_iter().chain([figure.cell()]).chain(ours).collect()
}
