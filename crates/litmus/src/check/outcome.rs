//! Gathers what a search finds: final states, witnesses, flags.

use std::collections::BTreeMap;
use std::ops::ControlFlow;

use crate::exec::matrix::members;
use crate::exec::skeleton::Skeleton;
use crate::exec::sym::Unknown;
use crate::program::{Program, Term, Value};

use super::execution::{Execution, pairs};
use super::search::{Found, Visitor};

/// The most final states that are told apart.
const STATES_MAX: usize = 200_000;

/// One final state.
#[derive(Clone, Debug)]
pub(crate) struct Outcome {
    /// How many executions end so.
    pub(crate) count: u64,
    /// One of them.
    pub(crate) example: Option<Box<Execution>>,
}

/// A flag that held on some execution.
#[derive(Clone, Debug)]
pub(crate) struct Flagged {
    pub(crate) count: u64,
    /// The first execution, and the pairs there.
    pub(crate) example: Execution,
    pub(crate) pairs: Vec<(usize, usize)>,
}

/// All that is found in the executions of one program.
pub(crate) struct Outcomes<'p, 'o> {
    program: &'p Program,
    /// The terms of the state, then further ones of the filter.
    pub(crate) terms: Vec<Term>,
    pub(crate) shown: usize,
    pub(crate) states: BTreeMap<Vec<Value>, Outcome>,
    /// By the number of the check.
    pub(crate) flags: BTreeMap<usize, Flagged>,
    pub(crate) executions: u64,
    pub(crate) fault: Option<(&'static str, u32)>,
    pub(crate) divergent: bool,
    pub(crate) too_many_states: bool,
    pub(crate) stopped: bool,
    stop: &'o mut dyn FnMut() -> bool,
    key: Vec<Value>,
}

impl<'p, 'o> Outcomes<'p, 'o> {
    pub(crate) fn new(program: &'p Program, stop: &'o mut dyn FnMut() -> bool) -> Outcomes<'p, 'o> {
        let mut terms = program.state_terms();
        let shown = terms.len();
        if let Some(filter) = &program.filter {
            let mut more = Vec::new();
            filter.collect_terms(&mut more);
            for term in more {
                if !matches!(term, Term::Const(_)) && !terms.contains(&term) {
                    terms.push(term);
                }
            }
        }
        Outcomes {
            program,
            terms,
            shown,
            states: BTreeMap::new(),
            flags: BTreeMap::new(),
            executions: 0,
            fault: None,
            divergent: false,
            too_many_states: false,
            stopped: false,
            stop,
            key: Vec::new(),
        }
    }
}

/// A search's view of the outcomes while one skeleton is searched.
pub(crate) struct OnSkeleton<'a, 's, 'p, 'o> {
    pub(crate) skeleton: &'s Skeleton<'p>,
    pub(crate) into: &'a mut Outcomes<'p, 'o>,
}

impl Visitor for OnSkeleton<'_, '_, '_, '_> {
    fn execution(&mut self, found: &Found<'_>) -> ControlFlow<()> {
        if let Some(fault) = self.skeleton.fault {
            self.into.fault.get_or_insert(fault);
            return ControlFlow::Continue(());
        }
        if self.skeleton.divergent {
            self.into.divergent = true;
            return ControlFlow::Continue(());
        }
        self.into.executions += 1;
        for (check, rows) in found.flags {
            let events = self.skeleton.len();
            self.into.flags.entry(*check).and_modify(|flagged| flagged.count += 1).or_insert_with(|| {
                Flagged { count: 1, example: Execution::of(self.skeleton, found), pairs: pairs(rows, events) }
            });
        }
        self.state(found)
    }

    fn stop(&mut self) -> bool {
        let stop = (self.into.stop)();
        self.into.stopped |= stop;
        stop
    }

    fn wants_flag(&self, check: usize) -> bool {
        !self.into.flags.contains_key(&check)
    }
}

impl OnSkeleton<'_, '_, '_, '_> {
    /// Records the final states of an execution: one for each choice of last
    /// writes, where coherence leaves several.
    fn state(&mut self, found: &Found<'_>) -> ControlFlow<()> {
        let mut key = core::mem::take(&mut self.into.key);
        key.clear();
        let mut open: Vec<(usize, u64)> = Vec::new();
        for at in 0..self.into.terms.len() {
            match self.into.terms[at] {
                Term::Const(value) => key.push(value),
                Term::Reg(thread, reg) => {
                    let thread = usize::from(thread.0);
                    let base = self.skeleton.base[thread];
                    let sym = &self.skeleton.registers[thread][usize::from(reg.0)];
                    let value = match sym.eval(&|event| found.values[base + usize::from(event)]) {
                        Ok(value) => value,
                        Err(Unknown::Yet) => 0,
                        Err(Unknown::Never) => {
                            self.into.fault.get_or_insert(("a division by zero", 0));
                            self.into.key = key;
                            return ControlFlow::Continue(());
                        }
                    };
                    key.push(value);
                }
                Term::Loc(loc) => {
                    let word = self.into.program.loc(loc).physical;
                    let last = self.skeleton.events.iter().enumerate().fold(0u64, |set, (i, e)| {
                        let is_last = e.writes() && self.skeleton.word(e) == Some(word) && found.co[i] == 0;
                        set | u64::from(is_last) << i
                    });
                    let first = members(last).next();
                    key.push(match first {
                        Some(write) => found.values[write].unwrap_or(0),
                        None => self.into.program.loc(word).init,
                    });
                    if last.count_ones() > 1 {
                        open.push((at, last));
                    }
                }
            }
        }
        let flow = self.record(&mut key, &open, found);
        self.into.key = key;
        flow
    }

    fn record(&mut self, key: &mut Vec<Value>, open: &[(usize, u64)], found: &Found<'_>) -> ControlFlow<()> {
        let Some((&(at, last), rest)) = open.split_first() else {
            return self.count(key, found);
        };
        // Equal values of several last writes are one state.
        let mut values: Vec<Value> = members(last).filter_map(|write| found.values[write]).collect();
        values.sort_unstable();
        values.dedup();
        for value in values {
            key[at] = value;
            self.record(key, rest, found)?;
        }
        ControlFlow::Continue(())
    }

    fn count(&mut self, key: &[Value], found: &Found<'_>) -> ControlFlow<()> {
        if let Some(outcome) = self.into.states.get_mut(key) {
            outcome.count += 1;
            return ControlFlow::Continue(());
        }
        if self.into.states.len() >= STATES_MAX {
            self.into.too_many_states = true;
            return ControlFlow::Break(());
        }
        // A few examples are enough.
        let example = (self.into.states.len() < 256).then(|| Box::new(Execution::of(self.skeleton, found)));
        self.into.states.insert(key.to_vec(), Outcome { count: 1, example });
        ControlFlow::Continue(())
    }
}
