//! The trait of matchers, and the rules by which a nearest descriptor becomes a match.

use std::cmp::Ordering;

use ndarray::ArrayView2;

use crate::error::Error;
use crate::limits::LENGTH;
use crate::memory;

/// A valid configuration of matching: what a match is, beside the nearest descriptor.
///
/// The default is a ratio of 0.7 (Lowe 2004 has 0.8, OpenSURF 0.65) and no cross check.
///
/// ```
/// use harris_core::matching::MatchConfig;
///
/// let config = MatchConfig::builder().ratio(0.8).cross_check(true).build()?;
/// assert_eq!((config.ratio(), config.cross_check()), (0.8, true));
/// assert!(MatchConfig::builder().ratio(1.5).build().is_err());
/// # Ok::<(), harris_core::Error>(())
/// ```
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub struct MatchConfig {
    choices: MatchConfigBuilder,
}

/// Collects the choices of a [`MatchConfig`]; [`build`](Self::build) validates them.
#[derive(Clone, Copy, Debug, PartialEq)]
#[must_use]
pub struct MatchConfigBuilder {
    ratio: f32,
    cross_check: bool,
}

impl Default for MatchConfigBuilder {
    fn default() -> Self {
        Self { ratio: 0.7, cross_check: false }
    }
}

impl MatchConfigBuilder {
    /// Ratio test, above 0 and at most 1, by default 0.7.
    ///
    /// The nearest descriptor is less than `ratio` times as far as the second nearest.
    /// With 1 there is no such test: every nearest descriptor is a match.
    pub fn ratio(mut self, ratio: f32) -> Self {
        self.ratio = ratio;
        self
    }

    /// Whether each descriptor of a match is the other's nearest; not asked for by default.
    pub fn cross_check(mut self, cross_check: bool) -> Self {
        self.cross_check = cross_check;
        self
    }

    /// Validates the choices.
    ///
    /// # Errors
    /// [`Error::Ratio`].
    pub fn build(self) -> Result<MatchConfig, Error> {
        let Self { ratio, .. } = self;
        if ratio > 0.0 && ratio <= 1.0 {
            Ok(MatchConfig { choices: self })
        } else {
            Err(Error::Ratio { ratio })
        }
    }
}

impl MatchConfig {
    /// Starts a builder from the default.
    pub fn builder() -> MatchConfigBuilder {
        MatchConfigBuilder::default()
    }

    /// Starts a builder from this configuration.
    pub fn to_builder(&self) -> MatchConfigBuilder {
        self.choices
    }

    /// Makes a configuration in which every nearest descriptor is a match.
    #[must_use]
    pub fn nearest() -> Self {
        Self { choices: MatchConfigBuilder { ratio: 1.0, cross_check: false } }
    }

    /// The ratio of the ratio test.
    #[must_use]
    pub fn ratio(&self) -> f32 {
        self.choices.ratio
    }

    /// Whether each descriptor of a match is the other's nearest.
    #[must_use]
    pub fn cross_check(&self) -> bool {
        self.choices.cross_check
    }

    /// The matches of `query`'s descriptors (N × 64) among `train`'s (M × 64), for implementations
    /// of [`Matcher`].
    ///
    /// `nearest` is called with two sets, neither of them empty. It gives the nearest descriptor of
    /// the second set for each of the first. For the cross check it is called a second time, with
    /// the sets exchanged.
    ///
    /// # Errors
    /// [`Error::DescriptorLength`], [`Error::DescriptorValue`], [`Error::OutOfMemory`], and the
    /// errors of `nearest`.
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
        let back = self.cross_check().then(|| nearest(train, query)).transpose()?;
        self.select(&nearest(query, train)?, back.as_deref())
    }

    /// The matches among the nearest train descriptors of all queries, in the order of queries.
    ///
    /// `back` has the nearest query of each train descriptor, if the cross check is wanted.
    ///
    /// # Errors
    /// [`Error::OutOfMemory`].
    ///
    /// # Panics
    /// Where `nearest` has an index that `back` does not have.
    pub fn select(&self, nearest: &[Nearest], back: Option<&[Nearest]>) -> Result<Vec<Match>, Error> {
        let ratio = self.ratio();
        let chosen = |query: usize, nearest: &Nearest| {
            let distinct = ratio == 1.0 || nearest.distance < ratio * ratio * nearest.second;
            let mutual = back.is_none_or(|back| back[nearest.index].index == query);
            (distinct && mutual).then(|| Match::new(query, nearest.index, nearest.distance.sqrt()))
        };
        memory::collect(nearest.iter().enumerate().filter_map(|(query, nearest)| chosen(query, nearest)))
    }
}

/// The nearest train descriptor of a query, and the distance of the second nearest.
///
/// Implementations of [`Matcher`] give them to [`MatchConfig::matches`].
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
/// ```
/// use harris_core::matching::Match;
///
/// let mut matches = [Match::new(0, 4, 0.5), Match::new(1, 2, 0.25)];
/// matches.sort_by(Match::nearer);
/// assert_eq!((matches[0].query, matches[0].train), (1, 2));
/// ```
#[derive(Clone, Copy, Debug, PartialEq)]
#[cfg_attr(feature = "serde", derive(serde::Serialize, serde::Deserialize))]
#[non_exhaustive]
pub struct Match {
    /// Row of the query descriptor.
    pub query: usize,
    /// Row of the train descriptor.
    pub train: usize,
    /// Euclidean distance, 0 to 2 for descriptors of length 1.
    pub distance: f32,
}

impl Match {
    /// Makes a match of the query and train descriptors of these rows.
    #[must_use]
    pub const fn new(query: usize, train: usize, distance: f32) -> Self {
        Self { query, train, distance }
    }

    /// Compares by distance, the nearest first, then by query.
    #[must_use]
    pub fn nearer(&self, other: &Self) -> Ordering {
        self.distance.total_cmp(&other.distance).then(self.query.cmp(&other.query))
    }
}

/// Matcher of descriptors.
///
/// Exact implementations give equal results, bit for bit.
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
