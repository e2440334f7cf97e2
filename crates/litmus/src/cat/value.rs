//! The values that the expressions of a model have while the model is applied to a skeleton (the
//! events of one path through each thread).

use std::rc::Rc;

use super::ast::{Binding, Expr, Name, Pattern, Statement};
use super::graph::NodeId;

/// The low bound of a relation or set (the members that it certainly has) and its high bound (the
/// members that it may have in the end). The bounds are equal if the value depends on no choice of
/// the search.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Bounds {
    pub(crate) low: NodeId,
    pub(crate) high: NodeId,
}

impl Bounds {
    pub(crate) const fn exact(id: NodeId) -> Bounds {
        Bounds { low: id, high: id }
    }
}

/// The predefined functions of the language.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Builtin {
    Domain,
    Range,
    Classes,
    Linearisations,
    Cross,
    Union,
    /// `tag2scope('t)`: the pairs of events whose threads are in the same scope instance of level
    /// `t`.
    TagScope,
    /// `tag2events('t)`: the events with the annotation `t`.
    TagEvents,
    /// `generate_cos(r)`: the coherence orders that extend the relation `r`.
    GenerateCos,
    /// `generate_orders(s, r)`: the coherence orders of the writes in `s` that extend the relation
    /// `r`.
    GenerateOrders,
    /// `co_locs(r, sets)`: for each set, the total orders of its members that extend the relation
    /// `r`.
    CoLocs,
    /// `fromto(s)`: the pairs of events in program order that have an event of the set `s` between
    /// them.
    FromTo,
    /// `tag2fenced('t)`: the pairs of events in program order that have an event with the
    /// annotation `t` between them.
    TagFenced,
    /// `loc2events('x)`: the accesses of the location `x`.
    LocEvents,
    /// `fail`: the function by which a model raises an error.
    Fail,
}

impl Builtin {
    pub(crate) fn named(name: &str) -> Option<Builtin> {
        Some(match name {
            "domain" => Builtin::Domain,
            "range" => Builtin::Range,
            "classes" | "classes-loc" | "partition" => Builtin::Classes,
            "linearisations" => Builtin::Linearisations,
            "cross" => Builtin::Cross,
            "big-union" | "unions" => Builtin::Union,
            "tag2scope" | "tag2level" => Builtin::TagScope,
            "tag2events" | "tag2instrs" => Builtin::TagEvents,
            "generate_cos" | "allco" => Builtin::GenerateCos,
            "generate_orders" => Builtin::GenerateOrders,
            "co_locs" => Builtin::CoLocs,
            "fromto" => Builtin::FromTo,
            "tag2fenced" => Builtin::TagFenced,
            "loc2events" => Builtin::LocEvents,
            "fail" => Builtin::Fail,
            _ => return None,
        })
    }
}

/// A function that the model defines, with the names in scope at its definition.
#[derive(Debug)]
pub(crate) struct Closure {
    pub(crate) parameters: Vec<Pattern>,
    pub(crate) body: Expr,
    pub(crate) scope: Scope,
    /// All functions of the definition group (`let rec ... and ...`) that defines this function.
    /// This function may call them. `None` if the definition is not recursive.
    pub(crate) together: Option<Rc<Vec<Binding>>>,
    /// The index, in the list of the model's files, of the file that defines the function.
    pub(crate) file: usize,
}

/// A procedure that the model defines, with the names in scope at its definition.
#[derive(Debug)]
pub(crate) struct Procedure {
    pub(crate) pattern: Pattern,
    pub(crate) statements: Rc<Vec<Statement>>,
    pub(crate) scope: Scope,
    pub(crate) file: usize,
}

/// A value of the cat language.
#[derive(Clone, Debug)]
pub(crate) enum Value {
    /// `0`: the empty relation, the empty set and the empty set of sets.
    Nothing,
    /// `_`: all events, or all pairs.
    Everything,
    Rel(Bounds),
    Set(Bounds),
    /// The value is one event.
    Event(usize),
    /// The value is one pair of events.
    Pair(usize, usize),
    Tag(Rc<str>),
    Tuple(Rc<Vec<Value>>),
    /// A set of sets, of relations or of tags.
    Many(Rc<Vec<Value>>),
    Closure(Rc<Closure>),
    Procedure(Rc<Procedure>),
    Builtin(Builtin),
    /// The total orders of the set in the first field that extend the relation in the second field.
    Linearisations(Bounds, Bounds),
    /// The coherence orders of the writes in the first field that extend the relation in the second
    /// field. The search enumerates these orders.
    Coherence(Bounds, Bounds),
}

impl Value {
    /// The kind of the value, for error messages.
    pub(crate) const fn kind(&self) -> &'static str {
        match self {
            Value::Nothing => "`0`",
            Value::Everything => "`_`",
            Value::Rel(_) => "a relation",
            Value::Set(_) => "a set of events",
            Value::Event(_) => "an event",
            Value::Pair(..) => "a pair of events",
            Value::Tag(_) => "a tag",
            Value::Tuple(_) => "a tuple",
            Value::Many(_) => "a set of values",
            Value::Closure(_) | Value::Builtin(_) => "a function",
            Value::Procedure(_) => "a procedure",
            Value::Linearisations(..) | Value::Coherence(..) => "a choice of orders",
        }
    }
}

/// The names in scope, with their values. This is a linked list, so the functions that the model
/// defines can share its tail.
#[derive(Clone, Debug, Default)]
pub(crate) struct Scope(Option<Rc<Entry>>);

#[derive(Debug)]
struct Entry {
    name: Name,
    value: Value,
    next: Scope,
}

impl Scope {
    pub(crate) fn with(&self, name: Name, value: Value) -> Scope {
        Scope(Some(Rc::new(Entry { name, value, next: self.clone() })))
    }

    pub(crate) fn find(&self, name: Name) -> Option<&Value> {
        let mut at = self;
        while let Some(entry) = &at.0 {
            if entry.name == name {
                return Some(&entry.value);
            }
            at = &entry.next;
        }
        None
    }
}

impl Drop for Scope {
    /// Frees the links of the list in a loop. The default drop is recursive, so a long list would
    /// overflow the stack.
    fn drop(&mut self) {
        let mut next = self.0.take();
        while let Some(entry) = next {
            match Rc::try_unwrap(entry) {
                Ok(mut entry) => next = entry.next.0.take(),
                Err(_) => return,
            }
        }
    }
}
