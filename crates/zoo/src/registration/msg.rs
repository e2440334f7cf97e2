//! The messages of registration, in addition to the messages in [`crate::parts`].

use crate::parts::{self, AccessSite, operand_bytes};
use proto::{ByteMask, LineAddr, LineData, NodeId, Op, Slot, messages};

messages! {
    /// A message to an L2 bank. A flush or an invalidation recalls all registered lines.
    #[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
    pub enum ToBank = Shared(parts::ToBank) [order(keeps_order)] {
        /// A request of a first-level cache for registration. From the owner of the line, it is a
        /// request for the bytes.
        Register {
            /// The line to register.
            line: LineAddr,
            /// The bytes that the atomic needs; empty for a line with stored data.
            mask: ByteMask,
            /// The slot of the request that waits for the grant. `None` if the registration is for
            /// stored data, because then no request waits only for this grant.
            slot: Option<Slot>,
        } [line(line), access, order(false)],
        /// The return of a line's registration to the bank, after an eviction or a recall.
        Return {
            /// The line whose registration is returned.
            line: LineAddr,
            /// The mask of the dirty bytes.
            mask: ByteMask,
            /// The bytes of the line.
            data: LineData,
            /// Whether the message also carries the bytes of the line that are not dirty.
            whole: bool,
        } [line(line), bytes(|line_bytes| if *whole { line_bytes } else { mask.count() }), writes(mask)],
    }
}

messages! {
    /// A message to a first-level cache.
    #[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
    pub enum ToL1 = Shared(parts::ToL1) {
        /// The grant: the line is now registered to the receiving cache.
        Grant {
            /// The registered line.
            line: LineAddr,
            /// The bytes that the receiver requested.
            mask: ByteMask,
            /// The slot of the waiting request, if any.
            slot: Option<Slot>,
            /// The bytes of the whole line.
            data: LineData,
        } [line(line), bytes(|line_bytes| line_bytes)],
        /// A request to return the registration of the line.
        Recall {
            /// The line to return.
            line: LineAddr,
        } [line(line)],
        /// An access of another cache to a line that is registered at the receiver, which performs
        /// the access.
        Forward {
            /// The accessed line.
            line: LineAddr,
            /// The mask of the accessed bytes.
            mask: ByteMask,
            /// The bytes to store, or the operands of a read-modify-write.
            data: LineData,
            /// The operation: load, store or read-modify-write.
            op: Op,
            /// The slot of the waiting request.
            slot: Slot,
            /// The node at which the request waits, and which receives the answer.
            requester: NodeId,
        } [line(line), bytes(|_| operand_bytes(*op, *mask))],
        /// A request to send the line to another cache that loads data. The line stays registered
        /// at the receiver of this message.
        Serve {
            /// The line to send.
            line: LineAddr,
            /// The cache that loads data and receives the line.
            requester: NodeId,
        } [line(line)],
    }
}

/// Whether a message must stay behind parked (waiting) accesses of the same sender to the same
/// line. A write or a flush must not stay behind an access that waits for a recall, because the
/// recall waits for a flush, and the flush waits for writes. The request of a line's owner (the
/// registered cache) for the bytes must not stay behind such an access either.
fn keeps_order(msg: &parts::ToBank) -> bool {
    use parts::ToBank::{Access, Flush, Get, Invalidate, Write};
    match msg {
        Get { .. } => true,
        Access { site, op, .. } => !(*site == AccessSite::Here && *op == Op::Store),
        Write { .. } | Flush { .. } | Invalidate { .. } => false,
    }
}
