//! What an L1 is told: by banks, and by other L1s for their remote operations.

use crate::parts;
use proto::{LineAddr, Message, Slot};

/// To an L1.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum ToL1 {
    /// A bank answers.
    Bank(parts::ToL1),
    /// Flush, then say so.
    Flush {
        /// The sender's request.
        slot: Slot,
    },
    /// Drop what is clean, then say so.
    Invalidate {
        /// The sender's request.
        slot: Slot,
    },
    /// Perform no read-modify-writes until the unlock, and say so.
    Lock {
        /// The sender's request.
        slot: Slot,
    },
    /// The sender's operation has ended.
    Unlock {
        /// The sender's request.
        slot: Slot,
    },
    /// What this L1 has told another one is done.
    Done {
        /// The request that waits.
        slot: Slot,
    },
}

impl From<parts::ToL1> for ToL1 {
    #[inline]
    fn from(msg: parts::ToL1) -> Self {
        ToL1::Bank(msg)
    }
}

impl Message for ToL1 {
    fn name(&self) -> &'static str {
        match self {
            ToL1::Bank(msg) => msg.name(),
            ToL1::Flush { .. } => "FlushL1",
            ToL1::Invalidate { .. } => "InvalidateL1",
            ToL1::Lock { .. } => "LockL1",
            ToL1::Unlock { .. } => "UnlockL1",
            ToL1::Done { .. } => "L1Done",
        }
    }

    fn payload_bytes(&self, line_bytes: u32) -> u32 {
        match self {
            ToL1::Bank(msg) => msg.payload_bytes(line_bytes),
            _ => 0,
        }
    }

    fn line(&self) -> Option<LineAddr> {
        match self {
            ToL1::Bank(msg) => msg.line(),
            _ => None,
        }
    }

    fn is_access(&self) -> bool {
        false
    }
}
