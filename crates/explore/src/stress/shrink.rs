//! Shrinks a failing episode (a random program): removes parts of it as long as the rest still
//! fails.

use super::episode::{Access, AccessKind, Episode, FIRST_KERNEL, is_kernel};
use super::layout::IN_ORDER;

/// The maximum number of runs to shrink one failure.
const RUNS_MAX: usize = 6_000;
/// The number of orders of events to try for each smaller episode (random program).
const ORDERS: u64 = 12;

/// The smallest failing episode that was found, and the seed of an order of events in which it
/// fails. `seed` gives the order of events in which `episode` fails.
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

/// The smaller episodes to try. An episode is a random program of sections (lists of accesses of
/// one wavefront). Each smaller episode differs from `episode` by one of these changes:
///
/// * one preemption less, or fewer stages (kernels and steps of the host),
/// * wavefronts numbered from 0, lines without gaps, or no flag with a chiplet or named scope,
/// * several sections, one section, one access, or one word of an access removed,
/// * plain synchronization (by loads and stores) of one section,
/// * an ordinary load or store in place of one access to atomics,
/// * the layout with all words in order.
fn smaller(episode: &Episode) -> Vec<Episode> {
    let count = episode.sections.len();
    let mut all = Vec::new();
    if episode.preemptions > 0 {
        all.push(Episode { preemptions: episode.preemptions - 1, ..episode.clone() });
    }
    if episode.first_wavefront > 0 {
        all.push(Episode { first_wavefront: 0, ..episode.clone() });
    }
    if episode.is_sparse {
        all.push(Episode { is_sparse: false, ..episode.clone() });
    }
    if episode.scopes != 0 {
        all.push(Episode { scopes: 0, ..episode.clone() });
    }
    all.extend(with_fewer_stages(episode));
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
        for (access, what) in section.accesses.iter().enumerate() {
            for words in with_fewer_words(what) {
                let mut smaller = episode.clone();
                smaller.sections[at].accesses[access] = words;
                all.push(smaller);
            }
        }
    }
    for (at, section) in episode.sections.iter().enumerate() {
        // All bits of a style are needed to draw the scope, so the style is kept or replaced as a
        // whole.
        if section.style != PLAIN {
            let mut smaller = episode.clone();
            smaller.sections[at].style = PLAIN;
            all.push(smaller);
        }
    }
    for (at, section) in episode.sections.iter().enumerate() {
        for (access, what) in section.accesses.iter().enumerate() {
            let kind = if what.kind.writes() { AccessKind::Store } else { AccessKind::Load };
            let plain = Access { kind, style: 0, ..*what };
            if what.is_atomic() && *what != plain {
                let mut smaller = episode.clone();
                smaller.sections[at].accesses[access] = plain;
                all.push(smaller);
            }
        }
    }
    // The words of an access share a line in the layout of the episode only.
    let is_single = |access: &Access| !access.words.is_power_of_two();
    let has_lanes = episode.sections.iter().flat_map(|section| &section.accesses).any(is_single);
    if episode.layout != IN_ORDER && !has_lanes {
        all.push(Episode { layout: IN_ORDER, ..episode.clone() });
    }
    all
}

/// The episodes (random programs) with fewer stages (kernels and steps of the host): the episode
/// with all accesses in one kernel, the episodes in which one stage of the host is moved into a
/// kernel, and the episodes in which two successive kernels become one.
fn with_fewer_stages(episode: &Episode) -> Vec<Episode> {
    let has = |stage: u8| episode.sections.iter().any(|section| section.stage == stage);
    let with = |stage: &dyn Fn(u8) -> u8| {
        let mut fewer = episode.clone();
        fewer.sections.iter_mut().for_each(|section| section.stage = stage(section.stage));
        (fewer != *episode).then_some(fewer)
    };
    let one = with(&|_| FIRST_KERNEL);
    let last = episode.sections.last().map_or(0, |section| section.stage);
    let hosts = (0..=last).filter(|&at| !is_kernel(at) && has(at));
    let joined = hosts.filter_map(|at| {
        let kernel = if at == last && at > 0 { at - 1 } else { at + 1 };
        with(&|stage| if stage == at { kernel } else { stage })
    });
    let kernels = (FIRST_KERNEL + 2..=last).filter(|&at| is_kernel(at) && !has(at - 1));
    let merged = kernels.filter_map(|at| with(&|stage| if stage < at { stage } else { stage - 2 }));
    one.into_iter().chain(joined).chain(merged).collect()
}

/// The variants of the access that each leave out one of its words. Empty if the access has only
/// one word.
fn with_fewer_words(access: &Access) -> Vec<Access> {
    let without = |word: u32| {
        let words = access.words & !(1 << word);
        Access { words, word: words.trailing_zeros() as u8, ..*access }
    };
    let words = (0..u32::BITS).filter(|word| access.words >> word & 1 == 1);
    if access.words.count_ones() > 1 { words.map(without).collect() } else { Vec::new() }
}

/// The style (the random number that selects the kind of synchronization) of a section (list of
/// accesses of one wavefront) that synchronizes by loads and stores.
const PLAIN: u64 = 0x3_0300;
