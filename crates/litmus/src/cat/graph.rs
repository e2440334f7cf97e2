//! A model applied to one skeleton (the events of one path through each thread): a graph of
//! operations on bit matrices.
//!
//! Operations that depend on no choice of the search are computed while the graph is
//! built. Equal operations share a node. The search evaluates the other nodes
//! repeatedly, each only if its inputs changed.
//!
//! On an incomplete execution each relation has two bounds: the pairs that it certainly
//! contains (low), and the pairs that it may contain in the end (high). A node computes
//! one bound. On a complete execution the bounds are equal.

use std::collections::BTreeMap;

mod recursion;

use crate::exec::matrix;
use crate::exec::set::{EventSet, Word};
use crate::parse::Place;

/// A node of the graph, given by its number.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub(crate) struct NodeId(pub(crate) u32);

/// A relation that the search chooses, or that follows directly from the choices of the search.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub(crate) enum Chosen {
    /// The reads-from relation.
    Rf,
    /// The coherence order of the writes to each word.
    Co,
    /// From-reads: relates each read to the writes that follow, in coherence order, the write from
    /// which the read takes its value.
    Fr,
    /// The order of PTX's sequentially consistent fences.
    SyncFence,
    /// The value that the search chooses for a `with` statement, given by the number of this
    /// choice.
    With(u8),
}

/// The kinds of choices that a value depends on, one bit for each kind.
pub(crate) type Deps = u8;

/// The bit in [`Deps`] for values that depend on reads-from.
pub(crate) const DEP_RF: Deps = 1;
/// The bit in [`Deps`] for values that depend on the coherence order.
pub(crate) const DEP_CO: Deps = 2;
/// The bit in [`Deps`] for values that depend on the order of PTX's sequentially consistent fences.
pub(crate) const DEP_SYNC: Deps = 4;
/// The bit in [`Deps`] for values that depend on the choices of `with` statements.
pub(crate) const DEP_WITH: Deps = 8;
/// The bit in [`Deps`] for values that are exact only on complete executions.
pub(crate) const DEP_WHOLE: Deps = 16;

/// The operation of a node. Relations and sets share the operators.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub(crate) enum Op {
    /// A constant relation or set. The number is different for each constant.
    Const(u32),
    /// A relation that the search chooses. If the flag is true, the node has the high bound: the
    /// pairs that may belong to the relation. If the flag is false, the node has the low bound: the
    /// pairs that must belong to the relation.
    Chosen(Chosen, bool),
    /// The union `a | b`.
    Union(NodeId, NodeId),
    /// The intersection `a & b`.
    Inter(NodeId, NodeId),
    /// The difference `a \ b`.
    Minus(NodeId, NodeId),
    /// The composition `a ; b`.
    Seq(NodeId, NodeId),
    /// The inverse `a^-1`.
    Inverse(NodeId),
    /// The transitive closure `a+`.
    Plus(NodeId),
    /// The identity on a set, `[s]`.
    Identity(NodeId),
    /// The product `s * t`.
    Product(NodeId, NodeId),
    /// The set `domain(a)`: the events at the start of a pair of `a`.
    Domain(NodeId),
    /// The set `range(a)`: the events at the end of a pair of `a`.
    Range(NodeId),
    /// A variable of a recursive definition: the number of the definition, and the index of the
    /// variable in it.
    Var(u16, u16),
    /// The least solution for one variable of a recursive definition: the number of the definition,
    /// and the index of the variable in it.
    Fix(u16, u16),
}

/// A node: its operation and its properties.
#[derive(Clone, Debug)]
pub(crate) struct Node {
    pub(crate) op: Op,
    /// Whether the value of the node is a set.
    pub(crate) set: bool,
    pub(crate) deps: Deps,
    /// The unsolved recursive definitions that the node depends on, as a bit set.
    pub(crate) vars: u64,
    /// The index of the first row of the node's value in the arena, which is a list of the rows of
    /// all nodes.
    pub(crate) at: u32,
}

/// A recursive definition. Its values are the least solution of the equations `vars[k] =
/// bodies[k]`.
#[derive(Clone, Debug, Default)]
pub(crate) struct Group {
    pub(crate) vars: Vec<NodeId>,
    pub(crate) bodies: Vec<NodeId>,
    /// The nodes whose values depend on the variables of the definition (`vars`). Each node comes
    /// after its operands.
    pub(crate) inner: Vec<NodeId>,
    /// Whether the definition is monotone: no variable occurs in the right operand of a difference.
    pub(crate) monotone: bool,
    pub(crate) name: String,
    pub(crate) place: Place,
}

/// A model applied to one skeleton (the events of one path through each thread): a graph of
/// operations, with the values of its nodes.
#[derive(Clone, Debug)]
pub(crate) struct Graph<W = u128> {
    /// The number of events.
    pub(crate) events: usize,
    pub(crate) nodes: Vec<Node>,
    pub(crate) groups: Vec<Group>,
    pub(crate) arena: Vec<EventSet<W>>,
    known: BTreeMap<Op, NodeId>,
    constants: BTreeMap<(bool, Vec<EventSet<W>>), NodeId>,
    constant_count: u32,
}

/// A recursive definition whose iteration does not converge.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Diverges {
    /// The first name that the recursive definition defines.
    pub(crate) name: String,
    /// The place of the definition.
    pub(crate) place: Place,
}

/// The limit on the number of nodes of one graph.
pub(crate) const NODES_MAX: usize = 100_000;

impl<W: Word> Graph<W> {
    pub(crate) fn new(events: usize) -> Graph<W> {
        Graph {
            events,
            nodes: Vec::new(),
            groups: Vec::new(),
            arena: Vec::new(),
            known: BTreeMap::new(),
            constants: BTreeMap::new(),
            constant_count: 0,
        }
    }

    /// Converts the values to event sets of the word type `N`. The new graph can only be evaluated:
    /// nodes cannot be added to it.
    pub(crate) fn narrowed<N: Word>(self) -> Graph<N> {
        Graph {
            events: self.events,
            nodes: self.nodes,
            groups: self.groups,
            arena: self.arena.iter().map(|row| row.wide().narrow()).collect(),
            known: BTreeMap::new(),
            constants: BTreeMap::new(),
            constant_count: self.constant_count,
        }
    }

    pub(crate) fn node(&self, id: NodeId) -> &Node {
        &self.nodes[id.0 as usize]
    }

    fn size(&self, set: bool) -> usize {
        if set { 1 } else { self.events }
    }

    /// The value of a node: the rows of a relation, or one set.
    pub(crate) fn value(&self, id: NodeId) -> &[EventSet<W>] {
        let node = self.node(id);
        &self.arena[node.at as usize..node.at as usize + self.size(node.set)]
    }

    fn push(&mut self, op: Op, set: bool, deps: Deps, vars: u64) -> NodeId {
        let id = NodeId(self.nodes.len() as u32);
        let at = self.arena.len() as u32;
        self.arena.resize(self.arena.len() + self.size(set), EventSet::EMPTY);
        self.nodes.push(Node { op, set, deps, vars, at });
        id
    }

    /// The node of a constant relation or set. Equal constants share a node.
    pub(crate) fn constant(&mut self, set: bool, rows: Vec<EventSet<W>>) -> NodeId {
        if let Some(&id) = self.constants.get(&(set, rows.clone())) {
            return id;
        }
        let id = self.push(Op::Const(self.constant_count), set, 0, 0);
        self.constant_count += 1;
        let at = self.node(id).at as usize;
        self.arena[at..at + rows.len()].copy_from_slice(&rows);
        self.constants.insert((set, rows), id);
        id
    }

    pub(crate) fn empty(&mut self, set: bool) -> NodeId {
        let rows = vec![EventSet::EMPTY; self.size(set)];
        self.constant(set, rows)
    }

    pub(crate) fn full(&mut self, set: bool) -> NodeId {
        let rows = vec![EventSet::below(self.events); self.size(set)];
        self.constant(set, rows)
    }

    pub(crate) fn identity(&mut self) -> NodeId {
        let rows = (0..self.events).map(EventSet::only).collect();
        self.constant(false, rows)
    }

    /// Whether the value of the node depends on no choice of the search.
    pub(crate) fn is_static(&self, id: NodeId) -> bool {
        let node = self.node(id);
        node.deps == 0 && node.vars == 0
    }

    fn is_empty(&self, id: NodeId) -> bool {
        self.is_static(id) && matrix::is_empty(self.value(id))
    }

    fn is_full(&self, id: NodeId) -> bool {
        self.is_static(id) && self.value(id).iter().all(|&row| row == EventSet::below(self.events))
    }

    /// Returns the node for the operation `op` on `operands`. Adds the node if the graph has no
    /// such node. Computes its value at once if the value depends on no choice of the search.
    fn operate(&mut self, op: Op, set: bool, operands: &[NodeId]) -> NodeId {
        if let Some(&id) = self.known.get(&op) {
            return id;
        }
        let deps = operands.iter().fold(0, |deps, &id| deps | self.node(id).deps);
        let vars = operands.iter().fold(0, |vars, &id| vars | self.node(id).vars);
        let id = self.push(op, set, deps, vars);
        if deps == 0 && vars == 0 {
            self.compute(id);
            let rows = self.value(id).to_vec();
            // The value becomes a constant. If the graph has an equal constant, that constant's
            // node is used.
            self.nodes.pop();
            self.arena.truncate(self.arena.len() - rows.len());
            let constant = self.constant(set, rows);
            self.known.insert(op, constant);
            return constant;
        }
        self.known.insert(op, id);
        id
    }

    pub(crate) fn chosen(&mut self, chosen: Chosen, high: bool) -> NodeId {
        let op = Op::Chosen(chosen, high);
        if let Some(&id) = self.known.get(&op) {
            return id;
        }
        let deps = match chosen {
            Chosen::Rf => DEP_RF,
            Chosen::Co => DEP_CO,
            Chosen::Fr => DEP_RF | DEP_CO,
            Chosen::SyncFence => DEP_SYNC,
            Chosen::With(_) => DEP_WITH,
        };
        let id = self.push(op, false, deps, 0);
        self.known.insert(op, id);
        id
    }

    pub(crate) fn union(&mut self, a: NodeId, b: NodeId) -> NodeId {
        if a == b || self.is_empty(b) || self.is_full(a) {
            return a;
        }
        if self.is_empty(a) || self.is_full(b) {
            return b;
        }
        let set = self.node(a).set;
        self.operate(Op::Union(a.min(b), a.max(b)), set, &[a, b])
    }

    pub(crate) fn inter(&mut self, a: NodeId, b: NodeId) -> NodeId {
        if a == b || self.is_empty(a) || self.is_full(b) {
            return a;
        }
        if self.is_empty(b) || self.is_full(a) {
            return b;
        }
        let set = self.node(a).set;
        self.operate(Op::Inter(a.min(b), a.max(b)), set, &[a, b])
    }

    pub(crate) fn minus(&mut self, a: NodeId, b: NodeId) -> NodeId {
        let set = self.node(a).set;
        if a == b || self.is_full(b) {
            return self.empty(set);
        }
        if self.is_empty(a) || self.is_empty(b) {
            return a;
        }
        self.operate(Op::Minus(a, b), set, &[a, b])
    }

    pub(crate) fn seq(&mut self, a: NodeId, b: NodeId) -> NodeId {
        let identity = self.identity();
        if self.is_empty(a) || b == identity {
            return a;
        }
        if self.is_empty(b) || a == identity {
            return b;
        }
        if let Some(set) = self.static_identity(a) {
            let all = EventSet::below(self.events);
            let rows = (0..self.events).map(|row| all.when(set.has(row))).collect();
            let mask = self.constant(false, rows);
            return self.inter(mask, b);
        }
        if let Some(set) = self.static_identity(b) {
            let mask = self.constant(false, vec![set; self.events]);
            return self.inter(a, mask);
        }
        // `rf^-1 ; co` is the definition of from-reads, so the result is the node of from-reads.
        if let (Op::Inverse(rf), Op::Chosen(Chosen::Co, high)) = (self.node(a).op, self.node(b).op)
            && self.node(rf).op == Op::Chosen(Chosen::Rf, high)
        {
            return self.chosen(Chosen::Fr, high);
        }
        self.operate(Op::Seq(a, b), false, &[a, b])
    }

    /// The set `s`, if the node is an identity relation `[s]` and depends on no choice. `None` for
    /// any other node.
    fn static_identity(&self, id: NodeId) -> Option<EventSet<W>> {
        if !self.is_static(id) {
            return None;
        }
        let rows = self.value(id);
        let is_identity = rows.iter().enumerate().all(|(event, row)| row.without(event).is_empty());
        is_identity.then(|| matrix::range(rows))
    }

    pub(crate) fn inverse(&mut self, a: NodeId) -> NodeId {
        if let Op::Inverse(inner) = self.node(a).op {
            return inner;
        }
        self.operate(Op::Inverse(a), false, &[a])
    }

    pub(crate) fn plus(&mut self, a: NodeId) -> NodeId {
        // Both bounds of the coherence order are transitive, so each is its own closure.
        if matches!(self.node(a).op, Op::Plus(_) | Op::Chosen(Chosen::Co, _)) {
            return a;
        }
        self.operate(Op::Plus(a), false, &[a])
    }

    pub(crate) fn identity_on(&mut self, set: NodeId) -> NodeId {
        self.operate(Op::Identity(set), false, &[set])
    }

    pub(crate) fn product(&mut self, a: NodeId, b: NodeId) -> NodeId {
        self.operate(Op::Product(a, b), false, &[a, b])
    }

    pub(crate) fn domain(&mut self, a: NodeId) -> NodeId {
        self.operate(Op::Domain(a), true, &[a])
    }

    pub(crate) fn range(&mut self, a: NodeId) -> NodeId {
        self.operate(Op::Range(a), true, &[a])
    }

    /// Computes the value of a node from the values of its operands.
    #[inline]
    pub(crate) fn compute(&mut self, id: NodeId) {
        let Node { op, set, at, .. } = self.nodes[id.0 as usize];
        let at = at as usize;
        let size = self.size(set);
        let place = |id: NodeId| self.nodes[id.0 as usize].at as usize;
        let (before, rest) = match op {
            // These nodes are not computed from operands here. The body of an `Op::Fix` may lie
            // after the node in the arena, so the split below would not work for it.
            Op::Const(_) | Op::Chosen(..) | Op::Var(..) | Op::Fix(..) => return,
            _ => self.arena.split_at_mut(at),
        };
        let out = &mut rest[..size];
        match op {
            Op::Union(a, b) => {
                let (a, b) = (&before[place(a)..][..size], &before[place(b)..][..size]);
                out.iter_mut().zip(a).zip(b).for_each(|((o, &a), &b)| *o = a | b);
            }
            Op::Inter(a, b) => {
                let (a, b) = (&before[place(a)..][..size], &before[place(b)..][..size]);
                out.iter_mut().zip(a).zip(b).for_each(|((o, &a), &b)| *o = a & b);
            }
            Op::Minus(a, b) => {
                let (a, b) = (&before[place(a)..][..size], &before[place(b)..][..size]);
                out.iter_mut().zip(a).zip(b).for_each(|((o, &a), &b)| *o = a & !b);
            }
            Op::Seq(a, b) => {
                matrix::seq(out, &before[place(a)..][..size], &before[place(b)..][..size]);
            }
            Op::Inverse(a) => matrix::inverse(out, &before[place(a)..][..size]),
            Op::Plus(a) => {
                out.copy_from_slice(&before[place(a)..][..size]);
                matrix::close(out);
            }
            Op::Identity(s) => {
                let set = before[place(s)];
                out.iter_mut().enumerate().for_each(|(i, o)| *o = EventSet::only(i).when(set.has(i)));
            }
            Op::Product(s, t) => {
                let (s, t) = (before[place(s)], before[place(t)]);
                out.iter_mut().enumerate().for_each(|(i, o)| *o = t.when(s.has(i)));
            }
            Op::Domain(a) => out[0] = matrix::domain(&before[place(a)..][..self.events]),
            Op::Range(a) => out[0] = matrix::range(&before[place(a)..][..self.events]),
            Op::Const(_) | Op::Chosen(..) | Op::Var(..) | Op::Fix(..) => {}
        }
    }

    /// Computes the value of a node. If the node is a solution of a recursive definition, solves
    /// this definition first.
    pub(crate) fn refresh(&mut self, id: NodeId) -> Result<(), Diverges> {
        match self.node(id).op {
            Op::Fix(group, index) => {
                if index == 0 {
                    self.solve(group)?;
                }
                let var = self.groups[usize::from(group)].vars[usize::from(index)];
                let (from, to) = (self.node(var).at as usize, self.node(id).at as usize);
                let size = self.size(self.node(id).set);
                self.arena.copy_within(from..from + size, to);
                Ok(())
            }
            _ => {
                self.compute(id);
                Ok(())
            }
        }
    }

    /// Sets the value of a node that holds a choice of the search.
    pub(crate) fn set_value(&mut self, id: NodeId, rows: &[EventSet<W>]) {
        let at = self.node(id).at as usize;
        self.arena[at..at + rows.len()].copy_from_slice(rows);
    }

    /// The operands of a node.
    pub(crate) fn operands(&self, id: NodeId) -> Vec<NodeId> {
        match self.node(id).op {
            Op::Const(_) | Op::Chosen(..) | Op::Var(..) => Vec::new(),
            Op::Union(a, b) | Op::Inter(a, b) | Op::Minus(a, b) | Op::Seq(a, b) | Op::Product(a, b) => {
                vec![a, b]
            }
            Op::Inverse(a) | Op::Plus(a) | Op::Identity(a) | Op::Domain(a) | Op::Range(a) => vec![a],
            Op::Fix(group, _) => {
                let of = &self.groups[usize::from(group)];
                let bit = 1u64 << group;
                let reached = of
                    .inner
                    .iter()
                    .chain(&of.bodies)
                    .flat_map(|&id| self.operands(id))
                    .chain(of.bodies.iter().copied());
                reached.filter(|&id| self.node(id).vars & bit == 0).collect()
            }
        }
    }

    /// The nodes to compute again after a choice of the search has changed and before `roots` are
    /// read. Each node comes after its operands.
    pub(crate) fn plan(&self, roots: &[NodeId]) -> Vec<NodeId> {
        let mut needed = vec![false; self.nodes.len()];
        let mut left: Vec<NodeId> = roots.to_vec();
        while let Some(id) = left.pop() {
            let node = self.node(id);
            if needed[id.0 as usize] || node.deps == 0 {
                continue;
            }
            needed[id.0 as usize] = true;
            // All solutions of a recursive definition are computed together.
            if let Op::Fix(group, _) = node.op {
                let mates = self
                    .nodes
                    .iter()
                    .enumerate()
                    .filter(|(_, n)| matches!(n.op, Op::Fix(g, _) if g == group));
                left.extend(mates.map(|(i, _)| NodeId(i as u32)));
            }
            left.extend(self.operands(id));
        }
        (0..self.nodes.len() as u32).map(NodeId).filter(|id| needed[id.0 as usize]).collect()
    }
}
