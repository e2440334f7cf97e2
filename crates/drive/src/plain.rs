//! The smallest driver: whatever is set off is carried out in the order in
//! which it was sent, until nothing is left.

use crate::interpreter::Told;
use crate::nodes::At;
use core::fmt::Debug;
use proto::{Agent, Boundary, KernelId, PlanKey, Request, Slot, Symbol as _, TimerClass, Way};
use std::collections::VecDeque;
use std::sync::Arc;

/// The most steps that a request may take.
const STEPS_MAX: usize = 10_000;
/// The classes of timers that run for ever, a bit each.
const PERIODIC: u8 = {
    let (mut bits, mut at) = (0, 0);
    while at < TimerClass::ALL.len() {
        bits |= (TimerClass::ALL[at].is_periodic() as u8) << at;
        at += 1;
    }
    bits
};

/// What is under way, as a stage writes it.
pub type Under<S> = Told<<S as Stage>::Request, <S as Stage>::Msg, <S as Stage>::Reply>;

/// Where stations and memory are kept: as values, or as numbers of values.
pub trait Stage {
    /// A request.
    type Request: Debug;
    /// A message.
    type Msg: Debug;
    /// Memory's answer.
    type Reply: Debug;
    /// The bytes of a line.
    type Data: Clone + Debug;
    /// How many controllers there are.
    fn count(&self) -> At;
    /// Does the protocol look at the clock?
    fn is_clocked(&self) -> bool;
    /// Where an operation of an agent goes.
    ///
    /// # Errors
    /// If the machine has no such controller.
    fn entry(&self, agent: Agent, key: PlanKey) -> Result<At, String>;
    /// The requests of a step of a kernel's boundary, and where they go.
    ///
    /// # Errors
    /// If an agent has no entry.
    fn boundary(
        &self,
        step: Boundary,
        kernel: KernelId,
        host_has_written: bool,
    ) -> Result<Vec<(Agent, At, Request)>, String>;
    /// A request, as it is kept here.
    fn write(&mut self, request: &Request) -> Self::Request;
    /// Tells a station something and puts ahead what it does. Memory serves at
    /// once.
    ///
    /// # Errors
    /// The rule that the protocol violates.
    fn tell(&mut self, at: At, told: Under<Self>, ahead: &mut Ahead<Self>) -> Result<(), Arc<str>>;
    /// A way that may be given up, if an input waits for one.
    fn wanted(&mut self, at: At) -> Option<Way>;
}

/// What is to come.
#[derive(Debug)]
pub struct Ahead<S: Stage + ?Sized> {
    /// In the order in which it was sent.
    queue: VecDeque<(At, Under<S>)>,
    /// By node: the timers that run, a bit a class.
    timers: Vec<u8>,
    /// The request that is waited for, and its answer.
    slot: Slot,
    answer: Option<Option<S::Data>>,
}

impl<S: Stage + ?Sized> Ahead<S> {
    /// A message, or memory's answer.
    pub fn push(&mut self, to: At, told: Under<S>) {
        self.queue.push_back((to, told));
    }

    /// A timer.
    pub fn arm(&mut self, at: At, class: TimerClass) {
        self.timers[at as usize] |= 1 << class.index();
    }

    /// An answer.
    pub fn answer(&mut self, slot: Slot, data: Option<S::Data>) {
        if slot == self.slot {
            self.answer.get_or_insert(data);
        }
    }
}

/// One order for everything. What a node leaves over when it has answered comes
/// as late as can be.
#[derive(Debug)]
pub struct Plain<S: Stage> {
    /// The stations and memory.
    pub stage: S,
    ahead: Ahead<S>,
    /// How much of what is ahead was left over when a request was answered.
    late: usize,
    /// The node whose periodic timer was the last to run out.
    turn: usize,
}

impl<S: Stage> Plain<S> {
    /// Goes on from there. Requests are made under that slot; the timers that
    /// run are a bit a class for each node.
    pub fn new(stage: S, slot: Slot, timers: Vec<u8>) -> Self {
        Plain { stage, ahead: Ahead { queue: VecDeque::new(), timers, slot, answer: None }, late: 0, turn: 0 }
    }

    /// Gives every station its first input.
    ///
    /// # Errors
    /// The rule that the protocol violates.
    pub fn start(&mut self) -> Result<(), Arc<str>> {
        let count = self.stage.count();
        (0..count).try_for_each(|at| self.stage.tell(at, Told::Start, &mut self.ahead))
    }

    /// By node: the timers that run, a bit a class.
    pub fn timers(&self) -> &[u8] {
        &self.ahead.timers
    }

    /// A boundary of a kernel, agent by agent.
    ///
    /// # Errors
    /// The rule that the protocol violates, or the request that gets no answer.
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

    /// Makes a request and carries out what it sets off until it is answered:
    /// with which bytes?
    ///
    /// # Errors
    /// The rule that the protocol violates, or that the request gets no answer.
    pub fn ask(&mut self, agent: Agent, request: &Request) -> Result<Option<S::Data>, Arc<str>> {
        let at = self.stage.entry(agent, PlanKey::of(request))?;
        self.ask_at(at, request)
    }

    fn ask_at(&mut self, at: At, request: &Request) -> Result<Option<S::Data>, Arc<str>> {
        let request = self.stage.write(request);
        self.ahead.answer = None;
        self.ahead.push(at, Told::Ask { slot: self.ahead.slot, request });
        for _ in 0..STEPS_MAX {
            if let Some(data) = self.ahead.answer.clone() {
                self.late = self.ahead.queue.len();
                return Ok(data);
            }
            if let Some((at, told)) = self.next() {
                self.stage.tell(at, told, &mut self.ahead)?;
                continue;
            }
            let periodic = self.periodic();
            if periodic.is_none() && !self.stage.is_clocked() {
                break;
            }
            self.pass_time()?;
            if let Some((at, told)) = periodic {
                self.stage.tell(at, told, &mut self.ahead)?;
            }
        }
        Err(Arc::from("a request is never answered, although nobody else asks for anything"))
    }

    /// Whatever is left over comes to its end.
    ///
    /// # Errors
    /// The rule that the protocol violates, or that the machine never comes to rest.
    pub fn rest(&mut self) -> Result<(), Arc<str>> {
        for _ in 0..STEPS_MAX {
            let Some((at, told)) = self.next() else { return Ok(()) };
            self.stage.tell(at, told, &mut self.ahead)?;
        }
        Err(Arc::from("all requests are answered, and something goes on without end"))
    }

    /// What comes next: what is late only if nothing else is left, or if it was
    /// sent before it on the same channel.
    fn next(&mut self) -> Option<(At, Under<S>)> {
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

    /// A tick passes for all nodes. Nothing is on its way.
    fn pass_time(&mut self) -> Result<(), Arc<str>> {
        if !self.stage.is_clocked() {
            return Ok(());
        }
        let count = self.stage.count();
        (0..count).try_for_each(|at| self.stage.tell(at, Told::Tick(1), &mut self.ahead))
    }

    /// A timer that runs for ever. Several take turns.
    fn periodic(&mut self) -> Option<(At, Under<S>)> {
        let timers = &mut self.ahead.timers;
        let count = timers.len();
        let node = (1..=count).map(|step| (self.turn + step) % count).find(|&n| timers[n] & PERIODIC != 0)?;
        self.turn = node;
        Some((node as At, Told::Timer(take(&mut timers[node], PERIODIC))))
    }

    /// A timer that comes to an end, or a way that somebody waits for.
    fn choice(&mut self) -> Option<(At, Under<S>)> {
        for node in 0..self.ahead.timers.len() {
            let timers = &mut self.ahead.timers[node];
            if *timers & !PERIODIC != 0 {
                return Some((node as At, Told::Timer(take(timers, !PERIODIC))));
            }
            if let Some(way) = self.stage.wanted(node as At) {
                return Some((node as At, Told::Evict(way)));
            }
        }
        None
    }
}

/// Takes the first of those timers that runs.
fn take(timers: &mut u8, of: u8) -> TimerClass {
    let class = (*timers & of).trailing_zeros() as usize;
    *timers &= !(1 << class);
    TimerClass::ALL[class]
}

/// Do they come to the same node from the same place?
fn is_same_channel<R, M, A>(
    (to, told): &(At, Told<R, M, A>),
    (other_to, other): &(At, Told<R, M, A>),
) -> bool {
    let is_same = match (told, other) {
        (Told::Message { from, .. }, Told::Message { from: other, .. }) => from == other,
        (Told::Memory { .. }, Told::Memory { .. }) => true,
        _ => false,
    };
    to == other_to && is_same
}
