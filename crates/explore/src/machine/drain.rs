//! The end of a program. The host reads all lines after the last kernel of the program, through its
//! own controller. Then the host writes, and a further kernel checks that it reads the host's
//! writes.
//!
//! The requests at the end of the last kernel are the same as in the simulator. Their messages are
//! delivered in one fixed order, because no thread of the program runs any more. A node may answer
//! a request while some of the work for the request remains. The remaining work is done as late as
//! possible.

use std::collections::BTreeSet;
use std::sync::Arc;

use drive::{At, MinimalDriver, PendingInputs, StationStore};
use proto::{
    Agent, ArrayId, Boundary, ByteMask, Hints, Hosts, Issuer, KernelId, LineAddr, LineData, Op, Order,
    PlanKey, Request, RowId, Scope, Slot, Symbol as _, TimerClass, Way,
};

use crate::machine::controllers::{Controllers, StationInput};
use crate::machine::kernels::array_of;

/// The byte that the host writes to every byte of memory. No word of a program has this value.
const HOST_BYTE: u8 = 0xb7;

/// The plan keys (operation, order, scope and hints) of the requests at the end of kernels.
pub(crate) fn end_keys() -> impl Iterator<Item = PlanKey> {
    Boundary::END.into_iter().map(|step| PlanKey::of(&step.request(KernelId(0), true)))
}

/// A request of the host or of a compute unit that concerns a line of an array.
fn request((op, order, scope): (Op, Order, Scope), (line, array): (usize, ArrayId)) -> Request {
    Request {
        op,
        order,
        scope,
        issuer: Issuer::default(),
        hints: Hints::default(),
        array,
        line: LineAddr(line as u64),
        mask: ByteMask::NONE,
        data: LineData::default(),
    }
}

/// The ordinary accesses to whole lines that this module makes.
#[derive(Clone, Copy)]
struct Accesses {
    /// The bytes of a line.
    mask: ByteMask,
    has_arrays: bool,
}

impl Accesses {
    fn of(controllers: &Controllers) -> Accesses {
        let mask = ByteMask::full(usize::from(controllers.topology().line_bytes));
        Accesses { mask, has_arrays: !controllers.kernels().is_empty() }
    }

    fn request(self, op: Op, line: usize) -> Request {
        let array = if self.has_arrays { array_of(LineAddr(line as u64)) } else { ArrayId(0) };
        Request { mask: self.mask, ..request((op, Order::Plain, Scope::DEVICE), (line, array)) }
    }

    fn load(self, line: usize) -> Request {
        self.request(Op::Load, line)
    }

    fn store(self, line: usize, data: LineData) -> Request {
        Request { data, ..self.request(Op::Store, line) }
    }
}

/// The stations (controllers with their parked inputs) and the lines of memory that remain after a
/// program, before or after the requests at its end.
#[derive(Clone, Debug)]
pub(crate) struct Remainder {
    pub(crate) stations: Vec<u32>,
    /// The running timers of each node, one bit for each class of timers. All running timers are
    /// periodic.
    pub(crate) timers: Vec<u8>,
    pub(crate) lines: Vec<u32>,
}

/// A machine whose stations (controllers with their parked inputs) and lines of memory are given as
/// numbers.
struct Numbers<'a> {
    controllers: &'a mut Controllers,
    stations: Vec<u32>,
    lines: Vec<u32>,
    rows: &'a mut BTreeSet<RowId>,
}

impl StationStore for Numbers<'_> {
    type Request = u32;
    type Msg = u32;
    type Reply = u32;
    type Data = u32;

    fn count(&self) -> At {
        self.stations.len() as At
    }

    fn is_clocked(&self) -> bool {
        self.controllers.subject.is_clocked
    }

    fn entry(&self, agent: Agent, key: PlanKey) -> Result<At, String> {
        self.controllers.entry(agent, key).map(At::from)
    }

    fn boundary(
        &self,
        step: Boundary,
        kernel: KernelId,
        host_has_written: bool,
    ) -> Result<Vec<(Agent, At, Request)>, String> {
        self.controllers.boundary(step, kernel, host_has_written)
    }

    fn write(&mut self, request: &Request) -> u32 {
        self.controllers.request(*request)
    }

    fn deliver(
        &mut self,
        at: At,
        input: StationInput,
        ahead: &mut PendingInputs<Self>,
    ) -> Result<(), Arc<str>> {
        let station = &mut self.stations[at as usize];
        let response = self.controllers.deliver(*station, input)?;
        *station = response.station;
        self.rows.extend(response.rows.iter().copied());
        for &(to, msg) in &response.sends {
            ahead.push(to.into(), StationInput::Message { from: at, msg });
        }
        for &(line, op) in &response.memory {
            let line = &mut self.lines[usize::from(line)];
            let reply;
            (*line, reply) = self.controllers.serve(*line, op);
            ahead.push(at, StationInput::Memory { reply });
        }
        let runs = |class: &&TimerClass| response.timers >> class.index() & 1 == 1;
        TimerClass::ALL.iter().filter(runs).for_each(|&class| ahead.arm(at, class));
        response.replies.iter().for_each(|&(slot, data)| ahead.answer(Slot(slot), data));
        Ok(())
    }

    fn wanted(&mut self, at: At) -> Option<Way> {
        let look = self.controllers.look(self.stations[at as usize]);
        look.victims.iter().find(|victim| victim.is_needed).map(|victim| Way(victim.way.into()))
    }
}

/// Makes the requests of the end of a kernel, and lets the host read every line. Returns what
/// remains, and the lines that the host has read. Fails if the end is not complete when the last of
/// its requests is answered:
///
/// * If hosts access memory directly, no write may reach memory later.
/// * If hosts have caches, dirty bytes may stay in caches, but the host must read the same bytes
///   again when all remaining work is done.
pub(crate) fn end(
    controllers: &mut Controllers,
    slot: u32,
    kernel: KernelId,
    rest: Remainder,
    rows: &mut BTreeSet<RowId>,
) -> Result<(Remainder, Vec<u32>), Arc<str>> {
    let hosts = controllers.subject.info.hosts;
    let mut plain = plain(controllers, slot, rest, rows);
    plain.boundary(Boundary::END, kernel, true)?;
    let lines = plain.stage.lines.clone();
    let seen = host_reads(&mut plain)?;
    plain.rest()?;
    match hosts {
        Hosts::Direct if lines != plain.stage.lines => {
            return Err(Arc::from("a write reaches memory after the end of the kernel"));
        }
        Hosts::Cached if seen != host_reads(&mut plain)? => {
            return Err(Arc::from(
                "after the end of the kernel, the host reads a line twice, and its bytes differ",
            ));
        }
        Hosts::Direct => {}
        Hosts::Cached => plain.rest()?,
    }
    let timers = plain.timers().to_vec();
    let Numbers { stations, lines, .. } = plain.stage;
    Ok((Remainder { stations, timers, lines }, seen))
}

/// Lets the first host read every line through its controller. Returns the lines as numbers. A host
/// without a coherent cache acquires first, because it has waited for the kernel.
fn host_reads(plain: &mut MinimalDriver<Numbers<'_>>) -> Result<Vec<u32>, Arc<str>> {
    let host = Agent::Host(0);
    let accesses = Accesses::of(plain.stage.controllers);
    if plain.stage.controllers.subject.info.hosts == Hosts::Direct {
        plain.ask(host, &request((Op::Fence, Order::Acquire, Scope::SYSTEM), (0, ArrayId(0))))?;
    }
    let mut seen = Vec::new();
    for line in 0..plain.stage.lines.len() {
        let Some(data) = plain.ask(host, &accesses.load(line))? else {
            return Err(Arc::from(
                "after the end of the kernel, the answer to a load of the host has no bytes",
            ));
        };
        let bytes = plain.stage.controllers.line_of(data).masked(accesses.mask);
        seen.push(plain.stage.controllers.line(bytes));
    }
    Ok(seen)
}

/// Lets the host write every line after the end of a kernel, and begins another kernel. Fails if a
/// compute unit then reads a value that the host did not write.
pub(crate) fn next_kernel(
    controllers: &mut Controllers,
    slot: u32,
    kernel: KernelId,
    rest: Remainder,
) -> Result<(), Arc<str>> {
    let (cus, lines) = (controllers.topology().cus, rest.lines.len());
    let accesses = Accesses::of(controllers);
    let written = LineData([HOST_BYTE; proto::LINE_BYTES_MAX]).masked(accesses.mask);
    let mut rows = BTreeSet::new();
    let mut plain = plain(controllers, slot, rest, &mut rows);
    for line in 0..lines {
        plain.ask(Agent::Host(0), &accesses.store(line, written))?;
    }
    plain.boundary(Boundary::BEGIN, kernel, true)?;
    for (cu, line) in (0..cus).flat_map(|cu| (0..lines).map(move |line| (cu, line))) {
        let data = plain.ask(Agent::Cu(cu), &accesses.load(line))?;
        let read = data.map(|data| plain.stage.controllers.line_of(data).masked(accesses.mask));
        if read != Some(written) {
            return Err(Arc::from(overwritten(cu)));
        }
    }
    plain.rest()
}

/// The error text for a kernel on compute unit `cu` that reads a value which the host has already
/// overwritten.
#[must_use]
pub fn overwritten(cu: u16) -> String {
    format!("after the beginning of a kernel, CU {cu} reads a value that the host has overwritten")
}

/// A driver that carries out the remaining work of a program in one fixed order.
fn plain<'a>(
    controllers: &'a mut Controllers,
    slot: u32,
    rest: Remainder,
    rows: &'a mut BTreeSet<RowId>,
) -> MinimalDriver<Numbers<'a>> {
    let Remainder { stations, timers, lines } = rest;
    MinimalDriver::new(Numbers { controllers, stations, lines, rows }, Slot(slot), timers)
}
