//! The representation of a litmus test.
//!
//! Every format is parsed into a [`Program`], and every engine runs a `Program`. A `Program` is
//! plain data: it can be cloned, compared, hashed, built by hand ([`Builder`]) and changed (scope
//! advice replaces [`ScopeId`]s). Labels are resolved to positions in the code, registers and
//! locations to numbers, and scopes to instances.

mod build;
mod condition;
mod expr;
mod instr;
mod scope;

pub use build::Builder;
pub use condition::{Condition, Prop, Quantifier, Term};
pub use expr::{BinaryOp, EvalError, Expr, UnaryOp};
pub use instr::{Access, Barrier, Cas, Fence, FenceProxy, Instr, Order, RmwOp, Section};
pub(crate) use scope::level_of;
pub use scope::{Level, ScopeId, ScopeInstance, Scopes, ThreadSet};

/// The value of a register or a word. Addresses are values, see [`address_value`].
pub type Value = i64;

/// A thread, given by its number: `P0` is 0.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct ThreadId(pub u8);

/// A location, given by its index in [`Program::locations`].
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct LocId(pub u16);

/// A register, given by its index in [`Thread::registers`].
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct Reg(pub u16);

/// The maximum number of threads of a program.
pub const THREADS_MAX: usize = 64;

/// The first value that stands for an address. Smaller values are numbers.
const ADDRESS_BASE: Value = 1 << 48;

/// The value that stands for the address of `loc`. The address of each element of an array is one
/// higher than the address of the element before it.
#[must_use]
pub const fn address_value(loc: LocId) -> Value {
    ADDRESS_BASE + loc.0 as Value
}

/// The location whose address is `value`, if `value` is an address.
#[must_use]
pub fn value_address(value: Value) -> Option<LocId> {
    u16::try_from(value.checked_sub(ADDRESS_BASE)?).ok().map(LocId)
}

/// The format of a test. The format decides the names of scopes and registers in reports, and the
/// predefined sets that a model may use.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum Dialect {
    /// OpenCL C with C11-style atomics.
    OpenCl,
    /// NVIDIA PTX.
    Ptx,
    /// C11 as herd writes it.
    C11,
    /// LISA with scope trees.
    Lisa,
    /// Vulkan shaders, as instructions with the operands of SPIR-V.
    Vulkan,
}

impl Dialect {
    /// The first word of a test of this format.
    #[must_use]
    pub const fn keyword(self) -> &'static str {
        match self {
            Dialect::OpenCl => "OPENCL",
            Dialect::Ptx => "PTX",
            Dialect::C11 => "C",
            Dialect::Lisa => "LISA",
            Dialect::Vulkan => "VULKAN",
        }
    }
}

/// The memory region of a location.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum Region {
    /// Memory that all threads share.
    #[default]
    Global,
    /// Memory that only the threads of one work-group share.
    Local,
    /// The memory of an OpenCL pointer without an address space. Neither the happens-before
    /// relation of global memory nor that of local memory covers this memory.
    Unqualified,
}

/// A proxy: the path by which a PTX access reaches memory.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum Proxy {
    /// The path of ordinary loads and stores.
    #[default]
    Generic,
    /// The path of texture accesses.
    Texture,
    /// The path of surface accesses.
    Surface,
    /// The path of accesses to constant memory.
    Constant,
}

/// A name for a word of memory. Several locations may be names of one word; all but one of them are
/// aliases.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub struct Location {
    /// The name of the location in the test. The elements of an array are `a[0]`, `a[1]` and so on.
    pub name: String,
    /// The value of the word before the threads start.
    pub init: Value,
    /// The memory region of the word: global, local or unqualified.
    pub region: Region,
    /// Whether the location is declared as an atomic object.
    pub atomic: bool,
    /// The word that this name stands for: the location itself unless it is an alias.
    pub physical: LocId,
    /// The location that has the generic address of this name. For an alias of the texture, surface
    /// or constant proxy, this is the generic location of the aliased word. For every other
    /// location, it is the location itself.
    pub generic: LocId,
    /// The number of the array that this element belongs to. Address arithmetic may not leave the
    /// array.
    pub object: u16,
}

/// A register of a thread.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub struct Register {
    /// The name of the register in the test.
    pub name: String,
    /// The value of the register before the thread starts.
    pub init: Value,
}

/// One thread: a list of instructions with jumps.
#[derive(Clone, Debug, Default, PartialEq, Eq, Hash)]
pub struct Thread {
    /// The registers of the thread.
    pub registers: Vec<Register>,
    /// The instructions of the thread. A jump to the position `code.len()` ends the thread.
    pub code: Vec<Instr>,
    /// For each instruction, its line in the source. 0 if it has no line.
    pub lines: Vec<u32>,
    /// The pairs of operands for which C does not specify the order of evaluation. An entry
    /// `(a, b, c)` means that program order does not order the instructions `a..b` with the
    /// instructions `b..c`. An engine that executes the code in order covers only one of the two
    /// orders.
    pub unsequenced: Vec<(usize, usize, usize)>,
}

impl Thread {
    /// The register with this name. `None` if the thread has no such register.
    #[must_use]
    pub fn register(&self, name: &str) -> Option<Reg> {
        self.registers.iter().position(|r| r.name == name).map(|i| Reg(i as u16))
    }
}

/// A litmus test.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub struct Program {
    /// The name of the test, from its first line.
    pub name: String,
    /// The format of the test.
    pub dialect: Dialect,
    /// The locations of the program: all names for words of memory, including aliases.
    pub locations: Vec<Location>,
    /// The scope instances of the program.
    pub scopes: Scopes,
    /// The threads of the program.
    pub threads: Vec<Thread>,
    /// The pairs of Vulkan's relation system-synchronizes-with: all operations of the first thread
    /// come before those of the second thread.
    pub system_order: Vec<(ThreadId, ThreadId)>,
    /// A filter: a condition on final states. Engines ignore an execution if its final state does
    /// not meet this condition.
    pub filter: Option<Prop>,
    /// The condition of the test.
    pub condition: Condition,
    /// Terms that reports show in addition to the terms of the condition.
    pub observed: Vec<Term>,
}

/// The sort key of a name. If `numbers` is true, digits at the end of the name are compared as a
/// number.
fn name_key(name: &str, numbers: bool) -> (String, u64, String) {
    let stem = name.trim_end_matches(']').trim_end_matches(|c: char| c.is_ascii_digit());
    let digits = name[stem.len()..].trim_end_matches(']');
    match digits.parse() {
        Ok(number) if numbers => (stem.to_owned(), number, name.to_owned()),
        _ => (name.to_owned(), 0, String::new()),
    }
}

impl Program {
    /// The location with this name. `None` if the program has no such location.
    #[must_use]
    pub fn location(&self, name: &str) -> Option<LocId> {
        self.locations.iter().position(|l| l.name == name).map(|i| LocId(i as u16))
    }

    /// The entry of this location in [`Program::locations`].
    #[must_use]
    pub fn loc(&self, loc: LocId) -> &Location {
        &self.locations[usize::from(loc.0)]
    }

    /// The entry of this thread in [`Program::threads`].
    #[must_use]
    pub fn thread(&self, thread: ThreadId) -> &Thread {
        &self.threads[usize::from(thread.0)]
    }

    /// Whether some instruction may wait: an `await`, a barrier or a backward jump.
    #[must_use]
    pub fn may_wait(&self) -> bool {
        let waits = |(pc, instr): (usize, &Instr)| {
            matches!(instr, Instr::Await { .. } | Instr::Barrier(_))
                || instr.target().is_some_and(|target| target <= pc)
        };
        self.threads.iter().any(|thread| thread.code.iter().enumerate().any(waits))
    }

    /// The threads of `group` whose code has a barrier with this group and this `instance` number.
    /// A barrier without a thread count waits for these threads.
    #[must_use]
    pub fn threads_at(&self, group: ScopeId, instance: Value) -> ThreadSet {
        let has_it = |thread: &ThreadId| {
            self.thread(*thread)
                .code
                .iter()
                .any(|instr| matches!(instr, Instr::Barrier(b) if b.group == group && b.instance == instance))
        };
        let members = self.scopes.get(group).members.iter();
        members.filter(has_it).fold(ThreadSet::NONE, |set, thread| set.union(ThreadSet::only(thread)))
    }

    /// The terms of a final state, without duplicates, in herd's order: registers by thread and
    /// name, then locations by name.
    #[must_use]
    pub fn state_terms(&self) -> Vec<Term> {
        let mut terms = Vec::new();
        self.condition.prop.collect_terms(&mut terms);
        terms.extend(self.observed.iter().copied());
        terms.retain(|term| !matches!(term, Term::Const(_)));
        terms.sort_by_cached_key(|&term| match term {
            Term::Reg(thread, reg) => {
                let name = &self.thread(thread).registers[usize::from(reg.0)].name;
                (0, thread.0, name_key(name, self.dialect == Dialect::Lisa), term)
            }
            Term::Loc(_) | Term::Const(_) => (1, 0, name_key(&self.term_name(term), true), term),
        });
        terms.dedup();
        terms
    }

    /// The term as herd writes it, such as `0:r1` for a register or `[x]` for a location.
    #[must_use]
    pub fn herd_name(&self, term: Term) -> String {
        match term {
            Term::Loc(loc) if !self.loc(loc).name.contains('[') => format!("[{}]", self.loc(loc).name),
            _ => self.term_name(term),
        }
    }

    /// The term as reports show it, such as `0:r1` for a register or `x` for a location.
    #[must_use]
    pub fn term_name(&self, term: Term) -> String {
        match term {
            Term::Reg(thread, reg) => {
                format!("{}:{}", thread.0, self.thread(thread).registers[usize::from(reg.0)].name)
            }
            Term::Loc(loc) => self.loc(loc).name.clone(),
            Term::Const(value) => self.value_name(value),
        }
    }

    /// The value as reports show it: a number, or the name of the location if the value is an
    /// address.
    #[must_use]
    pub fn value_name(&self, value: Value) -> String {
        match value_address(value).and_then(|loc| self.locations.get(usize::from(loc.0))) {
            Some(location) => location.name.clone(),
            None => value.to_string(),
        }
    }
}
