//! The contract between a protocol and its drivers (the programs that run it, such as the
//! simulator).
//!
//! A protocol has any number of kinds of [`Controller`]. A controller is a value that changes only
//! in [`Controller::step`]. The driver makes every choice: when a message arrives, which way is
//! evicted, when a timer expires.

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
use crate::table::{RowId, TableView};
use crate::uses::Uses;
use core::fmt::Debug;
use core::hash::Hash;

/// An input that a driver (such as the simulator) gives to a controller.
#[derive(Debug)]
pub enum Input<'a, M> {
    /// A request of an agent (a compute unit, a host or the command processor). The request is new,
    /// or is presented again after a wait.
    Request(RequestInput<'a>),
    /// A message from another controller arrives.
    Message {
        /// The controller that sent the message.
        from: NodeId,
        /// The message itself.
        msg: &'a M,
    },
    /// A reply of memory to an operation of this controller. If one controller sends several
    /// operations for one line, memory serves them in the order in which they were sent.
    Memory(&'a MemoryReply),
    /// The driver (such as the simulator) evicts the line that this way (one entry of a set) holds.
    Evict(Way),
    /// A timer that the controller has armed (started) expires.
    Timer(TimerClass),
    /// Time passes: `elapsed` clock ticks since the last tick input, at least one. Controllers keep
    /// times relative to now; see [`Message::age`].
    Tick {
        /// The number of ticks of the clock since the previous tick input.
        elapsed: u32,
    },
}

/// A request that is presented to a controller.
#[derive(Clone, Copy, Debug)]
pub struct RequestInput<'a> {
    /// The number that identifies the request at this controller.
    pub slot: Slot,
    /// The request itself.
    pub req: &'a Request,
    /// The bytes that the controller passed to [`crate::Effects::resume_with`] for this request;
    /// all zero if it has not called that function.
    pub data: &'a LineData,
}

/// The result of a step for its input: complete, waiting, or impossible.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Disposition {
    /// The input is complete.
    Done,
    /// The request waits: the fill of this line, which is under way, will answer it.
    Wait(LineAddr),
    /// The input must wait. The station keeps (parks) the input, and presents it to the controller
    /// again when the event that this key names happens.
    Stall(Key),
    /// The input must wait. The station keeps (parks) the input, and presents it to the controller
    /// again when the controller wakes the inputs that wait for a way of this set
    /// ([`Controller::victims`]).
    NeedWay(SetIndex),
    /// The table of the protocol says that this input cannot happen in the current state. The text
    /// is the reason.
    Impossible(&'static str),
}

impl Disposition {
    /// `None` for `Done`, so that the request goes on with the next step of its plan (the sequence
    /// of steps that performs it). Any other result of a step is returned unchanged.
    #[inline]
    #[must_use]
    pub fn unless_done(self) -> Option<Disposition> {
        (self != Disposition::Done).then_some(self)
    }
}

/// The state and the bytes of one line in a controller, as charts, invariants and tests see them.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct LineView {
    /// The address of the line.
    pub line: LineAddr,
    /// The name of the line's state.
    pub state: &'static str,
    /// Whether the line is in a state in which this controller owns the line. Dirty bytes of such a
    /// line may stay in the controller under any write policy.
    pub owns: bool,
    /// The valid bytes of the line.
    pub valid: ByteMask,
    /// The dirty bytes of the line.
    pub dirty: ByteMask,
    /// The values of the line's bytes.
    pub data: LineData,
}

/// A condition of a controller that lasts until a later step, such as a granted epoch (a time in
/// which some addresses may be written). Time lines draw it as an interval.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Condition {
    /// The name of the track on which time lines draw the condition. A controller has at most one
    /// condition of a track at a time.
    pub track: &'static str,
    /// The text that time lines show for the condition.
    pub text: String,
}

/// A controller of a protocol: a pure state machine that changes only in its steps.
pub trait Controller<P: Protocol>: Clone + Eq + Hash + Debug + 'static {
    /// The messages that the controller receives.
    type Msg: Message;
    /// Runs before the first input of the controller. The controller can arm its first timer here.
    fn start(&mut self, cx: &mut Cx<'_, P>) {
        let _ = cx;
    }
    /// Processes one input. A step that returns `Stall`, `NeedWay` or `Impossible` leaves the
    /// controller unchanged. There are two exceptions: the controller has already performed earlier
    /// steps of the request's plan, or the request stalls until an answer for its own slot arrives
    /// ([`Key::Slot`]).
    fn step(&mut self, input: Input<'_, Self::Msg>, cx: &mut Cx<'_, P>) -> Disposition;
    /// The line that answers a non-atomic load at once. A driver (such as the simulator) may use
    /// this line and skip the controller's step. Therefore the function may return `Some` only if
    /// the step for this load would have these effects and no others: it looks the line up, uses
    /// one row of the table, reads the line and touches its way. The step may also arm a timer, if
    /// that timer already runs. The verifier checks that the result equals the effects of the step.
    fn hit(&self, load: &Load, homes: &Homes) -> Option<Hit<'_>> {
        let _ = (load, homes);
        None
    }
    /// Appends to `out` the ways of a set that may be evicted, with their ranks, in ascending order.
    /// While an eviction of several steps is under way in a set, the controller offers no way of
    /// that set. The controller wakes the inputs that wait for a way of a set ([`Key::Way`]) when a
    /// way becomes free, and when a line of the set becomes evictable: a driver may evict a line only
    /// when an input that needs a way is presented. An eviction frees the way, or begins further
    /// steps that free it.
    fn victims(&self, set: SetIndex, out: &mut Vec<(Way, Rank)>) {
        let _ = (set, out);
    }
    /// Appends to `out` the ways of a set that hold a line, in ascending order, with all ways that may
    /// be evicted. A driver needs them if several lines share a tag, because the cache needs a whole
    /// tag, and to check the priority of inputs that wait for a way ([`Cx::has_way_waiter`]).
    fn occupied(&self, set: SetIndex, out: &mut Vec<Way>) {
        let _ = (set, out);
    }
    /// Limits the number of lines that each set of the controller's cache may hold. Lines above the
    /// limit stay until the driver evicts them; see
    /// [`CacheArray::limit_ways`](crate::parts::CacheArray::limit_ways). Returns false, without any
    /// effect, if the controller does not support a limit.
    fn limit_ways(&mut self, ways: u32) -> bool {
        let _ = ways;
        false
    }
    /// Appends to `out` the state and the bytes of every line that the controller holds.
    fn lines(&self, out: &mut Vec<LineView>) {
        let _ = out;
    }
    /// Appends to `out` the conditions of the controller. A condition is a state that lasts, such
    /// as a granted epoch (a time in which some addresses may be written). Time lines draw it.
    fn conditions(&self, out: &mut Vec<Condition>) {
        let _ = out;
    }
    /// Whether the controller has no operation under way.
    fn is_quiet(&self) -> bool;
    /// Checks that each count which the controller keeps (such as its number of fills under way)
    /// equals the true number. Returns a sentence about the first wrong count, or `None` if all
    /// counts are right.
    fn miscount(&self) -> Option<&'static str> {
        None
    }
    /// Changes the representation of the controller to one canonical form, so that the explorer
    /// (the program that tries every schedule) recognizes equivalent states as equal.
    fn canonicalize(&mut self) {}
    /// Shortens the relative times in the tag (the sender's context) of an operation on memory,
    /// because time has passed while the operation or its reply was in flight; see
    /// [`Message::age`].
    fn age_tag(&self, tag: &mut MemoryTag, elapsed: i32) {
        let _ = (tag, elapsed);
    }
    /// Calls `visit` for every logical time in the controller, so that the explorer (the program
    /// that tries every schedule) can replace the times by smaller ones; see [`Protocol::REBASED`].
    fn times(&mut self, visit: &mut dyn FnMut(&mut Time)) {
        let _ = visit;
    }
}

/// A load of bytes in one line.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Load {
    /// The key that selects the plan of the load (the sequence of steps that performs it).
    pub key: PlanKey,
    /// The line that the load reads.
    pub line: LineAddr,
    /// The bytes that the load requests.
    pub mask: ByteMask,
}

/// A line in a cache that answers a load without a step of the controller; see [`Controller::hit`].
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Hit<'a> {
    /// The way that holds the line.
    pub way: Way,
    /// The row of the table that the load uses.
    pub row: RowId,
    /// The bytes of the line.
    pub bytes: &'a [u8],
    /// Whether the line has dirty bytes.
    pub is_dirty: bool,
}

impl Hit<'_> {
    /// The counters that the controller's step for a hit reports: one tag lookup, one access, one
    /// hit and one read of the data array. A driver (such as the simulator) that skips the step
    /// adds these counters itself. `is_dirty` says whether the line has dirty bytes.
    #[inline]
    #[must_use]
    pub fn uses(is_dirty: bool) -> Uses {
        Uses {
            tag_lookups: 1,
            accesses: 1,
            hits: 1,
            load_accesses: 1,
            load_hits: 1,
            loads_of_dirty_lines: u32::from(is_dirty),
            data_reads: 1,
            ..Uses::default()
        }
    }
}

/// The controllers of all kinds of a protocol as one type, which
/// [`crate::protocol_nodes`] generates.
pub trait Node<P: Protocol>: Clone + Eq + Hash + Debug + 'static {
    /// Starts the controller, whatever its kind; see [`Controller::start`].
    fn start(&mut self, cx: &mut Cx<'_, P>);
    /// Processes one input, whatever the kind of the controller; see [`Controller::step`].
    fn step(&mut self, input: Input<'_, P::Msg>, cx: &mut Cx<'_, P>) -> Disposition;
    /// The line that answers a non-atomic load at once; see [`Controller::hit`].
    fn hit(&self, load: &Load, homes: &Homes) -> Option<Hit<'_>>;
    /// Appends to `out` the ways of a set that may be evicted; see [`Controller::victims`].
    fn victims(&self, set: SetIndex, out: &mut Vec<(Way, Rank)>);
    /// Appends to `out` the ways of a set that hold a line; see [`Controller::occupied`].
    fn occupied(&self, set: SetIndex, out: &mut Vec<Way>);
    /// Limits the number of lines that each set may hold. Returns false if the controller does not
    /// support a limit; see [`Controller::limit_ways`].
    fn limit_ways(&mut self, ways: u32) -> bool;
    /// Appends to `out` the state and the bytes of each line that the controller holds; see
    /// [`Controller::lines`].
    fn lines(&self, out: &mut Vec<LineView>);
    /// Appends to `out` the conditions of the controller: states that last for several steps; see
    /// [`Controller::conditions`].
    fn conditions(&self, out: &mut Vec<Condition>);
    /// Whether the controller has no operation under way; see [`Controller::is_quiet`].
    fn is_quiet(&self) -> bool;
    /// The first wrong count of the controller; see [`Controller::miscount`].
    fn miscount(&self) -> Option<&'static str>;
    /// Changes the representation of the controller to one canonical form, for comparisons; see
    /// [`Controller::canonicalize`].
    fn canonicalize(&mut self);
    /// Shortens the relative times in the tag (the sender's context) of a memory operation; see
    /// [`Controller::age_tag`].
    fn age_tag(&self, tag: &mut MemoryTag, elapsed: i32);
    /// Calls `visit` for every logical time in the controller; see [`Controller::times`].
    fn times(&mut self, visit: &mut dyn FnMut(&mut Time));
}

/// A protocol: its controllers, messages, parameters, tables and description.
pub trait Protocol: Copy + Eq + Hash + Debug + 'static {
    /// A controller of any kind of the protocol.
    type Node: Node<Self>;
    /// A message to a controller of any kind.
    type Msg: Message;
    /// The parameters of the protocol, which are constant in a run.
    type Params: Clone + Eq + Hash + Debug;
    /// The description of the protocol.
    const INFO: Info;
    /// The kinds of controller of the protocol. [`NodeId::kind`] is an index of this list.
    const KINDS: &'static [Kind];
    /// Whether the protocol reads the clock. If so, a tick with the elapsed time precedes every
    /// other input.
    const CLOCKED: bool = false;
    /// If this is `Some(bound)`, the explorer (the program that tries every schedule) replaces the
    /// logical times of a state by smaller times in the same order, so that the number of states is
    /// finite. A gap between two successive times that exceeds `bound` is shortened to `bound`. The
    /// protocol must behave the same if all times of a state, in controllers and messages, become
    /// later by the same amount. Use `None` for clocks of few bits, because such clocks wrap around
    /// as in hardware.
    const REBASED: Option<u32> = None;

    /// The settings of the protocol that a machine file may give.
    const SETTINGS: &'static [Setting] = &[];
    /// The settings, by name, of the small machines on which the explorer (which tries every
    /// schedule) and the random tester run the protocol, where they differ from the defaults. Such
    /// a machine has few lines and messages, so buffers and clocks must be small for a search to
    /// reach their limits. The values may be outside the ranges for machine files.
    const EXPLORED: &'static [(&'static str, u64)] = &[];
    /// The settings, by name, that differ between the machines of the random tester. The machines
    /// take the values of a setting in turn. These values replace those of [`Protocol::EXPLORED`]:
    /// the tester makes no search, so its buffers and clocks may be larger.
    const TESTED: &'static [(&'static str, &'static [u64])] = &[];
    /// The names of the shipped litmus tests that were written for this protocol. A verification
    /// explores them even if they are larger than the tests that it explores by default.
    const OWN_TESTS: &'static [&'static str] = &[];
    /// Whether [`Protocol::disagreement`] checks anything. If not, the explorer (the program that
    /// tries every schedule) does not collect the lines of all controllers.
    const AGREES: bool = false;

    /// The parameters of the protocol for a machine.
    ///
    /// # Errors
    /// A sentence that names the property of the machine that the protocol does not support.
    fn params(levels: &Levels, settings: &Settings) -> Result<Self::Params, String>;
    /// Creates a controller in its initial state.
    fn node(id: NodeId, levels: &Levels, params: &Self::Params) -> Self::Node;
    /// The controller that an agent's requests enter. An agent is a compute unit, a host or the
    /// command processor. The choice may depend on the plan key (operation, order, scope level and
    /// hints), but not on the line.
    fn entry(params: &Self::Params, agent: Agent, key: PlanKey) -> NodeId;
    /// The tables of the protocol.
    fn tables() -> Vec<TableView>;
    /// The plans of the protocol: the steps of each operation.
    fn plans() -> Vec<PlansView>;
    /// Checks a rule about the lines of several controllers, such as "a line has at most one owner".
    /// `lines` has every line that any controller holds at one moment of a run, with the controller
    /// that holds it. The lines of one controller are successive. Returns a sentence about the first
    /// violation, or `None` if the rule holds. Messages may be under way at that moment. The
    /// explorer calls the function only if [`Protocol::AGREES`] is true.
    #[must_use]
    fn disagreement(lines: &[(NodeId, LineView)]) -> Option<String> {
        let _ = lines;
        None
    }
}
