//! The orders that a model requests from the search: coherence orders, and total orders that extend
//! a relation (linearisations).

use std::rc::Rc;

use crate::exec::set::{EventSet, members};
use crate::parse::{Place, TextError};

use super::super::ast::CheckKind;
use super::super::base;
use super::super::graph::{Chosen, Graph, NodeId};
use super::super::value::{Bounds, Value};
use super::{StagedCheck, Stager, same};

/// The maximum number of events in a set whose total orders are listed individually.
const LISTED_MAX: u32 = 6;
/// The maximum number of results of the predefined function `cross`, which combines one relation
/// from each of several sets of relations in every way.
const CROSSED_MAX: usize = 4096;

/// The writes whose coherence order the model uses.
#[derive(Debug, Default)]
pub(super) struct Ordered {
    /// True if the model uses the whole coherence order, or uses a relation that is derived from it,
    /// such as from-reads.
    pub(super) all: bool,
    /// The sets of writes whose coherence orders the model requests.
    pub(super) sets: Vec<NodeId>,
}

impl Stager<'_, '_, '_> {
    /// Applies the predefined function `generate_cos(r)` or `generate_orders(s, r)`.
    pub(super) fn coherence_orders(&mut self, argument: Value, place: Place) -> Result<Value, TextError> {
        let (set, order) = match argument {
            Value::Tuple(pair) if pair.len() == 2 => {
                (self.set(pair[0].clone(), place)?, self.relation(pair[1].clone(), place)?)
            }
            order => {
                let writes = base::writes(self.skeleton);
                let writes = Bounds::exact(self.graph.constant(true, vec![writes]));
                (writes, self.relation(order, place)?)
            }
        };
        Ok(Value::Coherence(set, order))
    }

    /// The value of `x` in `with x from generate_orders(s, r)`: the coherence order on
    /// `s`, which must extend `r`.
    pub(super) fn coherence(&mut self, set: Bounds, order: Bounds) -> Value {
        self.ordered.sets.push(set.low);
        let among = self.both(set, set, Graph::product);
        let co = self.choice(Chosen::Co);
        let chosen = self.both(co, among, Graph::inter);
        let loc = self.graph.constant(false, base::same_location(self.skeleton));
        let within = self.both(order, among, Graph::inter);
        let within = self.both(within, Bounds::exact(loc), Graph::inter);
        let missed = self.minus(within, co);
        self.require_empty("generate_cos", missed);
        Value::Rel(chosen)
    }

    /// Adds a check that fixes one order for the writes whose order the model does not use.
    /// Executions that differ only in this order, and have the same last writes, then count as one.
    pub(super) fn fix_unused_orders(&mut self) {
        if self.ordered.all || self.model.partial_coherence {
            return;
        }
        let writes = base::writes(self.skeleton);
        let sets = self.ordered.sets.iter();
        let ordered = sets.fold(EventSet::EMPTY, |all, &set| {
            all | if self.graph.is_static(set) { self.graph.value(set)[0] } else { writes }
        });
        let co = self.choice(Chosen::Co);
        let bad = self.graph.constant(false, base::redundant_orders(self.skeleton, ordered));
        let bad = self.both(co, Bounds::exact(bad), Graph::inter);
        let overwritten = self.each(co, Graph::domain);
        let overwritten = self.each(overwritten, Graph::identity_on);
        let redundant = self.both(bad, overwritten, Graph::seq);
        self.require_empty("", redundant);
    }

    fn require_empty(&mut self, name: &str, bounds: Bounds) {
        self.checks.push(StagedCheck {
            kind: CheckKind::Empty,
            negated: false,
            flag: false,
            undefined: false,
            name: name.to_owned(),
            low: bounds.low,
            high: bounds.high,
            deps: self.graph.node(bounds.low).deps,
            plan: Vec::new(),
        });
    }

    /// The total orders of `set` that extend the relation `order`. Neither argument may depend on a
    /// choice of the search.
    pub(super) fn linearisations(
        &mut self,
        set: Bounds,
        order: Bounds,
        place: Place,
    ) -> Result<Vec<Value>, TextError> {
        if !self.graph.is_static(set.low) || !self.graph.is_static(order.low) {
            return self.fail(
                place,
                "the list of linearisations depends on reads-from or coherence: choose one order with `with`",
            );
        }
        let left = self.graph.value(set.low)[0];
        if left.count() > LISTED_MAX {
            let sentence = format!(
                "a set of more than {LISTED_MAX} events has too many linearisations to list: choose one order \
                 with `with`"
            );
            return self.fail(place, sentence);
        }
        let before = self.graph.value(order.low).to_vec();
        let mut orders = Vec::new();
        linearise(
            left,
            EventSet::EMPTY,
            &before,
            &mut vec![EventSet::EMPTY; self.graph.events],
            &mut |rows| orders.push(rows.to_vec()),
        );
        let make = |rows| Value::Rel(Bounds::exact(self.graph.constant(false, rows)));
        Ok(orders.into_iter().map(make).collect())
    }

    /// Applies the predefined function `co_locs(r, sets)`. The result lists, for each of the sets,
    /// the total orders of the set's members that extend `r`.
    pub(super) fn orders_of_each(&mut self, argument: Value, place: Place) -> Result<Value, TextError> {
        let Value::Tuple(pair) = &argument else {
            return self
                .fail(place, format!("found {}, expected a relation and a set of sets", argument.kind()));
        };
        let [order, sets] = &pair[..] else {
            return self
                .fail(place, "found a tuple of another length, expected a relation and a set of sets");
        };
        let order = self.relation(order.clone(), place)?;
        let mut families = Vec::new();
        for set in self.members(sets.clone(), place)? {
            families.push(Value::Linearisations(self.set(set, place)?, order));
        }
        Ok(Value::Many(Rc::new(families)))
    }

    /// Applies the predefined function `cross(families)`. A family is a set of relations. Each
    /// resulting relation is the union of one relation from each family. If the families are the
    /// orders of sets of writes, the unions are coherence orders.
    pub(super) fn cross(&mut self, argument: Value, place: Place) -> Result<Value, TextError> {
        if matches!(argument, Value::Coherence(..)) {
            return Ok(argument);
        }
        let families = self.members(argument, place)?;
        if let Some(orders) = self.as_coherence(&families) {
            return Ok(orders);
        }
        let mut unions = vec![Bounds::exact(self.graph.empty(false))];
        for family in families {
            let members = self.members(family, place)?;
            if unions.len() * members.len() > CROSSED_MAX {
                return self.fail(place, format!("`cross` has more than {CROSSED_MAX} combinations here"));
            }
            let mut next = Vec::new();
            for union in unions {
                for member in &members {
                    let member = self.relation(member.clone(), place)?;
                    next.push(self.both(union, member, Graph::union));
                }
            }
            unions = next;
        }
        let mut values: Vec<Value> = Vec::new();
        for union in unions.into_iter().map(Value::Rel) {
            if !values.iter().any(|known| same(known, &union)) {
                values.push(union);
            }
        }
        Ok(Value::Many(Rc::new(values)))
    }

    fn as_coherence(&mut self, families: &[Value]) -> Option<Value> {
        let writes = base::writes(self.skeleton);
        let loc = base::same_location(self.skeleton);
        let mut all: Option<(Bounds, Bounds)> = None;
        for family in families {
            let Value::Linearisations(set, order) = family else { return None };
            let known = self.graph.is_static(set.low).then(|| self.graph.value(set.low)[0])?;
            let one_word = (0..self.graph.events).filter(|&e| known.has(e)).all(|e| known.is_within(loc[e]));
            if !known.is_within(writes) || !one_word {
                return None;
            }
            all = Some(match all {
                None => (*set, *order),
                Some((union, first)) if first == *order => (self.both(union, *set, Graph::union), first),
                Some(_) => return None,
            });
        }
        all.map(|(set, order)| Value::Coherence(set, order))
    }
}

fn linearise(
    left: EventSet,
    before: EventSet,
    order: &[EventSet],
    rows: &mut [EventSet],
    visit: &mut dyn FnMut(&[EventSet]),
) {
    if left.is_empty() {
        return visit(rows);
    }
    for event in members(left) {
        if members(left).any(|other| order[other].has(event)) {
            continue;
        }
        members(before).for_each(|earlier| rows[earlier].insert(event));
        linearise(left.without(event), before.with(event), order, rows, visit);
        members(before).for_each(|earlier| rows[earlier].remove(event));
    }
}
