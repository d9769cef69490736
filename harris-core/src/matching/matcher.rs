//! What every matcher can do, and the rules by which a nearest descriptor becomes a match.

use std::cmp::Ordering;

use ndarray::ArrayView2;

use crate::error::Error;
use crate::limits::LENGTH;

/// What a match must show beside being the nearest.
///
/// The default is a ratio of 0.7 (Lowe 2004 has 0.8, OpenSURF 0.65) and no cross check.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct MatchConfig {
    ratio: f32,
    cross_check: bool,
}

impl Default for MatchConfig {
    fn default() -> Self {
        Self { ratio: 0.7, cross_check: false }
    }
}

impl MatchConfig {
    /// Every nearest descriptor is a match.
    #[must_use]
    pub fn nearest() -> Self {
        Self { ratio: 1.0, cross_check: false }
    }

    /// The nearest must be less than `ratio` times as far as the second nearest; with 1 every
    /// nearest is a match.
    ///
    /// # Errors
    /// [`Error::Ratio`] unless above 0 and at most 1.
    pub fn with_ratio(self, ratio: f32) -> Result<Self, Error> {
        if ratio > 0.0 && ratio <= 1.0 { Ok(Self { ratio, ..self }) } else { Err(Error::Ratio { ratio }) }
    }

    /// Whether each must be the other's nearest.
    #[must_use]
    pub fn with_cross_check(self, cross_check: bool) -> Self {
        Self { cross_check, ..self }
    }

    /// The ratio.
    #[must_use]
    pub fn ratio(&self) -> f32 {
        self.ratio
    }

    /// Whether each must be the other's nearest.
    #[must_use]
    pub fn cross_check(&self) -> bool {
        self.cross_check
    }

    /// The matches of `query`'s descriptors among `train`'s, as [`Matcher::matches`] wants them,
    /// from a function that gives the nearest of each of its first descriptors among its second;
    /// neither is empty then.
    ///
    /// # Errors
    /// [`Error::DescriptorLength`], [`Error::DescriptorValue`], and what the function gives.
    pub fn matches<'a>(
        &self,
        query: ArrayView2<'a, f32>,
        train: ArrayView2<'a, f32>,
        mut nearest: impl FnMut(ArrayView2<'a, f32>, ArrayView2<'a, f32>) -> Result<Vec<Nearest>, Error>,
    ) -> Result<Vec<Match>, Error> {
        check(query)?;
        check(train)?;
        if query.is_empty() || train.is_empty() {
            return Ok(Vec::new());
        }
        let back = self.cross_check.then(|| nearest(train, query)).transpose()?;
        Ok(self.select(&nearest(query, train)?, back.as_deref()))
    }

    /// The matches among the nearest of each query, in their order; `back` has the nearest of each
    /// train descriptor, where cross check is wanted.
    #[must_use]
    pub fn select(&self, nearest: &[Nearest], back: Option<&[Nearest]>) -> Vec<Match> {
        let chosen = |query: usize, nearest: &Nearest| {
            let distinct = self.ratio == 1.0 || nearest.distance < self.ratio * self.ratio * nearest.second;
            let mutual = back.is_none_or(|back| back[nearest.index].index == query);
            (distinct && mutual).then(|| Match {
                query,
                train: nearest.index,
                distance: nearest.distance.sqrt(),
            })
        };
        nearest.iter().enumerate().filter_map(|(query, nearest)| chosen(query, nearest)).collect()
    }
}

/// The nearest descriptor to a query.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Nearest {
    /// Which one; the first of equals.
    pub index: usize,
    /// Its squared distance.
    pub distance: f32,
    /// The squared distance of the second nearest; infinite where there is none.
    pub second: f32,
}

/// Two descriptors that belong together.
///
/// The order of matches is that of their distances, then of queries.
#[derive(Clone, Copy, Debug, PartialEq)]
#[cfg_attr(feature = "serde", derive(serde::Serialize, serde::Deserialize))]
pub struct Match {
    /// Row of the one searched for.
    pub query: usize,
    /// Row of the one found.
    pub train: usize,
    /// Euclidean distance, 0 to 2 for descriptors of length 1.
    pub distance: f32,
}

impl Match {
    /// Compares by distance, then by query.
    #[must_use]
    pub fn nearer(&self, other: &Self) -> Ordering {
        self.distance.total_cmp(&other.distance).then(self.query.cmp(&other.query))
    }
}

/// What finds matches; exact implementations give the same to the bit.
pub trait Matcher: Send {
    /// The matches of `query`'s descriptors (N × 64) among `train`'s (M × 64), in the order of
    /// queries. None where either is empty.
    ///
    /// # Errors
    /// [`Error::DescriptorLength`], [`Error::DescriptorValue`]; [`Error::Backend`] where the
    /// backend itself fails.
    fn matches(
        &mut self,
        query: ArrayView2<'_, f32>,
        train: ArrayView2<'_, f32>,
    ) -> Result<Vec<Match>, Error>;
}

/// Checks descriptors: 64 finite values each.
///
/// # Errors
/// [`Error::DescriptorLength`], [`Error::DescriptorValue`].
pub fn check(descriptors: ArrayView2<'_, f32>) -> Result<(), Error> {
    let found = descriptors.ncols();
    if found != LENGTH {
        return Err(Error::DescriptorLength { found });
    }
    match descriptors.indexed_iter().find(|(_, value)| !value.is_finite()) {
        Some(((row, column), &value)) => Err(Error::DescriptorValue { row, column, value }),
        None => Ok(()),
    }
}
