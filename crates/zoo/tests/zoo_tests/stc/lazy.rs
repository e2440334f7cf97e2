//! Lazy invalidation: an epoch begins, the copies of its band stay in the L1, and an access to the
//! set or the sweep at the end of the epoch removes them.

use super::bench::Bench;
use proto::{LineAddr, Order, Protocol};
use zoo::stc::lacking::Sweep;
use zoo::stc::{StcEs, StcEsRepaired, StcNv, StcNvRepaired};

const WRITER: u16 = 0;
const READER: u16 = 1;

/// A line in band 1, and two lines in band 2 (groups of lines that may be written at the same time).
const LINE: LineAddr = LineAddr(1);
const NEXT: LineAddr = LineAddr(2);
const NEXT_TOO: LineAddr = LineAddr(10);

fn held<P: Protocol>(bench: &Bench<P>) -> Vec<LineAddr> {
    bench.lines(READER).iter().map(|view| view.line).collect()
}

/// The reader has copies of `LINE` and of the two other lines, the epoch of `LINE` has begun, and
/// the writer has written `LINE` and wants to write one of the others.
fn in_the_epoch<P: Protocol>() -> Bench<P> {
    let mut bench = Bench::<P>::new();
    for line in [LINE, NEXT, NEXT_TOO] {
        assert_eq!(bench.load(READER, line, Order::Plain), 0);
    }
    let stores = [LINE, NEXT].map(|line| bench.store(WRITER, line, Order::Plain));
    bench.change();
    assert_eq!(stores.map(|store| bench.is_complete(store)), [true, false]);
    bench
}

#[test]
fn a_copy_stays_until_an_access_reaches_its_set() {
    fn check<P: Protocol>() {
        let mut bench = in_the_epoch::<P>();
        assert_eq!(held(&bench), [LINE, NEXT, NEXT_TOO]);
        // The access to another line of the set removes the copy.
        assert_eq!(bench.load(READER, NEXT, Order::Plain), 0);
        assert_eq!(held(&bench), [NEXT, NEXT_TOO]);

        // The access to the line itself also removes the copy, and brings no new one.
        let mut bench = in_the_epoch::<P>();
        assert_eq!(bench.load(READER, LINE, Order::Plain), 1);
        assert_eq!(held(&bench), [NEXT, NEXT_TOO]);
        assert_eq!(bench.load(READER, LINE, Order::Plain), 1);
        assert_eq!(held(&bench), [NEXT, NEXT_TOO]);

        // So does a store to another line of the band.
        let mut bench = in_the_epoch::<P>();
        let store = bench.store(READER, LineAddr(LINE.0 + 8), Order::Plain);
        assert!(bench.is_complete(store));
        assert_eq!(held(&bench), [NEXT, NEXT_TOO]);
    }
    check::<StcNv>();
    check::<StcNvRepaired>();
    check::<StcEs>();
    check::<StcEsRepaired>();
}

#[test]
fn the_sweep_removes_the_copies_of_the_epoch_that_ends() {
    fn check<P: Protocol>() {
        let mut bench = in_the_epoch::<P>();
        bench.change();
        assert_eq!(bench.epochs(), "2");
        // The copies of the band whose epoch begins stay for now.
        assert_eq!(held(&bench), [NEXT, NEXT_TOO]);
        assert_eq!(bench.load(READER, LINE, Order::Plain), 1);
        assert_eq!(held(&bench), [LINE]);
    }
    check::<StcNv>();
    check::<StcNvRepaired>();
    check::<StcEs>();
    check::<StcEsRepaired>();
}

#[test]
fn a_sweep_after_the_change_of_the_register_leaves_a_stale_copy() {
    let mut bench = in_the_epoch::<Sweep>();
    bench.change();
    assert_eq!(bench.epochs(), "2");
    assert_eq!(held(&bench), [LINE]);
    assert_eq!(bench.load(READER, LINE, Order::Plain), 0, "the copy is older than the store of its epoch");
}
