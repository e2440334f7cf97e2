//! Table 3 of the hLRC paper (MICRO 2016), compared with the protocols row by row.
//!
//! A row is one atomic access: instruction, order, scope, and the previous place of its variable.
//! The bench (a test machine) makes this access on the stations (controllers with their parked
//! inputs) of a protocol, in many orders of delivery. The test records the acts of the nodes: which
//! L1 flushes, when its dirty bytes arrive below, which L1 invalidates its clean lines, which L1
//! holds read-modify-writes back, and where the access is performed. The acts must be those of the
//! paper, in the same order.
//!
//! To add a column: write a file beside `rsp.rs` with a type that implements
//! [`Column`], and name it in `columns!` below. A column gives
//!
//! * its protocol, and its rows as data: `row!(Ld Acquire Device from L2 =>
//!   a1: LdL2, a2: InvLocal)`. Acts beyond the paper have the label `ours`:
//!   `ours: FlushLocal`;
//! * `access`, if the tables of the protocol perform the access by other actions than those of
//!   `vi`;
//! * `has_arrived` and `printed`, if a flush does not write dirty bytes out;
//! * `own_acts`, for acts of this protocol only, such as the grant of a registration
//!   (add them to [`table::Act`]);
//! * `is_registered`, for lines that flushes and invalidations skip.
//!
//! The page of the column's protocol needs the two marker lines [`page::BEGIN`] and [`page::END`].
//! `FENCEPOST_BLESS=1 cargo test --test zoo_tests table3` generates the text between them.

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

/// The number of different delivery orders in which each row is tested.
const ORDERS: u64 = 24;

fn every_row_equals_the_paper<C: Column>() {
    for row in C::rows() {
        let wanted: Vec<_> = row.acts.iter().map(|(_, act)| *act).collect();
        for seed in 0..ORDERS {
            assert_eq!(observed::<C>(&row, seed), wanted, "{}: {}, order {seed}", C::NAME, row.name());
        }
    }
}

fn every_label_occurs_once<C: Column>() {
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
            fn every_row_equals_the_paper() {
                super::every_row_equals_the_paper::<$column>();
            }
            #[test]
            fn every_label_occurs_once() {
                super::every_label_occurs_once::<$column>();
            }
            #[test]
            fn the_page_shows_the_observed_rows() {
                super::page::check::<$column>();
            }
        }
    )+ };
}

columns! {
    rsp_column: crate::table3::rsp::RspColumn,
    hlrc_column: crate::table3::hlrc::HlrcColumn,
    denovo_column: crate::table3::denovo::DenovoColumn,
}
