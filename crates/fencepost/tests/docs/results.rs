//! The pages of results contain exactly the recorded data.
//!
//! `fencepost verify --record docs/results/verification.toml` adds records.
//! `FENCEPOST_BLESS=1 cargo test --test docs` renders the pages again.

use std::env;
use std::fs;

use lab::verify::{Guards, Records};

use crate::tree;

const DATA: &str = "docs/results/verification.toml";
const PAGE: &str = "docs/results/verification.md";

/// The text above the records. It holds for all records.
const HEAD: &str = "\
# Results of verification

<!-- Rendered from verification.toml: FENCEPOST_BLESS=1 cargo test --test docs -->

This page shows how far each protocol was verified: the programs, the states, the rows that fired and the fate of every
seeded fault. [verification.md](../verification.md) explains the columns, and
[findings](../findings/README.md) the refuted claims. The data is in [verification.toml](verification.toml).

A status covers every schedule of the shipped tests, and of the generated programs with at most the number of operations
in the column *operations*. *Free of races* counts the programs that are free of races under at least one claimed model.
*Synchronized* counts the programs among these in which synchronization orders a data conflict between threads at
different caches.

";

#[test]
fn the_page_of_verification_renders_its_records() {
    let (data, page) = (tree::root().join(DATA), tree::root().join(PAGE));
    let text = fs::read_to_string(&data).unwrap();
    let records = Records::read(&text).unwrap_or_else(|error| panic!("{DATA}: {error}"));
    let guards = Guards::recorded().unwrap().map_or_else(String::new, |guards| guards.to_markdown());
    let (written, rendered) =
        (records.to_toml().unwrap(), format!("{HEAD}{}{guards}", records.to_markdown()));
    if env::var_os("FENCEPOST_BLESS").is_some() {
        fs::write(&data, written).unwrap();
        fs::write(&page, rendered).unwrap();
        return;
    }
    let bless = "`FENCEPOST_BLESS=1 cargo test --test docs` renders it";
    assert!(text == written, "{DATA} is not as `verify --record` writes it; {bless}");
    assert!(fs::read_to_string(&page).unwrap() == rendered, "{PAGE} does not show {DATA}; {bless}");
}
