//! Rules that the search derives from the checks of a model, so that it needs fewer decisions. A
//! rule says that the coherence order must order some writes, or that no write may come between the
//! read and the write of a read-modify-write, or that coherence edges follow from pairs that are
//! already known.

use crate::cat::ast::CheckKind;
use crate::cat::graph::{Chosen, Graph, NodeId, Op};
use crate::cat::stage::StagedCheck;
use crate::exec::event::Event;
use crate::exec::set::{EventSet, Word, members};
use crate::exec::skeleton::Skeleton;

/// An atomicity rule. In coherence order, no write of `between` may lie between the write that
/// `read` reads from and `write`.
#[derive(Clone, Copy, Debug)]
pub(super) struct Atomic<W> {
    pub(super) read: usize,
    pub(super) write: usize,
    pub(super) between: EventSet<W>,
}

/// The rules of one model for one skeleton (the events of one path through each thread).
#[derive(Clone, Debug, Default)]
pub(super) struct Rules<W> {
    /// For each write, the other writes to its word that the coherence order must order with it, in
    /// one direction or the other.
    pub(super) total: Vec<EventSet<W>>,
    pub(super) atomic: Vec<Atomic<W>>,
    /// Relations that the coherence order must contain, each with the number of the check that
    /// requires it.
    pub(super) within_co: Vec<(usize, NodeId)>,
}

impl<W: Word> Rules<W> {
    /// The rules before the checks of the model are examined. All writes to one word must be
    /// ordered, unless `partial` allows a partial coherence order.
    pub(super) fn none(same_word: &[EventSet<W>], partial: bool) -> Rules<W> {
        let others =
            |(write, row): (usize, &EventSet<W>)| if partial { EventSet::EMPTY } else { row.without(write) };
        Rules { total: same_word.iter().enumerate().map(others).collect(), ..Rules::default() }
    }

    /// Derives rules from a check. Returns true if the rules are equivalent to the check.
    pub(super) fn take(
        &mut self,
        graph: &Graph<W>,
        number: usize,
        check: &StagedCheck,
        same_word: &[EventSet<W>],
        on: &Skeleton<'_>,
    ) -> bool {
        if check.kind != CheckKind::Empty || check.negated || check.flag || graph.node(check.low).set {
            return false;
        }
        match graph.node(check.low).op {
            Op::Minus(ordered, by) if graph.is_static(ordered) && is_either_way(graph, by) => {
                self.order_all(graph.value(ordered), same_word)
            }
            Op::Minus(first, by) if graph.node(by).op == Op::Chosen(Chosen::Co, true) => {
                self.within_co.push((number, first));
                false
            }
            Op::Inter(a, b) if graph.is_static(a) => self.take_atomic(graph, a, b, on),
            Op::Inter(a, b) if graph.is_static(b) => self.take_atomic(graph, b, a, on),
            _ => false,
        }
    }

    /// Derives a rule from the check `empty ordered \ (co | co^-1)`: each pair of `ordered` must be
    /// in coherence order, in one direction or the other. Returns false if a pair does not consist
    /// of two writes to one word.
    fn order_all(&mut self, ordered: &[EventSet<W>], same_word: &[EventSet<W>]) -> bool {
        let fits = |(write, row): (usize, &EventSet<W>)| row.is_within(same_word[write].without(write));
        if !ordered.iter().enumerate().all(fits) {
            return false;
        }
        for (write, &row) in ordered.iter().enumerate() {
            self.total[write] |= row;
            members(row).for_each(|other| self.total[other].insert(write));
        }
        true
    }

    /// Derives a rule from the check `empty pairs & ((fr & a); (co & b))`. The rule is about pairs
    /// of a read and a write only, because a path `fr; co` leads from a read to a write. Returns
    /// false if the check does not have this form.
    fn take_atomic(&mut self, graph: &Graph<W>, pairs: NodeId, path: NodeId, on: &Skeleton<'_>) -> bool {
        let Op::Seq(fr, co) = graph.node(path).op else { return false };
        let (Some(fr), Some(co)) = (part_of(graph, fr, Chosen::Fr), part_of(graph, co, Chosen::Co)) else {
            return false;
        };
        let reads: EventSet<W> = on.set(Event::reads).narrow();
        let writes: EventSet<W> = on.set(Event::writes).narrow();
        for read in members(reads) {
            for write in members(graph.value(pairs)[read] & writes) {
                let between: EventSet<W> =
                    members(fr[read]).filter(|&other| other != write && co[other].has(write)).collect();
                if !between.is_empty() {
                    self.atomic.push(Atomic { read, write, between });
                }
            }
        }
        true
    }
}

/// Whether the node `id` is the relation `co | co^-1`.
fn is_either_way<W: Word>(graph: &Graph<W>, id: NodeId) -> bool {
    let is_co = |id: NodeId| graph.node(id).op == Op::Chosen(Chosen::Co, true);
    let is_back = |id: NodeId| matches!(graph.node(id).op, Op::Inverse(co) if is_co(co));
    match graph.node(id).op {
        Op::Union(a, b) => is_co(a) && is_back(b) || is_co(b) && is_back(a),
        _ => false,
    }
}

/// The relation `a`, if the node `id` has the form `chosen & a` and `a` depends on no choice.
/// `None` if the node does not have this form.
fn part_of<W: Word>(graph: &Graph<W>, id: NodeId, chosen: Chosen) -> Option<Vec<EventSet<W>>> {
    let masked = |part: Vec<EventSet<W>>, rows: &[EventSet<W>], keep: bool| -> Vec<EventSet<W>> {
        part.iter().zip(rows).map(|(&p, &row)| p & if keep { row } else { !row }).collect()
    };
    match graph.node(id).op {
        Op::Chosen(of, false) if of == chosen => Some(vec![EventSet::below(graph.events); graph.events]),
        Op::Inter(a, b) if graph.is_static(a) => {
            Some(masked(part_of(graph, b, chosen)?, graph.value(a), true))
        }
        Op::Inter(a, b) if graph.is_static(b) => {
            Some(masked(part_of(graph, a, chosen)?, graph.value(b), true))
        }
        Op::Minus(a, b) if graph.is_static(b) => {
            Some(masked(part_of(graph, a, chosen)?, graph.value(b), false))
        }
        _ => None,
    }
}
