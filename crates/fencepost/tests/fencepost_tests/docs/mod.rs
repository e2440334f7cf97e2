//! The pages are correct: every command line prints the output that its page shows, every guide
//! works as written, the page of the parts (pieces of code from which protocols are built) names
//! all of them, and every link leads to a file.
//!
//! `FENCEPOST_BLESS=1 cargo test --test fencepost_tests docs` writes the output into the pages.

mod commands;
mod glossary;
mod guides;
mod page;
mod parts;
mod printed;
mod reading;
mod results;
mod shell;
mod table;
mod tree;
mod workloads;

use page::Page;

#[test]
fn every_link_of_a_page_leads_to_a_file() {
    for page in Page::all() {
        let folder = page.path.parent().unwrap().to_owned();
        let links = page.prose.split("](").skip(1).filter_map(|rest| rest.split(')').next());
        for link in links.filter(|link| !link.starts_with("http") && !link.starts_with('#')) {
            let file = link.split('#').next().unwrap();
            assert!(folder.join(file).exists(), "{}: {link}", page.name);
        }
    }
}
