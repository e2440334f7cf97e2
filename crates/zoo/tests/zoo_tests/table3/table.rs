//! The rows, the columns and the acts (effects of an access) of Table 3 of the hLRC paper.

use super::bench::{Bench, ObservedStep};
use core::fmt;
use proto::{ByteMask, Level, LineAddr, LineData, LineView, Order, Protocol};

/// An act of Table 3 of the hLRC paper (one effect of an access), in the words of its Tables 1 and
/// 2.
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
    /// The requesting L1 gets the registration and the data of the line.
    Register,
    /// The stored lines of the requesting L1 are registered to that L1.
    StReg,
    /// The other L1, which used the accessed variable last, flushes.
    FlushRemote,
    /// The other L1, which used the accessed variable last, invalidates.
    InvRemote,
    /// All L1s except for the requesting one flush.
    FlushAll,
    /// All L1s except for the requesting one invalidate.
    InvAll,
    /// Every L1 takes a lock: its compute unit performs no read-modify-write until the unlock.
    Lock,
    /// Every L1 releases the lock, so its compute unit may perform read-modify-writes again.
    Unlock,
    /// An act (an effect of an access) that Table 3 of the hLRC paper does not have, at the L1 with
    /// this number. The test fails and prints the act.
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

/// The three instructions of Table 3 of the hLRC paper.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Instruction {
    Ld,
    St,
    Rmw,
}

/// The place of the variable before the access: the L1 that used it last, or the L2.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Prior {
    LocalL1,
    L2,
    RemoteL1,
}

/// A row of Table 3 of the hLRC paper: one access, with the acts (its effects) that the paper
/// gives.
#[derive(Clone, Debug)]
pub(crate) struct Row {
    pub(crate) instruction: Instruction,
    pub(crate) order: Order,
    pub(crate) level: Level,
    pub(crate) remote: bool,
    pub(crate) prior: Prior,
    /// The acts (effects of the access), each with its label in the paper.
    pub(crate) acts: &'static [(&'static str, Act)],
}

impl Row {
    pub(crate) fn name(&self) -> String {
        let Row { instruction, order, level, remote, prior, .. } = self;
        let remote = if *remote { "remote " } else { "" };
        format!("{instruction:?} {remote}{order:?} {level:?}, prior place {prior:?}")
    }
}

/// Declares a row of Table 3 of the hLRC paper, for example `row!(Ld remote Acquire Device from L2
/// => a3: LdL2, a4: FlushAll)`.
#[macro_export]
macro_rules! row {
    ($op:ident remote $order:ident $level:ident from $prior:ident => $($label:ident: $act:ident),+) => {
        $crate::row!(@ $op true $order $level $prior $($label $act)+)
    };
    ($op:ident $order:ident $level:ident from $prior:ident => $($label:ident: $act:ident),+) => {
        $crate::row!(@ $op false $order $level $prior $($label $act)+)
    };
    (@ $op:ident $remote:literal $order:ident $level:ident $prior:ident $($label:ident $act:ident)+) => {
        $crate::table3::table::Row {
            instruction: $crate::table3::table::Instruction::$op,
            order: proto::Order::$order,
            level: proto::Level::$level,
            remote: $remote,
            prior: $crate::table3::table::Prior::$prior,
            acts: &[$((stringify!($label), $crate::table3::table::Act::$act)),+],
        }
    };
}

/// A column of Table 3 of the hLRC paper, for one protocol.
pub(crate) trait Column: Sized {
    type Protocol: Protocol;
    /// The name of the protocol and of its page.
    const NAME: &'static str;
    /// The acts of a column have labels such as `a0`: the letter of the labels, and the number of
    /// the last label.
    const LABELS: (char, u32);

    fn rows() -> Vec<Row>;

    /// Whether a row of the protocol's tables with these actions, for an L1 or for a bank, performs
    /// the access of this instruction.
    fn access(instruction: Instruction, actions: &[&str]) -> bool {
        let by: &[&str] = match instruction {
            Instruction::Ld => &["Reply", "Answer", "Perform"],
            Instruction::St => &["Merge", "WriteMemory"],
            Instruction::Rmw => &["Perform"],
        };
        actions.iter().any(|action| by.contains(action))
    }

    /// Whether the actions for which `access` is true occur only in table rows of atomics. If so,
    /// any step with such an action performs the tested access, because the test makes no other
    /// atomic.
    const ONLY_ATOMICS: bool = false;

    /// The acts (effects of an access) that only this protocol has, in one step of a node. In a
    /// step that also performs the access, these acts come before the access.
    fn own_acts(step: &ObservedStep) -> Vec<Act> {
        let _ = step;
        Vec::new()
    }

    /// Whether the bytes that a flush of this L1 writes have arrived at their destination.
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

    /// The act (effect of an access) that the hLRC paper prints for an observed act.
    fn printed(act: Act) -> Act {
        act
    }

    /// Whether flushes and invalidations skip this line.
    fn is_registered(line: &LineView) -> bool {
        let _ = line;
        false
    }
}
