//! `harris.FastHessianConfig`: the configuration of SURF's blob detector.

use harris::fast_hessian::{FastHessianConfig as Library, FastHessianConfigBuilder, presets};
use pyo3::prelude::*;
use pyo3::types::{PyDict, PyType};

use crate::config_file::{ConfigFile, Kind};
use crate::errors::{Failure, Result};
use crate::values::{changed, choice, each, limit, scalar, whole};

/// The configuration of a Fast-Hessian detector: a preset, and changes to it.
///
/// Parameters
/// ----------
/// preset : str or FastHessianConfig, default "default"
///     ``"default"``, ``"hofmann_2009"``, or another configuration.
/// octaves : int
///     Number of octaves, 1 to 7.
/// intervals : int
///     Filters of an octave, 3 to 15.
/// step : int
///     Pixels between the samples of the first octave, 1 to 6.
/// sampling : str
///     ``"multiples"`` or ``"border"``: the sample grid of an octave.
/// clamp_negative : bool
///     Whether determinants below 0 become 0.
/// threshold : float
///     Threshold that a peak's determinant exceeds, in the units of an image in 0..1.
/// max_keypoints : int or None
///     The greatest number of keypoints; None for all.
///
/// Raises
/// ------
/// ConfigError
///     A value is out of range, or names no choice.
///
/// Examples
/// --------
/// >>> import harris
/// >>> harris.FastHessianConfig("hofmann_2009", max_keypoints=500)
/// harris.FastHessianConfig(sampling='border', clamp_negative=True, max_keypoints=500)
#[pyclass(module = "harris", frozen)]
pub(crate) struct FastHessianConfig {
    pub(crate) config: Library,
}

/// Reads a preset's name or a configuration, and changes by name.
///
/// # Errors
/// The errors of [`FastHessianConfig`].
pub(crate) fn read(
    function: &str,
    preset: Option<&Bound<'_, PyAny>>,
    changes: Option<&Bound<'_, PyDict>>,
) -> Result<Library> {
    let start = match preset {
        None => Library::default(),
        Some(preset) => match (preset.cast::<FastHessianConfig>(), preset.extract::<&str>()) {
            (Ok(config), _) => config.get().config.clone(),
            (_, Ok(name)) => presets::named(name)?,
            _ => {
                let text = "a preset is a name or a harris.FastHessianConfig".to_owned();
                return Err(Failure::InputType(text));
            }
        },
    };
    with_changes(function, &start, changes)
}

/// A configuration with changes by name.
fn with_changes(function: &str, start: &Library, changes: Option<&Bound<'_, PyDict>>) -> Result<Library> {
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
    builder: FastHessianConfigBuilder,
    name: &str,
    value: &Bound<'_, PyAny>,
) -> Result<Option<FastHessianConfigBuilder>> {
    Ok(Some(match name {
        "octaves" => builder.octaves(whole(name, value)?),
        "intervals" => builder.intervals(whole(name, value)?),
        "step" => builder.step(whole(name, value)?),
        "sampling" => builder.sampling(choice(name, value)?),
        "clamp_negative" => builder.clamp_negative(scalar(name, "a bool", value)?),
        "threshold" => builder.threshold(scalar(name, "a number", value)?),
        "max_keypoints" => builder.max_keypoints(limit(name, value)?),
        _ => return Ok(None),
    }))
}

/// All choices as keyword arguments of Python.
fn arguments<'py>(py: Python<'py>, config: &Library) -> PyResult<Bound<'py, PyDict>> {
    let all = PyDict::new(py);
    all.set_item("octaves", config.octaves())?;
    all.set_item("intervals", config.intervals())?;
    all.set_item("step", config.step())?;
    all.set_item("sampling", config.sampling().to_string())?;
    all.set_item("clamp_negative", config.clamp_negative())?;
    all.set_item("threshold", config.threshold())?;
    all.set_item("max_keypoints", config.max_keypoints())?;
    Ok(all)
}

#[pymethods]
impl FastHessianConfig {
    #[new]
    #[pyo3(signature = (preset=None, **changes))]
    fn new(preset: Option<&Bound<'_, PyAny>>, changes: Option<&Bound<'_, PyDict>>) -> PyResult<Self> {
        Ok(Self { config: read("FastHessianConfig", preset, changes)? })
    }

    /// List the names of the presets, ``"default"`` first.
    ///
    /// Returns
    /// -------
    /// list of str
    ///
    /// Examples
    /// --------
    /// >>> import harris
    /// >>> harris.FastHessianConfig.presets()
    /// ['default', 'hofmann_2009']
    #[staticmethod]
    fn presets() -> Vec<&'static str> {
        presets::ALL.iter().map(|preset| preset.name).collect()
    }

    /// Make a copy with changes.
    ///
    /// Parameters
    /// ----------
    /// **changes
    ///     The parameters of `FastHessianConfig`.
    ///
    /// Returns
    /// -------
    /// FastHessianConfig
    ///
    /// Examples
    /// --------
    /// >>> import harris
    /// >>> harris.FastHessianConfig().replace(octaves=3).octaves
    /// 3
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
    /// FastHessianConfig
    ///
    /// Examples
    /// --------
    /// >>> import harris
    /// >>> text = harris.FastHessianConfig(octaves=3).to_json()
    /// >>> harris.FastHessianConfig.from_json(text).octaves
    /// 3
    #[classmethod]
    fn from_json(_class: &Bound<'_, PyType>, text: &str) -> PyResult<Self> {
        Ok(Self { config: ConfigFile::read(text, Kind::FastHessian)?.fast_hessian.unwrap_or_default() })
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
    /// >>> '"octaves": 4' in harris.FastHessianConfig().to_json()
    /// True
    #[pyo3(signature = (*, color=false))]
    fn to_json(&self, color: bool) -> PyResult<String> {
        let (detector, fast_hessian) = (Kind::FastHessian, Some(self.config.clone()));
        let file = ConfigFile { detector, color, fast_hessian, ..ConfigFile::default() };
        Ok(file.text()?)
    }

    /// Number of octaves.
    #[getter]
    fn octaves(&self) -> usize {
        self.config.octaves()
    }

    /// Filters of an octave.
    #[getter]
    fn intervals(&self) -> usize {
        self.config.intervals()
    }

    /// Pixels between the samples of the first octave.
    #[getter]
    fn step(&self) -> usize {
        self.config.step()
    }

    /// The sample grid of an octave.
    #[getter]
    fn sampling(&self) -> String {
        self.config.sampling().to_string()
    }

    /// Whether determinants below 0 become 0.
    #[getter]
    fn clamp_negative(&self) -> bool {
        self.config.clamp_negative()
    }

    /// Threshold that a peak's determinant exceeds.
    #[getter]
    fn threshold(&self) -> f32 {
        self.config.threshold()
    }

    /// The greatest number of keypoints; None for all.
    #[getter]
    fn max_keypoints(&self) -> Option<usize> {
        self.config.max_keypoints()
    }

    pub(crate) fn __repr__(&self, py: Python<'_>) -> PyResult<String> {
        let default = arguments(py, &Library::default())?;
        changed("harris.FastHessianConfig", &arguments(py, &self.config)?, &default)
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
