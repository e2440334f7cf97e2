//! Derives the consequences of the decisions so far: adds coherence edges that atomicity requires,
//! decides reads with only one possible write, and finds checks that fail.

use crate::cat::graph::Deps;
use crate::exec::set::{EventSet, Word, members};
use crate::exec::sym::Unknown;

use super::rules::Atomic;
use super::{Halt, Search, Visitor};

impl<V: Visitor, W: Word> Search<'_, '_, V, W> {
    /// Derives all consequences of the decisions so far. `deps` are the kinds of choices that have
    /// changed since the last call. Returns false if the decisions contradict each other or a
    /// check.
    pub(super) fn settle(&mut self, deps: Deps) -> Result<bool, Halt> {
        self.dirty |= deps;
        loop {
            if !self.force() {
                return Ok(false);
            }
            if !self.certain_checks_hold()? {
                return Ok(false);
            }
            match self.force_coherence()? {
                None => return Ok(false),
                Some(false) => return Ok(true),
                Some(true) => {}
            }
        }
    }

    /// Adds the coherence edges that atomicity requires, and decides the reads with only one
    /// possible write. Returns false on a contradiction.
    fn force(&mut self) -> bool {
        loop {
            let mut again = false;
            if self.symbolic && !self.propagate() {
                return false;
            }
            for at in 0..self.rules.atomic.len() {
                let rule = self.rules.atomic[at];
                if !self.decided.has(rule.read) {
                    let placed = (self.co[rule.write] | self.before[rule.write]).with(rule.write);
                    if placed != self.same_word[rule.write] {
                        continue;
                    }
                    let domain = self.domain(rule.read);
                    if domain.count() > 1 {
                        continue;
                    }
                    if !domain.first().is_some_and(|write| self.read_from(write, rule.read)) {
                        return false;
                    }
                    again = true;
                }
                if !self.enforce_atomicity(rule, &mut again) {
                    return false;
                }
            }
            for at in 0..self.guarded.len() {
                let read = self.guarded[at];
                if self.decided.has(read) {
                    continue;
                }
                let domain = self.domain(read);
                if domain.count() > 1 {
                    continue;
                }
                if !domain.first().is_some_and(|write| self.read_from(write, read)) {
                    return false;
                }
                again = true;
            }
            if !again {
                return true;
            }
        }
    }

    /// Applies an atomicity rule to a read-modify-write that reads from the write S and makes the
    /// write W. In the coherence order, no write of `between` may lie between S and W. So a write
    /// of `between` that follows S must also follow W, and a write of `between` that precedes W
    /// must also precede S. Returns false on a contradiction.
    fn enforce_atomicity(&mut self, rule: Atomic<W>, again: &mut bool) -> bool {
        let Atomic { read, write, between } = rule;
        let source = self.rf[read];
        let (behind, before) = (self.co[source] & between, self.before[write] & between);
        if !(behind & before).is_empty() {
            return false;
        }
        for other in members(behind & self.rules.total[write] & !self.co[write]) {
            *again = true;
            if !self.order(write, other) {
                return false;
            }
        }
        for other in members(before & self.rules.total[source] & !self.before[source]) {
            *again = true;
            if !self.order(other, source) {
                return false;
            }
        }
        true
    }

    /// Adds the coherence edges that checks of the form `empty a \ co` require. Returns `None` on a
    /// contradiction. Otherwise returns whether it has added an edge.
    fn force_coherence(&mut self) -> Result<Option<bool>, Halt> {
        let mut added = false;
        if self.dirty != 0 {
            // The checks were not evaluated after the last change, so the graph is out of date.
            return Ok(Some(false));
        }
        for at in 0..self.rules.within_co.len() {
            let (number, node) = self.rules.within_co[at];
            if self.judged[number] < self.version(self.checks[number].deps) {
                continue;
            }
            for first in 0..self.co.len() {
                let row = self.graph.value(node)[first];
                for later in members(row & !self.co[first]) {
                    added = true;
                    if !self.order(first, later) {
                        return Ok(None);
                    }
                }
            }
        }
        Ok(Some(added))
    }

    /// The writes from which an undecided read may still read.
    pub(super) fn domain(&self, read: usize) -> EventSet<W> {
        let mut domain = self.candidates[read];
        let mut hidden = EventSet::EMPTY;
        for form in &self.linear {
            let (closed, earlier) = form.closed_to(read);
            domain &= !closed;
            hidden |= earlier;
        }
        if let Some(rule) = self.atomic_of[read].map(|at| self.rules.atomic[at]) {
            hidden |= self.before[rule.write] & rule.between;
        }
        for write in members(domain) {
            if !(self.co[write] & hidden).is_empty() || self.symbolic && !self.fits(read, write) {
                domain.remove(write);
            }
        }
        domain
    }

    /// Whether `read` can read from `write`: no guard (a condition of the path) excludes the value
    /// of `write`.
    fn fits(&self, read: usize, write: usize) -> bool {
        let Some(value) = self.values[write] else { return true };
        if let Some(known) = self.values[read] {
            return known == value;
        }
        self.guards_of[read].iter().all(|&at| {
            let (thread, guard) = &self.skeleton.guards[at];
            let base = self.skeleton.base[*thread];
            let known = |event: u16| {
                let event = base + usize::from(event);
                if event == read { Some(value) } else { self.values[event] }
            };
            !matches!(guard.eval(&known), Ok(0) | Err(Unknown::Never))
        })
    }
}
