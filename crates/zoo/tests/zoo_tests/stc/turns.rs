//! The epochs that the epoch management unit grants, with eight epochs and a script of blocked
//! stores.

use super::bench::Bench;
use proto::{LineAddr, Op, Order, Protocol, Slot};
use zoo::stc::lacking::Rest;
use zoo::stc::{StcAb, StcAbRepaired, StcEs, StcEsRepaired, StcMb, StcMbRepaired, StcNv, StcNvRepaired};

/// No bands.
const NONE: [u64; 0] = [];

/// Makes a store in each of these bands (groups of lines that may be written at the same time). In
/// this machine, the line with the number of a band is in the band.
fn store<P: Protocol>(bench: &mut Bench<P>, bands: &[u64]) -> Vec<(u64, Slot)> {
    bands.iter().map(|&band| (band, bench.store(0, LineAddr(band), Order::Plain))).collect()
}

/// The bands of those stores that are not complete.
fn blocked<P: Protocol>(bench: &Bench<P>, stores: &[(u64, Slot)]) -> Vec<u64> {
    stores.iter().filter(|(_, slot)| !bench.is_complete(*slot)).map(|&(band, _)| band).collect()
}

#[test]
fn up_to_four_demanded_epochs_are_granted_in_turn() {
    fn check<P: Protocol>() {
        let mut bench = Bench::<P>::new();
        assert_eq!(bench.epochs(), "0");
        let first = store(&mut bench, &[7, 6, 5, 4, 2]);
        assert_eq!(blocked(&bench, &first), [7, 6, 5, 4, 2]);
        // The turn begins after epoch 0. Epochs 1 and 3 have no demand and are skipped.
        bench.change();
        assert_eq!(bench.epochs(), "2, 4, 5, 6");
        assert_eq!(blocked(&bench, &first), [7]);
        // The turn goes on after epoch 6, and begins again with epoch 0.
        let second = store(&mut bench, &[1]);
        bench.change();
        assert_eq!(bench.epochs(), "1, 7");
        assert_eq!(blocked(&bench, &first), NONE);
        assert_eq!(blocked(&bench, &second), NONE);
        // The turn goes on after epoch 1, which had its turn after epoch 7. So epoch 0 is the last.
        let third = store(&mut bench, &[0, 2, 3, 4, 5]);
        bench.change();
        assert_eq!(bench.epochs(), "2, 3, 4, 5");
        assert_eq!(blocked(&bench, &third), [0]);
        bench.change();
        assert_eq!(bench.epochs(), "0");
        assert_eq!(blocked(&bench, &third), NONE);
        // Without a demand, the epochs stay.
        bench.change();
        assert_eq!(bench.epochs(), "0");
    }
    check::<StcMb>();
    check::<StcMbRepaired>();
}

#[test]
fn a_fifth_demand_waits_for_the_next_change() {
    fn check<P: Protocol>() {
        let mut bench = Bench::<P>::new();
        let stores = store(&mut bench, &[1, 2, 3, 4, 5]);
        bench.change();
        assert_eq!(bench.epochs(), "1, 2, 3, 4");
        assert_eq!(blocked(&bench, &stores), [5]);
        // Demands for earlier epochs do not overtake the fifth one.
        let more = store(&mut bench, &[6, 7, 8, 8 + 5]);
        bench.change();
        assert_eq!(bench.epochs(), "0, 5, 6, 7");
        assert_eq!(blocked(&bench, &stores), NONE);
        assert_eq!(blocked(&bench, &more), NONE);
    }
    check::<StcMb>();
    check::<StcMbRepaired>();
}

#[test]
fn one_epoch_is_granted_at_a_time_without_multiple_bands() {
    fn skips<P: Protocol>() {
        let mut bench = Bench::<P>::new();
        let stores = store(&mut bench, &[6, 3, 1]);
        for (epoch, left) in [("1", &[6, 3][..]), ("3", &[6]), ("6", &[])] {
            bench.change();
            assert_eq!((bench.epochs().as_str(), &blocked(&bench, &stores)[..]), (epoch, left));
        }
    }
    fn in_turn<P: Protocol>() {
        let mut bench = Bench::<P>::new();
        let stores = store(&mut bench, &[6, 3]);
        let both = [6, 3];
        for (epoch, left) in [(1, 2), (2, 2), (3, 1), (4, 1), (5, 1), (6, 0), (7, 0), (0, 0), (1, 0)] {
            bench.change();
            assert_eq!(bench.epochs(), epoch.to_string());
            assert_eq!(blocked(&bench, &stores), both[..left]);
        }
    }
    skips::<StcEs>();
    skips::<StcEsRepaired>();
    skips::<StcAb>();
    skips::<StcAbRepaired>();
    in_turn::<StcNv>();
    in_turn::<StcNvRepaired>();
}

/// Stores that come after the epoch management unit has chosen the next epochs, and before their
/// compute unit gets `ChangeEpoch`, have their turn.
#[test]
fn stores_during_a_change_have_their_turn() {
    fn check<P: Protocol>() {
        let mut bench = Bench::<P>::new();
        let first = store(&mut bench, &[1]);
        bench.wake();
        // The bands of the epoch in force, of the epoch that comes, and of neither. Each of these
        // stores is blocked, because the compute unit prepares for the change.
        bench.step_once();
        let late = [0, 1, 2].map(|band| (band, bench.post(0, LineAddr(8 + band), Op::Store, Order::Plain)));
        bench.rest();
        assert_eq!(bench.epochs(), "1");
        assert_eq!(blocked(&bench, &first), NONE);
        assert_eq!(blocked(&bench, &late), [0, 2]);
        bench.change();
        bench.change();
        assert_eq!(blocked(&bench, &late), NONE);
    }
    check::<StcEs>();
    check::<StcEsRepaired>();
    check::<StcAb>();
    check::<StcAbRepaired>();
    check::<StcMb>();
    check::<StcMbRepaired>();
}

/// A store of line 5 is blocked, and the start bit oscillates: its compute unit loads line 13, which is
/// in the band of line 5 before a move up, and line 4, which is in this band after it. Another compute
/// unit stores lines that have their turn before line 5 each time: line 5 is in band 5 or in band 2,
/// line 1 in band 0 after a move up, and line 11 in band 3 after a move down. Returns the number of
/// changes of epochs until the store of line 5 is complete. `None` if it is not complete after
/// `changes_max` changes.
fn oscillate<P: Protocol>(changes_max: u32) -> Option<u32> {
    let mut bench = Bench::<P>::new();
    let starved = bench.store(0, LineAddr(5), Order::Plain);
    bench.store(1, LineAddr(3), Order::Plain);
    bench.change();
    for change in 1..=changes_max {
        let goes_up = change % 2 == 1;
        bench.load(0, LineAddr(if goes_up { 13 } else { 4 }), Order::Plain);
        bench.store(1, LineAddr(if goes_up { 1 } else { 11 }), Order::Plain);
        bench.change();
        if bench.is_complete(starved) {
            return Some(change);
        }
    }
    None
}

#[test]
fn a_store_does_not_starve_when_the_start_bit_oscillates() {
    assert_eq!(oscillate::<Rest>(1000), None, "the start bit never rests");
    // The start bit moves in each of the first eight changes, as many as there are epochs.
    let [one_band, four_bands] = [oscillate::<StcAbRepaired>(1000), oscillate::<StcMbRepaired>(1000)];
    assert_eq!((one_band, four_bands), (Some(9), Some(1)));
}
