//! The levels of a machine: a full one to time, or a small one to explore.
//!
//! A machine declares levels; a protocol declares kinds of controller, each with
//! the name of the level at which it stands. They meet in [`crate::Levels`].

use crate::line::LINE_BYTES_MAX;

crate::symbols! {
    /// What a cache does with a write.
    pub enum WritePolicy {
        /// Keep the dirty bytes until something asks for them.
        Combining,
        /// Pass them on as soon as possible, and keep a copy.
        Through,
        /// Pass them on as soon as possible, and keep nothing.
        ThroughInvalidate,
    }
}

impl WritePolicy {
    /// One of three things, by what the cache does with a write.
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

/// The most lines that a cache may have.
const LINES_MAX: u64 = 1 << 26;

/// The shape of one cache, or of one bank.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct CacheShape {
    /// How many sets.
    pub sets: u32,
    /// How many ways a set.
    pub ways: u32,
    /// What happens to writes.
    pub policy: WritePolicy,
    /// How many lines its store buffer can hold.
    pub store_buffer_entries: u32,
    /// How many lines may be under way at once.
    pub miss_registers: u32,
}

impl CacheShape {
    /// No lines at all.
    pub const NONE: CacheShape = CacheShape {
        sets: 0,
        ways: 0,
        policy: WritePolicy::Combining,
        store_buffer_entries: 0,
        miss_registers: 0,
    };
}

/// Of what a machine has so many of a level.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Per {
    /// Compute units.
    Cu,
    /// Chiplets.
    Chiplet,
    /// Machines, of which there is one.
    Machine,
    /// Hosts.
    Host,
}

impl Per {
    /// As a machine file has it, and in sentences.
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

/// A level of a machine: controllers that are alike.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub struct MemoryLevel {
    /// Its name: `l1`.
    pub name: String,
    /// Of what there are `count` controllers each.
    pub per: Per,
    /// How many for each of these.
    pub count: u16,
    /// The lines of each controller, if it has any.
    pub array: Option<CacheShape>,
    /// The level below it; memory, if none.
    pub below: Option<String>,
    /// The level beside whose controllers these stand, if they have no place of
    /// their own on the network: what passes between them takes no hop and no
    /// bytes.
    pub beside: Option<String>,
}

impl MemoryLevel {
    /// A level without lines, on the network, over memory.
    #[must_use]
    pub fn new(name: &str, per: Per) -> MemoryLevel {
        MemoryLevel { name: name.to_owned(), per, count: 1, array: None, below: None, beside: None }
    }

    /// The same with so many controllers each.
    #[must_use]
    pub fn count(self, count: u16) -> MemoryLevel {
        MemoryLevel { count, ..self }
    }

    /// The same with lines.
    #[must_use]
    pub fn array(self, array: CacheShape) -> MemoryLevel {
        MemoryLevel { array: Some(array), ..self }
    }

    /// The same over another level.
    #[must_use]
    pub fn over(self, below: &str) -> MemoryLevel {
        MemoryLevel { below: Some(below.to_owned()), ..self }
    }

    /// The same beside another level.
    #[must_use]
    pub fn beside(self, beside: &str) -> MemoryLevel {
        MemoryLevel { beside: Some(beside.to_owned()), ..self }
    }

    /// Says what is wrong with it by itself.
    fn check(&self) -> Result<(), String> {
        let name = &self.name;
        let zero = |what: &str| Err(format!("level `{name}` has 0 {what}, expected at least 1"));
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
        if let Some((what, _)) = positive.iter().find(|(_, n)| *n == 0) {
            return zero(what);
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

/// What controllers a machine can have.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub struct Topology {
    /// Compute units.
    pub cus: u16,
    /// Hosts.
    pub hosts: u16,
    /// Chiplets that the compute units are spread over.
    pub chiplets: u16,
    /// Bytes of a line: a multiple of 8, at most [`LINE_BYTES_MAX`].
    pub line_bytes: u16,
    /// The levels.
    pub levels: Vec<MemoryLevel>,
}

impl Topology {
    /// A cache for each compute unit, over banks of a shared one, beside a host
    /// without a cache: levels `l1`, `l2` and `host`.
    #[must_use]
    pub fn banked(cus: u16, banks: u16, line_bytes: u16, l1: CacheShape, l2: CacheShape) -> Topology {
        let levels = vec![
            MemoryLevel::new("l1", Per::Cu).array(l1).over("l2"),
            MemoryLevel::new("l2", Per::Chiplet).count(banks).array(l2),
            MemoryLevel::new("host", Per::Host),
        ];
        Topology { cus, hosts: 1, chiplets: 1, line_bytes, levels }
    }

    /// The smallest machine that still has every kind of trouble: two CUs, two
    /// banks, lines of two words, two lines a cache.
    #[must_use]
    pub fn bounded(l1: WritePolicy, l2: WritePolicy) -> Topology {
        let cache =
            |policy| CacheShape { sets: 1, ways: 2, policy, store_buffer_entries: 2, miss_registers: 2 };
        Topology::banked(2, 2, 8, cache(l1), cache(l2))
    }

    /// The level of that name.
    #[must_use]
    pub fn level(&self, name: &str) -> Option<&MemoryLevel> {
        self.levels.iter().find(|level| level.name == name)
    }

    /// Changes the lines of a level, if the machine has it and it has lines.
    #[must_use]
    pub fn with_array(mut self, name: &str, change: impl FnOnce(&mut CacheShape)) -> Topology {
        let level = self.levels.iter_mut().find(|level| level.name == name);
        level.and_then(|level| level.array.as_mut()).map(change);
        self
    }

    /// How many controllers a level has.
    #[must_use]
    pub fn count(&self, level: &MemoryLevel) -> u32 {
        u32::from(self.groups(level.per)) * u32::from(level.count)
    }

    /// How many banks stand over memory: the controllers of the last level that is
    /// not for one compute unit or host alone; one for each chiplet, if there is none.
    #[must_use]
    pub fn banks(&self) -> u32 {
        let is_shared = |level: &&MemoryLevel| {
            level.array.is_some() && level.below.is_none() && matches!(level.per, Per::Chiplet | Per::Machine)
        };
        let count = self.levels.iter().rev().find(is_shared).map(|level| self.count(level));
        count.unwrap_or(self.chiplets.into())
    }

    /// How many of those that a level is counted by there are.
    #[must_use]
    pub const fn groups(&self, per: Per) -> u16 {
        match per {
            Per::Cu => self.cus,
            Per::Chiplet => self.chiplets,
            Per::Machine => 1,
            Per::Host => self.hosts,
        }
    }

    /// Says what is wrong with the machine, if anything.
    ///
    /// # Errors
    /// A sentence that names the number, its value and what was expected.
    pub fn check(&self) -> Result<(), String> {
        for (what, count) in [("compute units", self.cus), ("hosts", self.hosts), ("chiplets", self.chiplets)]
        {
            if count == 0 {
                return Err(format!("the number of {what} is 0, but at least 1 is needed"));
            }
        }
        let line = usize::from(self.line_bytes);
        if line == 0 || line % 8 != 0 || line > LINE_BYTES_MAX {
            return Err(format!(
                "a line has {line} bytes, but it must be a multiple of 8 up to {LINE_BYTES_MAX}"
            ));
        }
        if !self.cus.is_multiple_of(self.chiplets) {
            return Err(format!(
                "{} compute units cannot be spread evenly over {} chiplets",
                self.cus, self.chiplets
            ));
        }
        for (at, level) in self.levels.iter().enumerate() {
            level.check()?;
            self.check_place(at, level)?;
        }
        Ok(())
    }

    /// Says what is wrong with where a level stands.
    fn check_place(&self, at: usize, level: &MemoryLevel) -> Result<(), String> {
        let name = &level.name;
        if self.levels[..at].iter().any(|other| other.name == *name) {
            return Err(format!("there are two levels `{name}`, expected a name for each"));
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
            return Err(format!("level `{name}` is over itself, expected a way down to memory"));
        }
        let Some(beside) = &level.beside else { return Ok(()) };
        let Some(other) = self.level(beside).filter(|other| other.name != *name) else {
            return Err(format!(
                "level `{name}` is beside `{beside}`, expected another level of the machine"
            ));
        };
        if other.beside.is_some() {
            return Err(format!(
                "level `{name}` is beside `{beside}`, expected a level with a place on the network"
            ));
        }
        if other.per != level.per || !level.count.is_multiple_of(other.count) {
            return Err(format!(
                "level `{name}` has {} controllers for each {}, expected as many for each controller of \
                 `{beside}` beside which it is ({} for each {})",
                level.count,
                level.per.name(),
                other.count,
                other.per.name()
            ));
        }
        Ok(())
    }
}
