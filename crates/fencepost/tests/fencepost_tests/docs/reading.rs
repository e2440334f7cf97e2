//! The guide to protocol pages quotes and explains rows of tables. Each of these rows exists in the
//! page of the protocol `vi`.

use std::fs;

use super::tree;

const GUIDE: &str = "docs/reading-protocols.md";
const PAGE: &str = "docs/protocols/vi.md";

#[test]
fn the_tables_that_the_guide_explains_are_those_of_a_page() {
    let read = |name: &str| fs::read_to_string(tree::root().join(name)).unwrap();
    let (guide, page) = (read(GUIDE), read(PAGE));
    let cells = |line: &&str| line.matches('|').count() - 1;
    // The guide's own tables have two cells.
    let quoted: Vec<&str> =
        guide.lines().filter(|line| line.starts_with('|')).filter(|line| cells(line) > 2).collect();
    assert!(quoted.len() > 8, "{GUIDE} quotes {} lines", quoted.len());
    for line in quoted {
        assert!(page.lines().any(|other| other == line), "{PAGE} does not have: {line}");
    }
}
