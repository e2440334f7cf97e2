//! Conditions on final states.

use super::{BinaryOp, LocId, Reg, ThreadId, Value};

/// A term with a value in a final state.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum Term {
    /// A register of a thread.
    Reg(ThreadId, Reg),
    /// The term is the value of a location.
    Loc(LocId),
    /// The term is a number.
    Const(Value),
}

/// A proposition on a final state.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum Prop {
    /// The condition always holds.
    True,
    /// The condition never holds.
    False,
    /// A comparison; one of `==`, `!=`, `<`, `<=`, `>`, `>=`.
    Compare(Term, BinaryOp, Term),
    /// The negation of a condition.
    Not(Box<Prop>),
    /// All of these conditions hold.
    And(Vec<Prop>),
    /// At least one of these conditions holds.
    Or(Vec<Prop>),
    /// If the first condition holds, the second one holds, too.
    Implies(Box<Prop>, Box<Prop>),
}

/// The quantifier over final states.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum Quantifier {
    /// Some state has the property.
    Exists,
    /// No state has the property.
    NotExists,
    /// Every state has the property.
    Forall,
}

/// The condition of a test.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct Condition {
    /// The quantifier over final states.
    pub quantifier: Quantifier,
    /// The property of a final state.
    pub prop: Prop,
}

impl Prop {
    /// The condition `term == value`.
    #[must_use]
    pub const fn equals(term: Term, value: Value) -> Prop {
        Prop::Compare(term, BinaryOp::Eq, Term::Const(value))
    }

    /// Whether the proposition holds, given the value of each term.
    pub fn holds(&self, value: &mut dyn FnMut(Term) -> Value) -> bool {
        match self {
            Prop::True => true,
            Prop::False => false,
            Prop::Compare(a, op, b) => {
                let (a, b) = (value(*a), value(*b));
                op.apply(a, b).is_ok_and(|v| v != 0)
            }
            Prop::Not(p) => !p.holds(value),
            Prop::And(ps) => ps.iter().all(|p| p.holds(value)),
            Prop::Or(ps) => ps.iter().any(|p| p.holds(value)),
            Prop::Implies(a, b) => !a.holds(value) || b.holds(value),
        }
    }

    /// Adds every term to `terms`, in the order of the text.
    pub fn collect_terms(&self, terms: &mut Vec<Term>) {
        match self {
            Prop::True | Prop::False => {}
            Prop::Compare(a, _, b) => terms.extend([*a, *b]),
            Prop::Not(p) => p.collect_terms(terms),
            Prop::And(ps) | Prop::Or(ps) => ps.iter().for_each(|p| p.collect_terms(terms)),
            Prop::Implies(a, b) => [a, b].into_iter().for_each(|p| p.collect_terms(terms)),
        }
    }
}

impl Condition {
    /// Whether the condition is met. `some` says whether at least one final state has the property.
    /// `every` says whether all final states have the property.
    #[must_use]
    pub const fn verdict(&self, some: bool, every: bool) -> bool {
        match self.quantifier {
            Quantifier::Exists => some,
            Quantifier::NotExists => !some,
            Quantifier::Forall => every,
        }
    }
}
