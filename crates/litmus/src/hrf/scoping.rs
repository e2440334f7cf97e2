//! Interprets the scopes of a program under a reading (an interpretation of an HRF model):
//! determines which releases and acquires pair, to which closure each of these edges belongs, and
//! which synchronization operations conflict.
//!
//! The set of accesses that a thread knows travels through *channels*. A release writes the set to
//! channels, and an acquire reads channels. A channel belongs to one closure. A closure is a set of
//! synchronization edges that happens-before may combine. HRF-direct has one closure for each scope
//! instance. Each of the other models has a single closure.

use super::{Model, Reading, SyncOrder};
use crate::program::{Program, ScopeId, ThreadId};

/// The role of an operation in synchronization.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct Role {
    /// Whether the access is a synchronization operation. Other accesses are ordinary data
    /// accesses.
    pub sync: bool,
    /// Whether the access is a release.
    pub releases: bool,
    /// Whether the access is an acquire.
    pub acquires: bool,
    /// The scope instance of a synchronization operation. `None` for a data access.
    pub scope: Option<ScopeId>,
}

/// A channel, which carries the known accesses of threads from releases to acquires. A release
/// writes the known accesses of its thread to channels, and an acquire reads channels. A channel
/// belongs to one closure (a set of edges that happens-before may combine).
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Channel {
    pub(crate) closure: u16,
    /// The number of the channel's first slot. A slot is a part of a channel that has its own
    /// vector clock. A channel has [`Scoping::slots`] slots with consecutive numbers.
    pub(crate) base: u32,
}

/// The channels of a program. A channel carries known accesses from releases to acquires. Under one
/// reading (interpretation of an HRF model), the channels determine which releases and acquires of
/// the program pair.
#[derive(Clone, Debug)]
pub(crate) struct Scoping {
    reading: Reading,
    threads: usize,
    /// The scope instances that the program uses for synchronization.
    used: Vec<ScopeId>,
    /// The number of closures: sets of synchronization edges within which happens-before is
    /// transitive.
    pub(crate) closures: usize,
    /// The total number of slots of all channels. A slot is a part of a channel that has its own
    /// vector clock.
    pub(crate) channels: usize,
    /// The number of slots (parts with a vector clock) of each channel. The number is one if
    /// releases pair with acquires of any location. Otherwise it is the number of locations plus
    /// two.
    slots: usize,
    publish: Vec<Vec<Channel>>,
    collect: Vec<Vec<Channel>>,
}

/// Whether the scope `inner` is inside the scope `outer` and is strictly narrower. If both scopes
/// have the same threads, the scope of the inner level is the narrower one.
pub(crate) fn is_narrower(program: &Program, inner: ScopeId, outer: ScopeId) -> bool {
    let scopes = &program.scopes;
    let rank = |s: ScopeId| (scopes.get(s).members.count(), scopes.get(s).level, s);
    inner != outer && scopes.includes(outer, inner) && rank(inner) < rank(outer)
}

/// The scope to which the synchronization edge from a release to an acquire belongs. Thread `from`
/// releases at the scope `released`, and thread `to` acquires at the scope `acquired`. `None` if
/// the two operations do not synchronize. The function ignores the locations of the operations.
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

    /// Adds the channels of the scope `used[own]`. A channel carries known accesses from releases
    /// to acquires. Releases at this scope write its first channel, and acquires at this scope read
    /// the first channel.
    ///
    /// If the chosen reading (variant) of HRF has scope inclusion (operations at nested scopes
    /// synchronize), the scope also pairs with wider scopes. If a thread of the scope acquires at a
    /// wider scope, the acquire reads the first channel, too. For each wider scope there is one more
    /// channel: if a thread of the narrower scope releases at the wider scope, the release writes
    /// this channel, and acquires at the narrower scope read the channel.
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

    /// The channels to which a release of `thread` at `scope` writes. A channel carries known
    /// accesses from releases to acquires.
    pub(crate) fn publish(&self, thread: usize, scope: ScopeId) -> &[Channel] {
        &self.publish[self.index(thread, scope)]
    }

    /// The channels that an acquire of `thread` at `scope` reads. A channel carries known accesses
    /// from releases to acquires.
    pub(crate) fn collect(&self, thread: usize, scope: ScopeId) -> &[Channel] {
        &self.collect[self.index(thread, scope)]
    }

    /// The two slots (parts with a vector clock) of a channel that a release of `loc` writes: the
    /// slot of the location (or of all releases without a location), and the slot of all releases.
    /// If releases pair with acquires of any location, the channel has only one slot, and both
    /// results are this slot.
    pub(crate) fn release_slots(&self, loc: Option<usize>) -> [usize; 2] {
        match (self.reading.so, loc) {
            (SyncOrder::AnyLocation, _) => [0, 0],
            (SyncOrder::SameLocation, Some(loc)) => [loc, self.slots - 1],
            (SyncOrder::SameLocation, None) => [self.slots - 2, self.slots - 1],
        }
    }

    /// The two slots (parts with a vector clock) of a channel that an acquire of `loc` reads: the
    /// slot of the location, and the slot of the releases without a location. An acquire without a
    /// location reads only the slot of all releases. If releases pair with acquires of any
    /// location, the channel has only one slot, and both results are this slot.
    pub(crate) fn acquire_slots(&self, loc: Option<usize>) -> [usize; 2] {
        match (self.reading.so, loc) {
            (SyncOrder::AnyLocation, _) => [0, 0],
            (SyncOrder::SameLocation, Some(loc)) => [loc, self.slots - 2],
            (SyncOrder::SameLocation, None) => [self.slots - 1, self.slots - 1],
        }
    }

    /// Whether two synchronization operations conflict. `a` and `b` are their threads and scopes.
    /// The caller guarantees that both operations access the same word, and that at least one of
    /// them writes it.
    pub(crate) fn conflict(&self, program: &Program, a: (ThreadId, ScopeId), b: (ThreadId, ScopeId)) -> bool {
        edge_scope(program, self.reading, a, b).is_none()
    }

    /// The bit that represents the channel in a footprint (the bit sets of resources that an
    /// operation uses). Several channels may share a bit. Because of a shared bit, two operations
    /// that commute may look dependent.
    pub(crate) fn bit(&self, channel: Channel) -> u64 {
        self.bit_of_number(channel.base as usize)
    }

    /// The bit that represents a channel in a footprint (the resources that an operation uses). The
    /// channel is given by the number of one of its slots (parts with a vector clock).
    pub(crate) fn bit_of_number(&self, number: usize) -> u64 {
        1 << (number / self.slots % 64)
    }

    /// The number of entries that all vector clocks of a state have together. A clock has one entry
    /// for each thread. Each thread has one clock for each closure (a set of edges that
    /// happens-before may combine), and each slot (part) of a channel has one clock.
    pub(crate) fn clocks(&self) -> usize {
        (self.closures * self.threads + self.channels) * self.threads
    }

    /// Whether a release pairs with acquires of all locations, and not only with acquires of its
    /// own location.
    pub(crate) fn any_location(&self) -> bool {
        self.reading.so == SyncOrder::AnyLocation
    }
}
