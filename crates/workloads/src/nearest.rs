//! The search for the known name that is nearest to a misspelled one.

/// The known name that needs the fewest edits to become `name`. It must be one edit away, or the
/// number of edits must be at most a third of the letters of the longer name. If several names are
/// equally near, the first one is returned.
#[must_use]
pub fn nearest<'a, S: AsRef<str>>(name: &str, known: &'a [S]) -> Option<&'a str> {
    const LETTERS_MAX: usize = 64;
    let name: Vec<char> = name.chars().flat_map(char::to_lowercase).take(LETTERS_MAX + 1).collect();
    if name.len() > LETTERS_MAX {
        return None;
    }
    known
        .iter()
        .map(|candidate| {
            let letters: Vec<char> = candidate.as_ref().chars().flat_map(char::to_lowercase).collect();
            (edits(&name, &letters), letters.len().max(name.len()), candidate.as_ref())
        })
        .filter(|(edits, length, _)| *edits <= (length / 3).max(1))
        .min_by_key(|(edits, ..)| *edits)
        .map(|(.., candidate)| candidate)
}

/// The number of edits that turn `a` into `b`. An edit is an insertion, a deletion, a replacement,
/// or a swap of two adjacent letters.
fn edits(a: &[char], b: &[char]) -> usize {
    let mut before_last: Vec<usize> = Vec::new();
    let mut last: Vec<usize> = (0..=b.len()).collect();
    for i in 1..=a.len() {
        let mut row = vec![i; b.len() + 1];
        for j in 1..=b.len() {
            let replaced = last[j - 1] + usize::from(a[i - 1] != b[j - 1]);
            row[j] = replaced.min(last[j] + 1).min(row[j - 1] + 1);
            let swapped = i > 1 && j > 1 && a[i - 1] == b[j - 2] && a[i - 2] == b[j - 1];
            if swapped {
                row[j] = row[j].min(before_last[j - 2] + 1);
            }
        }
        before_last = core::mem::replace(&mut last, row);
    }
    last[b.len()]
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_misspelling_of_each_kind_is_one_edit() {
        for slip in ["hlr-8cu", "hlrcc-8cu", "hlrx-8cu", "hlcr-8cu", "HLRC-8cu"] {
            assert_eq!(nearest(slip, &["titan-v", "hlrc-8cu"]), Some("hlrc-8cu"), "{slip}");
        }
    }

    #[test]
    fn a_name_without_similar_names_gets_no_suggestion() {
        assert_eq!(nearest("denovo", &["vi", "no-l1"]), None);
        assert_eq!(nearest("", &["vi"]), None);
        assert_eq!(nearest(&"v".repeat(1000), &["vi"]), None);
        assert_eq!(nearest::<&str>("vi", &[]), None);
    }
}
