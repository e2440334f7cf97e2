//! The rules of a protocol about the lines of several controllers; see
//! [`proto::Protocol::disagreement`].

use std::collections::BTreeMap;

use proto::{LineView, NodeId};
use rustc_hash::FxHashSet;

use crate::machine::Machine;
use crate::search::store::{StateId, Store};

/// A check of the lines of all controllers in the states of a machine.
struct Check<'a> {
    machine: &'a Machine,
    disagreement: fn(&[(NodeId, LineView)]) -> Option<String>,
    /// The known lines of each station (controller with its parked inputs), by its number.
    views: BTreeMap<u32, Vec<LineView>>,
}

impl<'a> Check<'a> {
    /// The check of the machine's protocol. `None` if the protocol has no rule about several
    /// controllers.
    fn of(machine: &'a Machine) -> Option<Check<'a>> {
        let disagreement = machine.controllers.subject.disagreement?;
        Some(Check { machine, disagreement, views: BTreeMap::new() })
    }

    /// The stations of a state, by number.
    fn stations(&self, state: &[u32]) -> Vec<u32> {
        let parts = state[..self.machine.known.nodes].iter();
        parts.map(|&part| self.machine.part(part).station).collect()
    }

    /// The first violation of a rule by the lines of these stations.
    fn violation(&mut self, stations: &[u32]) -> Option<String> {
        let mut lines = Vec::new();
        for (&id, &station) in self.machine.controllers.ids().iter().zip(stations) {
            let controllers = &self.machine.controllers;
            let views = self.views.entry(station).or_insert_with(|| controllers.views(station));
            lines.extend(views.iter().map(|&view| (id, view)));
        }
        (self.disagreement)(&lines)
    }
}

/// The violation of a rule about several controllers in one state.
pub(crate) fn of_state(machine: &Machine, state: &[u32]) -> Option<String> {
    let mut check = Check::of(machine)?;
    let stations = check.stations(state);
    check.violation(&stations)
}

/// A state that violates a rule about several controllers, and the violation in words. No state
/// with a violation is nearer to the first state. Each combination of stations (controllers with
/// their parked inputs) without a violation is checked once. The outer `None` means that the caller
/// stopped the search.
pub(crate) fn nearest(
    machine: &Machine,
    store: &Store,
    stop: &mut dyn FnMut() -> bool,
) -> Option<Option<(StateId, String)>> {
    let Some(mut check) = Check::of(machine) else { return Some(None) };
    let mut checked: FxHashSet<Vec<u32>> = FxHashSet::default();
    let mut nearest: Option<((usize, StateId), String)> = None;
    let mut visited = 0_u64;
    for states in store.states_by_shard() {
        for id in states {
            visited += 1;
            if visited.is_multiple_of(1 << 16) && stop() {
                return None;
            }
            let stations = check.stations(store.state(id));
            if checked.contains(&stations) {
                continue;
            }
            if let Some(why) = check.violation(&stations) {
                // The states of a shard (a part of the store) are in the order of their distances, so
                // the first violation in a shard is the nearest one there.
                let found = ((store.path(id).len(), id), why);
                nearest = nearest.into_iter().chain([found]).min_by_key(|(at, _)| *at);
                break;
            }
            checked.insert(stations);
        }
    }
    Some(nearest.map(|((_, id), why)| (id, why)))
}
