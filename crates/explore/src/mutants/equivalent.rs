//! Equivalent mutants: seeded faults without an observable effect. For each of them, the protocol
//! argues why no program can observe it.

use proto::Info;

/// The argument that the fault `mutant` is equivalent (undetectable) in a protocol, or `None` if
/// the protocol gives none.
pub(crate) fn reason(info: &Info, mutant: &str) -> Option<&'static str> {
    info.equivalents().find(|(name, _)| is_named(name, mutant)).map(|(_, reason)| reason)
}

/// Whether a name, in which `*` stands for any text, matches the name of the mutant.
#[must_use]
pub fn is_named(name: &str, mutant: &str) -> bool {
    match name.split_once('*') {
        None => name == mutant,
        Some((start, rest)) => mutant.strip_prefix(start).is_some_and(|mutant| {
            mutant.char_indices().any(|(at, _)| is_named(rest, &mutant[at..])) || is_named(rest, "")
        }),
    }
}

#[cfg(test)]
mod tests {
    #[test]
    fn a_star_matches_any_text() {
        for (name, fault, is_it) in [
            ("a b", "a b", true),
            ("a b", "a bc", false),
            ("a *", "a b, c", true),
            ("a *, c", "a b, c", true),
            ("a *, c", "a b, d", false),
            ("* b*", "a b", true),
            ("*", "", true),
        ] {
            assert_eq!(super::is_named(name, fault), is_it, "{name} / {fault}");
        }
    }
}
