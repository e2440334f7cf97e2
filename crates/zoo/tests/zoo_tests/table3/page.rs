//! The rows of Table 3 of the hLRC paper on a protocol's page. Each row shows the observed acts
//! (effects of an access) with the labels of the paper, and the plan (the list of steps) of the
//! operation.

use super::observe::observed;
use super::table::{Column, Instruction, Row};
use core::fmt::Write as _;
use proto::{OpClass, PlanKey, Protocol};
use std::path::PathBuf;

pub(crate) const BEGIN: &str = "<!-- table 3: begin -->\n";
pub(crate) const END: &str = "<!-- table 3: end -->";

fn steps<C: Column>(row: &Row) -> String {
    let op = match row.instruction {
        Instruction::Ld => OpClass::Load,
        Instruction::St => OpClass::Store,
        Instruction::Rmw => OpClass::Rmw,
    };
    let key = PlanKey { op, order: row.order, level: row.level, remote: row.remote, commutative: false };
    let plans = C::Protocol::plans();
    let plan = plans.iter().flat_map(|view| &view.plans).find(|(k, _)| *k == key);
    plan.map_or_else(String::new, |(_, steps)| steps.join(", "))
}

fn render<C: Column>() -> String {
    let mut out =
        "\n| instruction | order | scope | prior place | Table 3, as observed | plan |\n".to_owned();
    out += "|---|---|---|---|---|---|\n";
    for row in C::rows() {
        let acts = observed::<C>(&row, 0);
        let labels = row.acts.iter().map(|(label, _)| *label).chain(std::iter::repeat("?"));
        let acts: Vec<_> = acts.iter().zip(labels).map(|(act, label)| format!("{label}: {act}")).collect();
        let Row { instruction, order, level, prior, .. } = row;
        let remote = if row.remote { "remote " } else { "" };
        let (acts, plan) = (acts.join("; "), steps::<C>(&row));
        let _ = writeln!(
            out,
            "| {instruction:?} | {remote}{order:?} | {level:?} | {prior:?} | {acts} | {plan} |"
        );
    }
    out.push('\n');
    out
}

/// Checks that the table of a page is up to date. `FENCEPOST_BLESS=1 cargo test --test zoo_tests
/// table3` regenerates it.
pub(crate) fn check<C: Column>() {
    let pages = PathBuf::from(env!("CARGO_MANIFEST_DIR")).join("../../docs/protocols");
    let path = pages.join(format!("{}.md", C::NAME));
    let page = std::fs::read_to_string(&path).unwrap_or_else(|e| panic!("{}: {e}", path.display()));
    let (head, rest) = page.split_once(BEGIN).expect("the page has the line that begins the table");
    let (_, tail) = rest.split_once(END).expect("the page has the line that ends the table");
    let wanted = format!("{head}{BEGIN}{}{END}{tail}", render::<C>());
    if std::env::var_os("FENCEPOST_BLESS").is_some() {
        std::fs::write(&path, wanted).expect("the page can be written");
    } else {
        assert!(
            page == wanted,
            "{}: the table on its page is out of date; run with FENCEPOST_BLESS=1",
            C::NAME
        );
    }
}
