//! `harris.Config`: the configuration of a Harris detector.

use harris::config::HarrisConfigBuilder;
use harris::{HarrisConfig, presets as library};
use pyo3::prelude::*;
use pyo3::types::{PyDict, PyType};

use crate::config_file::{ConfigFile, Kind};
use crate::errors::{Failure, Result};
use crate::values::{changed, choice, each, limit, scalar, whole};

/// List the names of the presets: published systems as configurations.
///
/// Returns
/// -------
/// list of str
///     The names, ``"default"`` first.
///
/// Examples
/// --------
/// >>> import harris
/// >>> harris.presets()[:2]
/// ['default', 'opencv_gftt']
#[pyfunction]
pub(crate) fn presets() -> Vec<&'static str> {
    library::ALL.iter().map(|preset| preset.name).collect()
}

/// The configuration of a Harris detector: a preset, and changes to it.
///
/// A choice is a text like ``"gaussian:5:1.5"``, or a tuple like ``("gaussian", 5, 1.5)``.
///
/// Parameters
/// ----------
/// preset : str or Config, default "default"
///     A name of `presets`, or another configuration.
/// smoothing : str, tuple or None
///     ``"none"`` or None, ``"binomial3"``, ``"binomial3-exact"``, ``"binomial5"``,
///     ``"gaussian:SIZE:SIGMA"``.
/// gradient : str or tuple
///     ``"sobel3"``, ``"sobel5"``, ``"sobel7"``, ``"scharr3"``, ``"central"``, ``"box:SIZE"``,
///     ``"gaussian-derivative:SIZE:SIGMA"``.
/// window : str or tuple
///     ``"box:SIZE"``, ``"binomial:SIZE"``, ``"gaussian:SIZE:SIGMA"``.
/// measure : str or tuple
///     ``"harris:K"``, ``"shi-tomasi"``, ``"noble:EPS"``, ``"triggs:ALPHA"``.
/// threshold : str, tuple or None
///     ``"absolute:VALUE"``, ``"relative:QUALITY"``, ``"rosin:BINS"``, ``"none"`` or None.
/// border : str
///     ``"reflect101"``, ``"replicate"``, ``"zero"``, ``"skip"``.
/// margin : int
///     Width in pixels of the margin in which no corner is reported.
/// suppression_radius : int
///     Radius in pixels of the square in which a corner has the greatest response.
/// plateau : str
///     ``"first"`` or ``"all"``: which of neighbouring pixels of equal response stay.
/// ties : str
///     ``"ascending"`` or ``"descending"``: which of equal responses comes first.
/// min_distance : float
///     Least distance in pixels between corners.
/// max_corners : int or None
///     The greatest number of corners; None for all.
/// order : str
///     ``"response"`` or ``"raster"``.
/// subpixel : str, tuple or None
///     ``"none"`` or None, ``"quadratic"``, ``"forstner:RADIUS"``.
///
/// Raises
/// ------
/// ConfigError
///     A value is out of range, or names no choice.
///
/// Examples
/// --------
/// >>> import harris
/// >>> config = harris.Config("opencv_gftt", max_corners=200, min_distance=10)
/// >>> config.measure, config.max_corners
/// ('harris:0.04', 200)
/// >>> harris.Config(window=("gaussian", 5, 1.5))
/// harris.Config(window='gaussian:5:1.5')
#[pyclass(module = "harris", frozen)]
pub(crate) struct Config {
    pub(crate) config: HarrisConfig,
}

/// Reads a preset's name or a configuration, and changes by name.
///
/// # Errors
/// The errors of [`Config`].
pub(crate) fn read(
    function: &str,
    preset: Option<&Bound<'_, PyAny>>,
    changes: Option<&Bound<'_, PyDict>>,
) -> Result<HarrisConfig> {
    let start = match preset {
        None => HarrisConfig::default(),
        Some(preset) => match (preset.cast::<Config>(), preset.extract::<&str>()) {
            (Ok(config), _) => config.get().config.clone(),
            (_, Ok(name)) => library::named(name)?,
            _ => return Err(Failure::InputType("a preset is a name or a harris.Config".to_owned())),
        },
    };
    with_changes(function, &start, changes)
}

/// A configuration with changes by name.
fn with_changes(
    function: &str,
    start: &HarrisConfig,
    changes: Option<&Bound<'_, PyDict>>,
) -> Result<HarrisConfig> {
    let mut builder = start.to_builder();
    each(function, changes, |name, value| {
        let known = change(builder.clone(), name, value)?;
        let is_known = known.is_some();
        builder = known.unwrap_or_else(|| builder.clone());
        Ok(is_known)
    })?;
    Ok(builder.build()?)
}

/// Changes one choice; `None` if there is none of that name.
fn change(
    builder: HarrisConfigBuilder,
    name: &str,
    value: &Bound<'_, PyAny>,
) -> Result<Option<HarrisConfigBuilder>> {
    Ok(Some(match name {
        "smoothing" => builder.smoothing(choice(name, value)?),
        "gradient" => builder.gradient(choice(name, value)?),
        "window" => builder.window(choice(name, value)?),
        "measure" => builder.measure(choice(name, value)?),
        "threshold" => builder.threshold(choice(name, value)?),
        "border" => builder.border(choice(name, value)?),
        "margin" => builder.margin(whole(name, value)?),
        "suppression_radius" => builder.suppression_radius(whole(name, value)?),
        "plateau" => builder.plateau(choice(name, value)?),
        "ties" => builder.ties(choice(name, value)?),
        "min_distance" => builder.min_distance(scalar(name, "a number", value)?),
        "max_corners" => builder.max_corners(limit(name, value)?),
        "order" => builder.order(choice(name, value)?),
        "subpixel" => builder.subpixel(choice(name, value)?),
        _ => return Ok(None),
    }))
}

/// All choices as keyword arguments of Python.
fn arguments<'py>(py: Python<'py>, config: &HarrisConfig) -> PyResult<Bound<'py, PyDict>> {
    let all = PyDict::new(py);
    all.set_item("smoothing", config.smoothing().to_string())?;
    all.set_item("gradient", config.gradient().to_string())?;
    all.set_item("window", config.window().to_string())?;
    all.set_item("measure", config.measure().to_string())?;
    all.set_item("threshold", config.threshold().to_string())?;
    all.set_item("border", config.border().to_string())?;
    all.set_item("margin", config.margin())?;
    all.set_item("suppression_radius", config.suppression_radius())?;
    all.set_item("plateau", config.plateau().to_string())?;
    all.set_item("ties", config.ties().to_string())?;
    all.set_item("min_distance", config.min_distance())?;
    all.set_item("max_corners", config.max_corners())?;
    all.set_item("order", config.order().to_string())?;
    all.set_item("subpixel", config.subpixel().to_string())?;
    Ok(all)
}

#[pymethods]
impl Config {
    #[new]
    #[pyo3(signature = (preset=None, **changes))]
    fn new(preset: Option<&Bound<'_, PyAny>>, changes: Option<&Bound<'_, PyDict>>) -> PyResult<Self> {
        Ok(Self { config: read("Config", preset, changes)? })
    }

    /// Make a copy with changes.
    ///
    /// Parameters
    /// ----------
    /// **changes
    ///     The parameters of `Config`.
    ///
    /// Returns
    /// -------
    /// Config
    ///
    /// Examples
    /// --------
    /// >>> import harris
    /// >>> harris.Config().replace(margin=4).margin
    /// 4
    #[pyo3(signature = (**changes))]
    fn replace(&self, changes: Option<&Bound<'_, PyDict>>) -> PyResult<Self> {
        Ok(Self { config: with_changes("replace", &self.config, changes)? })
    }

    /// Read a configuration file's text, in JSON.
    ///
    /// Parameters
    /// ----------
    /// text : str
    ///     The text of a file that `to_json` or the program ``harris`` wrote.
    ///
    /// Returns
    /// -------
    /// Config
    ///
    /// Examples
    /// --------
    /// >>> import harris
    /// >>> config = harris.Config("lococo_2011")
    /// >>> harris.Config.from_json(config.to_json()) == config
    /// True
    #[classmethod]
    fn from_json(_class: &Bound<'_, PyType>, text: &str) -> PyResult<Self> {
        Ok(Self { config: ConfigFile::read(text, Kind::Harris)?.harris.unwrap_or_default() })
    }

    /// Format the configuration as the text of a configuration file, in JSON.
    ///
    /// Parameters
    /// ----------
    /// color : bool, default False
    ///     What the file tells the program ``harris`` to do with colour images: to use the colours,
    ///     or the luma. It does not matter here.
    ///
    /// Returns
    /// -------
    /// str
    ///
    /// Examples
    /// --------
    /// >>> import harris
    /// >>> '"margin": 1' in harris.Config("opencv_gftt").to_json()
    /// True
    #[pyo3(signature = (*, color=false))]
    fn to_json(&self, color: bool) -> PyResult<String> {
        let file = ConfigFile { color, harris: Some(self.config.clone()), ..ConfigFile::default() };
        Ok(file.text()?)
    }

    /// The smoothing of the image.
    #[getter]
    fn smoothing(&self) -> String {
        self.config.smoothing().to_string()
    }

    /// The gradient operator.
    #[getter]
    fn gradient(&self) -> String {
        self.config.gradient().to_string()
    }

    /// The window over which the structure tensor is summed.
    #[getter]
    fn window(&self) -> String {
        self.config.window().to_string()
    }

    /// The measure of the structure tensor that is the response.
    #[getter]
    fn measure(&self) -> String {
        self.config.measure().to_string()
    }

    /// The threshold that a corner's response exceeds.
    #[getter]
    fn threshold(&self) -> String {
        self.config.threshold().to_string()
    }

    /// The border rule: how every stage extends its input beyond the image.
    #[getter]
    fn border(&self) -> String {
        self.config.border().to_string()
    }

    /// Width in pixels of the margin along each edge in which no corner is reported.
    #[getter]
    fn margin(&self) -> usize {
        self.config.margin()
    }

    /// Radius in pixels of the square in which a corner has the greatest response.
    #[getter]
    fn suppression_radius(&self) -> usize {
        self.config.suppression_radius()
    }

    /// The plateau rule: which of neighbouring pixels of equal response stay.
    #[getter]
    fn plateau(&self) -> String {
        self.config.plateau().to_string()
    }

    /// The order of ties: which of equal responses comes first.
    #[getter]
    fn ties(&self) -> String {
        self.config.ties().to_string()
    }

    /// Least distance in pixels between corners; 0 for none.
    #[getter]
    fn min_distance(&self) -> f64 {
        self.config.min_distance()
    }

    /// The greatest number of corners; None for all.
    #[getter]
    fn max_corners(&self) -> Option<usize> {
        self.config.max_corners()
    }

    /// The order of the list of corners.
    #[getter]
    fn order(&self) -> String {
        self.config.order().to_string()
    }

    /// The sub-pixel refinement of corners.
    #[getter]
    fn subpixel(&self) -> String {
        self.config.subpixel().to_string()
    }

    /// Support radius in pixels: how far from a pixel its response depends on the image.
    #[getter]
    fn support_radius(&self) -> usize {
        self.config.support_radius()
    }

    pub(crate) fn __repr__(&self, py: Python<'_>) -> PyResult<String> {
        let default = arguments(py, &HarrisConfig::default())?;
        changed("harris.Config", &arguments(py, &self.config)?, &default)
    }

    fn __eq__(&self, other: &Bound<'_, PyAny>) -> bool {
        other.cast::<Self>().is_ok_and(|other| self.config == other.get().config)
    }

    fn __hash__(&self, py: Python<'_>) -> PyResult<isize> {
        self.__repr__(py)?.into_pyobject(py)?.hash()
    }

    fn __getnewargs_ex__<'py>(&self, py: Python<'py>) -> PyResult<((), Bound<'py, PyDict>)> {
        Ok(((), arguments(py, &self.config)?))
    }
}
