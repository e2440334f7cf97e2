//! The representation of a litmus test.
//!
//! Every format is parsed into a [`Program`], and every engine runs a `Program`. It is
//! plain data: it can be cloned, compared, hashed, built by hand ([`Builder`]) and
//! changed (scope advice replaces [`ScopeId`]s). Labels are resolved to positions in
//! the code, registers and locations to numbers, and scopes to instances.

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

/// The number of a thread: `P0` is 0.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct ThreadId(pub u8);

/// The number of a location in [`Program::locations`].
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct LocId(pub u16);

/// The number of a register in [`Thread::registers`].
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct Reg(pub u16);

/// The maximum number of threads of a program.
pub const THREADS_MAX: usize = 64;

/// The first value that stands for an address. Smaller values are numbers.
const ADDRESS_BASE: Value = 1 << 48;

/// The value that stands for the address of `loc`. The addresses of neighbouring elements of an
/// array differ by one.
#[must_use]
pub const fn address_value(loc: LocId) -> Value {
    ADDRESS_BASE + loc.0 as Value
}

/// The location whose address is `value`, if `value` is an address.
#[must_use]
pub fn value_address(value: Value) -> Option<LocId> {
    u16::try_from(value.checked_sub(ADDRESS_BASE)?).ok().map(LocId)
}

/// The format of a test. It decides the names of scopes and registers in reports, and
/// the sets that a model may use.
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
    /// Memory of one work-group.
    Local,
    /// The memory of an OpenCL pointer without an address space. Neither the happens-before
    /// relation of global memory nor that of local memory covers this memory.
    Unqualified,
}

/// The path of a PTX access to memory.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum Proxy {
    /// Ordinary loads and stores.
    #[default]
    Generic,
    /// The texture path.
    Texture,
    /// The surface path.
    Surface,
    /// The constant path.
    Constant,
}

/// A word of memory, or an alias of one.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub struct Location {
    /// The name in the test; elements of an array are `a[0]`, `a[1]`, ...
    pub name: String,
    /// The initial value.
    pub init: Value,
    /// The memory region.
    pub region: Region,
    /// Whether the location is declared as an atomic object.
    pub atomic: bool,
    /// The word that this name stands for: the location itself unless it is an alias.
    pub physical: LocId,
    /// The location that stands for the generic address of this name. It is the location itself,
    /// unless the name is an alias that belongs to another proxy (texture, surface or constant).
    /// For such an alias, it is the generic address of the aliased location.
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
    /// The initial value.
    pub init: Value,
}

/// One thread: a list of instructions with jumps.
#[derive(Clone, Debug, Default, PartialEq, Eq, Hash)]
pub struct Thread {
    /// The registers of the thread.
    pub registers: Vec<Register>,
    /// The instructions; a jump to `code.len()` ends the thread.
    pub code: Vec<Instr>,
    /// The source line of each instruction, 0 if there is none.
    pub lines: Vec<u32>,
    /// Operands that C leaves unsequenced. `(a, b, c)` means that the instructions
    /// `a..b` and `b..c` are not in program order with each other. An engine that runs
    /// them in order covers one of the orders.
    pub unsequenced: Vec<(usize, usize, usize)>,
}

impl Thread {
    /// The register with this name.
    #[must_use]
    pub fn register(&self, name: &str) -> Option<Reg> {
        self.registers.iter().position(|r| r.name == name).map(|i| Reg(i as u16))
    }
}

/// A litmus test.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub struct Program {
    /// The name on the first line.
    pub name: String,
    /// The format of the test.
    pub dialect: Dialect,
    /// Every word and every alias.
    pub locations: Vec<Location>,
    /// The scope instances.
    pub scopes: Scopes,
    /// The threads.
    pub threads: Vec<Thread>,
    /// Vulkan's system-synchronizes-with: all operations of the first thread come
    /// before those of the second.
    pub system_order: Vec<(ThreadId, ThreadId)>,
    /// A condition on final states. Executions whose final state does not meet the condition are
    /// ignored.
    pub filter: Option<Prop>,
    /// The condition of the test.
    pub condition: Condition,
    /// Terms to report in addition to those of the condition.
    pub observed: Vec<Term>,
}

/// The sort key of a name. With `numbers`, trailing digits sort as a number.
fn name_key(name: &str, numbers: bool) -> (String, u64, String) {
    let stem = name.trim_end_matches(']').trim_end_matches(|c: char| c.is_ascii_digit());
    let digits = name[stem.len()..].trim_end_matches(']');
    match digits.parse() {
        Ok(number) if numbers => (stem.to_owned(), number, name.to_owned()),
        _ => (name.to_owned(), 0, String::new()),
    }
}

impl Program {
    /// The location with this name.
    #[must_use]
    pub fn location(&self, name: &str) -> Option<LocId> {
        self.locations.iter().position(|l| l.name == name).map(|i| LocId(i as u16))
    }

    /// The entry of the location.
    #[must_use]
    pub fn loc(&self, loc: LocId) -> &Location {
        &self.locations[usize::from(loc.0)]
    }

    /// The entry of the thread.
    #[must_use]
    pub fn thread(&self, thread: ThreadId) -> &Thread {
        &self.threads[usize::from(thread.0)]
    }

    /// Whether some instruction waits or jumps backward.
    #[must_use]
    pub fn may_wait(&self) -> bool {
        let waits = |(pc, instr): (usize, &Instr)| {
            matches!(instr, Instr::Await { .. } | Instr::Barrier(_))
                || instr.target().is_some_and(|target| target <= pc)
        };
        self.threads.iter().any(|thread| thread.code.iter().enumerate().any(waits))
    }

    /// The threads of `group` whose code has a barrier with this group and `instance`. The barrier
    /// waits for these threads.
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

    /// The terms of a final state, each once, in herd's order: registers by thread and
    /// name, then memory by name.
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

    /// The term in herd's notation: `0:r1`, `[x]`.
    #[must_use]
    pub fn herd_name(&self, term: Term) -> String {
        match term {
            Term::Loc(loc) if !self.loc(loc).name.contains('[') => format!("[{}]", self.loc(loc).name),
            _ => self.term_name(term),
        }
    }

    /// The term in the notation of reports: `0:r1`, `x`.
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

    /// The value in the notation of reports: a number, or the name of the location with
    /// this address.
    #[must_use]
    pub fn value_name(&self, value: Value) -> String {
        match value_address(value).and_then(|loc| self.locations.get(usize::from(loc.0))) {
            Some(location) => location.name.clone(),
            None => value.to_string(),
        }
    }
}
