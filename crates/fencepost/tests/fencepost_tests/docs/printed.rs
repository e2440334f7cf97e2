//! Compares the output that a page shows with the real output.
//!
//! In the page, a line `...` matches any lines, `...` at the end of a line matches any rest of a
//! line, and a time (`0.3 s`) matches any time.

/// Returns true if `output` matches the text `shown` in a page.
pub(crate) fn fits(shown: &str, output: &str) -> bool {
    let settled = |text: &str| text.lines().map(settle).collect::<Vec<_>>();
    lines_fit(&settled(shown), &settled(output))
}

fn lines_fit(shown: &[String], output: &[String]) -> bool {
    let Some((first, rest)) = shown.split_first() else { return output.is_empty() };
    if first == "..." {
        return (0..=output.len()).any(|skipped| lines_fit(rest, &output[skipped..]));
    }
    let Some((found, others)) = output.split_first() else { return false };
    let is_same = match first.strip_suffix("...") {
        Some(begin) => found.starts_with(begin),
        None => found == first,
    };
    is_same && lines_fit(rest, others)
}

/// A line in which a fixed sign replaces each duration such as `0.3 s`, because durations differ in
/// every run.
fn settle(line: &str) -> String {
    let mut words: Vec<String> = line.trim_end().split(' ').map(str::to_owned).collect();
    for at in 1..words.len() {
        let unit: String = words[at].chars().filter(|c| c.is_alphabetic()).collect();
        let is_time = unit == "s" && words[at].starts_with('s') && words[at - 1].contains('.');
        if is_time && words[at - 1].parse::<f64>().is_ok() {
            words[at - 1] = String::from("#");
            // Columns are as wide as their numbers.
            let spaces = words[..at - 1].iter().rev().take_while(|word| word.is_empty()).count();
            words[at - 1 - spaces..at - 1].fill(String::from("\0"));
        }
    }
    words.retain(|word| word != "\0");
    words.join(" ")
}

/// The text that the page should show: the output without the lines that the page leaves out now.
/// `None` if the function cannot tell which lines of the output these are.
pub(crate) fn blessed(shown: &str, output: &str) -> Option<String> {
    if fits(shown, output) {
        return Some(shown.to_owned());
    }
    let (shown, output): (Vec<&str>, Vec<&str>) = (shown.lines().collect(), output.lines().collect());
    let parts: Vec<&[&str]> = shown.split(|line| *line == "...").collect();
    let (mut from, mut texts) = (0, Vec::new());
    for (at, part) in parts.iter().enumerate() {
        let (is_first, is_last) = (at == 0, at + 1 == parts.len());
        let find = |line: &str, from: usize| {
            let found = output[from..].iter().position(|other| shape(other) == shape(line));
            found.map(|found| from + found)
        };
        let (Some(first), Some(last)) = (part.first(), part.last()) else {
            if is_first && is_last {
                return Some(output.iter().map(|line| format!("{line}\n")).collect());
            }
            texts.push(Vec::new());
            continue;
        };
        let begin = if is_first { 0 } else { find(first, from)? };
        let end = if is_last { output.len() } else { find(last, begin.max(from))? + 1 };
        texts.push(output[begin..end].to_vec());
        from = end;
    }
    let text = texts.join(&"...");
    Some(text.iter().map(|line| format!("{line}\n")).collect())
}

/// The letters of a line, without its numbers, bars and blanks. They show which lines of two
/// outputs belong together.
fn shape(line: &str) -> String {
    line.chars().filter(|c| c.is_alphabetic()).collect()
}

#[test]
fn lines_may_be_omitted_and_times_may_differ() {
    assert!(fits("a\n...\nz in 0.3 s\n", "a\nb\nc\nz in 12.5 s\n"));
    assert!(fits("...\nseeds, 0.1 s\n", "x\nseeds, 0.2 s\n"));
    assert!(fits("a ...\n", "a b c\n"));
    assert!(fits("in   2.45 s\n", "in  12.45 s\n"));
    assert!(!fits("a\n", "a\nb\n") && !fits("a\n...\n", "b\na\n") && !fits("1.5 x\n", "1.6 x\n"));
    assert!(!fits("", "a\n") && fits("...\n", ""));
}

#[test]
fn a_blessed_page_omits_the_same_lines() {
    let output = "head 2\nb 2\nc\nend 7\n";
    assert_eq!(blessed("head 1\n...\nend 1\n", output).as_deref(), Some("head 2\n...\nend 7\n"));
    assert_eq!(blessed("old\n", output).as_deref(), Some(output));
    assert_eq!(blessed("...\nc\nend 1\n", output).as_deref(), Some("...\nc\nend 7\n"));
    assert_eq!(blessed("", output).as_deref(), Some(output));
    assert_eq!(blessed("head\n...\nother\n...\n", output), None);
}
