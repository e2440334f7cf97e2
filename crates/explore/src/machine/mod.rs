//! A program on the controllers of a protocol: parts and their moves.
//!
//! A part is the state of one node: its station (controller with its parked inputs), the threads
//! whose requests enter there, its messages under way, and its operations at memory. The effect of
//! a move or an input on a part is computed once.
//!
//! If a protocol sends the requests of an agent (such as a compute unit) to several controllers, a
//! thread belongs to the part that its ordinary loads enter. A request to another controller is a
//! move of two parts; the answer comes back by a separate move.

pub(crate) mod ageing;
pub(crate) mod bounds;
pub(crate) mod controllers;
pub(crate) mod crossing;
pub(crate) mod drain;
pub(crate) mod intern;
pub(crate) mod kernels;
pub(crate) mod known;
pub(crate) mod live;
pub(crate) mod moves;
pub(crate) mod offers;
pub(crate) mod operation;
pub(crate) mod outcome;
pub(crate) mod placement;
pub(crate) mod play;
pub(crate) mod preempt;
pub(crate) mod slots;
pub(crate) mod stages;
pub(crate) mod stations;
pub(crate) mod thread;
pub(crate) mod threads;

use std::collections::BTreeSet;
use std::sync::Arc;

use litmus::program::{LocId, Program, ThreadSet, Value};
use proto::{Channels, PlanKey, Rmw, RowId, SeededFault, Slot, Topology};
use rustc_hash::FxHashMap;
use smallvec::SmallVec;

use crate::subject::Subject;
use bounds::Bounds;
use controllers::{Controllers, Response, StationInput, Word};
use drain::Remainder;
use intern::Interner;
use kernels::Steps;
use known::{Effect, FAULT, Known};
use placement::{Placement, Unsupported};
use slots::Slots;
use thread::{Code, ThreadState};

/// The state of one node: its station (controller with its parked inputs), its threads, and its
/// messages and operations under way.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub(crate) struct Part {
    pub(crate) node: u8,
    /// The running timers of the node, one bit for each class of timers.
    pub(crate) timers: u8,
    /// The ticks by which the node's clock is ahead of the slowest clock. The times of messages
    /// under way are relative to the slowest clock.
    pub(crate) ahead: u8,
    /// The index of the current step of the program, such as the run of one kernel. It is the same
    /// on all nodes.
    pub(crate) step: u8,
    pub(crate) station: u32,
    /// The agents (compute units and the command processor) that must still make a request to this
    /// node for the beginning or end of a kernel (`todo`), and the agents that wait for the answer
    /// to such a request (`due`). Both are masks with one bit for each agent.
    pub(crate) todo: u16,
    pub(crate) due: u16,
    /// The threads that run at this node, each with the number of its state.
    pub(crate) threads: SmallVec<[(u8, u32); 2]>,
    /// Messages under way from this node, each as the number of its receiver and its own number.
    pub(crate) out: SmallVec<[(u8, u32); 4]>,
    /// Requests from cores of this node to controllers of other nodes, and answers in the other
    /// direction, that are under way from this node. Each has the number of its receiver. The list
    /// does not keep the order in which they were sent.
    pub(crate) wires: SmallVec<[(u8, u32); 1]>,
    /// Operations under way to memory, each with its line.
    pub(crate) ops: SmallVec<[(u8, u32); 2]>,
    /// Memory's replies under way to this node, each with its line.
    pub(crate) replies: SmallVec<[(u8, u32); 2]>,
}

/// A write to a word: the written value, or the read-modify-write that computes the written value
/// from the old value of the word.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(crate) enum Written {
    /// The write stores this value.
    Value(u32),
    /// The write applies this read-modify-write with this operand to the old value.
    Update(Rmw, u32),
}

/// A program on a machine with given bounds, with the parts (node states) met so far.
pub(crate) struct Machine {
    pub(crate) controllers: Controllers,
    pub(crate) code: Code,
    pub(crate) steps: Steps,
    pub(crate) slots: Slots,
    pub(crate) groups: Vec<ThreadSet>,
    pub(crate) bounds: Bounds,
    pub(crate) known: Known,
    pub(crate) parts: Interner<Part>,
    pub(crate) threads: Interner<ThreadState>,
    memories: Interner<Vec<u32>>,
    pub(crate) words: Interner<Word>,
    /// The known results of the function `drained` (the lines that the host reads after the last
    /// kernel). The key holds the numbers of the states of all stations (controllers), the running
    /// timers, and the number of the state of memory.
    drained: FxHashMap<Vec<u32>, Drained>,
    /// The known results of the check that the next kernel reads the host's writes. The key holds
    /// the numbers of the states of all stations (controllers), and the running timers.
    begun: FxHashMap<Vec<u32>, PartResult<()>>,
    /// A mask of the lines to which memory replies in a separate move (`shared`): the lines that
    /// several nodes access, or all lines if `merge_memory` is off. `owners` has the first node
    /// that has accessed each line.
    shared: u64,
    owners: FxHashMap<u8, u8>,
    /// Whether a second node has accessed a line that the search treated as a line of one node. The
    /// search must then restart.
    pub(crate) is_stale: bool,
    /// Whether a work-group was preempted in some run.
    pub(crate) preempted: bool,
    /// The rows of the protocol's tables that fired.
    pub(crate) rows: BTreeSet<RowId>,
    /// The plan keys (operation, order, scope and hints) of the requests that were made.
    pub(crate) keys: Vec<PlanKey>,
    /// The pairs of a location and a value that was read from it (`reads`), and the pairs of a
    /// location and a write to it (`writes`).
    pub(crate) reads: BTreeSet<(LocId, Value)>,
    pub(crate) writes: BTreeSet<(LocId, Written)>,
    /// The description of a feature that the program needs and no explored machine has, if any.
    pub(crate) unsupported: Option<String>,
    /// Reasons why threads could not continue with the values that they read.
    pub(crate) bad_values: BTreeSet<Arc<str>>,
    /// The record of the current move, if a replay records the move. Otherwise `None`.
    pub(crate) recorded: Option<Recorded>,
}

/// A result for a part (the state of one node), or the description of a fault that happens instead.
pub(crate) type PartResult<T> = Result<T, Arc<str>>;
/// The lines that the host reads after the end of a kernel, or the description of a fault that
/// happens instead.
type Drained = PartResult<Arc<[u32]>>;

impl Machine {
    /// Puts a program on a machine. `learnt` holds controllers of earlier machines, with their
    /// known steps. If one of these machines and its kernels are equal to the new ones, the new
    /// machine takes its controllers.
    pub(crate) fn new(
        subject: &Subject,
        (program, placement): (&Program, &Placement),
        (bounds, seeded_fault): (Bounds, Option<SeededFault>),
        learnt: &mut Vec<Controllers>,
    ) -> Result<Self, Unsupported> {
        let code = Code::new(program, placement, bounds.core)?;
        let topology = bounds.topology(placement.compute_units(), code.line_bytes);
        let topology = Topology { hosts: placement.hosts(), ..topology }.of_kinds(subject.kinds);
        let steps = Steps::of(program, placement, &code.words, topology.cus)?;
        let controllers =
            kernels::controllers(subject, &topology, bounds.homes(&topology), &steps, seeded_fault, learnt)?;
        let groups = preempt::groups(program, placement, bounds.preemptions)?;
        let slots = Slots::new(&controllers, placement, bounds.preemptions).map_err(Unsupported)?;
        let known = Known::new(subject, controllers.ids().len(), &bounds);
        Ok(Machine {
            controllers,
            code,
            steps,
            slots,
            groups,
            bounds,
            known,
            parts: Interner::default(),
            threads: Interner::default(),
            memories: Interner::default(),
            words: Interner::default(),
            drained: FxHashMap::default(),
            begun: FxHashMap::default(),
            shared: if bounds.merge_memory { 0 } else { u64::MAX },
            owners: FxHashMap::default(),
            is_stale: false,
            preempted: false,
            rows: BTreeSet::new(),
            keys: Vec::new(),
            reads: BTreeSet::new(),
            writes: BTreeSet::new(),
            unsupported: None,
            bad_values: BTreeSet::new(),
            recorded: None,
        })
    }

    /// Forgets all parts (node states), so that the search can restart. Lines that are marked as
    /// shared by several nodes stay marked.
    pub(crate) fn again(&mut self) {
        self.known = Known::new(&self.controllers.subject, self.known.nodes, &self.bounds);
        self.parts = Interner::default();
        self.owners.clear();
        self.is_stale = false;
    }

    /// The initial state of the machine, as numbers.
    pub(crate) fn start(&mut self) -> Result<Vec<u32>, Unsupported> {
        let mut state = Vec::new();
        for node in 0..self.controllers.ids().len() as u8 {
            let mut threads = SmallVec::new();
            for thread in 0..self.code.program.threads.len() {
                if self.slots.first(thread) == node {
                    let start = self.code.start(thread).map_err(|error| Unsupported(error.why()))?;
                    threads.push((thread as u8, self.threads.number(start)));
                }
            }
            let part = Part {
                node,
                timers: 0,
                ahead: 0,
                step: 0,
                todo: 0,
                due: 0,
                station: self.controllers.fresh(node),
                threads,
                out: SmallVec::new(),
                wires: SmallVec::new(),
                ops: SmallVec::new(),
                replies: SmallVec::new(),
            };
            let part = self.enter_step(part).map_err(Unsupported)?;
            let part = self.deliver(part, StationInput::Start).and_then(|part| self.settled(part));
            state.push(part.map_err(|why| Unsupported(why.to_string()))?);
        }
        let mut memory = Vec::new();
        for line in 0..self.code.lines() {
            let line = self.code.initial(line)?;
            memory.push(self.controllers.line(line));
        }
        state.push(self.memories.number(memory));
        if self.known.rebase.is_some() {
            state.resize(state.len() + self.known.nodes, 0);
            state = self.rebased(&state);
        }
        Ok(state)
    }

    /// Marks a line as shared by several nodes: memory's replies about the line become separate
    /// moves.
    pub(crate) fn share(&mut self, line: u8) {
        self.shared |= 1u64.checked_shl(line.into()).unwrap_or(0);
    }

    /// Whether memory replies at once to an operation on this line.
    pub(crate) fn merges(&self, line: u8) -> bool {
        self.shared.checked_shr(line.into()).unwrap_or(0) & 1 == 0
    }

    pub(crate) fn part(&self, part: u32) -> &Part {
        self.parts.thing(part)
    }

    pub(crate) fn thread(&self, state: u32) -> &ThreadState {
        self.threads.thing(state)
    }

    pub(crate) fn memory(&self, memory: u32) -> &[u32] {
        self.memories.thing(memory)
    }

    /// The lines that the host reads after the requests at the end of the last kernel. These
    /// requests begin in the state `state`. Also checks that a further kernel reads the host's
    /// writes.
    pub(crate) fn drained(&mut self, state: &[u32]) -> Drained {
        let (parts, memory) = (self.together(state), &state[self.known.nodes..=self.known.nodes]);
        let stations: Vec<u32> = parts.iter().map(|&part| self.part(part).station).collect();
        let timers: Vec<u8> = parts.iter().map(|&part| self.part(part).timers).collect();
        let key: Vec<u32> = timed(&stations, &timers).chain(memory.iter().copied()).collect();
        if let Some(known) = self.drained.get(&key) {
            return known.clone();
        }
        let rest = Remainder { stations, timers, lines: self.memories.thing(memory[0]).clone() };
        let ended = drain::end(
            &mut self.controllers,
            self.slots.of_boundaries(),
            self.steps.last.0,
            rest,
            &mut self.rows,
        );
        drain::end_keys().for_each(|key| self.note_key(key));
        let lines: Drained = ended.and_then(|(rest, seen)| self.begin_next(rest).map(|()| Arc::from(seen)));
        self.drained.insert(key, lines.clone());
        lines
    }

    /// Checks that the next kernel reads the host's writes. The result depends only on the stations
    /// (controllers with their parked inputs) and their timers, because the host writes all of
    /// memory.
    fn begin_next(&mut self, rest: Remainder) -> PartResult<()> {
        let key: Vec<u32> = timed(&rest.stations, &rest.timers).collect();
        if let Some(known) = self.begun.get(&key) {
            return known.clone();
        }
        let begun =
            drain::next_kernel(&mut self.controllers, self.slots.of_boundaries(), self.steps.last.1, rest);
        self.begun.insert(key, begun.clone());
        begun
    }

    /// The number of different parts (node states) met so far.
    pub(crate) fn part_count(&self) -> usize {
        self.parts.len()
    }

    /// The approximate size in bytes of everything except the states.
    pub(crate) fn bytes(&self) -> usize {
        self.known.bytes() + self.parts.bytes() + self.threads.bytes() + self.controllers.bytes()
    }

    /// Computes everything that the expansion of a state needs, such as the moves of its parts
    /// (node states).
    pub(crate) fn learn(&mut self, state: &[u32]) {
        let nodes = self.known.nodes;
        for &part in &state[..nodes] {
            if self.known.info(part).is_none() {
                self.learn_moves(part);
            }
            if self.controllers.subject.is_clocked {
                self.learn_tick(part);
            }
        }
        if self.known.goes_on(state) {
            for &part in &state[..nodes] {
                if self.known.next(part).is_none() {
                    let after = self.next_step(part);
                    let after = self.or_fault(after);
                    self.known.set_next(part, after);
                }
            }
        }
        if self.known.rebase.is_some() {
            return self.learn_frames(state);
        }
        for &part in &state[..nodes] {
            let Some(info) = self.known.info(part) else { continue };
            for at in 0..self.known.part_moves(info).len() {
                match self.known.part_moves(info)[at].effect {
                    Effect::Send { rest, to, input } => {
                        let from = self.parts.thing(part).node;
                        let receiver = if from == to { rest } else { state[usize::from(to)] };
                        self.learn_after_input(receiver, input);
                    }
                    Effect::Serve { rest, op } => self.learn_served(state[nodes], rest, op),
                    Effect::Go(_) | Effect::Fault(_) => {}
                }
            }
        }
    }

    /// The order in which channels deliver messages. Channels keep no order if the bounds allow
    /// overtaking.
    pub(crate) fn channels(&self) -> Channels {
        if self.bounds.overtaking { Channels::Unordered } else { self.controllers.subject.info.channels }
    }

    /// The number of the part (the state of one node) with its logical times mapped by `to`.
    pub(crate) fn retimed(&mut self, part: u32, to: &mut dyn FnMut(u32) -> u32) -> u32 {
        let mut part = self.parts.thing(part).clone();
        part.station = self.controllers.retimed_station(part.station, to);
        for (_, msg) in &mut part.out {
            *msg = self.controllers.retimed_message(*msg, to);
        }
        if self.channels() == Channels::Unordered {
            part.out.sort_unstable();
        }
        self.parts.number(part)
    }

    pub(crate) fn learn_after_input(&mut self, receiver: u32, input: u32) {
        if self.known.after_input(receiver, input).is_none() {
            let after = self.hand(receiver, self.words.thing(input).clone());
            let after = self.or_fault(after);
            self.known.set_after_input(receiver, input, after);
        }
    }

    pub(crate) fn learn_served(&mut self, memory: u32, rest: u32, op: u32) {
        let (_, reply) = match self.known.served(memory, op) {
            Some(known) => known,
            None => {
                let line = self.controllers.op_of(op).line.0 as usize;
                let mut lines = self.memories.thing(memory).clone();
                let reply;
                (lines[line], reply) = self.controllers.serve(lines[line], op);
                let served = (self.memories.number(lines), reply);
                self.known.set_served(memory, op, served);
                served
            }
        };
        if self.known.answered(rest, reply).is_none() {
            let line = self.controllers.reply_of(reply).op.line.0 as u8;
            let after = if self.shared >> line & 1 == 0 {
                self.deliver_and_settle(rest, StationInput::Memory { reply })
            } else {
                let mut part = self.parts.thing(rest).clone();
                part.replies.push((line, reply));
                part.replies.sort_by_key(|(line, _)| *line);
                Ok(self.parts.number(part))
            };
            let after = self.or_fault(after);
            self.known.set_answered(rest, reply, after);
        }
    }

    pub(crate) fn or_fault(&mut self, after: PartResult<u32>) -> u32 {
        after.unwrap_or_else(|why| self.known.fault(&why) | FAULT)
    }

    pub(crate) fn deliver_and_settle(&mut self, part: u32, input: StationInput) -> PartResult<u32> {
        let part = self.parts.thing(part).clone();
        let part = self.deliver(part, input)?;
        self.settled(part)
    }

    pub(crate) fn note_key(&mut self, key: PlanKey) {
        if !self.keys.contains(&key) {
            self.keys.push(key);
        }
    }

    /// Gives an input to the station (controller with its parked inputs) of the part (the state of
    /// one node), and carries out the effects of the station's step.
    pub(crate) fn deliver(&mut self, mut part: Part, input: StationInput) -> PartResult<Part> {
        let mut inputs: SmallVec<[StationInput; 2]> = SmallVec::new();
        inputs.push(self.at_clock_of(&part, input));
        let mut next = 0;
        while next < inputs.len() {
            let input = inputs[next];
            next += 1;
            let response = self.controllers.deliver(part.station, input)?;
            if response.is_hit && response.timers & !part.timers != 0 {
                let name = self.controllers.node_name(part.node);
                return Err(format!(
                    "{name}: a load hit starts a timer, expected no effect except the answer"
                )
                .into());
            }
            self.rows.extend(response.rows.iter().copied());
            self.carry_out(&mut part, &response);
            for &(slot, data) in &response.replies {
                if let Some(agent) = slot.checked_sub(self.slots.of_boundaries()) {
                    if part.due >> agent & 1 == 0 {
                        return Err(Arc::from(
                            "a request at the beginning or the end of a kernel is answered, but no such \
                             request is outstanding",
                        ));
                    }
                    part.due &= !(1 << agent);
                    continue;
                }
                let entry = part.node;
                match self.slots.home(entry, slot) {
                    Some(home) if home != entry => {
                        let word = Word::Answer { entry, slot: Slot(slot), data };
                        part.wires.push((home, self.words.number(word)));
                    }
                    _ => inputs.extend(self.answer(&mut part, (entry, slot), data)?),
                }
            }
        }
        part.wires.sort_unstable();
        Ok(part)
    }

    /// Gives a part (the state of one node) an input that comes from another part. Returns the new
    /// part.
    pub(crate) fn hand(&mut self, part: u32, word: Word) -> PartResult<u32> {
        let mut part = self.parts.thing(part).clone();
        let input = match word {
            Word::StationInput(input) => Some(input),
            Word::Answer { entry, slot, data } => self.answer(&mut part, (entry, slot.0), data)?,
            Word::Group { cu, threads } => self.arrive(&mut part, cu, &threads)?,
        };
        if let Some(input) = input {
            part = self.deliver(part, input)?;
        }
        part.wires.sort_unstable();
        self.settled(part)
    }

    fn carry_out(&mut self, part: &mut Part, response: &Response) {
        part.station = response.station;
        part.timers |= response.timers;
        let ahead = i32::from(part.ahead);
        let mut sent = |msg| if ahead > 0 { self.controllers.aged_message(msg, -ahead) } else { msg };
        for &(to, msg) in &response.sends {
            let msg = sent(msg);
            part.out.push((to, msg));
            if let Some(recorded) = &mut self.recorded {
                recorded.sends.push((part.node, to, msg));
            }
        }
        match self.channels() {
            // A stable sort keeps the order of each channel.
            Channels::Fifo => part.out.sort_by_key(|(to, _)| *to),
            Channels::Unordered => part.out.sort_unstable(),
        }
        for &(line, op) in &response.memory {
            let owner = *self.owners.entry(line).or_insert(part.node);
            if owner != part.node && self.shared >> line & 1 == 0 {
                self.shared |= 1 << line;
                self.is_stale = true;
            }
            let op = if ahead > 0 { self.controllers.aged_op(part.station, op, -ahead) } else { op };
            part.ops.push((line, op));
        }
        part.ops.sort_by_key(|(line, _)| *line);
    }
}

/// A message that was sent: its sender, its receiver, and its number.
pub(crate) type Sent = (u8, u8, u32);

/// The record of a move in a replay: the answers to threads, and the messages.
#[derive(Debug, Default)]
pub(crate) struct Recorded {
    /// The answers to threads: the number of the thread, the number of its request, and the values
    /// that were read.
    pub(crate) answers: Vec<(u8, u32, Vec<Value>)>,
    /// The messages that were sent, in order.
    pub(crate) sends: Vec<Sent>,
}

/// The numbers of the states of stations (controllers with their parked inputs). If any timer runs,
/// the masks of running timers follow.
fn timed(stations: &[u32], timers: &[u8]) -> impl Iterator<Item = u32> {
    let any = timers.iter().any(|&timers| timers != 0);
    let timers = timers.iter().filter(move |_| any).map(|&timers| u32::from(timers));
    stations.iter().copied().chain(timers)
}
