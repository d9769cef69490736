//! Options that choose a detector and its configuration.

use std::path::PathBuf;

use anyhow::ensure;
use clap::Args;
use harris_core::fast_hessian::{self, FastHessianConfig, Sampling};
use harris_core::{
    Border, Error, Gradient, HarrisConfig, Measure, Order, Plateau, Smoothing, Subpixel, Threshold, Ties,
    Window, presets,
};

use super::config_file::ConfigFile;
use super::kind::{Choice, Detection, Kind};

/// The detector and its configuration.
#[derive(Args, Clone, Debug, Default)]
pub struct DetectorOptions {
    /// Kind of keypoints to detect; by default harris, or as --config has it
    #[arg(long, value_enum, value_name = "KIND")]
    detector: Option<Kind>,
    /// Configuration to start from, in JSON or TOML, as --print-config of detect writes it
    #[arg(long, value_name = "FILE", conflicts_with = "preset")]
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
    /// The file cannot be read or is not valid, the preset is unknown, a value is out of range, or
    /// an option belongs to the other detector.
    pub fn choice(&self) -> anyhow::Result<Choice> {
        let file = self.config.as_deref().map(ConfigFile::read).transpose()?;
        let kind = self.detector.or(file.as_ref().map(|file| file.detector)).unwrap_or_default();
        match kind {
            Kind::Harris => {
                ensure!(
                    self.blobs.is_default(),
                    "options of the Fast-Hessian detector need --detector fast-hessian"
                );
                let (start, color) = match file {
                    Some(file) => (file.harris.unwrap_or_default(), file.color),
                    None => self.harris.preset()?,
                };
                Ok(Choice { detection: Detection::Harris(self.harris.change(start)?), color })
            }
            Kind::FastHessian => {
                ensure!(
                    self.harris.is_for_all_detectors(),
                    "options of the Harris detector need --detector harris"
                );
                let (start, color) = match file {
                    Some(file) => (file.fast_hessian.unwrap_or_default(), file.color),
                    None => (BlobOptions::preset(self.harris.preset.as_deref())?, false),
                };
                let config = self.blobs.change(start, self.harris.max_corners)?;
                Ok(Choice { detection: Detection::FastHessian(config), color })
            }
        }
    }
}

/// Whether to use colours or luma.
#[derive(Args, Clone, Copy, Debug, Default)]
#[command(next_help_heading = "Input")]
pub struct ColorOptions {
    /// Use the colours of colour files, or with --color=false their luma; as the preset has it by
    /// default
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
    /// Number of octaves, 1 to 7; large filters may exceed the range of sums
    #[arg(long, value_name = "NUMBER")]
    pub octaves: Option<u32>,
    /// Filters of an octave, 3 to 15; large filters may exceed the range of sums
    #[arg(long, value_name = "NUMBER")]
    pub intervals: Option<u32>,
    /// Pixels between the samples of the first octave, 1 to 6
    #[arg(long, value_name = "PIXELS")]
    pub step: Option<u32>,
    /// Where an octave's samples start: multiples (of the step) or border (of the octave's largest
    /// filter)
    #[arg(long, value_name = "RULE")]
    pub sampling: Option<Sampling>,
    /// Replace negative determinants by 0
    #[arg(long, value_name = "BOOL")]
    pub clamp_negative: Option<bool>,
    /// Threshold that the determinant of the Hessian must exceed
    #[arg(long, value_name = "VALUE", allow_negative_numbers = true)]
    pub determinant: Option<f32>,
}

impl BlobOptions {
    fn is_default(&self) -> bool {
        *self == Self::default()
    }

    fn preset(name: Option<&str>) -> anyhow::Result<FastHessianConfig> {
        let Some(name) = name else { return Ok(FastHessianConfig::default()) };
        let preset = fast_hessian::presets::named(name);
        ensure!(
            preset.is_ok() || presets::named(name).is_err(),
            "`{name}` is a preset of the Harris detector: remove --detector fast-hessian"
        );
        Ok(preset?)
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
#[command(next_help_heading = "Configuration of the Harris detector")]
pub struct ConfigOptions {
    /// Published system to start from: default, opencv_gftt, loundagin_2015, jobanputra_stentz,
    /// harris_phull_2011, lococo_2011, chahuara_2017; with --detector fast-hessian: default,
    /// hofmann_2009
    #[arg(long, value_name = "NAME")]
    pub preset: Option<String>,
    /// none|binomial3|binomial3-exact|binomial5|gaussian:SIZE:SIGMA
    #[arg(long)]
    pub smoothing: Option<Smoothing>,
    /// sobel3|sobel5|sobel7|scharr3|central|box:SIZE|gaussian-derivative:SIZE:SIGMA
    #[arg(long)]
    pub gradient: Option<Gradient>,
    /// box:SIZE|binomial:SIZE|gaussian:SIZE:SIGMA
    #[arg(long)]
    pub window: Option<Window>,
    /// harris:K|shi-tomasi|noble:EPS|triggs:ALPHA
    #[arg(long)]
    pub measure: Option<Measure>,
    /// absolute:VALUE|relative:QUALITY|rosin:BINS|none
    #[arg(long)]
    pub threshold: Option<Threshold>,
    /// reflect101|replicate|zero|skip
    #[arg(long)]
    pub border: Option<Border>,
    /// Suppression radius: a corner is the maximum of a square of 2 * RADIUS + 1 pixels a side
    #[arg(long, value_name = "RADIUS")]
    pub nms_radius: Option<u32>,
    /// Which of equal neighbours stay: first|all
    #[arg(long, value_name = "RULE")]
    pub plateau: Option<Plateau>,
    /// Order of equal responses, by rows: ascending|descending
    #[arg(long)]
    pub ties: Option<Ties>,
    /// Width of the edge without corners, in pixels
    #[arg(long, value_name = "PIXELS")]
    pub margin: Option<u32>,
    /// Minimum distance between corners, in pixels
    #[arg(long, value_name = "PIXELS", allow_negative_numbers = true)]
    pub min_distance: Option<f64>,
    /// Maximum number of keypoints, the strongest being kept; 0 for all
    #[arg(long, value_name = "NUMBER")]
    pub max_corners: Option<usize>,
    /// none|quadratic|forstner:RADIUS
    #[arg(long)]
    pub subpixel: Option<Subpixel>,
    /// response|raster
    #[arg(long)]
    pub order: Option<Order>,
}

impl ConfigOptions {
    /// Returns the preset, and whether it uses colours.
    fn preset(&self) -> anyhow::Result<(HarrisConfig, bool)> {
        let Some(name) = &self.preset else { return Ok((HarrisConfig::default(), false)) };
        let preset = presets::find(name);
        ensure!(
            preset.is_ok() || fast_hessian::presets::named(name).is_err(),
            "`{name}` is a preset of the Fast-Hessian detector: add --detector fast-hessian"
        );
        let preset = preset?;
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
