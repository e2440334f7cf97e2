//! The host's operations (accesses, copies and kernel launches). They start in program order.

use kernel::{Action, ArrayInfo, OpId};
use proto::{Addr, Agent, Hosts};

use super::Machine;
use crate::cores::instr::{Instr, Owner, RequestHead};
use crate::engine::Event;
use crate::queue::Cycle;
use crate::reports::error::RunError;
use crate::reports::probe::{Probe, WaveAt};
use crate::reports::progress::BUSY_HOST;

impl<Pr: Probe> Machine<'_, Pr> {
    /// Runs the host code until it waits, and starts the operations that it has posted.
    pub(crate) fn poll_host(&mut self) {
        self.host.poll(&mut self.engine, &mut self.session);
        self.host_next();
    }

    /// Starts the host's next operations, in order, until one of them must wait.
    fn host_next(&mut self) {
        let now = self.engine.now();
        while !self.engine.has_failed()
            && let Some(id) = self.host.next()
        {
            let action = self.session.ops().get(id).action;
            // Every action except a launch and a read of a whole array needs the writes of
            // completed kernels in memory. A read of a whole array also sees dirty bytes in caches:
            // see `read_bytes`.
            let finds_released = !matches!(action, Action::Launch(_) | Action::HostRead);
            if finds_released && self.release_to_host(now) {
                return self.host.wait_for_release(true);
            }
            match action {
                Action::HostWrite | Action::HostRead => {
                    if !self.is_at_rest() && self.kernels.is_idle() {
                        return self.host.drain(now);
                    }
                    self.host.take_next();
                    self.reports.probe.host_issue(now, self.session.ops().get(id));
                    self.copy(id);
                    self.reports.watch.progress(now);
                    self.host_op_done(id);
                }
                Action::Launch(kernel) => {
                    self.host.take_next();
                    self.launch(now, kernel);
                }
                _ => {
                    self.host.begin(id);
                    let each = u64::from(self.system.host.operation_cycles);
                    let work = self.session.ops().get(id).work;
                    let ops = work.0.iter().map(|&n| u64::from(n)).sum::<u64>();
                    self.reports.watch.busy(now, BUSY_HOST, each * (1 + ops));
                    self.engine.at(now + each * (1 + ops), Event::Host);
                }
            }
        }
    }

    /// Makes the host's copy of an array. The copy has waited until nothing was outstanding in the
    /// machine, which is the case now.
    pub(super) fn host_drained(&mut self) {
        self.host.drained(self.engine.now());
        self.host_next();
    }

    /// Continues the host after the writes of the completed kernels were released to it. Memory has
    /// all these writes.
    pub(super) fn released_to_host(&mut self) {
        self.host.wait_for_release(false);
        self.set_between_steps(true);
        self.host_next();
    }

    fn copy(&mut self, id: OpId) {
        let mut ops = self.session.ops();
        let op = ops.get_mut(id);
        match op.action {
            Action::HostWrite => {
                // The bytes are taken out, because the table keeps the record after the operation ends.
                let (base, bulk) = (op.base(), core::mem::take(&mut op.bulk));
                drop(ops);
                match self.stations.fabric().hosts() {
                    // A script of moves begins with all bytes in memory.
                    Hosts::Cached if self.script.is_none() => self.copy_through_controller(base, &bulk),
                    Hosts::Direct | Hosts::Cached => self.memory.write(base, &bulk),
                }
                self.host.wrote();
            }
            _ => {
                let base = op.base();
                let mut bulk = core::mem::take(&mut op.bulk);
                drop(ops);
                self.read_bytes(base, &mut bulk);
                self.session.ops().get_mut(id).bulk = bulk;
            }
        }
    }

    /// Writes an array through the controller of the host, because caches may hold lines of the array.
    fn copy_through_controller(&mut self, to: Addr, bytes: &[u8]) {
        let is_there = |info: &&ArrayInfo| (info.base.0..info.base.0 + info.bytes).contains(&to.0);
        let array = self.session.arrays().iter().find(is_there).map(|info| (info.id, info.name.clone()));
        let (array, name) = array.unwrap_or_default();
        let obstacle = match (self.stations.is_clocked(), self.is_at_rest()) {
            (true, _) => "the controllers read the clock, and a copy takes no time",
            (_, false) => {
                "a kernel runs; expected a copy before or after the kernel, or a store of each word"
            }
            (false, true) => {
                let (fabric, memory) = (self.stations.fabric_mut(), self.memory.bytes_mut());
                return match fabric.host_copy(to, bytes, array, memory) {
                    Ok(timers) => timers.into_iter().for_each(|(station, class)| {
                        self.stations.arm(&mut self.engine, station, class, None);
                    }),
                    Err(why) => self.engine.violate(why),
                };
            }
        };
        let why = format!("the host copies to the array `{name}` through its cache, but {obstacle}");
        self.engine.fail(RunError::Machine(why));
    }

    /// Issues the requests of the timed access that the host makes now.
    #[inline(never)]
    pub(super) fn host_issue(&mut self, now: Cycle) {
        let Some(id) = self.host.current() else { return };
        let ops = self.session.ops();
        let op = ops.get(id);
        let parts = self.cores.split(op);
        let head = RequestHead::of(op, WaveAt::default(), 0, 0, 1);
        self.reports.probe.host_issue(now, op);
        if self.reports.watch.is_examining() {
            let site = (op.site.line(), op.site.column());
            self.reports.watch.examine(now, (u32::MAX, site, op.addr(0).0, op.value(0)));
        }
        if matches!(op.action, Action::Store | Action::Rmw { .. }) {
            self.host.wrote();
        }
        drop(ops);
        let instr = Instr::new(now, Owner::Host(id), head, parts.max(1) as u32);
        let instr = self.cores.add(Instr { op: Some(id), ..instr });
        if parts == 0 {
            return self.queue_order(now, Agent::Host(0), instr);
        }
        self.reports.tally.counts.host_accesses += 1;
        let parts = self.cores.take_parts();
        self.queue_lines(now, Agent::Host(0), instr, &parts);
        self.cores.reuse_parts(parts);
    }

    /// Completes an operation of the host: an access, or the launch of a kernel that has ended.
    pub(super) fn host_completed(&mut self, now: Cycle, id: OpId) {
        debug_assert_eq!(now, self.engine.now());
        self.host_op_done(id);
        self.host_next();
    }

    fn host_op_done(&mut self, id: OpId) {
        let mut ops = self.session.ops();
        self.reports.probe.host_complete(self.engine.now(), ops.get(id));
        ops.complete(id);
        drop(ops);
        if self.host.end(id) {
            self.host.poll(&mut self.engine, &mut self.session);
        }
    }
}
