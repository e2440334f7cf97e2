//! The state transition table of a line in a cache, and the plans (lists of steps) of operations.

use proto::{OpClass, PlanKey, Row, Steps, Table, TableId, go, impossible, stall, stay, symbols};

symbols! {
    /// The states of a line in a cache. A name of two letters is a transient state: a request to the
    /// directory is under way.
    pub enum State {
        /// The line is not present.
        I,
        /// The line is present. Other caches may have copies, and another cache may own the line.
        S,
        /// The line is present, and no other cache has a copy. Memory has the same bytes.
        E,
        /// The line is present, and this cache owns it. Other caches may have copies. Memory may have
        /// older bytes.
        O,
        /// The line is present, and this cache owns it. No other cache has a copy. Memory may have
        /// older bytes.
        M,
        /// A request for a copy is under way.
        IS,
        /// A request to write the line is under way. This cache has no copy.
        IM,
        /// An upgrade from S is under way. The copy can be read.
        SU,
        /// An upgrade from O is under way. The copy can be read, and this cache owns the line.
        OU,
    }
    /// The events of a line in a cache.
    pub enum Event {
        /// A load.
        Load,
        /// A store or a read-modify-write.
        Store,
        /// The line comes, for reading.
        DataS,
        /// The line comes, for reading, and no other cache has a copy.
        DataE,
        /// The line comes, for writing.
        DataM,
        /// The directory grants an upgrade: no other cache has a copy any more.
        Grant,
        /// The directory invalidates the copy, because of a write or a recall.
        Inv,
        /// The directory asks the owner for the line, because another cache reads it.
        Share,
        /// The line is evicted, because its way is needed for another line.
        Evict,
    }
    /// The actions on a line in a cache.
    pub enum Action {
        /// Ask the directory for a copy. The request holds a miss register.
        SendGetS,
        /// Ask the directory for the line, to write it. The request holds a miss register.
        SendGetM,
        /// Ask the directory to invalidate all other copies. The request holds a miss register.
        SendUpgrade,
        /// Answer with the bytes of the line.
        Reply,
        /// Perform the store or the read-modify-write, and answer.
        Write,
        /// Take the bytes of the line, which are clean.
        Fill,
        /// Take the bytes of the line, which are dirty: memory may have older ones.
        FillDirty,
        /// Mark all bytes of the line as dirty: the old owner of the line has dropped them.
        MarkDirty,
        /// Answer the loads that wait for the line.
        Answer,
        /// Free the miss register, and wake the inputs that wait for the line, for its way or for a
        /// miss register.
        Wake,
        /// Acknowledge the invalidation.
        Ack,
        /// Acknowledge the invalidation, with the bytes of the line.
        AckBytes,
        /// Drop the bytes of the line.
        Drop,
        /// Answer the directory with the bytes of the line. Memory has the same bytes.
        SendClean,
        /// Answer the directory with the bytes of the line. This cache still owns the line.
        SendDirty,
        /// Answer the directory that this cache does not own the line any more.
        SendGone,
        /// Write the dirty bytes of the line out to the directory.
        Put,
    }
    /// The steps of operations at a cache.
    pub enum Step {
        /// Perform the access on the line in this cache, and answer. If the line is not present in a
        /// state that allows the access, request it and wait.
        Here,
        /// Answer the request.
        AnswerIt,
    }
}

/// The state transition table of a line in a cache: an L1, or the cache of a host.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct CacheTable;

const NO_REQUEST: &str = "no request for the line is under way";
const NOT_THE_ANSWER: &str = "this is not the answer to the request that is under way";
const NO_LINE: &str = "there is no line";
const PINNED: &str = "a line with a request under way is pinned";
const NOT_OWNED: &str =
    "the directory asks only the recorded owner, and an owner never becomes a sharer without a message";

impl Table for CacheTable {
    type State = State;
    type Event = Event;
    type Action = Action;
    const ID: TableId = TableId(0);
    const NAME: &'static str = "A line in a cache";
    const OWNERS: &'static [State] = &[State::E, State::O, State::M, State::OU];

    fn row(state: State, event: Event) -> Row<State, Action> {
        use Action::*;
        use Event::*;
        use State::*;
        match (state, event) {
            (I, Load) => go(IS, &[SendGetS]).wait(),
            (I, Store) => go(IM, &[SendGetM]).retry(),
            // The line has been evicted, and the directory did not know it yet when it sent the message.
            (I | IS | IM, Inv) => stay(&[Ack]),
            (I | IS | IM, Share) => stay(&[SendGone]),
            (I, Evict) => impossible(NO_LINE),
            (I | S | E | O | M, DataS | DataE | DataM | Grant) => impossible(NO_REQUEST),

            (S | E | O | M | SU | OU, Load) => stay(&[Reply]),
            (S, Store) => go(SU, &[SendUpgrade]).retry(),
            (S, Inv) => go(I, &[Ack]),
            (S | SU, Share) => impossible(NOT_OWNED),
            (S | E, Evict) => go(I, &[]),

            (E, Store) => go(M, &[Write]),
            (E, Inv) => go(I, &[Ack]),
            (E, Share) => go(S, &[SendClean]),

            (O, Store) => go(OU, &[SendUpgrade]).retry(),
            (O | M, Inv) => go(I, &[AckBytes]),
            (O | OU, Share) => stay(&[SendDirty]),
            (O | M, Evict) => go(I, &[Put]),

            (M, Store) => stay(&[Write]),
            (M, Share) => go(O, &[SendDirty]),

            (IS, Load) => stay(&[]).wait(),
            (IS | IM | SU | OU, Store) | (IM, Load) => stall(),
            (IS, DataS) => go(S, &[Fill, Answer, Wake]),
            (IS, DataE) => go(E, &[Fill, Answer, Wake]),
            (IS, DataM | Grant) | (IM, DataS | DataE | Grant) | (SU | OU, DataS | DataE | DataM) => {
                impossible(NOT_THE_ANSWER)
            }
            (IM, DataM) => go(M, &[FillDirty, Wake]),
            (IS | IM | SU | OU, Evict) => impossible(PINNED),

            // The old owner has dropped its bytes, so this cache is the only one that has them.
            (SU, Grant) => go(M, &[MarkDirty, Wake]),
            (OU, Grant) => go(M, &[Wake]),
            // A write of another cache, or a recall, comes first. The directory then treats the
            // upgrade as a request for the line.
            (SU, Inv) => go(IM, &[Ack, Drop]),
            (OU, Inv) => go(IM, &[AckBytes, Drop]),
        }
    }
}

proto::plans! {
    /// The plan of each operation at a cache: the list of its steps.
    pub struct CachePlans: Step = plan, TableId(1), "Operations at a cache"
}

/// The steps of an operation. A write is performed when no other cache has a copy, and a host is one
/// more cache. So a release, an acquire, and the beginning and the end of a kernel have nothing to
/// do, whatever their scope.
const fn plan(key: PlanKey) -> Steps<Step> {
    match key.op {
        OpClass::Load | OpClass::Store | OpClass::Rmw | OpClass::Update => Steps::of(&[&[Step::Here]]),
        OpClass::Fence | OpClass::KernelBegin | OpClass::KernelEnd => Steps::of(&[&[Step::AnswerIt]]),
    }
}
