//! Parts of the inputs, for several machines.

use std::str::FromStr;

/// One part of several, such as `1/4`: every fourth input, from the first on.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Shard {
    /// From 0.
    number: usize,
    of: usize,
}

impl Shard {
    /// All inputs.
    pub(crate) const ALL: Self = Self { number: 0, of: 1 };

    /// Whether an input belongs to this part, by its place in the list of all.
    pub(crate) fn has(self, place: usize) -> bool {
        place % self.of == self.number
    }
}

impl FromStr for Shard {
    type Err = String;

    fn from_str(text: &str) -> Result<Self, String> {
        let numbers = text.split_once('/').and_then(|(i, n)| Some((i.parse().ok()?, n.parse().ok()?)));
        match numbers {
            Some((number @ 1_usize.., of)) if number <= of => Ok(Self { number: number - 1, of }),
            _ => Err("a part is I/N, with I from 1 to N".to_owned()),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_input_belongs_to_exactly_one_part() {
        let parts: Vec<Shard> = (1..=3).map(|i| format!("{i}/3").parse().unwrap()).collect();
        for place in 0..10 {
            assert_eq!(parts.iter().filter(|part| part.has(place)).count(), 1);
        }
        assert!(parts[0].has(0) && parts[1].has(1) && parts[2].has(5));
        assert!((0..5).all(|place| Shard::ALL.has(place)));
    }

    #[test]
    fn parts_that_are_not_there_are_refused() {
        for text in ["0/3", "4/3", "1/0", "1", "/", "a/b", "-1/3", "1/3/5"] {
            assert!(text.parse::<Shard>().is_err(), "{text}");
        }
    }
}
