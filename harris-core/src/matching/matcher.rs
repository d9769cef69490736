//! The trait of matchers, and the rules by which a nearest descriptor becomes a match.

use std::cmp::Ordering;

use ndarray::ArrayView2;

use crate::error::Error;
use crate::limits::LENGTH;
use crate::memory;

/// Conditions that a match meets beside being the nearest descriptor.
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
    /// Makes a configuration in which every nearest descriptor is a match.
    #[must_use]
    pub fn nearest() -> Self {
        Self { ratio: 1.0, cross_check: false }
    }

    /// Sets the ratio test: the nearest is less than `ratio` times as far as the second nearest.
    ///
    /// With 1 every nearest descriptor is a match.
    ///
    /// # Errors
    /// [`Error::Ratio`] unless above 0 and at most 1.
    pub fn with_ratio(self, ratio: f32) -> Result<Self, Error> {
        if ratio > 0.0 && ratio <= 1.0 { Ok(Self { ratio, ..self }) } else { Err(Error::Ratio { ratio }) }
    }

    /// Sets whether each descriptor of a match is the other's nearest.
    #[must_use]
    pub fn with_cross_check(self, cross_check: bool) -> Self {
        Self { cross_check, ..self }
    }

    /// The ratio of the ratio test.
    #[must_use]
    pub fn ratio(&self) -> f32 {
        self.ratio
    }

    /// Whether each descriptor of a match is the other's nearest.
    #[must_use]
    pub fn cross_check(&self) -> bool {
        self.cross_check
    }

    /// The matches of `query`'s descriptors among `train`'s, as [`Matcher::matches`] wants them,
    /// from a function that gives the nearest of each of its first descriptors among its second;
    /// neither is empty then.
    ///
    /// # Errors
    /// [`Error::DescriptorLength`], [`Error::DescriptorValue`], [`Error::OutOfMemory`], and what the
    /// function gives.
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
        self.select(&nearest(query, train)?, back.as_deref())
    }

    /// The matches among the nearest of each query, in their order; `back` has the nearest of each
    /// train descriptor, where cross check is wanted.
    ///
    /// # Errors
    /// [`Error::OutOfMemory`].
    pub fn select(&self, nearest: &[Nearest], back: Option<&[Nearest]>) -> Result<Vec<Match>, Error> {
        let chosen = |query: usize, nearest: &Nearest| {
            let distinct = self.ratio == 1.0 || nearest.distance < self.ratio * self.ratio * nearest.second;
            let mutual = back.is_none_or(|back| back[nearest.index].index == query);
            (distinct && mutual).then(|| Match {
                query,
                train: nearest.index,
                distance: nearest.distance.sqrt(),
            })
        };
        memory::collect(nearest.iter().enumerate().filter_map(|(query, nearest)| chosen(query, nearest)))
    }
}

/// The nearest train descriptor of a query, and the distance of the second nearest.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Nearest {
    /// Row of the train descriptor; the first of equally near ones.
    pub index: usize,
    /// Squared distance of the nearest.
    pub distance: f32,
    /// Squared distance of the second nearest; infinite where there is none.
    pub second: f32,
}

/// A match: a query descriptor and its nearest train descriptor.
///
/// Matches are ordered by their distances, then by queries.
#[derive(Clone, Copy, Debug, PartialEq)]
#[cfg_attr(feature = "serde", derive(serde::Serialize, serde::Deserialize))]
pub struct Match {
    /// Row of the query descriptor.
    pub query: usize,
    /// Row of the train descriptor.
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

/// Matcher of descriptors. Exact implementations give equal results, bit for bit.
pub trait Matcher: Send {
    /// The matches of `query`'s descriptors (N × 64) among `train`'s (M × 64), in the order of
    /// queries. None where either is empty.
    ///
    /// # Errors
    /// [`Error::DescriptorLength`], [`Error::DescriptorValue`]; [`Error::OutOfMemory`];
    /// [`Error::Backend`] where the backend itself fails.
    fn matches(
        &mut self,
        query: ArrayView2<'_, f32>,
        train: ArrayView2<'_, f32>,
    ) -> Result<Vec<Match>, Error>;
}

/// A matcher in a box, such as one whose backend was chosen at run time.
impl<M: Matcher + ?Sized> Matcher for Box<M> {
    fn matches(
        &mut self,
        query: ArrayView2<'_, f32>,
        train: ArrayView2<'_, f32>,
    ) -> Result<Vec<Match>, Error> {
        (**self).matches(query, train)
    }
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
