//! The contract between a protocol and its drivers.
//!
//! A protocol is any number of kinds of [`Controller`]. A controller is a
//! value; its only door is [`Controller::step`]. The driver owns every choice:
//! when a message arrives, which way is evicted, when a timer fires.

mod cx;
mod info;
mod memory;
mod message;

pub use cx::*;
pub use info::*;
pub use memory::*;
pub use message::*;

use crate::homes::Homes;
use crate::levels::{Kind, Levels};
use crate::line::{ByteMask, LineAddr, LineData};
use crate::node::{Agent, Key, NodeId, Rank, SetIndex, Slot, TimerClass, Way};
use crate::plan::{PlanKey, PlansView};
use crate::request::Request;
use crate::settings::{Setting, Settings};
use crate::table::{TableId, TableView};
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
    /// The bytes that came with [`crate::Effects::resume_with`]; zero before.
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
    #[inline]
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
