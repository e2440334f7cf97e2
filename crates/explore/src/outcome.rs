//! The final states of a program.

use std::collections::BTreeSet;
use std::sync::Arc;

use litmus::program::{LocId, Prop, Term, Value};
use proto::{LineData, Protocol, Role, Width};

use crate::machine::Machine;
use crate::placement::WORD;

/// The values of the terms of a final state, in the order of
/// [`litmus::program::Program::state_terms`].
pub type Outcome = Vec<Value>;

/// What was left in a word: several values if several caches hold a last write.
fn finals<P: Protocol>(machine: &Machine<P>, state: &[u32], loc: LocId) -> Vec<Value> {
    let word = machine.code.word(loc);
    let nodes = machine.known.nodes;
    let mut found = BTreeSet::new();
    // Private caches are above the shared one, which is above memory.
    for is_private in [true, false] {
        for &part in &state[..nodes] {
            let part = machine.part(part);
            let kind = P::KINDS[usize::from(machine.controllers.nodes[usize::from(part.node)].kind)];
            if matches!(kind.role, Role::L1 | Role::Buffer) != is_private {
                continue;
            }
            for view in machine.controllers.views(part.station) {
                let mask = proto::ByteMask::range(word.offset, WORD);
                if view.line == word.line && view.dirty.overlaps(mask) {
                    found.insert(value(&view.data, word.offset));
                }
            }
        }
        if !found.is_empty() {
            return found.into_iter().collect();
        }
    }
    let line = machine.memory(state[nodes])[word.line.0 as usize];
    vec![value(machine.controllers.line_of(line), word.offset)]
}

fn value(line: &LineData, offset: usize) -> Value {
    (line.read(offset, Width::W4) as u32).cast_signed().into()
}

/// Is nothing under way, but threads that wait for one another?
pub(crate) fn is_at_rest<P: Protocol>(machine: &Machine<P>, state: &[u32]) -> bool {
    state[..machine.known.nodes].iter().all(|&part| {
        let part = machine.part(part);
        let idle = |(_, thread): &(u8, u32)| machine.thread(*thread).pending.is_empty();
        machine.controllers.look(part.station).unrest.is_none() && part.threads.iter().all(idle)
    })
}

/// The outcomes of a state in which the program has come to its end.
pub(crate) fn of<P: Protocol>(
    machine: &Machine<P>,
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
    let mut all: Vec<Outcome> = vec![Vec::new()];
    for term in &terms {
        let values = match *term {
            Term::Const(value) => vec![value],
            Term::Loc(loc) => finals(machine, state, loc),
            Term::Reg(thread, reg) => {
                let threads = state[..nodes].iter().flat_map(|&part| &machine.part(part).threads);
                let of = threads.into_iter().find(|(t, _)| *t == thread.0);
                let value = of.map(|&(_, s)| machine.thread(s).registers[usize::from(reg.0)]);
                vec![value.unwrap_or(0)]
            }
        };
        all = values
            .iter()
            .flat_map(|&value| {
                all.iter().map(move |outcome| outcome.iter().copied().chain([value]).collect())
            })
            .collect();
    }
    for mut outcome in all {
        if program.filter.as_ref().is_none_or(|filter| holds(filter, &terms, &outcome)) {
            outcome.truncate(shown.len());
            outcomes.insert(outcome);
        }
    }
    Ok(())
}

/// Has an outcome a property?
pub(crate) fn holds(prop: &Prop, terms: &[Term], outcome: &[Value]) -> bool {
    let mut value = |term| match term {
        Term::Const(value) => value,
        _ => terms.iter().position(|&t| t == term).map_or(0, |at| outcome[at]),
    };
    prop.holds(&mut value)
}
