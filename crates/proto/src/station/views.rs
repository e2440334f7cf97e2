//! Checks of a station (a controller with its parked inputs), and read access to its parked inputs.

use super::Station;
use crate::contract::{LineView, Node, Protocol, World};
use crate::effects::Effects;
use crate::line::LineAddr;
use crate::node::{Key, NodeId, SetIndex, Slot};
use crate::parked::Parked;
use crate::queue::Queue;

impl<P: Protocol> Station<P> {
    /// Whether no input is parked or waits, and the controller has no operation under way.
    #[must_use]
    pub fn is_quiet(&self) -> bool {
        self.parked.is_empty() && self.waiting.is_empty() && self.held.is_empty() && self.node.is_quiet()
    }

    /// Checks a station, whose cache has this number of sets, at the end of a run. Returns the first
    /// property that does not hold, as a sentence, or `None` if all hold. `writes_through` says
    /// whether the cache's write policy writes dirty bytes out as soon as possible.
    #[must_use]
    pub fn check_at_rest(&self, sets: u32, writes_through: bool) -> Option<String> {
        let (mut views, mut victims) = (Vec::new(), Vec::new());
        self.node.lines(&mut views);
        (0..sets.max(1)).for_each(|set| self.node.victims(SetIndex(set), &mut victims));
        let kind = P::KINDS.get(usize::from(self.id.kind)).map_or("?", |k| k.name);
        let name = format!("{kind}[{}]", self.id.index);
        if !self.is_quiet() {
            let keys: Vec<_> = self.parked_keys().iter().map(|(key, _)| format!("{key:?}")).collect();
            return Some(format!(
                "at the end of the run {name} is still busy; its parked inputs wait for [{}]",
                keys.join(", ")
            ));
        }
        // A deadline may still prevent the eviction of some lines.
        if views.len() != victims.len() && self.deadlines.is_empty() {
            return Some(format!("at the end of the run {name} cannot evict some of its lines"));
        }
        let is_dirty = |view: &LineView| !view.owns && !view.dirty.is_empty();
        (writes_through && views.iter().any(is_dirty)).then(|| {
            format!(
                "at the end of the run {name} still holds dirty bytes, although its write policy is \
                 write-through"
            )
        })
    }

    /// Checks the station after a step. Returns the first fault as a sentence, or `None`. There are
    /// three possible faults:
    ///
    /// * a count of the controller is wrong;
    /// * a list of parked inputs is wrong;
    /// * an input waits for a way of a set although it could have one, so its wake was lost. To
    ///   find this fault, the function makes a copy of the station, and presents the oldest waiting
    ///   input to the copy.
    #[must_use]
    pub fn check_after_step(&self, world: World<'_, P>) -> Option<String> {
        let fault = match self.node.miscount() {
            Some(wrong) => wrong.to_owned(),
            None if !self.lists_are_right() => {
                "the lists of parked inputs do not match the parked inputs".to_owned()
            }
            None => {
                let set = self.forgotten_in(world)?;
                format!("a way of set {} is free, but an input that waits for it is not woken", set.0)
            }
        };
        let kind = P::KINDS.get(usize::from(self.id.kind)).map_or("?", |kind| kind.name);
        Some(format!("{kind}[{}]: {fault}", self.id.index))
    }

    /// The first set in which the oldest input that waits for a way would get one now.
    fn forgotten_in(&self, world: World<'_, P>) -> Option<SetIndex> {
        let mut sets = self.parked.iter().filter_map(|(&key, _)| match key {
            Key::Way(set) => Some(set),
            _ => None,
        });
        sets.find(|&set| {
            let (mut again, mut fx) = (self.clone(), Effects::default());
            // As in a wake, the inputs behind the oldest one do not count as waiting.
            let list = again.parked.get_mut(&Key::Way(set)).map(core::mem::take);
            if let Some(oldest) = list.and_then(|mut list| list.pop_front()) {
                again.present_parked(&oldest, world, &mut fx);
            }
            // An input that still has to wait uses no way.
            !fx.touches.is_empty() && fx.violation.is_none()
        })
    }

    /// Whether the lists of parked inputs agree with the requests and the ordered accesses that the
    /// station keeps.
    fn lists_are_right(&self) -> bool {
        let (mut requests, mut turns) = (0, 0);
        for (key, list) in self.parked.iter() {
            for parked in list.iter() {
                let is_right = match parked {
                    Parked::Request(slot) => {
                        requests += 1;
                        self.held.get(slot).is_some_and(|held| !held.under_slot)
                    }
                    Parked::Message(..) => true,
                    Parked::Turn(from, line) => {
                        turns += 1;
                        self.ordered
                            .get(&(*from, *line))
                            .is_some_and(|line| line.key == *key && !line.messages.is_empty())
                    }
                };
                if !is_right {
                    return false;
                }
            }
        }
        let listed = self.held.values().filter(|held| !held.under_slot).count();
        requests == listed && turns == self.ordered.len()
    }

    /// The number of inputs that are parked under a key (wait for the event that it names).
    #[must_use]
    pub fn parked_count(&self, key: Key) -> usize {
        match key {
            Key::Slot(slot) => usize::from(self.held.get(&slot).is_some_and(|held| held.under_slot)),
            _ => self.parked.get(&key).map_or(0, Queue::len),
        }
    }

    /// The keys (events) that parked inputs wait for, with the number of inputs for each key.
    ///
    /// The result is a list, as for all functions that return parked inputs, because an iterator
    /// over nested maps would be compiled for each protocol and each caller.
    #[must_use]
    pub fn parked_keys(&self) -> Vec<(Key, usize)> {
        let mut keys = Vec::new();
        for (&key, list) in self.parked.iter() {
            keys.push((key, list.len()));
        }
        for (&slot, held) in self.held.iter() {
            if held.under_slot {
                keys.push((Key::Slot(slot), 1));
            }
        }
        keys
    }

    /// The parked requests, each with its key: the event that it waits for.
    #[must_use]
    pub fn parked_requests(&self) -> Vec<(Key, Slot)> {
        let mut requests = Vec::new();
        for (&key, list) in self.parked.iter() {
            for parked in list.iter() {
                if let Parked::Request(slot) = parked {
                    requests.push((key, *slot));
                }
            }
        }
        for (&slot, held) in self.held.iter() {
            if held.under_slot {
                requests.push((Key::Slot(slot), slot));
            }
        }
        requests
    }

    /// The parked messages, each with its key (the event that it waits for) and its sender.
    #[must_use]
    pub fn parked_messages(&self) -> Vec<(Key, NodeId, &P::Msg)> {
        let mut messages = Vec::new();
        for (&key, list) in self.parked.iter() {
            for parked in list.iter() {
                if let Parked::Message(from, msg) = parked {
                    messages.push((key, *from, &**msg));
                }
            }
        }
        for (&(from, _), line) in self.ordered.iter() {
            for msg in line.messages.iter() {
                messages.push((line.key, from, &**msg));
            }
        }
        messages
    }

    /// The requests that wait for a fill, each with the line of the fill.
    #[must_use]
    pub fn waiting_requests(&self) -> Vec<(LineAddr, Slot)> {
        let mut requests = Vec::new();
        for (&line, slots) in self.waiting.iter() {
            requests.extend(slots.iter().map(|&slot| (line, slot)));
        }
        requests
    }
}
