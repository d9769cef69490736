//! Values of options as Python gives them: numbers, texts of choices, and tuples.

use std::str::FromStr;

use pyo3::exceptions::PyTypeError;
use pyo3::prelude::*;
use pyo3::types::{PyDict, PyString, PyTuple};

use crate::errors::{Failure, Result};

/// Reads a choice: its text (`"gaussian:5:1.5"`), a tuple (`("gaussian", 5, 1.5)`), or `None` for
/// the choice `none`.
///
/// # Errors
/// [`Failure::InputType`] for other types, and the library's error for a text that names no choice.
pub(crate) fn choice<T>(name: &str, value: &Bound<'_, PyAny>) -> Result<T>
where
    T: FromStr<Err = harris::Error>,
{
    let text = if value.is_none() {
        "none".to_owned()
    } else if let Ok(text) = value.cast::<PyString>() {
        text.to_string()
    } else if let Ok(parts) = value.cast::<PyTuple>() {
        let parts: PyResult<Vec<_>> = parts.iter().map(|part| Ok(part.str()?.to_string())).collect();
        parts?.join(":")
    } else {
        let text = format!(
            "{name} must be a text like \"box:3\" or a tuple like (\"box\", 3), not {}",
            type_name(value)
        );
        return Err(Failure::InputType(text));
    };
    // Names may be written as in JSON, too.
    Ok(text.replace('_', "-").parse()?)
}

/// Reads a whole number.
///
/// # Errors
/// [`Failure::InputType`] for other types, [`Failure::Config`] for numbers that `T` cannot hold.
pub(crate) fn whole<T: TryFrom<i128>>(name: &str, value: &Bound<'_, PyAny>) -> Result<T> {
    let number: Result<i128, PyErr> = value.extract();
    let Ok(number) = number else {
        return Err(match value.hasattr("__index__")? {
            true => Failure::Config(format!("{name} is too large: {value}")),
            false => Failure::InputType(format!("{name} must be a whole number, not {}", type_name(value))),
        });
    };
    T::try_from(number)
        .map_err(|_| Failure::Config(format!("{name} must be a whole number of at least 0, not {number}")))
}

/// Reads a whole number, or `None` for no limit.
///
/// # Errors
/// See [`whole`].
pub(crate) fn limit(name: &str, value: &Bound<'_, PyAny>) -> Result<Option<usize>> {
    if value.is_none() { Ok(None) } else { whole(name, value).map(Some) }
}

/// Reads a number, `f64` or `f32`, or a flag.
///
/// # Errors
/// [`Failure::InputType`] for other types.
pub(crate) fn scalar<'py, T>(name: &str, kind: &str, value: &Bound<'py, PyAny>) -> Result<T>
where
    T: for<'a> FromPyObject<'a, 'py>,
{
    let read = value.extract::<T>();
    read.map_err(|_| Failure::InputType(format!("{name} must be {kind}, not {}", type_name(value))))
}

/// Calls a function with each keyword argument. It returns whether it knows the name.
///
/// # Errors
/// `TypeError` for an unknown name, as Python has it, and the errors of `set`.
pub(crate) fn each(
    function: &str,
    changes: Option<&Bound<'_, PyDict>>,
    mut set: impl FnMut(&str, &Bound<'_, PyAny>) -> Result<bool>,
) -> Result<()> {
    for (name, value) in changes.into_iter().flatten() {
        let name: String = name.extract()?;
        if !set(&name, &value)? {
            let text = format!("{function}() got an unexpected keyword argument '{name}'");
            return Err(PyTypeError::new_err(text).into());
        }
    }
    Ok(())
}

/// The text of a call with the arguments that differ from the default, for `repr`.
///
/// # Errors
/// Exceptions of Python.
pub(crate) fn changed(
    function: &str,
    arguments: &Bound<'_, PyDict>,
    default: &Bound<'_, PyDict>,
) -> PyResult<String> {
    let mut texts = Vec::new();
    for (name, value) in arguments {
        if !default.get_item(&name)?.is_some_and(|default| default.eq(&value).unwrap_or(false)) {
            texts.push(format!("{name}={}", value.repr()?));
        }
    }
    Ok(format!("{function}({})", texts.join(", ")))
}

fn type_name(value: &Bound<'_, PyAny>) -> String {
    value.get_type().name().map_or_else(|_| "another type".to_owned(), |name| name.to_string())
}
