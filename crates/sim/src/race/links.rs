//! The happens-before relation of the race detector: releases, acquires, fences and barriers.

use std::rc::Rc;

use proto::Level;
use rustc_hash::FxHashMap;

use super::clock::{Clock, ThreadId};
use super::code::CodeId;
use super::scope::{Instance, Pairing, RaceModel, Standing, wider};

/// A place at which releases and acquires synchronize, such as a word of memory.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub(super) enum SyncPlace {
    /// The word of global memory with this number.
    Word(u64),
    /// A word of a work-group's local memory.
    Local { group: u64, word: u64 },
    /// The barrier of a work-group, in its use number `nth`.
    Barrier { group: u64, nth: u32 },
    /// One place that stands for all locations, if an acquire synchronizes with releases at any
    /// location.
    Anywhere,
}

/// An operation that makes a release or an acquire: its thread, its epoch (the time between two
/// releases or barriers of the thread) and its code site (place in the source).
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Source {
    pub(super) standing: Standing,
    pub(super) epoch: u32,
    pub(super) code: CodeId,
}

/// The vector clocks that a release publishes. An acquire whose scope matches that of the release
/// adds them to the clocks of its thread.
#[derive(Clone, Debug)]
pub(super) struct Published {
    scope: Instance,
    /// Whether the release also reaches acquires at narrower scopes in other work-groups, as a
    /// remote operation does.
    is_remote: bool,
    clock: Rc<Clock>,
    /// The clock that the release would publish if all scopes were one scope.
    wide: Rc<Clock>,
    source: Source,
}

/// The clocks that an acquire may take, and the operations that made the releases. The flag of an
/// operation tells whether its code site (place in the source) made releases in more than one
/// work-group.
type AcquirableRelease = (Published, Vec<(Source, bool)>);

/// The combined releases of all threads at one scope and one place.
#[derive(Clone, Debug)]
struct Channel {
    all: Published,
    /// Releases by operations that may turn out not to write, such as a compare-exchange. Each has
    /// the token that identifies its operation.
    tentative: Vec<(usize, Published)>,
    /// The operations that made the releases. The flag of an operation tells whether its code site
    /// (place in the source) made releases in more than one work-group.
    sources: Vec<(Source, bool)>,
}

/// A release and an acquire that do not synchronize because their scopes do not match.
#[derive(Clone, Debug)]
pub(super) struct MissedLink {
    pub(super) release: Source,
    pub(super) acquire: Source,
    pub(super) wide: Rc<Clock>,
}

/// A thread as the race detector sees it: its vector clocks, and its operations that are not
/// complete.
#[derive(Debug)]
pub(super) struct Thread {
    pub(super) standing: Standing,
    pub(super) epoch: u32,
    /// A limit of thread numbers: threads with smaller numbers belong to kernels that have ended.
    /// The thread that has this field is therefore ordered after all of their operations.
    pub(super) since: u32,
    /// The epoch of the host in which it launched the thread's kernel. An epoch of a thread is the
    /// time between two of its releases.
    host: u32,
    /// The vector clocks, one for each closure. A closure is a set of scopes whose synchronization
    /// composes: under HRF-direct each scope is a closure of its own, otherwise all scopes form one
    /// closure.
    clocks: Vec<(Instance, Rc<Clock>)>,
    wide: Rc<Clock>,
    /// The vector clock of the operations that happened before this thread's next operation because
    /// of barriers. A barrier orders accesses of local memory whatever its semantics are.
    local: Rc<Clock>,
    /// The last release fence of this thread at each scope.
    fences: Vec<Published>,
    /// For each place (such as a word of memory), the releases that earlier atomic reads of this
    /// thread found there. A later acquire fence synchronizes with these releases.
    seen: Vec<(SyncPlace, Vec<AcquirableRelease>)>,
    /// Tokens (numbers) of operations that are recorded at their completion instead of their issue.
    /// Each has the epoch (the time between two releases or barriers of the issuing thread) in
    /// which its operation was issued.
    pub(super) in_flight: Vec<(usize, u32)>,
    pub(super) barriers: u32,
}

impl Thread {
    pub(super) fn new(standing: Standing, since: u32, host: u32) -> Thread {
        Thread {
            standing,
            epoch: 1,
            since,
            host,
            clocks: Vec::new(),
            wide: Rc::default(),
            local: Rc::default(),
            fences: Vec::new(),
            seen: Vec::new(),
            in_flight: Vec::new(),
            barriers: 0,
        }
    }

    /// Whether an epoch of `thread` happened before the next operation of the thread to which `self`
    /// belongs, even without synchronization. This is so if both are one thread (program order), or
    /// if a kernel began or ended in between. An epoch is the time between two releases of `thread`.
    #[inline]
    fn knows_anyway(&self, thread: ThreadId, epoch: u32) -> bool {
        if thread == ThreadId::HOST {
            return epoch <= self.host || self.standing.group.is_none();
        }
        thread.0 == self.standing.thread || thread.0 < self.since
    }

    /// Whether epoch `epoch` of `thread` (the time between two of its releases) happened before the
    /// next operation of the thread to which `self` belongs.
    #[inline]
    pub(super) fn knows(&self, thread: ThreadId, epoch: u32) -> bool {
        self.knows_anyway(thread, epoch) || self.clocks.iter().any(|(_, clock)| clock.of(thread) >= epoch)
    }

    /// For accesses to local memory: whether epoch `epoch` of `thread` (the time between two of its
    /// releases) happened before the next operation of the thread to which `self` belongs.
    #[inline]
    pub(super) fn knows_locally(&self, thread: ThreadId, epoch: u32) -> bool {
        self.local.of(thread) >= epoch || self.knows(thread, epoch)
    }

    /// Whether a third thread that synchronizes with the next operation of `self` (a thread) is
    /// thereby also ordered after epoch `epoch` of `thread` (the time between two of its releases).
    #[inline]
    pub(super) fn passes_on(&self, model: RaceModel, thread: ThreadId, epoch: u32) -> bool {
        match model {
            // Order that this thread has through one scope is not passed on through another scope.
            RaceModel::HrfDirect => self.knows_anyway(thread, epoch),
            RaceModel::Drf | RaceModel::HrfIndirect => self.knows(thread, epoch),
        }
    }

    /// Whether epoch `epoch` of `thread` (the time between two of its releases) would have happened
    /// before the next operation of the thread to which `self` belongs, if all scopes were one
    /// scope.
    pub(super) fn would_know(&self, thread: ThreadId, epoch: u32) -> bool {
        self.wide.of(thread) >= epoch
    }

    fn clock(&mut self, closure: Instance) -> &mut Rc<Clock> {
        let at = self.clocks.iter().position(|(of, _)| *of == closure).unwrap_or_else(|| {
            self.clocks.push((closure, Rc::default()));
            self.clocks.len() - 1
        });
        &mut self.clocks[at].1
    }

    fn learn(&mut self, model: RaceModel, scope: Instance, published: &Published) {
        join(self.clock(closure(model, scope)), &published.clock);
    }

    fn learn_wide(&mut self, model: RaceModel, published: &Published) {
        if model != RaceModel::Drf {
            join(&mut self.wide, &published.wide);
        }
    }
}

fn join(into: &mut Rc<Clock>, from: &Rc<Clock>) {
    if !Rc::ptr_eq(into, from) {
        Rc::make_mut(into).join(from);
    }
}

/// The closure (a set of scopes whose synchronization composes) that contains this scope: the scope
/// alone under HRF-direct, all scopes otherwise.
fn closure(model: RaceModel, scope: Instance) -> Instance {
    if model == RaceModel::HrfDirect { scope } else { Instance::SYSTEM }
}

/// The releases of a run. Later acquires may synchronize with them.
#[derive(Debug)]
pub(super) struct Links {
    pub(super) model: RaceModel,
    pairing: Pairing,
    channels: FxHashMap<SyncPlace, Vec<Channel>>,
    /// For each use of a barrier, the combined clock of the threads that have reached it.
    barriers: FxHashMap<SyncPlace, Rc<Clock>>,
    missed: Vec<MissedLink>,
    /// For each code site (operation at a place in the source), the widest scope level that its
    /// synchronization needed.
    pub(super) needed: FxHashMap<CodeId, Level>,
}

/// The maximum number of missed links that are kept. A missed link is a release and an acquire
/// whose scopes do not match.
const MISSED_MOST: usize = 256;
/// The maximum number of different release operations that are kept for one scope and place.
const SOURCES_MOST: usize = 8;

impl Links {
    pub(super) fn new(model: RaceModel, pairing: Pairing) -> Links {
        Links {
            model,
            pairing,
            channels: FxHashMap::default(),
            barriers: FxHashMap::default(),
            missed: Vec::new(),
            needed: FxHashMap::default(),
        }
    }

    /// Removes all releases. The machine is idle, so every later thread is ordered after them
    /// without synchronization.
    pub(super) fn forget(&mut self) {
        self.channels.clear();
        self.barriers.clear();
        self.missed.clear();
    }

    fn sync_place(&self, at: SyncPlace) -> SyncPlace {
        match (self.pairing, at) {
            (Pairing::AnyLocation, SyncPlace::Word(_) | SyncPlace::Local { .. }) => SyncPlace::Anywhere,
            _ => at,
        }
    }

    /// The vector clocks that a release by `thread` at `scope` publishes now.
    fn published(&self, thread: &mut Thread, code: CodeId, scope: Instance, is_remote: bool) -> Published {
        let (me, epoch) = (ThreadId(thread.standing.thread), thread.epoch);
        let scope = if self.model == RaceModel::Drf { Instance::SYSTEM } else { scope };
        let mut clock = thread.clock(closure(self.model, scope)).clone();
        Rc::make_mut(&mut clock).learn(me, epoch);
        let mut wide = thread.wide.clone();
        if self.model != RaceModel::Drf {
            Rc::make_mut(&mut wide).learn(me, epoch);
        }
        let source = Source { standing: thread.standing, epoch, code };
        Published { scope, is_remote, clock, wide, source }
    }

    /// Records an atomic write of `thread` at the place `at`. If the write is a release, it
    /// publishes the clock of its thread. Every write also publishes the clocks of earlier release
    /// fences of the thread. If it is not yet certain that the operation writes, `tentative` is the
    /// token that identifies it.
    pub(super) fn write(
        &mut self,
        thread: &mut Thread,
        at: SyncPlace,
        release: Option<(CodeId, Instance, bool)>,
        tentative: Option<usize>,
    ) {
        let at = self.sync_place(at);
        if let Some((code, scope, is_remote)) = release {
            let published = self.published(thread, code, scope, is_remote);
            self.publish(at, published, tentative);
        }
        for at_fence in 0..thread.fences.len() {
            let published = thread.fences[at_fence].clone();
            self.publish(at, published, tentative);
        }
    }

    fn publish(&mut self, at: SyncPlace, published: Published, tentative: Option<usize>) {
        let channels = self.channels.entry(at).or_default();
        let alike = |c: &Channel| c.all.scope == published.scope && c.all.is_remote == published.is_remote;
        let number = channels.iter().position(alike).unwrap_or_else(|| {
            let empty = Published { clock: Rc::default(), wide: Rc::default(), ..published.clone() };
            channels.push(Channel { all: empty, tentative: Vec::new(), sources: Vec::new() });
            channels.len() - 1
        });
        match tentative {
            Some(token) => channels[number].tentative.push((token, published)),
            None => channels[number].settle(&published),
        }
    }

    /// Decides which writes of the operation `token` happened. They were uncertain until now. For
    /// each of `places`, calls `happened` to ask whether the operation wrote there. The argument of
    /// `happened` is the place. In a model without locations, in which an acquire synchronizes with
    /// releases at any location, the argument is `None`.
    pub(super) fn decide(
        &mut self,
        token: usize,
        happened: impl Fn(Option<SyncPlace>) -> bool,
        places: impl Iterator<Item = SyncPlace>,
    ) {
        for place in places {
            let at = self.sync_place(place);
            let took_place = happened(Some(place).filter(|place| *place == at));
            for channel in self.channels.get_mut(&at).into_iter().flatten() {
                while let Some(found) = channel.tentative.iter().position(|(of, _)| *of == token) {
                    let (_, published) = channel.tentative.swap_remove(found);
                    if took_place {
                        channel.settle(&published);
                    }
                }
            }
        }
    }

    /// Records an atomic read of `thread` at the place `at`. If the read is an acquire, it
    /// synchronizes with the releases at its scope. A later acquire fence may synchronize with all
    /// releases that the read found.
    pub(super) fn read(
        &mut self,
        thread: &mut Thread,
        at: SyncPlace,
        acquire: Option<(CodeId, Instance, bool)>,
    ) {
        let at = self.sync_place(at);
        let Some(channels) = self.channels.get(&at) else { return };
        let releases: Vec<AcquirableRelease> =
            channels.iter().map(|channel| (channel.acquirable(), channel.sources.clone())).collect();
        if let Some((code, scope, is_remote)) = acquire {
            for (published, sources) in &releases {
                self.take(thread, published, sources, code, scope, is_remote);
            }
        }
        match thread.seen.iter_mut().find(|(of, _)| *of == at) {
            Some((_, seen)) => *seen = releases,
            None => thread.seen.push((at, releases)),
        }
    }

    /// Makes `thread` acquire a release at `scope`. If the scopes of the release and of the acquire
    /// do not match, records the two as a missed link instead.
    fn take(
        &mut self,
        thread: &mut Thread,
        published: &Published,
        sources: &[(Source, bool)],
        code: CodeId,
        scope: Instance,
        is_remote: bool,
    ) {
        let scope = if self.model == RaceModel::Drf { Instance::SYSTEM } else { scope };
        if published.scope == scope || published.is_remote || is_remote {
            thread.learn(self.model, scope, published);
            for (source, is_many) in sources {
                let own = source.standing.common(&thread.standing);
                let level = if *is_many { wider(Level::Device, own) } else { own };
                for of in [source.code, code] {
                    let needed = self.needed.entry(of).or_insert(Level::WorkItem);
                    *needed = wider(*needed, level);
                }
            }
        } else if !thread.knows(ThreadId(published.source.standing.thread), published.source.epoch) {
            self.miss(thread, published, code);
        }
        thread.learn_wide(self.model, published);
    }

    fn miss(&mut self, thread: &Thread, published: &Published, code: CodeId) {
        let acquire = Source { standing: thread.standing, epoch: thread.epoch, code };
        let missed = MissedLink { release: published.source, acquire, wide: published.wide.clone() };
        let same = |m: &MissedLink| {
            m.release.standing.thread == missed.release.standing.thread
                && m.acquire.standing.thread == missed.acquire.standing.thread
                && m.acquire.code == code
        };
        if let Some(at) = self.missed.iter().position(same) {
            self.missed.remove(at);
        } else if self.missed.len() == MISSED_MOST {
            self.missed.remove(0);
        }
        self.missed.push(missed);
    }

    /// The release and the acquire whose scopes do not match, and because of which `thread` is not
    /// ordered after epoch `epoch` of `first` (the time between two of its releases). `None` if
    /// there is no such pair.
    pub(super) fn cut(&self, thread: &Thread, first: ThreadId, epoch: u32) -> Option<&MissedLink> {
        let carries = |m: &&MissedLink| m.wide.of(first) >= epoch;
        let own = |m: &&MissedLink| m.acquire.standing.thread == thread.standing.thread;
        let mut all = self.missed.iter().rev().filter(carries);
        all.clone().find(own).or_else(|| all.next())
    }

    /// Adds the clock of `thread`, which arrives at a barrier, to the clock of the barrier.
    pub(super) fn arrive(&mut self, thread: &Thread, at: SyncPlace) {
        let known = Rc::make_mut(self.barriers.entry(at).or_default());
        known.join(&thread.local);
        known.learn(ThreadId(thread.standing.thread), thread.epoch);
    }

    /// Adds the clock of a barrier, which all threads have reached, to the clock of `thread`.
    pub(super) fn depart(&mut self, thread: &mut Thread, at: SyncPlace) {
        if let Some(known) = self.barriers.get(&at) {
            join(&mut thread.local, known);
        }
    }

    /// Records the release of a fence, at the issue of the fence.
    pub(super) fn fence_releases(
        &mut self,
        thread: &mut Thread,
        code: CodeId,
        scope: Instance,
        is_remote: bool,
    ) {
        let published = self.published(thread, code, scope, is_remote);
        if self.pairing == Pairing::AnyLocation {
            return self.publish(SyncPlace::Anywhere, published, None);
        }
        thread.fences.retain(|fence| fence.scope != published.scope);
        thread.fences.push(published);
    }

    /// Records the acquire of a fence, at the completion of the fence.
    pub(super) fn fence_acquires(
        &mut self,
        thread: &mut Thread,
        code: CodeId,
        scope: Instance,
        is_remote: bool,
    ) {
        if self.pairing == Pairing::AnyLocation {
            return self.read(thread, SyncPlace::Anywhere, Some((code, scope, is_remote)));
        }
        for (at, mut found) in core::mem::take(&mut thread.seen) {
            for (published, sources) in &found {
                self.take(thread, published, sources, code, scope, is_remote);
            }
            // The fence has taken the clocks of some releases completely. A later fence does not
            // need these releases.
            found.retain(|(published, _)| match self.model {
                RaceModel::Drf => false,
                RaceModel::HrfDirect => published.scope != scope,
                RaceModel::HrfIndirect => published.scope != scope && !published.is_remote && !is_remote,
            });
            if !found.is_empty() {
                thread.seen.push((at, found));
            }
        }
    }
}

impl Channel {
    fn settle(&mut self, published: &Published) {
        join(&mut self.all.clock, &published.clock);
        join(&mut self.all.wide, &published.wide);
        self.all.source = published.source;
        let source = published.source;
        if let Some((of, is_many)) = self.sources.iter_mut().find(|(of, _)| of.code == source.code) {
            *is_many |= of.standing.group != source.standing.group;
            *of = source;
        } else if self.sources.len() < SOURCES_MOST {
            self.sources.push((source, false));
        }
    }

    /// The combined clocks of the releases of this channel (one scope and one place). An acquire
    /// may take them now. Releases by operations that may turn out not to write are included.
    fn acquirable(&self) -> Published {
        let mut acquirable = self.all.clone();
        for (_, published) in &self.tentative {
            join(&mut acquirable.clock, &published.clock);
            join(&mut acquirable.wide, &published.wide);
        }
        acquirable
    }
}
