//! The vocabulary of Table 3, and what a column of it is.

use crate::bench::{Bench, Seen};
use core::fmt;
use proto::{ByteMask, Level, LineAddr, LineData, LineView, Order, Protocol};

/// What is done, in the words of Tables 1 and 2.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Act {
    LdL1,
    StL1,
    RmwL1,
    LdL2,
    StL2,
    RmwL2,
    FlushLocal,
    InvLocal,
    /// Registration and data go to the requesting L1.
    Register,
    /// What was stored in the requesting L1 is registered there.
    StReg,
    /// At the one L1 where the variable was.
    FlushRemote,
    InvRemote,
    /// At all L1s but the requesting one.
    FlushAll,
    InvAll,
    /// At all L1s.
    Lock,
    Unlock,
    /// Something that the table has no word for: the test fails and shows it.
    Odd(&'static str, u16),
}

impl fmt::Display for Act {
    fn fmt(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
        out.write_str(match self {
            Act::LdL1 => "LD x L1",
            Act::StL1 => "ST x L1",
            Act::RmwL1 => "RMW x L1",
            Act::LdL2 => "LD x L2",
            Act::StL2 => "ST x L2",
            Act::RmwL2 => "RMW x L2",
            Act::FlushLocal => "Flush local L1",
            Act::InvLocal => "Inv local L1",
            Act::Register => "R state & data to requesting L1",
            Act::StReg => "StReg local L1",
            Act::FlushRemote => "Flush remote L1",
            Act::InvRemote => "Inv remote L1",
            Act::FlushAll => "Flush all L1s bcst",
            Act::InvAll => "Inv all L1s bcst",
            Act::Lock => "LK all RMWs",
            Act::Unlock => "UL all RMWs",
            Act::Odd(what, at) => return write!(out, "{what} at L1 {at}"),
        })
    }
}

/// The three instructions.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Instruction {
    Ld,
    St,
    Rmw,
}

/// Where the variable is before the access: the L1 that has used it last.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Prior {
    LocalL1,
    L2,
    RemoteL1,
}

/// One access, and what the paper says of it.
#[derive(Clone, Debug)]
pub(crate) struct Row {
    pub(crate) instruction: Instruction,
    pub(crate) order: Order,
    pub(crate) level: Level,
    pub(crate) remote: bool,
    pub(crate) prior: Prior,
    /// Label and act.
    pub(crate) acts: &'static [(&'static str, Act)],
}

impl Row {
    pub(crate) fn name(&self) -> String {
        let Row { instruction, order, level, remote, prior, .. } = self;
        let remote = if *remote { "remote " } else { "" };
        format!("{instruction:?} {remote}{order:?} {level:?}, before in {prior:?}")
    }
}

/// `row!(Ld remote Acquire Device from L2 => a3: LdL2, a4: FlushAll)`
#[macro_export]
macro_rules! row {
    ($op:ident remote $order:ident $level:ident from $prior:ident => $($label:ident: $act:ident),+) => {
        $crate::row!(@ $op true $order $level $prior $($label $act)+)
    };
    ($op:ident $order:ident $level:ident from $prior:ident => $($label:ident: $act:ident),+) => {
        $crate::row!(@ $op false $order $level $prior $($label $act)+)
    };
    (@ $op:ident $remote:literal $order:ident $level:ident $prior:ident $($label:ident $act:ident)+) => {
        $crate::table::Row {
            instruction: $crate::table::Instruction::$op,
            order: proto::Order::$order,
            level: proto::Level::$level,
            remote: $remote,
            prior: $crate::table::Prior::$prior,
            acts: &[$((stringify!($label), $crate::table::Act::$act)),+],
        }
    };
}

/// A column of the table.
pub(crate) trait Column: Sized {
    type Protocol: Protocol;
    /// The name of the protocol, and of its page.
    const NAME: &'static str;
    /// The letter of its labels, and the last number.
    const LABELS: (char, u32);

    fn rows() -> Vec<Row>;

    /// Is the access of this instruction performed by this row of a table, in
    /// an L1 or in a bank?
    fn access(instruction: Instruction, actions: &[&str]) -> bool {
        let by: &[&str] = match instruction {
            Instruction::Ld => &["Reply", "Answer", "Perform"],
            Instruction::St => &["Merge", "WriteMemory"],
            Instruction::Rmw => &["Perform"],
        };
        actions.iter().any(|action| by.contains(action))
    }

    /// Does `access` name actions that perform atomics only? The access of the
    /// row is the only atomic there is, in whatever step it is performed.
    const ONLY_ATOMICS: bool = false;

    /// Acts that only this protocol knows, in one step of a node. In a step that
    /// performs the access as well, they come before it.
    fn more(seen: &Seen) -> Vec<Act> {
        let _ = seen;
        Vec::new()
    }

    /// Has a flush of this L1 brought these bytes to where it brings them?
    fn has_arrived(
        bench: &Bench<Self::Protocol>,
        cu: u16,
        line: LineAddr,
        mask: ByteMask,
        data: &LineData,
    ) -> bool {
        let _ = cu;
        bench.below(line).masked(mask) == *data
    }

    /// The paper's word for what was seen.
    fn word(act: Act) -> Act {
        act
    }

    /// Do flushes and invalidations leave this line alone?
    fn is_registered(line: &LineView) -> bool {
        let _ = line;
        false
    }
}
