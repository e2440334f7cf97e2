//! The acts, rows and columns of Table 3.

use crate::bench::{Bench, ObservedStep};
use core::fmt;
use proto::{ByteMask, Level, LineAddr, LineData, LineView, Order, Protocol};

/// An act, in the words of Tables 1 and 2.
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
    /// The stored lines of the requesting L1 are registered there.
    StReg,
    /// At the L1 with the variable.
    FlushRemote,
    InvRemote,
    /// At all L1s except for the requesting one.
    FlushAll,
    InvAll,
    /// At all L1s.
    Lock,
    Unlock,
    /// An act that the table does not have. The test fails and prints it.
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
            Act::Odd(act, at) => return write!(out, "{act} at L1 {at}"),
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

/// The place of the variable before the access: the L1 that has used it last, or the L2.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Prior {
    LocalL1,
    L2,
    RemoteL1,
}

/// One access, with the acts of the paper.
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
    /// The letter of its labels, and their last number.
    const LABELS: (char, u32);

    fn rows() -> Vec<Row>;

    /// Whether a row with these actions, in an L1 or in a bank, performs the access of
    /// this instruction.
    fn access(instruction: Instruction, actions: &[&str]) -> bool {
        let by: &[&str] = match instruction {
            Instruction::Ld => &["Reply", "Answer", "Perform"],
            Instruction::St => &["Merge", "WriteMemory"],
            Instruction::Rmw => &["Perform"],
        };
        actions.iter().any(|action| by.contains(action))
    }

    /// Whether the actions of `access` perform atomics only. Then any step with such an
    /// action performs the access, because it is the only atomic.
    const ONLY_ATOMICS: bool = false;

    /// Acts of this protocol only, in one step of a node. In a step that also performs
    /// the access, they come before it.
    fn own_acts(step: &ObservedStep) -> Vec<Act> {
        let _ = step;
        Vec::new()
    }

    /// Whether the bytes of a flush of this L1 have arrived at their destination.
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

    /// The act of the paper for an observed act.
    fn printed(act: Act) -> Act {
        act
    }

    /// Whether flushes and invalidations skip this line.
    fn is_registered(line: &LineView) -> bool {
        let _ = line;
        false
    }
}
