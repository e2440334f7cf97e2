//! Code sites. A code site is a place in the source from which a kernel or the host issues an
//! operation, with the operation's semantics.

use kernel::{Action, Posted, Semantics, Site, Space};
use proto::{Level, Order};
use rustc_hash::FxHashMap;

/// The number of a code site. A code site is an operation at a place in the source. The first few
/// thousand sites have numbers of their own. A further site gets the number of a site with the same
/// semantics, and its accesses are counted.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub(super) struct CodeId(pub(super) u16);

impl CodeId {
    /// The number of bits in the number of a code site (an operation at a place in the source).
    pub(super) const BITS: u32 = 12;
    /// The maximum number of code sites (operations at places in the source) that have numbers of
    /// their own.
    const MOST: usize = (1 << CodeId::BITS) - 1;
}

/// The description of a code site: an operation at a place in the source.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Code {
    /// The number of the kernel's name, in the order of first launches. `None` for the host.
    pub(super) kernel: Option<u16>,
    pub(super) site: Site,
    pub(super) what: OpKind,
    pub(super) semantics: Semantics,
    pub(super) space: Space,
}

/// The kind of an operation. Kinds that the race detector treats alike are not distinguished.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub(super) enum OpKind {
    Load,
    Store,
    Update,
    /// A compare-exchange that found a value other than the expected one. It reads, but does not
    /// write.
    Failed,
    Fence,
    Barrier,
}

impl OpKind {
    pub(super) fn of(op: &Posted) -> OpKind {
        match op.action {
            Action::Load | Action::HostRead => OpKind::Load,
            Action::Store | Action::HostWrite => OpKind::Store,
            Action::Rmw { .. } => OpKind::Update,
            Action::Barrier => OpKind::Barrier,
            Action::Fence | Action::Launch(_) => OpKind::Fence,
        }
    }

    #[inline]
    pub(super) fn writes(self) -> bool {
        matches!(self, OpKind::Store | OpKind::Update)
    }

    #[inline]
    pub(super) fn reads(self) -> bool {
        matches!(self, OpKind::Load | OpKind::Update | OpKind::Failed)
    }
}

impl Code {
    #[inline]
    pub(super) fn is_atomic(&self) -> bool {
        self.semantics.order.is_atomic() || matches!(self.what, OpKind::Update | OpKind::Failed)
    }

    pub(super) fn acquires(&self) -> bool {
        self.semantics.order.acquires() && self.what != OpKind::Store
    }

    pub(super) fn releases(&self) -> bool {
        self.semantics.order.releases() && !matches!(self.what, OpKind::Load | OpKind::Failed)
    }

    /// The operation as text for a race report.
    pub(super) fn describe(&self) -> String {
        let local = if self.space == Space::Lds { "local " } else { "" };
        let order = match self.semantics.order {
            Order::Plain => "",
            Order::Relaxed => "relaxed ",
            Order::Acquire => "acquire ",
            Order::Release => "release ",
            Order::AcqRel => "acquire-release ",
            Order::SeqCst => "sequentially consistent ",
        };
        let what = match self.what {
            OpKind::Load if self.is_atomic() => "atomic load",
            OpKind::Load => "load",
            OpKind::Store if self.is_atomic() => "atomic store",
            OpKind::Store => "store",
            OpKind::Update => "read-modify-write",
            OpKind::Failed => "compare-exchange that failed",
            OpKind::Fence => "fence",
            OpKind::Barrier => "barrier",
        };
        format!("{order}{local}{what}")
    }
}

/// The name of a scope level, as on the command line.
#[must_use]
pub fn level_name(level: Level) -> &'static str {
    match level {
        Level::WorkItem => "work-item",
        Level::SubGroup => "sub-group",
        Level::WorkGroup => "work-group",
        Level::Chiplet => "chiplet",
        Level::Device => "device",
        Level::System => "system",
        Level::Named => "named",
    }
}

/// All code sites (operations at places in the source) seen so far, with their numbers.
#[derive(Debug, Default)]
pub(super) struct Codes {
    all: Vec<Code>,
    numbers: FxHashMap<Key, CodeId>,
    last: Option<(Key, CodeId)>,
    /// The number of accesses from code sites (operations at places in the source) that have no
    /// number of their own.
    pub(super) overflowed: u64,
}

/// The fields that identify a code site (an operation at a place in the source). The address of the
/// source file's name is used instead of the name, because it is cheaper to compare.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
struct Key {
    kernel: Option<u16>,
    site: usize,
    what: OpKind,
    semantics: Semantics,
    is_local: bool,
}

impl Codes {
    pub(super) fn number(&mut self, code: Code) -> CodeId {
        let site = core::ptr::from_ref(code.site).addr();
        let Code { kernel, what, semantics, space, .. } = code;
        let key = Key { kernel, site, what, semantics, is_local: space == Space::Lds };
        if let Some((last, number)) = self.last
            && last == key
        {
            return number;
        }
        let number = match self.numbers.get(&key) {
            Some(&number) => number,
            None if self.all.len() < CodeId::MOST => {
                let number = CodeId(self.all.len() as u16);
                self.all.push(code);
                self.numbers.insert(key, number);
                number
            }
            None => {
                self.overflowed += 1;
                return self.like(&code);
            }
        };
        self.last = Some((key, number));
        number
    }

    /// The number of a known code site (an operation at a place in the source) with the same
    /// semantics as `code`. It serves for a code site that can have no number of its own.
    fn like(&self, code: &Code) -> CodeId {
        let alike = |other: &&Code| {
            (other.what, other.semantics, other.space) == (code.what, code.semantics, code.space)
        };
        let at = self.all.iter().rposition(|other| alike(&other)).unwrap_or(0);
        CodeId(at as u16)
    }

    #[inline]
    pub(super) fn get(&self, number: CodeId) -> &Code {
        &self.all[usize::from(number.0)]
    }
}
