//! The exploration of one test: on every machine, in every placement, against every claim.

use std::collections::BTreeSet;
use std::sync::Arc;

use litmus::program::Program;
use proto::issue::IssueRule;
use proto::{PlanKey, SeededFault};

use crate::machine::bounds::Bounds;
use crate::machine::outcome::Outcome;
use crate::machine::placement::Placement;
use crate::machine::preempt;
use crate::mutants::rows::RowSet;
use crate::programs::claim::{Claim, NoPromise, Promise};
use crate::programs::test::{Machines, Test, evicts_at_any_time};
use crate::search::engine::Limits;
use crate::search::{Exploration, Explorer, Fault, Requirements, Violation};
use crate::subject::Subject;
use crate::verify::census::Features;
use crate::verify::options::Options;

/// A run: a test on a machine in a placement.
#[derive(Clone, Debug)]
pub(crate) struct Run {
    pub(crate) test: usize,
    pub(crate) placement: usize,
    pub(crate) bounds: Bounds,
    pub(crate) states: u64,
    pub(crate) state_bytes: u64,
    pub(crate) transitions: u64,
    pub(crate) rows: RowSet,
    pub(crate) keys: Box<[PlanKey]>,
    /// The maximum number of preemptions of work-groups in the run.
    pub(crate) preemptions: u8,
    /// The features of the program in its placement: its values of the dimensions (properties in
    /// which runs differ).
    pub(crate) features: Features,
    /// Whether the program may block, that is, wait for ever.
    pub(crate) may_block: bool,
    /// Whether the exploration is complete, without a fault.
    pub(crate) is_sound: bool,
    /// The outcomes that the claims allow. `None` if no claim promises anything.
    pub(crate) allowed: Option<Arc<BTreeSet<Outcome>>>,
}

/// The result of one test.
#[derive(Debug, Default)]
pub(crate) struct Tested {
    pub(crate) race_free: bool,
    pub(crate) synchronized: bool,
    pub(crate) runs: Vec<Run>,
    pub(crate) findings: Vec<Finding>,
    /// The claims that promise something for at least one run of the test, as a mask with one bit
    /// for each claim in order.
    pub(crate) spoken: u32,
    /// The claims with a model under which the program has a data race, as a mask with one bit for
    /// each claim.
    pub(crate) racing: u32,
    /// The names of the violated models.
    pub(crate) refuted: BTreeSet<String>,
    pub(crate) gaps: Vec<String>,
    /// The feature that the program needs and no machine has, if any.
    pub(crate) unsupported: Option<String>,
    /// Whether a run was made without preemptions on a machine with preemptions.
    pub(crate) unpreempted: bool,
}

/// A counterexample, with everything that its replay needs.
#[derive(Clone, Debug)]
pub struct Finding {
    /// The index of the test.
    pub test: usize,
    /// The index of the placement in the test.
    pub placement: usize,
    /// The bounds of the machine.
    pub bounds: Bounds,
    /// The names of the violated models.
    pub models: Vec<String>,
    /// The fault, with the moves that lead to it.
    pub violation: Violation,
}

/// The reason that an incomplete verification gives if the caller stopped it.
const STOPPED: &str = "stopped before the end";

/// The reason that an incomplete verification gives if a core waited for room in a channel.
pub(crate) const THROTTLED: &str = "a core had to wait because a channel was full";

/// The maximum number of counterexamples of a test.
const FINDINGS_MAX: usize = 3;

/// The explorers of the machines in use, one for each set of bounds.
pub(crate) struct Explorers<'a> {
    subject: &'a Subject,
    seeded_fault: Option<SeededFault>,
    all: Vec<Explorer>,
}

impl<'a> Explorers<'a> {
    /// An empty set of explorers. If a seeded fault is given, each explorer that is created later
    /// has this fault.
    pub(crate) fn new(subject: &'a Subject, seeded_fault: Option<SeededFault>) -> Explorers<'a> {
        Explorers { subject, seeded_fault, all: Vec::new() }
    }

    /// The explorer of the machine with these bounds.
    pub(crate) fn within(&mut self, bounds: Bounds) -> &mut Explorer {
        let at = self.all.iter().position(|explorer| explorer.bounds() == bounds).unwrap_or_else(|| {
            self.all.push(Explorer::new(self.subject, bounds, self.seeded_fault));
            self.all.len() - 1
        });
        &mut self.all[at]
    }
}

/// The bounds for a program on a machine.
///
/// The cores depend on the claims that the protocol makes about memory models. Only those claims
/// count that promise something about the outcomes of the program. If one of them covers the
/// machine's cores, the bounds have these cores. Otherwise, if one of them covers in-order cores,
/// the bounds have in-order cores. If none of them covers the machine's cores or in-order cores,
/// the bounds have the machine's cores. In a larger program, a line is evicted only when another line
/// needs its way. To cause such evictions, some machines have caches with one way. Work-groups that share a barrier are not preempted.
pub(crate) fn bounds_for(
    machine: Bounds,
    (program, placement): (&Program, &Placement),
    promises: &[(&Claim, Promise)],
) -> Bounds {
    let says = promises.iter().filter(|(_, promise)| promise.allowed.is_some());
    let covers_core = |core| says.clone().any(|(claim, _)| claim.covers_core(program, core));
    let is_strict = !covers_core(machine.core) && covers_core(IssueRule::InOrder);
    let may_be_preempted = preempt::groups(program, placement, machine.preemptions).is_ok();
    Bounds {
        evictions: machine.evictions && evicts_at_any_time(program),
        core: if is_strict { IssueRule::InOrder } else { machine.core },
        preemptions: if may_be_preempted { machine.preemptions } else { 0 },
        ..machine
    }
}

/// The machines of a test that has the number `index` among the tests, in the shape that the test
/// needs.
pub(crate) fn machines_for(test: &Test, index: usize, options: &Options<'_>) -> Vec<Bounds> {
    let bounds = &options.bounds;
    let only = match test.machines {
        Machines::All => None,
        Machines::InTurn => Some(index % bounds.len().max(1)),
        Machines::Nth(number) => Some(usize::from(number) % bounds.len().max(1)),
    };
    let shaped = |machine: Bounds| test.shape.map_or(machine, |shape| machine.shaped(shape));
    let chosen = bounds.iter().enumerate().filter(|(at, _)| only.is_none_or(|only| *at == only));
    chosen.map(|(_, &machine)| shaped(machine)).collect()
}

/// Explores a test on all its machines and in all its placements.
pub(crate) fn test(
    explorers: &mut Explorers<'_>,
    claims: &[Claim],
    test: &Test,
    index: usize,
    options: &Options<'_>,
) -> Tested {
    let mut tested = Tested::default();
    // After a stop, very many tests may be left, so each of them must end at once.
    if (options.stop)() {
        tested.gaps.push(String::from(STOPPED));
        return tested;
    }
    let program = &*test.program();
    let mut all_promised: Vec<Promised<'_>> = Vec::new();
    for placement in &test.placements {
        if all_promised.iter().all(|promised| promised.stages != placement.stages) {
            all_promised.push(tested.ask(claims, (program, test), &placement.stages, options));
        }
    }
    for machine in machines_for(test, index, options) {
        for (number, placement) in test.placements.iter().enumerate() {
            let promised = all_promised.iter().find(|promised| promised.stages == placement.stages);
            let Some(Promised { promises, may_block, .. }) = promised else { continue };
            let bounds = bounds_for(machine, (program, placement), promises);
            let features = Features::of(program, placement);
            let explorer = explorers.within(bounds);
            if (options.stop)() {
                tested.gaps.push(String::from(STOPPED));
                return tested;
            }
            // The claims that hold for this core, without those that have already failed.
            let mut open: Vec<&(&Claim, Promise)> =
                promises.iter().filter(|(claim, _)| claim.covers_core(program, bounds.core)).collect();
            let mut is_first = true;
            loop {
                let allowed = allowed(&open).map(Arc::new);
                let requirements = Requirements { allowed: allowed.as_deref(), may_block: *may_block };
                let mut limits = Limits {
                    memory_bytes: options.memory_bytes / options.jobs.max(1) as u64,
                    states_max: options.states_max,
                    stop: Box::new(|| (options.stop)()),
                    ..Limits::default()
                };
                let found = match explorer.explore(program, placement, &requirements, &mut limits) {
                    Ok(found) => found,
                    Err(why) => {
                        tested.unsupported = Some(why.to_string());
                        break;
                    }
                };
                tested.note_spoken(claims, &open);
                tested.unpreempted |= bounds.preemptions < machine.preemptions;
                let is_sound = found.violation.is_none() && found.incomplete.is_none() && is_first;
                tested.note_gaps(&found);
                tested.runs.push(Run {
                    test: index,
                    placement: number,
                    bounds,
                    states: found.states,
                    state_bytes: found.bytes.0,
                    transitions: found.transitions,
                    rows: RowSet::of(&found.rows),
                    keys: found.keys.as_slice().into(),
                    features,
                    preemptions: if found.preempted { bounds.preemptions } else { 0 },
                    may_block: *may_block,
                    is_sound,
                    allowed,
                });
                let Some(violation) = found.violation else { break };
                let is_outcome = violation.fault == Fault::Outcome;
                let against: Vec<String> = match &found.forbidden {
                    Some(outcome) => {
                        let breaks = |p: &Promise| p.allowed.as_ref().is_some_and(|a| !a.contains(outcome));
                        let broken = open.iter().filter(|(_, p)| breaks(p));
                        broken.map(|(claim, _)| claim.model.clone()).collect()
                    }
                    None if violation.fault == Fault::Astray => {
                        let says = open.iter().filter(|(_, p)| p.allowed.is_some());
                        says.map(|(claim, _)| claim.model.clone()).collect()
                    }
                    // A fault of the machine itself violates every claim.
                    None => claims.iter().map(|claim| claim.model.clone()).collect(),
                };
                open.retain(|(claim, _)| !against.contains(&claim.model));
                let goes_on = is_outcome && !against.is_empty();
                tested.refuted.extend(against.iter().cloned());
                tested.note_finding(index, number, bounds, against, violation);
                if !goes_on {
                    break;
                }
                is_first = false;
            }
        }
    }
    tested
}

/// The promises of a protocol's claims for a program, each thread of which runs in a stage (the
/// position of a kernel in the sequence of kernels).
pub(crate) struct Promised<'a> {
    stages: &'a [u8],
    pub(crate) promises: Vec<(&'a Claim, Promise)>,
    pub(crate) may_block: bool,
}

impl Tested {
    /// Evaluates all claims on the program, with its threads in these stages (positions of
    /// kernels).
    pub(crate) fn ask<'a>(
        &mut self,
        claims: &'a [Claim],
        (program, test): (&Program, &Test),
        stages: &'a [u8],
        options: &Options<'_>,
    ) -> Promised<'a> {
        let mut promises: Vec<(&Claim, Promise)> = Vec::new();
        let speaks = |(_, claim): &(usize, &Claim)| claim.covers(program, &test.placements);
        for (at, claim) in claims.iter().enumerate().filter(speaks) {
            match claim.promise_in_stages(program, stages, &mut || (options.stop)()) {
                Ok(promise) => {
                    // Races are recorded only for the program in one kernel.
                    self.racing |= u32::from(promise.allowed.is_none() && stages.is_empty()) << at;
                    promises.push((claim, promise));
                }
                Err(NoPromise::Undefined(_)) => {}
                Err(NoPromise::Incomplete(why)) => self.gaps.push(format!("{}: {why}", claim.model)),
            }
        }
        self.race_free |= promises.iter().any(|(_, p)| p.race_free && p.allowed.is_some());
        let of_race_free = || promises.iter().filter(|(_, p)| p.race_free);
        let mut placements = test.placements.iter().filter(|placement| placement.stages == stages);
        self.synchronized |=
            placements.any(|placement| of_race_free().any(|(_, p)| p.is_synchronized(placement)));
        // If one claimed model forbids endless waits, the program must not wait for ever.
        let may_block = program.may_wait() && promises.iter().all(|(_, p)| p.may_block);
        Promised { stages, promises, may_block }
    }

    fn note_spoken(&mut self, claims: &[Claim], open: &[&(&Claim, Promise)]) {
        for (at, claim) in claims.iter().enumerate() {
            let says =
                |(of, promise): &(&Claim, Promise)| of.model == claim.model && promise.allowed.is_some();
            self.spoken |= u32::from(open.iter().any(|open| says(open))) << at;
        }
    }

    fn note_gaps(&mut self, found: &Exploration) {
        if let Some(incomplete) = found.incomplete {
            self.gaps.push(incomplete.to_string());
        }
        if found.throttled {
            self.gaps.push(String::from(THROTTLED));
        }
    }

    fn note_finding(
        &mut self,
        test: usize,
        placement: usize,
        bounds: Bounds,
        models: Vec<String>,
        violation: Violation,
    ) {
        if self.findings.len() < FINDINGS_MAX {
            self.findings.push(Finding { test, placement, bounds, models, violation });
        }
    }
}

/// The outcomes that all these claims allow, or `None` if no claim restricts the outcomes.
pub(crate) fn allowed(open: &[&(&Claim, Promise)]) -> Option<BTreeSet<Outcome>> {
    let of = open.iter().filter_map(|(_, promise)| promise.allowed.as_ref());
    of.fold(None, |all: Option<BTreeSet<Outcome>>, allowed| match all {
        None => Some(allowed.clone()),
        Some(all) => Some(all.intersection(allowed).cloned().collect()),
    })
}
