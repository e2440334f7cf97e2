//! Evaluates the graph of the model: writes the choices of the search to their nodes (publishes
//! them), computes the other nodes, and evaluates the checks.

use crate::cat::graph::{DEP_CO, DEP_RF, DEP_SYNC, Deps, NodeId};
use crate::cat::stage::{diverges, only_whole};
use crate::exec::set::{EventSet, Word, members};
use crate::parse::TextError;

use super::{Halt, SKIPS, STREAK, Search, Visitor, satisfied};

impl<V: Visitor, W: Word> Search<'_, '_, V, W> {
    pub(super) fn touch(&mut self, deps: Deps) {
        self.clock += 1;
        for (bit, version) in self.versions.iter_mut().enumerate() {
            if deps >> bit & 1 == 1 {
                *version = self.clock;
            }
        }
    }

    pub(super) fn version(&self, deps: Deps) -> u64 {
        let mut newest = 0;
        for (bit, &version) in self.versions.iter().enumerate() {
            if deps >> bit & 1 == 1 {
                newest = newest.max(version);
            }
        }
        newest
    }

    /// For each choice of the search that has changed since the last call, writes the choice to its
    /// node in the graph.
    pub(super) fn flush(&mut self) {
        let dirty = core::mem::take(&mut self.dirty);
        if dirty != 0 {
            self.publish(dirty);
            self.touch(dirty);
        }
    }

    /// Writes the choices of the kinds in `deps` to their nodes in the graph.
    pub(super) fn publish(&mut self, deps: Deps) {
        let n = self.co.len();
        let mut rows = core::mem::take(&mut self.scratch);
        if deps & DEP_RF != 0 {
            if let Some(id) = self.inputs.rf[0] {
                rows.fill(EventSet::EMPTY);
                for read in members(self.decided) {
                    rows[self.rf[read]].insert(read);
                }
                self.graph.set_value(id, &rows);
            }
            if let Some(id) = self.inputs.rf[1] {
                rows.fill(EventSet::EMPTY);
                for read in 0..n {
                    for write in members(self.possible(read)) {
                        rows[write].insert(read);
                    }
                }
                self.graph.set_value(id, &rows);
            }
        }
        if deps & DEP_CO != 0 {
            if let Some(id) = self.inputs.co[0] {
                self.graph.set_value(id, &self.co);
            }
            if let Some(id) = self.inputs.co[1] {
                for (write, row) in rows.iter_mut().enumerate() {
                    *row = self.co_high(write);
                }
                self.graph.set_value(id, &rows);
            }
        }
        if let Some(id) = self.inputs.fr[0] {
            self.graph.set_value(id, &self.fr);
        }
        if let Some(id) = self.inputs.fr[1] {
            for (read, row) in rows.iter_mut().enumerate() {
                *row = members(self.possible(read))
                    .fold(EventSet::EMPTY, |row, write| row | self.co_high(write));
            }
            self.graph.set_value(id, &rows);
        }
        self.scratch = rows;
    }

    /// The writes from which the event `read` may still read.
    pub(super) fn possible(&self, read: usize) -> EventSet<W> {
        if self.decided.has(read) {
            EventSet::only(self.rf[read])
        } else if self.skeleton.events[read].reads() {
            self.candidates[read]
        } else {
            EventSet::EMPTY
        }
    }

    /// The writes that may still follow `write` in coherence order.
    pub(super) fn co_high(&self, write: usize) -> EventSet<W> {
        self.same_word[write] & !(self.apart[write] | self.before[write]).with(write)
    }

    /// Whether all checks hold on the low bounds of the relations. A low bound has the pairs that
    /// are already certain to be in the relation.
    pub(super) fn certain_checks_hold(&mut self) -> Result<bool, Halt> {
        for at in 0..self.evaluated.len() {
            let number = self.evaluated[at];
            if only_whole(self.checks[number].deps) {
                continue;
            }
            if self.streaks[number] >= STREAK {
                self.skipped[number] = (self.skipped[number] + 1) % SKIPS;
                if self.skipped[number] != 0 {
                    continue;
                }
            }
            if !self.still_holds(number)? {
                return Ok(false);
            }
        }
        Ok(true)
    }

    /// Whether a check holds. Evaluates the check only if its inputs have changed since it last
    /// held.
    pub(super) fn still_holds(&mut self, number: usize) -> Result<bool, Halt> {
        self.flush();
        if self.judged[number] >= self.version(self.checks[number].deps | DEP_SYNC) {
            return Ok(true);
        }
        let holds = self.holds(number)?;
        if holds {
            self.judged[number] = self.clock;
            self.streaks[number] = self.streaks[number].saturating_add(1);
        } else {
            self.streaks[number] = 0;
        }
        Ok(holds)
    }

    /// Evaluates a check on one bound of the examined relation. For a negated check that is not a
    /// flag, this is the high bound (the pairs that the relation may have). For any other check,
    /// this is the low bound (the pairs that the relation certainly has).
    pub(super) fn holds(&mut self, number: usize) -> Result<bool, Halt> {
        self.flush();
        self.refresh(number)?;
        let check = &self.checks[number];
        let decides = if check.negated && !check.flag { check.high } else { check.low };
        Ok(satisfied(check.kind, self.graph.value(decides)) != check.negated)
    }

    /// Computes the nodes of the graph that the check with this number needs.
    pub(super) fn refresh(&mut self, number: usize) -> Result<(), Halt> {
        let plan = core::mem::take(&mut self.checks[number].plan);
        let result = self.refresh_nodes(&plan);
        self.checks[number].plan = plan;
        result
    }

    pub(super) fn refresh_nodes(&mut self, plan: &[NodeId]) -> Result<(), Halt> {
        for &id in plan {
            let deps = self.graph.node(id).deps;
            let newest = self.version(deps);
            let stamp = &mut self.stamps[id.0 as usize];
            if *stamp < newest {
                *stamp = newest;
                self.graph.refresh(id).map_err(|of| {
                    Halt::Model(TextError::meaning(of.place, diverges(&of.name)).in_file(self.file))
                })?;
            }
        }
        Ok(())
    }
}
