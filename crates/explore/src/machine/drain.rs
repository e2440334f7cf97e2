//! The end of a program. The host reads memory after the last kernel of the program. Then the host
//! writes, and a further kernel checks that it reads the host's writes.
//!
//! The requests at the end of the last kernel are the same as in the simulator. Their messages are
//! delivered in one fixed order, because no thread of the program runs any more. A node may answer
//! a request while some of the work for the request remains. The remaining work is done as late as
//! possible.

use std::collections::BTreeSet;
use std::sync::Arc;

use drive::{At, MinimalDriver, PendingInputs, StationStore};
use proto::{
    Agent, ArrayId, Boundary, ByteMask, Hints, Issuer, KernelId, LineAddr, LineData, Op, Order, PlanKey,
    Request, RowId, Scope, Slot, Symbol as _, TimerClass, Way,
};

use crate::machine::controllers::{Controllers, StationInput};
use crate::machine::kernels::array_of;

/// The byte that the host writes to every byte of memory. No word of a program has this value.
const HOST_BYTE: u8 = 0xb7;

/// The plan keys (operation, order, scope and hints) of the requests at the end of kernels.
pub(crate) fn end_keys() -> impl Iterator<Item = PlanKey> {
    Boundary::END.into_iter().map(|step| PlanKey::of(&step.request(KernelId(0), true)))
}

/// An ordinary access to the bytes `mask` of a line of an array.
fn access(op: Op, (line, array): (usize, ArrayId), mask: ByteMask, data: LineData) -> Request {
    Request {
        op,
        order: Order::Plain,
        scope: Scope::DEVICE,
        issuer: Issuer::default(),
        hints: Hints::default(),
        array,
        line: LineAddr(line as u64),
        mask,
        data,
    }
}

/// The stations (controllers with their parked inputs) and the lines of memory that remain after a
/// program.
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

/// Makes the requests of the end of a kernel. Returns the stations (controllers with their parked
/// inputs) and the lines of memory after the end. Fails if a write reaches memory after the last of
/// these requests is answered.
pub(crate) fn end(
    controllers: &mut Controllers,
    slot: u32,
    kernel: KernelId,
    rest: Remainder,
    rows: &mut BTreeSet<RowId>,
) -> Result<Remainder, Arc<str>> {
    let mut plain = plain(controllers, slot, rest, rows);
    plain.boundary(Boundary::END, kernel, true)?;
    let lines = plain.stage.lines.clone();
    plain.rest()?;
    let timers = plain.timers().to_vec();
    match lines == plain.stage.lines {
        true => Ok(Remainder { stations: plain.stage.stations, timers, lines }),
        false => Err(Arc::from("a write reaches memory after the end of the kernel")),
    }
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
    let mask = ByteMask::full(usize::from(controllers.topology().line_bytes));
    let written = LineData([HOST_BYTE; proto::LINE_BYTES_MAX]).masked(mask);
    let mut rows = BTreeSet::new();
    let has_arrays = !controllers.kernels().is_empty();
    let of = |line: usize| {
        let array = if has_arrays { array_of(LineAddr(line as u64)) } else { ArrayId(0) };
        (line, array)
    };
    let mut plain = plain(controllers, slot, rest, &mut rows);
    for line in 0..lines {
        plain.ask(Agent::Host(0), &access(Op::Store, of(line), mask, written))?;
    }
    plain.boundary(Boundary::BEGIN, kernel, true)?;
    for (cu, line) in (0..cus).flat_map(|cu| (0..lines).map(move |line| (cu, line))) {
        let data = plain.ask(Agent::Cu(cu), &access(Op::Load, of(line), mask, LineData::default()))?;
        let read = data.map(|data| plain.stage.controllers.line_of(data).masked(mask));
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
