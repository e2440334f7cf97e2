//! The page `docs/parts.md` lists all parts (pieces of code from which protocols are built), each
//! with the protocols that use it.

use std::collections::{BTreeMap, BTreeSet};
use std::fs;
use std::path::Path;

use super::tree;

const PAGE: &str = "docs/parts.md";

type Names = BTreeSet<String>;

#[test]
fn the_page_of_the_parts_lists_exactly_the_parts() {
    let page = sections(&read(PAGE));
    let macros = tree::files(&tree::root().join("crates/proto/src"));
    let macros = macros.iter().flat_map(|file| {
        let text = read(format!("crates/proto/src/{}", file.display()));
        let exported = text.split("#[macro_export]\nmacro_rules! ").skip(1);
        exported.filter_map(|rest| words(rest).into_iter().next()).collect::<Names>()
    });
    for (section, parts) in [
        ("Declarations: macros of `proto`", macros.collect()),
        ("A controller over lines: `proto::parts`", offered("crates/proto/src/parts/mod.rs", &["pub "])),
        ("L1s and banks: `zoo::parts`", offered("crates/zoo/src/parts/mod.rs", &["pub ", "pub(crate) "])),
    ] {
        assert!(!parts.is_empty(), "no part is found for `{section}`");
        let rows = page.get(section).unwrap_or_else(|| panic!("{PAGE} has no section `{section}`"));
        let mut named = Names::new();
        for name in rows.iter().flat_map(|row| &row.names) {
            assert!(named.insert(name.clone()), "{PAGE}: {section} names `{name}` twice");
        }
        assert_eq!(named, parts, "{PAGE}: {section}; left: the page, right: the code");
    }
    for name in page["Whole controllers"].iter().flat_map(|row| &row.names) {
        let (module, item) = name.split_once("::").expect("a module and an item");
        let offered = offered(&format!("crates/zoo/src/{module}/mod.rs"), &["pub "]);
        assert!(offered.contains(item), "{PAGE}: `{name}` does not exist");
    }
}

#[test]
fn the_page_of_the_parts_lists_the_users_of_each_part() {
    let mut users: BTreeMap<String, Names> = BTreeMap::new();
    for file in tree::files(&tree::root().join("crates/zoo/src")) {
        let path = file.display().to_string();
        let Some((module, _)) = path.split_once('/').filter(|(module, _)| *module != "parts") else {
            continue;
        };
        for rest in read(format!("crates/zoo/src/{path}")).split("parts::").skip(1) {
            let names = match rest.strip_prefix('{') {
                Some(list) => list.split('}').next().unwrap().split(',').collect(),
                None => vec![rest],
            };
            // `X as Y` is the name `X`.
            for name in names.into_iter().filter_map(|name| words(name).into_iter().next()) {
                users.entry(name).or_default().insert(module.replace('_', "-"));
            }
        }
    }
    let page = sections(&read(PAGE));
    for section in ["A controller over lines: `proto::parts`", "L1s and banks: `zoo::parts`"] {
        for row in &page[section] {
            let of = |name| users.get(name).into_iter().flatten().cloned();
            let found: Names = row.names.iter().flat_map(of).collect();
            assert_eq!(row.users, found, "{PAGE}: {:?}; left: the page, right: the code", row.names);
        }
    }
}

struct Row {
    /// The names in the first cell of the row: parts (pieces of code from which protocols are
    /// built).
    names: Vec<String>,
    /// The names in the last cell of the row: the protocols that use the parts of the row. Parts
    /// are pieces of code from which protocols are built.
    users: Names,
}

/// For each heading of the page, the rows of the table below the heading.
fn sections(page: &str) -> BTreeMap<String, Vec<Row>> {
    let mut sections: BTreeMap<String, Vec<Row>> = BTreeMap::new();
    let mut heading = String::new();
    for line in page.lines() {
        if let Some(text) = line.strip_prefix("## ") {
            heading = text.to_owned();
        }
        if let Some(cells) = line.strip_prefix("| `") {
            let (first, _) = cells.split_once(" | ").unwrap();
            let last = line.trim_end_matches('|').rsplit('|').next().unwrap();
            let row = Row { names: spans(&format!("`{first}")), users: spans(last).into_iter().collect() };
            sections.entry(heading.clone()).or_default().push(row);
        }
    }
    sections
}

/// The pieces of a text that are in backticks, without the `!` of a macro.
fn spans(text: &str) -> Vec<String> {
    text.split('`').skip(1).step_by(2).map(|span| span.trim_end_matches('!').to_owned()).collect()
}

/// The names of the items that the module in the file `path` offers: those in lines that begin with
/// one of the keywords in `visible`.
fn offered(path: &str, visible: &[&str]) -> Names {
    let text = read(path);
    let mut found = Names::new();
    let mut rest = &*text;
    while let Some((line, behind)) = rest.split_once('\n') {
        if let Some(item) = visible.iter().find_map(|begin| line.strip_prefix(begin)) {
            let begin = line.len() - item.len();
            let kinds = ["const ", "trait ", "struct ", "enum "];
            if item.starts_with("use ") {
                let names = rest[begin..].split(';').next().unwrap();
                found.extend(match names.split_once('{') {
                    Some((_, names)) => words(names),
                    None => words(names).into_iter().rev().take(1).collect(),
                });
            } else if let Some(name) = kinds.iter().find_map(|kind| item.strip_prefix(kind)) {
                found.extend(words(name).into_iter().next());
            }
        }
        rest = behind;
    }
    found
}

fn words(text: &str) -> Vec<String> {
    let is_word = |c: char| c.is_alphanumeric() || c == '_';
    text.split(|c| !is_word(c)).filter(|word| !word.is_empty()).map(str::to_owned).collect()
}

fn read(path: impl AsRef<Path>) -> String {
    fs::read_to_string(tree::root().join(path)).unwrap()
}
