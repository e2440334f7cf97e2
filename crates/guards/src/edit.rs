//! Edits a source text at given positions. The edits keep the number of lines of the text.

use core::ops::Range;

/// The kind of an edit. `Close` puts text after a part of the source, `Open` puts text before a
/// part, and `Replace` replaces a part. The number in `Replace` is the end of the replaced part.
#[derive(Clone, Debug, PartialEq, Eq)]
enum Kind {
    Close,
    Open,
    Replace(usize),
}

#[derive(Clone, Debug)]
struct Edit {
    at: usize,
    kind: Kind,
    text: String,
    /// The number of the site that the edit belongs to. A site is an expression of the source that
    /// has mutations.
    site: usize,
}

/// The edits of one source text. If a part of the source contains other parts, the edits of the
/// outer part are added first.
#[derive(Clone, Debug, Default)]
pub(crate) struct Edits(Vec<Edit>);

/// An edited text, with the range of each site (an expression that has mutations).
#[derive(Debug)]
pub(crate) struct Edited {
    pub(crate) text: String,
    /// The number of each site (an expression that has mutations), with its range in the edited
    /// text.
    pub(crate) ranges: Vec<(usize, Range<usize>)>,
}

impl Edits {
    /// Adds an edit that puts `open` before a range of the source and `close` after this range.
    pub(crate) fn wrap(&mut self, site: usize, range: &Range<usize>, open: String, close: String) {
        self.0.push(Edit { at: range.start, kind: Kind::Open, text: open, site });
        self.0.push(Edit { at: range.end, kind: Kind::Close, text: close, site });
    }

    /// Adds an edit that replaces a range of the source by `text`. The text must have no line
    /// break.
    pub(crate) fn replace(&mut self, site: usize, range: &Range<usize>, text: &str) {
        self.0.push(Edit { at: range.start, kind: Kind::Replace(range.end), text: text.to_owned(), site });
    }

    /// Adds an edit that inserts a text. The edit belongs to no site (an expression that has
    /// mutations).
    pub(crate) fn insert(&mut self, at: usize, text: &str) {
        self.0.push(Edit { at, kind: Kind::Close, text: text.to_owned(), site: usize::MAX });
    }

    /// Applies the edits to `source`. The edits of the sites (expressions) for which `is_left_out`
    /// is true are left out. A replaced range keeps its number of line breaks.
    pub(crate) fn apply(&self, source: &str, is_left_out: impl Fn(usize) -> bool) -> Edited {
        let edits = self.0.iter().enumerate().filter(|(_, edit)| !is_left_out(edit.site));
        let mut edits: Vec<(usize, &Edit)> = edits.collect();
        // Several edits can have the same position. First, inner parts close before outer parts.
        // Then outer parts open before inner parts.
        edits.sort_by_key(|&(order, edit)| match edit.kind {
            Kind::Close => (edit.at, 0, usize::MAX - order),
            Kind::Open => (edit.at, 1, order),
            Kind::Replace(_) => (edit.at, 2, order),
        });
        let mut edited = Edited { text: String::new(), ranges: Vec::new() };
        let mut done = 0;
        for (_, edit) in edits {
            edited.text += source.get(done..edit.at).unwrap_or_default();
            done = done.max(edit.at);
            let from = edited.text.len();
            edited.text += &edit.text;
            if let Kind::Replace(end) = edit.kind {
                let breaks = source[edit.at..end].matches('\n').count();
                edited.text.extend(core::iter::repeat_n('\n', breaks));
                done = end;
            }
            let to = edited.text.len();
            match edited.ranges.iter_mut().find(|(site, _)| *site == edit.site) {
                Some((_, range)) => range.end = to,
                None => edited.ranges.push((edit.site, from..to)),
            }
        }
        edited.text += &source[done..];
        edited
    }
}

/// Returns a part of a source as one line, in which spaces replace the line breaks. Returns `None`
/// if the part has several lines and contains a comment or a string literal.
pub(crate) fn on_one_line(part: &str) -> Option<String> {
    if !part.contains('\n') {
        return Some(part.to_owned());
    }
    let is_hard = part.contains("//") || part.contains("/*") || part.contains('"');
    (!is_hard).then(|| part.split('\n').map(str::trim).collect::<Vec<_>>().join(" "))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn edits_nest_and_keep_lines() {
        let source = "a ==\n b && c";
        let mut edits = Edits::default();
        edits.wrap(0, &(0..12), "(".into(), ")".into());
        edits.replace(0, &(8..10), ", ");
        edits.wrap(1, &(0..7), "[".into(), "]".into());
        edits.replace(1, &(2..5), "=");
        let edited = edits.apply(source, |_| false);
        assert_eq!(edited.text, "([a =\n b] ,  c)");
        assert_eq!(edited.ranges, [(0, 0..15), (1, 1..9)]);
        assert_eq!(edits.apply(source, |site| site == 0).text, "[a =\n b] && c");
        assert_eq!(edits.apply(source, |_| true).text, source);
    }

    #[test]
    fn a_part_with_comments_has_no_form_on_one_line() {
        assert_eq!(on_one_line("a\n   .b()").as_deref(), Some("a .b()"));
        assert_eq!(on_one_line("a // why\n.b()"), None);
    }
}
