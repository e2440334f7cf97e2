//! The stand-in (generated replacement) for the matrix `OPF_10000`.
//!
//! Original: the matrix of an optimal power flow problem of a grid with about 10,000 buses
//! (SuiteSparse Matrix Collection, group IPSO). It has 43,887 rows. The number of arcs, 426,898, is
//! approximate.
//!
//! Power grids are sparse: the Western US grid has 1.33 lines for each bus, a largest degree of 19,
//! and a diameter of 46 for 4,941 buses (Watts and Strogatz, 1998).
//!
//! Generator: it makes a power grid, and the linear system of an interior-point method for this
//! grid. Each bus is joined to an earlier bus, mostly a near one; further lines close rings. The
//! system is [H A^T; A 0], bordered by its constraints. Its variables are the angle and the voltage
//! of each bus, and the real and the reactive power of each generator. Its constraints are the
//! balances of real and of reactive power at each bus, and the angle of the first bus. A balance
//! has the angles and voltages of its bus and of the bus's neighbours, and the powers of the
//! generators at the bus. H couples the angles and voltages of a bus with each other and with those
//! of its neighbours.
//!
//! The numbers follow from this form. 43,887 rows are 10,000 buses with four rows each, 1,943
//! generators with two rows each, and one row for the angle of the first bus. 426,898 arcs are
//! 13,296 lines, 1.33 for each bus, and 20 arcs are left over. A bus with n neighbours has degrees of 4n + 3 and 2n + 2.
//!
//! The order of the rows (ours) is that of the solver of MATPOWER: one kind of row after the other,
//! and the buses in the same order in each kind. There is no diagonal. Values are those of the
//! stand-in for `c-68`.

use kernel::rng::Rng;
use rustc_hash::FxHashSet;

use super::super::Csr;
use super::Size;
use super::draw::{exp2, unit};
use super::edges::Edges;
use super::optimization::magnitude;

pub(super) fn generate(size: Size, seed: u64) -> Csr {
    let mut rng = Rng::new(seed);
    let buses = ((u64::from(size.vertices - 1) * 10_000 + 21_943) / 43_886).max(2) as u32;
    let generators = (size.vertices - 4 * buses) / 2;
    let (angles, voltages) = (0, buses);
    let powers = 2 * buses;
    let balances = powers + 2 * generators;
    let mut edges = Edges::with_capacity(size.edges);

    for bus in 0..buses {
        let rows = [angles, voltages, balances, balances + buses].map(|first| first + bus);
        edges.add(rows[0], rows[1]);
        for balance in &rows[2..] {
            edges.add(rows[0], *balance);
            edges.add(rows[1], *balance);
        }
    }
    for generator in 0..generators {
        let bus = rng.below(u64::from(buses)) as u32;
        edges.add(powers + generator, balances + bus);
        edges.add(powers + generators + generator, balances + buses + bus);
    }
    // With an odd number of rows, the last row fixes the angle of the first bus.
    if (size.vertices - 4 * buses) % 2 == 1 {
        edges.add(angles, size.vertices - 1);
    }
    const EDGES_PER_LINE: usize = 12;
    let count = size.edges.saturating_sub(edges.len()) / EDGES_PER_LINE;
    for (u, v) in lines(buses, count, &mut rng) {
        for (u, v) in [(u, v), (v, u)] {
            for at_u in [angles + u, voltages + u] {
                for first in [balances, balances + buses] {
                    edges.add(at_u, first + v);
                }
                edges.add(at_u, angles + v);
                edges.add(at_u, voltages + v);
            }
        }
    }
    edges.into_graph(size.vertices, Some(&|u, v| magnitude(seed, u, v)))
}

/// The lines of a connected grid: `count` of them, or one fewer than buses if this is more.
fn lines(buses: u32, count: usize, rng: &mut Rng) -> Vec<(u32, u32)> {
    let mut joined_to: Vec<u32> = vec![0];
    for bus in 1..buses {
        let other = earlier(bus, &joined_to, rng);
        joined_to.push(other);
    }
    let mut lines: Vec<(u32, u32)> = joined_to.iter().copied().zip(0..).skip(1).collect();
    let mut known: FxHashSet<(u32, u32)> = lines.iter().copied().collect();
    let possible = buses as usize * (buses as usize - 1) / 2;
    while lines.len() < count.min(possible) {
        let bus = 1 + rng.below(u64::from(buses) - 1) as u32;
        let line = (earlier(bus, &joined_to, rng), bus);
        if known.insert(line) {
            lines.push(line);
        }
    }
    lines
}

/// The other end of a line of `bus`: an earlier bus, or, for some lines, the bus to which this one
/// was joined, so that some buses have many lines.
fn earlier(bus: u32, joined_to: &[u32], rng: &mut Rng) -> u32 {
    const HUBS_ONE_IN: u64 = 4;
    let other = bus - 1 - distance_back(u64::from(bus), rng);
    if rng.below(HUBS_ONE_IN) == 0 { joined_to[other as usize] } else { other }
}

/// The distance from a bus to an earlier bus. It is below `limit`, mostly small and rarely large.
fn distance_back(limit: u64, rng: &mut Rng) -> u32 {
    const NEAR: f64 = 1.5;
    let bits = (64 - limit.leading_zeros()) as f64;
    let steps = (exp2(NEAR + unit(rng) * unit(rng) * unit(rng) * bits) - 1.0) as u64;
    if steps < limit { steps as u32 } else { rng.below(limit) as u32 }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_bus_has_the_entries_of_its_balances_and_its_neighbours() {
        // Ten buses and one generator, and nine lines: angles are rows 0 to 9, voltages 10 to 19,
        // powers 20 and 21, balances 22 to 41, and row 42 fixes an angle.
        let graph = generate(Size { vertices: 43, edges: 50 + 2 + 1 + 12 * 9 }, 1);
        assert_eq!(graph.edges(), 2 * 161);
        assert_eq!(graph.neighbours(42), [0]);
        for bus in 0..10 {
            let neighbours: Vec<u32> =
                graph.neighbours(bus).iter().copied().filter(|&row| row < 10).collect();
            let with_own = |first: u32| {
                let mut rows: Vec<u32> = neighbours.iter().chain([&bus]).map(|row| first + row).collect();
                rows.sort_unstable();
                rows
            };
            let mut want = [neighbours.clone(), with_own(10), with_own(22), with_own(32)].concat();
            want.extend((bus == 0).then_some(42));
            assert_eq!(graph.neighbours(bus), want);
        }
        assert_eq!((graph.degree(20), graph.degree(21)), (1, 1));
        assert_eq!(graph.neighbours(20)[0] + 10, graph.neighbours(21)[0]);
    }

    #[test]
    fn lines_are_different_and_join_a_bus_to_an_earlier_one() {
        for (buses, count, want) in [(10, 13, 13), (10, 3, 9), (4, 99, 6)] {
            let mut lines = lines(buses, count, &mut Rng::new(3));
            assert!(lines.iter().all(|(u, v)| u < v && *v < buses));
            lines.sort_unstable();
            lines.dedup();
            assert_eq!(lines.len(), want);
        }
    }
}
