//! Applies a model to a skeleton: steps become a graph and a list of checks.
//!
//! The functional part of the language (functions, tags, sets of sets,
//! `match`, procedures) is carried out here, once; what is left is operations
//! on bit matrices.

mod expr;
mod function;
mod merge;
mod orders;
mod recursion;

use std::rc::Rc;

use crate::exec::skeleton::Skeleton;
use crate::parse::{Place, TextError};

use super::Model;
use super::ast::{Binding, Bindings, Check, CheckKind, Expr, Name, Node, Pattern, Step};
use super::graph::{Chosen, DEP_WHOLE, DEP_WITH, Deps, Graph, NodeId};
use super::value::{Bounds, Closure, Procedure, Scope, Value};
use merge::Merged;
use orders::Ordered;

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
    /// Is the program undefined where the flag is raised?
    pub(crate) undefined: bool,
    /// Without a name it is none of the model's.
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
        ordered: Ordered::default(),
        merged: None,
        calls: 0,
        work: 0,
        file: 0,
    };
    stager.hide_halves();
    let mut scope = Scope::default();
    stager.steps(&model.steps, &mut scope)?;
    stager.order_the_rest();
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
    ordered: Ordered,
    merged: Option<Merged>,
    calls: usize,
    work: usize,
    /// The file of the model that is being carried out.
    file: usize,
}

impl Stager<'_, '_, '_> {
    pub(super) fn wrong<T>(&self, place: Place, sentence: impl Into<String>) -> Result<T, TextError> {
        Err(TextError::meaning(place, sentence).in_file(&self.model.files[self.file]))
    }

    pub(super) fn text(&self, name: Name) -> &str {
        self.model.names.text(name)
    }

    pub(super) fn steps(&mut self, steps: &[Step], scope: &mut Scope) -> Result<(), TextError> {
        for step in steps {
            self.step(step, scope)?;
        }
        Ok(())
    }

    pub(super) fn step(&mut self, step: &Step, scope: &mut Scope) -> Result<(), TextError> {
        match step {
            Step::InFile(file) => self.file = *file,
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
                    file: self.file,
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
                let from = core::mem::replace(&mut self.file, procedure.file);
                self.steps(&procedure.steps, &mut inner)?;
                self.file = from;
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
            Step::Steps(steps) => self.steps(steps, scope)?,
            Step::Match(subject, arms) => {
                let Value::Tag(value) = self.expr(subject, scope)? else {
                    return self.wrong(subject.place, "`match` among steps goes by a tag");
                };
                let fits = |tag: &Option<String>| tag.as_deref().is_none_or(|tag| tag == &*value);
                match arms.iter().find(|(tag, _)| fits(tag)) {
                    Some((_, steps)) => self.steps(steps, scope)?,
                    None => {
                        return self.wrong(subject.place, format!("no arm of this `match` fits `'{value}`"));
                    }
                }
            }
            Step::Missing(place, sentence) | Step::Include(place, sentence) => {
                return self.wrong(*place, sentence.clone());
            }
            Step::Instructions(..) => {}
        }
        Ok(())
    }

    pub(super) fn check(&mut self, check: &Check, scope: &Scope) -> Result<(), TextError> {
        let value = self.expr(&check.expr, scope)?;
        let bounds = match (check.kind, value) {
            (CheckKind::Empty, Value::Set(set)) => set,
            (CheckKind::Empty, Value::Event(event)) => self.set(Value::Event(event), check.expr.place)?,
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
            undefined: check.undefined,
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
    pub(super) fn with(
        &mut self,
        place: Place,
        expr: &Expr,
        scope: &Scope,
    ) -> Result<Option<Value>, TextError> {
        let value = self.expr(expr, scope)?;
        let (choice, set) = match value {
            Value::Coherence(set, order) => return Ok(Some(self.coherence(set, order))),
            Value::Nothing => (Choice::Among(Vec::new()), false),
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

    pub(super) fn deeper(&mut self, place: Place) -> Result<(), TextError> {
        self.calls += 1;
        if self.calls > CALLS_MAX {
            return self.wrong(place, format!("functions call one another more than {CALLS_MAX} deep"));
        }
        Ok(())
    }

    /// The scope after a definition.
    pub(super) fn define(&mut self, bindings: &Bindings, scope: &Scope) -> Result<Scope, TextError> {
        if bindings.recursive {
            return self.define_recursive(bindings, scope);
        }
        let mut after = scope.clone();
        for binding in &bindings.list {
            let value = if binding.parameters.is_empty() {
                self.expr(&binding.body, scope)?
            } else {
                closure(binding, scope, None, self.file)
            };
            after = self.bind(&binding.pattern, value, &after, binding.place)?;
        }
        Ok(after)
    }

    pub(super) fn bind(
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

fn closure(binding: &Binding, scope: &Scope, together: Option<Rc<Vec<Binding>>>, file: usize) -> Value {
    let (parameters, body) = match &*binding.body.node {
        Node::Function(pattern, body) if binding.parameters.is_empty() => (vec![pattern.clone()], body),
        _ => (binding.parameters.clone(), &binding.body),
    };
    Value::Closure(Rc::new(Closure { parameters, body: body.clone(), scope: scope.clone(), together, file }))
}

fn recursive_functions(list: &Rc<Vec<Binding>>, scope: &Scope, file: usize) -> Scope {
    let mut after = scope.clone();
    for binding in list.iter() {
        if let Pattern::One(Some(name)) = binding.pattern {
            after = after.with(name, closure(binding, scope, Some(list.clone()), file));
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
        (Value::Event(a), Value::Event(b)) => a == b,
        (Value::Pair(a, b), Value::Pair(c, d)) => (a, b) == (c, d),
        (Value::Tuple(a), Value::Tuple(b)) => {
            a.len() == b.len() && a.iter().zip(b.iter()).all(|(a, b)| same(a, b))
        }
        (Value::Many(a), Value::Many(b)) => {
            a.len() == b.len() && a.iter().all(|x| b.iter().any(|y| same(x, y)))
        }
        _ => false,
    }
}
