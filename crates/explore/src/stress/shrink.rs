//! Shrinks a failing episode by removal.

use super::episode::{Access, AccessKind, Episode, IN_ORDER};

/// The maximum number of runs to shrink one failure.
const RUNS_MAX: usize = 6_000;
/// The number of orders of events to try for each smaller episode.
const ORDERS: u64 = 12;

/// The smallest failing episode that was found, and the seed of an order of events in which it
/// fails. `seed` is the order in which `episode` fails.
pub(super) fn shrink(
    episode: Episode,
    seed: u64,
    mut fails: impl FnMut(&Episode, u64) -> bool,
) -> (Episode, u64) {
    let (mut best, mut order, mut runs) = (episode, seed, 0);
    loop {
        let candidates = smaller(&best);
        let found = candidates.into_iter().find_map(|candidate| {
            let orders = core::iter::once(order).chain((0..ORDERS).map(|n| seed.wrapping_add(n)));
            let mut orders = orders.take(RUNS_MAX.saturating_sub(runs));
            let failing = orders.find(|&order| {
                runs += 1;
                fails(&candidate, order)
            });
            failing.map(|order| (candidate, order))
        });
        match found {
            Some((candidate, failing)) => (best, order) = (candidate, failing),
            None => return (best, order),
        }
    }
}

/// The smaller episodes to try: without many sections, without one section, without single
/// accesses, with plain synchronization of a section, and with plain accesses to atomics.
fn smaller(episode: &Episode) -> Vec<Episode> {
    let count = episode.sections.len();
    let mut all = Vec::new();
    let mut size = count / 2;
    while size > 0 {
        for from in (0..count).step_by(size) {
            let mut smaller = episode.clone();
            smaller.sections.drain(from..(from + size).min(count));
            all.push(smaller);
        }
        size /= 2;
    }
    for (at, section) in episode.sections.iter().enumerate() {
        for access in 0..section.accesses.len() {
            let mut smaller = episode.clone();
            smaller.sections[at].accesses.remove(access);
            all.push(smaller);
        }
    }
    for (at, section) in episode.sections.iter().enumerate() {
        // All bits are needed to draw the scope, so they are kept or dropped together.
        if section.style != PLAIN {
            let mut smaller = episode.clone();
            smaller.sections[at].style = PLAIN;
            all.push(smaller);
        }
    }
    for (at, section) in episode.sections.iter().enumerate() {
        for (access, what) in section.accesses.iter().enumerate() {
            let kind = if what.kind == AccessKind::Swap { AccessKind::Store } else { what.kind };
            let plain = Access { kind, style: 0, ..*what };
            if what.is_atomic() && *what != plain {
                let mut smaller = episode.clone();
                smaller.sections[at].accesses[access] = plain;
                all.push(smaller);
            }
        }
    }
    if episode.places != IN_ORDER {
        all.push(Episode { places: IN_ORDER, ..episode.clone() });
    }
    all
}

/// The style of a section that synchronizes by loads and stores.
const PLAIN: u64 = 0x3_0300;
