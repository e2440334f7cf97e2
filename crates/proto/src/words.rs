//! Numbers and nouns as text for messages.

/// The noun in the singular or the plural, as the number requires: "arc" for 1, "arcs" for 2,
/// "vertices" for 3. The number is not in the result.
#[must_use]
pub fn plural(number: u64, noun: &str) -> String {
    match noun {
        _ if number == 1 => noun.to_owned(),
        "vertex" => "vertices".to_owned(),
        "entry" => "entries".to_owned(),
        _ if noun.ends_with('s') => format!("{noun}es"),
        _ => format!("{noun}s"),
    }
}

/// A number with its noun: "1 arc", "2000 arcs".
#[must_use]
pub fn counted(number: u64, noun: &str) -> String {
    format!("{number} {}", plural(number, noun))
}

/// A number with its digits in groups of three: "2,000".
#[must_use]
pub fn grouped(number: u64) -> String {
    let digits = number.to_string();
    let mut text = String::new();
    for (at, digit) in digits.chars().enumerate() {
        if at > 0 && (digits.len() - at).is_multiple_of(3) {
            text.push(',');
        }
        text.push(digit);
    }
    text
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_count_one_takes_the_singular() {
        let nouns = ["arc", "vertex", "entry", "access", "task-front"];
        let one = ["1 arc", "1 vertex", "1 entry", "1 access", "1 task-front"];
        let none = ["0 arcs", "0 vertices", "0 entries", "0 accesses", "0 task-fronts"];
        assert_eq!(nouns.map(|noun| counted(1, noun)), one);
        assert_eq!(nouns.map(|noun| counted(0, noun)), none);
    }

    #[test]
    fn digits_are_in_groups_of_three() {
        let numbers = [0, 999, 1_000, 1_234_567].map(grouped);
        assert_eq!(numbers, ["0", "999", "1,000", "1,234,567"]);
    }
}
