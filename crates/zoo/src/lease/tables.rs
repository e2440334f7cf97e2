//! The state transition tables of a line in the L1, of a line in a bank and of the rollover unit
//! (which restarts all timestamps at zero), and the plans (lists of steps) of operations.

use proto::{OpClass, PlanKey, Reach, Row, Steps, Table, TableId, go, impossible, stall, stay, symbols};

symbols! {
    /// The states of a line in the L1.
    pub enum State {
        /// The line is not present.
        I,
        /// The line is present, with a version and a lease.
        V,
        /// A fill is under way.
        IV,
        /// The lease has ended, and the bank is asked to renew it or to send the line.
        RV,
        /// A fill or a renewal is under way, and the line is not kept.
        IX,
    }
    /// The events of a line in the L1.
    pub enum Event {
        /// A load at a time in the lease, or of a line that is not present.
        Load,
        /// A load at a time after the lease.
        Expired,
        /// A store or a read-modify-write of this compute unit leaves for the bank.
        Write,
        /// The line arrives with its version and a lease.
        Data,
        /// The line arrives without a lease, because memory has answered.
        Bare,
        /// The bank has renewed the lease of the bytes that are here.
        Renewed,
        /// The bank has renewed a lease, but the bytes are no longer here.
        Lost,
        /// All timestamps start again at zero.
        Reset,
        /// The line is evicted, because its way is needed for another line.
        Evict,
    }
    /// The actions on a line in the L1.
    pub enum Action {
        /// Ask the bank for the line. If bytes are here, name their version. Takes a miss register.
        SendGet,
        /// Ask the bank for the line again, with the same miss register.
        AskAgain,
        /// Send the write to the bank.
        SendWrite,
        /// Answer with the bytes of the line. The reader's time becomes at least the line's version.
        Reply,
        /// Take the bytes, the version and the lease.
        Fill,
        /// Take the new end of the lease.
        Extend,
        /// Answer the load that waits, with the bytes that arrived or else with those that are here.
        Answer,
        /// Drop the bytes, the version and the lease, if the line has any.
        Forget,
        /// Free the miss register, and wake the inputs that wait for a miss register, for the line or
        /// for its way.
        Wake,
    }
}

/// The state transition table of a line in the L1.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct L1Table;

const NO_LINE: &str = "there is no line";
const NO_FILL: &str = "no fill is under way";
const PINNED: &str = "a line with a fill or a fetch under way is pinned";
const NO_BYTES: &str = "the L1 had no bytes of this line, so its request named no version";
const HAS_BYTES: &str = "the L1 still has the bytes of this line";

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
            (I, Write) => stay(&[SendWrite]),
            (I, Expired | Reset | Evict) => impossible(NO_LINE),
            (I | V, Data | Bare | Renewed | Lost) => impossible(NO_FILL),

            (V, Load) => stay(&[Reply]),
            (V, Expired) => go(RV, &[SendGet]).wait(),
            (V, Write) => go(I, &[Forget, SendWrite]),
            (V, Reset | Evict) => go(I, &[Forget]),

            // The time of another load may be after the lease that is on its way.
            (IV | RV | IX, Load | Expired) => stall(),
            // The bytes on their way may be older than this write.
            (IV | RV, Write) => go(IX, &[SendWrite]),
            (IX, Write) => stay(&[SendWrite]),
            (IV | RV, Data) => go(V, &[Fill, Answer, Wake]),
            (IX, Data) | (IV | RV | IX, Bare) => go(I, &[Forget, Answer, Wake]),
            (RV, Renewed) => go(V, &[Extend, Answer, Wake]),
            (IX, Renewed) => go(I, &[Answer, Forget, Wake]),
            (IV, Renewed) => impossible(NO_BYTES),
            (IV | IX, Lost) => stay(&[AskAgain]),
            (RV, Lost) => impossible(HAS_BYTES),
            (IV, Reset) => stay(&[]),
            // The version that the request named has no meaning any more.
            (RV, Reset) => go(IV, &[Forget]),
            (IX, Reset) => stay(&[Forget]),
            (IV | RV | IX, Evict) => impossible(PINNED),
        }
    }
}

symbols! {
    /// The states of a line in a bank.
    pub enum BankState {
        /// The line is not present.
        I,
        /// The line is present, but some bytes that the access needs are not valid.
        P,
        /// The line is present, and all bytes that the access needs are valid.
        V,
        /// A fetch from memory is under way.
        IV,
        /// A fetch is under way, and its bytes must not be used.
        IX,
    }
    /// The events of a line in a bank.
    pub enum BankEvent {
        /// An L1 asks for the line.
        Get,
        /// An L1 asks for the line and has its bytes already.
        Renew,
        /// An atomic load.
        Read,
        /// A store.
        Write,
        /// A read-modify-write.
        Update,
        /// An access at system scope, which is performed in memory.
        Remote,
        /// The fetched bytes arrive.
        Fill,
        /// The line is evicted, because its way is needed for another line.
        Evict,
        /// An acquire at system scope invalidates the line.
        Inv,
        /// A release at system scope flushes this dirty line.
        Flush,
    }
    /// The actions on a line in a bank.
    pub enum BankAction {
        /// Set the line's version and the end of its lease to the end of the common lease of all
        /// lines that are not in the bank.
        Admit,
        /// Extend the common lease of all lines that are not in the bank to the end of this line's
        /// lease, if this end is later.
        Retire,
        /// Read the line from memory. Takes a miss register.
        Fetch,
        /// Extend the lease for the reader.
        Lease,
        /// Perform the access in logical time: a load within the lease, which becomes longer if
        /// necessary, and a write after the lease. A write gives the line a new version.
        Stamp,
        /// Send the line, its version and its lease to the L1.
        SendData,
        /// Send the lease to the L1.
        SendLease,
        /// Merge the written bytes.
        Merge,
        /// Write the dirty bytes to memory, unless the bank combines writes.
        Settle,
        /// Write the dirty bytes to memory, if there are any. The line becomes clean.
        WriteOut,
        /// Acknowledge the write with its time.
        Ack,
        /// Read or update the words, and answer with the old bytes and the time.
        Perform,
        /// Perform the access in memory and forward memory's reply.
        PassOn,
        /// Fill the bytes that are not valid.
        Fill,
        /// Free the miss register, and wake inputs that wait for it, the line or its way.
        Wake,
        /// Wake accesses that wait for the fetch. Memory performs these accesses.
        Divert,
    }
}

impl BankEvent {
    /// Whether the event needs all its requested bytes to be valid in the bank.
    #[must_use]
    pub fn needs_bytes(self) -> bool {
        matches!(self, BankEvent::Get | BankEvent::Read | BankEvent::Update)
    }
}

/// The state transition table of a line in a bank.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct BankTable;

const NO_FETCH: &str = "no fetch is under way";
const ACCESS_ONLY: &str = "the state is only for accesses that need missing bytes";
const WHOLE_ONLY: &str = "a lease is renewed only for a whole line";

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
            (I, Get | Read | Update) => go(IV, &[A::Admit, A::Fetch]).retry(),
            (I, Write) => go(V, &[A::Admit, A::Stamp, A::Merge, A::Settle, A::Ack]),
            (I, Remote) => stay(&[A::Stamp, A::PassOn]),
            (I, Evict | Inv | Flush) => impossible(NO_LINE),
            (I | V, Fill) => impossible(NO_FETCH),

            (P, Get | Read | Update) => go(IV, &[A::Fetch]).retry(),
            (P, Write | Remote | Fill | Evict | Inv | Flush) => impossible(ACCESS_ONLY),

            (V, Get) => stay(&[A::Lease, A::SendData]),
            (V, Renew) => stay(&[A::Lease, A::SendLease]),
            (I | P | IV | IX, Renew) => impossible(WHOLE_ONLY),
            (V, Read) => stay(&[A::Stamp, A::Perform]),
            (V, Write) => stay(&[A::Stamp, A::Merge, A::Settle, A::Ack]),
            (V, Update) => stay(&[A::Stamp, A::Perform, A::Settle]),
            // If the copy stayed here, it would be older than memory.
            (V, Remote) => go(I, &[A::WriteOut, A::Stamp, A::Retire, A::PassOn]),
            (V, Evict | Inv) => go(I, &[A::WriteOut, A::Retire]),
            (V, Flush) => stay(&[A::WriteOut]),

            (IV, Get | Read | Write | Update) => stall(),
            (IV, Remote) => go(IX, &[A::WriteOut, A::Stamp, A::PassOn, A::Divert]),
            (IV, Inv) => go(IX, &[A::WriteOut, A::Divert]),
            (IV, Flush) => stay(&[A::WriteOut]),
            (IV, Fill) => go(V, &[A::Fill, A::Wake]),
            // An access that fetches again each time would starve while others
            // acquire or access the line at system scope. So memory performs it.
            (IX, Get | Read | Write | Update | Remote) => stay(&[A::Stamp, A::PassOn]),
            (IX, Inv | Flush) => stay(&[]),
            (IX, Fill) => go(I, &[A::Retire, A::Wake]),
            (IV | IX, Evict) => impossible(PINNED),
        }
    }
}

symbols! {
    /// The states of the rollover unit.
    pub enum Phase {
        /// No rollover (restart of all timestamps at zero) is under way.
        Idle,
        /// The banks stop, and the L1s drop their lines.
        Stopping,
    }
    /// The events of the rollover unit.
    pub enum Signal {
        /// A bank has no timestamp left for an access.
        Overflow,
        /// A bank has stopped or an L1 is empty, but others have not answered.
        Answer,
        /// The last bank has stopped, or the last L1 is empty.
        LastAnswer,
    }
    /// The actions of the rollover unit.
    pub enum Command {
        /// Ask all banks to stop.
        StopBanks,
        /// Tell all banks to go on at time zero.
        StartBanks,
    }
}

/// The state transition table of the rollover unit, which restarts all timestamps at zero.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct RolloverTable;

impl Table for RolloverTable {
    type State = Phase;
    type Event = Signal;
    type Action = Command;
    const ID: TableId = TableId(3);
    const NAME: &'static str = "The rollover unit";

    fn row(state: Phase, event: Signal) -> Row<Phase, Command> {
        use Command::*;
        use Phase::*;
        use Signal::*;
        match (state, event) {
            (Idle, Overflow) => go(Stopping, &[StopBanks]),
            // Another bank has overflowed as well: one rollover serves both.
            (Stopping, Overflow | Answer) => stay(&[]),
            (Stopping, LastAnswer) => go(Idle, &[StartBanks]),
            (Idle, Answer | LastAnswer) => impossible("no answer was due"),
        }
    }
}

symbols! {
    /// The steps of operations.
    pub enum Step {
        /// Load from this cache's copy of the line or, without a lease, from the bank; then answer.
        Here,
        /// Perform the access at the L2, and wait for the answer.
        Below,
        /// Perform the access in memory and wait for the answer.
        BelowSystem,
        /// Join the times of reads and writes, so that all later operations come after all earlier
        /// ones.
        Join,
        /// Flush the L2 to memory and wait for the acks.
        FlushBanks,
        /// Ask each bank for the latest end of its leases, and advance to it.
        AskBanks,
        /// Write the L2 to memory and empty it, and advance to a time after all its leases.
        InvalidateBanks,
        /// Answer the request.
        AnswerIt,
    }
}

proto::plans! {
    /// The plan of each operation at the L1: the list of its steps.
    pub struct L1Plans: Step = plan, TableId(1), "Operations at the L1"
}

/// The steps of an operation. Every answered write is at the L2, so a release at device scope only
/// joins the times of reads and writes.
const fn plan(key: PlanKey) -> Steps<Step> {
    use Step::*;
    let is_wide = matches!(key.reach(), Reach::System) && !key.is_plain();
    let release: &[Step] = match key.released() {
        None => &[],
        Some(Reach::Group | Reach::Device) => &[Join],
        Some(Reach::System) => &[Join, FlushBanks],
    };
    let access: &[Step] = match key.op {
        OpClass::Fence | OpClass::KernelBegin | OpClass::KernelEnd => &[],
        OpClass::Load if key.is_plain() => return Steps::of(&[&[Here]]),
        OpClass::Load | OpClass::Store | OpClass::Rmw | OpClass::Update if is_wide => &[BelowSystem],
        OpClass::Load | OpClass::Store | OpClass::Rmw | OpClass::Update => &[Below],
    };
    // The answers of the banks advance all clocks of the compute unit to one time, which joins them.
    let acquire: &[Step] = match (key.acquired(), key.op) {
        (None, _) => &[],
        (Some(Reach::System), _) => &[InvalidateBanks],
        (Some(_), OpClass::KernelBegin) => &[AskBanks],
        (Some(Reach::Group | Reach::Device), _) => &[Join],
    };
    Steps::of(&[release, access, acquire, &[AnswerIt]])
}
