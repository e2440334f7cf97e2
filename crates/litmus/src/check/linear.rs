//! Checks of the form `acyclic (known | rf | co | fr)`, kept up to date edge by
//! edge instead of being evaluated again.
//!
//! The transitive closure is maintained; an edge that would close a cycle is
//! refused. Sequential consistency, coherence and TSO are of this form.

use crate::cat::ast::CheckKind;
use crate::cat::graph::{Chosen, Graph, NodeId, Op};
use crate::cat::stage::StagedCheck;
use crate::exec::matrix;

/// One such check.
#[derive(Clone, Debug)]
pub(crate) struct Linear {
    /// Which part of each choice the relation holds.
    rf: Vec<u64>,
    co: Vec<u64>,
    fr: Vec<u64>,
    /// The relation so far, closed.
    pub(crate) closure: Vec<u64>,
}

impl Linear {
    /// The check in this form, if it has it. None also if a flag or a negation
    /// asks for more than an incremental check can tell.
    pub(crate) fn of(graph: &Graph, check: &StagedCheck) -> Option<Linear> {
        if check.kind != CheckKind::Acyclic || check.negated || check.flag {
            return None;
        }
        let n = graph.events;
        let mut of = Linear { rf: vec![0; n], co: vec![0; n], fr: vec![0; n], closure: vec![0; n] };
        let root = match graph.node(check.low).op {
            // The closure of a relation has the same cycles.
            Op::Plus(inner) => inner,
            _ => check.low,
        };
        if !of.take(graph, root) {
            return None;
        }
        matrix::close(&mut of.closure);
        Some(of)
    }

    /// Adds a term of the union; false if it is of another form.
    fn take(&mut self, graph: &Graph, id: NodeId) -> bool {
        if graph.is_static(id) {
            self.closure.iter_mut().zip(graph.value(id)).for_each(|(c, row)| *c |= row);
            return true;
        }
        match graph.node(id).op {
            Op::Union(a, b) => self.take(graph, a) && self.take(graph, b),
            Op::Chosen(chosen, false) => self.mask(chosen, None),
            Op::Inter(a, b) => match (graph.node(a).op, graph.node(b).op) {
                (Op::Chosen(chosen, false), _) if graph.is_static(b) => {
                    self.mask(chosen, Some(graph.value(b)))
                }
                (_, Op::Chosen(chosen, false)) if graph.is_static(a) => {
                    self.mask(chosen, Some(graph.value(a)))
                }
                _ => false,
            },
            _ => false,
        }
    }

    fn mask(&mut self, chosen: Chosen, mask: Option<&[u64]>) -> bool {
        let all = matrix::all(self.closure.len());
        let part = match chosen {
            Chosen::Rf => &mut self.rf,
            Chosen::Co => &mut self.co,
            Chosen::Fr => &mut self.fr,
            Chosen::SyncFence | Chosen::With(_) => return false,
        };
        for (row, part) in part.iter_mut().enumerate() {
            *part |= mask.map_or(all, |mask| mask[row]);
        }
        true
    }

    /// Is the relation acyclic before anything is chosen?
    pub(crate) fn starts_acyclic(&self) -> bool {
        matrix::is_irreflexive(&self.closure)
    }

    /// Adds one edge; false if it closes a cycle.
    #[inline]
    fn add(&mut self, from: usize, to: usize) -> bool {
        if from == to || self.closure[to] >> from & 1 == 1 {
            return false;
        }
        if self.closure[from] >> to & 1 == 1 {
            return true;
        }
        let reached = self.closure[to] | 1 << to;
        self.closure[from] |= reached;
        for row in &mut self.closure {
            // All ones if this row reaches `from`, else zero.
            let reaches = (*row >> from & 1).wrapping_neg();
            *row |= reached & reaches;
        }
        true
    }

    /// Says that `read` reads from `write`.
    #[inline]
    pub(crate) fn add_rf(&mut self, write: usize, read: usize) -> bool {
        self.rf[write] >> read & 1 == 0 || self.add(write, read)
    }

    /// Says that `first` comes before each of `later` in coherence order.
    #[inline]
    pub(crate) fn add_co(&mut self, first: usize, later: u64) -> bool {
        self.add_all(first, later & self.co[first])
    }

    /// Says that what `read` reads comes before each of `later`.
    #[inline]
    pub(crate) fn add_fr(&mut self, read: usize, later: u64) -> bool {
        self.add_all(read, later & self.fr[read])
    }

    #[inline]
    fn add_all(&mut self, from: usize, to: u64) -> bool {
        let mut left = to & !self.closure[from];
        if to >> from & 1 == 1 {
            return false;
        }
        while left != 0 {
            let next = left.trailing_zeros() as usize;
            if !self.add(from, next) {
                return false;
            }
            left &= left - 1;
            left &= !self.closure[from];
        }
        true
    }
}
