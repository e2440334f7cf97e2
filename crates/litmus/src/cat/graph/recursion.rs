//! Recursive definitions. Each definition equates every variable of a group with one expression
//! (the body of the variable). The values of the variables are the least solution of these
//! equations.

use crate::exec::set::{EventSet, Word};
use crate::parse::Place;

use super::{DEP_WHOLE, Diverges, Graph, Group, NodeId, Op};

/// The maximum number of recursive definitions in one graph.
const GROUPS_MAX: usize = 64;

impl<W: Word> Graph<W> {
    /// Opens a recursive definition with one variable for each entry of `sets`. An entry is true if
    /// its variable is a set, and false if its variable is a relation. Returns `None` if the graph
    /// has too many definitions.
    pub(crate) fn open_group(&mut self, name: &str, place: Place, sets: &[bool]) -> Option<u16> {
        if self.groups.len() >= GROUPS_MAX {
            return None;
        }
        let group = self.groups.len() as u16;
        let mut of = Group { name: name.to_owned(), place, monotone: true, ..Group::default() };
        for (index, &set) in sets.iter().enumerate() {
            of.vars.push(self.push(Op::Var(group, index as u16), set, 0, 1 << group));
        }
        self.groups.push(of);
        Some(group)
    }

    /// Closes the recursive definition `group`: `bodies` are the expressions of its variables.
    /// Returns the nodes of the variables' solutions.
    pub(crate) fn close_group(&mut self, group: u16, bodies: Vec<NodeId>) -> Result<Vec<NodeId>, Diverges> {
        let bit = 1u64 << group;
        let deps = bodies.iter().fold(0, |deps, &b| deps | self.node(b).deps);
        let outer = bodies.iter().fold(0, |vars, &b| vars | self.node(b).vars) & !bit;
        let inner = (0..self.nodes.len() as u32)
            .map(NodeId)
            .filter(|&id| self.node(id).vars & bit != 0 && !matches!(self.node(id).op, Op::Var(..)));
        let inner: Vec<_> = inner.collect();
        let monotone = self.is_monotone(group, &inner);
        let sets: Vec<_> = bodies.iter().map(|&b| self.node(b).set).collect();
        let of = &mut self.groups[usize::from(group)];
        (of.bodies, of.inner, of.monotone) = (bodies, inner, monotone);
        let whole = if monotone { 0 } else { DEP_WHOLE };
        let mut solutions: Vec<NodeId> = Vec::new();
        for (index, &set) in sets.iter().enumerate() {
            let deps = if deps == 0 { 0 } else { deps | whole };
            solutions.push(self.push(Op::Fix(group, index as u16), set, deps, outer));
        }
        if deps == 0 && outer == 0 {
            self.solve(group)?;
            for (index, solution) in solutions.iter_mut().enumerate() {
                let var = self.groups[usize::from(group)].vars[index];
                let rows = self.value(var).to_vec();
                *solution = self.constant(sets[index], rows);
            }
        }
        Ok(solutions)
    }

    /// Whether the definition is monotone: none of its variables occurs in the right operand of a
    /// difference.
    fn is_monotone(&self, group: u16, inner: &[NodeId]) -> bool {
        let bit = 1u64 << group;
        inner.iter().all(|&id| match self.node(id).op {
            Op::Minus(_, b) => self.node(b).vars & bit == 0,
            _ => true,
        })
    }

    /// Solves the recursive definition `group`. The expressions of its variables may use nodes
    /// outside of the definition. The values of these nodes must be up to date before the call.
    pub(crate) fn solve(&mut self, group: u16) -> Result<(), Diverges> {
        let of = core::mem::take(&mut self.groups[usize::from(group)]);
        for &var in &of.vars {
            let (at, size) = (self.node(var).at as usize, self.size(self.node(var).set));
            self.arena[at..at + size].fill(EventSet::EMPTY);
        }
        // A monotone definition adds at least one pair in each round.
        let rounds_max = of.vars.len() * self.events * self.events + 2;
        let mut settled = false;
        for _ in 0..rounds_max {
            for &id in &of.inner {
                self.refresh(id)?;
            }
            let mut changed = false;
            for (&var, &body) in of.vars.iter().zip(&of.bodies) {
                let size = self.size(self.node(var).set);
                let (to, from) = (self.node(var).at as usize, self.node(body).at as usize);
                for row in 0..size {
                    let new = self.arena[from + row];
                    changed |= self.arena[to + row] != new;
                    self.arena[to + row] = new;
                }
            }
            if !changed {
                settled = true;
                break;
            }
        }
        let diverges = Diverges { name: of.name.clone(), place: of.place };
        self.groups[usize::from(group)] = of;
        if settled { Ok(()) } else { Err(diverges) }
    }
}
