//! The stand-in (generated replacement) for the matrix `OPF_10000`.
//!
//! Original: the matrix of an optimal power flow problem with about 10,000 buses (SuiteSparse
//! Matrix Collection, group IPSO). It has 43,887 rows, about four unknowns per bus. The number of
//! arcs, 426,898, is approximate. Power grids are sparse: the Western US grid has 1.33 lines per
//! bus, and a diameter of 46 for 4,941 buses (Watts and Strogatz, 1998).
//!
//! Generator: it makes a power grid with one bus for every 4.39 rows, and 1.3 lines for each bus.
//! Each bus is joined to an earlier bus, mostly a near one; further lines close rings. A bus is a
//! dense block of four unknowns: its voltage, its angle, and the Lagrange multipliers of its two
//! power balances. Each generator at a bus adds two unknowns. A line joins the voltages at each of
//! its ends to the multipliers at the other end. Some lines also join the voltages of both ends, so
//! that the number of arcs is right. The rows of a bus are consecutive. Values are those of the
//! stand-in for `c-68`.

use kernel::rng::Rng;

use super::super::Csr;
use super::Size;
use super::draw::{exp2, unit};
use super::edges::Edges;
use super::optimization::magnitude;

const UNKNOWNS: u32 = 4;

pub(super) fn generate(size: Size, seed: u64) -> Csr {
    let mut rng = Rng::new(seed);
    let buses = ((u64::from(size.vertices) * 10_000 + 21_943) / 43_887).max(2) as u32;
    let first = blocks(size.vertices, buses, &mut rng);
    let mut edges = Edges::with_capacity(size.edges);
    for bus in 0..buses as usize {
        for row in first[bus]..first[bus + 1] {
            for column in first[bus]..row {
                edges.add(column, row);
            }
        }
    }
    let mut lines: Vec<(u32, u32)> =
        (1..buses).map(|bus| (bus - 1 - distance_back(u64::from(bus), &mut rng), bus)).collect();
    let rings = buses * 3 / 10;
    for _ in 0..rings {
        let bus = 1 + rng.below(u64::from(buses) - 1) as u32;
        lines.push((bus - 1 - distance_back(u64::from(bus), &mut rng), bus));
    }
    // The rows of a bus are its voltage, its angle, and then its multipliers.
    const BALANCES: [(u32, u32); 8] = [(0, 2), (0, 3), (1, 2), (1, 3), (2, 0), (2, 1), (3, 0), (3, 1)];
    const VOLTAGES: [(u32, u32); 4] = [(0, 0), (0, 1), (1, 0), (1, 1)];
    let join = |edges: &mut Edges, (u, v): (u32, u32), couplings: &[(u32, u32)]| {
        for (at_u, at_v) in couplings {
            if edges.len() < size.edges {
                edges.add(first[u as usize] + at_u, first[v as usize] + at_v);
            }
        }
    };
    for &line in &lines {
        join(&mut edges, line, &BALANCES);
    }
    for &line in &lines {
        join(&mut edges, line, &VOLTAGES);
    }
    while edges.len() < size.edges {
        let bus = 1 + rng.below(u64::from(buses) - 1) as u32;
        join(&mut edges, (bus - 1 - distance_back(u64::from(bus), &mut rng), bus), &BALANCES);
    }
    edges.into_graph(size.vertices, Some(&|u, v| magnitude(seed, u, v)))
}

/// The number of the first row of each bus, followed by the number of rows. A bus has at least four
/// rows. The remaining rows are added to random buses, two rows for each generator at a bus.
fn blocks(rows: u32, buses: u32, rng: &mut Rng) -> Vec<u32> {
    let mut unknowns = vec![UNKNOWNS; buses as usize];
    let mut left = rows - UNKNOWNS * buses;
    while left > 0 {
        let pair = left.min(2);
        unknowns[rng.below(u64::from(buses)) as usize] += pair;
        left -= pair;
    }
    let mut first = vec![0];
    for (bus, count) in unknowns.into_iter().enumerate() {
        first.push(first[bus] + count);
    }
    first
}

/// The distance from a bus to an earlier bus. It is below `limit`, mostly small and rarely large.
fn distance_back(limit: u64, rng: &mut Rng) -> u32 {
    const NEAR: f64 = 1.5;
    let bits = (64 - limit.leading_zeros()) as f64;
    let steps = (exp2(NEAR + unit(rng) * unit(rng) * unit(rng) * bits) - 1.0) as u64;
    if steps < limit { steps as u32 } else { rng.below(limit) as u32 }
}
