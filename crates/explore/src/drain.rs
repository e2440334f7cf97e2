//! What the host finds in memory when the kernel has ended, the last values of
//! a program; and whether the next kernel finds what the host has written.
//!
//! The requests of a kernel's end are those that the timing driver makes.
//! Whatever they set off is carried out in one order: the program is over, and
//! all that is left has one home. What a node leaves over when it has answered
//! comes as late as can be.

use std::collections::{BTreeSet, VecDeque};
use std::sync::Arc;

use proto::{
    Agent, ArrayId, Boundary, ByteMask, Hints, Issuer, KernelId, LineAddr, LineData, Op, Order, PlanKey,
    Protocol, Request, RowId, Scope, Symbol as _, TimerClass,
};

use crate::controllers::{Controllers, Told};
use crate::thread::PENDING_MAX;

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
/// What the host writes into every byte: no program's words have it.
const HOST_BYTE: u8 = 0xb7;

/// On what the plans of the ends of kernels depend.
pub(crate) fn end_keys() -> impl Iterator<Item = PlanKey> {
    Boundary::END.into_iter().map(|step| PlanKey::of(&step.request(KernelId(0), true)))
}

/// An ordinary access to a whole line.
fn access(op: Op, line: usize, mask: ByteMask, data: LineData) -> Request {
    Request {
        op,
        order: Order::Plain,
        scope: Scope::DEVICE,
        issuer: Issuer::default(),
        hints: Hints::default(),
        array: ArrayId(0),
        line: LineAddr(line as u64),
        mask,
        data,
    }
}

/// The stations and the lines of memory behind a program.
#[derive(Clone, Debug)]
pub(crate) struct Rest {
    pub(crate) stations: Vec<u32>,
    /// By node: the timers that run, a bit a class. All of them run for ever.
    pub(crate) timers: Vec<u8>,
    pub(crate) lines: Vec<u32>,
}

struct Drain<'a, P: Protocol> {
    controllers: &'a mut Controllers<P>,
    stations: Vec<u32>,
    lines: Vec<u32>,
    /// In the order in which it was sent.
    under_way: VecDeque<(u8, Told)>,
    /// How much of that was left over by whoever has answered already: it comes as
    /// late as can be.
    late: usize,
    timers: Vec<u8>,
    /// The node whose periodic timer was the last to run out.
    turn: usize,
    /// Has the request been answered, and with which bytes?
    answer: Option<Option<u32>>,
    slot: u32,
    rows: &'a mut BTreeSet<RowId>,
}

/// The stations and the lines of memory when the kernel has ended.
pub(crate) fn end<P: Protocol>(
    controllers: &mut Controllers<P>,
    threads: usize,
    rest: Rest,
    rows: &mut BTreeSet<RowId>,
) -> Result<Rest, Arc<str>> {
    let mut drain = Drain::new(controllers, threads, rest, rows);
    drain.boundary(Boundary::END)?;
    let lines = drain.lines.clone();
    drain.rest()?;
    match lines == drain.lines {
        true => Ok(Rest { stations: drain.stations, timers: drain.timers, lines }),
        false => Err(Arc::from("the kernel has ended, and a write was still on its way to memory")),
    }
}

/// The host writes every line behind the end of a kernel, and another kernel
/// begins: each compute unit must read what the host has written.
pub(crate) fn next_kernel<P: Protocol>(
    controllers: &mut Controllers<P>,
    threads: usize,
    rest: Rest,
) -> Result<(), Arc<str>> {
    let (cus, lines) = (controllers.topology.cus, rest.lines.len());
    let mask = ByteMask::full(usize::from(controllers.topology.line_bytes));
    let written = LineData([HOST_BYTE; proto::LINE_BYTES_MAX]).masked(mask);
    let mut rows = BTreeSet::new();
    let mut drain = Drain::new(controllers, threads, rest, &mut rows);
    for line in 0..lines {
        drain.ask(Agent::Host(0), access(Op::Store, line, mask, written))?;
    }
    drain.boundary(Boundary::BEGIN)?;
    for (cu, line) in (0..cus).flat_map(|cu| (0..lines).map(move |line| (cu, line))) {
        let data = drain.ask(Agent::Cu(cu), access(Op::Load, line, mask, LineData::default()))?;
        let read = data.map(|data| drain.controllers.line_of(data).masked(mask));
        if read != Some(written) {
            let why = format!("a kernel begins, and CU {cu} reads what the host has overwritten before");
            return Err(Arc::from(why));
        }
    }
    drain.rest()
}

impl<'a, P: Protocol> Drain<'a, P> {
    fn new(
        controllers: &'a mut Controllers<P>,
        threads: usize,
        rest: Rest,
        rows: &'a mut BTreeSet<RowId>,
    ) -> Self {
        let Rest { stations, timers, lines } = rest;
        let slot = threads as u32 * PENDING_MAX;
        let under_way = VecDeque::new();
        Drain { controllers, stations, lines, under_way, late: 0, timers, turn: 0, answer: None, slot, rows }
    }

    /// A boundary of a kernel, agent by agent.
    fn boundary(&mut self, steps: [Boundary; 2]) -> Result<(), Arc<str>> {
        for step in steps {
            for agent in step.agents(self.controllers.topology.cus) {
                self.ask(agent, step.request(KernelId(0), true))?;
            }
        }
        Ok(())
    }

    /// Makes a request and carries out what it sets off until it is answered.
    fn ask(&mut self, agent: Agent, request: Request) -> Result<Option<u32>, Arc<str>> {
        let node = self.controllers.entry(agent, PlanKey::of(&request)).map_err(Arc::from)?;
        let request = self.controllers.request(request);
        self.answer = None;
        self.under_way.push_back((node, Told::Ask { slot: self.slot, request }));
        for _ in 0..STEPS_MAX {
            if let Some(data) = self.answer {
                self.late = self.under_way.len();
                return Ok(data);
            }
            let Some((node, told)) = self.next().or_else(|| self.periodic()) else { break };
            self.tell(node, told)?;
        }
        Err(Arc::from("the program is over, and its kernel does not come to an end"))
    }

    /// Whatever is left over comes to its end.
    fn rest(&mut self) -> Result<(), Arc<str>> {
        for _ in 0..STEPS_MAX {
            let Some((node, told)) = self.next() else { return Ok(()) };
            self.tell(node, told)?;
        }
        Err(Arc::from("the kernel has ended, and something goes on without end"))
    }

    /// What comes next: what is late only if nothing else is left, or if it was
    /// sent before it on the same channel.
    fn next(&mut self) -> Option<(u8, Told)> {
        let is_late = |at: usize| at < self.late;
        let Some(first) = self.under_way.get(self.late) else {
            self.late = self.late.saturating_sub(1);
            return self.under_way.pop_front().or_else(|| self.choice());
        };
        let earlier = self.under_way.iter().position(|other| is_same_channel(other, first));
        let at = earlier.unwrap_or(self.late);
        self.late -= usize::from(is_late(at));
        self.under_way.remove(at)
    }

    /// A timer that runs for ever. Several take turns.
    fn periodic(&mut self) -> Option<(u8, Told)> {
        let count = self.timers.len();
        let nodes = (1..=count).map(|step| (self.turn + step) % count);
        let node = nodes.into_iter().find(|&node| self.timers[node] & PERIODIC != 0)?;
        self.turn = node;
        let class = (self.timers[node] & PERIODIC).trailing_zeros() as u8;
        self.timers[node] &= !(1 << class);
        Some((node as u8, Told::Timer(class)))
    }

    /// A timer that comes to an end, or a way that somebody waits for.
    fn choice(&mut self) -> Option<(u8, Told)> {
        for node in 0..self.stations.len() {
            if self.timers[node] & !PERIODIC != 0 {
                let class = (self.timers[node] & !PERIODIC).trailing_zeros() as u8;
                self.timers[node] &= !(1 << class);
                return Some((node as u8, Told::Timer(class)));
            }
            let look = self.controllers.look(self.stations[node]);
            if let (true, Some(&way)) = (look.needs_way, look.victims.first()) {
                return Some((node as u8, Told::Evict(u32::from(way))));
            }
        }
        None
    }

    fn tell(&mut self, node: u8, told: Told) -> Result<(), Arc<str>> {
        let at = usize::from(node);
        let did = self.controllers.tell(self.stations[at], told)?;
        self.stations[at] = did.station;
        self.rows.extend(did.rows.iter().copied());
        self.timers[at] |= did.timers;
        let sent = did.sends.iter().map(|&(to, msg)| (to, Told::Message { from: node, msg }));
        self.under_way.extend(sent);
        for &(line, op) in &did.memory {
            let reply;
            let line = &mut self.lines[usize::from(line)];
            (*line, reply) = self.controllers.serve(*line, op);
            self.under_way.push_back((node, Told::Memory { reply }));
        }
        let answer = did.replies.iter().find(|(slot, _)| *slot == self.slot);
        self.answer = self.answer.or(answer.map(|&(_, data)| data));
        Ok(())
    }
}

/// Do they come to the same node from the same place?
fn is_same_channel((to, told): &(u8, Told), (other_to, other): &(u8, Told)) -> bool {
    let is_same = match (told, other) {
        (Told::Message { from, .. }, Told::Message { from: other, .. }) => from == other,
        (Told::Memory { .. }, Told::Memory { .. }) => true,
        _ => false,
    };
    to == other_to && is_same
}
