//! Evaluates recursive definitions.

use crate::exec::matrix;
use crate::parse::TextError;

use super::super::ast::{Bindings, Name, Pattern};
use super::super::value::{Bounds, Scope, Value};
use super::{Stager, diverges, is_function, recursive_functions};
use std::rc::Rc;

impl Stager<'_, '_, '_> {
    pub(super) fn define_recursive(
        &mut self,
        bindings: &Bindings,
        scope: &Scope,
    ) -> Result<Scope, TextError> {
        let place = bindings.list[0].place;
        let functions = bindings.list.iter().filter(|b| is_function(b)).count();
        if functions == bindings.list.len() {
            return Ok(recursive_functions(&Rc::new(bindings.list.clone()), scope, self.file));
        }
        if functions > 0 {
            return self.fail(place, "functions and relations cannot be defined recursively together");
        }
        let mut names = Vec::new();
        for binding in &bindings.list {
            match binding.pattern {
                Pattern::One(Some(name)) => names.push(name),
                _ => return self.fail(binding.place, "a recursive definition must define single names"),
            }
        }
        let (file, calls) = (self.file, self.calls);
        let known = self.iterate(bindings, &names, scope);
        (self.file, self.calls) = (file, calls);
        match known {
            Ok(Iterated::Settled(scope)) => Ok(scope),
            Ok(Iterated::Diverges) => {
                let name = self.text(names[0]).to_owned();
                self.fail(place, diverges(&name))
            }
            Ok(Iterated::Open(kinds)) => self.fixpoint(bindings, &names, scope, &kinds),
            Err(_) => self.fixpoint(bindings, &names, scope, &vec![false; names.len()]),
        }
    }

    /// Solves a recursive definition that depends on no choice of the search, as herd does: starts
    /// from empty values and evaluates one binding after the other until no value changes. If the
    /// definition depends on choices, only finds which bindings are sets.
    fn iterate(&mut self, bindings: &Bindings, names: &[Name], scope: &Scope) -> Result<Iterated, TextError> {
        let mut values = vec![Value::Nothing; names.len()];
        let mut inner = scope.clone();
        for &name in names {
            inner = inner.with(name, Value::Nothing);
        }
        let rounds_max = names.len() * self.graph.events * self.graph.events + 2;
        for round in 0..rounds_max {
            let mut changed = false;
            let mut open = false;
            for (index, binding) in bindings.list.iter().enumerate() {
                let value = self.expr(&binding.body, &inner)?;
                open |= match &value {
                    Value::Set(bounds) | Value::Rel(bounds) => !self.graph.is_static(bounds.low),
                    _ => false,
                };
                changed |= !self.is_within(&value, &values[index]) || !self.is_within(&values[index], &value);
                inner = inner.with(names[index], value.clone());
                values[index] = value;
            }
            // After as many rounds as there are bindings, each binding is known to be a set or a
            // relation.
            if open && (round >= names.len() || values.iter().all(|v| !matches!(v, Value::Nothing))) {
                return Ok(Iterated::Open(values.iter().map(|v| matches!(v, Value::Set(_))).collect()));
            }
            if !changed && !open {
                let mut after = scope.clone();
                for (&name, value) in names.iter().zip(values) {
                    after = after.with(name, value);
                }
                return Ok(Iterated::Settled(after));
            }
        }
        Ok(Iterated::Diverges)
    }

    /// Whether `part` is a subset of `whole`. False if one of the values depends on a choice of the
    /// search.
    fn is_within(&self, part: &Value, whole: &Value) -> bool {
        let rows = |value: &Value| match value {
            Value::Set(bounds) | Value::Rel(bounds) if self.graph.is_static(bounds.low) => {
                Some(self.graph.value(bounds.low))
            }
            _ => None,
        };
        match (part, whole) {
            (Value::Nothing, _) | (_, Value::Everything) => true,
            (Value::Many(part), Value::Many(whole)) => {
                part.iter().all(|value| whole.iter().any(|other| super::same(value, other)))
            }
            (part, Value::Nothing) => rows(part).is_some_and(matrix::is_empty),
            (part, whole) => match (rows(part), rows(whole)) {
                (Some(part), Some(whole)) => {
                    part.len() == whole.len() && part.iter().zip(whole).all(|(a, &b)| a.is_within(b))
                }
                _ => false,
            },
        }
    }

    /// Solves a recursive definition of relations and sets.
    fn fixpoint(
        &mut self,
        bindings: &Bindings,
        names: &[Name],
        scope: &Scope,
        sets: &[bool],
    ) -> Result<Scope, TextError> {
        let place = bindings.list[0].place;
        let shown = self.text(names[0]).to_owned();
        let count = names.len();
        // The low and the high bounds are solved as one definition, because each bound may depend
        // on the other bound.
        let Some(group) = self.graph.open_group(&shown, place, &[sets, sets].concat()) else {
            return self.fail(place, "the model has too many recursive definitions");
        };
        let vars = self.graph.groups[usize::from(group)].vars.clone();
        let make = |set: bool, bounds| if set { Value::Set(bounds) } else { Value::Rel(bounds) };
        let mut inner = scope.clone();
        for (index, &name) in names.iter().enumerate() {
            inner =
                inner.with(name, make(sets[index], Bounds { low: vars[index], high: vars[count + index] }));
        }
        let mut bodies = vec![vars[0]; 2 * count];
        for (index, binding) in bindings.list.iter().enumerate() {
            let value = self.expr(&binding.body, &inner)?;
            let bounds = if sets[index] {
                self.set(value, binding.body.place)?
            } else {
                self.relation(value, binding.body.place)?
            };
            (bodies[index], bodies[count + index]) = (bounds.low, bounds.high);
        }
        let solutions = match self.graph.close_group(group, bodies) {
            Ok(solutions) => solutions,
            Err(_) => return self.fail(place, diverges(&shown)),
        };
        let mut after = scope.clone();
        for (index, &name) in names.iter().enumerate() {
            let bounds = Bounds { low: solutions[index], high: solutions[count + index] };
            after = after.with(name, make(sets[index], bounds));
        }
        Ok(after)
    }
}

/// The result of solving a recursive definition by repeated evaluation.
enum Iterated {
    Settled(Scope),
    Diverges,
    /// The definition depends on choices of the search, so it is not solved here. The list says for
    /// each binding whether its value is a set (true) or a relation (false).
    Open(Vec<bool>),
}
