//! The families of programs of a verification, with the states that each costs and the seeded faults
//! that it detects. So a family that costs much and detects nothing that others do not detect can be
//! found.

use std::collections::BTreeMap;

use crate::mutants::Mutants;

/// The programs of one family in a verification.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Family {
    /// The name of the family.
    pub name: String,
    /// The number of its tests that ran.
    pub tests: usize,
    /// The number of these tests in which synchronization orders data between caches.
    pub synchronized: usize,
    /// The total number of states of all their runs.
    pub states: u64,
    /// The number of mutants (protocols with a seeded fault) that a test of the family killed. A
    /// mutant counts for the family of the first test that kills it.
    pub kills: usize,
}

/// A test that ran: its name, whether synchronization orders data in it, and its states.
pub(super) struct Ran<'a> {
    pub(super) name: &'a str,
    pub(super) synchronized: bool,
    pub(super) states: u64,
}

/// The families of the tests that ran, by name.
pub(super) fn families<'a>(ran: impl Iterator<Item = Ran<'a>>, mutants: Option<&Mutants>) -> Vec<Family> {
    let mut all: BTreeMap<String, Family> = BTreeMap::new();
    for test in ran {
        let family = all.entry(name_of(test.name)).or_default();
        family.tests += 1;
        family.synchronized += usize::from(test.synchronized);
        family.states += test.states;
    }
    for (_, why) in mutants.iter().flat_map(|mutants| &mutants.killed) {
        let test = why.split(": ").next().unwrap_or_default();
        all.entry(name_of(test)).or_default().kills += 1;
    }
    all.into_iter().map(|(name, family)| Family { name, ..family }).collect()
}

/// The name of the family of a test. A test from a file belongs to the family of its folder. The
/// name of a generated test begins with the letter of its family, and `+` and `~` in it mark the
/// variants with a neighbour and with fences.
fn name_of(test: &str) -> String {
    if let Some((folder, _)) = test.split_once('/').filter(|(folder, _)| !folder.is_empty()) {
        return folder.to_owned();
    }
    let letter = test.chars().next().filter(char::is_ascii_uppercase);
    let is_generated = letter.is_some() && test[1..].starts_with(|c: char| c.is_ascii_digit());
    match letter.filter(|_| is_generated) {
        None => String::from("other tests"),
        Some(letter) => {
            let variants = test.chars().filter(|c| matches!(c, '+' | '~'));
            core::iter::once(letter).chain(variants).collect()
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_family_counts_its_tests_and_the_mutants_that_they_kill() {
        let ran = [
            ("caches/one.litmus", true, 5),
            ("A4-0.7", false, 1),
            ("A4-0.8", true, 2),
            ("A4-0.8+1", true, 3),
            ("A4-0.8~2+1", true, 4),
            ("/home/one.litmus", false, 6),
            ("A.litmus", false, 7),
        ];
        let ran = ran.map(|(name, synchronized, states)| Ran { name, synchronized, states });
        let killed =
            [("one", "A4-0.8: why: so"), ("two", "A4-0.8+1: why"), ("three", "caches/one.litmus: w")];
        let killed = killed.map(|(mutant, why)| (mutant.to_owned(), why.to_owned())).to_vec();
        let mutants = Mutants { killed, ..Mutants::default() };
        let all = families(ran.into_iter(), Some(&mutants));
        let all: Vec<(&str, usize, usize, u64, usize)> =
            all.iter().map(|f| (f.name.as_str(), f.tests, f.synchronized, f.states, f.kills)).collect();
        assert_eq!(
            all,
            [
                ("A", 2, 1, 3, 1),
                ("A+", 1, 1, 3, 1),
                ("A~+", 1, 1, 4, 0),
                ("caches", 1, 1, 5, 1),
                ("other tests", 2, 0, 13, 0),
            ]
        );
    }
}
