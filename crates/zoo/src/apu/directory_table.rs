//! The state transition table of a line in the stateless directory.

use proto::{Row, Table, TableId, go, impossible, stall, stay, symbols};

symbols! {
    /// The states of a line in the stateless directory. Each state but I is that of a transaction.
    pub enum DirectoryState {
        /// No transaction of the line is under way.
        I,
        /// Answers are due, and a read from memory is under way.
        PF,
        /// Answers are due.
        P,
        /// All answers have come without the bytes of the line, and a read from memory is under way.
        F,
        /// The requester has got the bytes of a host. A read from memory is under way, and its bytes
        /// are not needed.
        FX,
    }
    /// The events of a line in the stateless directory.
    pub enum DirectoryEvent {
        /// The GPU reads the line.
        Read,
        /// The GPU writes bytes of the line, or performs a read-modify-write on it.
        Write,
        /// A host asks for a copy, and there are other hosts.
        GetS,
        /// The only host asks for a copy.
        GetSAlone,
        /// A host asks to write the line, and must wait for answers.
        GetM,
        /// The only host asks to write the line, and does not wait for the GPU.
        GetMAlone,
        /// A host has evicted the line and writes its dirty bytes out.
        Put,
        /// A host or the L2 answers, and other answers are due.
        Answer,
        /// The last answer comes, and the bytes of the line are at hand.
        LastBytes,
        /// The last answer comes, and no host has sent bytes.
        LastBare,
        /// The last answer comes, for a write of the GPU.
        LastWrite,
        /// The bytes come from memory.
        Fill,
    }
    /// The actions on a line in the stateless directory.
    pub enum DirectoryAction {
        /// Record the transaction, in an entry of the directory.
        Begin,
        /// Ask all hosts but the requester for the line. Only its owner sends the bytes.
        AskShare,
        /// Invalidate the copies of all hosts but the requester. The owner sends the bytes.
        AskInv,
        /// Ask the L2 to invalidate its copy.
        TellGpu,
        /// Read the line from memory.
        Fetch,
        /// Note that the sender has answered, and keep its bytes.
        Collect,
        /// Keep the bytes. The bytes of a host are newer than those of memory.
        Hold,
        /// Answer the requester with the bytes of the line.
        Respond,
        /// Write the bytes that a host has evicted to memory.
        WriteOut,
        /// Write the bytes that the old owner has sent to memory, if there are any.
        WriteHost,
        /// Perform the operation of the GPU in memory. The reply of memory answers it.
        Perform,
        /// End the transaction: drop the entry, and wake the inputs that wait for it or for the line.
        End,
    }
}

/// The state transition table of a line in the stateless directory.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct DirectoryTable;

const NOT_ASKED: &str = "no answer is due";
const NO_READ: &str = "no read from memory is under way";
const NO_OWNER: &str = "all hosts have answered that they do not own the line";
const HAS_BYTES: &str = "the bytes of memory are at hand";
const NO_FETCH: &str = "a write of the GPU reads nothing from memory";

impl Table for DirectoryTable {
    type State = DirectoryState;
    type Event = DirectoryEvent;
    type Action = DirectoryAction;
    const ID: TableId = TableId(4);
    const NAME: &'static str = "A line in the stateless directory";

    fn row(state: DirectoryState, event: DirectoryEvent) -> Row<DirectoryState, DirectoryAction> {
        use DirectoryAction as A;
        use DirectoryEvent::*;
        use DirectoryState::*;
        match (state, event) {
            (I, Read | GetS) => go(PF, &[A::Begin, A::AskShare, A::Fetch]),
            (I, Write) => go(P, &[A::Begin, A::AskInv]),
            (I, GetSAlone) => go(F, &[A::Begin, A::Fetch]),
            (I, GetM) => go(PF, &[A::Begin, A::AskInv, A::TellGpu, A::Fetch]),
            (I, GetMAlone) => go(F, &[A::Begin, A::TellGpu, A::Fetch]),
            (PF | P | F | FX, Read | Write | GetS | GetSAlone | GetM | GetMAlone) => stall(),

            (I | FX, Put) => stay(&[A::WriteOut]),
            // The bytes come before the answer of the host, on the same channel. The bytes of memory
            // may be older.
            (PF | P, Put) => stay(&[A::WriteOut, A::Hold]),
            (F, Put) => impossible(NO_OWNER),

            (PF | P, Answer) => stay(&[A::Collect]),
            (PF, LastBytes) => go(FX, &[A::Collect, A::Respond]),
            (PF, LastBare) => go(F, &[A::Collect]),
            (PF, LastWrite) => impossible(NO_FETCH),
            (P, LastBytes) => go(I, &[A::Collect, A::Respond, A::End]),
            (P, LastBare) => impossible(HAS_BYTES),
            // Memory performs the two writes in this order.
            (P, LastWrite) => go(I, &[A::Collect, A::WriteHost, A::Perform, A::End]),

            (PF, Fill) => go(P, &[A::Hold]),
            (F, Fill) => go(I, &[A::Hold, A::Respond, A::End]),
            (FX, Fill) => go(I, &[A::End]),

            (I | F | FX, Answer | LastBytes | LastBare | LastWrite) => impossible(NOT_ASKED),
            (I | P, Fill) => impossible(NO_READ),
        }
    }
}
