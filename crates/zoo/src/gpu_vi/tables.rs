//! The state transition tables of a line in the L1 and in a bank, and the plans (lists of steps) of
//! operations.

use crate::vi::Step;
use proto::{OpClass, PlanKey, Reach, Row, Steps, Table, TableId, go, impossible, stall, stay, symbols};

symbols! {
    /// The states of a line in the L1.
    pub enum State {
        /// The line is not present.
        I,
        /// The line is present.
        V,
        /// A fill is under way.
        IV,
        /// A fill is under way, and a later access of this compute unit has left for the bank. The
        /// bytes of the fill only answer the loads that wait for them.
        IX,
    }
    /// The events of a line in the L1.
    pub enum Event {
        /// A load.
        Load,
        /// A store, an atomic or an access at system scope of this compute unit leaves for the bank.
        Pass,
        /// The fill comes.
        Data,
        /// The bank invalidates the copy.
        Inv,
        /// The line is evicted, because its way is needed for another line. The bank is not told.
        Evict,
    }
    /// The actions on a line in the L1.
    pub enum Action {
        /// Ask the bank for the line. The request holds a miss register.
        SendGet,
        /// Answer with the bytes of the line.
        Reply,
        /// Take the filled bytes.
        Fill,
        /// Answer the loads that wait for the fill.
        Answer,
        /// Free the miss register, and wake the inputs that wait for it, for the line or for its way.
        Wake,
        /// Acknowledge the invalidation.
        AckInv,
    }
}

/// The state transition table of a line in the L1.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct L1Table;

const NO_LINE: &str = "there is no line";
const NO_FILL: &str = "no fill is under way";
const PINNED: &str = "a line with a fill under way is pinned";

impl Table for L1Table {
    type State = State;
    type Event = Event;
    type Action = Action;
    const ID: TableId = TableId(0);
    const NAME: &'static str = "A line in the L1";

    fn row(state: State, event: Event) -> Row<State, Action> {
        use Action::*;
        use Event::*;
        use State::*;
        match (state, event) {
            (I, Load) => go(IV, &[SendGet]).wait(),
            (V, Load) => stay(&[Reply]),
            (IV, Load) => stay(&[]).wait(),
            // The bytes on their way are older than a write of this compute unit.
            (IX, Load) => stall(),
            (I, Pass) => stay(&[]),
            (V, Pass | Evict) => go(I, &[]),
            (IV | IX, Pass) => go(IX, &[]),
            (I | V, Data) => impossible(NO_FILL),
            (IV, Data) => go(V, &[Fill, Answer, Wake]),
            (IX, Data) => go(I, &[Answer, Wake]),
            // The copy has been evicted, and the bank does not know it.
            (I, Inv) => stay(&[AckInv]),
            (V, Inv) => go(I, &[AckInv]),
            // As before, the invalidation is for an evicted copy: a fill that the bank had sent
            // before the invalidation would have come before it. The bank answers the request for
            // the line after the write, so the coming bytes are up to date.
            (IV | IX, Inv) => stay(&[AckInv]),
            (I, Evict) => impossible(NO_LINE),
            (IV | IX, Evict) => impossible(PINNED),
        }
    }
}

symbols! {
    /// The states of a line in a bank.
    pub enum BankState {
        /// The line is not present, so no L1 has a copy.
        I,
        /// The line is present, but some bytes that the access needs are not valid.
        P,
        /// The line is present. No L1 has a copy, except perhaps the L1 that makes the access.
        V,
        /// The line is present, and L1s may have copies: the sharers.
        S,
        /// A fetch from memory is under way.
        IV,
        /// Invalidations of the sharers are under way, because an access waits to change the line.
        SV,
        /// Invalidations of the sharers are under way, and then the line leaves the bank. Its dirty
        /// bytes have been written out.
        SI,
    }
    /// The events of a line in a bank.
    pub enum BankEvent {
        /// An L1 asks for the line.
        Get,
        /// A write.
        Write,
        /// An atomic.
        Update,
        /// An access at system scope is performed in memory.
        Remote,
        /// The fetched bytes arrive.
        Fill,
        /// A sharer acknowledges its invalidation, and others have not done so.
        Ack,
        /// The last sharer acknowledges its invalidation.
        LastAck,
        /// The line is evicted, because its way is needed for another line.
        Evict,
        /// An acquire at system scope invalidates the line.
        Inv,
        /// A release at system scope flushes this dirty line.
        Flush,
    }
    /// The actions on a line in a bank.
    pub enum BankAction {
        /// Read the line from memory. Takes a miss register.
        Fetch,
        /// Fill the bytes that are not valid.
        Fill,
        /// Free the miss register.
        EndFetch,
        /// Add the L1 to the sharers.
        Join,
        /// Send the line to the L1.
        SendData,
        /// Remove the L1 of the access from the sharers: it has dropped its copy.
        Leave,
        /// Invalidate the copies of all sharers.
        Invalidate,
        /// Remove the L1 from the sharers whose acks are due.
        CountAck,
        /// Merge the written bytes.
        Merge,
        /// Read and update the words, and answer with the old bytes.
        Perform,
        /// Write the dirty bytes to memory, unless this bank combines writes.
        Settle,
        /// Acknowledge the write.
        Ack,
        /// Write the dirty bytes to memory, if there are any.
        WriteOut,
        /// Perform the access in memory and forward memory's reply.
        PassOn,
        /// Wake the inputs that wait for the line, for its way or for a miss register.
        Wake,
    }
}

impl BankEvent {
    /// Whether the event needs all its requested bytes to be valid in the bank.
    pub(super) fn needs_bytes(self) -> bool {
        matches!(self, BankEvent::Get | BankEvent::Update)
    }

    /// Whether the event needs all copies of the line to be invalid.
    pub(super) fn needs_no_copies(self) -> bool {
        matches!(self, BankEvent::Write | BankEvent::Update | BankEvent::Remote)
    }
}

/// The state transition table of a line in a bank. The state of a line also says whether the
/// directory has sharers of the line (L1s that may have a copy).
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct BankTable;

const ACCESS_ONLY: &str = "the state is only for accesses that need missing bytes";
const NO_FETCH: &str = "no fetch is under way";
const NO_ACK: &str = "no ack is due";
const BUSY: &str = "a line with a fetch or invalidations under way is pinned";
const WRITTEN_OUT: &str = "the dirty bytes of a line that leaves have been written out";
const ENDED: &str = "acquires at system scope wait until no fetch is under way";

impl Table for BankTable {
    type State = BankState;
    type Event = BankEvent;
    type Action = BankAction;
    const ID: TableId = TableId(2);
    const NAME: &'static str = "A line in an L2 bank";
    const NEVER_STORED: &'static [BankState] = &[BankState::P];

    fn row(state: BankState, event: BankEvent) -> Row<BankState, BankAction> {
        use BankAction as A;
        use BankEvent::*;
        use BankState::*;
        match (state, event) {
            (I | P, Get | Update) => go(IV, &[A::Fetch]).retry(),
            // A write needs no fetch: the masks of the line record its bytes.
            (I, Write) => go(V, &[A::Merge, A::Settle, A::Ack]),
            (I, Remote) => stay(&[A::PassOn]),
            (I, Fill) => impossible(NO_FETCH),
            (I, Evict | Inv | Flush) => impossible(NO_LINE),
            (P, Write | Remote | Fill | Ack | LastAck | Evict | Inv | Flush) => impossible(ACCESS_ONLY),
            (I | V | S | IV, Ack | LastAck) => impossible(NO_ACK),

            (V | S, Get) => go(S, &[A::Join, A::SendData]),
            (V, Write) => go(V, &[A::Leave, A::Merge, A::Settle, A::Ack]),
            (V, Update) => go(V, &[A::Leave, A::Perform, A::Settle]),
            // If the copy stayed here, it would be older than memory.
            (V, Remote) => go(I, &[A::Leave, A::WriteOut, A::PassOn]),
            (V, Evict | Inv) => go(I, &[A::WriteOut]),
            (V | S | SV | IV, Flush) => stay(&[A::WriteOut]),
            (SI, Flush) => impossible(WRITTEN_OUT),
            (V | S | SV | SI, Fill) => impossible(NO_FETCH),

            (S, Write | Update | Remote) => go(SV, &[A::Leave, A::Invalidate]).retry(),
            (S, Evict | Inv) => go(SI, &[A::WriteOut, A::Invalidate]),

            (IV, Get | Update | Remote) => stall(),
            (IV, Write) => stay(&[A::Merge, A::Settle, A::Ack]),
            (IV, Fill) => go(V, &[A::Fill, A::EndFetch, A::Wake]),
            (IV, Inv) => impossible(ENDED),
            (IV | SV | SI, Evict) => impossible(BUSY),

            // Until the last ack, some L1 may load the old bytes. So no access is performed.
            (SV | SI, Get | Write | Update | Remote) => stall(),
            (SV | SI, Ack) => stay(&[A::CountAck]),
            (SV, LastAck) => go(V, &[A::CountAck, A::Wake]),
            (SV, Inv) => go(SI, &[A::WriteOut]),
            (SI, LastAck) => go(I, &[A::CountAck, A::Wake]),
            (SI, Inv) => stay(&[]),
        }
    }
}

proto::plans! {
    /// The plan of each operation at the L1: the list of its steps.
    pub struct L1Plans: Step = plan, TableId(1), "Operations at the L1"
}

/// The steps of an operation. A store is answered when it has been performed at the L2, so a
/// release at device scope has nothing to do. No copy is stale, so an acquire at device scope has
/// nothing to do, either.
const fn plan(key: PlanKey) -> Steps<Step> {
    use Step::*;
    let is_wide = matches!(key.reach(), Reach::System) && !key.is_plain();
    let release: &[Step] = if matches!(key.released(), Some(Reach::System)) { &[FlushBanks] } else { &[] };
    let access: &[Step] = match key.op {
        OpClass::Fence | OpClass::KernelBegin | OpClass::KernelEnd => &[],
        _ if is_wide => &[BelowSystem],
        OpClass::Load => &[Here],
        OpClass::Store | OpClass::Rmw | OpClass::Update => &[Below],
    };
    let acquire: &[Step] = match key.acquired() {
        Some(Reach::System) => &[InvalidateBanks],
        None | Some(Reach::Group | Reach::Device) => &[],
    };
    let is_here = matches!(key.op, OpClass::Load) && !is_wide;
    Steps::of(&[release, access, acquire, if is_here { &[] } else { &[AnswerIt] }])
}
