//! Computes the values of events: propagates values from writes to reads, tries numbers for values
//! that depend only on themselves, and reports the execution with its values.

use crate::exec::set::{EventSet, Word, members};
use crate::exec::sym::{Sym, Unknown};
use crate::program::Value;
use std::ops::ControlFlow;

use super::{AllowedExecution, Halt, Search, Visitor};

impl<V: Visitor, W: Word> Search<'_, '_, V, W> {
    /// Propagates known values from writes and guards (the conditions of the paths) to the reads,
    /// and from reads to the writes that depend on them. Returns false if a guard fails.
    pub(super) fn propagate(&mut self) -> bool {
        loop {
            let mut changed = false;
            for read in members(self.decided) {
                match (self.values[read], self.values[self.rf[read]]) {
                    (None, Some(value)) => {
                        self.values[read] = Some(value);
                        changed = true;
                    }
                    (Some(has), Some(gets)) if has != gets => return false,
                    _ => {}
                }
            }
            for at in 0..self.equal.len() {
                let (read, base, value) = &self.equal[at];
                if self.values[*read].is_none()
                    && let Ok(value) = self.eval(value, *base)
                {
                    self.values[*read] = Some(value);
                    changed = true;
                }
            }
            for write in 0..self.values.len() {
                if self.values[write].is_none() && self.skeleton.events[write].writes() {
                    let Some(thread) = self.skeleton.events[write].thread else { continue };
                    let base = self.skeleton.base[usize::from(thread.0)];
                    match self.eval(&self.skeleton.values[write], base) {
                        Ok(value) => {
                            self.values[write] = Some(value);
                            changed = true;
                        }
                        Err(Unknown::Yet) => {}
                        Err(Unknown::Never) => return false,
                    }
                }
            }
            if !changed {
                return self.guards_hold();
            }
        }
    }

    pub(super) fn eval(&self, sym: &Sym, base: usize) -> Result<Value, Unknown> {
        sym.eval(&|event| self.values[base + usize::from(event)])
    }

    pub(super) fn guards_hold(&self) -> bool {
        self.skeleton.guards.iter().all(|(thread, guard)| {
            match self.eval(guard, self.skeleton.base[*thread]) {
                Ok(value) => value != 0,
                Err(Unknown::Yet) => true,
                Err(Unknown::Never) => false,
            }
        })
    }

    /// Reports the execution with its values. If a value depends only on itself, tries every number
    /// of the program for this value, and reports one execution for each consistent number.
    pub(super) fn with_values(&mut self, flags: &[(usize, Vec<EventSet>)]) -> Result<(), Halt> {
        if !self.symbolic {
            for read in members(self.decided) {
                self.values[read] = self.values[self.rf[read]];
            }
            return self.report(flags);
        }
        let open = members(self.decided).find(|&read| self.values[read].is_none());
        let Some(read) = open else {
            let agree = members(self.decided).all(|read| self.values[read] == self.values[self.rf[read]]);
            return if agree { self.report(flags) } else { Ok(()) };
        };
        let before = self.values.clone();
        for &number in self.numbers {
            self.tick()?;
            self.values[read] = Some(number);
            if self.propagate() {
                self.with_values(flags)?;
            }
            self.values.copy_from_slice(&before);
        }
        Ok(())
    }

    pub(super) fn report(&mut self, flags: &[(usize, Vec<EventSet>)]) -> Result<(), Halt> {
        let found =
            AllowedExecution { rf: &self.rf, co: &self.co, values: &self.values, flags, weight: self.weight };
        match self.visitor.execution(&found) {
            ControlFlow::Continue(()) => Ok(()),
            ControlFlow::Break(()) => Err(Halt::Stopped),
        }
    }
}
