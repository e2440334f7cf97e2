//! Walks (small programs with expected outcomes) of releases that flush only their own wavefront's
//! writes.

use crate::walks::programs::{PLAIN, U, X, Y, Z, on, program};
use crate::walks::walker::{Do, Outcome, Thread, walk};
use explore::Bounds;
use proto::Level::{Device, WorkGroup};
use proto::Order::{Acquire, Release};
use proto::{Protocol, WritePolicy};
use std::collections::BTreeSet;
use zoo::vi::Vi;
use zoo::vi_targeted::ViTargeted;

fn outcomes<P: Protocol>(threads: &[Thread]) -> BTreeSet<Outcome> {
    let combining = Bounds::new(WritePolicy::Combining, WritePolicy::Combining);
    let mut outcomes = BTreeSet::new();
    for bounds in [combining, combining.evicting(), combining.tight()] {
        let found = walk::<P>(&program("program", threads, &[]), bounds, None);
        assert_eq!(found.violation, None, "{}: {bounds:?}", P::INFO.name);
        outcomes.extend(found.outcomes);
    }
    outcomes
}

const READ: [Do; 3] = [Do::Load(Z, PLAIN), Do::Await(Y, 1, (Acquire, Device)), Do::Load(X, PLAIN)];
const RELEASE: Do = Do::Store(Y, 1, (Release, Device));

/// The chain of Figure 6 of the HRF paper. The first thread stores `X` and releases to its
/// work-group. The second thread, of the same work-group, acquires from the first thread and
/// releases to the device. The third thread, on another compute unit, then reads `X`.
fn figure_6() -> [Thread; 3] {
    let narrow = |order| (order, WorkGroup);
    [
        on(0, &[Do::Store(X, 1, PLAIN), Do::Store(U, 1, narrow(Release))]),
        on(0, &[Do::Await(U, 1, narrow(Acquire)), RELEASE]),
        on(1, &READ),
    ]
}

#[test]
fn a_release_does_not_cover_a_peers_writes() {
    let (old, new) = (vec![vec![], vec![], vec![0, 0]], vec![vec![], vec![], vec![0, 1]]);
    assert_eq!(outcomes::<ViTargeted>(&figure_6()), [old, new.clone()].into());
    assert_eq!(outcomes::<Vi>(&figure_6()), [new].into());
}

#[test]
fn a_release_covers_all_writes_of_its_own_wavefront() {
    let new: BTreeSet<Outcome> = [vec![vec![], vec![0, 1]]].into();
    let passing = [on(0, &[Do::Store(X, 1, PLAIN), RELEASE]), on(1, &READ)];
    assert_eq!(outcomes::<ViTargeted>(&passing), new);
    // The store of a peer to the other word of the line comes before or after.
    let beside = [on(0, &[Do::Store(X, 1, PLAIN), RELEASE]), on(1, &READ), on(0, &[Do::Store(Z, 2, PLAIN)])];
    let seen = [0, 2].map(|word| vec![vec![], vec![word, 1], vec![]]);
    assert_eq!(outcomes::<ViTargeted>(&beside), seen.into());
}
