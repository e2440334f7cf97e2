//! Tests that the generated parts of the pages on memory models agree with the files of the models.
//!
//! `FENCEPOST_BLESS=1 cargo test --test litmus_tests pages` writes these parts again.

use std::collections::{BTreeMap, BTreeSet};
use std::fmt::Write as _;
use std::path::PathBuf;

use litmus::cat::{shipped_file, shipped_names};
use litmus::suite::expectations;

const BEGIN: &str = "<!-- generated: begin -->";
const END: &str = "<!-- generated: end -->";

fn root() -> PathBuf {
    PathBuf::from(env!("CARGO_MANIFEST_DIR")).join("../..")
}

/// A part of a model's file.
#[derive(Debug, PartialEq, Eq)]
enum Part {
    /// A comment, on one line.
    Words(String),
    /// Lines of code.
    Code(String),
}

/// Splits the file of a model into comments and code. The parts of an included file take the place
/// of its `include` line.
fn parts(text: &str, into: &mut Vec<Part>) {
    let mut rest = text;
    loop {
        let (code, comment) = rest.split_once("(*").unwrap_or((rest, ""));
        let mut lines = String::new();
        for line in code.lines() {
            if let Some(name) = line.strip_prefix("include ") {
                into.extend((!lines.trim().is_empty()).then(|| Part::Code(core::mem::take(&mut lines))));
                let name = name.trim().trim_matches('"');
                parts(&shipped_file(name).expect("it comes with the tool"), into);
            } else if !line.starts_with('"') {
                lines += line;
                lines.push('\n');
            }
        }
        let lines = lines.trim_matches('\n');
        into.extend((!lines.trim().is_empty()).then(|| Part::Code(lines.to_owned())));
        if comment.is_empty() {
            return;
        }
        let (words, after) = comment.split_once("*)").expect("comments end");
        into.push(Part::Words(words.split_whitespace().collect::<Vec<_>>().join(" ")));
        rest = after;
    }
}

/// The number at the beginning of the comment on a clause, such as `1. ...` or `Axiom 1, ...`.
/// `None` if the comment does not begin with a number.
fn number(words: &str) -> Option<u32> {
    let words = words.strip_prefix("Axiom ").unwrap_or(words);
    let digits: String = words.chars().take_while(char::is_ascii_digit).collect();
    digits.parse().ok().filter(|_| matches!(words[digits.len()..].chars().next(), Some('.' | ',' | ' ')))
}

/// A check of a model.
struct Check {
    number: Option<u32>,
    name: String,
    kind: String,
    flag: bool,
}

fn checks(parts: &[Part]) -> Vec<Check> {
    let mut found = Vec::new();
    let mut last = None;
    for part in parts {
        let code = match part {
            Part::Words(words) => {
                last = number(words);
                continue;
            }
            Part::Code(code) => code,
        };
        for line in code.lines() {
            let (flag, line) = line.strip_prefix("flag ").map_or((false, line), |rest| (true, rest));
            let kind = line.split(' ').next().unwrap_or_default();
            if !["acyclic", "irreflexive", "empty"].contains(&kind.trim_start_matches('~')) {
                continue;
            }
            let (_, name) = line.rsplit_once(" as ").expect("a check of ours has a name");
            found.push(Check { number: last, name: name.to_owned(), kind: kind.to_owned(), flag });
        }
    }
    found
}

/// The expected answers of each test: whether its condition is met, and whether it is race-free. An
/// answer is `None` if no table has it.
fn tests(model: &str) -> BTreeMap<String, [Option<bool>; 2]> {
    let mut all: BTreeMap<String, [Option<bool>; 2]> = BTreeMap::new();
    for (column, table) in ["expected", "race-free"].iter().enumerate() {
        let Ok(text) = std::fs::read_to_string(root().join(format!("litmus/{model}-{table}.csv"))) else {
            continue;
        };
        for line in expectations(&text).expect("a table") {
            all.entry(line.file).or_default()[column] = Some(line.expected);
        }
    }
    all
}

fn render(model: &str, text: &str) -> String {
    let mut all = Vec::new();
    parts(text, &mut all);
    let mut page = "\n## Clauses\n".to_owned();
    for part in &all {
        let _ = match part {
            Part::Words(words) => writeln!(page, "\n{words}"),
            Part::Code(code) => writeln!(page, "\n```cat\n{code}\n```"),
        };
    }
    page += "\n## Checks\n\nAn axiom forbids every execution that fails its check. A flag forbids no execution: if its check passes \
             in an allowed execution, the behaviour of the program is undefined.\n\n| clause | name | kind | check |\n|---|---|---|---|\n";
    for Check { number, name, kind, flag } in checks(&all) {
        let number = number.map_or_else(|| "-".to_owned(), |n| n.to_string());
        let is = if flag { "flag" } else { "axiom" };
        let _ = writeln!(page, "| {number} | `{name}` | {is} | {} |", kind.replace('~', "not "));
    }
    page += "\n## Tests\n\n| test | its condition is met | free of races |\n|---|---|---|\n";
    for (test, answers) in tests(model) {
        let [met, free] = answers.map(|a| a.map_or("", |a| if a { "yes" } else { "no" }));
        let _ = writeln!(page, "| `{test}` | {met} | {free} |");
    }
    page + "\n"
}

#[test]
fn the_page_of_every_model_matches_its_file() {
    let folder = root().join("docs/models");
    for model in shipped_names() {
        let path = folder.join(format!("{}.md", model.name));
        let page = std::fs::read_to_string(&path).unwrap_or_else(|e| panic!("{}: {e}", path.display()));
        let (before, rest) = page.split_once(BEGIN).expect("a page has a generated part");
        let (_, after) = rest.split_once(END).expect("the generated part ends");
        for word in ["**Source.**", "**Options.**", "**Limits.**"] {
            assert!(before.contains(word), "{}: no {word}", model.name);
        }
        let wanted = format!("{before}{BEGIN}\n{}{END}{after}", render(model.name, model.text));
        if std::env::var_os("FENCEPOST_BLESS").is_some() {
            std::fs::write(&path, wanted).expect("the page can be written");
        } else {
            assert!(page == wanted, "{}: the page is out of date; run with FENCEPOST_BLESS=1", model.name);
        }
    }
    let pages = std::fs::read_dir(&folder).expect("the folder is readable").count();
    assert_eq!(pages, shipped_names().len(), "a page without a model");
}

#[test]
fn numbered_clauses_are_numbered_without_gaps_and_every_clause_is_tested() {
    for model in shipped_names() {
        let mut all = Vec::new();
        parts(model.text, &mut all);
        let found = checks(&all);
        assert!(!found.is_empty(), "{}", model.name);
        let names: BTreeSet<&str> = found.iter().map(|c| c.name.as_str()).collect();
        assert_eq!(names.len(), found.len(), "{}: two checks of one name", model.name);
        let mut numbers: Vec<u32> = found.iter().filter_map(|c| c.number).collect();
        numbers.dedup();
        assert!(numbers.iter().copied().eq(1..=numbers.len() as u32), "{}: {numbers:?}", model.name);
        assert!(tests(model.name).len() >= 10, "{} has tests", model.name);
    }
}
