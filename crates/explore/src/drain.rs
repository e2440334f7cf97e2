//! What the host finds in memory when the kernel has ended: the last values of
//! a program.
//!
//! Every compute unit is told that its kernel has ended, then the machine, as
//! the timing driver does it. Whatever that sets off is carried out in one
//! order: the program is over, and all that is left has one home. What a node
//! leaves over when it has answered comes as late as can be.

use std::collections::{BTreeSet, VecDeque};
use std::sync::Arc;

use proto::{
    ArrayId, ByteMask, Hints, Issuer, KernelId, Level, LineAddr, LineData, NodeId, Op, OpClass, Order,
    PlanKey, Protocol, Request, Role, RowId, Scope,
};

use crate::controllers::{Controllers, Told};
use crate::thread::PENDING_MAX;

/// The most steps that the end of a kernel may take.
const STEPS_MAX: usize = 10_000;

/// On what the plans of the ends of kernels depend.
pub(crate) const KEYS: [PlanKey; 2] = [key(Level::Device), key(Level::System)];

const fn key(level: Level) -> PlanKey {
    PlanKey { op: OpClass::KernelEnd, order: Order::Release, level, remote: false }
}

/// The end of a kernel, at a scope.
pub(crate) fn kernel_end(scope: Scope) -> Request {
    Request {
        op: Op::KernelEnd(KernelId(0)),
        order: Order::Release,
        scope,
        issuer: Issuer::default(),
        hints: Hints::default(),
        array: ArrayId(0),
        line: LineAddr(0),
        mask: ByteMask::NONE,
        data: LineData::default(),
    }
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
    answered: bool,
    slot: u32,
    rows: &'a mut BTreeSet<RowId>,
}

/// The lines of memory when the kernel has ended.
pub(crate) fn memory<P: Protocol>(
    controllers: &mut Controllers<P>,
    threads: usize,
    stations: Vec<u32>,
    lines: Vec<u32>,
    rows: &mut BTreeSet<RowId>,
) -> Result<Vec<u32>, Arc<str>> {
    let timers = vec![0; stations.len()];
    let slot = threads as u32 * PENDING_MAX;
    let under_way = VecDeque::new();
    let mut drain =
        Drain { controllers, stations, lines, under_way, late: 0, timers, answered: false, slot, rows };
    let first_level = |id: &NodeId| matches!(P::KINDS[usize::from(id.kind)].role, Role::L1);
    let entries = drain.controllers.nodes.iter().enumerate().filter(|(_, id)| first_level(id));
    let entries: Vec<u8> = entries.map(|(at, _)| at as u8).collect();
    for &node in &entries {
        drain.ask(node, Scope::DEVICE)?;
    }
    let conductor = drain.controllers.node(P::entry(proto::Agent::CommandProcessor));
    drain.ask(conductor.map_err(Arc::from)?, Scope::SYSTEM)?;
    let lines = drain.lines.clone();
    drain.rest()?;
    match lines == drain.lines {
        true => Ok(lines),
        false => Err(Arc::from("the kernel has ended, and a write was still on its way to memory")),
    }
}

impl<P: Protocol> Drain<'_, P> {
    fn ask(&mut self, node: u8, scope: Scope) -> Result<(), Arc<str>> {
        let request = self.controllers.request(kernel_end(scope));
        self.answered = false;
        self.under_way.push_back((node, Told::Ask { slot: self.slot, request }));
        for _ in 0..STEPS_MAX {
            if self.answered {
                self.late = self.under_way.len();
                return Ok(());
            }
            let Some((node, told)) = self.next() else { break };
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

    /// A timer, or a way that somebody waits for.
    fn choice(&mut self) -> Option<(u8, Told)> {
        for node in 0..self.stations.len() {
            if self.timers[node] != 0 {
                let class = self.timers[node].trailing_zeros() as u8;
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
        self.answered |= did.replies.iter().any(|(slot, _)| *slot == self.slot);
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
