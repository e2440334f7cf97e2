//! The messages of registration, beside those that every cache and bank
//! exchange.

use crate::parts::{self, How, operand_bytes};
use proto::{ByteMask, LineAddr, LineData, NodeId, Op, Slot, messages};

messages! {
    /// To an L2 bank. A flush or an invalidation recalls what is registered.
    #[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
    pub enum ToBank = Shared(parts::ToBank) [order(keeps_order)] {
        /// Registration, please; or the bytes anew, from who is registered.
        Register {
            /// The line.
            line: LineAddr,
            /// The bytes that the atomic needs; none for a line with stored data.
            mask: ByteMask,
            /// The request that waits, if one waits for nothing else.
            slot: Option<Slot>,
        } [line(line), access, order(false)],
        /// Registration is given back, evicted or recalled.
        Return {
            /// The line.
            line: LineAddr,
            /// The bytes that were written while it was registered and have not left.
            mask: ByteMask,
            /// The bytes.
            data: LineData,
            /// Does the rest of the line travel with them?
            whole: bool,
        } [line(line), bytes(|line_bytes| if *whole { line_bytes } else { mask.count() }), writes(mask)],
    }
}

messages! {
    /// To a first-level cache.
    #[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
    pub enum ToL1 = Shared(parts::ToL1) {
        /// The line is registered to this cache.
        Grant {
            /// The line.
            line: LineAddr,
            /// The bytes that were asked for.
            mask: ByteMask,
            /// The request that waits.
            slot: Option<Slot>,
            /// The bytes of the whole line.
            data: LineData,
        } [line(line), bytes(|line_bytes| line_bytes)],
        /// Give the registration of the line back.
        Recall {
            /// The line.
            line: LineAddr,
        } [line(line)],
        /// An access of another cache to a line that is registered here.
        Forward {
            /// The line.
            line: LineAddr,
            /// Which bytes.
            mask: ByteMask,
            /// The bytes to store, or the operands.
            data: LineData,
            /// Load, store or read-modify-write.
            op: Op,
            /// The request that waits.
            slot: Slot,
            /// Where it waits.
            asker: NodeId,
        } [line(line), bytes(|_| operand_bytes(*op, *mask))],
        /// Send the line to another cache that loads data; it stays registered here.
        Serve {
            /// The line.
            line: LineAddr,
            /// Who waits for it.
            asker: NodeId,
        } [line(line)],
    }
}

/// A flush waits for writes, and a recall for a flush: neither may stand behind what
/// waits for a recall. Nor may the word of who is registered that it needs the bytes
/// anew.
fn keeps_order(msg: &parts::ToBank) -> bool {
    use parts::ToBank::{Access, Flush, Get, Invalidate, Write};
    match msg {
        Get { .. } => true,
        Access { how, op, .. } => !(*how == How::Here && *op == Op::Store),
        Write { .. } | Flush { .. } | Invalidate { .. } => false,
    }
}
