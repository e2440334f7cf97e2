//! Collects the results of a search: final states, witnesses, flags.

use std::collections::BTreeMap;
use std::ops::ControlFlow;

use crate::exec::event::Event;
use crate::exec::set::{EventSet, Word, members};
use crate::exec::skeleton::Skeleton;
use crate::exec::sym::Unknown;
use crate::program::{LocId, Program, Term, Value};

use super::execution::{Execution, pairs};
use super::search::{AllowedExecution, Visitor};

/// The maximum number of distinct final states. The constant `VALUES_MAX` bounds the total number
/// of values in these states.
const STATES_MAX: usize = 200_000;
const VALUES_MAX: usize = 2_000_000;
/// The maximum number of final states for which an execution is kept as an example.
const EXAMPLES_MAX: usize = 256;

/// A final state, with the number of executions that end in it.
#[derive(Clone, Debug)]
pub(crate) struct Outcome {
    /// The number of executions with this state.
    pub(crate) count: u64,
    /// One of the executions that end in this state.
    pub(crate) example: Option<Box<Execution>>,
}

/// A flag that holds on some execution.
#[derive(Clone, Debug)]
pub(crate) struct Flagged {
    pub(crate) count: u64,
    /// The first execution on which the flag holds. `pairs` has the pairs of the flag's relation in
    /// this execution.
    pub(crate) example: Execution,
    pub(crate) pairs: Vec<(usize, usize)>,
    /// Whether some thread does not end in the execution `example`: at the end, this thread waits
    /// at an `await` or a barrier, or repeats a loop without an effect.
    pub(crate) waits: bool,
}

/// The results of a search for one program.
pub(crate) struct Outcomes<'o> {
    /// The registers and locations (terms) whose values form a final state. The terms that the test
    /// shows come first. Only the filter of the test uses the terms after them.
    pub(crate) terms: Vec<Term>,
    pub(crate) shown: usize,
    pub(crate) states: BTreeMap<Vec<Value>, Outcome>,
    /// The flags that hold on some execution, by the number of their check.
    pub(crate) flags: BTreeMap<usize, Flagged>,
    pub(crate) fault: Option<(&'static str, u32)>,
    pub(crate) divergent: bool,
    /// Whether some execution ends with a thread that waits at a barrier for ever.
    pub(crate) stuck: bool,
    /// The threads that never terminate, whatever the other threads do.
    pub(crate) non_terminating: Vec<usize>,
    pub(crate) too_many_states: bool,
    pub(crate) stopped: bool,
    stop: &'o mut dyn FnMut() -> bool,
}

impl<'o> Outcomes<'o> {
    pub(crate) fn new(program: &Program, stop: &'o mut dyn FnMut() -> bool) -> Outcomes<'o> {
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
            terms,
            shown,
            states: BTreeMap::new(),
            flags: BTreeMap::new(),
            fault: None,
            divergent: false,
            stuck: false,
            non_terminating: Vec::new(),
            too_many_states: false,
            stopped: false,
            stop,
        }
    }
}

impl Outcomes<'_> {
    /// Asks the caller whether the search should stop. Returns the answer, and records it in the
    /// field `stopped`.
    pub(crate) fn is_stopped(&mut self) -> bool {
        let stop = (self.stop)();
        self.stopped |= stop;
        stop
    }
}

/// A visitor that adds the results of one skeleton (the events of one path through each thread) to
/// the results of the program.
pub(crate) struct OutcomeVisitor<'a, 's, 'p, 'o> {
    pub(crate) skeleton: &'s Skeleton<'p>,
    pub(crate) into: &'a mut Outcomes<'o>,
    /// Whether the visitor receives executions in which some thread does not end (it waits, or
    /// repeats a loop without an effect). Of such executions the visitor records only the flags,
    /// not the final states.
    pub(crate) waits: bool,
    /// The reads whose values can change a final state.
    observed: EventSet,
}

impl<'a, 's, 'p, 'o> OutcomeVisitor<'a, 's, 'p, 'o> {
    pub(crate) fn new(skeleton: &'s Skeleton<'p>, into: &'a mut Outcomes<'o>, waits: bool) -> Self {
        let mut observed = EventSet::EMPTY;
        for term in &into.terms {
            if let Term::Reg(thread, reg) = *term {
                let base = skeleton.base[usize::from(thread.0)];
                let value = &skeleton.registers[usize::from(thread.0)][usize::from(reg.0)];
                members(value.reads()).for_each(|read| observed.insert(base + read));
            }
        }
        OutcomeVisitor { skeleton, into, waits, observed }
    }
}

impl Visitor for OutcomeVisitor<'_, '_, '_, '_> {
    fn execution<W: Word>(&mut self, found: &AllowedExecution<'_, W>) -> ControlFlow<()> {
        if let Some(fault) = self.skeleton.fault {
            self.into.fault.get_or_insert(fault);
            return ControlFlow::Continue(());
        }
        if self.skeleton.divergent {
            self.into.divergent = true;
            return ControlFlow::Continue(());
        }
        self.into.stuck |= self.skeleton.stuck && !self.waits;
        if !self.passes(found) {
            return ControlFlow::Continue(());
        }
        let waits = self.waits;
        for (check, rows) in found.flags {
            let events = self.skeleton.len();
            self.into
                .flags
                .entry(*check)
                .and_modify(|flagged| flagged.count = flagged.count.saturating_add(found.weight))
                .or_insert_with(|| {
                    let example = Execution::of(self.skeleton, found);
                    Flagged { count: found.weight, example, pairs: pairs(rows, events), waits }
                });
        }
        if waits { ControlFlow::Continue(()) } else { self.state(found) }
    }

    fn observes(&self, read: usize) -> bool {
        self.observed.has(read)
    }

    fn stop(&mut self) -> bool {
        self.into.is_stopped()
    }

    fn wants_flag(&self, check: usize) -> bool {
        !self.into.flags.contains_key(&check)
    }
}

impl OutcomeVisitor<'_, '_, '_, '_> {
    /// Whether the execution has a final state that the test's filter accepts.
    fn passes<W: Word>(&self, found: &AllowedExecution<'_, W>) -> bool {
        let Some(filter) = &self.skeleton.program.filter else { return true };
        let terms = &self.into.terms;
        let mut passes = false;
        let visited = final_states(self.skeleton, terms, found, &mut |key| {
            let mut value = |term: Term| match term {
                Term::Const(value) => value,
                term => terms.iter().position(|t| *t == term).map_or(0, |at| key[at]),
            };
            passes |= filter.holds(&mut value);
            ControlFlow::Continue(())
        });
        // If a final value does not exist, the execution passes. Its fault is reported later.
        passes || visited.is_err()
    }

    /// Records the final states of an execution.
    fn state<W: Word>(&mut self, found: &AllowedExecution<'_, W>) -> ControlFlow<()> {
        let terms = core::mem::take(&mut self.into.terms);
        let skeleton = self.skeleton;
        let flow = final_states(skeleton, &terms, found, &mut |key| self.count(key, found));
        self.into.terms = terms;
        match flow {
            Ok(flow) => flow,
            Err(DivisionByZero) => {
                self.into.fault.get_or_insert(("a division by zero", 0));
                ControlFlow::Continue(())
            }
        }
    }

    fn count<W: Word>(&mut self, key: &[Value], found: &AllowedExecution<'_, W>) -> ControlFlow<()> {
        if let Some(outcome) = self.into.states.get_mut(key) {
            outcome.count = outcome.count.saturating_add(found.weight);
            return ControlFlow::Continue(());
        }
        if self.into.states.len() >= STATES_MAX.min(VALUES_MAX / key.len().max(1)) {
            self.into.too_many_states = true;
            return ControlFlow::Break(());
        }
        // Only the first [`EXAMPLES_MAX`] states keep an execution as an example.
        let example =
            (self.into.states.len() < EXAMPLES_MAX).then(|| Box::new(Execution::of(self.skeleton, found)));
        self.into.states.insert(key.to_vec(), Outcome { count: found.weight, example });
        ControlFlow::Continue(())
    }
}

/// The error for a final value that does not exist, because its computation divides by zero.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct DivisionByZero;

/// Calls `visit` with the values of `terms` at the end of an execution. If the coherence order is
/// partial, a word may have several last writes. The execution then has one final state for each
/// choice of one last write for each word.
pub(crate) fn final_states<W: Word>(
    skeleton: &Skeleton<'_>,
    terms: &[Term],
    found: &AllowedExecution<'_, W>,
    visit: &mut dyn FnMut(&[Value]) -> ControlFlow<()>,
) -> Result<ControlFlow<()>, DivisionByZero> {
    let mut key: Vec<Value> = Vec::with_capacity(terms.len());
    let mut open: Vec<(usize, LocId, EventSet)> = Vec::new();
    for (at, &term) in terms.iter().enumerate() {
        match term {
            Term::Const(value) => key.push(value),
            Term::Reg(thread, reg) => {
                let thread = usize::from(thread.0);
                let base = skeleton.base[thread];
                let sym = &skeleton.registers[thread][usize::from(reg.0)];
                match sym.eval(&|event| found.values[base + usize::from(event)]) {
                    Ok(value) => key.push(value),
                    Err(Unknown::Yet) => key.push(0),
                    Err(Unknown::Never) => return Err(DivisionByZero),
                }
            }
            Term::Loc(loc) => {
                let word = skeleton.program.loc(loc).physical;
                let is_last = |(i, e): &(usize, &Event)| {
                    e.writes() && skeleton.word(e) == Some(word) && found.co[*i].is_empty()
                };
                let last: EventSet =
                    skeleton.events.iter().enumerate().filter(is_last).map(|(i, _)| i).collect();
                let first = last.first();
                key.push(match first {
                    Some(write) => found.values[write].unwrap_or(0),
                    None => skeleton.program.loc(word).init,
                });
                if last.count() > 1 {
                    open.push((at, word, last));
                }
            }
        }
    }
    Ok(choose_last(&mut key, &open, found, visit))
}

/// Enumerates the choices of a last write for each word. All names of one word get the value of the
/// same last write.
fn choose_last<W: Word>(
    key: &mut Vec<Value>,
    open: &[(usize, LocId, EventSet)],
    found: &AllowedExecution<'_, W>,
    visit: &mut dyn FnMut(&[Value]) -> ControlFlow<()>,
) -> ControlFlow<()> {
    let Some(&(_, word, last)) = open.first() else { return visit(key) };
    let (same, rest): (Vec<_>, Vec<_>) = open.iter().copied().partition(|&(_, other, _)| other == word);
    // Last writes with equal values give the same final state, so each value is tried once.
    let mut values: Vec<Value> = members(last).filter_map(|write| found.values[write]).collect();
    values.sort_unstable();
    values.dedup();
    for value in values {
        for &(at, _, _) in &same {
            key[at] = value;
        }
        choose_last(key, &rest, found, visit)?;
    }
    ControlFlow::Continue(())
}
