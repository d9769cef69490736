//! Parsers of the values of options. A wrong value is an error of the arguments.

use std::collections::BTreeSet;
use std::fmt::Display;
use std::ops::RangeInclusive;
use std::str::FromStr;

use clap::builder::{PossibleValue, PossibleValuesParser};
use harris_core::fast_hessian::{self, FastHessianConfig};
use harris_core::{Gradient, HarrisConfig, Measure, Smoothing, Subpixel, Threshold, Window, presets};

/// Returns a parser of whole numbers in a range.
pub(crate) fn whole<T: TryFrom<u64>>(
    range: RangeInclusive<u64>,
) -> impl Fn(&str) -> Result<T, String> + Clone + Send + Sync {
    move |text| {
        let number = text.parse().ok().filter(|number| range.contains(number));
        let (least, most) = (range.start(), range.end());
        number.and_then(|number| T::try_from(number).ok()).ok_or_else(|| match *most >= u32::MAX.into() {
            true => format!("a whole number is needed, at least {least}"),
            false => format!("a whole number from {least} to {most} is needed"),
        })
    }
}

/// Returns a parser of numbers in a range, which are of `what`.
pub(crate) fn number<T: FromStr + PartialOrd + Display + Clone + Send + Sync>(
    range: RangeInclusive<T>,
    what: &'static str,
) -> impl Fn(&str) -> Result<T, String> + Clone + Send + Sync {
    move |text| {
        let number = text.parse().ok().filter(|number| range.contains(number));
        number
            .ok_or_else(|| format!("a number of {what} from {} to {} is needed", range.start(), range.end()))
    }
}

/// Makes parsers of the choices of a [`HarrisConfig`], which check ranges, too.
macro_rules! choices {
    ($($name:ident: $type:ty),*) => {
        $(
            pub(super) fn $name(text: &str) -> Result<$type, String> {
                let choice: $type = text.parse().map_err(|error: harris_core::Error| error.to_string())?;
                let built = HarrisConfig::builder().$name(choice).build();
                built.map(|_| choice).map_err(|error| error.to_string())
            }
        )*
    };
}

choices! {
    smoothing: Smoothing, gradient: Gradient, window: Window, measure: Measure, threshold: Threshold,
    subpixel: Subpixel
}

/// Parses a least distance between corners.
pub(super) fn min_distance(text: &str) -> Result<f64, String> {
    let pixels = text.parse().map_err(|_| "a number of pixels is needed".to_owned())?;
    let built = HarrisConfig::builder().min_distance(pixels).build();
    built.map(|_| pixels).map_err(|error| error.to_string())
}

/// Parses a threshold of determinants.
pub(super) fn determinant(text: &str) -> Result<f32, String> {
    let value = text.parse().map_err(|_| "a number is needed".to_owned())?;
    let built = FastHessianConfig::builder().threshold(value).build();
    built.map(|_| value).map_err(|error| error.to_string())
}

/// Returns a parser of the names of presets, of both detectors.
pub(super) fn preset() -> PossibleValuesParser {
    let harris = presets::ALL.iter().map(|preset| (preset.name, preset.citation.to_owned()));
    let blobs = fast_hessian::presets::ALL.iter();
    let blobs =
        blobs.map(|preset| (preset.name, format!("with --detector fast-hessian: {}", preset.citation)));
    let mut names = BTreeSet::new();
    let first = harris.chain(blobs).filter(|(name, _)| names.insert(*name));
    let values: Vec<_> = first.map(|(name, help)| PossibleValue::new(name).help(help)).collect();
    PossibleValuesParser::new(values)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn whole_numbers_are_in_their_range() {
        let parse = whole::<u16>(1..=1024);
        assert_eq!((parse("1"), parse("1024")), (Ok(1), Ok(1024)));
        for text in ["0", "1025", "-1", "1.5", "x", "", "99999999999999999999999"] {
            assert_eq!(parse(text).unwrap_err(), "a whole number from 1 to 1024 is needed", "{text}");
        }
        assert_eq!(
            whole::<u32>(0..=u32::MAX.into())("-1").unwrap_err(),
            "a whole number is needed, at least 0"
        );
        assert!(whole::<u8>(0..=1000)("256").is_err());
    }

    #[test]
    fn choices_are_checked_when_they_are_parsed() {
        assert!(measure("harris:0.05").is_ok() && measure("harris:nan").is_err());
        assert!(threshold("relative:1").is_ok() && threshold("relative:2").is_err());
        assert!(window("box:127").is_ok() && window("box:1").unwrap_err().contains("from 2 to 127"));
        assert!(gradient("box:31").is_ok() && gradient("box:33").is_err());
        assert!(smoothing("gaussian:127:1000").is_ok() && smoothing("gaussian:5:0").is_err());
        assert!(subpixel("forstner:15").is_ok() && subpixel("forstner:16").is_err());
        assert!(min_distance("0").is_ok() && min_distance("nan").is_err());
        assert!(determinant("0.1").is_ok() && determinant("-1").is_err());
    }
}
