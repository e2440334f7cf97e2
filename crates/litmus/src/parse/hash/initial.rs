//! Writes the initial state of a test in herd's notation, from which the hash is computed.

/// Writes the entries of the initial state. Registers come first, sorted by thread and name.
/// Locations follow, sorted by name. If several entries have the same name, the first of them is
/// written.
pub(super) fn written(block: &str) -> String {
    let mut entries: Vec<(Key, String)> = block.split(';').filter_map(entry).collect();
    entries.sort_by(|(a, _), (b, _)| a.cmp(b));
    entries.dedup_by(|(later, _), (first, _)| later == first);
    entries.into_iter().map(|(_, text)| text).collect::<Vec<_>>().join("; ")
}

#[derive(PartialEq, Eq, PartialOrd, Ord)]
enum Key {
    Register(usize, String),
    Memory(String),
}

/// An entry of the initial state in normalized form: its key (a register or a location) and its
/// text. `int x = 1` becomes `int x=1`. An entry without a value gets the value 0.
fn entry(text: &str) -> Option<(Key, String)> {
    let (left, value) = match text.split_once('=') {
        Some((left, value)) => (left, initial(value)),
        None => (text, String::from("0")),
    };
    let mut words = split(left);
    if words.last().map(String::as_str) == Some("]") {
        let open = words.iter().rposition(|word| word == "[")?;
        let inner = words.get(open + 1)?.clone();
        let array = open.checked_sub(1).map(|at| words[at].clone());
        match array {
            // The hash includes the size of an array but not its values.
            Some(array) if inner.bytes().all(|b| b.is_ascii_digit()) => {
                words.truncate(open - 1);
                let text = format!("{} {array}[{inner}]", words.join(" "));
                return Some((Key::Memory(array), text));
            }
            _ => {
                words.truncate(open);
                words.push(inner);
            }
        }
    }
    let name = words.pop()?;
    let (key, name) = if words.last().map(String::as_str) == Some(":") {
        words.pop();
        let thread = words.pop()?;
        let number = thread.trim_start_matches('P').parse().ok()?;
        (Key::Register(number, name.clone()), format!("{number}:{name}"))
    } else {
        (Key::Memory(name.clone()), name)
    };
    let stars = words.iter().rev().take_while(|word| *word == "*").count();
    words.truncate(words.len() - stars);
    let mut kind = words.join(" ");
    if !kind.is_empty() {
        kind.push(' ');
    }
    Some((key, format!("{kind}{}{name}={value}", "*".repeat(stars))))
}

/// Writes a value without blanks and in a normalized form: `&x` becomes `x`, `ATOMIC_INIT(1)`
/// becomes `1`, and `x[1]` becomes `x+1`.
fn initial(text: &str) -> String {
    let value: String = text.chars().filter(|c| !c.is_whitespace()).collect();
    let value = value.trim_start_matches('&');
    let inner = value.strip_prefix("ATOMIC_INIT(").and_then(|rest| rest.strip_suffix(')'));
    let value = inner.unwrap_or(value);
    match value.strip_suffix(']').and_then(|rest| rest.split_once('[')) {
        Some((name, "0")) => name.to_owned(),
        Some((name, index)) => format!("{name}+{index}"),
        None => value.to_owned(),
    }
}

/// Splits a text into words and punctuation marks.
pub(super) fn split(text: &str) -> Vec<String> {
    let mut words: Vec<String> = Vec::new();
    let mut open = false;
    for c in text.chars() {
        let inside = c.is_alphanumeric() || matches!(c, '_' | '$' | '%' | '.');
        match words.last_mut() {
            Some(word) if inside && open => word.push(c),
            _ if c.is_whitespace() => {}
            _ => words.push(c.to_string()),
        }
        open = inside;
    }
    words
}

#[cfg(test)]
mod tests {
    use super::written;

    #[test]
    fn entries_are_sorted_and_have_their_types() {
        for (given, expected) in [
            ("y; x = 2", "x=2; y=0"),
            ("int *x = &y; 1:r1=x; 0:r1 = y; [z]=1;", "0:r1=y; 1:r1=x; int *x=y; z=1"),
            ("atomic_int y = ATOMIC_INIT(3); _Atomic int x", "_Atomic int x=0; atomic_int y=3"),
            ("int x[2] = {1, 2}; *p = x[1]; P0:q = x[0]", "0:q=x; *p=x+1; int x[2]"),
            ("x = 1; x = 1", "x=1"),
        ] {
            assert_eq!(written(given), expected);
        }
    }
}
