//! The final states of a program.

use std::collections::BTreeSet;
use std::sync::Arc;

use litmus::program::{Prop, Term, Value};

use crate::machine::Machine;

/// The values of a final state: one value for each term (register or location), in the order of
/// [`litmus::program::Program::state_terms`].
pub type Outcome = Vec<Value>;

/// Whether all stations (controllers with their parked inputs) are at rest and no thread has an
/// operation under way. Threads may still wait for one another.
pub(crate) fn is_at_rest(machine: &Machine, state: &[u32]) -> bool {
    state[..machine.known.nodes].iter().all(|&part| {
        let part = machine.part(part);
        let idle = |(_, thread): &(u8, u32)| machine.thread(*thread).pending.is_empty();
        machine.controllers.look(part.station).unrest.is_none() && part.threads.iter().all(idle)
    })
}

/// Adds the outcome of a final state, in which the program has ended, to `outcomes`. Leaves out an
/// outcome that the filter of the test excludes.
pub(crate) fn of(
    machine: &mut Machine,
    state: &[u32],
    outcomes: &mut BTreeSet<Outcome>,
) -> Result<(), Arc<str>> {
    let nodes = machine.known.nodes;
    for &part in &state[..nodes] {
        if let Some(unrest) = &machine.controllers.look(machine.part(part).station).unrest {
            return Err(unrest.clone());
        }
    }
    let program = &machine.code.program;
    let shown = program.state_terms();
    let mut terms = shown.clone();
    if let Some(filter) = &program.filter {
        filter.collect_terms(&mut terms);
    }
    let memory = match terms.iter().any(|term| matches!(term, Term::Loc(_))) {
        true => machine.drained(state)?,
        false => Arc::default(),
    };
    let of = |term: &Term| match *term {
        Term::Const(value) => value,
        Term::Loc(loc) => {
            let word = machine.code.word(loc);
            word.read(machine.controllers.line_of(memory[word.line.0 as usize]))
        }
        Term::Reg(thread, reg) => {
            let threads = state[..nodes].iter().flat_map(|&part| &machine.part(part).threads);
            let of = threads.into_iter().find(|(t, _)| *t == thread.0);
            of.map_or(0, |&(_, s)| machine.thread(s).registers[usize::from(reg.0)])
        }
    };
    let mut outcome: Outcome = terms.iter().map(of).collect();
    let program = &machine.code.program;
    if program.filter.as_ref().is_none_or(|filter| holds(filter, &terms, &outcome)) {
        outcome.truncate(shown.len());
        outcomes.insert(outcome);
    }
    Ok(())
}

/// Whether an outcome satisfies a condition.
pub(crate) fn holds(prop: &Prop, terms: &[Term], outcome: &[Value]) -> bool {
    let mut value = |term| match term {
        Term::Const(value) => value,
        _ => terms.iter().position(|&t| t == term).map_or(0, |at| outcome[at]),
    };
    prop.holds(&mut value)
}
