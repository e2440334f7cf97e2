//! Counts executions in groups, without evaluating the model on each one.
//!
//! The search decides the coherence order before it decides the write of each read. Then the
//! undecided reads may be free: the model allows every combination of the writes that these reads
//! may read from. To test this, the checks are evaluated on the high bounds of all relations. A
//! high bound has all pairs that may still be in the relation. If a check holds on the high bounds,
//! it holds for every combination, because fewer pairs cannot violate it.
//!
//! For a free read that no final state depends on, the search chooses one write, and multiplies the
//! count by the number of writes that the read may read from. For the other free reads, the search
//! enumerates the combinations without evaluating the model.

use crate::cat::graph::{DEP_CO, DEP_RF, DEP_SYNC, NodeId};
use crate::cat::stage::only_whole;
use crate::exec::set::{EventSet, Word, members};

use super::{Flags, Halt, Inputs, Search, Visitor, satisfied};

/// After this number of successive failures, the search runs the test for free reads less often.
/// The test fails if the reads are not free (if the model forbids some combination of their
/// writes).
const FAILURES: u32 = 8;
/// After [`FAILURES`] successive failures, the search runs the test for free reads only once in this
/// number of opportunities. Undecided reads are free if the model allows every combination of the
/// writes that they may read from.
const PAUSE: u32 = 64;
/// The minimum number of combinations of writes for the undecided reads for which the test for free
/// reads is run. With fewer combinations, the test costs more time than it saves.
const COMBINATIONS_MIN: u64 = 32;

/// The data of the test for free reads. Undecided reads are free if the model allows every
/// combination of the writes that they may read from.
#[derive(Default)]
pub(super) struct FreeReads {
    /// The nodes of the graph that hold the relations that the search chooses: their low bounds
    /// (the pairs that they certainly have) and their high bounds (the pairs that they may have).
    inputs: Inputs,
    /// The numbers of the checks to evaluate, each with the graph nodes to compute first. `None` if
    /// the model does not permit the test for free reads.
    checks: Option<Vec<(usize, Vec<NodeId>)>>,
    failures: u32,
}

/// An undecided read, with the set of writes that it may still read from.
pub(super) type Open<W> = (usize, EventSet<W>);

impl<V: Visitor, W: Word> Search<'_, '_, V, W> {
    /// Prepares the test for free reads (see [`FreeReads`]). The test is impossible if some check
    /// is exact only on complete executions, or if the model has `with` statements.
    pub(super) fn prepare_free(&mut self) {
        if !self.choices.is_empty() {
            return;
        }
        let mut checks = Vec::new();
        let mut used = Vec::new();
        for (number, check) in self.checks.iter().enumerate() {
            if !check.flag && !self.evaluated.contains(&number) {
                continue;
            }
            let bounds = match (check.flag, check.negated) {
                (true, _) => vec![check.low, check.high],
                (false, true) => vec![check.low],
                (false, false) => vec![check.high],
            };
            if bounds.iter().any(|&bound| only_whole(self.graph.node(bound).deps)) {
                return;
            }
            let plan = self.graph.plan(&bounds);
            used.extend(&plan);
            checks.push((number, plan));
        }
        self.free.inputs = Inputs::of(&self.graph, 0, &used);
        self.free.checks = Some(checks);
    }

    /// Tests whether the undecided reads are free, which means that the model allows every
    /// combination of writes that they could read from. If the reads are free, counts and reports
    /// the executions, and returns true. Otherwise returns false.
    pub(super) fn count_free(&mut self, depth: usize) -> Result<bool, Halt> {
        if self.free.checks.is_none() {
            return Ok(false);
        }
        if self.free.failures >= FAILURES && !self.free.failures.is_multiple_of(PAUSE) {
            self.free.failures = self.free.failures.wrapping_add(1).max(FAILURES);
            return Ok(false);
        }
        let open: Vec<Open<W>> = (0..self.reads.len())
            .map(|at| self.reads[at])
            .filter(|&read| !self.decided.has(read))
            .map(|read| (read, self.domain(read)))
            .collect();
        // The number of combinations. `None` on an overflow. In this case the reads are enumerated.
        let product = |observed: bool| {
            let checks = open.iter().filter(|(read, _)| observed || !self.visitor.observes(*read));
            checks.map(|(_, domain)| u64::from(domain.count())).try_fold(1, u64::checked_mul)
        };
        let weight = product(false).and_then(|product| self.weight.checked_mul(product));
        let Some(weight) = weight.filter(|_| product(true).is_none_or(|all| all >= COMBINATIONS_MIN)) else {
            return Ok(false);
        };
        if !self.are_free(&open)? {
            self.free.failures = self.free.failures.wrapping_add(1);
            return Ok(false);
        }
        self.free.failures = 0;
        let before = core::mem::replace(&mut self.weight, weight);
        self.save(depth);
        let consistent = open
            .iter()
            .filter(|(read, _)| !self.visitor.observes(*read))
            .map(|&(read, domain)| (read, domain.first()))
            .collect::<Vec<_>>()
            .into_iter()
            .all(|(read, write)| write.is_some_and(|write| self.read_from(write, read)));
        if consistent {
            let observed: Vec<Open<W>> =
                open.into_iter().filter(|(read, _)| self.visitor.observes(*read)).collect();
            self.enumerate(depth + 1, &observed, &mut None)?;
        }
        self.restore(depth);
        self.weight = before;
        Ok(consistent)
    }

    /// Decides the writes of the reads in `open`, one read after the other, and reports each
    /// execution. All executions that this function reports have the same flags, so the flags are
    /// evaluated only for the first of them.
    fn enumerate(&mut self, depth: usize, open: &[Open<W>], flags: &mut Option<Flags>) -> Result<(), Halt> {
        self.tick()?;
        self.nodes += 1;
        let Some((&(read, domain), rest)) = open.split_first() else {
            if self.symbolic && !self.propagate() {
                return Ok(());
            }
            if flags.is_none() {
                *flags = self.judge()?;
            }
            return match flags {
                Some(flags) => self.with_values(flags),
                None => Ok(()),
            };
        };
        for write in members(domain) {
            self.save(depth);
            if self.read_from(write, read) {
                self.enumerate(depth + 1, rest, flags)?;
            }
            self.restore(depth);
        }
        Ok(())
    }

    /// Whether the undecided reads in `open` are free: the model allows every combination of the
    /// writes that they may read from.
    fn are_free(&mut self, open: &[Open<W>]) -> Result<bool, Halt> {
        let has_choice = open.iter().all(|(_, domain)| !domain.is_empty());
        // The value of each write must be known already, so that no value depends on an open read
        // or on itself.
        let values_known = || {
            let events = self.skeleton.events.iter().zip(&self.values);
            events.filter(|(event, _)| event.writes()).all(|(_, value)| value.is_some())
        };
        let unguarded = open.iter().all(|&(read, _)| self.guards_of[read].is_empty());
        let atomic = open.iter().any(|&(read, _)| self.atomic_of[read].is_some());
        if !has_choice || atomic || !unguarded || self.symbolic && !values_known() {
            return Ok(false);
        }
        if !self.linear.iter().all(|form| form.holds_for_all(open, &self.co)) {
            return Ok(false);
        }
        self.flush();
        self.publish_bounds(open);
        let checks = self.free.checks.take().unwrap_or_default();
        let holds = self.hold_for_all(&checks);
        self.free.checks = Some(checks);
        holds
    }

    /// Whether each of `checks` gives the same result for every combination of the writes that the
    /// undecided reads may read from. In addition, each check that is not a flag must hold. The
    /// bounds of the relations are already in the graph.
    fn hold_for_all(&mut self, checks: &[(usize, Vec<NodeId>)]) -> Result<bool, Halt> {
        for (number, plan) in checks {
            self.refresh_nodes(plan)?;
            let check = &self.checks[*number];
            let passes = |bound: NodeId| satisfied(check.kind, self.graph.value(bound));
            let decided = match (check.flag, check.negated) {
                (true, _) => passes(check.low) == passes(check.high),
                (false, true) => !passes(check.low),
                (false, false) => passes(check.high),
            };
            if !decided {
                return Ok(false);
            }
        }
        Ok(true)
    }

    /// For each relation that the search chooses, writes its two bounds to the nodes of the
    /// relation in the graph: the pairs that are certainly in the relation (low bound), and the
    /// pairs that may be in it (high bound).
    fn publish_bounds(&mut self, open: &[Open<W>]) {
        let n = self.co.len();
        let mut possible: Vec<EventSet<W>> = (0..n).map(|read| self.possible(read)).collect();
        for &(read, domain) in open {
            possible[read] = domain;
        }
        let turned = |of: &dyn Fn(usize) -> EventSet<W>| {
            let mut rows = vec![EventSet::EMPTY; n];
            for read in 0..n {
                members(of(read)).for_each(|write| rows[write].insert(read));
            }
            rows
        };
        let decided = |read: usize| if self.decided.has(read) { possible[read] } else { EventSet::EMPTY };
        let behind =
            |read: usize| members(possible[read]).fold(EventSet::EMPTY, |row, write| row | self.co[write]);
        let values = [
            (self.free.inputs.rf[0], turned(&decided)),
            (self.free.inputs.rf[1], turned(&|read| possible[read])),
            (self.free.inputs.co[0], self.co.clone()),
            (self.free.inputs.co[1], self.co.clone()),
            (self.free.inputs.fr[0], self.fr.clone()),
            (self.free.inputs.fr[1], (0..n).map(behind).collect()),
        ];
        for (id, rows) in values {
            if let Some(id) = id {
                self.graph.set_value(id, &rows);
            }
        }
        // The high bounds that the graph now holds are not those of the search, so the search must
        // write the nodes again.
        self.touch(DEP_RF | DEP_CO | DEP_SYNC);
        self.dirty |= DEP_RF | DEP_CO;
    }
}
