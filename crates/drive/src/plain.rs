//! The minimal driver of a machine. It delivers messages and replies from memory in the order in
//! which they were sent, until none is outstanding.

use crate::interpreter::StationInput;
use crate::nodes::At;
use core::fmt::Debug;
use proto::{Agent, Boundary, KernelId, PlanKey, Request, Slot, Symbol as _, TimerClass, Way};
use std::collections::VecDeque;
use std::sync::Arc;

/// The maximum number of inputs that the driver delivers until a request is answered, or until no
/// input is outstanding.
const STEPS_MAX: usize = 10_000;
/// A bit mask of the timer classes that are periodic: such a timer is restarted each time it
/// expires, so it never stops.
const PERIODIC: u8 = {
    let (mut bits, mut at) = (0, 0);
    while at < TimerClass::ALL.len() {
        bits |= (TimerClass::ALL[at].is_periodic() as u8) << at;
        at += 1;
    }
    bits
};

/// An input in the representation that `S` (a store of controllers) uses: with values, or with
/// indices of stored values.
pub type InputOf<S> =
    StationInput<<S as StationStore>::Request, <S as StationStore>::Msg, <S as StationStore>::Reply>;

/// Stores the stations (controllers with their parked inputs) and the memory of a machine. Inputs
/// are represented either as values or as indices of stored values.
pub trait StationStore {
    /// The representation of a request: a value or an index.
    type Request: Debug;
    /// The representation of a message: a value or an index.
    type Msg: Debug;
    /// The representation of a reply from memory: a value or an index.
    type Reply: Debug;
    /// The representation of the bytes of a line.
    type Data: Clone + Debug;
    /// The number of controllers.
    fn count(&self) -> At;
    /// Whether the protocol uses clock ticks.
    fn is_clocked(&self) -> bool;
    /// The position of the controller that receives the requests of an agent (a compute unit, a
    /// host or the command processor) for operations with the plan key `key` (the properties, such
    /// as order and scope, that select the plan of an operation: its sequence of steps).
    ///
    /// # Errors
    /// If the machine has no such controller.
    fn entry(&self, agent: Agent, key: PlanKey) -> Result<At, String>;
    /// The requests that agents (such as compute units) make in one step at the beginning or the
    /// end of a kernel. Each element holds the agent that makes the request, the position of the
    /// controller that receives the request, and the request.
    ///
    /// # Errors
    /// If the machine lacks the controller that receives an agent's request.
    fn boundary(
        &self,
        step: Boundary,
        kernel: KernelId,
        host_has_written: bool,
    ) -> Result<Vec<(Agent, At, Request)>, String>;
    /// Converts a request to the representation that this store of controllers uses: a value, or an
    /// index of a stored value.
    fn write(&mut self, request: &Request) -> Self::Request;
    /// Gives a station (a controller) an input, and adds the resulting messages, replies from
    /// memory, timers and answers to `ahead`, the pending inputs. Memory performs each operation at
    /// once.
    ///
    /// # Errors
    /// If the protocol violates a rule. The error describes the rule.
    fn deliver(
        &mut self,
        at: At,
        input: InputOf<Self>,
        ahead: &mut PendingInputs<Self>,
    ) -> Result<(), Arc<str>>;
    /// A way of the station (controller) at `at` that may be evicted for a waiting input. `None` if
    /// no input waits for a way, or no way may be evicted.
    fn wanted(&mut self, at: At) -> Option<Way>;
}

/// The inputs that stations (controllers) have not received yet: the outstanding request, messages,
/// replies from memory, and running timers.
#[derive(Debug)]
pub struct PendingInputs<S: StationStore + ?Sized> {
    /// The request, messages and replies from memory that have not arrived yet, in the order in
    /// which they were sent.
    queue: VecDeque<(At, InputOf<S>)>,
    /// The running timers of each node (controller), as a mask with one bit for each timer class.
    timers: Vec<u8>,
    /// The slot that identifies the outstanding request. Once the request is answered, the field
    /// `answer` holds the bytes of the answer.
    slot: Slot,
    answer: Option<Option<S::Data>>,
}

impl<S: StationStore + ?Sized> PendingInputs<S> {
    /// Adds an input that the station (controller) at position `to` has not received yet: a
    /// request, a message, or a reply from memory.
    pub fn push(&mut self, to: At, input: InputOf<S>) {
        self.queue.push_back((to, input));
    }

    /// Starts a timer of a station (a controller). A timer that already runs is not changed.
    pub fn arm(&mut self, at: At, class: TimerClass) {
        self.timers[at as usize] |= 1 << class.index();
    }

    /// Records the answer to the outstanding request. Only the first answer counts. Answers to
    /// requests with other slots are ignored.
    pub fn answer(&mut self, slot: Slot, data: Option<S::Data>) {
        if slot == self.slot {
            self.answer.get_or_insert(data);
        }
    }
}

/// The minimal driver of a machine, which delivers all inputs in one fixed order. Inputs that are
/// still outstanding when a request is answered are delivered as late as possible.
#[derive(Debug)]
pub struct MinimalDriver<S: StationStore> {
    /// The stations (controllers) and the memory of the machine.
    pub stage: S,
    ahead: PendingInputs<S>,
    /// The number of late inputs. An input is late if it was already outstanding when the last
    /// request was answered. The late inputs are at the front of the queue.
    late: usize,
    /// The node (controller) whose periodic timer expired last.
    turn: usize,
}

impl<S: StationStore> MinimalDriver<S> {
    /// Creates a driver that starts from the state of the machine in `stage`. The driver makes one
    /// request at a time, always with the identifier `slot`. `timers` are the running timers of
    /// each node (controller), as a mask with one bit for each timer class.
    pub fn new(stage: S, slot: Slot, timers: Vec<u8>) -> Self {
        MinimalDriver {
            stage,
            ahead: PendingInputs { queue: VecDeque::new(), timers, slot, answer: None },
            late: 0,
            turn: 0,
        }
    }

    /// Gives every station (a controller) its first input.
    ///
    /// # Errors
    /// If the protocol violates a rule. The error describes the rule.
    pub fn start(&mut self) -> Result<(), Arc<str>> {
        let count = self.stage.count();
        (0..count).try_for_each(|at| self.stage.deliver(at, StationInput::Start, &mut self.ahead))
    }

    /// The running timers of each node (controller), as a mask with one bit for each timer class.
    pub fn timers(&self) -> &[u8] {
        &self.ahead.timers
    }

    /// Makes the requests of two steps at a kernel's boundary: either the two steps at the
    /// beginning of the kernel (the command processor acquires, then each compute unit acquires),
    /// or the two steps at its end (each compute unit releases, then the command processor
    /// releases). The agents (compute units and the command processor) make their requests one
    /// after the other.
    ///
    /// # Errors
    /// If the protocol violates a rule, or if a request gets no answer. The error describes the
    /// fault.
    pub fn boundary(
        &mut self,
        steps: [Boundary; 2],
        kernel: KernelId,
        host_has_written: bool,
    ) -> Result<(), Arc<str>> {
        for step in steps {
            for (_, at, request) in self.stage.boundary(step, kernel, host_has_written)? {
                self.ask_at(at, &request)?;
            }
        }
        Ok(())
    }

    /// Makes a request and delivers inputs until the request is answered. Returns the bytes of the
    /// answer, or `None` if the answer has no bytes.
    ///
    /// # Errors
    /// If the protocol violates a rule, or if the request gets no answer. The error describes the
    /// fault.
    pub fn ask(&mut self, agent: Agent, request: &Request) -> Result<Option<S::Data>, Arc<str>> {
        let at = self.stage.entry(agent, PlanKey::of(request))?;
        self.ask_at(at, request)
    }

    fn ask_at(&mut self, at: At, request: &Request) -> Result<Option<S::Data>, Arc<str>> {
        let request = self.stage.write(request);
        self.ahead.answer = None;
        self.ahead.push(at, StationInput::Request { slot: self.ahead.slot, request });
        for _ in 0..STEPS_MAX {
            if let Some(data) = self.ahead.answer.clone() {
                self.late = self.ahead.queue.len();
                return Ok(data);
            }
            if let Some((at, input)) = self.next() {
                self.stage.deliver(at, input, &mut self.ahead)?;
                continue;
            }
            let periodic = self.periodic();
            if periodic.is_none() && !self.stage.is_clocked() {
                break;
            }
            self.pass_time()?;
            if let Some((at, input)) = periodic {
                self.stage.deliver(at, input, &mut self.ahead)?;
            }
        }
        Err(Arc::from("a request is never answered, although no other request is outstanding"))
    }

    /// Delivers all outstanding inputs.
    ///
    /// # Errors
    /// If the protocol violates a rule, or if the machine never becomes quiet (new inputs arise
    /// without end). The error describes the fault.
    pub fn rest(&mut self) -> Result<(), Arc<str>> {
        for _ in 0..STEPS_MAX {
            let Some((at, input)) = self.next() else { return Ok(()) };
            self.stage.deliver(at, input, &mut self.ahead)?;
        }
        Err(Arc::from(
            "all requests are answered, but the controllers get new messages and timers without end",
        ))
    }

    /// Takes the next input to deliver. The first `late` inputs of the queue (the late inputs) are
    /// delivered only after all newer inputs, with one exception. Inputs of one channel (the same
    /// sender and receiver) keep their order. So if a late input belongs to the same channel as the
    /// first newer input, the late input is delivered before the newer input.
    fn next(&mut self) -> Option<(At, InputOf<S>)> {
        let queue = &mut self.ahead.queue;
        let Some(first) = queue.get(self.late) else {
            self.late = self.late.saturating_sub(1);
            return queue.pop_front().or_else(|| self.choice());
        };
        let earlier = queue.iter().position(|other| is_same_channel(other, first));
        let at = earlier.unwrap_or(self.late);
        self.late -= usize::from(at < self.late);
        queue.remove(at)
    }

    /// Advances the clocks of all nodes (controllers) by one tick. The caller ensures that no
    /// message or reply is outstanding. Does nothing if the protocol has no clock.
    fn pass_time(&mut self) -> Result<(), Arc<str>> {
        if !self.stage.is_clocked() {
            return Ok(());
        }
        let count = self.stage.count();
        (0..count).try_for_each(|at| self.stage.deliver(at, StationInput::Tick(1), &mut self.ahead))
    }

    /// Lets a periodic timer expire: returns this input and its receiver, or `None` if no periodic
    /// timer runs. If several nodes (controllers) have a running periodic timer, the nodes take
    /// turns.
    fn periodic(&mut self) -> Option<(At, InputOf<S>)> {
        let timers = &mut self.ahead.timers;
        let count = timers.len();
        let node = (1..=count).map(|step| (self.turn + step) % count).find(|&n| timers[n] & PERIODIC != 0)?;
        self.turn = node;
        Some((node as At, StationInput::Timer(take(&mut timers[node], PERIODIC))))
    }

    /// The next input that the driver itself causes: the expiry of a timer that is not periodic, or
    /// an eviction that frees a way for a waiting input. `None` if there is neither.
    fn choice(&mut self) -> Option<(At, InputOf<S>)> {
        for node in 0..self.ahead.timers.len() {
            let timers = &mut self.ahead.timers[node];
            if *timers & !PERIODIC != 0 {
                return Some((node as At, StationInput::Timer(take(timers, !PERIODIC))));
            }
            if let Some(way) = self.stage.wanted(node as At) {
                return Some((node as At, StationInput::Evict(way)));
            }
        }
        None
    }
}

/// Stops the first running timer among the classes in the mask `of`, and returns its class.
fn take(timers: &mut u8, of: u8) -> TimerClass {
    let class = (*timers & of).trailing_zeros() as usize;
    *timers &= !(1 << class);
    TimerClass::ALL[class]
}

/// Whether two inputs must keep their order: both are messages from the same node (controller) to
/// the same node, or both are replies from memory to the same node.
fn is_same_channel<R, M, A>(
    (to, input): &(At, StationInput<R, M, A>),
    (other_to, other): &(At, StationInput<R, M, A>),
) -> bool {
    let is_same = match (input, other) {
        (StationInput::Message { from, .. }, StationInput::Message { from: other, .. }) => from == other,
        (StationInput::Memory { .. }, StationInput::Memory { .. }) => true,
        _ => false,
    };
    to == other_to && is_same
}
