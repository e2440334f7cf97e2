//! The machines of a stress test, and the homes (chiplets and banks) of their lines.

use super::draws::Draws;
use super::layout::BYTES_MAX;
use proto::words::counted;
use proto::{CacheShape, Homes, Kind, LineAddr, PagePolicy, Symbol as _, Topology, WritePolicy};

/// The shape of a machine: the size of a line in bytes, the number of compute units, the number of
/// banks, and the caches. A cache has sets, ways, a write policy, and room for stores and misses.
type Shape = (u16, u16, u16, Cache, Cache);
type Cache = (u32, u32, WritePolicy, u32);

use WritePolicy::{Combining, Through, ThroughInvalidate};

/// The shapes of the machines. They have six pairs of write policies, lines of 16 to 64 bytes,
/// three to eight compute units, one to four banks, and caches of one to five sets and one to nine
/// ways.
const SHAPES: [Shape; 12] = [
    (64, 8, 2, (2, 3, Combining, 4), (1, 4, Combining, 4)),
    (32, 4, 3, (2, 2, Combining, 3), (2, 2, Combining, 2)),
    (64, 4, 1, (2, 3, Through, 4), (1, 4, Through, 4)),
    (32, 3, 2, (3, 2, Through, 3), (2, 2, Through, 2)),
    (64, 3, 4, (2, 3, Through, 4), (1, 4, ThroughInvalidate, 4)),
    (32, 4, 2, (2, 2, Through, 3), (3, 2, ThroughInvalidate, 2)),
    (16, 4, 2, (1, 2, Combining, 1), (1, 2, Combining, 1)),
    (64, 3, 2, (1, 2, ThroughInvalidate, 2), (1, 2, Combining, 2)),
    (16, 4, 1, (1, 9, Combining, 8), (1, 9, Combining, 8)),
    (16, 3, 3, (5, 1, Combining, 4), (4, 1, Combining, 3)),
    (16, 8, 3, (1, 9, Through, 3), (3, 3, Combining, 4)),
    (32, 3, 3, (1, 9, Combining, 2), (1, 3, Through, 2)),
];

/// The machines of a stress test. If there are several chiplets, each has at least one compute unit
/// and one bank.
pub(super) fn topologies(kinds: &[Kind], chiplets: u16, hosts: u16) -> Vec<Topology> {
    let cache = |(sets, ways, policy, room): Cache| CacheShape {
        sets,
        ways,
        policy,
        store_buffer_entries: room,
        miss_registers: room,
        ignores_acquires: false,
    };
    let machine = |&(line_bytes, cus, banks, l1, l2): &Shape| {
        let (cus, banks) = (cus.next_multiple_of(chiplets), banks.div_ceil(chiplets));
        let topology = Topology::banked(cus, banks, line_bytes, cache(l1), cache(l2));
        Topology { chiplets, hosts, ..topology }.of_kinds(kinds)
    };
    SHAPES.iter().map(machine).collect()
}

/// The homes of lines. A seed decides the chiplet of each line, as the first access to its page
/// would do under a first-touch policy.
pub(super) fn homes(topology: &Topology, seed: u64) -> Homes {
    let mut homes = Homes::new(topology, 1);
    if topology.chiplets > 1 {
        let mut draws = Draws::new(!seed);
        homes = homes.with_policy(PagePolicy::FirstTouch);
        for line in 0..lines_max(topology) as u64 {
            homes.touch(LineAddr(line), draws.below(usize::from(topology.chiplets)) as u16);
        }
    }
    homes
}

/// The number of lines that suffices to hold the words, whatever their layout is.
pub(super) fn lines_max(topology: &Topology) -> usize {
    BYTES_MAX.div_ceil(usize::from(topology.line_bytes))
}

/// The description of a machine in a report.
pub(super) fn text(topology: &Topology) -> String {
    let of = |(count, noun): (u32, &str)| counted(u64::from(count), noun);
    let Topology { cus, chiplets, hosts, line_bytes, levels, .. } = topology;
    let on = if *chiplets > 1 { format!(" on {chiplets} chiplets") } else { String::new() };
    let with = if *hosts > 1 { format!(" and {hosts} hosts") } else { String::new() };
    let mut text = format!("{}{on}{with}, lines of {line_bytes} bytes", of((u32::from(*cus), "CU")));
    for level in levels {
        let Some(cache) = level.array else { continue };
        let [sets, ways] = [(cache.sets, "set"), (cache.ways, "way")].map(of);
        text += &format!(", {} {} of {sets} and {ways}", level.name.to_uppercase(), cache.policy.name());
        if topology.count(level) > 1 && level.name != "l1" {
            text += &format!(" in {}", of((topology.count(level), "bank")));
        }
    }
    text
}

#[cfg(test)]
mod tests {
    use super::*;
    use proto::Protocol as _;
    use std::collections::BTreeSet;

    #[test]
    fn the_seed_places_every_line_on_any_chiplet() {
        let topology = topologies(zoo::vi::Vi::KINDS, 4, 1).remove(0);
        let chiplet = |seed, line| homes(&topology, seed).home(LineAddr(line)).chiplet;
        for line in 0..lines_max(&topology) as u64 {
            let chiplets: BTreeSet<u16> = (0..64).map(|seed| chiplet(seed, line)).collect();
            assert_eq!(chiplets, (0..4).collect(), "line {line}");
        }
        // Lines of one episode are on different chiplets.
        let lines = 0..lines_max(&topology) as u64;
        let of_one: BTreeSet<u16> = lines.map(|line| chiplet(1, line)).collect();
        assert!(of_one.len() > 1);
    }

    #[test]
    fn machines_have_three_units_three_banks_and_nine_ways() {
        let machines = topologies(zoo::vi::Vi::KINDS, 1, 1);
        assert!(machines.iter().all(|machine| machine.cus >= 3 && machine.check().is_ok()));
        assert!(machines.iter().any(|machine| machine.banks() >= 3));
        for level in ["l1", "l2"] {
            let arrays = || machines.iter().filter_map(|machine| machine.level(level)?.array);
            assert!(
                arrays().any(|array| array.ways == 9) && arrays().any(|array| array.ways == 1),
                "{level}"
            );
            assert!(arrays().any(|array| array.sets >= 3), "{level}");
        }
    }
}
