//! The size and the levels of a machine. The machine can be a full one for the simulator, or a
//! small one for the explorer (the program that tries every schedule).
//!
//! A machine declares levels. A protocol declares kinds of controller, each with the name of its
//! level. [`crate::Levels`] finds the level of each kind.

use crate::line::LINE_BYTES_MAX;

crate::symbols! {
    /// The write policy of a cache: when it writes dirty bytes to the level below.
    pub enum WritePolicy {
        /// Keep dirty bytes in the cache until a flush or an eviction.
        Combining,
        /// Write dirty bytes out as soon as possible, and keep a copy.
        Through,
        /// Write dirty bytes out as soon as possible, and keep no copy.
        ThroughInvalidate,
    }
}

impl WritePolicy {
    /// Returns the argument that belongs to this policy.
    #[inline]
    #[must_use]
    pub fn pick<T>(self, combining: T, through: T, through_invalidate: T) -> T {
        match self {
            WritePolicy::Combining => combining,
            WritePolicy::Through => through,
            WritePolicy::ThroughInvalidate => through_invalidate,
        }
    }
}

/// The maximum number of lines of a cache.
const LINES_MAX: u64 = 1 << 26;

/// The shape of one cache, or of one bank.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct CacheShape {
    /// The number of sets of the cache.
    pub sets: u32,
    /// The number of ways in each set.
    pub ways: u32,
    /// The write policy of the cache.
    pub policy: WritePolicy,
    /// The number of lines that the store buffer can hold.
    pub store_buffer_entries: u32,
    /// The number of fills that may be under way at once.
    pub miss_registers: u32,
    /// Whether an acquire or the beginning of a kernel leaves all lines in the cache. Loads can then
    /// return stale values, and no claim of a protocol holds.
    pub ignores_acquires: bool,
}

impl CacheShape {
    /// The shape of a controller without lines.
    pub const NONE: CacheShape = CacheShape {
        sets: 0,
        ways: 0,
        policy: WritePolicy::Combining,
        store_buffer_entries: 0,
        miss_registers: 0,
        ignores_acquires: false,
    };
}

/// The part of a machine that has its own controllers of a level.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Per {
    /// Each compute unit has its own controllers.
    Cu,
    /// Each chiplet has its own controllers.
    Chiplet,
    /// The machine as a whole has the controllers.
    Machine,
    /// Each host has its own controllers.
    Host,
}

impl Per {
    /// The name of the part in machine files and messages.
    #[must_use]
    pub const fn name(self) -> &'static str {
        match self {
            Per::Cu => "compute unit",
            Per::Chiplet => "chiplet",
            Per::Machine => "machine",
            Per::Host => "host",
        }
    }
}

/// A level of a machine: a number of controllers of the same shape.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub struct MemoryLevel {
    /// The name of the level, for example `l1`.
    pub name: String,
    /// The part of the machine that has its own `count` controllers of the level.
    pub per: Per,
    /// The number of controllers of the level in each part of the machine that `per` names.
    pub count: u16,
    /// The shape of each controller's array of lines. `None` if the controllers keep no lines.
    pub array: Option<CacheShape>,
    /// The name of the level below, or `None` for memory.
    pub below: Option<String>,
    /// The name of the level with which this level shares its network connections, if any. Messages
    /// between the two levels use no link of the network, and their bytes are not counted.
    pub beside: Option<String>,
}

impl MemoryLevel {
    /// A level directly above memory. Each part `per` of the machine (such as a chiplet) has one
    /// controller, which keeps no lines and has its own network connection.
    #[must_use]
    pub fn new(name: &str, per: Per) -> MemoryLevel {
        MemoryLevel { name: name.to_owned(), per, count: 1, array: None, below: None, beside: None }
    }

    /// A copy of this level with `count` controllers in each part of the machine.
    #[must_use]
    pub fn count(self, count: u16) -> MemoryLevel {
        MemoryLevel { count, ..self }
    }

    /// A copy of this level in which each controller has an array of lines of this shape.
    #[must_use]
    pub fn array(self, array: CacheShape) -> MemoryLevel {
        MemoryLevel { array: Some(array), ..self }
    }

    /// A copy of this level, with level `below` as the next level towards memory.
    #[must_use]
    pub fn over(self, below: &str) -> MemoryLevel {
        MemoryLevel { below: Some(below.to_owned()), ..self }
    }

    /// A copy of this level that shares the network connections of the level `beside`.
    #[must_use]
    pub fn beside(self, beside: &str) -> MemoryLevel {
        MemoryLevel { beside: Some(beside.to_owned()), ..self }
    }

    /// Checks that the numbers of the level are in their ranges.
    fn check(&self) -> Result<(), String> {
        let name = &self.name;
        let zero = |noun: &str| Err(format!("level `{name}` has 0 {noun}, expected at least 1"));
        if self.count == 0 {
            return zero(&format!("controllers for each {}", self.per.name()));
        }
        let Some(cache) = self.array else { return Ok(()) };
        let positive = [
            ("sets", cache.sets),
            ("ways", cache.ways),
            ("store buffer entries", cache.store_buffer_entries),
            ("miss registers", cache.miss_registers),
        ];
        if let Some((noun, _)) = positive.iter().find(|(_, n)| *n == 0) {
            return zero(noun);
        }
        if u64::from(cache.sets) * u64::from(cache.ways) > LINES_MAX {
            return Err(format!(
                "level `{name}` has {} sets of {} ways, expected at most {LINES_MAX} lines",
                cache.sets, cache.ways
            ));
        }
        Ok(())
    }
}

/// The size and the levels of a machine.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub struct Topology {
    /// The number of compute units.
    pub cus: u16,
    /// The number of hosts.
    pub hosts: u16,
    /// The number of chiplets. Each chiplet has the same number of compute units.
    pub chiplets: u16,
    /// The size of a line in bytes: a multiple of 8, at most [`LINE_BYTES_MAX`].
    pub line_bytes: u16,
    /// The number of successive lines that share a tag in each cache, and a bank: a power of two. It
    /// is 1 unless the lines are the sectors of longer lines.
    pub lines_per_tag: u16,
    /// The levels of the machine: caches, banks and ports.
    pub levels: Vec<MemoryLevel>,
}

impl Topology {
    /// A machine with levels `l1`, `l2` and `host`: a cache for each compute unit, banks
    /// of a shared cache, and a host without a cache.
    #[must_use]
    pub fn banked(cus: u16, banks: u16, line_bytes: u16, l1: CacheShape, l2: CacheShape) -> Topology {
        let levels = vec![
            MemoryLevel::new("l1", Per::Cu).array(l1).over("l2"),
            MemoryLevel::new("l2", Per::Chiplet).count(banks).array(l2),
            MemoryLevel::new("host", Per::Host),
        ];
        Topology { cus, hosts: 1, chiplets: 1, line_bytes, lines_per_tag: 1, levels }
    }

    /// A small machine for the explorer (the program that tries every schedule): two compute units,
    /// two banks, lines of two words, and two lines in each cache. The intention is the smallest
    /// machine on which every kind of fault is visible.
    #[must_use]
    pub fn bounded(l1: WritePolicy, l2: WritePolicy) -> Topology {
        let cache = |policy| CacheShape {
            sets: 1,
            ways: 2,
            policy,
            store_buffer_entries: 2,
            miss_registers: 2,
            ..CacheShape::NONE
        };
        Topology::banked(2, 2, 8, cache(l1), cache(l2))
    }

    /// The level with this name, if the machine has it.
    #[must_use]
    pub fn level(&self, name: &str) -> Option<&MemoryLevel> {
        self.levels.iter().find(|level| level.name == name)
    }

    /// Changes the cache shape of a level, if the level exists and has lines.
    #[must_use]
    pub fn with_array(mut self, name: &str, change: impl FnOnce(&mut CacheShape)) -> Topology {
        let level = self.levels.iter_mut().find(|level| level.name == name);
        level.and_then(|level| level.array.as_mut()).map(change);
        self
    }

    /// The number of controllers of a level on the whole machine.
    #[must_use]
    pub fn count(&self, level: &MemoryLevel) -> u32 {
        u32::from(self.groups(level.per)) * u32::from(level.count)
    }

    /// The number of banks directly above memory. These banks are the controllers of the last
    /// shared level with lines. If no such level exists, the number of chiplets.
    #[must_use]
    pub fn banks(&self) -> u32 {
        let is_shared = |level: &&MemoryLevel| {
            level.array.is_some() && level.below.is_none() && matches!(level.per, Per::Chiplet | Per::Machine)
        };
        let count = self.levels.iter().rev().find(is_shared).map(|level| self.count(level));
        count.unwrap_or(self.chiplets.into())
    }

    /// The number of compute units, chiplets or hosts, as `per` says; 1 for the whole machine.
    #[must_use]
    pub const fn groups(&self, per: Per) -> u16 {
        match per {
            Per::Cu => self.cus,
            Per::Chiplet => self.chiplets,
            Per::Machine => 1,
            Per::Host => self.hosts,
        }
    }

    /// Checks that the counts and sizes of the machine are in their ranges, that level names are
    /// unique, and that each level has a path to memory.
    ///
    /// # Errors
    /// A sentence that names the wrong item, its value and the expectation.
    pub fn check(&self) -> Result<(), String> {
        for (noun, count) in [("compute units", self.cus), ("hosts", self.hosts), ("chiplets", self.chiplets)]
        {
            if count == 0 {
                return Err(format!("the number of {noun} is 0, expected at least 1"));
            }
        }
        let line = usize::from(self.line_bytes);
        if line == 0 || line % 8 != 0 || line > LINE_BYTES_MAX {
            return Err(format!("a line has {line} bytes, expected a multiple of 8 up to {LINE_BYTES_MAX}"));
        }
        if !self.cus.is_multiple_of(self.chiplets) {
            return Err(format!(
                "{} compute units cannot be spread evenly over {} chiplets",
                self.cus, self.chiplets
            ));
        }
        for (at, level) in self.levels.iter().enumerate() {
            level.check()?;
            self.check_tags(level)?;
            self.check_place(at, level)?;
        }
        Ok(())
    }

    /// Checks that the ways of a set are the lines of whole tags.
    fn check_tags(&self, level: &MemoryLevel) -> Result<(), String> {
        let Some(cache) = level.array else { return Ok(()) };
        let each = u32::from(self.lines_per_tag);
        if !each.is_power_of_two() {
            return Err(format!("a tag has {each} lines, expected a power of two"));
        }
        if !cache.ways.is_multiple_of(each) {
            return Err(format!(
                "level `{}` has sets of {} ways, expected a multiple of the {each} lines of a tag",
                level.name, cache.ways
            ));
        }
        Ok(())
    }

    /// Checks one level against the other levels: its name is unique, it has a path to memory, and
    /// the level `beside` it (if any) exists and has network connections of its own. Also checks
    /// the number of controllers of the level.
    fn check_place(&self, at: usize, level: &MemoryLevel) -> Result<(), String> {
        let name = &level.name;
        if self.levels[..at].iter().any(|other| other.name == *name) {
            return Err(format!("two levels have the name `{name}`, expected different names"));
        }
        if self.count(level) > u32::from(u16::MAX) {
            return Err(format!(
                "level `{name}` has {} controllers, expected at most {}",
                self.count(level),
                u16::MAX
            ));
        }
        let mut down = level;
        for _ in &self.levels {
            let Some(below) = &down.below else { break };
            down = self.level(below).ok_or_else(|| {
                format!("level `{}` is over `{below}`, expected a level of the machine", down.name)
            })?;
        }
        if down.below.is_some() {
            return Err(format!("level `{name}` is over itself, expected a path to memory"));
        }
        let Some(beside) = &level.beside else { return Ok(()) };
        let Some(other) = self.level(beside).filter(|other| other.name != *name) else {
            return Err(format!(
                "level `{name}` is beside `{beside}`, expected another level of the machine"
            ));
        };
        if other.beside.is_some() {
            return Err(format!(
                "level `{name}` is beside `{beside}`, expected a level with nodes of its own on the network"
            ));
        }
        if other.per != level.per || !level.count.is_multiple_of(other.count) {
            return Err(format!(
                "level `{name}` has {} controllers for each {}, expected a multiple of the \
                 number of controllers of level `{beside}`, which is beside this level ({} for each {})",
                level.count,
                level.per.name(),
                other.count,
                other.per.name()
            ));
        }
        Ok(())
    }
}
