//! The state transition tables of a line in the L1 and of the epoch management unit, and the plans
//! (lists of steps) of operations.

use proto::{OpClass, PlanKey, Reach, Row, Steps, Table, TableId, go, impossible, stall, stay, symbols};

symbols! {
    /// The states of a line.
    pub enum State {
        /// The line is not present.
        I,
        /// The line is present.
        V,
        /// A fill is under way, and the line may keep its bytes (the paper's `I_V`).
        IV,
        /// A fill is under way, and its bytes only answer the load that waits for them (the paper's
        /// `I_I`). The line takes no way.
        II,
    }
    /// The events of a line.
    pub enum Event {
        /// A load of a line that may not be written now: the epoch of its band (group of lines) is
        /// not in force.
        Load,
        /// A load of a line that may be written now: the epoch of its band (group of lines) is in
        /// force (the paper's `Load_U`).
        LoadU,
        /// A store or an atomic comes in the epoch (the time in which its line may be written).
        Write,
        /// A store or an atomic comes outside the epoch (the time in which its line may be
        /// written).
        Blocked,
        /// A store or an atomic leaves for the bank, in the epoch (the time in which its line may
        /// be written).
        Store,
        /// A fill comes outside the epoch in which its line may be written.
        Data,
        /// A fill comes in the epoch in which its line may be written (the paper's `Data_E`).
        DataE,
        /// A store or an atomic has been performed (the paper's `WA`).
        Ack,
        /// The line may be written in the epoch in force, and an access has reached its set, or the
        /// epoch ends.
        Epoch,
        /// An acquire at system scope, or a load at system scope of this compute unit, removes
        /// the line.
        Drop,
        /// The line is evicted, because its way is needed for another line.
        Evict,
    }
    /// The actions of the rows.
    pub enum Action {
        /// Ask the bank for the line. The request holds a miss register.
        SendGet,
        /// Record that the L1 must not keep the bytes of the line's fill.
        Uncache,
        /// Answer with the bytes of the line.
        Reply,
        /// Take the filled bytes.
        Fill,
        /// Answer the load that waits for the fill.
        Answer,
        /// Free the miss register, and wake the inputs that wait for a miss register, for the line or
        /// for its way.
        Wake,
        /// Send the write to the bank and count it as pending (the paper's `PW++`).
        Issue,
        /// Put the write into the blocked-store queue. If the protocol skips epochs that no compute
        /// unit demands, also send a demand for the epoch of the write to the epoch management unit,
        /// unless this compute unit has already done so since the last change of epochs.
        Queue,
        /// The write is no longer pending (the paper's `PW--`). Wake the accesses that wait for it.
        Complete,
    }
}

/// The state transition table of a line in the L1: Table 1 of the STC paper, with the events that
/// the paper describes in words. In the repaired table, the beginning of the epoch in which the
/// line may be written also affects a line whose fill is under way.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct L1Table<const REPAIRED: bool>;

const NO_LINE: &str = "there is no line";
const NO_FILL: &str = "no fill is under way";
const PINNED: &str = "a line with a fill under way is pinned";
const ORDERED: &str = "accesses of a line wait for its pending write";

impl<const REPAIRED: bool> Table for L1Table<REPAIRED> {
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
            (I, LoadU) => go(II, &[Uncache, SendGet]).wait(),
            (I | V, Write) => stay(&[]),
            (I | V, Blocked) => stay(&[Queue]),
            (I, Store) => stay(&[Issue]),
            (I, Ack) => stay(&[Complete]),
            (I, Drop) => stay(&[]),
            (I | V, Data | DataE) => impossible(NO_FILL),
            (I | II, Epoch) | (I, Evict) => impossible(NO_LINE),

            (V, Load) => stay(&[Reply]),
            // No access has reached the set since the epoch began.
            (V, LoadU) => go(II, &[Uncache, SendGet]).wait(),
            (V, Store) => go(I, &[Issue]),
            (V, Epoch | Drop | Evict) => go(I, &[]),
            (V | IV | II, Ack) | (IV | II, Store) => impossible(ORDERED),

            // The coalescing unit holds an access back while an older one of the line is under way.
            (IV | II, Load | LoadU | Write | Blocked) => stall(),
            (IV, Data) => go(V, &[Fill, Answer, Wake]),
            (IV, DataE) => go(I, &[Answer, Wake]),
            // The bytes on their way may be older than the writes of this epoch.
            (IV, Epoch) if REPAIRED => go(II, &[Uncache]),
            (IV, Epoch) => stay(&[]),
            (IV, Drop) => go(II, &[Uncache]),
            (II, Data | DataE) => go(I, &[Answer, Wake]),
            (II, Drop) => stay(&[]),
            (IV | II, Evict) => impossible(PINNED),
        }
    }
}

symbols! {
    /// The states of the epoch management unit.
    pub enum Phase {
        /// No change of epochs is under way.
        Idle,
        /// Compute units complete their writes.
        Preparing,
        /// Compute units change to the new epochs.
        Changing,
    }
    /// The events of the epoch management unit.
    pub enum Signal {
        /// The unit wakes up at the end of a period, and there is an epoch to grant.
        Wakeup,
        /// The unit wakes up at the end of a period, and no compute unit demands an epoch.
        IdleWakeup,
        /// A compute unit is ready, but others are not.
        Ready,
        /// The last compute unit is ready.
        LastReady,
        /// A compute unit has changed to the new epochs, but others have not.
        Done,
        /// The last compute unit has changed to the new epochs.
        LastDone,
        /// A compute unit demands an epoch: it asks for the epoch in which its blocked write may be
        /// performed.
        Demand,
        /// A compute unit reports that it loads from a band (group of lines) in which it has a
        /// blocked write.
        Conflict,
    }
    /// The actions of the epoch management unit.
    pub enum Command {
        /// Begin the next period (the time until the unit wakes up again).
        Rearm,
        /// Choose the next epochs, and ask all compute units to prepare for the change of epochs.
        Prepare,
        /// Tell all compute units to change to the new epochs.
        Change,
        /// Record the line that the demand names, unless a demand for the same epoch is already
        /// recorded.
        Note,
        /// Acknowledge the demand for an epoch.
        Confirm,
        /// Compare the reported load with the noted write to the same band (group of lines), to
        /// move the start bit (which assigns lines to bands) at the next change of epochs.
        Adapt,
    }
}

/// The state transition table of the epoch management unit.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct EmuTable;

impl Table for EmuTable {
    type State = Phase;
    type Event = Signal;
    type Action = Command;
    const ID: TableId = TableId(3);
    const NAME: &'static str = "The epoch management unit";

    fn row(state: Phase, event: Signal) -> Row<Phase, Command> {
        use Command::*;
        use Phase::*;
        use Signal::*;
        match (state, event) {
            (Idle, Wakeup) => go(Preparing, &[Rearm, Prepare]),
            (Idle, IdleWakeup) => stay(&[Rearm]),
            // The change outlasts the period: the next period begins, and nothing else.
            (Preparing | Changing, Wakeup | IdleWakeup) => stay(&[Rearm]),
            (Preparing, Ready) | (Changing, Done) => stay(&[]),
            (Preparing, LastReady) => go(Changing, &[Change]),
            (Changing, LastDone) => go(Idle, &[]),
            (Idle | Preparing | Changing, Demand) => stay(&[Note, Confirm]),
            (Idle | Preparing | Changing, Conflict) => stay(&[Adapt]),
            (Idle | Changing, Ready | LastReady) => impossible("no compute unit was asked to prepare"),
            (Idle | Preparing, Done | LastDone) => impossible("no compute unit was told to change"),
        }
    }
}

symbols! {
    /// The steps of operations.
    pub enum Step {
        /// Load from this cache's copy of the line or, without a copy, from the bank; then answer.
        Here,
        /// Remove the line, because the access is performed in memory.
        Pass,
        /// Wait for older accesses of the line, for room among the writes that wait or are under
        /// way, and until the epoch of the line's band begins. A band is a group of lines, and an
        /// epoch is the time in which its lines may be written.
        Await,
        /// Perform the write or the atomic at the L2, and wait for the answer.
        Below,
        /// Perform the access in memory and wait for the answer.
        BelowSystem,
        /// Flush the L2 to memory and wait for the acks.
        FlushBanks,
        /// Invalidate the clean bytes of the L2 and wait for the acks.
        InvalidateBanks,
        /// Invalidate the L1s of all compute units and wait for the acks. Only the host writes
        /// outside epochs, so no other operation invalidates an L1.
        InvalidateL1s,
        /// Answer the request.
        AnswerIt,
    }
}

proto::plans! {
    /// The plan of each operation at the L1: the list of its steps.
    pub struct L1Plans: Step = plan, TableId(1), "Operations at the L1"
}

/// The plan (list of steps) of an operation. A write is answered only after it has been performed
/// at the L2, so a release at device scope needs no step.
const fn plan(key: PlanKey) -> Steps<Step> {
    use Step::*;
    let is_wide = matches!(key.reach(), Reach::System) && !key.is_plain();
    let release: &[Step] = if matches!(key.released(), Some(Reach::System)) { &[FlushBanks] } else { &[] };
    let access: &[Step] = match key.op {
        OpClass::Fence | OpClass::KernelBegin | OpClass::KernelEnd => &[],
        OpClass::Load if is_wide => &[Pass, BelowSystem],
        OpClass::Load => &[Here],
        OpClass::Store | OpClass::Rmw | OpClass::Update if is_wide => &[Await, BelowSystem],
        OpClass::Store | OpClass::Rmw | OpClass::Update => &[Await, Below],
    };
    let acquire: &[Step] = match key.acquired() {
        Some(Reach::System) => &[InvalidateBanks, InvalidateL1s],
        None | Some(Reach::Group | Reach::Device) => &[],
    };
    let is_here = matches!(key.op, OpClass::Load) && !is_wide;
    Steps::of(&[release, access, acquire, if is_here { &[] } else { &[AnswerIt] }])
}
