//! Copies of arrays through the controller of a host, without simulated time.
//!
//! If hosts have caches, a copy must not write memory directly, because caches may hold the lines.

use std::sync::Arc;

use drive::{At, InputOf, MinimalDriver, PendingInputs, StationInput, StationStore};
use proto::{
    Addr, Agent, ArrayId, Boundary, ByteMask, Hints, Issuer, KernelId, Key, LineAddr, LineData, MemoryReply,
    Op, Order, PlanKey, Protocol, Request, Scope, Slot, Symbol as _, TimerClass, Uses, Way,
};

use super::{Fabric as _, MessageId, StationId, Stations, StepEffects};
use crate::memory::bytes::Memory;

/// The stations (controllers) of a machine and its memory, which answers at once.
struct Untimed<'a, P: Protocol> {
    stations: &'a mut Stations<P>,
    memory: &'a mut Memory,
    out: StepEffects,
}

impl<P: Protocol> StationStore for Untimed<'_, P> {
    type Request = Request;
    type Msg = MessageId;
    type Reply = MemoryReply;
    type Data = LineData;

    fn count(&self) -> At {
        self.stations.stations.len() as At
    }

    fn is_clocked(&self) -> bool {
        P::CLOCKED
    }

    fn entry(&self, agent: Agent, key: PlanKey) -> Result<At, String> {
        self.stations.nodes.entry(agent, key)
    }

    fn boundary(
        &self,
        step: Boundary,
        kernel: KernelId,
        host_has_written: bool,
    ) -> Result<Vec<(Agent, At, Request)>, String> {
        self.stations.nodes.boundary(step, kernel, host_has_written)
    }

    fn write(&mut self, request: &Request) -> Request {
        *request
    }

    fn deliver(
        &mut self,
        at: At,
        input: InputOf<Self>,
        ahead: &mut PendingInputs<Self>,
    ) -> Result<(), Arc<str>> {
        let Untimed { stations, memory, out } = self;
        let clock = stations.clock(at);
        match input {
            StationInput::Start => stations.start(at, out),
            StationInput::Request { slot, request } => stations.request(at, slot, &request, out),
            StationInput::Message { msg, .. } => stations.deliver(at, msg, out),
            StationInput::Memory { reply } => stations.memory(at, &reply, clock, out),
            StationInput::Timer(class) => stations.timer(at, class, out),
            StationInput::Evict(way) => stations.evict(at, way, out),
            StationInput::Tick(elapsed) => stations.tick(at, elapsed, out),
        }
        if let Some(why) = out.violation.take() {
            return Err(Arc::from(why));
        }
        for sent in out.sends.drain(..) {
            ahead.push(sent.to, StationInput::Message { from: at, msg: sent.message });
        }
        for op in out.memory.drain(..) {
            let mut bytes = memory.read_line(op.line);
            let reply = drive::serve(&mut bytes, &op);
            memory.write_line(op.line, ByteMask::full(stations.line_bytes as usize), &bytes);
            ahead.push(at, StationInput::Memory { reply });
        }
        out.timers.drain(..).for_each(|class| ahead.arm(at, class));
        out.replies.drain(..).for_each(|(slot, data)| ahead.answer(slot, data));
        out.spends.clear();
        out.uses = Uses::default();
        Ok(())
    }

    fn wanted(&mut self, at: At) -> Option<Way> {
        // Otherwise the station has evicted a way in the step that needed one.
        if !self.stations.holds_ways {
            return None;
        }
        let keys = self.stations.stations[at as usize].parked_keys();
        let waits = keys.iter().any(|(key, _)| matches!(key, Key::Way(_)));
        if waits { self.stations.victim(at) } else { None }
    }
}

/// Writes bytes of an array to an address through the controller of the first host; see
/// [`Fabric::host_copy`](super::Fabric::host_copy).
pub(super) fn write<P: Protocol>(
    stations: &mut Stations<P>,
    (to, bytes): (Addr, &[u8]),
    array: ArrayId,
    memory: &mut Memory,
) -> Result<Vec<(StationId, TimerClass)>, Arc<str>> {
    let line_bytes = u64::from(stations.line_bytes);
    if stations.homes().uses_first_touch() {
        for request in requests((to, bytes), array, line_bytes) {
            let chiplet = stations.homes().interleaved_chiplet(request.line);
            stations.touch(request.line, chiplet);
        }
    }
    let timers = vec![0; stations.stations.len()];
    let coverage = core::mem::take(&mut stations.fx.coverage);
    let untimed = Untimed { stations, memory, out: StepEffects::default() };
    let mut driver = MinimalDriver::new(untimed, Slot(0), timers);
    let written = requests((to, bytes), array, line_bytes).try_for_each(|request| {
        driver.ask(Agent::Host(0), &request)?;
        driver.rest()
    });
    let running = (0..).zip(driver.timers()).flat_map(|(at, &timers)| {
        let classes = TimerClass::ALL.iter().filter(move |class| timers >> class.index() & 1 == 1);
        classes.map(move |&class| (at, class))
    });
    let running = running.collect();
    driver.stage.stations.fx.coverage = coverage;
    written.map(|()| running)
}

/// The stores that write these bytes: one for each line.
fn requests((to, bytes): (Addr, &[u8]), array: ArrayId, line_bytes: u64) -> impl Iterator<Item = Request> {
    let end = to.0 + bytes.len() as u64;
    (to.0 / line_bytes..end.div_ceil(line_bytes)).map(move |line| {
        let base = line * line_bytes;
        let (from, until) = (to.0.max(base), end.min(base + line_bytes));
        let (offset, count) = ((from - base) as usize, (until - from) as usize);
        let mut data = LineData::default();
        data.0[offset..][..count].copy_from_slice(&bytes[(from - to.0) as usize..][..count]);
        Request {
            op: Op::Store,
            order: Order::Plain,
            scope: Scope::SYSTEM,
            issuer: Issuer::default(),
            hints: Hints::default(),
            array,
            line: LineAddr(line),
            mask: ByteMask::range(offset, count),
            data,
        }
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_stores_of_a_copy_cover_its_bytes_line_by_line() {
        let bytes: Vec<u8> = (1..=20).collect();
        let of = |to: u64, count: usize| {
            let requests = requests((Addr(to), &bytes[..count]), ArrayId(3), 8);
            requests.map(|r| (r.line.0, r.mask, r.data.0[..8].to_vec())).collect::<Vec<_>>()
        };
        assert_eq!(of(16, 8), [(2, ByteMask::full(8), vec![1, 2, 3, 4, 5, 6, 7, 8])]);
        assert_eq!(
            of(6, 11),
            [
                (0, ByteMask::range(6, 2), vec![0, 0, 0, 0, 0, 0, 1, 2]),
                (1, ByteMask::full(8), vec![3, 4, 5, 6, 7, 8, 9, 10]),
                (2, ByteMask::range(0, 1), vec![11, 0, 0, 0, 0, 0, 0, 0]),
            ]
        );
        assert!(of(8, 0).is_empty());
    }
}
