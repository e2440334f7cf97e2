//! Scope instances. Each scope instance is a set of threads, such as the threads of one work-group.
//! Most instances are nested: if two instances share a thread, one of them contains the other.

use super::ThreadId;

pub use proto::Level;

/// The level that a word in a test stands for, for example `cta`. An unknown word stands for
/// [`Level::Named`].
pub(crate) fn level_of(kind: &str) -> Level {
    match kind.to_ascii_lowercase().as_str() {
        "wi" | "work_item" | "workitem" | "thread" => Level::WorkItem,
        "sg" | "sub_group" | "subgroup" | "warp" | "wavefront" | "wave" => Level::SubGroup,
        "wg" | "work_group" | "workgroup" | "cta" | "block" => Level::WorkGroup,
        "chiplet" | "cluster" | "qf" | "queue_family" => Level::Chiplet,
        "dev" | "dv" | "device" | "gpu" | "agent" | "kernel" => Level::Device,
        "sys" | "system" | "all" | "all_svm_devices" | "all_devices" => Level::System,
        _ => Level::Named,
    }
}

/// A set of threads: bit `i` stands for thread `i`.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct ThreadSet(pub u64);

impl ThreadSet {
    /// The set without threads.
    pub const NONE: ThreadSet = ThreadSet(0);

    /// The set of the first `count` threads.
    #[must_use]
    pub const fn first(count: usize) -> ThreadSet {
        ThreadSet(if count >= 64 { u64::MAX } else { (1 << count) - 1 })
    }

    /// The set that contains only `thread`.
    #[must_use]
    pub const fn only(thread: ThreadId) -> ThreadSet {
        ThreadSet(1 << (thread.0 & 63))
    }

    /// Whether `thread` is in the set.
    #[must_use]
    pub const fn contains(self, thread: ThreadId) -> bool {
        self.0 >> (thread.0 & 63) & 1 == 1
    }

    /// Whether all threads of `other` are in the set.
    #[must_use]
    pub const fn includes(self, other: ThreadSet) -> bool {
        other.0 & !self.0 == 0
    }

    /// The threads that are in at least one of the two sets.
    #[must_use]
    pub const fn union(self, other: ThreadSet) -> ThreadSet {
        ThreadSet(self.0 | other.0)
    }

    /// The number of threads in the set.
    #[must_use]
    pub const fn count(self) -> u32 {
        self.0.count_ones()
    }

    /// The threads of the set, in ascending order.
    pub fn iter(self) -> impl Iterator<Item = ThreadId> {
        (0..64u8).map(ThreadId).filter(move |&t| self.contains(t))
    }
}

/// A scope instance, given by its index in [`Scopes`].
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct ScopeId(pub u16);

/// One scope instance, such as work-group 3 or a device.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub struct ScopeInstance {
    /// The level of the instance. [`Level::Named`] stands for sets of threads outside of the
    /// hierarchy of levels, and for levels that only the model of the test defines.
    pub level: Level,
    /// The name of the instance's level in the test, such as `work_group` or `cta`. For a named set
    /// of threads, the name of the set, such as `S12`.
    pub kind: String,
    /// The number of the instance within its level. If the test gives the number, as in `cta 1`, it
    /// is this number. Otherwise the instances of a level are numbered in order of first
    /// occurrence.
    pub instance: u32,
    /// The threads of the instance.
    pub members: ThreadSet,
}

/// All scope instances of a program. Every thread has its own work-item instance. The
/// system instance holds all threads.
#[derive(Clone, Debug, Default, PartialEq, Eq, Hash)]
pub struct Scopes {
    instances: Vec<ScopeInstance>,
}

impl Scopes {
    /// The scopes of a program with `threads` threads that has no levels between work-item and
    /// system: one work-item instance for each thread, and one system instance for all threads.
    #[must_use]
    pub fn flat(threads: usize) -> Scopes {
        let mut scopes = Scopes::default();
        for thread in 0..threads as u8 {
            scopes.add(Level::WorkItem, "work_item", u32::from(thread), ThreadSet::only(ThreadId(thread)));
        }
        scopes.add(Level::System, "system", 0, ThreadSet::first(threads));
        scopes
    }

    /// The number of threads of the program.
    #[must_use]
    pub fn threads(&self) -> usize {
        self.instances.iter().filter(|s| s.level == Level::WorkItem).count()
    }

    /// Adds a scope instance. Returns its index.
    pub fn add(&mut self, level: Level, kind: &str, instance: u32, members: ThreadSet) -> ScopeId {
        self.instances.push(ScopeInstance { level, kind: kind.to_owned(), instance, members });
        ScopeId((self.instances.len() - 1) as u16)
    }

    /// The scope instance with this index.
    #[must_use]
    pub fn get(&self, scope: ScopeId) -> &ScopeInstance {
        &self.instances[usize::from(scope.0)]
    }

    /// Every scope instance with its index.
    pub fn iter(&self) -> impl Iterator<Item = (ScopeId, &ScopeInstance)> {
        self.instances.iter().enumerate().map(|(i, s)| (ScopeId(i as u16), s))
    }

    /// The first instance of `level` that contains `thread`. `None` if no such instance exists. A
    /// thread can be in several instances of [`Level::Named`]. To find one of these, use
    /// [`Scopes::enclosing_kind`].
    #[must_use]
    pub fn enclosing(&self, thread: ThreadId, level: Level) -> Option<ScopeId> {
        self.iter().find(|(_, s)| s.level == level && s.members.contains(thread)).map(|(id, _)| id)
    }

    /// The instance that contains `thread` and has the level or the name `kind` in the text of the
    /// test.
    #[must_use]
    pub fn enclosing_kind(&self, thread: ThreadId, kind: &str) -> Option<ScopeId> {
        self.iter().find(|(_, s)| s.kind == kind && s.members.contains(thread)).map(|(id, _)| id)
    }

    /// The scope instance that contains `thread` and that the word `written` of a test denotes. If
    /// the word stands for a level, the result is the instance of that level. Otherwise the result
    /// is the instance with the name `written`.
    #[must_use]
    pub(crate) fn around(&self, thread: ThreadId, written: &str) -> Option<ScopeId> {
        match level_of(written) {
            Level::Named => self.enclosing_kind(thread, written),
            level => self.enclosing(thread, level),
        }
    }

    /// Whether all threads of `inner` are in `outer`.
    #[must_use]
    pub fn includes(&self, outer: ScopeId, inner: ScopeId) -> bool {
        self.get(outer).members.includes(self.get(inner).members)
    }

    /// The scope instances that contain `thread`, smallest first.
    #[must_use]
    pub fn of_thread(&self, thread: ThreadId) -> Vec<ScopeId> {
        let mut of: Vec<_> =
            self.iter().filter(|(_, s)| s.members.contains(thread)).map(|(id, _)| id).collect();
        of.sort_by_key(|&id| (self.get(id).members.count(), self.get(id).level, id));
        of
    }

    /// The name of the instance in reports, such as `work_group 0` or `system`.
    #[must_use]
    pub fn name(&self, scope: ScopeId) -> String {
        let s = self.get(scope);
        match s.level {
            Level::System | Level::Named => s.kind.clone(),
            _ => format!("{} {}", s.kind, s.instance),
        }
    }
}
