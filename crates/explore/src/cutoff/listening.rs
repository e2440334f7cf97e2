//! A machine that runs one sender and several listeners (compute units that receive data). A view
//! of a listener is a state of the machine in which all other listeners are left out. This module
//! computes the growth (the numbers of views with one, two and three listeners) and the closure (a
//! set that contains the views with any number of listeners).

use std::collections::BTreeSet;

use litmus::program::Program;
use proto::words::grouped;
use proto::{Agent, SeededFault};
use rustc_hash::{FxHashMap, FxHashSet};

use super::program::{LISTENERS_MAX, LOADS, Layout, Listener, text};
use super::{Growth, Options};
use crate::machine::Machine;
use crate::machine::bounds::Bounds;
use crate::machine::known::{Effect, FAULT, PartMove};
use crate::machine::moves::Move;
use crate::machine::placement::{Placement, Unsupported};
use crate::subject::Subject;

/// A state of the machine, as numbers: the number of each part (the state of one node), then the
/// number of the state of memory.
pub(super) type State = Box<[u32]>;

/// The reason for an early end of a computation.
pub(super) enum Halt {
    /// A state shows the described fault.
    Fault(String),
    /// The proof for any number of listeners (compute units that receive data) is an induction. The
    /// induction needs a property that does not hold. The text names this property.
    Obstacle(String),
    /// The caller stopped the computation.
    Stopped,
}

/// A halt because of an obstacle: the computation needs a property that does not hold. The text
/// `why` describes the obstacle.
fn obstacle(why: &str) -> Halt {
    Halt::Obstacle(why.to_owned())
}

/// A machine with the program of one sender and [`LISTENERS_MAX`] listeners (compute units that
/// receive data). A state may leave out some of the listeners.
pub(super) struct Listening {
    machine: Machine,
    /// The node of each listener (compute unit that receives data).
    listeners: Vec<u8>,
    /// For each listener (receiving compute unit), the part (state of its node) in a machine state
    /// that leaves this listener out.
    absent: Vec<u32>,
    /// The state in which the listeners (receiving compute units) begin. The sender has already
    /// made its first loads.
    start: State,
    /// The known results of `part_without`. The key is a part (state of one node) and the node of a
    /// listener (receiving compute unit). The value is the part without the messages to the
    /// listener, and without the inputs that come from it.
    without: FxHashMap<(u32, u8), u32>,
}

/// A message that a listener (a compute unit of the program) sends: the receiving node, and the
/// number of the input that this node gets.
type Sent = (u8, u32);

/// All views that have the same shared part. A view is a state with one listener (a receiving
/// compute unit), and its shared part is the view without this listener.
#[derive(Default)]
struct Group {
    /// The views (states with one listener) of this group, for each of the two listeners (receiving
    /// compute units).
    views: [Vec<State>; 2],
    /// For each of the two listeners (receiving compute units), the messages that it may send. Each
    /// message comes with the shared part (the state without the listener) after the message.
    sent: [FxHashMap<Sent, State>; 2],
    /// The shared part (the state without a listener, that is, without a receiving compute unit)
    /// after each move of a node that belongs to no listener.
    after: FxHashMap<Move, State>,
}

impl Listening {
    /// The machine for one program, one scope of the atomics, and one layout (the assignment of
    /// words to lines). No thread has issued an operation yet.
    pub(super) fn new(
        subject: &Subject,
        machine: (Bounds, Option<SeededFault>),
        (listener, scope, layout): (&Listener, &str, &Layout),
    ) -> Result<Listening, Unsupported> {
        let text = text(listener, scope);
        let program: Program = litmus::parse::parse(&text).map_err(|error| Unsupported(error.to_string()))?;
        let agents = (0..=LISTENERS_MAX as u16).map(Agent::Cu).collect();
        let lines = program.locations.iter().map(|location| layout.line(&location.name)).collect();
        let placement = Placement::new(agents, lines);
        let mut machine = Machine::new(subject, (&program, &placement), machine, &mut Vec::new())?;
        let start = machine.start()?;
        let listeners: Vec<u8> = (1..=LISTENERS_MAX).map(|thread| machine.slots.first(thread)).collect();
        let absent = listeners.iter().map(|&node| {
            let mut part = machine.part(start[usize::from(node)]).clone();
            part.threads.clear();
            machine.parts.number(part)
        });
        let absent = absent.collect();
        let start = start.into();
        Ok(Listening { machine, listeners, absent, start, without: FxHashMap::default() })
    }

    /// Lets the sender make its first loads before the listeners (receiving compute units) make a
    /// move. Replaces the state `start` by the state after these loads.
    pub(super) fn warm_up(&mut self) -> Result<(), Halt> {
        let sender = usize::from(self.machine.slots.first(0));
        loop {
            let (_, thread) = self.machine.part(self.start[sender]).threads[0];
            let has_loaded = self.machine.thread(thread).pc >= LOADS;
            let moves = self.moves(&self.start.clone())?;
            let first = moves.into_iter().find(|(node, part_move)| {
                !self.listeners.contains(node) && (!has_loaded || !part_move.mv.is_issue())
            });
            let Some(first) = first else { return Ok(()) };
            self.start = self.after(&self.start, first)?;
        }
    }

    /// The state with a listener (receiving compute unit) left out: without the threads of the
    /// listener's node, without the messages to this node, and without the inputs from this node
    /// that wait at other controllers.
    fn without(&mut self, mut state: State, listener: usize) -> State {
        let node = self.listeners[listener];
        for at in 0..self.machine.known.nodes {
            if at == usize::from(node) {
                state[at] = self.absent[listener];
            } else {
                state[at] = self.part_without(state[at], node);
            }
        }
        state
    }

    /// The part (state of one node) without the messages to a listener (a receiving compute unit),
    /// and without the inputs that come from this listener.
    fn part_without(&mut self, part: u32, node: u8) -> u32 {
        if let Some(&known) = self.without.get(&(part, node)) {
            return known;
        }
        let mut rest = self.machine.part(part).clone();
        rest.out.retain(|(to, _)| *to != node);
        rest.wires.retain(|(to, _)| *to != node);
        rest.station = self.machine.controllers.without(rest.station, node);
        let rest = self.machine.parts.number(rest);
        self.without.insert((part, node), rest);
        rest
    }

    /// All moves of a state, each with the node that makes it.
    fn moves(&mut self, state: &[u32]) -> Result<Vec<(u8, PartMove)>, Halt> {
        self.machine.learn(state);
        let known = &self.machine.known;
        if known.has_full_queue(state) {
            return Err(obstacle("a core waits because a channel is full"));
        }
        if self.machine.is_stale {
            return Err(obstacle("several controllers access the same line of memory"));
        }
        let mut moves = Vec::new();
        for (node, &part) in (0..).zip(&state[..known.nodes]) {
            let info = known
                .info(part)
                .ok_or_else(|| obstacle("the explorer has not computed what a node can do next"))?;
            moves.extend(known.part_moves(info).iter().map(|part_move| (node, *part_move)));
        }
        Ok(moves)
    }

    /// The state after `node` has made the move `part_move`.
    fn after(&self, state: &[u32], (node, part_move): (u8, PartMove)) -> Result<State, Halt> {
        let (known, node) = (&self.machine.known, usize::from(node));
        let mut next: State = state.into();
        match part_move.effect {
            Effect::Go(to) => next[node] = self.sound(Some(to))?,
            Effect::Send { rest, to, input } => {
                next[node] = rest;
                let to = usize::from(to);
                next[to] = self.sound(known.after_input(next[to], input))?;
            }
            Effect::Serve { rest, op } => {
                let served = known.served(state[known.nodes], op);
                let (memory, reply) =
                    served.ok_or_else(|| obstacle("the explorer has not computed a reply of memory"))?;
                next[node] = self.sound(known.answered(rest, reply))?;
                next[known.nodes] = memory;
            }
            Effect::Fault(fault) => return Err(Halt::Fault(known.faults[fault as usize].to_string())),
        }
        Ok(next)
    }

    /// Returns the part (the state of one node) that results from a step. Fails if the step is not
    /// known or shows a fault.
    fn sound(&self, part: Option<u32>) -> Result<u32, Halt> {
        match part {
            Some(part) if part & FAULT == 0 => Ok(part),
            Some(fault) => Err(Halt::Fault(self.machine.known.faults[(fault & !FAULT) as usize].to_string())),
            None => Err(obstacle("the explorer has not computed the effect of a message")),
        }
    }

    /// The state after the delivery of the message `(to, input)`. The sender of the message is a
    /// listener (compute unit) that the state `state` leaves out.
    fn after_message(&mut self, state: &[u32], (to, input): Sent) -> Result<State, Halt> {
        let at = usize::from(to);
        self.machine.learn_after_input(state[at], input);
        let mut next: State = state.into();
        next[at] = self.sound(self.machine.known.after_input(state[at], input))?;
        Ok(next)
    }

    /// Checks that a listener (receiving compute unit) has not left the loop of its code. A
    /// listener leaves its loop only if it has acquired a flag without the data, which is a fault.
    fn check(&self, state: &[u32], listener: usize) -> Result<(), Halt> {
        let part = state[usize::from(self.listeners[listener])];
        let has_left = part != self.absent[listener] && self.machine.known.info(part).is_some_and(|i| i.done);
        if has_left {
            Err(Halt::Fault(String::from(
                "a listener (a compute unit that receives data) acquires the flag, but reads stale data",
            )))
        } else {
            Ok(())
        }
    }

    /// Explores the program with this number of listeners (receiving compute units). Adds the views
    /// of the first listener (the states without the other listeners) to `views`.
    pub(super) fn explore(
        &mut self,
        listeners: usize,
        options: Options<'_>,
        views: &mut FxHashSet<State>,
    ) -> Result<Growth, Halt> {
        let absent = listeners..LISTENERS_MAX;
        let start = absent.fold(self.start.clone(), |state, other| self.without(state, other));
        let mut seen: FxHashSet<State> = FxHashSet::default();
        let mut own: FxHashSet<State> = FxHashSet::default();
        let mut open = vec![start.clone()];
        seen.insert(start);
        while let Some(state) = open.pop() {
            if (options.stop)() {
                return Err(Halt::Stopped);
            }
            for listener in 0..listeners {
                self.check(&state, listener)?;
            }
            let moves = self.moves(&state)?;
            if moves.is_empty() {
                return Err(Halt::Fault(String::from("no node can make a move: a deadlock")));
            }
            for part_move in moves {
                let next = self.after(&state, part_move)?;
                if seen.insert(next.clone()) {
                    open.push(next);
                }
            }
            if seen.len() >= options.states_max {
                break;
            }
            own.insert((1..listeners).fold(state, |state, other| self.without(state, other)));
        }
        views.extend(own.iter().cloned());
        let is_complete = seen.len() < options.states_max;
        Ok(Growth { listeners, states: seen.len(), views: is_complete.then_some(own.len()) })
    }

    /// Computes the closure: a set that contains the views (states with one listener) for any
    /// number of listeners (receiving compute units). Returns the number of views of one listener
    /// and the number of shared parts (views without their listener). Fails if the closure lacks a
    /// view of `explored`.
    pub(super) fn close(
        &mut self,
        options: Options<'_>,
        explored: &FxHashSet<State>,
    ) -> Result<(usize, usize), Halt> {
        let start = (2..LISTENERS_MAX).fold(self.start.clone(), |state, other| self.without(state, other));
        let mut closing = Closing::default();
        for own in 0..2 {
            let view = self.without(start.clone(), 1 - own);
            closing.add(own, view);
        }
        while let Some((own, view)) = closing.open.pop() {
            if (options.stop)() {
                return Err(Halt::Stopped);
            }
            if closing.seen[own].len() > options.views_max {
                let limit = grouped(options.views_max as u64);
                return Err(Halt::Obstacle(format!(
                    "the computed set has more than {limit} views (states with one listener)"
                )));
            }
            self.advance(&mut closing, own, &view)?;
        }
        // Both listeners run the same code. So their views and messages must be equal, unless a
        // controller distinguishes the listeners.
        let steps = |own: usize| -> BTreeSet<(&State, &State)> {
            let of = closing.groups.iter();
            of.flat_map(|(shared, group)| group.sent[own].values().map(move |after| (shared, after)))
                .collect()
        };
        if steps(0) != steps(1) || closing.seen[0].len() != closing.seen[1].len() {
            return Err(obstacle("a controller remembers which compute unit has sent a message"));
        }
        if let Some(missed) = explored.iter().find(|view| !closing.seen[0].contains(*view)) {
            return Err(Halt::Obstacle(format!(
                "the computed set of views (states with one listener) lacks a view that the exploration \
                 found: {missed:?}"
            )));
        }
        Ok((closing.seen[0].len(), closing.groups.len()))
    }

    /// Adds to `closing` the views (states with one listener) that follow from the view `view` of
    /// `own`, one of the two listeners (receiving compute units). A view follows by a move of
    /// `view`, or by a message that the other listener may send in a view with the same shared part
    /// (the view without its listener). If `own` can send a message in `view`, each view of the
    /// other listener with the same shared part receives the message.
    fn advance(&mut self, closing: &mut Closing, own: usize, view: &State) -> Result<(), Halt> {
        let moves = self.moves(view)?;
        self.check(view, own)?;
        let shared = self.without(view.clone(), own);
        if !closing.groups.contains_key(&shared) {
            let group = self.group(&shared)?;
            closing.groups.insert(shared.clone(), group);
        }
        let node = self.listeners[own];
        for part_move in moves {
            let next = self.after(view, part_move)?;
            let after = self.without(next.clone(), own);
            let (by, PartMove { mv, effect, .. }) = part_move;
            if by == node {
                if let Effect::Send { to, input, .. } = effect
                    && after != shared
                {
                    self.send(closing, own, &shared, ((to, input), after))?;
                } else if after != shared {
                    return Err(Halt::Obstacle(format!(
                        "the move `{mv}` of a listener (a compute unit that receives data) changes other \
                         nodes, but sends no message"
                    )));
                }
            } else {
                let group = &closing.groups[&shared];
                let is_answer = matches!(mv, Move::Deliver { to, .. } if to == node) && after == shared;
                if !is_answer && group.after.get(&mv) != Some(&after) {
                    return Err(Halt::Obstacle(String::from(
                        "a move of a controller depends on inputs of a listener (a compute unit that \
                         receives data) that wait at this controller",
                    )));
                }
            }
            closing.add(own, next);
        }
        let sent: Vec<Sent> = closing.groups[&shared].sent[1 - own].keys().copied().collect();
        for message in sent {
            self.receive(closing, own, view, (&shared, message))?;
        }
        if let Some(group) = closing.groups.get_mut(&shared) {
            group.views[own].push(view.clone());
        }
        Ok(())
    }

    /// A group for a new shared part (a state without listeners, the receiving compute units). A
    /// group collects the views (states with one listener) that have the same shared part. The new
    /// group holds the results of the moves that the shared part itself can make.
    fn group(&mut self, shared: &State) -> Result<Group, Halt> {
        let mut group = Group::default();
        for part_move in self.moves(shared)? {
            let after = self.after(shared, part_move)?;
            self.check_silence(&after, None)?;
            group.after.insert(part_move.1.mv, after);
        }
        Ok(group)
    }

    /// Checks that a state contains no message to a listener (receiving compute unit) and no input
    /// from a listener. The listener `sender` is excepted.
    fn check_silence(&mut self, state: &State, sender: Option<usize>) -> Result<(), Halt> {
        for listener in (0..LISTENERS_MAX).filter(|&listener| Some(listener) != sender) {
            if self.without(state.clone(), listener) != *state {
                return Err(obstacle("a compute unit receives a message, although it has sent no request"));
            }
        }
        Ok(())
    }

    /// Records a message that `own`, one of the two listeners (receiving compute units), may send,
    /// with the shared part (the state without the listener) after the message. Each view (state
    /// with one listener) of the other listener that has the shared part `shared` receives the
    /// message.
    fn send(
        &mut self,
        closing: &mut Closing,
        own: usize,
        shared: &State,
        (message, after): (Sent, State),
    ) -> Result<(), Halt> {
        let known = closing.groups.get(shared).and_then(|group| group.sent[own].get(&message));
        if let Some(known) = known {
            let is_same = *known == after;
            return if is_same {
                Ok(())
            } else {
                Err(obstacle(
                    "the effect of a message depends on inputs of a listener (a compute unit that receives \
                     data) that wait at the receiver",
                ))
            };
        }
        let alone = self.after_message(shared, message)?;
        self.check_silence(&alone, Some(own))?;
        if self.without(alone, own) != after {
            return Err(obstacle(
                "the effect of a message depends on inputs of a listener (a compute unit that receives data) \
                 that wait at the receiver",
            ));
        }
        let Some(group) = closing.groups.get_mut(shared) else { return Ok(()) };
        group.sent[own].insert(message, after);
        for view in group.views[1 - own].clone() {
            self.receive(closing, 1 - own, &view, (shared, message))?;
        }
        Ok(())
    }

    /// Adds the view that results when the machine in the view `view` receives a message of the
    /// other listener. A view is a state with only one of the two listeners (receiving compute
    /// units), here with `own`.
    fn receive(
        &mut self,
        closing: &mut Closing,
        own: usize,
        view: &State,
        (shared, message): (&State, Sent),
    ) -> Result<(), Halt> {
        let next = self.after_message(view, message)?;
        let next = self.without(next, 1 - own);
        if self.without(next.clone(), own) != closing.groups[shared].sent[1 - own][&message] {
            return Err(obstacle(
                "the effect of a message depends on inputs of a listener (a compute unit that receives data) \
                 that wait at the receiver",
            ));
        }
        closing.add(own, next);
        Ok(())
    }
}

/// The intermediate data for the computation of the closure: the set that contains the views
/// (states with one listener) for any number of listeners (receiving compute units).
#[derive(Default)]
struct Closing {
    /// The views (states with one listener) found so far, for each of the two listeners (receiving
    /// compute units).
    seen: [FxHashSet<State>; 2],
    /// The views (states with one listener) that are not processed yet, each with the index of its
    /// listener (receiving compute unit).
    open: Vec<(usize, State)>,
    /// The groups of views (states with one listener, a receiving compute unit). The key is the
    /// shared part of the group: the state without the listener.
    groups: FxHashMap<State, Group>,
}

impl Closing {
    /// Adds a view, if it is new. A view is a state with only one listener (receiving compute
    /// unit), here with `own`.
    fn add(&mut self, own: usize, view: State) {
        if self.seen[own].insert(view.clone()) {
            self.open.push((own, view));
        }
    }
}
