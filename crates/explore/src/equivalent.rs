//! Seeded faults that nobody can notice: each is argued in a sentence.

/// Who has which faults: in each file the name of a fault, ` # `, and the reason. A
/// `*` in a name stands for any text.
const ARGUED: &[(&[&str], &str)] = &[
    (&["vi", "vi-targeted", "no-l1", "rsp", "rsp-repaired"], include_str!("../equivalent/vi-bank.txt")),
    (&["vi", "vi-targeted", "rsp", "rsp-repaired"], include_str!("../equivalent/vi-l1.txt")),
    (&["vi", "vi-targeted"], include_str!("../equivalent/no-remote.txt")),
    (&["vi-targeted"], include_str!("../equivalent/vi-targeted.txt")),
    (&["rsp", "rsp-repaired"], include_str!("../equivalent/rsp.txt")),
    (&["rsp-repaired"], include_str!("../equivalent/rsp-repaired.txt")),
    (&["no-l1"], include_str!("../equivalent/no-l1.txt")),
    (&["hlrc-repaired"], include_str!("../equivalent/hlrc-repaired.txt")),
    (&["denovo-b", "denovo-rprio"], include_str!("../equivalent/denovo.txt")),
];

/// The faults that are argued, each with the reason.
pub(crate) fn all(protocol: &str) -> impl Iterator<Item = (&'static str, &'static str)> {
    let texts = ARGUED.iter().filter(move |(protocols, _)| protocols.contains(&protocol));
    texts.flat_map(|(_, text)| text.lines()).filter_map(|line| line.split_once(" # "))
}

/// Why nobody can notice this fault in that protocol, if that is so.
pub(crate) fn reason(protocol: &str, mutant: &str) -> Option<&'static str> {
    all(protocol).find(|(name, _)| is_named(name, mutant)).map(|(_, reason)| reason)
}

/// Is that the name of the fault, or one that stands for several?
fn is_named(name: &str, mutant: &str) -> bool {
    match name.split_once('*') {
        None => name == mutant,
        Some((start, rest)) => mutant.strip_prefix(start).is_some_and(|mutant| {
            mutant.char_indices().any(|(at, _)| is_named(rest, &mutant[at..])) || is_named(rest, "")
        }),
    }
}

#[cfg(test)]
mod tests {
    use crate::Subject;
    use crate::mutants;
    use std::collections::BTreeSet;

    fn only_faults_are_argued(protocol: &str) {
        let subject = Subject::named(protocol).expect("a protocol");
        let faults: BTreeSet<String> = mutants::all(&subject).into_iter().map(|fault| fault.name).collect();
        let mut argued = super::all(protocol).peekable();
        assert!(argued.peek().is_some());
        for (name, reason) in argued {
            assert!(faults.iter().any(|fault| super::is_named(name, fault)), "{protocol}: {name}");
            assert!(!reason.is_empty());
        }
    }

    #[test]
    fn only_faults_that_can_be_seeded_are_argued() {
        for protocol in super::ARGUED.iter().flat_map(|(protocols, _)| *protocols) {
            only_faults_are_argued(protocol);
        }
    }

    #[test]
    fn a_star_stands_for_any_text() {
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
