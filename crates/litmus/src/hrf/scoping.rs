//! The meaning of a program's scopes under a reading: the releases and acquires that
//! pair, the closure of each edge, and the synchronization operations that conflict.
//!
//! Knowledge travels through *channels*. A release writes its thread's knowledge to
//! channels, an acquire reads channels. A channel belongs to one closure. HRF-direct
//! has one closure for each scope instance, the other models have one closure.

use super::{Model, Reading, SyncOrder};
use crate::program::{Program, ScopeId, ThreadId};

/// The role of an operation in synchronization.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct Role {
    /// Whether the access is a synchronization operation. Others are ordinary data operations.
    pub sync: bool,
    /// Whether the access is a release.
    pub releases: bool,
    /// Whether the access is an acquire.
    pub acquires: bool,
    /// The scope instance of a synchronization operation.
    pub scope: Option<ScopeId>,
}

/// A channel within a closure.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Channel {
    pub(crate) closure: u16,
    /// The first of [`Scoping::slots`] consecutive numbers.
    pub(crate) base: u32,
}

/// The scopes of a program under a reading.
#[derive(Clone, Debug)]
pub(crate) struct Scoping {
    reading: Reading,
    threads: usize,
    /// The scope instances that the program uses for synchronization.
    used: Vec<ScopeId>,
    /// The number of closures.
    pub(crate) closures: usize,
    /// The total number of slots of all channels.
    pub(crate) channels: usize,
    /// The number of slots of a channel: one, or one for each location and two more.
    slots: usize,
    publish: Vec<Vec<Channel>>,
    collect: Vec<Vec<Channel>>,
}

/// Whether `inner` is strictly narrower than `outer` and inside it. If both scopes have the same
/// threads, the order of their levels decides.
pub(crate) fn is_narrower(program: &Program, inner: ScopeId, outer: ScopeId) -> bool {
    let scopes = &program.scopes;
    let rank = |s: ScopeId| (scopes.get(s).members.count(), scopes.get(s).level, s);
    inner != outer && scopes.includes(outer, inner) && rank(inner) < rank(outer)
}

/// The scope whose closure contains the edge from a release by `from` at `released` to
/// an acquire by `to` at `acquired`. `None` if there is no edge. Locations are not
/// considered.
pub(crate) fn edge_scope(
    program: &Program,
    reading: Reading,
    (from, released): (ThreadId, ScopeId),
    (to, acquired): (ThreadId, ScopeId),
) -> Option<ScopeId> {
    if released == acquired || reading.model == Model::Drf {
        return Some(released);
    }
    if !reading.inclusion {
        return None;
    }
    let inner = if is_narrower(program, released, acquired) {
        released
    } else if is_narrower(program, acquired, released) {
        acquired
    } else {
        return None;
    };
    let members = program.scopes.get(inner).members;
    (members.contains(from) && members.contains(to)).then_some(inner)
}

impl Scoping {
    pub(crate) fn new(program: &Program, reading: Reading, mut used: Vec<ScopeId>) -> Scoping {
        used.sort_unstable();
        used.dedup();
        if reading.model == Model::Drf {
            used.truncate(1);
        }
        let threads = program.threads.len();
        let slots = match reading.so {
            SyncOrder::AnyLocation => 1,
            SyncOrder::SameLocation => program.locations.len() + 2,
        };
        let mut scoping = Scoping {
            reading,
            threads,
            closures: if reading.model == Model::HrfDirect { used.len().max(1) } else { 1 },
            channels: 0,
            slots,
            publish: vec![Vec::new(); used.len() * threads],
            collect: vec![Vec::new(); used.len() * threads],
            used,
        };
        for own in 0..scoping.used.len() {
            scoping.add_channels(program, own);
        }
        scoping
    }

    /// Adds the channels of one scope. A release at this scope writes the first channel. Acquires
    /// at this scope read it and, with inclusion, so do acquires of members at wider scopes. With
    /// inclusion there is also one channel for each wider scope: a release of a member at the wider
    /// scope writes it, and an acquire at this scope reads it.
    fn add_channels(&mut self, program: &Program, own: usize) {
        let scope = self.used[own];
        let everyone = program.scopes.get(scope).members;
        let closure = if self.reading.model == Model::HrfDirect { own as u16 } else { 0 };
        let channel = self.new_channel(closure);
        let drf = self.reading.model == Model::Drf;
        for t in 0..self.threads {
            if drf || everyone.contains(ThreadId(t as u8)) {
                self.publish[own * self.threads + t].push(channel);
                self.collect[own * self.threads + t].push(channel);
            }
        }
        if drf || !self.reading.inclusion {
            return;
        }
        for other in 0..self.used.len() {
            let outer = self.used[other];
            if !is_narrower(program, scope, outer) {
                continue;
            }
            let down = self.new_channel(closure);
            for t in everyone.iter().map(|t| usize::from(t.0)) {
                self.collect[other * self.threads + t].push(channel);
                self.publish[other * self.threads + t].push(down);
                self.collect[own * self.threads + t].push(down);
            }
        }
    }

    fn new_channel(&mut self, closure: u16) -> Channel {
        let base = self.channels as u32;
        self.channels += self.slots;
        Channel { closure, base }
    }

    fn index(&self, thread: usize, scope: ScopeId) -> usize {
        let own = match self.reading.model {
            Model::Drf => 0,
            _ => self.used.binary_search(&scope).unwrap_or(0),
        };
        own * self.threads + thread
    }

    /// The channels that a release writes.
    pub(crate) fn publish(&self, thread: usize, scope: ScopeId) -> &[Channel] {
        &self.publish[self.index(thread, scope)]
    }

    /// The channels that an acquire reads.
    pub(crate) fn collect(&self, thread: usize, scope: ScopeId) -> &[Channel] {
        &self.collect[self.index(thread, scope)]
    }

    /// The slots of a channel that a release of `loc` writes.
    pub(crate) fn release_slots(&self, loc: Option<usize>) -> [usize; 2] {
        match (self.reading.so, loc) {
            (SyncOrder::AnyLocation, _) => [0, 0],
            (SyncOrder::SameLocation, Some(loc)) => [loc, self.slots - 1],
            (SyncOrder::SameLocation, None) => [self.slots - 2, self.slots - 1],
        }
    }

    /// The slots of a channel that an acquire of `loc` reads.
    pub(crate) fn acquire_slots(&self, loc: Option<usize>) -> [usize; 2] {
        match (self.reading.so, loc) {
            (SyncOrder::AnyLocation, _) => [0, 0],
            (SyncOrder::SameLocation, Some(loc)) => [loc, self.slots - 2],
            (SyncOrder::SameLocation, None) => [self.slots - 1, self.slots - 1],
        }
    }

    /// Whether synchronization operations of `a` and `b` on the same word conflict, if
    /// one of them writes.
    pub(crate) fn conflict(&self, program: &Program, a: (ThreadId, ScopeId), b: (ThreadId, ScopeId)) -> bool {
        edge_scope(program, self.reading, a, b).is_none()
    }

    /// The bit of the channel in a footprint. Channels may share bits, which only adds
    /// dependence.
    pub(crate) fn bit(&self, channel: Channel) -> u64 {
        self.bit_of_number(channel.base as usize)
    }

    /// The bit of the channel with this number.
    pub(crate) fn bit_of_number(&self, number: usize) -> u64 {
        1 << (number / self.slots % 64)
    }

    /// The number of clocks of a state: one for each pair of a thread and a closure, and one
    /// for each pair of a thread and a channel.
    pub(crate) fn clocks(&self) -> usize {
        (self.closures * self.threads + self.channels) * self.threads
    }

    /// Whether a release pairs with acquires of other locations.
    pub(crate) fn any_location(&self) -> bool {
        self.reading.so == SyncOrder::AnyLocation
    }
}
