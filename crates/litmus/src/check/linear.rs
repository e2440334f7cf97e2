//! Linear checks: checks of the form `acyclic (known | rf | co | fr)`, where `known` depends on no
//! choice of the search. Checks of sequential consistency, coherence and TSO have this form.
//!
//! The search keeps the transitive closure of the relation and updates the closure for each new
//! edge, instead of evaluating the check again. The search does not make a choice whose edge would
//! close a cycle.

use crate::cat::ast::CheckKind;
use crate::cat::graph::{Chosen, Graph, NodeId, Op};
use crate::cat::stage::StagedCheck;
use crate::exec::matrix;
use crate::exec::set::{EventSet, Word, members};

/// A linear check: a check of the form `acyclic (known | rf | co | fr)`.
#[derive(Clone, Debug)]
pub(crate) struct Linear<W> {
    /// The candidates for reads-from edges: pairs that become edges of the checked relation when
    /// they become pairs of reads-from. The fields `co` and `fr` hold the candidates for coherence
    /// edges and for from-reads edges.
    rf: Vec<EventSet<W>>,
    co: Vec<EventSet<W>>,
    fr: Vec<EventSet<W>>,
    /// The inverse of `rf`: for each read, the writes that have a pair with this read in `rf`.
    rf_into: Vec<EventSet<W>>,
    /// The transitive closure of the edges that the checked relation has so far.
    pub(crate) closure: Vec<EventSet<W>>,
}

impl<W: Word> Linear<W> {
    /// Converts a check to the linear form `acyclic (known | rf | co | fr)`. `None` if the check
    /// does not have this form. A flag or a negated check does not have it.
    pub(crate) fn of(graph: &Graph<W>, check: &StagedCheck) -> Option<Linear<W>> {
        if check.kind != CheckKind::Acyclic || check.negated || check.flag {
            return None;
        }
        let n = graph.events;
        let mut of = Linear {
            rf: vec![EventSet::EMPTY; n],
            co: vec![EventSet::EMPTY; n],
            fr: vec![EventSet::EMPTY; n],
            rf_into: vec![EventSet::EMPTY; n],
            closure: vec![EventSet::EMPTY; n],
        };
        let root = match graph.node(check.low).op {
            // A relation is acyclic exactly if its transitive closure is, so the closure is
            // ignored.
            Op::Plus(inner) => inner,
            _ => check.low,
        };
        let everything = vec![EventSet::below(n); n];
        if !of.take(graph, root, &everything) {
            return None;
        }
        matrix::close(&mut of.closure);
        for (write, row) in of.rf.iter().enumerate() {
            members(*row).for_each(|read| of.rf_into[read].insert(write));
        }
        Some(of)
    }

    /// Adds the pairs of the node `id`, one term of the union that the check examines. Adds only
    /// pairs that the relation `within` contains. Returns false if the term has a form that a
    /// linear check cannot have.
    fn take(&mut self, graph: &Graph<W>, id: NodeId, within: &[EventSet<W>]) -> bool {
        let and = |rows: &[EventSet<W>]| -> Vec<EventSet<W>> {
            within.iter().zip(rows).map(|(&w, &row)| w & row).collect()
        };
        if graph.is_static(id) {
            self.closure.iter_mut().zip(and(graph.value(id))).for_each(|(c, row)| *c |= row);
            return true;
        }
        match graph.node(id).op {
            Op::Union(a, b) => self.take(graph, a, within) && self.take(graph, b, within),
            Op::Inter(a, b) if graph.is_static(a) => self.take(graph, b, &and(graph.value(a))),
            Op::Inter(a, b) if graph.is_static(b) => self.take(graph, a, &and(graph.value(b))),
            Op::Minus(a, b) if graph.is_static(b) => {
                let rest: Vec<EventSet<W>> = graph.value(b).iter().map(|&row| !row).collect();
                self.take(graph, a, &and(&rest))
            }
            Op::Chosen(chosen, false) => {
                let part = match chosen {
                    Chosen::Rf => &mut self.rf,
                    Chosen::Co => &mut self.co,
                    Chosen::Fr => &mut self.fr,
                    Chosen::SyncFence | Chosen::With(_) => return false,
                };
                part.iter_mut().zip(within).for_each(|(part, &row)| *part |= row);
                true
            }
            _ => false,
        }
    }

    /// Whether the checked relation is acyclic before the search makes its first choice.
    pub(crate) fn starts_acyclic(&self) -> bool {
        matrix::is_irreflexive(&self.closure)
    }

    /// Adds one edge to the checked relation. Returns false if the edge closes a cycle.
    #[inline]
    fn add(&mut self, from: usize, to: usize) -> bool {
        if from == to || self.closure[to].has(from) {
            return false;
        }
        if self.closure[from].has(to) {
            return true;
        }
        let reached = self.closure[to].with(to);
        self.closure[from] |= reached;
        for row in &mut self.closure {
            *row |= reached.when(row.has(from));
        }
        true
    }

    /// Adds the edge for the choice that `read` reads from `write`. Returns false if the edge
    /// closes a cycle.
    #[inline]
    pub(crate) fn add_rf(&mut self, write: usize, read: usize) -> bool {
        !self.rf[write].has(read) || self.add(write, read)
    }

    /// Adds the edges for the choice that `first` precedes each write of `later` in coherence
    /// order. Returns false if one of the edges closes a cycle.
    #[inline]
    pub(crate) fn add_co(&mut self, first: usize, later: EventSet<W>) -> bool {
        self.add_all(first, later & self.co[first])
    }

    /// Adds from-reads edges from `read` to each write of `later`. The caller guarantees that these
    /// writes follow, in coherence order, the write that `read` reads. Returns false if an edge
    /// closes a cycle.
    #[inline]
    pub(crate) fn add_fr(&mut self, read: usize, later: EventSet<W>) -> bool {
        self.add_all(read, later & self.fr[read])
    }

    #[inline]
    fn add_all(&mut self, from: usize, to: EventSet<W>) -> bool {
        let mut left = to & !self.closure[from];
        if to.has(from) {
            return false;
        }
        while let Some(next) = left.first() {
            if !self.add(from, next) {
                return false;
            }
            left &= !self.closure[from].with(next);
        }
        true
    }

    /// Returns two sets of writes. For a write of the first set, the reads-from edge from the write
    /// to `read` would close a cycle. For a write of the second set, the from-reads edge from
    /// `read` to the write would close a cycle.
    #[inline]
    pub(crate) fn closed_to(&self, read: usize) -> (EventSet<W>, EventSet<W>) {
        let mut earlier = EventSet::EMPTY;
        for (event, row) in self.closure.iter().enumerate() {
            earlier |= EventSet::only(event).when(row.has(read));
        }
        (self.closure[read] & self.rf_into[read], earlier & self.fr[read])
    }

    /// Whether the check holds for every choice of writes for the open reads. An open read is a
    /// read whose write is not decided. Its entry in `open` lists the writes that it may read. `co`
    /// is the coherence order.
    ///
    /// Each choice adds edges to the relation. The function adds edges for all choices at once to
    /// the transitive closure, and tests whether the result is acyclic. It adds three kinds of
    /// edges:
    ///
    /// * from a possible write to the successors of the read;
    /// * from the read to each write that follows a possible write in coherence order;
    /// * from a possible write to each write that follows the possible write in coherence order:
    ///   this edge stands for the path from the one write to the other over the read.
    pub(crate) fn holds_for_all(&self, open: &[(usize, EventSet<W>)], co: &[EventSet<W>]) -> bool {
        let mut may = self.closure.clone();
        for &(read, writes) in open {
            for write in members(writes) {
                let behind = co[write] & self.fr[read];
                may[read] |= behind;
                if self.rf[write].has(read) {
                    may[write] |= self.closure[read] | behind;
                }
            }
        }
        matrix::is_acyclic(&may)
    }

    /// Whether the choice that `first` precedes `later` in coherence order would close a cycle.
    #[inline]
    pub(crate) fn refuses_co(&self, first: usize, later: usize) -> bool {
        self.co[first].has(later) && self.closure[later].has(first)
    }
}
