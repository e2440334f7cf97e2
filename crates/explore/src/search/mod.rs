//! Explores programs on a bounded machine, and judges the runs.

pub(crate) mod disagreement;
pub(crate) mod engine;
pub(crate) mod fault;
mod overtaking;
pub(crate) mod progress;
pub(crate) mod replay;
pub(crate) mod store;

use std::collections::{BTreeMap, BTreeSet};
use std::sync::Arc;

use litmus::program::{LocId, Program};
use proto::words::counted;
use proto::{PlanKey, RowId, SeededFault};

use crate::machine::bounds::Bounds;
use crate::machine::controllers::Controllers;
use crate::machine::known::{Known, Offer, Sink};
use crate::machine::moves::Move;
use crate::machine::outcome::{self, Outcome};
use crate::machine::placement::{Placement, Unsupported, value};
use crate::machine::{Machine, Written};
use crate::subject::Subject;
pub use fault::{Fault, Violation, show};

use engine::{Incomplete, Limits, Searched, System};
use replay::Replay;
use store::{StateId, Store};

/// The requirements on the runs of a program.
#[derive(Clone, Copy, Debug, Default)]
pub struct Requirements<'a> {
    /// The allowed outcomes, or `None` if all are allowed.
    pub allowed: Option<&'a BTreeSet<Outcome>>,
    /// Whether a run of the program may block, that is, wait for ever.
    pub may_block: bool,
}

/// The result of exploring a program on a machine.
#[derive(Clone, Debug, Default)]
pub struct Exploration {
    /// Every outcome that a run can have. If the search is incomplete or finds a fault, only the
    /// outcomes found until then.
    pub outcomes: BTreeSet<Outcome>,
    /// The number of states that the search has visited.
    pub states: u64,
    /// The number of moves between visited states.
    pub transitions: u64,
    /// The distance of the furthest state from the first state, in moves.
    pub depth: u32,
    /// The rows of the protocol's tables that fired.
    pub rows: BTreeSet<RowId>,
    /// The plan keys (operation, order, scope and hints) of all requests that threads, kernels and
    /// the host made during the search.
    pub keys: Vec<PlanKey>,
    /// Whether a seeded fault has changed the effect of a step of a controller.
    pub altered: bool,
    /// Whether a work-group was preempted in some run.
    pub preempted: bool,
    /// The fault that the search has found, or `None`.
    pub violation: Option<Violation>,
    /// The forbidden outcome, if a forbidden outcome is the fault.
    pub forbidden: Option<Outcome>,
    /// The reason why the search is incomplete, or `None` if it is complete.
    pub incomplete: Option<Incomplete>,
    /// Whether a core had to wait because a queue of the machine was full.
    pub throttled: bool,
    /// The bytes used for states, and the bytes used for everything else.
    pub bytes: (u64, u64),
    /// The numbers of different parts (node states), of different states of stations (controllers
    /// with their parked inputs), and of known steps of controllers.
    pub parts: (usize, usize, usize),
}

/// A machine with a program, and the outcomes found so far, each with the first state that shows
/// it.
struct Run<'a> {
    machine: Machine,
    outcomes: BTreeMap<Outcome, StateId>,
    allowed: Option<&'a BTreeSet<Outcome>>,
    may_block: bool,
    forbidden: Option<Outcome>,
}

impl System for Run<'_> {
    fn known(&self) -> &Known {
        &self.machine.known
    }
    fn learn(&mut self, state: &[u32]) {
        self.machine.learn(state);
    }
    fn is_stale(&self) -> bool {
        self.machine.is_stale
    }
    fn end(&mut self, state: &[u32], id: StateId) -> Result<(), Arc<str>> {
        let mut found = BTreeSet::new();
        outcome::of(&mut self.machine, state, &mut found)?;
        for outcome in found {
            if self.allowed.is_some_and(|allowed| !allowed.contains(&outcome)) {
                let why = format!("it ends with {}", show(&self.machine.code.program, &outcome));
                self.forbidden.get_or_insert(outcome);
                return Err(Arc::from(why));
            }
            self.outcomes.entry(outcome).or_insert(id);
        }
        Ok(())
    }
    fn stuck(&mut self, state: &[u32]) -> Result<(), Arc<str>> {
        // Threads may wait for ever at a barrier that other threads never reach, if nothing is
        // under way.
        let is_at_rest = self.may_block && outcome::is_at_rest(&self.machine, state);
        if is_at_rest {
            return Ok(());
        }
        Err(Arc::from(replay::NO_MOVE_LEFT))
    }
    fn bytes(&self) -> usize {
        self.machine.bytes()
    }
}

/// Explores programs in sequence on one bounded machine. The steps of controllers that one program
/// computes are reused for the next program.
pub struct Explorer {
    subject: Subject,
    bounds: Bounds,
    seeded_fault: Option<SeededFault>,
    /// The controllers with their known steps, one entry for each shape of machine.
    learnt: Vec<Controllers>,
}

/// The maximum size in bytes of the known steps for one shape of machine. If the steps take more
/// bytes, they are dropped when the exploration of the current program ends.
const LEARNT_BYTES_MAX: usize = 64 << 20;

impl Explorer {
    /// An explorer of a protocol on the machine of these bounds, with a seeded fault if one is
    /// given.
    #[must_use]
    pub fn new(subject: &Subject, bounds: Bounds, seeded_fault: Option<SeededFault>) -> Explorer {
        Explorer { subject: *subject, bounds, seeded_fault, learnt: Vec::new() }
    }

    /// The bounds of the machine.
    #[must_use]
    pub fn bounds(&self) -> Bounds {
        self.bounds
    }

    /// A machine with the explorer's bounds, on which a program is put in a placement.
    fn machine(&mut self, program: &Program, placement: &Placement) -> Result<Machine, Unsupported> {
        let (program, bounds) = ((program, placement), (self.bounds, self.seeded_fault));
        Machine::new(&self.subject, program, bounds, &mut self.learnt)
    }

    /// Explores all runs of a program in a placement.
    ///
    /// # Errors
    /// If the machine lacks a feature that the program needs.
    pub fn explore(
        &mut self,
        program: &Program,
        placement: &Placement,
        requirements: &Requirements<'_>,
        limits: &mut Limits<'_>,
    ) -> Result<Exploration, Unsupported> {
        let (mut run, searched) = self.search(program, placement, requirements, limits)?;
        if let Some(why) = run.machine.unsupported.take() {
            return Err(Unsupported(why));
        }
        let found = conclude(&mut run, searched, requirements, limits);
        if let (None, Some(violation)) = (requirements.allowed, &found.violation)
            && violation.fault == Fault::Astray
        {
            // Without allowed outcomes, no read value counts as wrong. So a thread that cannot
            // continue with its value shows no fault of the protocol, and the program is
            // unsupported.
            return Err(Unsupported(violation.why.clone()));
        }
        if run.machine.controllers.bytes() < LEARNT_BYTES_MAX {
            self.learnt.push(run.machine.controllers);
        }
        Ok(found)
    }

    /// Searches all states of a program in a placement.
    fn search<'a>(
        &mut self,
        program: &Program,
        placement: &Placement,
        requirements: &Requirements<'a>,
        limits: &mut Limits<'_>,
    ) -> Result<(Run<'a>, Searched), Unsupported> {
        let mut run = Run {
            machine: self.machine(program, placement)?,
            outcomes: BTreeMap::new(),
            allowed: requirements.allowed,
            may_block: requirements.may_block,
            forbidden: None,
        };
        loop {
            let start = run.machine.start()?;
            let searched = engine::search(&mut run, &start, limits);
            if !searched.is_stale {
                return Ok((run, searched));
            }
            run.machine.again();
            (run.outcomes, run.forbidden) = (BTreeMap::new(), None);
        }
    }

    /// Replays the moves of a trace.
    ///
    /// # Errors
    /// If the machine lacks a feature that the program needs.
    pub fn replay(
        &mut self,
        program: &Program,
        placement: &Placement,
        moves: &[Move],
    ) -> Result<Replay, Unsupported> {
        replay::of(&mut self.machine(program, placement)?, moves)
    }
}

fn conclude(
    run: &mut Run<'_>,
    mut searched: Searched,
    requirements: &Requirements<'_>,
    limits: &mut Limits<'_>,
) -> Exploration {
    let known = &run.machine.known;
    let store = &searched.store;
    let mut violation = searched.problem.take().map(|problem| {
        let mut moves = moves(known, store, problem.state);
        let fault = match problem.mv {
            Some(mv) => {
                moves.push(mv);
                if run.machine.bad_values.contains(&problem.why) { Fault::Astray } else { Fault::Impossible }
            }
            None if problem.is_stuck => Fault::Deadlock,
            None if run.forbidden.is_some() => Fault::Outcome,
            None => Fault::Unquiet,
        };
        Violation { fault, why: problem.why.to_string(), moves }
    });
    let is_whole = violation.is_none() && searched.incomplete.is_none();
    if is_whole {
        match disagreement::nearest(&run.machine, store, &mut limits.stop) {
            None => searched.incomplete = Some(Incomplete::Stopped),
            Some(None) => {}
            Some(Some((state, why))) => {
                let moves = moves(known, store, state);
                violation = Some(Violation { fault: Fault::Disagreement, why, moves });
            }
        }
    }
    if searched.incomplete.is_none() && violation.is_none() && searched.may_cycle && !requirements.may_block {
        match progress::endless(known, store, &mut limits.stop) {
            None => searched.incomplete = Some(Incomplete::Stopped),
            Some(None) => {}
            Some(Some(endless)) => {
                let why = format!("{} ({})", endless.why, counted(endless.states as u64, "state"));
                let moves = moves(known, store, endless.state);
                violation = Some(Violation { fault: Fault::Livelock, why, moves });
            }
        }
    }
    if violation.is_none() {
        let why = thin_air(&run.machine);
        violation = why.map(|why| Violation { fault: Fault::ThinAir, why, moves: Vec::new() });
    }
    let (stations, steps) = run.machine.controllers.counts();
    Exploration {
        outcomes: core::mem::take(&mut run.outcomes).into_keys().collect(),
        states: searched.store.len() as u64,
        transitions: searched.transitions,
        depth: searched.depth,
        rows: core::mem::take(&mut run.machine.rows),
        keys: core::mem::take(&mut run.machine.keys),
        altered: run.machine.controllers.is_altered(),
        preempted: run.machine.preempted,
        violation,
        forbidden: run.forbidden.take(),
        incomplete: searched.incomplete,
        throttled: searched.throttled,
        bytes: (searched.store.bytes() as u64, run.machine.bytes() as u64),
        parts: (run.machine.part_count(), stations, steps),
    }
}

/// A receiver of the successors of a state. It finds the move that leads to the successor `to`.
struct Leading<'a> {
    to: &'a [u32],
    found: Option<Move>,
}

impl Sink for Leading<'_> {
    fn go(&mut self, Offer { mv, .. }: Offer, next: &[u32]) {
        if next == self.to {
            self.found.get_or_insert(mv);
        }
    }
    fn wait(&mut self, _mv: Move) {}
}

/// The moves that lead from the first state to the state `id`.
fn moves(known: &Known, store: &Store, id: StateId) -> Vec<Move> {
    let path = store.path(id);
    let mut next = Vec::new();
    let steps = path.windows(2).filter_map(|step| {
        let mut sink = Leading { to: store.state(step[1]), found: None };
        known.expand(store.state(step[0]), &mut next, &mut sink);
        sink.found
    });
    steps.collect()
}

/// The maximum number of values of a location for which [`thin_air`] collects the values that may
/// have been written. A location with more values is not checked.
const VALUES_MAX: usize = 4096;

/// The description of the first byte that was read but never written to its location. `None` if no
/// such byte exists.
fn thin_air(machine: &Machine) -> Option<String> {
    let program = &machine.code.program;
    let locs: BTreeSet<LocId> = machine.reads.iter().map(|(loc, _)| *loc).collect();
    for loc in locs {
        let init = program.loc(loc).init as u32;
        let written: Vec<Written> =
            machine.writes.iter().filter(|(at, _)| *at == loc).map(|(_, written)| *written).collect();
        let mut values: BTreeSet<u32> = [init].into();
        let mut fresh: Vec<u32> = vec![init];
        for written in &written {
            if let Written::Value(value) = *written
                && values.insert(value)
            {
                fresh.push(value);
            }
        }
        while let Some(old) = fresh.pop() {
            for written in &written {
                if let Written::Update(rmw, operand) = *written {
                    let new = rmw.apply(u64::from(old), u64::from(operand));
                    let new = value(new, rmw.width) as u32;
                    if values.len() < VALUES_MAX && values.insert(new) {
                        fresh.push(new);
                    }
                }
            }
        }
        if values.len() >= VALUES_MAX {
            continue;
        }
        let of_loc = machine.reads.iter().filter(|(at, _)| *at == loc);
        for read in of_loc.map(|(_, read)| *read as u32) {
            let byte = |value: u32, at: u32| value >> (8 * at) & 0xff;
            let stray = (0..4).find(|&at| values.iter().all(|&value| byte(value, at) != byte(read, at)));
            if let Some(at) = stray {
                return Some(format!(
                    "byte {at} of {} was read as {:#04x}, which was never written there",
                    program.loc(loc).name,
                    byte(read, at)
                ));
            }
        }
    }
    None
}
