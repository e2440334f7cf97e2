//! Linear checks: checks of the form `acyclic (known | rf | co | fr)`. They are updated
//! edge by edge instead of evaluated again.
//!
//! The transitive closure is maintained. An edge that would close a cycle is refused.
//! Sequential consistency, coherence and TSO have this form.

use crate::cat::ast::CheckKind;
use crate::cat::graph::{Chosen, Graph, NodeId, Op};
use crate::cat::stage::StagedCheck;
use crate::exec::matrix;
use crate::exec::set::{EventSet, Word, members};

/// A check in linear form.
#[derive(Clone, Debug)]
pub(crate) struct Linear<W> {
    /// The pairs that belong to the relation if the search chooses them for reads-from. `co` has
    /// such pairs for the coherence order, and `fr` has them for from-reads.
    rf: Vec<EventSet<W>>,
    co: Vec<EventSet<W>>,
    fr: Vec<EventSet<W>>,
    /// The pairs of `rf` by read: for each read, the writes whose pair with the read is in `rf`.
    rf_into: Vec<EventSet<W>>,
    /// The transitive closure of the relation so far.
    pub(crate) closure: Vec<EventSet<W>>,
}

impl<W: Word> Linear<W> {
    /// The check in linear form, if it has that form. Flags and negated checks do not
    /// have it.
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
            // The closure of a relation has the same cycles.
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

    /// Adds the pairs of one term of the union, restricted to the pairs in the rows `within`.
    /// Returns false if the term has a form that a linear check cannot have.
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

    /// Whether the relation is acyclic before any choice.
    pub(crate) fn starts_acyclic(&self) -> bool {
        matrix::is_irreflexive(&self.closure)
    }

    /// Adds one edge. Returns false if it closes a cycle.
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
    /// order. Returns false if an edge closes a cycle.
    #[inline]
    pub(crate) fn add_co(&mut self, first: usize, later: EventSet<W>) -> bool {
        self.add_all(first, later & self.co[first])
    }

    /// Adds the from-reads edges from `read` to each write of `later`. The write that `read` reads
    /// precedes these writes in coherence order. Returns false if an edge closes a cycle.
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

    /// The writes that `read` cannot read from, and the writes that cannot follow the
    /// write that it reads.
    #[inline]
    pub(crate) fn closed_to(&self, read: usize) -> (EventSet<W>, EventSet<W>) {
        let mut earlier = EventSet::EMPTY;
        for (event, row) in self.closure.iter().enumerate() {
            earlier |= EventSet::only(event).when(row.has(read));
        }
        (self.closure[read] & self.rf_into[read], earlier & self.fr[read])
    }

    /// Whether the check holds for every choice of writes for the open reads. `co` is the coherence
    /// order.
    ///
    /// A cycle passes an open read in one of three ways: over known edges; from the write that the
    /// read reads to the known successors of the read; or from the known predecessors of the read
    /// to the writes after the write that the read reads. A cycle may also come from the write that
    /// the read reads and go on to a later write. For such a cycle, the function adds a direct edge
    /// from the one write to the other.
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
