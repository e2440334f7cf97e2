//! A family of programs: a kernel that produces data, an optional step of the host, and a kernel
//! that consumes the data on the same or on another compute unit.

use crate::walks::walker::{Do, Outcome, Program, Sync, Thread};
use proto::Level::{Device, WorkGroup};
use proto::Order::{Plain, Relaxed};
use std::collections::{BTreeMap, BTreeSet};

const PLAIN: Sync = (Plain, Device);
const DEV: Sync = (Relaxed, Device);
const WG: Sync = (Relaxed, WorkGroup);
/// The words of the programs: Z is on the line of X, Y on a line of its own.
const X: u64 = 0;
const Z: u64 = 4;
const Y: u64 = 8;

fn on(cu: u16, ops: &[Do]) -> Thread {
    Thread { cu: Some(cu), ops: ops.to_vec() }
}

/// The operations of the first kernel, on the first compute unit.
const PRODUCERS: [&[Do]; 5] = [
    &[Do::Store(X, 1, PLAIN)],
    &[Do::Load(Z, PLAIN), Do::Store(X, 1, PLAIN), Do::Store(Y, 2, PLAIN)],
    &[Do::Add(X, 1, DEV)],
    &[Do::Update(X, 1, WG), Do::Store(Y, 2, PLAIN)],
    &[Do::Store(X, 1, DEV)],
];

/// The operations of the second kernel.
const CONSUMERS: [&[Do]; 4] = [
    &[Do::Load(X, PLAIN), Do::Load(Y, PLAIN)],
    &[Do::Add(X, 4, DEV)],
    &[Do::Load(X, PLAIN), Do::Store(X, 3, PLAIN)],
    &[Do::Add(X, 4, WG), Do::Load(Z, PLAIN)],
];

/// The operations of the host between the kernels.
const HOST: [&[Do]; 3] = [&[], &[Do::Load(X, PLAIN)], &[Do::Store(X, 7, PLAIN), Do::Load(Y, PLAIN)]];

pub(crate) fn all() -> Vec<Program> {
    let mut all = Vec::new();
    for (p, producer) in PRODUCERS.iter().enumerate() {
        for (c, consumer) in CONSUMERS.iter().enumerate() {
            for (h, host) in HOST.iter().enumerate() {
                // Every pair of the three occurs, but not every triple.
                if (p + c + h) % 3 == 0 {
                    all.extend([0, 1].map(|cu| program(producer, host, consumer, cu)));
                }
            }
        }
    }
    all.extend(
        [&[Do::Load(X, PLAIN), Do::Store(X, 1, PLAIN)][..], &[Do::Add(X, 1, DEV)]]
            .map(|ops| named(vec![(0, on(0, ops))])),
    );
    // Two kernels in a row leave a copy on the second unit; then the host writes.
    all.push(named(vec![
        (0, on(1, &[Do::Load(X, PLAIN)])),
        (1, on(0, &[Do::Store(X, 1, PLAIN)])),
        (2, on(1, &[Do::Load(X, PLAIN)])),
        (3, Thread { cu: None, ops: vec![Do::Load(X, PLAIN), Do::Store(X, 5, PLAIN)] }),
        (4, on(0, &[Do::Load(X, PLAIN)])),
    ]));
    all
}

/// A program of two kernels, with an optional step of the host between them. While the first kernel
/// writes X, the other compute unit gets a copy of X's line.
fn program(producer: &[Do], host: &[Do], consumer: &[Do], cu: u16) -> Program {
    let mut threads = vec![(0, on(0, producer)), (0, on(1, &[Do::Load(Z, PLAIN)]))];
    if !host.is_empty() {
        threads.push((1, Thread { cu: None, ops: host.to_vec() }));
    }
    threads.push((2, on(cu, consumer)));
    named(threads)
}

fn named(threads: Vec<(u8, Thread)>) -> Program {
    let (stages, threads) = threads.into_iter().unzip();
    Program { name: "kernels", threads, initial: vec![(Z, 9)], finals: vec![X, Y, Z], stages }
}

/// The outcomes of the stages (kernels and host steps) in sequence, each stage in every
/// interleaving of its threads on one flat memory. No two threads of a stage race.
pub(crate) fn in_turn(program: &Program) -> BTreeSet<Outcome> {
    let threads = program.threads.len();
    let first = State {
        at: vec![0; threads],
        registers: vec![Vec::new(); threads],
        memory: program.initial.iter().copied().collect(),
    };
    let (mut seen, mut open) = (BTreeSet::from([first.clone()]), vec![first]);
    let mut outcomes = BTreeSet::new();
    while let Some(state) = open.pop() {
        let is_left = |t: &usize| state.at[*t] < program.threads[*t].ops.len();
        let stage = (0..threads).filter(is_left).map(|t| program.stages.get(t).copied().unwrap_or(0)).min();
        let Some(stage) = stage else {
            let word = |address: &u64| state.memory.get(address).copied().unwrap_or(0);
            let finals = program.finals.iter().map(word).collect();
            outcomes.insert(state.registers.iter().cloned().chain([finals]).collect());
            continue;
        };
        for t in (0..threads).filter(is_left).filter(|&t| program.stages.get(t).is_none_or(|&s| s == stage)) {
            let mut next = state.clone();
            next.step(t, program.threads[t].ops[state.at[t]]);
            if seen.insert(next.clone()) {
                open.push(next);
            }
        }
    }
    outcomes
}

#[derive(Clone, PartialEq, Eq, PartialOrd, Ord)]
struct State {
    at: Vec<usize>,
    registers: Vec<Vec<u32>>,
    memory: BTreeMap<u64, u32>,
}

impl State {
    fn step(&mut self, thread: usize, op: Do) {
        self.at[thread] += 1;
        let (address, reads) = match op {
            Do::Store(address, ..) | Do::Update(address, ..) => (address, false),
            Do::Load(address, _) | Do::Add(address, ..) => (address, true),
            other => panic!("the family has no {other:?}"),
        };
        let word = self.memory.entry(address).or_insert(0);
        self.registers[thread].extend(reads.then_some(*word));
        match op {
            Do::Store(_, value, _) => *word = value,
            Do::Add(_, value, _) | Do::Update(_, value, _) => *word += value,
            _ => {}
        }
    }
}
