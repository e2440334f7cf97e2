//! Presents a read-modify-write to a model as one event.
//!
//! In this crate a read-modify-write has two events, and a relation between them. In herd, a
//! read-modify-write of a C test is one event that reads and writes, and models for herd rely on
//! that. For such a model the write stands for both events, and the read is hidden.

use super::super::base;
use super::super::graph::{Graph, NodeId};
use super::super::value::{Bounds, Value};
use super::Stager;
use crate::exec::set::EventSet;

/// The sets of events that a model sees if read-modify-writes are one event.
#[derive(Clone, Copy, Debug)]
pub(super) struct Merged {
    /// The set of all events except the hidden reads.
    pub(super) visible: NodeId,
    /// The writes of read-modify-writes. Such a write stands for both events of its
    /// read-modify-write.
    writes: NodeId,
    /// The relation from each event to the event that stands for it: a hidden read to the write of
    /// its read-modify-write, and each other event to itself.
    shift: NodeId,
}

impl Stager<'_, '_, '_> {
    /// Hides the reads of read-modify-writes if the model expects a read-modify-write to be one
    /// event.
    pub(super) fn hide_halves(&mut self) {
        if !self.model.merges_rmw || !base::has_c_rmws(self.skeleton) {
            return;
        }
        let hidden = self.skeleton.set(|e| e.rmw && e.reads());
        let writes = self.skeleton.set(|e| e.rmw && e.writes());
        let all = EventSet::below(self.graph.events);
        let shift = self.skeleton.rmw.iter().enumerate();
        let shift =
            shift.map(|(event, &row)| if hidden.has(event) { row } else { EventSet::only(event) }).collect();
        self.merged = Some(Merged {
            visible: self.graph.constant(true, vec![all & !hidden]),
            writes: self.graph.constant(true, vec![writes]),
            shift: self.graph.constant(false, shift),
        });
    }

    /// Adapts `value`, the value of the predefined name `name`, to merged events: the write of a
    /// read-modify-write takes the place of its hidden read, and the hidden reads are removed.
    pub(super) fn merge(&mut self, name: &str, value: Value) -> Value {
        let Some(Merged { visible, writes, shift }) = self.merged else { return value };
        let exact = Bounds::exact;
        match value {
            Value::Set(set) => {
                let set = if name == "R" { self.both(set, exact(writes), Graph::union) } else { set };
                Value::Set(self.both(set, exact(visible), Graph::inter))
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
                    let own = self.graph.identity_on(writes);
                    rel = self.minus(rel, exact(own));
                }
                Value::Rel(self.both(rel, all, Graph::inter))
            }
            other => other,
        }
    }
}
