//! Numbers in sentences.

/// The form of a noun that goes with a number: "1 arc", "2 arcs", "3 vertices".
#[must_use]
pub fn plural(number: u64, noun: &str) -> String {
    match noun {
        _ if number == 1 => noun.to_owned(),
        "vertex" => "vertices".to_owned(),
        "entry" => "entries".to_owned(),
        _ => format!("{noun}s"),
    }
}

/// A number with its noun.
#[must_use]
pub fn counted(number: u64, noun: &str) -> String {
    format!("{number} {}", plural(number, noun))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn one_thing_is_no_plural() {
        let nouns = ["arc", "vertex", "entry", "task-front"];
        assert_eq!(nouns.map(|noun| counted(1, noun)), ["1 arc", "1 vertex", "1 entry", "1 task-front"]);
        assert_eq!(
            nouns.map(|noun| counted(0, noun)),
            ["0 arcs", "0 vertices", "0 entries", "0 task-fronts"]
        );
    }
}
