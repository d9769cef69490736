//! Options that choose a detector and its configuration.

use std::path::{Path, PathBuf};

use anyhow::bail;
use clap::Args;
use harris_core::fast_hessian::{self, FastHessianConfig, Sampling};
use harris_core::{
    Border, Error, Gradient, HarrisConfig, Measure, Order, Plateau, Smoothing, Subpixel, Threshold, Ties,
    Window, presets,
};

use super::config_file::ConfigFile;
use super::kind::{Choice, Detection, Kind};
use super::values::{self, whole};
use crate::messages::wrong;

/// The detector and its configuration.
#[derive(Args, Clone, Debug, Default)]
#[command(next_help_heading = "Detector")]
pub struct DetectorOptions {
    /// Kind of keypoints to detect; by default harris, or as --config has it
    #[arg(long, value_enum, value_name = "KIND")]
    detector: Option<Kind>,
    /// Configuration to start from, in TOML or JSON, as --print-config of detect writes it; - for
    /// standard input
    #[arg(long, value_name = "FILE|-", conflicts_with = "preset")]
    config: Option<PathBuf>,
    #[command(flatten)]
    harris: ConfigOptions,
    #[command(flatten)]
    blobs: BlobOptions,
}

impl DetectorOptions {
    /// Returns the configuration file or the preset, changed by the other options.
    ///
    /// # Errors
    /// The file cannot be read or is not valid, the preset is of the other detector, values do not
    /// fit together, or an option belongs to the other detector.
    pub fn choice(&self) -> anyhow::Result<Choice> {
        let file = self.config.as_deref().map(ConfigFile::read).transpose()?;
        let kind = self.detector.or(file.as_ref().map(|file| file.detector)).unwrap_or_default();
        if let Some(file) = &file {
            check_section(file, kind)?;
        }
        match kind {
            Kind::Harris => {
                if !self.blobs.is_default() {
                    bail!(wrong("options of the Fast-Hessian detector need --detector fast-hessian"));
                }
                let (start, color) = match file {
                    Some(file) => (file.harris.unwrap_or_default(), file.color),
                    None => self.harris.preset()?,
                };
                let config = self.harris.change(start).map_err(|error| wrong(error.to_string()))?;
                Ok(Choice { detection: Detection::Harris(config), color })
            }
            Kind::FastHessian => {
                if !self.harris.is_for_all_detectors() {
                    bail!(wrong("options of the Harris detector need --detector harris"));
                }
                let (start, color) = match file {
                    Some(file) => (file.fast_hessian.unwrap_or_default(), file.color),
                    None => (BlobOptions::preset(self.harris.preset.as_deref())?, false),
                };
                let config = self.blobs.change(start, self.harris.max_corners);
                let config = config.map_err(|error| wrong(error.to_string()))?;
                Ok(Choice { detection: Detection::FastHessian(config), color })
            }
        }
    }

    /// Checks that standard input is not both the configuration and an input.
    ///
    /// # Errors
    /// It is both.
    pub fn check_stdin<P: AsRef<Path>>(&self, inputs: impl IntoIterator<Item = P>) -> anyhow::Result<()> {
        let is_stdin = |path: &Path| path.as_os_str() == "-";
        if self.config.as_deref().is_some_and(is_stdin)
            && inputs.into_iter().any(|input| is_stdin(input.as_ref()))
        {
            bail!(wrong("standard input cannot be both the configuration and an input"));
        }
        Ok(())
    }
}

/// Refuses a file that configures the other detector alone: all that it says would be lost.
fn check_section(file: &ConfigFile, kind: Kind) -> anyhow::Result<()> {
    let (own, other) = match kind {
        Kind::Harris => (file.harris.is_some(), file.fast_hessian.is_some()),
        Kind::FastHessian => (file.fast_hessian.is_some(), file.harris.is_some()),
    };
    if other && !own {
        let (wanted, there) = match kind {
            Kind::Harris => ("harris", "Fast-Hessian"),
            Kind::FastHessian => ("fast-hessian", "Harris"),
        };
        bail!(wrong(format!(
            "the file of --config configures the {there} detector alone, and the detector is {wanted}"
        )));
    }
    Ok(())
}

/// Whether to use colours or luma.
#[derive(Args, Clone, Copy, Debug, Default)]
#[command(next_help_heading = "Input")]
pub struct ColorOptions {
    /// Use the colours of colour files, or with --color=false their brightness (luma); by default
    /// as the preset has it
    #[arg(long, value_name = "BOOL", num_args = 0..=1, require_equals = true, default_missing_value = "true")]
    color: Option<bool>,
}

impl ColorOptions {
    /// Returns whether colours are used.
    #[must_use]
    pub fn color(self, choice: &Choice) -> bool {
        self.color.unwrap_or(choice.color)
    }
}

/// Options of the Fast-Hessian detector.
#[derive(Args, Clone, Debug, Default, PartialEq)]
#[command(next_help_heading = "Configuration of the Fast-Hessian detector")]
pub struct BlobOptions {
    /// Number of octaves, 1 to 7; each has filters of twice the size of the last. [default: 4]
    #[arg(long, value_name = "NUMBER", value_parser = whole::<u32>(1..=7))]
    pub octaves: Option<u32>,
    /// Filters of an octave, 3 to 15; blobs have sizes between the smallest and the largest.
    /// [default: 4]
    #[arg(long, value_name = "NUMBER", value_parser = whole::<u32>(3..=15))]
    pub intervals: Option<u32>,
    /// Pixels between the samples of the first octave, 1 to 6. [default: 2]
    #[arg(long, value_name = "PIXELS", value_parser = whole::<u32>(1..=6))]
    pub step: Option<u32>,
    /// Where an octave's samples start: multiples (of the step) or border (of the octave's largest
    /// filter). [default: multiples]
    #[arg(long, value_name = "RULE")]
    pub sampling: Option<Sampling>,
    /// Replace negative determinants by 0, or with --clamp-negative=false leave them. [default:
    /// false]
    #[arg(long, value_name = "BOOL", num_args = 0..=1, require_equals = true, default_missing_value = "true")]
    pub clamp_negative: Option<bool>,
    /// Threshold that the determinant of the Hessian must exceed, at least 0. [default: 0.0004]
    #[arg(long, value_name = "VALUE", value_parser = values::determinant)]
    pub determinant: Option<f32>,
}

impl BlobOptions {
    fn is_default(&self) -> bool {
        *self == Self::default()
    }

    fn preset(name: Option<&str>) -> anyhow::Result<FastHessianConfig> {
        let Some(name) = name else { return Ok(FastHessianConfig::default()) };
        fast_hessian::presets::named(name).map_err(|error| {
            wrong(match presets::named(name) {
                Ok(_) => {
                    format!("`{name}` is a preset of the Harris detector: remove --detector fast-hessian")
                }
                Err(_) => error.to_string(),
            })
        })
    }

    fn change(&self, start: FastHessianConfig, most: Option<usize>) -> Result<FastHessianConfig, Error> {
        let mut builder = start.to_builder();
        if let Some(octaves) = self.octaves {
            builder = builder.octaves(octaves);
        }
        if let Some(intervals) = self.intervals {
            builder = builder.intervals(intervals);
        }
        if let Some(step) = self.step {
            builder = builder.step(step);
        }
        if let Some(threshold) = self.determinant {
            builder = builder.threshold(threshold);
        }
        if let Some(sampling) = self.sampling {
            builder = builder.sampling(sampling);
        }
        if let Some(clamp) = self.clamp_negative {
            builder = builder.clamp_negative(clamp);
        }
        if let Some(most) = most {
            builder = builder.max_keypoints((most > 0).then_some(most));
        }
        builder.build()
    }
}

/// A preset, and options that change it.
#[derive(Args, Clone, Debug, Default, PartialEq)]
#[command(
    next_help_heading = "Configuration of the Harris detector (defaults without --preset and --config)"
)]
pub struct ConfigOptions {
    /// Published system to start from; other options change it
    #[arg(long, value_name = "NAME", value_parser = values::preset())]
    pub preset: Option<String>,
    /// Blurs the image first: none|binomial3|binomial3-exact|binomial5|gaussian:SIZE:SIGMA. SIZE is
    /// odd, 3 to 127 pixels, and SIGMA 0.1 to 1000. binomial3-exact does not round 8- and 16-bit
    /// samples. [default: binomial3]
    #[arg(long, value_name = "FILTER", value_parser = values::smoothing)]
    pub smoothing: Option<Smoothing>,
    /// Filter that computes the slopes of the image:
    /// sobel3|sobel5|sobel7|scharr3|central|box:SIZE|gaussian-derivative:SIZE:SIGMA. SIZE is odd, 3
    /// to 31 pixels for box and to 127 for gaussian-derivative, and SIGMA 0.1 to 1000. [default:
    /// sobel3]
    #[arg(long, value_name = "FILTER", value_parser = values::gradient)]
    pub gradient: Option<Gradient>,
    /// Neighbourhood whose slopes a corner's response sums up:
    /// box:SIZE|binomial:SIZE|gaussian:SIZE:SIGMA. SIZE is 2 to 127 pixels for box, 3, 5 or 7 for
    /// binomial, and odd, 3 to 127, for gaussian; SIGMA is 0.1 to 1000. [default: box:3]
    #[arg(long, value_name = "WINDOW", value_parser = values::window)]
    pub window: Option<Window>,
    /// Formula of the response: harris:K|shi-tomasi|noble:EPS|triggs:ALPHA. K is 0 to below 0.25,
    /// usually 0.04 to 0.06; EPS is above 0; ALPHA is 0 to below 1, usually 0.05. [default:
    /// harris:0.04]
    #[arg(long, value_name = "MEASURE", value_parser = values::measure)]
    pub measure: Option<Measure>,
    /// Response that a corner must exceed: absolute:VALUE|relative:QUALITY|rosin:BINS|none. VALUE is
    /// at least 0, for samples from 0 to 1; QUALITY is a fraction of the greatest response, 0 to 1;
    /// rosin finds the elbow of a histogram of 2 to 65536 BINS. [default: relative:0.01]
    #[arg(long, value_name = "THRESHOLD", value_parser = values::threshold)]
    pub threshold: Option<Threshold>,
    /// How the image goes on beyond its edges: reflect101 (mirrored, without the edge itself),
    /// replicate (the edge repeated), zero, or skip (no corners where a filter leaves the image).
    /// [default: reflect101]
    #[arg(long, value_name = "RULE")]
    pub border: Option<Border>,
    /// Suppression radius: a corner is the maximum of a square of 2 * RADIUS + 1 pixels a side; 0
    /// keeps all. [default: 2]
    #[arg(long, value_name = "RADIUS", value_parser = whole::<u32>(0..=u32::MAX.into()))]
    pub nms_radius: Option<u32>,
    /// Which of neighbouring pixels of equal response are corners: first|all. [default: first]
    #[arg(long, value_name = "RULE")]
    pub plateau: Option<Plateau>,
    /// Which of several corners of equal response comes first, by rows: ascending (the upper one)
    /// or descending (the lower one). [default: ascending]
    #[arg(long, value_name = "RULE")]
    pub ties: Option<Ties>,
    /// Width in pixels of a frame along the edges in which no corner is reported. [default: 0]
    #[arg(long, value_name = "PIXELS", value_parser = whole::<u32>(0..=u32::MAX.into()))]
    pub margin: Option<u32>,
    /// Least distance between corners in pixels; of two that are nearer the stronger stays.
    /// [default: 0]
    #[arg(long, value_name = "PIXELS", value_parser = values::min_distance)]
    pub min_distance: Option<f64>,
    /// Greatest number of keypoints, of either detector; the strongest stay; 0 for all. [default: 0]
    #[arg(long, value_name = "NUMBER", value_parser = whole::<usize>(0..=u64::MAX))]
    pub max_corners: Option<usize>,
    /// Refines places to fractions of a pixel: none|quadratic|forstner:RADIUS. RADIUS is 3 to 15
    /// pixels. [default: none]
    #[arg(long, value_name = "MODE", value_parser = values::subpixel)]
    pub subpixel: Option<Subpixel>,
    /// Order of the list: response (the strongest first) or raster (by rows). [default: response]
    #[arg(long, value_name = "ORDER")]
    pub order: Option<Order>,
}

impl ConfigOptions {
    /// Returns the preset, and whether it uses colours.
    fn preset(&self) -> anyhow::Result<(HarrisConfig, bool)> {
        let Some(name) = &self.preset else { return Ok((HarrisConfig::default(), false)) };
        let preset = presets::find(name).map_err(|error| {
            wrong(match fast_hessian::presets::named(name) {
                Ok(_) => {
                    format!("`{name}` is a preset of the Fast-Hessian detector: add --detector fast-hessian")
                }
                Err(_) => error.to_string(),
            })
        })?;
        Ok(((preset.config)(), preset.color))
    }

    /// Whether no option is set but those that both detectors have.
    fn is_for_all_detectors(&self) -> bool {
        Self { max_corners: None, preset: None, ..self.clone() } == Self::default()
    }

    fn change(&self, start: HarrisConfig) -> Result<HarrisConfig, Error> {
        let mut builder = start.to_builder();
        macro_rules! change {
            ($($option:ident => $setter:ident),*) => {
                $(if let Some(value) = self.$option {
                    builder = builder.$setter(value);
                })*
            };
        }
        change! {
            smoothing => smoothing, gradient => gradient, window => window, measure => measure,
            threshold => threshold, border => border, nms_radius => suppression_radius, plateau => plateau,
            ties => ties, margin => margin,
            min_distance => min_distance, subpixel => subpixel, order => order
        }
        if let Some(most) = self.max_corners {
            builder = builder.max_corners((most > 0).then_some(most));
        }
        builder.build()
    }
}
