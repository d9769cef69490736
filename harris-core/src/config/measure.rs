//! Measures of the structure tensor: choice, kind, parameter, range and text of each.

use std::ops::Range;

use super::notation::notation;
use crate::error::Error;

/// Measure of the structure tensor \[A B; B C\], which is the response.
///
/// In the formulas det is A·C − B² and trace is A + C. The units are those of an image in 0..1:
/// contrasts to the fourth power for Harris, to the second for the others.
#[derive(Clone, Copy, Debug, PartialEq)]
#[cfg_attr(feature = "serde", derive(serde::Serialize, serde::Deserialize), serde(rename_all = "snake_case"))]
pub enum Measure {
    /// det − k·trace² (Harris & Stephens 1988).
    Harris {
        /// Sensitivity, 0 to below 0.25, usually 0.04 to 0.06. From 0.25 on nothing is a corner, as
        /// det ≤ trace²/4.
        k: f32,
    },
    /// The lesser eigenvalue (Shi & Tomasi 1994).
    ShiTomasi,
    /// 2·det / (trace + eps) (Noble 1988).
    Noble {
        /// Term that keeps the quotient defined in flat regions: finite and above 0, usually 10⁻⁶.
        eps: f32,
    },
    /// λmin − alpha·λmax, of the eigenvalues (Triggs 2004).
    Triggs {
        /// Weight of the greater eigenvalue, 0 to below 1, usually 0.05. The greater it is, the
        /// less a strong edge responds. With 0 the measure is that of Shi and Tomasi.
        alpha: f32,
    },
}

/// A measure without its parameter: for tables, tests and kernels that enumerate all measures.
///
/// ```
/// use harris_core::config::{Measure, MeasureKind};
///
/// let measures = MeasureKind::ALL.map(MeasureKind::usual);
/// assert!(measures.contains(&Measure::ShiTomasi));
/// assert!(measures.iter().all(|measure| measure.kind().with_parameter(measure.parameter()) == *measure));
/// ```
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum MeasureKind {
    /// [`Measure::Harris`], with the parameter k.
    Harris,
    /// [`Measure::ShiTomasi`], without a parameter.
    ShiTomasi,
    /// [`Measure::Noble`], with the parameter eps.
    Noble,
    /// [`Measure::Triggs`], with the parameter alpha.
    Triggs,
}

impl MeasureKind {
    /// All kinds of measures.
    pub const ALL: [Self; 4] = [Self::Harris, Self::ShiTomasi, Self::Noble, Self::Triggs];

    /// The measure of this kind with a parameter, which is ignored where it has none.
    ///
    /// The parameter is checked when a configuration is built.
    #[must_use]
    pub const fn with_parameter(self, parameter: f32) -> Measure {
        match self {
            Self::Harris => Measure::Harris { k: parameter },
            Self::ShiTomasi => Measure::ShiTomasi,
            Self::Noble => Measure::Noble { eps: parameter },
            Self::Triggs => Measure::Triggs { alpha: parameter },
        }
    }

    /// The measure of this kind with its usual parameter: 0.04 for k, 10⁻⁶ for eps,
    /// 0.05 for alpha.
    #[must_use]
    pub const fn usual(self) -> Measure {
        match self {
            Self::Harris => Measure::Harris { k: 0.04 },
            Self::ShiTomasi => Measure::ShiTomasi,
            Self::Noble => Measure::Noble { eps: 1e-6 },
            Self::Triggs => Measure::Triggs { alpha: 0.05 },
        }
    }

    /// Parameters that tests and searches try, all of them valid; `None` where the measure has
    /// none.
    #[must_use]
    pub const fn parameters(self) -> Option<Range<f32>> {
        match self {
            Self::Harris => Some(0.0..0.2),
            Self::ShiTomasi => None,
            Self::Noble => Some(1e-9..1.0),
            Self::Triggs => Some(0.0..0.5),
        }
    }
}

impl Measure {
    /// This measure's kind.
    #[must_use]
    pub const fn kind(self) -> MeasureKind {
        match self {
            Self::Harris { .. } => MeasureKind::Harris,
            Self::ShiTomasi => MeasureKind::ShiTomasi,
            Self::Noble { .. } => MeasureKind::Noble,
            Self::Triggs { .. } => MeasureKind::Triggs,
        }
    }

    /// This measure's parameter; 0 where it has none.
    #[must_use]
    pub const fn parameter(self) -> f32 {
        match self {
            Self::Harris { k } => k,
            Self::ShiTomasi => 0.0,
            Self::Noble { eps } => eps,
            Self::Triggs { alpha } => alpha,
        }
    }

    pub(super) fn check(self) -> Result<(), Error> {
        let (is_valid, parameter, expected) = match self {
            Self::Harris { k } => ((0.0..0.25).contains(&k), "Harris's k", "from 0 to below 0.25"),
            Self::ShiTomasi => (true, "", ""),
            Self::Noble { eps } => (eps.is_finite() && eps > 0.0, "Noble's epsilon", "finite and positive"),
            Self::Triggs { alpha } => ((0.0..1.0).contains(&alpha), "Triggs's alpha", "from 0 to below 1"),
        };
        if is_valid {
            return Ok(());
        }
        Err(Error::MeasureParameter { parameter, value: self.parameter(), expected })
    }
}

notation!(Measure, "measure", "harris:K|shi-tomasi|noble:EPS|triggs:ALPHA", |parts| {
    "harris" => parts.value().map(|k| Measure::Harris { k }),
    "shi-tomasi" => parts.alone(Measure::ShiTomasi),
    "noble" => parts.value().map(|eps| Measure::Noble { eps }),
    "triggs" => parts.value().map(|alpha| Measure::Triggs { alpha }),
}, |choice, f| match choice {
    Measure::Harris { k } => write!(f, "harris:{k}"),
    Measure::ShiTomasi => f.write_str("shi-tomasi"),
    Measure::Noble { eps } => write!(f, "noble:{eps}"),
    Measure::Triggs { alpha } => write!(f, "triggs:{alpha}"),
});

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_kind_has_a_valid_measure_that_its_text_names() {
        for kind in MeasureKind::ALL {
            let measure = kind.usual();
            assert_eq!(measure.kind(), kind);
            assert_eq!(kind.with_parameter(measure.parameter()), measure);
            assert_eq!(measure.to_string().parse::<Measure>().unwrap(), measure);
            measure.check().unwrap();
            let parameters = kind.parameters();
            assert_eq!(parameters.is_some(), measure.to_string().contains(':'), "{measure}");
            for parameter in parameters.into_iter().flat_map(|range| [range.start, range.end.next_down()]) {
                kind.with_parameter(parameter).check().unwrap();
            }
        }
    }

    #[test]
    fn the_error_of_a_text_names_every_kind() {
        let error = "eigenvalue".parse::<Measure>().unwrap_err().to_string();
        let names = MeasureKind::ALL.map(|kind| kind.usual().to_string());
        for name in &names {
            let name = name.split(':').next().unwrap_or_default();
            assert!(error.contains(name), "{error}: {name}");
        }
        assert_eq!(error.matches('|').count() + 1, names.len(), "{error}");
    }

    #[test]
    fn parameters_are_finite_and_in_range() {
        let refused = [
            (MeasureKind::Harris, [-0.01, 0.25, 1.0, f32::NAN, f32::INFINITY]),
            (MeasureKind::Triggs, [-0.05, 1.0, 2.0, f32::NAN, f32::INFINITY]),
            (MeasureKind::Noble, [0.0, -1e-6, f32::NEG_INFINITY, f32::NAN, f32::INFINITY]),
        ];
        for (kind, parameters) in refused {
            for parameter in parameters {
                let error = kind.with_parameter(parameter).check().unwrap_err();
                assert!(matches!(error, Error::MeasureParameter { .. }), "{kind:?} {parameter}: {error}");
            }
        }
    }
}
