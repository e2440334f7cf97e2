//! What a station is asked about what is parked at it.

use super::{Parked, Station};
use crate::contract::{LineView, Node, Protocol};
use crate::line::LineAddr;
use crate::node::{Key, NodeId, SetIndex, Slot};
use crate::queue::Queue;

impl<P: Protocol> Station<P> {
    /// Is nothing parked, waiting or under way?
    #[must_use]
    pub fn is_quiet(&self) -> bool {
        self.parked.is_empty() && self.waiting.is_empty() && self.held.is_empty() && self.node.is_quiet()
    }

    /// What of a station with one set is not as it must be when everything is
    /// over. Does its policy pass writes on?
    #[must_use]
    pub fn unrest(&self, passes_on: bool) -> Option<String> {
        let (mut views, mut victims) = (Vec::new(), Vec::new());
        self.node.lines(&mut views);
        self.node.victims(SetIndex(0), &mut victims);
        let kind = P::KINDS.get(usize::from(self.id.kind)).map_or("?", |k| k.name);
        let name = format!("{kind}[{}]", self.id.index);
        if !self.is_quiet() {
            let keys: Vec<_> = self.parked_keys().map(|(key, _)| format!("{key:?}")).collect();
            return Some(format!(
                "at the end {name} is not quiet; inputs are parked under [{}]",
                keys.join(", ")
            ));
        }
        // Some lines may be refused until a deadline.
        if views.len() != victims.len() && self.deadlines.is_empty() {
            return Some(format!("at the end {name} cannot give up some of its lines"));
        }
        let is_dirty = |view: &LineView| !view.owns && !view.dirty.is_empty();
        (passes_on && views.iter().any(is_dirty))
            .then(|| format!("at the end {name} holds dirty bytes, and its policy is to pass them on"))
    }

    /// How many inputs are parked under a key.
    #[must_use]
    pub fn parked_count(&self, key: Key) -> usize {
        match key {
            Key::Slot(slot) => usize::from(self.held.get(&slot).is_some_and(|held| held.own)),
            _ => self.parked.get(&key).map_or(0, Queue::len),
        }
    }

    /// The keys under which something is parked, with how many inputs.
    pub fn parked_keys(&self) -> impl Iterator<Item = (Key, usize)> {
        let own = self.held.iter().filter(|(_, held)| held.own).map(|(&slot, _)| (Key::Slot(slot), 1));
        self.parked.iter().map(|(&key, list)| (key, list.len())).chain(own)
    }

    /// The requests that are parked, with what they wait for.
    pub fn parked_requests(&self) -> impl Iterator<Item = (Key, Slot)> {
        let own = self.held.iter().filter(|(_, held)| held.own).map(|(&slot, _)| (Key::Slot(slot), slot));
        let listed = self.parked.iter().flat_map(|(&key, list)| {
            list.iter().filter_map(move |p| match p {
                Parked::Request(slot) => Some((key, *slot)),
                Parked::Message(..) | Parked::Turn(..) => None,
            })
        });
        listed.chain(own)
    }

    /// The messages that are parked, with what they wait for.
    pub fn parked_messages(&self) -> impl Iterator<Item = (Key, NodeId, &P::Msg)> {
        let unordered = self.parked.iter().flat_map(|(&key, list)| {
            list.iter().filter_map(move |p| match p {
                Parked::Message(from, msg) => Some((key, *from, &**msg)),
                Parked::Request(_) | Parked::Turn(..) => None,
            })
        });
        let ordered = self
            .ordered
            .iter()
            .flat_map(|(&(from, _), line)| line.messages.iter().map(move |msg| (line.key, from, &**msg)));
        unordered.chain(ordered)
    }

    /// The requests that wait for a fill, with the line.
    pub fn waiting_requests(&self) -> impl Iterator<Item = (LineAddr, Slot)> {
        self.waiting.iter().flat_map(|(&line, slots)| slots.iter().map(move |&slot| (line, slot)))
    }
}
