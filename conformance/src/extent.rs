//! How much is tested: all of each table and many random cases, or a part of them.
//!
//! By default a part is tested, which takes minutes less and finds most faults. The environment
//! variable `HARRIS_THOROUGH`, set to anything but 0, makes tests run on everything.

/// Returns whether `HARRIS_THOROUGH` asks for everything.
#[must_use]
pub fn is_thorough() -> bool {
    std::env::var_os("HARRIS_THOROUGH").is_some_and(|value| value != "0")
}

/// Returns all items of a table if tests are thorough, else about one in `n`.
///
/// The part is the same in each run. It is spread over the table without a period, so that each
/// choice in a table of combinations has some of its rows in it. The first item is always there.
pub fn part_of<T>(table: impl IntoIterator<Item = T>, n: u32) -> impl Iterator<Item = T> {
    let n = if is_thorough() { 1 } else { n };
    (0_u32..)
        .zip(table)
        .filter(move |(i, _)| (i.wrapping_mul(0x9E37_79B9) >> 16) % n == 0)
        .map(|(_, item)| item)
}

/// Returns the number of random cases: `cases` if tests are thorough, else `quick` of them.
/// `PROPTEST_CASES` takes the place of both.
#[must_use]
pub fn random_cases(cases: u32, quick: u32) -> u32 {
    let asked = std::env::var("PROPTEST_CASES").ok().and_then(|value| value.parse().ok());
    asked.unwrap_or(if is_thorough() { cases } else { quick })
}
