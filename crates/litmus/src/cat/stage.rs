//! Applies a model to a skeleton: steps become a graph and a list of checks.
//!
//! The functional part of the language (functions, tags, sets of sets,
//! `match`, procedures) is carried out here, once; what is left is operations
//! on bit matrices.

use std::rc::Rc;

use crate::exec::matrix;
use crate::exec::skeleton::Skeleton;
use crate::parse::{Place, TextError};

use super::Model;
use super::ast::{
    Arm, Binding, Bindings, Check, CheckKind, Comparison, Condition, Expr, Infix, Name, Node, Pattern,
    Prefix, Step,
};
use super::base::{self, Base};
use super::graph::{Chosen, DEP_WHOLE, DEP_WITH, Deps, Graph, NODES_MAX, NodeId};
use super::value::{Bounds, Builtin, Closure, Procedure, Scope, Value};

/// How deeply functions may call one another.
const CALLS_MAX: usize = 100;
/// The most steps of evaluation of one model on one skeleton.
const WORK_MAX: usize = 2_000_000;

/// A check of the model on one skeleton.
#[derive(Clone, Debug)]
pub(crate) struct StagedCheck {
    pub(crate) kind: CheckKind,
    pub(crate) negated: bool,
    pub(crate) flag: bool,
    pub(crate) name: String,
    /// The relation or set for certain, and
    pub(crate) low: NodeId,
    /// what it may still become.
    pub(crate) high: NodeId,
    /// What the bound that decides depends on.
    pub(crate) deps: Deps,
    /// The nodes to compute first.
    pub(crate) plan: Vec<NodeId>,
}

/// A choice of a `with` step.
#[derive(Clone, Debug)]
pub(crate) enum Choice {
    /// All total orders of a set that extend a relation.
    Linear(NodeId, NodeId),
    /// One of some relations or sets.
    Among(Vec<NodeId>),
}

/// A model on one skeleton.
#[derive(Clone, Debug)]
pub(crate) struct Staged {
    pub(crate) graph: Graph,
    pub(crate) checks: Vec<StagedCheck>,
    pub(crate) choices: Vec<Choice>,
    /// Does any check need the order of PTX's fences?
    pub(crate) uses_sync_fence: bool,
}

/// Applies `model` to `skeleton`.
pub(crate) fn stage(model: &Model, skeleton: &Skeleton<'_>) -> Result<Staged, TextError> {
    let mut stager = Stager {
        model,
        skeleton,
        graph: Graph::new(skeleton.len()),
        bases: vec![None; model.names.len()],
        checks: Vec::new(),
        choices: Vec::new(),
        calls: 0,
        work: 0,
    };
    let mut scope = Scope::default();
    stager.steps(&model.steps, &mut scope)?;
    let uses_sync_fence = stager.graph.nodes.iter().any(|n| n.deps & super::graph::DEP_SYNC != 0);
    let Stager { graph, mut checks, choices, .. } = stager;
    for check in &mut checks {
        check.plan = graph.plan(&[if check.negated && !check.flag { check.high } else { check.low }]);
    }
    Ok(Staged { graph, checks, choices, uses_sync_fence })
}

struct Stager<'m, 's, 'p> {
    model: &'m Model,
    skeleton: &'s Skeleton<'p>,
    graph: Graph,
    /// Values of the names that the tool itself defines.
    bases: Vec<Option<Value>>,
    checks: Vec<StagedCheck>,
    choices: Vec<Choice>,
    calls: usize,
    work: usize,
}

impl Stager<'_, '_, '_> {
    fn wrong<T>(&self, place: Place, sentence: impl Into<String>) -> Result<T, TextError> {
        Err(TextError::meaning(place, sentence).in_file(&self.model.file))
    }

    fn text(&self, name: Name) -> &str {
        self.model.names.text(name)
    }

    fn steps(&mut self, steps: &[Step], scope: &mut Scope) -> Result<(), TextError> {
        for step in steps {
            self.step(step, scope)?;
        }
        Ok(())
    }

    fn step(&mut self, step: &Step, scope: &mut Scope) -> Result<(), TextError> {
        match step {
            Step::Let(bindings) => *scope = self.define(bindings, scope)?,
            Step::Check(check) => self.check(check, scope)?,
            Step::Enum(name, tags) => {
                let tags = tags.iter().map(|tag| Value::Tag(tag.as_str().into())).collect();
                *scope = scope.with(*name, Value::Many(Rc::new(tags)));
            }
            Step::Procedure(name, pattern, steps) => {
                let procedure = Procedure {
                    pattern: pattern.clone(),
                    steps: Rc::new(steps.clone()),
                    scope: scope.clone(),
                };
                *scope = scope.with(*name, Value::Procedure(Rc::new(procedure)));
            }
            Step::Call(place, name, argument) => {
                let argument = self.expr(argument, scope)?;
                let Some(Value::Procedure(procedure)) = scope.find(*name).cloned() else {
                    return self.wrong(*place, format!("`{}` is not a procedure", self.text(*name)));
                };
                self.deeper(*place)?;
                let mut inner = self.bind(&procedure.pattern, argument, &procedure.scope, *place)?;
                self.steps(&procedure.steps, &mut inner)?;
                self.calls -= 1;
            }
            Step::ForAll(place, name, set, steps) => {
                let members = self.expr(set, scope)?;
                for member in self.members(members, *place)? {
                    let mut inner = scope.with(*name, member);
                    self.steps(steps, &mut inner)?;
                }
            }
            Step::With(place, name, expr) => {
                let value = self.with(*place, expr, scope)?;
                if let Some(value) = value {
                    *scope = scope.with(*name, value);
                }
            }
            Step::If(condition, then, other) => {
                let branch = if self.condition(condition, scope)? { then } else { other };
                self.steps(branch, scope)?;
            }
        }
        Ok(())
    }

    fn check(&mut self, check: &Check, scope: &Scope) -> Result<(), TextError> {
        let value = self.expr(&check.expr, scope)?;
        let bounds = match (check.kind, value) {
            (CheckKind::Empty, Value::Set(set)) => set,
            (CheckKind::Empty, Value::Many(members)) => {
                let set = if members.is_empty() { self.graph.empty(true) } else { self.graph.full(true) };
                Bounds::exact(set)
            }
            (_, value) => self.relation(value, check.expr.place)?,
        };
        let decides = if check.negated && !check.flag { bounds.high } else { bounds.low };
        let number = self.checks.len() + 1;
        self.checks.push(StagedCheck {
            kind: check.kind,
            negated: check.negated,
            flag: check.flag,
            name: check.name.clone().unwrap_or_else(|| format!("check-{number}")),
            low: bounds.low,
            high: bounds.high,
            deps: self.graph.node(decides).deps,
            plan: Vec::new(),
        });
        Ok(())
    }

    /// The value of `with x from e`: an open choice. Coherence orders are made
    /// by the search.
    fn with(&mut self, place: Place, expr: &Expr, scope: &Scope) -> Result<Option<Value>, TextError> {
        let value = self.expr(expr, scope)?;
        let (choice, set) = match value {
            Value::Coherence => return Ok(None),
            Value::Linearisations(set, order) => (Choice::Linear(set.low, order.low), false),
            Value::Many(members) => {
                let mut nodes = Vec::new();
                let mut sets = 0;
                for member in members.iter() {
                    match member {
                        Value::Set(bounds) => {
                            sets += 1;
                            nodes.push(bounds.low);
                        }
                        other => nodes.push(self.relation(other.clone(), place)?.low),
                    }
                }
                if sets > 0 && sets < nodes.len() {
                    return self.wrong(place, "this set holds sets and relations, so none can be chosen");
                }
                (Choice::Among(nodes), sets > 0)
            }
            other => {
                let sentence = format!("`with` chooses from a set of values, but this is {}", other.kind());
                return self.wrong(place, sentence);
            }
        };
        if self.choices.len() >= 8 {
            return self.wrong(place, "a model may have at most eight `with` steps");
        }
        if set {
            return self.wrong(place, "`with` can choose a relation only, not a set of events");
        }
        let node = self.graph.chosen(Chosen::With(self.choices.len() as u8), false);
        self.choices.push(choice);
        Ok(Some(Value::Rel(Bounds::exact(node))))
    }

    fn deeper(&mut self, place: Place) -> Result<(), TextError> {
        self.calls += 1;
        if self.calls > CALLS_MAX {
            return self.wrong(place, format!("functions call one another more than {CALLS_MAX} deep"));
        }
        Ok(())
    }

    /// The scope after a definition.
    fn define(&mut self, bindings: &Bindings, scope: &Scope) -> Result<Scope, TextError> {
        if bindings.recursive {
            return self.define_recursive(bindings, scope);
        }
        let mut after = scope.clone();
        for binding in &bindings.list {
            let value = if binding.parameters.is_empty() {
                self.expr(&binding.body, scope)?
            } else {
                closure(binding, scope, None)
            };
            after = self.bind(&binding.pattern, value, &after, binding.place)?;
        }
        Ok(after)
    }

    fn define_recursive(&mut self, bindings: &Bindings, scope: &Scope) -> Result<Scope, TextError> {
        let place = bindings.list[0].place;
        let functions = bindings.list.iter().filter(|b| is_function(b)).count();
        if functions == bindings.list.len() {
            return Ok(recursive_functions(&Rc::new(bindings.list.clone()), scope));
        }
        if functions > 0 {
            return self.wrong(place, "functions and relations cannot be defined recursively together");
        }
        let mut names = Vec::new();
        for binding in &bindings.list {
            match binding.pattern {
                Pattern::One(Some(name)) => names.push(name),
                _ => return self.wrong(binding.place, "a recursive definition defines names"),
            }
        }
        // Try relations first, and sets if the bodies turn out to be sets.
        let relations = self.fixpoint(bindings, &names, scope, false)?;
        match relations {
            Some(scope) => Ok(scope),
            None => match self.fixpoint(bindings, &names, scope, true)? {
                Some(scope) => Ok(scope),
                None => self.wrong(place, "a recursive definition mixes relations and sets"),
            },
        }
    }

    /// Solves a recursive definition; none if its bodies are of the other kind.
    fn fixpoint(
        &mut self,
        bindings: &Bindings,
        names: &[Name],
        scope: &Scope,
        sets: bool,
    ) -> Result<Option<Scope>, TextError> {
        let place = bindings.list[0].place;
        let shown = self.text(names[0]).to_owned();
        let count = names.len();
        // Low and high bounds are solved together, as they may use each other.
        let Some(group) = self.graph.open_group(&shown, &vec![sets; 2 * count]) else {
            return self.wrong(place, "the model has too many recursive definitions");
        };
        let vars = self.graph.groups[usize::from(group)].vars.clone();
        let mut inner = scope.clone();
        let make = |bounds| if sets { Value::Set(bounds) } else { Value::Rel(bounds) };
        for (index, &name) in names.iter().enumerate() {
            inner = inner.with(name, make(Bounds { low: vars[index], high: vars[count + index] }));
        }
        let mut bodies = vec![vars[0]; 2 * count];
        for (index, binding) in bindings.list.iter().enumerate() {
            let value = self.expr(&binding.body, &inner)?;
            let bounds = match (value, sets) {
                (Value::Set(_), false) | (Value::Rel(_), true) => {
                    // Leave an empty definition behind.
                    let _ = self.graph.close_group(group, vars);
                    return Ok(None);
                }
                (Value::Set(bounds), true) | (Value::Rel(bounds), false) => bounds,
                (Value::Nothing, _) => Bounds::exact(self.graph.empty(sets)),
                (Value::Everything, _) => Bounds::exact(self.graph.full(sets)),
                (other, _) => {
                    let sentence = format!("a recursive definition of {}", other.kind());
                    return self.wrong(binding.place, sentence);
                }
            };
            (bodies[index], bodies[count + index]) = (bounds.low, bounds.high);
        }
        let solutions = match self.graph.close_group(group, bodies) {
            Ok(solutions) => solutions,
            Err(_) => return self.wrong(place, diverges(&shown)),
        };
        let mut after = scope.clone();
        for (index, &name) in names.iter().enumerate() {
            let bounds = Bounds { low: solutions[index], high: solutions[count + index] };
            after = after.with(name, make(bounds));
        }
        Ok(Some(after))
    }

    fn bind(
        &mut self,
        pattern: &Pattern,
        value: Value,
        scope: &Scope,
        place: Place,
    ) -> Result<Scope, TextError> {
        match (pattern, value) {
            (Pattern::One(None), _) => Ok(scope.clone()),
            (Pattern::One(Some(name)), value) => Ok(scope.with(*name, value)),
            (Pattern::Tuple(names), Value::Tuple(values)) if names.len() == values.len() => {
                let mut after = scope.clone();
                for (name, value) in names.iter().zip(values.iter()) {
                    if let Some(name) = name {
                        after = after.with(*name, value.clone());
                    }
                }
                Ok(after)
            }
            (Pattern::Tuple(names), value) => {
                let sentence =
                    format!("{} values are expected here, but this is {}", names.len(), value.kind());
                self.wrong(place, sentence)
            }
        }
    }

    fn expr(&mut self, expr: &Expr, scope: &Scope) -> Result<Value, TextError> {
        self.work += 1;
        if self.work > WORK_MAX || self.graph.nodes.len() > NODES_MAX {
            return self.wrong(expr.place, "the model is too large, or a function of it never ends");
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
            }))),
            Node::Let(bindings, body) => {
                let inner = self.define(bindings, scope)?;
                self.expr(body, &inner)
            }
            Node::If(condition, then, other) => {
                let branch = if self.condition(condition, scope)? { then } else { other };
                self.expr(branch, scope)
            }
            Node::Try(first, second) => self.expr(first, scope).or_else(|_| self.expr(second, scope)),
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

    fn name(&mut self, name: Name, scope: &Scope, place: Place) -> Result<Value, TextError> {
        if let Some(value) = scope.find(name) {
            return Ok(value.clone());
        }
        if let Some(value) = &self.bases[name.0 as usize] {
            return Ok(value.clone());
        }
        let text = self.text(name);
        let value = match base::find(text, self.skeleton) {
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
            None => match Builtin::named(text) {
                Some(builtin) => Value::Builtin(builtin),
                None => {
                    let dialect = self.skeleton.program.dialect.keyword();
                    let sentence = if base::known_elsewhere(text) {
                        format!("the model uses `{text}`, which {dialect} tests do not define")
                    } else {
                        format!("`{text}` is not defined")
                    };
                    return self.wrong(place, sentence);
                }
            },
        };
        self.bases[name.0 as usize] = Some(value.clone());
        Ok(value)
    }

    fn choice(&mut self, chosen: Chosen) -> Bounds {
        Bounds { low: self.graph.chosen(chosen, false), high: self.graph.chosen(chosen, true) }
    }

    fn explicit_set(&mut self, members: &[Expr], scope: &Scope) -> Result<Value, TextError> {
        let mut values: Vec<Value> = Vec::new();
        for member in members {
            let value = self.expr(member, scope)?;
            if !values.iter().any(|known| same(known, &value)) {
                values.push(value);
            }
        }
        Ok(Value::Many(Rc::new(values)))
    }

    /// The relation that a value stands for.
    fn relation(&mut self, value: Value, place: Place) -> Result<Bounds, TextError> {
        match value {
            Value::Rel(bounds) => Ok(bounds),
            Value::Nothing => Ok(Bounds::exact(self.graph.empty(false))),
            Value::Everything => Ok(Bounds::exact(self.graph.full(false))),
            other => self.wrong(place, format!("a relation is expected here, but this is {}", other.kind())),
        }
    }

    /// The set of events that a value stands for.
    fn set(&mut self, value: Value, place: Place) -> Result<Bounds, TextError> {
        match value {
            Value::Set(bounds) => Ok(bounds),
            Value::Nothing => Ok(Bounds::exact(self.graph.empty(true))),
            Value::Everything => Ok(Bounds::exact(self.graph.full(true))),
            other => {
                self.wrong(place, format!("a set of events is expected here, but this is {}", other.kind()))
            }
        }
    }

    fn both(&mut self, a: Bounds, b: Bounds, op: impl Fn(&mut Graph, NodeId, NodeId) -> NodeId) -> Bounds {
        let low = op(&mut self.graph, a.low, b.low);
        Bounds { low, high: op(&mut self.graph, a.high, b.high) }
    }

    fn each(&mut self, a: Bounds, op: impl Fn(&mut Graph, NodeId) -> NodeId) -> Bounds {
        let low = op(&mut self.graph, a.low);
        Bounds { low, high: op(&mut self.graph, a.high) }
    }

    /// `a \ b`: less of `b` leaves more.
    fn less(&mut self, a: Bounds, b: Bounds) -> Bounds {
        let low = self.graph.minus(a.low, b.high);
        Bounds { low, high: self.graph.minus(a.high, b.low) }
    }

    fn prefix(&mut self, op: Prefix, value: Value, place: Place) -> Result<Value, TextError> {
        let value = match (op, value) {
            (Prefix::Complement, Value::Nothing) => Value::Everything,
            (Prefix::Complement, Value::Everything) => Value::Nothing,
            (Prefix::Complement, Value::Set(set)) => {
                let full = Bounds::exact(self.graph.full(true));
                Value::Set(self.less(full, set))
            }
            (Prefix::Complement, value) => {
                let rel = self.relation(value, place)?;
                let full = Bounds::exact(self.graph.full(false));
                Value::Rel(self.less(full, rel))
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
                Value::Rel(self.each(plus, Graph::optional))
            }
            (Prefix::Optional, value) => {
                let rel = self.relation(value, place)?;
                Value::Rel(self.each(rel, Graph::optional))
            }
            (Prefix::Inverse, value) => {
                let rel = self.relation(value, place)?;
                Value::Rel(self.each(rel, Graph::inverse))
            }
        };
        Ok(value)
    }

    fn infix(
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
            _ => self.less(left, right),
        };
        Ok(if sets { Value::Set(bounds) } else { Value::Rel(bounds) })
    }

    fn infix_many(
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

    /// `e ++ set`
    fn add(&mut self, member: Value, set: Value, place: Place) -> Result<Value, TextError> {
        let mut members = self.members(set, place)?;
        if !members.iter().any(|known| same(known, &member)) {
            members.insert(0, member);
        }
        Ok(Value::Many(Rc::new(members)))
    }

    /// The members of a set of values; a set of events has its events, each
    /// as a set.
    fn members(&mut self, value: Value, place: Place) -> Result<Vec<Value>, TextError> {
        match value {
            Value::Nothing => Ok(Vec::new()),
            Value::Many(members) => Ok(members.to_vec()),
            Value::Set(bounds) if self.graph.is_static(bounds.low) => {
                let set = self.graph.value(bounds.low)[0];
                let singles = matrix::members(set).map(|event| 1u64 << event).collect::<Vec<_>>();
                let make = |event| Value::Set(Bounds::exact(self.graph.constant(true, vec![event])));
                Ok(singles.into_iter().map(make).collect())
            }
            other => {
                let sentence =
                    format!("a known set of values is expected here, but this is {}", other.kind());
                self.wrong(place, sentence)
            }
        }
    }

    fn matching(&mut self, subject: &Expr, arms: &[Arm], scope: &Scope) -> Result<Value, TextError> {
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
                            inner = inner.with(*name, Value::Many(Rc::new(members)));
                        }
                        return self.expr(body, &inner);
                    }
                }
            }
        }
        self.wrong(subject.place, format!("no arm of this `match` fits {}", value.kind()))
    }

    fn condition(&mut self, condition: &Condition, scope: &Scope) -> Result<bool, TextError> {
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

    fn compare(
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
            (Comparison::Equal, Value::Tag(_) | Value::Many(_) | Value::Tuple(_), _) => {
                return Ok(same(&a, &b));
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
            return self.wrong(a_place, "this comparison depends on who reads from whom");
        }
        let (left, right) = (self.graph.value(left.low), self.graph.value(right.low));
        Ok(match comparison {
            Comparison::Equal => left == right,
            _ => left.iter().zip(right).all(|(l, r)| l & !r == 0),
        })
    }

    fn apply(&mut self, function: Value, argument: Value, place: Place) -> Result<Value, TextError> {
        match function {
            Value::Closure(closure) => {
                self.deeper(place)?;
                let mut inner = closure.scope.clone();
                if let Some(together) = &closure.together {
                    inner = recursive_functions(together, &inner);
                }
                inner = self.bind(&closure.parameters[0], argument, &inner, place)?;
                let value = if closure.parameters.len() > 1 {
                    Value::Closure(Rc::new(Closure {
                        parameters: closure.parameters[1..].to_vec(),
                        body: closure.body.clone(),
                        scope: inner,
                        together: None,
                    }))
                } else {
                    self.expr(&closure.body, &inner)?
                };
                self.calls -= 1;
                Ok(value)
            }
            Value::Builtin(builtin) => self.apply_builtin(builtin, argument, place),
            other => self.wrong(place, format!("a function is expected here, but this is {}", other.kind())),
        }
    }

    fn apply_builtin(&mut self, builtin: Builtin, argument: Value, place: Place) -> Result<Value, TextError> {
        match builtin {
            Builtin::Domain => {
                let rel = self.relation(argument, place)?;
                Ok(Value::Set(self.each(rel, Graph::domain)))
            }
            Builtin::Range => {
                let rel = self.relation(argument, place)?;
                Ok(Value::Set(self.each(rel, Graph::range)))
            }
            Builtin::GenerateCos => Ok(Value::Coherence),
            Builtin::Classes => self.classes(argument, place),
            Builtin::FenceRel => {
                let set = self.set(argument, place)?;
                let Some(Base::Rel(po)) = base::find("po", self.skeleton) else {
                    return self.wrong(place, "`po` is not defined");
                };
                let po = Bounds::exact(self.graph.constant(false, po));
                let on = self.each(set, Graph::identity_on);
                let after = self.both(on, po, Graph::seq);
                Ok(Value::Rel(self.both(po, after, Graph::seq)))
            }
            Builtin::Linearisations => match argument {
                Value::Tuple(pair) if pair.len() == 2 => {
                    let set = self.set(pair[0].clone(), place)?;
                    Ok(Value::Linearisations(set, self.relation(pair[1].clone(), place)?))
                }
                other => {
                    let sentence =
                        format!("`linearisations` takes a set and a relation, not {}", other.kind());
                    self.wrong(place, sentence)
                }
            },
            Builtin::Union => {
                let mut all = Value::Nothing;
                for member in self.members(argument, place)? {
                    all = self.infix(Infix::Union, all, member, place, place)?;
                }
                Ok(all)
            }
            Builtin::Cross | Builtin::Fold | Builtin::Map => self.apply_listwise(builtin, argument, place),
        }
    }

    /// `map f set`, `fold f (set, start)`, `cross sets-of-orders`.
    fn apply_listwise(
        &mut self,
        builtin: Builtin,
        argument: Value,
        place: Place,
    ) -> Result<Value, TextError> {
        match (builtin, argument) {
            (Builtin::Map, Value::Tuple(pair)) if pair.len() == 2 => {
                let mut results = Vec::new();
                for member in self.members(pair[1].clone(), place)? {
                    let result = self.apply(pair[0].clone(), member, place)?;
                    if !results.iter().any(|known| same(known, &result)) {
                        results.push(result);
                    }
                }
                Ok(Value::Many(Rc::new(results)))
            }
            (Builtin::Fold, Value::Tuple(triple)) if triple.len() == 3 => {
                let mut result = triple[2].clone();
                for member in self.members(triple[1].clone(), place)? {
                    let pair = Value::Tuple(Rc::new(vec![member, result]));
                    result = self.apply(triple[0].clone(), pair, place)?;
                }
                Ok(result)
            }
            (Builtin::Cross, Value::Coherence) => Ok(Value::Coherence),
            (_, other) => {
                let form = match builtin {
                    Builtin::Map => "`map (function, set)`",
                    Builtin::Fold => "`fold (function, set, start)`",
                    _ => "`cross` of coherence orders",
                };
                self.wrong(place, format!("{form} is expected here, but this is {}", other.kind()))
            }
        }
    }

    /// The classes of an equivalence, which must be known.
    fn classes(&mut self, argument: Value, place: Place) -> Result<Value, TextError> {
        let rel = self.relation(argument, place)?;
        if !self.graph.is_static(rel.low) {
            return self.wrong(place, "the classes of this relation depend on who reads from whom");
        }
        let rows = self.graph.value(rel.low).to_vec();
        let mut seen = 0u64;
        let mut classes = Vec::new();
        for (event, &row) in rows.iter().enumerate() {
            if row != 0 && seen >> event & 1 == 0 {
                let class = row | 1 << event;
                seen |= class;
                classes.push(Value::Set(Bounds::exact(self.graph.constant(true, vec![class]))));
            }
        }
        Ok(Value::Many(Rc::new(classes)))
    }
}

/// The sentence for a recursive definition that does not settle.
pub(crate) fn diverges(name: &str) -> String {
    format!("the recursive definition of `{name}` does not settle: it uses itself behind `\\` or `~`")
}

/// Is the decision of a check only possible on complete executions?
pub(crate) const fn only_whole(deps: Deps) -> bool {
    deps & (DEP_WHOLE | DEP_WITH) != 0
}

fn is_function(binding: &Binding) -> bool {
    !binding.parameters.is_empty() || matches!(*binding.body.node, Node::Function(..))
}

fn closure(binding: &Binding, scope: &Scope, together: Option<Rc<Vec<Binding>>>) -> Value {
    if binding.parameters.is_empty()
        && let Node::Function(pattern, body) = &*binding.body.node
    {
        return Value::Closure(Rc::new(Closure {
            parameters: vec![pattern.clone()],
            body: body.clone(),
            scope: scope.clone(),
            together,
        }));
    }
    Value::Closure(Rc::new(Closure {
        parameters: binding.parameters.clone(),
        body: binding.body.clone(),
        scope: scope.clone(),
        together,
    }))
}

fn recursive_functions(list: &Rc<Vec<Binding>>, scope: &Scope) -> Scope {
    let mut after = scope.clone();
    for binding in list.iter() {
        if let Pattern::One(Some(name)) = binding.pattern {
            after = after.with(name, closure(binding, scope, Some(list.clone())));
        }
    }
    after
}

/// Are two values the same, as far as that can be told?
fn same(a: &Value, b: &Value) -> bool {
    match (a, b) {
        (Value::Nothing, Value::Nothing) | (Value::Everything, Value::Everything) => true,
        (Value::Rel(a), Value::Rel(b)) | (Value::Set(a), Value::Set(b)) => a == b,
        (Value::Tag(a), Value::Tag(b)) => a == b,
        (Value::Tuple(a), Value::Tuple(b)) => {
            a.len() == b.len() && a.iter().zip(b.iter()).all(|(a, b)| same(a, b))
        }
        (Value::Many(a), Value::Many(b)) => {
            a.len() == b.len() && a.iter().all(|x| b.iter().any(|y| same(x, y)))
        }
        _ => false,
    }
}
