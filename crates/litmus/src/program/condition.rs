//! Conditions on final states.

use super::{BinaryOp, LocId, Reg, ThreadId, Value};

/// A term of a condition: it has a value in each final state.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum Term {
    /// The final value of a thread's register.
    Reg(ThreadId, Reg),
    /// The final value of a location.
    Loc(LocId),
    /// The term is a constant number.
    Const(Value),
}

/// A proposition about one final state.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum Prop {
    /// The proposition always holds.
    True,
    /// The proposition never holds.
    False,
    /// A comparison of two terms by `==`, `!=`, `<`, `<=`, `>` or `>=`.
    Compare(Term, BinaryOp, Term),
    /// The negation of a proposition.
    Not(Box<Prop>),
    /// The conjunction: all of these propositions hold.
    And(Vec<Prop>),
    /// The disjunction: at least one of these propositions holds.
    Or(Vec<Prop>),
    /// The implication: if the first proposition holds, the second proposition holds too.
    Implies(Box<Prop>, Box<Prop>),
}

/// The quantifier of a test's condition. It says how many of the final states must have the
/// property of the condition.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum Quantifier {
    /// At least one final state has the property of the condition.
    Exists,
    /// No final state has the property of the condition.
    NotExists,
    /// Every final state has the property of the condition.
    Forall,
}

/// The condition of a test: a quantifier and a property of final states.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct Condition {
    /// The quantifier over final states.
    pub quantifier: Quantifier,
    /// The property that a final state may have.
    pub prop: Prop,
}

impl Prop {
    /// The proposition `term == value`.
    #[must_use]
    pub const fn equals(term: Term, value: Value) -> Prop {
        Prop::Compare(term, BinaryOp::Eq, Term::Const(value))
    }

    /// Whether the proposition holds in a final state. `value` returns the value of a term in that
    /// state.
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

    /// Adds every term of the proposition to `terms`, in the order in which the terms occur in the
    /// proposition.
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
    /// Whether the condition is met. `some` says whether at least one final state has the
    /// condition's property. `every` says whether all final states have it.
    #[must_use]
    pub const fn verdict(&self, some: bool, every: bool) -> bool {
        match self.quantifier {
            Quantifier::Exists => some,
            Quantifier::NotExists => !some,
            Quantifier::Forall => every,
        }
    }
}
