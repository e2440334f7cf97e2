//! The pages of results contain exactly the recorded data.
//!
//! `fencepost verify --record docs/results/verification.toml` adds records and renders their page, and
//! `fencepost reproduce hrf --record docs/results/hrf.json` records the results of a paper.
//! `FENCEPOST_BLESS=1 cargo test --test fencepost_tests docs` renders the pages again.

use std::env;
use std::fs;

use lab::Recorded;
use lab::verify::{Guards, Records};

use super::tree;

const DATA: &str = "docs/results/verification.toml";
const PAGE: &str = "docs/results/verification.md";
/// The folder of the data and of the pages.
const FOLDER: &str = "docs/results";
/// How to render a page.
const BLESS: &str = "`FENCEPOST_BLESS=1 cargo test --test fencepost_tests docs` renders it";

#[test]
fn the_page_of_verification_renders_its_records() {
    let (data, page) = (tree::root().join(DATA), tree::root().join(PAGE));
    let text = fs::read_to_string(&data).unwrap();
    let records = Records::read(&text).unwrap_or_else(|error| panic!("{DATA}: {error}"));
    let guards = Guards::recorded().unwrap();
    let (written, rendered) = (records.to_toml().unwrap(), records.page("verification.toml", &guards));
    if env::var_os("FENCEPOST_BLESS").is_some() {
        fs::write(&data, written).unwrap();
        fs::write(&page, rendered).unwrap();
        return;
    }
    assert!(text == written, "{DATA} is not as `verify --record` writes it; {BLESS}");
    assert!(fs::read_to_string(&page).unwrap() == rendered, "{PAGE} does not show {DATA}; {BLESS}");
}

#[test]
fn the_page_of_a_paper_renders_its_record() {
    let is_bless = env::var_os("FENCEPOST_BLESS").is_some();
    for file in fs::read_dir(tree::root().join(FOLDER)).unwrap() {
        let path = file.unwrap().path();
        if path.extension().is_none_or(|end| end != "json") {
            continue;
        }
        let name = path.file_name().unwrap().to_str().unwrap();
        let record = Recorded::read(&fs::read_to_string(&path).unwrap());
        let record = record.unwrap_or_else(|error| panic!("{FOLDER}/{name}: {error}"));
        let (page, rendered) = (path.with_extension("md"), record.page(name));
        if is_bless {
            fs::write(&page, &rendered).unwrap();
        }
        let shown = fs::read_to_string(&page).ok();
        assert!(shown == Some(rendered), "{} does not show {name}; {BLESS}", page.display());
    }
}

#[test]
fn each_paper_has_a_record_of_right_answers_at_full_scale() {
    for paper in lab::paper::names() {
        let path = tree::root().join(FOLDER).join(format!("{paper}.json"));
        let text = fs::read_to_string(&path).unwrap_or_else(|error| panic!("{}: {error}", path.display()));
        let Recorded { failures, results, .. } = Recorded::read(&text).unwrap();
        assert_eq!((results.scale.as_str(), failures), ("1", vec![]), "{paper}");
        assert!(results.figures.len() > 5 && results.claims.len() >= 5, "{paper}");
    }
}
