//! The contract between a protocol and its drivers.
//!
//! A protocol is any number of kinds of [`Controller`]. A controller is a
//! value; its only door is [`Controller::step`]. The driver owns every choice:
//! when a message arrives, which way is evicted, when a timer fires.

use crate::effects::Effects;
use crate::homes::Homes;
use crate::issue::IssueRule;
use crate::levels::{Fitted, Kind, Levels};
use crate::line::{ByteMask, LineAddr, LineData};
use crate::node::{Agent, Key, NodeId, Rank, SetIndex, Slot, TimerClass, Way};
use crate::plan::{PlanKey, Plans, PlansView};
use crate::request::{ArrayUse, Request, Rmw};
use crate::settings::{Setting, Settings};
use crate::station::ParkedInputs;
use crate::symbols::Symbol;
use crate::table::{Change, Looked, Mutation, Row, Table, TableId, TableView};
use crate::uses::Uses;
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
    /// Clock ticks since the last word of time: at least one. Times are kept
    /// relative to now; see [`Message::age`].
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

impl Disposition {
    /// Reads `Done` as "go on with the next step".
    #[inline]
    #[must_use]
    pub fn unless_done(self) -> Option<Disposition> {
        (self != Disposition::Done).then_some(self)
    }
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

impl MemoryAccess {
    /// Memory performs it on a line: what its answer carries.
    #[inline]
    pub fn perform(&self, line: &mut LineData) -> LineData {
        match self {
            MemoryAccess::Read => *line,
            MemoryAccess::Write { mask, data } => {
                line.merge(data, *mask);
                LineData::default()
            }
            MemoryAccess::Rmw { rmw, mask, data } => rmw.perform(line, data, *mask),
        }
    }
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

/// What every step of a run shares and none may change.
#[derive(Debug)]
pub struct World<'a, P: Protocol> {
    /// Immutable parameters of the protocol.
    pub params: &'a P::Params,
    /// The levels of the machine.
    pub levels: &'a Levels,
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
    pub(crate) parked: &'a ParkedInputs<P::Msg>,
}

impl<'a, P: Protocol> Cx<'a, P> {
    /// The level of this controller.
    #[inline]
    #[must_use]
    pub fn level(&self) -> &'a Fitted {
        self.world.levels.of(self.me.kind)
    }

    /// The controller below that serves a line; this one, if memory is below.
    #[inline]
    #[must_use]
    pub fn below(&self, line: LineAddr) -> NodeId {
        match self.level().below {
            Some(kind) => self.world.levels.server(kind, self.me, line, self.world.homes),
            None => self.me,
        }
    }

    /// Does something wait for a way of the set? Whatever takes a way there, or
    /// pins a line that could be given up, comes behind it.
    #[inline]
    #[must_use]
    pub fn is_wanted(&self, set: SetIndex) -> bool {
        self.parked.contains_key(&Key::Way(set))
    }

    /// An action of a row has no request, message or bytes to work on: the row
    /// stands where such an input cannot be. The input is reported as one that
    /// cannot happen.
    #[cold]
    pub fn lacks_operand<A: Symbol>(&mut self, action: A) {
        self.impossible(&format!("{} has nothing to work on", action.name()));
    }

    /// Counts one down. Where there is none to count, the input is reported as
    /// one that cannot happen, for that reason.
    #[inline]
    pub fn count_down(&mut self, count: &mut u32, why: &str) {
        match count.checked_sub(1) {
            Some(rest) => *count = rest,
            None => self.impossible(why),
        }
    }

    /// Reports the input as one that cannot happen, in the middle of a step.
    #[cold]
    pub fn impossible(&mut self, why: &str) {
        self.fx.violate::<P>(self.me, why);
    }

    /// Looks a row up, counts it, and applies the seeded fault if it is there.
    #[inline]
    pub fn row<T: Table>(&mut self, state: T::State, event: T::Event) -> Looked<T::State, T::Action> {
        let index = state.index() * T::Event::ALL.len() + event.index();
        self.fx.coverage.fire(T::ID, index);
        let looked = Looked { row: T::row(state, event), skip: None, forgets: false };
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

impl<P: Protocol> Cx<'_, P> {
    /// Takes the steps of a request's plan, from the one at which it stands,
    /// for as long as `take` says `None`. A row that sends the request on to
    /// its next step has moved the stage already.
    #[inline]
    pub fn follow<T: Plans>(
        &mut self,
        ask: Ask<'_>,
        mut take: impl FnMut(T::Step, &mut Self) -> Option<Disposition>,
    ) -> Disposition {
        let plan = match self.world.mutation {
            Some(Mutation { table, .. }) if table == T::ID => None,
            _ => Some(T::plan(PlanKey::of(ask.req))),
        };
        let step_at = |cx: &Self| match plan {
            Some(plan) => plan.get(usize::from(cx.stage)).copied(),
            None => cx.step_of::<T>(ask.req, cx.stage),
        };
        while let Some(step) = step_at(self) {
            let stage = self.stage;
            match take(step, self) {
                None => self.stage += 1,
                Some(Disposition::Done) if self.stage != stage => {}
                Some(disposition) => return disposition,
            }
        }
        Disposition::Done
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
        (Change::NoStall { row, state }, Row::Stall) if usize::from(row) == index => {
            let event = T::Event::ALL[index % T::Event::ALL.len()];
            Looked { row: T::row(T::State::ALL[usize::from(state)], event), ..looked }
        }
        (Change::ForgetByte { row }, _) if usize::from(row) == index => Looked { forgets: true, ..looked },
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
    /// Time passes while the message is on its way or parked: the times that it
    /// carries, relative to now, become that much shorter ([`aged`]). The number
    /// is negative where the clock of the receiver is behind that of the sender.
    fn age(&mut self, elapsed: i32) {
        let _ = elapsed;
    }
    /// Shows every logical time in it; see [`Protocol::REBASED`].
    fn times(&mut self, visit: &mut dyn FnMut(&mut Time)) {
        let _ = visit;
    }
}

/// A logical time, as a timestamp: it advances with what happens, not by itself.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct Time(pub u32);

/// What is left of a time that is kept relative to now, as a lease of so many
/// ticks. A time that has run out stays so.
#[inline]
#[must_use]
pub const fn aged(ticks: u32, elapsed: i32) -> u32 {
    match ticks {
        0 => 0,
        _ => ticks.saturating_sub_signed(elapsed),
    }
}

/// All messages of a protocol, one of which carries an `M`. Where several kinds of
/// controller take it, the kind that gets it decides which.
pub trait Wrap<M>: Sized {
    /// The message for a controller of that kind.
    fn wrap(kind: u8, msg: M) -> Self;
}

impl<M, All: From<M>> Wrap<M> for All {
    #[inline]
    fn wrap(_: u8, msg: M) -> Self {
        msg.into()
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
    /// Does it own its bytes, so that dirty ones may stay?
    pub owns: bool,
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
    /// What it does before anything happens: asks for its first timer, for
    /// example. No input comes before it.
    fn start(&mut self, cx: &mut Cx<'_, P>) {
        let _ = cx;
    }
    /// The one door. A `Stall`, `NeedWay` or `Impossible` at an unchanged
    /// stage has changed nothing.
    fn step(&mut self, input: Input<'_, Self::Msg>, cx: &mut Cx<'_, P>) -> Disposition;
    /// The line that answers a plain load at once. `Some` only if the step of the load
    /// does nothing but that: it looks the line up, fires one row, reads the line and
    /// touches its way. A driver may then leave the step out, and the verifier compares
    /// the two, but for timers: one that the step asks for must run already.
    fn hit(&self, load: &Load, homes: &Homes) -> Option<Hit<'_>> {
        let _ = (load, homes);
        None
    }
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
    /// Time passes while an operation that this controller has sent to memory, or
    /// its answer, is on its way: the times in the tag become shorter, as those of
    /// [`Message::age`] do.
    fn age_tag(&self, tag: &mut MemoryTag, elapsed: i32) {
        let _ = (tag, elapsed);
    }
    /// Shows every logical time in it; see [`Protocol::REBASED`].
    fn times(&mut self, visit: &mut dyn FnMut(&mut Time)) {
        let _ = visit;
    }
}

/// A load of bytes in one line.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Load {
    /// What chooses its plan.
    pub key: PlanKey,
    /// The line.
    pub line: LineAddr,
    /// The bytes that are asked for.
    pub mask: ByteMask,
}

/// A line that answers a load; see [`Controller::hit`].
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Hit<'a> {
    /// Its way.
    pub way: Way,
    /// The row of the load.
    pub row: RowId,
    /// The bytes of the line.
    pub bytes: &'a [u8],
}

impl Hit<'_> {
    /// What its step uses.
    #[must_use]
    pub fn uses() -> Uses {
        Uses { tag_lookups: 1, accesses: 1, hits: 1, data_reads: 1, ..Uses::default() }
    }
}

/// All the kinds of a protocol as one type; [`crate::protocol_nodes`] writes it.
pub trait Node<P: Protocol>: Clone + Eq + Hash + Debug + 'static {
    /// See [`Controller::start`].
    fn start(&mut self, cx: &mut Cx<'_, P>);
    /// See [`Controller::step`].
    fn step(&mut self, input: Input<'_, P::Msg>, cx: &mut Cx<'_, P>) -> Disposition;
    /// See [`Controller::hit`].
    fn hit(&self, load: &Load, homes: &Homes) -> Option<Hit<'_>>;
    /// See [`Controller::victims`].
    fn victims(&self, set: SetIndex, out: &mut Vec<(Way, Rank)>);
    /// See [`Controller::lines`].
    fn lines(&self, out: &mut Vec<LineView>);
    /// See [`Controller::is_quiet`].
    fn is_quiet(&self) -> bool;
    /// See [`Controller::canonicalize`].
    fn canonicalize(&mut self);
    /// See [`Controller::age_tag`].
    fn age_tag(&self, tag: &mut MemoryTag, elapsed: i32);
    /// See [`Controller::times`].
    fn times(&mut self, visit: &mut dyn FnMut(&mut Time));
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
    /// The cores with which it implements the model.
    pub cores: &'static [IssueRule],
    /// How the model's operations become requests.
    pub mapping: &'static str,
}

/// What a program must say where work-groups share data.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum Sharing {
    /// A scope that both sides are in: a narrower one orders nothing.
    Scoped,
    /// The same, or a remote operation, which reaches across narrower scopes.
    Remote,
    /// Nothing: atomics are correct whatever their scope.
    Unscoped,
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
    /// What it needs of programs that share data.
    pub sharing: Sharing,
    /// The seeded faults that no program can notice, as texts: in each line the
    /// name of a fault, ` # `, and the reason. A `*` in a name stands for any
    /// text.
    pub equivalent: &'static [&'static str],
}

impl Info {
    /// The seeded faults that no program can notice, each with the reason.
    pub fn equivalents(&self) -> impl Iterator<Item = (&'static str, &'static str)> + use<> {
        self.equivalent.iter().flat_map(|text| text.lines()).filter_map(|line| line.split_once(" # "))
    }
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
    /// Are its logical times rebased where it is explored? Then a state means the
    /// same if all times in it, of controllers and messages, become later by as
    /// much; and neighbouring times that are further apart than this are as good as
    /// this far apart, so that states are finitely many. Not for clocks of few bits:
    /// those roll over as the hardware's do.
    const REBASED: Option<u32> = None;

    /// What a machine file may say of it.
    const SETTINGS: &'static [Setting] = &[];

    /// The parameters for a machine.
    ///
    /// # Errors
    /// A sentence that says what of the machine this protocol cannot use.
    fn params(levels: &Levels, settings: &Settings) -> Result<Self::Params, String>;
    /// A controller as it is before anything happened.
    fn node(id: NodeId, levels: &Levels, params: &Self::Params) -> Self::Node;
    /// Where an agent's requests go. Loads and stores, or atomics, may enter
    /// different controllers; all lines of one operation enter the same.
    fn entry(params: &Self::Params, agent: Agent, key: PlanKey) -> NodeId;
    /// Its tables.
    fn tables() -> Vec<TableView>;
    /// Its plans.
    fn plans() -> Vec<PlansView>;
}

/// The identity of a table view's row, for reports.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct RowId {
    /// The table.
    pub table: TableId,
    /// The row in it.
    pub row: u16,
}
