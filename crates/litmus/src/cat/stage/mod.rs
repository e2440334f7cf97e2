//! Applies a model to a skeleton (the events of one path through each thread). The result is a
//! graph of operations and a list of checks.
//!
//! This module evaluates the functional part of the language once: functions, tags,
//! sets of sets, `match`, procedures. The graph holds only operations on bit matrices.

mod expr;
mod function;
mod merge;
mod orders;
mod recursion;

use std::rc::Rc;

use crate::exec::skeleton::Skeleton;
use crate::parse::{Place, TextError};

use super::Model;
use super::ast::{Binding, Bindings, Check, CheckKind, Expr, Name, Node, Pattern, Statement};
use super::graph::{Chosen, DEP_WHOLE, DEP_WITH, Deps, Graph, NodeId};
use super::value::{Bounds, Closure, Procedure, Scope, Value};
use merge::Merged;
use orders::Ordered;

/// The maximum nesting depth of function calls.
const CALLS_MAX: usize = 100;
/// The maximum number of expressions that are evaluated for one model on one skeleton (the events
/// of one path through each thread).
const WORK_MAX: usize = 2_000_000;

/// A check of the model on one skeleton (the events of one path through each thread).
#[derive(Clone, Debug)]
pub(crate) struct StagedCheck {
    pub(crate) kind: CheckKind,
    pub(crate) negated: bool,
    pub(crate) flag: bool,
    /// Whether the program has undefined behaviour if this check is a flag and the flag holds on
    /// some execution.
    pub(crate) undefined: bool,
    /// The name of the check. Empty for the check that the tool itself adds, which fixes one order
    /// for the writes whose order the model does not use.
    pub(crate) name: String,
    /// The low bound of the relation or set that the check examines: the members that it certainly
    /// has.
    pub(crate) low: NodeId,
    /// The high bound of the relation or set that the check examines: the members that it may have
    /// in the end.
    pub(crate) high: NodeId,
    /// The kinds of choices on which the result of the check depends. The high bound of the
    /// examined relation or set decides a negated check that is not a flag, and the low bound
    /// decides every other check.
    pub(crate) deps: Deps,
    /// The nodes that must be computed before the check is decided, each after its operands.
    pub(crate) plan: Vec<NodeId>,
}

/// The values that the search may choose for the variable of a `with` statement.
#[derive(Clone, Debug)]
pub(crate) enum Choice {
    /// The value is a total order of a set, and this order extends a relation. The first node is
    /// the set. The second node is the relation.
    Linear(NodeId, NodeId),
    /// The value is one of several relations or sets.
    Among(Vec<NodeId>),
}

/// The result of applying a model to one skeleton (the events of one path through each thread).
#[derive(Clone, Debug)]
pub(crate) struct Staged {
    pub(crate) graph: Graph,
    pub(crate) checks: Vec<StagedCheck>,
    pub(crate) choices: Vec<Choice>,
    /// Whether a check depends on the order of PTX's sequentially consistent fences.
    pub(crate) uses_sync_fence: bool,
}

/// Applies `model` to `skeleton` (the events of one path through each thread).
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
    stager.statements(&model.statements, &mut scope)?;
    stager.fix_unused_orders();
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
    /// The values of predefined names.
    bases: Vec<Option<Value>>,
    checks: Vec<StagedCheck>,
    choices: Vec<Choice>,
    ordered: Ordered,
    merged: Option<Merged>,
    calls: usize,
    work: usize,
    /// The index, in the list of the model's files, of the file with the statement that is
    /// evaluated now.
    file: usize,
}

impl Stager<'_, '_, '_> {
    pub(super) fn fail<T>(&self, place: Place, sentence: impl Into<String>) -> Result<T, TextError> {
        Err(TextError::meaning(place, sentence).in_file(&self.model.files[self.file]))
    }

    pub(super) fn text(&self, name: Name) -> &str {
        self.model.names.text(name)
    }

    pub(super) fn statements(
        &mut self,
        statements: &[Statement],
        scope: &mut Scope,
    ) -> Result<(), TextError> {
        for statement in statements {
            self.statement(statement, scope)?;
        }
        Ok(())
    }

    pub(super) fn statement(&mut self, statement: &Statement, scope: &mut Scope) -> Result<(), TextError> {
        match statement {
            Statement::InFile(file) => self.file = *file,
            Statement::Let(bindings) => *scope = self.define(bindings, scope)?,
            Statement::Check(check) => self.check(check, scope)?,
            Statement::Enum(name, tags) => {
                let tags = tags.iter().map(|tag| Value::Tag(tag.as_str().into())).collect();
                *scope = scope.with(*name, Value::Many(Rc::new(tags)));
            }
            Statement::Procedure(name, pattern, statements) => {
                let procedure = Procedure {
                    pattern: pattern.clone(),
                    statements: Rc::new(statements.clone()),
                    scope: scope.clone(),
                    file: self.file,
                };
                *scope = scope.with(*name, Value::Procedure(Rc::new(procedure)));
            }
            Statement::Call(place, name, argument) => {
                let argument = self.expr(argument, scope)?;
                let Some(Value::Procedure(procedure)) = scope.find(*name).cloned() else {
                    return self.fail(*place, format!("`{}` is not a procedure", self.text(*name)));
                };
                self.enter(*place)?;
                let mut inner = self.bind(&procedure.pattern, argument, &procedure.scope, *place)?;
                let from = core::mem::replace(&mut self.file, procedure.file);
                self.statements(&procedure.statements, &mut inner)?;
                self.file = from;
                self.calls -= 1;
            }
            Statement::ForAll(place, name, set, statements) => {
                let members = self.expr(set, scope)?;
                for member in self.members(members, *place)? {
                    let mut inner = scope.with(*name, member);
                    self.statements(statements, &mut inner)?;
                }
            }
            Statement::With(place, name, expr) => {
                let value = self.with(*place, expr, scope)?;
                if let Some(value) = value {
                    *scope = scope.with(*name, value);
                }
            }
            Statement::If(condition, then, other) => {
                let branch = if self.condition(condition, scope)? { then } else { other };
                self.statements(branch, scope)?;
            }
            Statement::Block(statements) => self.statements(statements, scope)?,
            Statement::Match(subject, arms) => {
                let Value::Tag(value) = self.expr(subject, scope)? else {
                    return self
                        .fail(subject.place, "`match` over statements needs a tag such as `'release`");
                };
                let fits = |tag: &Option<String>| tag.as_deref().is_none_or(|tag| tag == &*value);
                match arms.iter().find(|(tag, _)| fits(tag)) {
                    Some((_, statements)) => self.statements(statements, scope)?,
                    None => {
                        return self.fail(subject.place, format!("no arm of this `match` fits `'{value}`"));
                    }
                }
            }
            Statement::Missing(place, sentence) | Statement::Include(place, sentence) => {
                return self.fail(*place, sentence.clone());
            }
            Statement::Instructions(..) => {}
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

    /// The value of `x` in `with x from e`. The value is a new choice that the search makes. A
    /// coherence order needs no new choice, because the search enumerates coherence orders anyway.
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
                    return self.fail(place, "`with` needs a set of relations, found sets and relations");
                }
                (Choice::Among(nodes), sets > 0)
            }
            other => {
                let sentence = format!("found {}, expected a set of values for `with`", other.kind());
                return self.fail(place, sentence);
            }
        };
        if self.choices.len() >= 8 {
            return self.fail(place, "a model may have at most eight `with` statements");
        }
        if set {
            return self.fail(place, "`with` needs a set of relations, found a set of sets of events");
        }
        let node = self.graph.chosen(Chosen::With(self.choices.len() as u8), false);
        self.choices.push(choice);
        Ok(Some(Value::Rel(Bounds::exact(node))))
    }

    pub(super) fn enter(&mut self, place: Place) -> Result<(), TextError> {
        self.calls += 1;
        if self.calls > CALLS_MAX {
            return self.fail(place, format!("more than {CALLS_MAX} nested function calls"));
        }
        Ok(())
    }

    /// Evaluates definitions. Returns `scope` with the defined names added.
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
                let sentence = format!("found {}, expected a tuple of {} values", value.kind(), names.len());
                self.fail(place, sentence)
            }
        }
    }
}

/// The error message for a recursive definition that does not converge.
pub(crate) fn diverges(name: &str) -> String {
    format!("the recursive definition of `{name}` does not converge: it uses itself after `\\` or `~`")
}

/// Whether a check can be decided only on complete executions. `deps` are the choices that the
/// check depends on.
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

/// Whether two values are certainly equal. False if that is not known.
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
