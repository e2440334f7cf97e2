//! Table 3 of the hLRC paper (MICRO 2016), row by row, as the machines do it.
//!
//! A row is one atomic access: instruction, order, scope, and where its
//! variable was before. The bench drives the stations of a protocol with it, in
//! many orders of delivery, and writes down what the nodes *do*: which L1
//! flushes (and when its dirty bytes have arrived below), which one drops its
//! clean lines, which one holds read-modify-writes back, where the access is
//! performed. That sequence must be the one of the paper.
//!
//! To add a column: write a file beside `rsp.rs` with a type that implements
//! [`Column`], and name it in `columns!` below. A column gives
//!
//! * its protocol, and its rows as data: `row!(Ld Acquire Device from L2 =>
//!   a1: LdL2, a2: InvLocal)`; what a protocol does beyond the paper stands in
//!   its place as `ours: FlushLocal`;
//! * `access`, if a row of its tables performs the access by other actions than
//!   those of `vi`;
//! * `has_arrived` and `word`, if a flush does something else than write through;
//! * `more`, for what only it does: the grant of a registration, for example
//!   (its words are added to [`table::Act`]);
//! * `is_registered`, for lines that flushes and invalidations leave alone.
//!
//! Its page needs the two marker lines of [`page::BEGIN`] and [`page::END`];
//! `FENCEPOST_BLESS=1 cargo test -p zoo --test table3` fills in what is between.

mod accounting;
mod bench;
mod denovo;
mod hlrc;
mod observe;
mod page;
mod rsp;
mod table;

use observe::observed;
use std::collections::BTreeSet;
use table::Column;

/// Orders of delivery that every row is driven in.
const ORDERS: u64 = 24;

fn every_row_does_what_the_paper_prints<C: Column>() {
    for row in C::rows() {
        let wanted: Vec<_> = row.acts.iter().map(|(_, act)| *act).collect();
        for seed in 0..ORDERS {
            assert_eq!(observed::<C>(&row, seed), wanted, "{}: {}, order {seed}", C::NAME, row.name());
        }
    }
}

fn every_label_stands_in_the_table_once<C: Column>() {
    let labels: Vec<_> = C::rows()
        .iter()
        .flat_map(|row| row.acts.iter().map(|(label, _)| *label))
        .filter(|l| *l != "ours")
        .collect();
    let (letter, last) = C::LABELS;
    let wanted: BTreeSet<_> = (0..=last).map(|n| format!("{letter}{n}")).collect();
    assert_eq!(labels.len(), wanted.len());
    assert_eq!(labels.iter().map(|l| (*l).to_owned()).collect::<BTreeSet<_>>(), wanted);
}

macro_rules! columns {
    ($($name:ident: $column:ty),+ $(,)?) => { $(
        mod $name {
            #[test]
            fn every_row_does_what_the_paper_prints() {
                super::every_row_does_what_the_paper_prints::<$column>();
            }
            #[test]
            fn every_label_stands_in_the_table_once() {
                super::every_label_stands_in_the_table_once::<$column>();
            }
            #[test]
            fn the_page_shows_the_rows_as_observed() {
                super::page::is_shown::<$column>();
            }
        }
    )+ };
}

columns! {
    rsp_column: crate::rsp::RspColumn,
    hlrc_column: crate::hlrc::HlrcColumn,
    denovo_column: crate::denovo::DenovoColumn,
}
