//! Read-modify-writes as one event.
//!
//! Here a read-modify-write has two events, and a relation between them. In
//! herd that of a C test is a single one that reads and writes, and models
//! written for it cannot speak of halves. For such a model the half that
//! writes stands for both, and the half that reads is hidden.

use super::super::base;
use super::super::graph::{Graph, NodeId};
use super::super::value::{Bounds, Value};
use super::Stager;
use crate::exec::set::EventSet;

/// What the model sees of read-modify-writes.
#[derive(Clone, Copy, Debug)]
pub(super) struct Merged {
    /// All events but the hidden halves.
    pub(super) seen: NodeId,
    /// The halves that stand for both.
    updates: NodeId,
    /// From each event to the one that stands for it.
    shift: NodeId,
}

impl Stager<'_, '_, '_> {
    /// Hides the reading halves if the model needs it so.
    pub(super) fn hide_halves(&mut self) {
        if !self.model.merges_rmw || !base::has_c_updates(self.skeleton) {
            return;
        }
        let hidden = self.skeleton.set(|e| e.rmw && e.reads());
        let updates = self.skeleton.set(|e| e.rmw && e.writes());
        let all = EventSet::below(self.graph.events);
        let shift = self.skeleton.rmw.iter().enumerate();
        let shift =
            shift.map(|(event, &row)| if hidden.has(event) { row } else { EventSet::only(event) }).collect();
        self.merged = Some(Merged {
            seen: self.graph.constant(true, vec![all & !hidden]),
            updates: self.graph.constant(true, vec![updates]),
            shift: self.graph.constant(false, shift),
        });
    }

    /// What the tool's own name stands for, without the hidden halves.
    pub(super) fn merge(&mut self, name: &str, value: Value) -> Value {
        let Some(Merged { seen, updates, shift }) = self.merged else { return value };
        let exact = Bounds::exact;
        match value {
            Value::Set(set) => {
                let set = if name == "R" { self.both(set, exact(updates), Graph::union) } else { set };
                Value::Set(self.both(set, exact(seen), Graph::inter))
            }
            Value::Rel(rel) => {
                let all = self.full(false);
                let (from, to) = match name {
                    "rf" | "rfi" | "rfe" => (false, true),
                    "fr" | "fri" | "fre" => (true, false),
                    "com" | "addr" | "data" | "ctrl" => (true, true),
                    _ => return Value::Rel(self.both(rel, all, Graph::inter)),
                };
                let mut rel = rel;
                if to {
                    rel = self.both(rel, exact(shift), Graph::seq);
                }
                if from {
                    let back = self.graph.inverse(shift);
                    rel = self.both(exact(back), rel, Graph::seq);
                    let own = self.graph.identity_on(updates);
                    rel = self.less(rel, exact(own));
                }
                Value::Rel(self.both(rel, all, Graph::inter))
            }
            other => other,
        }
    }
}
