//! The steps at the end of a search path: the last checks, the choices of `with` statements, and
//! the flags.

use crate::cat::graph::DEP_WITH;
use crate::cat::stage::Choice;
use crate::exec::matrix;
use crate::exec::set::{EventSet, Word, members, wide};

use super::{Flags, Halt, Search, Visitor};

impl<V: Visitor, W: Word> Search<'_, '_, V, W> {
    /// Handles a complete execution, for which all decisions are made: runs the last checks, finds
    /// the flags that hold, and computes the values.
    pub(super) fn complete(&mut self) -> Result<(), Halt> {
        match self.judge()? {
            Some(flags) => self.with_values(&flags),
            None => Ok(()),
        }
    }

    /// Evaluates the checks on a complete execution. Returns the flags that hold on it, or `None`
    /// if a check fails.
    pub(super) fn judge(&mut self) -> Result<Option<Flags>, Halt> {
        for at in 0..self.evaluated.len() {
            let number = self.evaluated[at];
            if self.checks[number].deps & DEP_WITH == 0 && !self.still_holds(number)? {
                return Ok(None);
            }
        }
        self.flush();
        let mut flags = Flags::new();
        let mut allowed = true;
        if !self.choices.is_empty() {
            allowed = false;
            self.choose(0, &mut allowed, &mut flags)?;
        }
        if !allowed {
            return Ok(None);
        }
        for number in 0..self.checks.len() {
            if self.checks[number].flag && self.checks[number].deps & DEP_WITH == 0 && self.holds(number)? {
                flags.push((number, wide(self.graph.value(self.checks[number].low))));
            }
        }
        flags.sort_by_key(|(number, _)| *number);
        Ok(Some(flags))
    }

    /// Enumerates the choices of the `with` statements whose number is `at` or greater.
    pub(super) fn choose(&mut self, at: usize, allowed: &mut bool, flags: &mut Flags) -> Result<(), Halt> {
        self.tick()?;
        let Some(choice) = self.choices.get(at).cloned() else {
            for index in 0..self.evaluated.len() {
                let number = self.evaluated[index];
                if self.checks[number].deps & DEP_WITH != 0 && !self.holds(number)? {
                    return Ok(());
                }
            }
            *allowed = true;
            for number in 0..self.checks.len() {
                let check = &self.checks[number];
                let open = check.flag
                    && check.deps & DEP_WITH != 0
                    && flags.iter().all(|(known, _)| *known != number);
                if open && self.holds(number)? {
                    flags.push((number, wide(self.graph.value(self.checks[number].low))));
                }
            }
            return Ok(());
        };
        match choice {
            Choice::Among(nodes) => {
                for node in nodes {
                    let plan = self.graph.plan(&[node]);
                    self.refresh_nodes(&plan)?;
                    let rows = self.graph.value(node).to_vec();
                    self.set_choice(at, &rows);
                    self.choose(at + 1, allowed, flags)?;
                }
                Ok(())
            }
            Choice::Linear(set, order) => {
                let plan = self.graph.plan(&[set, order]);
                self.refresh_nodes(&plan)?;
                let set = self.graph.value(set)[0];
                let mut order = self.graph.value(order).to_vec();
                matrix::close(&mut order);
                let mut rows = vec![EventSet::EMPTY; order.len()];
                self.linearise(at, set, &order, EventSet::EMPTY, &mut rows, allowed, flags)
            }
        }
    }

    pub(super) fn set_choice(&mut self, at: usize, rows: &[EventSet<W>]) {
        if let Some(id) = self.inputs.with[at] {
            self.graph.set_value(id, rows);
        }
        self.touch(DEP_WITH);
    }

    /// Whether the remaining choices of `with` statements cannot change the result. This is so if
    /// an earlier choice has passed all checks, and every wanted flag that depends on these choices
    /// is already found.
    pub(super) fn choices_done(&self, allowed: bool, flags: &[(usize, Vec<EventSet>)]) -> bool {
        allowed
            && self.checks.iter().enumerate().all(|(number, check)| {
                !check.flag
                    || check.deps & DEP_WITH == 0
                    || flags.iter().any(|(known, _)| *known == number)
                    || !self.visitor.wants_flag(number)
            })
    }

    #[allow(clippy::too_many_arguments, reason = "the state of one recursion")]
    pub(super) fn linearise(
        &mut self,
        at: usize,
        left: EventSet<W>,
        order: &[EventSet<W>],
        before: EventSet<W>,
        rows: &mut Vec<EventSet<W>>,
        allowed: &mut bool,
        flags: &mut Flags,
    ) -> Result<(), Halt> {
        if left.is_empty() {
            let total = rows.clone();
            self.set_choice(at, &total);
            return self.choose(at + 1, allowed, flags);
        }
        for event in members(left) {
            let has_earlier = members(left).any(|other| other != event && order[other].has(event));
            if has_earlier {
                continue;
            }
            if self.choices_done(*allowed, flags) {
                return Ok(());
            }
            members(before).for_each(|earlier| rows[earlier].insert(event));
            self.linearise(at, left.without(event), order, before.with(event), rows, allowed, flags)?;
            members(before).for_each(|earlier| rows[earlier].remove(event));
        }
        Ok(())
    }
}
