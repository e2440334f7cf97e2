//! Evaluates expressions: names, sets, relations and operators.

use std::rc::Rc;

use crate::exec::set::{EventSet, members};
use crate::parse::{Place, TextError};

use super::super::ast::{Expr, Infix, Name, Node, Prefix};
use super::super::base::{self, Base};
use super::super::graph::{Chosen, Graph, NODES_MAX, NodeId};
use super::super::value::{Bounds, Builtin, Closure, Scope, Value};
use super::{Merged, Stager, WORK_MAX, same};

impl Stager<'_, '_, '_> {
    pub(super) fn expr(&mut self, expr: &Expr, scope: &Scope) -> Result<Value, TextError> {
        self.work += 1;
        if self.work > WORK_MAX || self.graph.nodes.len() > NODES_MAX {
            return self
                .fail(expr.place, "the model is too large, or one of its functions does not terminate");
        }
        match &*expr.node {
            Node::Name(name) => self.name(*name, scope, expr.place),
            Node::Nothing => Ok(Value::Nothing),
            Node::Everything => Ok(Value::Everything),
            Node::Tag(tag) => Ok(Value::Tag(tag.as_str().into())),
            Node::Set(members) => self.explicit_set(members, scope),
            Node::Tuple(members) => {
                let values = members.iter().map(|m| self.expr(m, scope)).collect::<Result<_, _>>()?;
                Ok(Value::Tuple(Rc::new(values)))
            }
            Node::Function(pattern, body) => Ok(Value::Closure(Rc::new(Closure {
                parameters: vec![pattern.clone()],
                body: body.clone(),
                scope: scope.clone(),
                together: None,
                file: self.file,
            }))),
            Node::Let(bindings, body) => {
                let inner = self.define(bindings, scope)?;
                self.expr(body, &inner)
            }
            Node::If(condition, then, other) => {
                let branch = if self.condition(condition, scope)? { then } else { other };
                self.expr(branch, scope)
            }
            Node::Try(first, second) => {
                let (file, calls) = (self.file, self.calls);
                self.expr(first, scope).or_else(|_| {
                    (self.file, self.calls) = (file, calls);
                    self.expr(second, scope)
                })
            }
            Node::Match(subject, arms) => self.matching(subject, arms, scope),
            Node::Apply(function, argument) => {
                let function_value = self.expr(function, scope)?;
                let argument = self.expr(argument, scope)?;
                self.apply(function_value, argument, expr.place)
            }
            Node::Prefix(op, operand) => {
                let value = self.expr(operand, scope)?;
                self.prefix(*op, value, operand.place)
            }
            Node::Infix(op, a, b) => {
                let left = self.expr(a, scope)?;
                let right = self.expr(b, scope)?;
                self.infix(*op, left, right, a.place, b.place)
            }
        }
    }

    pub(super) fn name(&mut self, name: Name, scope: &Scope, place: Place) -> Result<Value, TextError> {
        if let Some(value) = scope.find(name) {
            return Ok(value.clone());
        }
        if let Some(value) = &self.bases[name.0 as usize] {
            return Ok(value.clone());
        }
        let text = self.text(name).to_owned();
        let found = base::find(&text, self.skeleton);
        // Records whether the model needs the whole coherence order. The set of last writes alone
        // does not need it.
        self.ordered.all |= match &found {
            Some(Base::Chosen(chosen) | Base::Derived(chosen, _)) => {
                matches!(chosen, Chosen::Co | Chosen::Fr)
            }
            Some(Base::Com) => true,
            _ => false,
        };
        let value = match found {
            Some(Base::Set(set)) => Value::Set(Bounds::exact(self.graph.constant(true, vec![set]))),
            Some(Base::Rel(rows)) => Value::Rel(Bounds::exact(self.graph.constant(false, rows))),
            Some(Base::Chosen(chosen)) => Value::Rel(self.choice(chosen)),
            Some(Base::Derived(chosen, mask)) => {
                let bounds = self.choice(chosen);
                let mask = self.graph.constant(false, mask);
                let low = self.graph.inter(bounds.low, mask);
                Value::Rel(Bounds { low, high: self.graph.inter(bounds.high, mask) })
            }
            Some(Base::Com) => {
                let of = [Chosen::Rf, Chosen::Co, Chosen::Fr].map(|chosen| self.choice(chosen));
                let low = self.graph.union(of[0].low, of[1].low);
                let high = self.graph.union(of[0].high, of[1].high);
                let low = self.graph.union(low, of[2].low);
                Value::Rel(Bounds { low, high: self.graph.union(high, of[2].high) })
            }
            Some(Base::FinalWrites(writes)) => {
                let co = self.choice(Chosen::Co);
                let writes = self.graph.constant(true, vec![writes]);
                let (least, most) = (self.graph.domain(co.low), self.graph.domain(co.high));
                let low = self.graph.minus(writes, most);
                Value::Set(Bounds { low, high: self.graph.minus(writes, least) })
            }
            None => match Builtin::named(&text) {
                Some(builtin) => Value::Builtin(builtin),
                None if self.model.declares(&base::tag_of(&text)) => {
                    Value::Set(Bounds::exact(self.graph.empty(true)))
                }
                None => {
                    let dialect = self.skeleton.program.dialect.keyword();
                    let sentence = if base::defined_by_other_format(&text) {
                        format!("the model uses `{text}`, which {dialect} tests do not define")
                    } else {
                        format!("`{text}` is not defined")
                    };
                    return self.fail(place, sentence);
                }
            },
        };
        let value = match value {
            Value::Set(_) | Value::Rel(_) => self.merge(&text, value),
            value => value,
        };
        self.bases[name.0 as usize] = Some(value.clone());
        Ok(value)
    }

    pub(super) fn choice(&mut self, chosen: Chosen) -> Bounds {
        Bounds { low: self.graph.chosen(chosen, false), high: self.graph.chosen(chosen, true) }
    }

    pub(super) fn explicit_set(&mut self, members: &[Expr], scope: &Scope) -> Result<Value, TextError> {
        let mut values: Vec<Value> = Vec::new();
        for member in members {
            let value = self.expr(member, scope)?;
            if !values.iter().any(|known| same(known, &value)) {
                values.push(value);
            }
        }
        // A list of events becomes a set of events, and a list of pairs becomes a relation.
        let first = values.first().cloned().unwrap_or(Value::Nothing);
        let alike = match first {
            Value::Event(_) => values.iter().all(|value| matches!(value, Value::Event(_))),
            Value::Pair(..) => values.iter().all(|value| matches!(value, Value::Pair(..))),
            _ => false,
        };
        Ok(if alike { self.gather(&first, values) } else { Value::Many(Rc::new(values)) })
    }

    /// Converts a value to a relation. Returns the lower and the upper bound of the relation.
    ///
    /// # Errors
    /// If the value is not a relation.
    pub(super) fn relation(&mut self, value: Value, place: Place) -> Result<Bounds, TextError> {
        match value {
            Value::Rel(bounds) => Ok(bounds),
            Value::Pair(from, to) => Ok(self.pair(from, to)),
            Value::Tuple(ends) if ends.len() == 2 => match (&ends[0], &ends[1]) {
                (Value::Event(from), Value::Event(to)) => Ok(self.pair(*from, *to)),
                _ => self.fail(place, "found a tuple, expected a relation"),
            },
            Value::Nothing => Ok(Bounds::exact(self.graph.empty(false))),
            Value::Everything => Ok(self.full(false)),
            other => self.fail(place, format!("found {}, expected a relation", other.kind())),
        }
    }

    /// Converts a value to a set of events. Returns the lower and the upper bound of the set.
    ///
    /// # Errors
    /// If the value is not a set of events.
    pub(super) fn set(&mut self, value: Value, place: Place) -> Result<Bounds, TextError> {
        match value {
            Value::Set(bounds) => Ok(bounds),
            Value::Event(event) => Ok(self.single(event)),
            Value::Nothing => Ok(Bounds::exact(self.graph.empty(true))),
            Value::Everything => Ok(self.full(true)),
            other => self.fail(place, format!("found {}, expected a set of events", other.kind())),
        }
    }

    pub(super) fn both(
        &mut self,
        a: Bounds,
        b: Bounds,
        op: impl Fn(&mut Graph, NodeId, NodeId) -> NodeId,
    ) -> Bounds {
        let low = op(&mut self.graph, a.low, b.low);
        Bounds { low, high: op(&mut self.graph, a.high, b.high) }
    }

    pub(super) fn each(&mut self, a: Bounds, op: impl Fn(&mut Graph, NodeId) -> NodeId) -> Bounds {
        let low = op(&mut self.graph, a.low);
        Bounds { low, high: op(&mut self.graph, a.high) }
    }

    /// The bounds of `a \ b`. The lower bound is the lower bound of `a` without the upper bound of
    /// `b`. The upper bound is the upper bound of `a` without the lower bound of `b`.
    pub(super) fn minus(&mut self, a: Bounds, b: Bounds) -> Bounds {
        let low = self.graph.minus(a.low, b.high);
        Bounds { low, high: self.graph.minus(a.high, b.low) }
    }

    pub(super) fn prefix(&mut self, op: Prefix, value: Value, place: Place) -> Result<Value, TextError> {
        let value = self.lift(value);
        let value = match (op, value) {
            (Prefix::Complement, Value::Nothing) => Value::Everything,
            (Prefix::Complement, Value::Everything) => Value::Nothing,
            (Prefix::Complement, Value::Set(set)) => {
                let full = self.full(true);
                Value::Set(self.minus(full, set))
            }
            (Prefix::Complement, value) => {
                let rel = self.relation(value, place)?;
                let full = self.full(false);
                Value::Rel(self.minus(full, rel))
            }
            (Prefix::Identity, value) => {
                let set = self.set(value, place)?;
                Value::Rel(self.each(set, Graph::identity_on))
            }
            (Prefix::Plus, value) => {
                let rel = self.relation(value, place)?;
                Value::Rel(self.each(rel, Graph::plus))
            }
            (Prefix::Star, value) => {
                let rel = self.relation(value, place)?;
                let plus = self.each(rel, Graph::plus);
                let identity = self.identity();
                Value::Rel(self.both(plus, identity, Graph::union))
            }
            (Prefix::Optional, value) => {
                let rel = self.relation(value, place)?;
                let identity = self.identity();
                Value::Rel(self.both(rel, identity, Graph::union))
            }
            (Prefix::Inverse, value) => {
                let rel = self.relation(value, place)?;
                Value::Rel(self.each(rel, Graph::inverse))
            }
        };
        Ok(value)
    }

    pub(super) fn infix(
        &mut self,
        op: Infix,
        a: Value,
        b: Value,
        a_place: Place,
        b_place: Place,
    ) -> Result<Value, TextError> {
        match op {
            Infix::Sequence => {
                let (a, b) = (self.relation(a, a_place)?, self.relation(b, b_place)?);
                return Ok(Value::Rel(self.both(a, b, Graph::seq)));
            }
            Infix::Product => {
                let (a, b) = (self.set(a, a_place)?, self.set(b, b_place)?);
                return Ok(Value::Rel(self.both(a, b, Graph::product)));
            }
            Infix::Add => return self.add(a, b, b_place),
            Infix::Union | Infix::Minus | Infix::Intersection => {}
        }
        let (a, b) = (self.lift(a), self.lift(b));
        if let (Value::Many(_), _) | (_, Value::Many(_)) = (&a, &b) {
            return self.infix_many(op, a, b, a_place, b_place);
        }
        match (&a, &b) {
            (Value::Nothing, Value::Nothing) => return Ok(Value::Nothing),
            (Value::Everything, Value::Everything) if op != Infix::Minus => return Ok(Value::Everything),
            _ => {}
        }
        let sets = matches!((&a, &b), (Value::Set(_), _) | (_, Value::Set(_)));
        let (left, right) = if sets {
            (self.set(a, a_place)?, self.set(b, b_place)?)
        } else {
            (self.relation(a, a_place)?, self.relation(b, b_place)?)
        };
        let bounds = match op {
            Infix::Union => self.both(left, right, Graph::union),
            Infix::Intersection => self.both(left, right, Graph::inter),
            _ => self.minus(left, right),
        };
        Ok(if sets { Value::Set(bounds) } else { Value::Rel(bounds) })
    }

    pub(super) fn infix_many(
        &mut self,
        op: Infix,
        a: Value,
        b: Value,
        a_place: Place,
        b_place: Place,
    ) -> Result<Value, TextError> {
        let (left, right) = (self.members(a, a_place)?, self.members(b, b_place)?);
        let has = |set: &[Value], value: &Value| set.iter().any(|known| same(known, value));
        let result: Vec<Value> = match op {
            Infix::Union => {
                let new = right.into_iter().filter(|v| !has(&left, v)).collect::<Vec<_>>();
                left.into_iter().chain(new).collect()
            }
            Infix::Intersection => left.into_iter().filter(|v| has(&right, v)).collect(),
            _ => left.into_iter().filter(|v| !has(&right, v)).collect(),
        };
        Ok(Value::Many(Rc::new(result)))
    }

    /// The value of `member ++ set`: the set with `member` and all members of `set`.
    pub(super) fn add(&mut self, member: Value, set: Value, place: Place) -> Result<Value, TextError> {
        match (&member, &set) {
            (Value::Event(_), Value::Nothing | Value::Set(_)) => {
                let (one, set) = (self.set(member, place)?, self.set(set, place)?);
                return Ok(Value::Set(self.both(one, set, Graph::union)));
            }
            (Value::Pair(..), Value::Nothing | Value::Rel(_)) | (Value::Tuple(_), Value::Rel(_)) => {
                let (one, rel) = (self.relation(member, place)?, self.relation(set, place)?);
                return Ok(Value::Rel(self.both(one, rel, Graph::union)));
            }
            _ => {}
        }
        let mut members = self.members(set, place)?;
        if !members.iter().any(|known| same(known, &member)) {
            members.insert(0, member);
        }
        Ok(Value::Many(Rc::new(members)))
    }

    /// The members of a set or relation that depends on no choice of the search. A member is an
    /// event, a pair of events, or a value such as a tag.
    pub(super) fn members(&mut self, value: Value, place: Place) -> Result<Vec<Value>, TextError> {
        match value {
            Value::Nothing => Ok(Vec::new()),
            Value::Many(members) => Ok(members.to_vec()),
            Value::Tag(_) => Ok(vec![value]),
            Value::Event(_) | Value::Pair(..) => Ok(vec![value]),
            Value::Set(bounds) if self.graph.is_static(bounds.low) => {
                let set = self.graph.value(bounds.low)[0];
                Ok(members(set).map(Value::Event).collect())
            }
            Value::Rel(bounds) if self.graph.is_static(bounds.low) => {
                let rows = self.graph.value(bounds.low).iter().enumerate();
                Ok(rows.flat_map(|(a, &row)| members(row).map(move |b| Value::Pair(a, b))).collect())
            }
            Value::Linearisations(set, order) => self.linearisations(set, order, place),
            other => {
                let sentence = format!(
                    "found {}, expected a set of values that does not depend on reads-from or coherence",
                    other.kind()
                );
                self.fail(place, sentence)
            }
        }
    }

    /// Builds a value with these members: a set if `of` is a set or an event, a relation if `of` is
    /// a relation or a pair, and otherwise a set of sets.
    pub(super) fn gather(&mut self, of: &Value, members: Vec<Value>) -> Value {
        match of {
            Value::Set(_) | Value::Event(_) => {
                let set =
                    members.iter().filter_map(|m| if let Value::Event(e) = m { Some(*e) } else { None });
                let set = set.collect();
                Value::Set(Bounds::exact(self.graph.constant(true, vec![set])))
            }
            Value::Rel(_) | Value::Pair(..) => {
                let mut rows = vec![EventSet::EMPTY; self.graph.events];
                for member in members {
                    if let Value::Pair(from, to) = member {
                        rows[from].insert(to);
                    }
                }
                Value::Rel(Bounds::exact(self.graph.constant(false, rows)))
            }
            _ => Value::Many(Rc::new(members)),
        }
    }

    /// Turns an event into a set, a pair into a relation, and a tag into a set of tags.
    fn lift(&mut self, value: Value) -> Value {
        match value {
            Value::Event(_) | Value::Pair(..) => self.gather(&value.clone(), vec![value]),
            Value::Tag(_) => Value::Many(Rc::new(vec![value])),
            other => other,
        }
    }

    fn single(&mut self, event: usize) -> Bounds {
        Bounds::exact(self.graph.constant(true, vec![EventSet::only(event)]))
    }

    fn pair(&mut self, from: usize, to: usize) -> Bounds {
        let mut rows = vec![EventSet::EMPTY; self.graph.events];
        rows[from] = EventSet::only(to);
        Bounds::exact(self.graph.constant(false, rows))
    }

    /// The bounds of the set of all events (if `set` is true) or of the relation of all pairs of
    /// events.
    pub(super) fn full(&mut self, set: bool) -> Bounds {
        match self.merged {
            None => Bounds::exact(self.graph.full(set)),
            Some(Merged { visible, .. }) if set => Bounds::exact(visible),
            Some(Merged { visible, .. }) => Bounds::exact(self.graph.product(visible, visible)),
        }
    }

    fn identity(&mut self) -> Bounds {
        let all = self.full(true);
        self.each(all, Graph::identity_on)
    }
}
