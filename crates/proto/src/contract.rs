//! The contract between a protocol and its drivers.
//!
//! A protocol is any number of kinds of [`Controller`]. A controller is a
//! value; its only door is [`Controller::step`]. The driver owns every choice:
//! when a message arrives, which way is evicted, when a timer fires.

use crate::line::{ByteMask, LineAddr, LineData};
use crate::node::{Agent, Key, Kind, NodeId, Rank, SetIndex, Slot, TimerClass, Way};
use crate::request::{ArrayUse, Request, Rmw};
use crate::shape::{Homes, Shape};
use crate::symbols::Symbol;
use crate::table::{
    Change, Coverage, Looked, Mutation, PlanKey, Plans, PlansView, Row, Table, TableId, TableView,
};
use crate::uses::{Spending, Uses};
use core::fmt::Debug;
use core::hash::Hash;

/// What reaches a controller.
#[derive(Debug)]
pub enum Input<'a, M> {
    /// A request, new or presented again.
    Request(Ask<'a>),
    /// A message.
    Message {
        /// Who sent it.
        from: NodeId,
        /// What it says.
        msg: &'a M,
    },
    /// Memory answers. Memory serves the operations that one controller sends
    /// for one line in the order in which it sent them.
    Memory(&'a MemoryReply),
    /// The driver has chosen this way to be given up.
    Evict(Way),
    /// A timer that was asked for.
    Timer(TimerClass),
    /// Clock ticks since the last word of time; leases count relative to now.
    Tick {
        /// How many.
        elapsed: u32,
    },
}

/// A request as it is presented.
#[derive(Clone, Copy, Debug)]
pub struct Ask<'a> {
    /// Its name.
    pub slot: Slot,
    /// What it asks.
    pub req: &'a Request,
    /// The bytes that came with [`Effects::resume_with`]; zero before.
    pub data: &'a LineData,
}

/// What a controller says of the input it was given.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Disposition {
    /// Dealt with.
    Done,
    /// The coming fill of the line answers the request.
    Wait(LineAddr),
    /// Present it again when this key is woken.
    Stall(Key),
    /// Present it again when a way of this set was given up.
    NeedWay(SetIndex),
    /// The table says that this cannot happen.
    Impossible(&'static str),
}

/// An operation on memory.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct MemoryOp {
    /// The line.
    pub line: LineAddr,
    /// What is done.
    pub access: MemoryAccess,
    /// Comes back with the reply.
    pub tag: MemoryTag,
}

/// What is done to memory.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum MemoryAccess {
    /// Read the whole line.
    Read,
    /// Write the masked bytes.
    Write {
        /// Which bytes.
        mask: ByteMask,
        /// The bytes.
        data: LineData,
    },
    /// Read-modify-write the masked words in memory.
    Rmw {
        /// The function.
        rmw: Rmw,
        /// Which bytes.
        mask: ByteMask,
        /// The operands.
        data: LineData,
    },
}

/// What a controller wants to be told when memory answers.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct MemoryTag {
    /// Whom it was done for.
    pub node: NodeId,
    /// A number of the controller's own.
    pub slot: Slot,
    /// Another one.
    pub note: u8,
}

/// Memory's answer.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct MemoryReply {
    /// The operation.
    pub op: MemoryOp,
    /// The line as read, or the old bytes of a read-modify-write.
    pub data: LineData,
}

/// What the station itself carries out after a step.
#[derive(Clone, Copy, Debug)]
pub(crate) enum Inner {
    ReplyWaiters(LineAddr, LineData),
    Resume(Slot, Option<LineData>),
    Wake(Key),
}

/// Everything a step does to the outside. Reused: no allocation a step.
#[derive(Debug)]
pub struct Effects<M> {
    /// Messages, in order.
    pub sends: Vec<(NodeId, M)>,
    /// Answers to requests: `None` where the issuer expects no bytes.
    pub replies: Vec<(Slot, Option<LineData>)>,
    /// Operations on memory, in order.
    pub memory: Vec<MemoryOp>,
    /// Timers asked for. Asking for one that runs already changes nothing.
    pub timers: Vec<TimerClass>,
    /// Sets in which the driver must give up a way.
    pub needs: Vec<SetIndex>,
    /// Ways used just now, for recency.
    pub touches: Vec<Way>,
    /// Arrays used.
    pub uses: Uses,
    /// On what requests spend their time from now on; see [`Effects::spend`].
    pub spends: Vec<(Slot, Spending)>,
    /// How often each row fired.
    pub coverage: Coverage,
    /// Broken by the last input: the reason of an impossible row.
    pub violation: Option<String>,
    pub(crate) inner: Vec<Inner>,
}

impl<M> Default for Effects<M> {
    fn default() -> Self {
        Effects {
            sends: Vec::new(),
            replies: Vec::new(),
            memory: Vec::new(),
            timers: Vec::new(),
            needs: Vec::new(),
            touches: Vec::new(),
            uses: Uses::default(),
            spends: Vec::new(),
            coverage: Coverage::default(),
            violation: None,
            inner: Vec::new(),
        }
    }
}

impl<M> Effects<M> {
    /// Forgets all but the coverage.
    pub fn clear(&mut self) {
        self.sends.clear();
        self.replies.clear();
        self.memory.clear();
        self.timers.clear();
        self.needs.clear();
        self.touches.clear();
        self.uses = Uses::default();
        self.spends.clear();
        self.violation = None;
        self.inner.clear();
    }

    /// Is there nothing to carry out?
    #[must_use]
    pub fn is_empty(&self) -> bool {
        self.sends.is_empty()
            && self.replies.is_empty()
            && self.memory.is_empty()
            && self.timers.is_empty()
            && self.needs.is_empty()
            && self.violation.is_none()
            && self.inner.is_empty()
    }

    /// Sends a message.
    #[inline]
    pub fn send(&mut self, to: NodeId, msg: impl Into<M>) {
        self.sends.push((to, msg.into()));
    }

    /// Answers a request with bytes.
    #[inline]
    pub fn reply(&mut self, slot: Slot, data: LineData) {
        self.replies.push((slot, Some(data)));
    }

    /// Answers a request that expects no bytes.
    #[inline]
    pub fn accept(&mut self, slot: Slot) {
        self.replies.push((slot, None));
    }

    /// Answers all requests that wait for the fill of this line.
    #[inline]
    pub fn reply_waiters(&mut self, line: LineAddr, data: LineData) {
        self.inner.push(Inner::ReplyWaiters(line, data));
    }

    /// Presents the request parked under its own slot again.
    #[inline]
    pub fn resume(&mut self, slot: Slot) {
        self.inner.push(Inner::Resume(slot, None));
    }

    /// Presents the request parked under its own slot again, with bytes that
    /// stay with it.
    #[inline]
    pub fn resume_with(&mut self, slot: Slot, data: LineData) {
        self.inner.push(Inner::Resume(slot, Some(data)));
    }

    /// Presents what is parked under this key again, oldest first, until one
    /// of them must park under the same key.
    #[inline]
    pub fn wake(&mut self, key: Key) {
        self.inner.push(Inner::Wake(key));
    }

    /// Says on what a request spends its time from now on. Until this is said,
    /// an access spends it on itself, the beginning of a kernel on its acquire
    /// and the end on its release. It changes nothing but statistics.
    #[inline]
    pub fn spend(&mut self, slot: Slot, on: Spending) {
        self.spends.push((slot, on));
    }

    /// Asks for a timer.
    #[inline]
    pub fn timer(&mut self, class: TimerClass) {
        if !self.timers.contains(&class) {
            self.timers.push(class);
        }
    }
}

/// What every step of a run shares and none may change.
#[derive(Debug)]
pub struct World<'a, P: Protocol> {
    /// Immutable parameters of the protocol.
    pub params: &'a P::Params,
    /// Where lines live.
    pub homes: &'a Homes,
    /// The arrays that each kernel of the program uses.
    pub kernels: &'a [Vec<ArrayUse>],
    /// A seeded fault, when the checker is being checked.
    pub mutation: Option<Mutation>,
}

impl<P: Protocol> Clone for World<'_, P> {
    fn clone(&self) -> Self {
        *self
    }
}
impl<P: Protocol> Copy for World<'_, P> {}

/// What a step can see and do.
#[derive(Debug)]
pub struct Cx<'a, P: Protocol> {
    /// What all steps share.
    pub world: World<'a, P>,
    /// This controller.
    pub me: NodeId,
    /// The step of its plan at which a request stands. Kept with the request
    /// while it is parked.
    pub stage: u8,
    /// What is done.
    pub fx: &'a mut Effects<P::Msg>,
}

impl<P: Protocol> Cx<'_, P> {
    /// Looks a row up, counts it, and applies the seeded fault if it is there.
    #[inline]
    pub fn row<T: Table>(&mut self, state: T::State, event: T::Event) -> Looked<T::State, T::Action> {
        let events = T::Event::ALL.len();
        let index = state.index() * events + event.index();
        self.fx.coverage.fire(T::ID, index, T::State::ALL.len() * events);
        let looked = Looked { row: T::row(state, event), skip: None };
        match self.world.mutation {
            Some(mutation) if mutation.table == T::ID => mutated::<T>(looked, index, mutation.change),
            _ => looked,
        }
    }

    /// The plan of a request, shortened by the seeded fault if it is there.
    #[inline]
    pub fn step_of<T: Plans>(&self, req: &Request, stage: u8) -> Option<T::Step> {
        match self.world.mutation {
            Some(Mutation { table, change }) if table == T::ID => {
                change.step::<T>(PlanKey::of(req), usize::from(stage))
            }
            _ => T::plan(PlanKey::of(req)).get(usize::from(stage)).copied(),
        }
    }
}

fn mutated<T: Table>(
    looked: Looked<T::State, T::Action>,
    index: usize,
    change: Change,
) -> Looked<T::State, T::Action> {
    match (change, looked.row) {
        (Change::DropAction { row, action }, _) if usize::from(row) == index => {
            Looked { skip: Some(action), ..looked }
        }
        (Change::NextState { row, state }, Row::Do { actions, after, .. }) if usize::from(row) == index => {
            let next = T::State::ALL.get(usize::from(state)).copied();
            Looked { row: Row::Do { actions, next, after }, ..looked }
        }
        _ => looked,
    }
}

/// A message.
pub trait Message: Clone + Eq + Hash + Debug {
    /// Its name, for charts and statistics.
    fn name(&self) -> &'static str;
    /// Bytes that travel beside the header, on a machine with such lines.
    fn payload_bytes(&self, line_bytes: u32) -> u32;
    /// The line it is about, if any.
    fn line(&self) -> Option<LineAddr>;
    /// Does it ask the receiver for a line (and count as a hit or a miss)?
    fn is_access(&self) -> bool;
    /// Must it stay behind an earlier one of its sender for the same line that
    /// is parked? Not so for what a parked access may be waiting for: flushed
    /// bytes of a line under recall, for example.
    fn keeps_order(&self) -> bool {
        self.is_access()
    }
    /// Forgets the first of the written bytes that it carries, when the checker
    /// is being checked. False if it carries none.
    fn forget_byte(&mut self) -> bool {
        false
    }
}

/// A message to a controller that is never told anything.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum NoMessage {}

impl Message for NoMessage {
    fn name(&self) -> &'static str {
        match *self {}
    }
    fn payload_bytes(&self, _line_bytes: u32) -> u32 {
        match *self {}
    }
    fn line(&self) -> Option<LineAddr> {
        match *self {}
    }
    fn is_access(&self) -> bool {
        match *self {}
    }
}

/// A line as it stands in a controller: for charts, invariants and questions.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct LineView {
    /// Which line.
    pub line: LineAddr,
    /// The name of its state.
    pub state: &'static str,
    /// Which bytes are valid.
    pub valid: ByteMask,
    /// Which bytes are dirty.
    pub dirty: ByteMask,
    /// The bytes.
    pub data: LineData,
}

/// A pure state machine.
pub trait Controller<P: Protocol>: Clone + Eq + Hash + Debug + 'static {
    /// What it can be told.
    type Msg: Message;
    /// The one door. A `Stall`, `NeedWay` or `Impossible` at an unchanged
    /// stage has changed nothing.
    fn step(&mut self, input: Input<'_, Self::Msg>, cx: &mut Cx<'_, P>) -> Disposition;
    /// The ways of a set that may be given up, with their ranks. A controller
    /// that needs time to give one up offers no other way of that set
    /// meanwhile, and wakes [`Key::Way`] when it is free.
    fn victims(&self, set: SetIndex, out: &mut Vec<(Way, Rank)>) {
        let _ = (set, out);
    }
    /// The lines it holds.
    fn lines(&self, out: &mut Vec<LineView>) {
        let _ = out;
    }
    /// Is nothing under way?
    fn is_quiet(&self) -> bool;
    /// Brings equal states into one form.
    fn canonicalize(&mut self) {}
}

/// All the kinds of a protocol as one type; [`crate::protocol_nodes`] writes it.
pub trait Node<P: Protocol>: Clone + Eq + Hash + Debug + 'static {
    /// See [`Controller::step`].
    fn step(&mut self, input: Input<'_, P::Msg>, cx: &mut Cx<'_, P>) -> Disposition;
    /// See [`Controller::victims`].
    fn victims(&self, set: SetIndex, out: &mut Vec<(Way, Rank)>);
    /// See [`Controller::lines`].
    fn lines(&self, out: &mut Vec<LineView>);
    /// See [`Controller::is_quiet`].
    fn is_quiet(&self) -> bool;
    /// See [`Controller::canonicalize`].
    fn canonicalize(&mut self);
}

/// In which order messages between two nodes may arrive.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Channels {
    /// In the order in which they were sent, for each pair of nodes.
    Fifo,
    /// In any order.
    Unordered,
}

/// What a protocol says it implements.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Claim {
    /// The memory model, by the name the litmus tool knows.
    pub model: &'static str,
    /// How the model's operations become requests.
    pub mapping: &'static str,
}

/// What a protocol says of itself.
#[derive(Clone, Copy, Debug)]
pub struct Info {
    /// Its name on the command line.
    pub name: &'static str,
    /// One line.
    pub summary: &'static str,
    /// Where it comes from.
    pub source: &'static str,
    /// What it claims.
    pub claims: &'static [Claim],
    /// What it needs of the network.
    pub channels: Channels,
}

/// A protocol.
pub trait Protocol: Copy + Eq + Hash + Debug + 'static {
    /// All its controllers.
    type Node: Node<Self>;
    /// All its messages.
    type Msg: Message;
    /// What never changes during a run.
    type Params: Clone + Eq + Hash + Debug;
    /// Who it is.
    const INFO: Info;
    /// Its kinds of controller; [`NodeId::kind`] counts in this list.
    const KINDS: &'static [Kind];
    /// Does it look at the clock? Then a tick that tells how much time has
    /// passed comes before every other input.
    const CLOCKED: bool = false;

    /// The parameters for a machine.
    ///
    /// # Errors
    /// A sentence that says what of the machine this protocol cannot use.
    fn params(shape: &Shape) -> Result<Self::Params, String>;
    /// How many controllers of a kind a machine has.
    fn count(kind: u8, shape: &Shape) -> u16;
    /// A controller as it is before anything happened.
    fn node(id: NodeId, params: &Self::Params) -> Self::Node;
    /// Where an agent's requests go.
    fn entry(agent: Agent) -> NodeId;
    /// Its tables.
    fn tables() -> Vec<TableView>;
    /// Its plans.
    fn plans() -> Vec<PlansView>;
}

/// Every node of a machine, kind by kind.
pub fn nodes<P: Protocol>(shape: &Shape) -> impl Iterator<Item = NodeId> + use<P> {
    let shape = *shape;
    (0..P::KINDS.len() as u8)
        .flat_map(move |kind| (0..P::count(kind, &shape)).map(move |index| NodeId { kind, index }))
}

/// The identity of a table view's row, for reports.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct RowId {
    /// The table.
    pub table: TableId,
    /// The row in it.
    pub row: u16,
}

/// Writes the `Node` and `Msg` enumerations of a protocol from its kinds.
///
/// ```text
/// protocol_nodes! { Vi: L1(L1, ToL1), Bank(Bank, ToBank), Host(Host) }
/// ```
///
/// A kind without a message type is never told anything.
#[macro_export]
macro_rules! protocol_nodes {
    (@msg) => { $crate::NoMessage };
    (@msg $msg:ty) => { $msg };
    ($protocol:ty : $( $kind:ident ( $controller:ty $(, $msg:ty)? ) ),+ $(,)?) => {
        /// All controllers of the protocol.
        #[derive(Clone, Debug, PartialEq, Eq, Hash)]
        #[allow(clippy::large_enum_variant)]
        pub enum Node {
            $(
                #[doc = concat!("A controller of kind ", stringify!($kind), ".")]
                $kind($controller)
            ),+
        }
        /// All messages of the protocol, by the kind that receives them.
        #[derive(Clone, Debug, PartialEq, Eq, Hash)]
        #[allow(clippy::large_enum_variant)]
        pub enum Msg {
            $(
                #[doc = concat!("To a controller of kind ", stringify!($kind), ".")]
                $kind($crate::protocol_nodes!(@msg $($msg)?))
            ),+
        }
        $($(
            impl From<$msg> for Msg {
                #[inline]
                fn from(msg: $msg) -> Self {
                    Msg::$kind(msg)
                }
            }
        )?)+
        impl $crate::Message for Msg {
            fn name(&self) -> &'static str {
                match self { $( Msg::$kind(m) => $crate::Message::name(m) ),+ }
            }
            #[inline]
            fn payload_bytes(&self, line_bytes: u32) -> u32 {
                match self { $( Msg::$kind(m) => $crate::Message::payload_bytes(m, line_bytes) ),+ }
            }
            fn line(&self) -> Option<$crate::LineAddr> {
                match self { $( Msg::$kind(m) => $crate::Message::line(m) ),+ }
            }
            #[inline]
            fn is_access(&self) -> bool {
                match self { $( Msg::$kind(m) => $crate::Message::is_access(m) ),+ }
            }
            #[inline]
            fn keeps_order(&self) -> bool {
                match self { $( Msg::$kind(m) => $crate::Message::keeps_order(m) ),+ }
            }
            fn forget_byte(&mut self) -> bool {
                match self { $( Msg::$kind(m) => $crate::Message::forget_byte(m) ),+ }
            }
        }
        impl $crate::Node<$protocol> for Node {
            #[inline]
            fn step(
                &mut self,
                input: $crate::Input<'_, Msg>,
                cx: &mut $crate::Cx<'_, $protocol>,
            ) -> $crate::Disposition {
                match self {
                    $( Node::$kind(c) => {
                        let input = match input {
                            $crate::Input::Message { from, msg: Msg::$kind(msg) } => {
                                $crate::Input::Message { from, msg }
                            }
                            #[allow(unreachable_patterns)]
                            $crate::Input::Message { .. } => {
                                return $crate::Disposition::Impossible("the message is for another kind");
                            }
                            $crate::Input::Request(ask) => $crate::Input::Request(ask),
                            $crate::Input::Memory(reply) => $crate::Input::Memory(reply),
                            $crate::Input::Evict(way) => $crate::Input::Evict(way),
                            $crate::Input::Timer(class) => $crate::Input::Timer(class),
                            $crate::Input::Tick { elapsed } => $crate::Input::Tick { elapsed },
                        };
                        <$controller as $crate::Controller<$protocol>>::step(c, input, cx)
                    } )+
                }
            }
            fn victims(&self, set: $crate::SetIndex, out: &mut Vec<($crate::Way, $crate::Rank)>) {
                match self { $( Node::$kind(c) => $crate::Controller::<$protocol>::victims(c, set, out) ),+ }
            }
            fn lines(&self, out: &mut Vec<$crate::LineView>) {
                match self { $( Node::$kind(c) => $crate::Controller::<$protocol>::lines(c, out) ),+ }
            }
            fn is_quiet(&self) -> bool {
                match self { $( Node::$kind(c) => $crate::Controller::<$protocol>::is_quiet(c) ),+ }
            }
            fn canonicalize(&mut self) {
                match self { $( Node::$kind(c) => $crate::Controller::<$protocol>::canonicalize(c) ),+ }
            }
        }
    };
}
