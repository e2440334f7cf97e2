//! Evaluates the functional part of the language: applications, `match`, conditions, predefined
//! functions.

use std::rc::Rc;

use crate::exec::set::EventSet;
use crate::parse::{Place, TextError};

use super::super::ast::{Arm, Comparison, Condition, Expr, Infix};
use super::super::base;
use super::super::graph::Graph;
use super::super::value::{Bounds, Builtin, Closure, Scope, Value};
use super::{Stager, recursive_functions, same};

impl Stager<'_, '_, '_> {
    pub(super) fn matching(
        &mut self,
        subject: &Expr,
        arms: &[Arm],
        scope: &Scope,
    ) -> Result<Value, TextError> {
        let value = self.expr(subject, scope)?;
        for arm in arms {
            match (arm, &value) {
                (Arm::Tag(tag, body), Value::Tag(of)) if tag.as_str() == &**of => {
                    return self.expr(body, scope);
                }
                (Arm::Tag(..), _) => {}
                (Arm::Any(name, body), _) => {
                    let inner = match name {
                        Some(name) => scope.with(*name, value),
                        None => scope.clone(),
                    };
                    return self.expr(body, &inner);
                }
                (Arm::Empty(body), _) => {
                    if self.members(value.clone(), subject.place)?.is_empty() {
                        return self.expr(body, scope);
                    }
                }
                (Arm::Cons(first, rest, body), _) => {
                    let mut members = self.members(value.clone(), subject.place)?;
                    if !members.is_empty() {
                        let head = members.remove(0);
                        let mut inner = scope.clone();
                        if let Some(name) = first {
                            inner = inner.with(*name, head);
                        }
                        if let Some(name) = rest {
                            inner = inner.with(*name, self.gather(&value, members));
                        }
                        return self.expr(body, &inner);
                    }
                }
                (Arm::Split(names, body), _) => {
                    let mut before = self.members(value.clone(), subject.place)?;
                    if !before.is_empty() {
                        let mut after = before.split_off(before.len() / 2);
                        let middle = after.remove(0);
                        let parts = [self.gather(&value, before), middle, self.gather(&value, after)];
                        let mut inner = scope.clone();
                        for (name, part) in names.iter().zip(parts) {
                            if let Some(name) = name {
                                inner = inner.with(*name, part);
                            }
                        }
                        return self.expr(body, &inner);
                    }
                }
            }
        }
        self.fail(subject.place, format!("no arm of this `match` fits {}", value.kind()))
    }

    pub(super) fn condition(&mut self, condition: &Condition, scope: &Scope) -> Result<bool, TextError> {
        match condition {
            Condition::Variant(name) => Ok(self.model.variants.contains(name)),
            Condition::Not(inner) => Ok(!self.condition(inner, scope)?),
            Condition::And(a, b) => Ok(self.condition(a, scope)? && self.condition(b, scope)?),
            Condition::Or(a, b) => Ok(self.condition(a, scope)? || self.condition(b, scope)?),
            Condition::Compare(comparison, a, b) => {
                let (left, right) = (self.expr(a, scope)?, self.expr(b, scope)?);
                self.compare(*comparison, left, right, a.place, b.place)
            }
        }
    }

    pub(super) fn compare(
        &mut self,
        comparison: Comparison,
        a: Value,
        b: Value,
        a_place: Place,
        b_place: Place,
    ) -> Result<bool, TextError> {
        match (comparison, &a, &b) {
            (Comparison::Member, _, _) => {
                let members = self.members(b, b_place)?;
                return Ok(members.iter().any(|member| same(member, &a)));
            }
            (Comparison::Equal, Value::Tag(_) | Value::Many(_) | Value::Tuple(_) | Value::Event(_), _) => {
                return Ok(same(&a, &b));
            }
            (Comparison::Subset, Value::Many(part), Value::Many(whole)) => {
                return Ok(part.iter().all(|value| whole.iter().any(|other| same(value, other))));
            }
            _ => {}
        }
        let sets = matches!((&a, &b), (Value::Set(_), _) | (_, Value::Set(_)));
        let (left, right) = if sets {
            (self.set(a, a_place)?, self.set(b, b_place)?)
        } else {
            (self.relation(a, a_place)?, self.relation(b, b_place)?)
        };
        if !self.graph.is_static(left.low) || !self.graph.is_static(right.low) {
            return self.fail(
                a_place,
                "this comparison depends on reads-from or coherence, expected sets or relations that do not \
                 depend on them",
            );
        }
        let (left, right) = (self.graph.value(left.low), self.graph.value(right.low));
        Ok(match comparison {
            Comparison::Equal => left == right,
            _ => left.iter().zip(right).all(|(l, &r)| l.is_within(r)),
        })
    }

    pub(super) fn apply(
        &mut self,
        function: Value,
        argument: Value,
        place: Place,
    ) -> Result<Value, TextError> {
        match function {
            Value::Closure(closure) => {
                self.enter(place)?;
                let mut inner = closure.scope.clone();
                if let Some(together) = &closure.together {
                    inner = recursive_functions(together, &inner, closure.file);
                }
                inner = self.bind(&closure.parameters[0], argument, &inner, place)?;
                let value = if closure.parameters.len() > 1 {
                    Value::Closure(Rc::new(Closure {
                        parameters: closure.parameters[1..].to_vec(),
                        body: closure.body.clone(),
                        scope: inner,
                        together: None,
                        file: closure.file,
                    }))
                } else {
                    let from = core::mem::replace(&mut self.file, closure.file);
                    let value = self.expr(&closure.body, &inner)?;
                    self.file = from;
                    value
                };
                self.calls -= 1;
                Ok(value)
            }
            Value::Builtin(builtin) => self.apply_builtin(builtin, argument, place),
            other => self.fail(place, format!("found {}, expected a function", other.kind())),
        }
    }

    pub(super) fn apply_builtin(
        &mut self,
        builtin: Builtin,
        argument: Value,
        place: Place,
    ) -> Result<Value, TextError> {
        match builtin {
            Builtin::Domain => {
                let rel = self.relation(argument, place)?;
                Ok(Value::Set(self.each(rel, Graph::domain)))
            }
            Builtin::Range => {
                let rel = self.relation(argument, place)?;
                Ok(Value::Set(self.each(rel, Graph::range)))
            }
            Builtin::GenerateCos | Builtin::GenerateOrders => self.coherence_orders(argument, place),
            Builtin::CoLocs => self.orders_of_each(argument, place),
            Builtin::Cross => self.cross(argument, place),
            Builtin::FromTo => {
                let set = self.set(argument, place)?;
                Ok(Value::Rel(self.between(set)))
            }
            Builtin::Fail => self.fail(place, format!("the model fails on {}", argument.kind())),
            Builtin::Classes => self.classes(argument, place),
            Builtin::TagScope | Builtin::TagEvents | Builtin::TagFenced | Builtin::LocEvents => {
                self.of_tag(builtin, &argument, place)
            }
            Builtin::Linearisations => match argument {
                Value::Tuple(pair) if pair.len() == 2 => {
                    let set = self.set(pair[0].clone(), place)?;
                    Ok(Value::Linearisations(set, self.relation(pair[1].clone(), place)?))
                }
                other => {
                    let sentence =
                        format!("found {}, expected a set and a relation for `linearisations`", other.kind());
                    self.fail(place, sentence)
                }
            },
            Builtin::Union => {
                let mut all = Value::Nothing;
                for member in self.members(argument, place)? {
                    all = self.infix(Infix::Union, all, member, place, place)?;
                }
                Ok(all)
            }
        }
    }

    /// The pairs of events in program order that have an event of `set` between them.
    fn between(&mut self, set: Bounds) -> Bounds {
        let po = self.graph.constant(false, self.skeleton.po.clone());
        let set = self.each(set, Graph::identity_on);
        let before = self.both(Bounds::exact(po), set, Graph::seq);
        self.both(before, Bounds::exact(po), Graph::seq)
    }

    /// Applies a predefined function whose argument is a tag, such as `tag2scope('device)` or
    /// `tag2events('release)`.
    pub(super) fn of_tag(
        &mut self,
        builtin: Builtin,
        argument: &Value,
        place: Place,
    ) -> Result<Value, TextError> {
        let Value::Tag(tag) = argument else {
            return self.fail(place, format!("found {}, expected a tag", argument.kind()));
        };
        if builtin != Builtin::TagScope {
            let set = match builtin {
                Builtin::LocEvents => base::of_location(tag, self.skeleton),
                _ => base::tagged(tag, self.skeleton),
            };
            let set = Bounds::exact(self.graph.constant(true, vec![set]));
            return Ok(if builtin == Builtin::TagFenced {
                Value::Rel(self.between(set))
            } else {
                Value::Set(set)
            });
        }
        match base::same_scope(tag, self.skeleton) {
            Some(rows) => Ok(Value::Rel(Bounds::exact(self.graph.constant(false, rows)))),
            None => self.fail(place, format!("the test has no scope `{tag}`")),
        }
    }

    /// The equivalence classes of a relation. The relation may not depend on a choice of the
    /// search. If the argument is a set of accesses, each class has the accesses of one location.
    pub(super) fn classes(&mut self, argument: Value, place: Place) -> Result<Value, TextError> {
        let rel = match argument {
            Value::Set(set) => {
                let same = self.graph.constant(false, base::same_location(self.skeleton));
                let pairs = self.both(set, set, Graph::product);
                self.both(pairs, Bounds::exact(same), Graph::inter)
            }
            other => self.relation(other, place)?,
        };
        if !self.graph.is_static(rel.low) {
            return self.fail(
                place,
                "the classes of this relation depend on reads-from or coherence, expected a relation that \
                 does not depend on them",
            );
        }
        let rows = self.graph.value(rel.low).to_vec();
        let mut seen = EventSet::EMPTY;
        let mut classes = Vec::new();
        for (event, &row) in rows.iter().enumerate() {
            if !row.is_empty() && !seen.has(event) {
                let class = row.with(event);
                seen |= class;
                classes.push(Value::Set(Bounds::exact(self.graph.constant(true, vec![class]))));
            }
        }
        Ok(Value::Many(Rc::new(classes)))
    }
}
