//! Kernels: launched one after the other, in the order of their launches, and
//! dispatched work-group by work-group as the machine has room.
//!
//! A kernel begins with an acquire for the whole GPU and one on each compute
//! unit, and ends with a release on each. The release of the whole GPU to the
//! host follows at once, or when the host next accesses memory, as the machine
//! has it.

use std::collections::VecDeque;
use std::rc::Rc;

use kernel::rng::Rng;
use kernel::{Coords, Launch, OpId, Placement};
use proto::issue::{Issue, IssueId};
use proto::{Agent, ArrayId, Boundary, Hints, KernelId, Op, Scope, Width};

use super::access::{AskHead, Instr, Phase};
use super::wave::Stage;
use super::{Machine, Owner};
use crate::config::{EndOfKernel, System};
use crate::engine::Event;
use crate::queue::Cycle;
use crate::reports::attribution::Cause;
use crate::reports::error::RunError;
use crate::reports::outcome::KernelTime;
use crate::reports::probe::{Probe, WaveAt};
use crate::reports::spent::Beside;

/// A work-group on the machine.
#[derive(Debug)]
pub(super) struct Group {
    pub(super) number: u32,
    pub(super) waves: u32,
    pub(super) ended: u32,
    pub(super) lds: Vec<u8>,
    /// The barrier instructions of the wavefronts that wait.
    pub(super) at_barrier: Vec<u32>,
}

/// How far a kernel is.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Step {
    /// The command processor prepares it.
    Launching,
    /// The requests of a boundary are under way.
    Boundary(Boundary),
    /// Work-groups run.
    Running,
}

#[derive(Debug)]
pub(super) struct Current {
    pub(super) launch: Rc<Launch>,
    pub(super) step: Step,
    pub(super) next_group: u32,
    live_groups: u32,
    /// Boundary requests not yet answered.
    due: u32,
    is_dispatching: bool,
    from: Cycle,
}

/// Kernels and their dispatch.
#[derive(Debug)]
pub(super) struct Kernels {
    pub(super) queue: VecDeque<Rc<Launch>>,
    pub(super) current: Option<Current>,
    pub(super) times: Vec<KernelTime>,
    /// The order in which compute units are tried.
    order: Vec<u32>,
    next_cu: usize,
    waves_started: u64,
    /// Draws the start skew; none for seed 0.
    skew: Option<Rng>,
    /// Has the host written since the last kernel began?
    pub(super) host_has_written: bool,
    /// The last kernel, if it has not been released to the host.
    pub(super) unreleased: Option<KernelId>,
}

/// Wavefronts start up to so many cycles later, as the seed wants.
const SKEW_CYCLES: u64 = 16;

impl Kernels {
    pub(super) fn new(system: &System, seed: u64) -> Kernels {
        let mut order: Vec<u32> = (0..system.cu.count).collect();
        let mut rng = Rng::new(seed);
        if seed != 0 {
            for last in (1..order.len()).rev() {
                order.swap(last, rng.below(last as u64 + 1) as usize);
            }
        }
        Kernels {
            queue: VecDeque::new(),
            current: None,
            times: Vec::new(),
            order,
            next_cu: 0,
            waves_started: 0,
            skew: (seed != 0).then_some(rng),
            host_has_written: false,
            unreleased: None,
        }
    }

    /// Does no kernel run or wait?
    pub(super) fn is_idle(&self) -> bool {
        self.current.is_none() && self.queue.is_empty()
    }
}

impl Current {
    /// Where it stands, in words.
    pub(super) fn describe(&self) -> &'static str {
        match self.step {
            Step::Launching => "is being launched",
            Step::Boundary(Boundary::BeginMachine | Boundary::BeginCus) => {
                "waits for the acquire at its beginning"
            }
            Step::Running => "runs",
            Step::Boundary(Boundary::EndCus | Boundary::EndMachine) => "waits for the release at its end",
        }
    }
}

impl<Pr: Probe> Machine<'_, Pr> {
    /// The host launches a kernel.
    pub(super) fn launch(&mut self, now: Cycle, kernel: KernelId) {
        let launch = self.session.launch(kernel);
        self.reports.probe.launch(now, kernel, &launch.name);
        self.stations.fabric_mut().add_kernel(&launch.uses);
        self.kernels.queue.push_back(launch);
        if self.kernels.current.is_none() {
            self.next_kernel(now);
        }
    }

    fn next_kernel(&mut self, now: Cycle) {
        let Some(launch) = self.kernels.queue.pop_front() else { return };
        self.kernels.current = Some(Current {
            launch,
            step: Step::Launching,
            next_group: 0,
            live_groups: 0,
            due: 0,
            is_dispatching: false,
            from: now,
        });
        self.reports.watch.progress(now);
        self.reports.times.launching(now);
        let launch = u64::from(self.system.launch.kernel_cycles);
        self.reports.watch.busy(now, super::LAUNCH_IS_BUSY, launch);
        self.engine.at(now + launch, Event::Launch);
    }

    pub(super) fn begin_kernel(&mut self, now: Cycle) {
        self.reports.times.step_done(now, Cause::Launch);
        let written = self.host_has_written();
        self.turn(true);
        self.boundary(now, Boundary::BeginMachine, written);
    }

    /// Sends the requests of a kernel boundary: one from the command processor,
    /// or one from each compute unit.
    fn boundary(&mut self, now: Cycle, step: Boundary, host_has_written: bool) {
        let Some(current) = &mut self.kernels.current else { return };
        let kernel = current.launch.kernel;
        current.step = Step::Boundary(step);
        let agents: Vec<_> = step.agents(self.system.cu.count as u16).collect();
        current.due = agents.len() as u32;
        let (op, scope) = (step.op(kernel), step.scope(host_has_written));
        for (number, agent) in (0..).zip(agents) {
            let instr = self.boundary_instr(now, Owner::Kernel(kernel), op, scope);
            self.ask_led(now, number, agent, instr);
        }
    }

    /// A request as at the boundary of a kernel.
    pub(super) fn boundary_instr(&mut self, now: Cycle, owner: Owner, op: Op, scope: Scope) -> u32 {
        let ask = AskHead {
            op,
            order: Boundary::ORDER,
            scope,
            hints: Hints::default(),
            array: ArrayId(0),
            width: Width::W4,
            wavefront: 0,
            work_group: 0,
        };
        self.instrs.insert(Instr {
            owner,
            op: None,
            issue: IssueId(0),
            phase: Phase::Simple,
            left: 1,
            done_at: now,
            issued_at: now,
            ask,
            kept: None,
            spent: Beside::default(),
            spent_now: Beside::default(),
        })
    }

    /// Releases to the host what kernels have written so far. Must it wait?
    pub(super) fn release_to_host(&mut self, now: Cycle) -> bool {
        if self.stays_unreleased() {
            return false;
        }
        let Some(last) = self.kernels.unreleased.take() else { return false };
        let step = Boundary::EndMachine;
        let instr = self.boundary_instr(now, Owner::Release, step.op(last), step.scope(false));
        self.ask_led(now, 0, Agent::CommandProcessor, instr);
        true
    }

    /// A boundary request is answered.
    pub(super) fn boundary_done(&mut self, now: Cycle) {
        let Some(current) = &mut self.kernels.current else { return };
        current.due -= 1;
        if current.due > 0 {
            return;
        }
        self.turn(true);
        let Some(current) = &mut self.kernels.current else { return };
        match current.step {
            Step::Launching | Step::Running => {}
            Step::Boundary(Boundary::BeginMachine) => self.boundary(now, Boundary::BeginCus, false),
            Step::Boundary(Boundary::BeginCus) => {
                self.reports.times.step_done(now, Cause::Acquire);
                let grid = current.launch.grid;
                current.step = Step::Running;
                if grid.work_groups == 0 || grid.waves == 0 {
                    return self.boundary(now, Boundary::EndCus, false);
                }
                current.is_dispatching = true;
                self.engine.at(now, Event::Dispatch);
            }
            Step::Boundary(Boundary::EndCus) if self.system.launch.end_of_kernel == EndOfKernel::System => {
                self.boundary(now, Boundary::EndMachine, false);
            }
            Step::Boundary(Boundary::EndCus) => {
                self.kernels.unreleased = Some(current.launch.kernel);
                self.reports.times.step_done(now, Cause::Release);
                self.end_kernel(now);
            }
            Step::Boundary(Boundary::EndMachine) => {
                self.reports.times.step_done(now, Cause::Release);
                self.end_kernel(now);
            }
        }
    }

    fn end_kernel(&mut self, now: Cycle) {
        let Some(current) = self.kernels.current.take() else { return };
        let name = current.launch.name.clone();
        self.reports.tally.counts.kernels += 1;
        self.reports.watch.progress(now);
        self.reports.probe.kernel(&name, current.from, now);
        self.kernels.times.push(KernelTime { name, from: current.from, until: now });
        let op: OpId = current.launch.op;
        self.next_kernel(now);
        self.host_completed(now, op);
    }

    /// Places the next work-group, if there is room for it.
    #[inline(never)]
    pub(super) fn dispatch(&mut self, now: Cycle) {
        let Some(current) = &mut self.kernels.current else { return };
        current.is_dispatching = false;
        let launch = current.launch.clone();
        let grid = launch.grid;
        if current.next_group == grid.work_groups {
            return;
        }
        let number = current.next_group;
        let Some(cu) = self.find_room(&launch) else { return };
        let Some(current) = &mut self.kernels.current else { return };
        current.next_group += 1;
        current.live_groups += 1;
        if current.next_group < grid.work_groups {
            current.is_dispatching = true;
            let interval = u64::from(self.system.launch.work_group_interval_cycles);
            self.engine.at(now + interval, Event::Dispatch);
        }
        self.reports.tally.counts.work_groups += 1;
        let group = self.groups.insert(Group {
            number,
            waves: grid.waves,
            ended: 0,
            lds: vec![0; grid.lds_bytes as usize],
            at_barrier: Vec::new(),
        });
        let unit = &mut self.cus[cu as usize];
        unit.groups += 1;
        unit.lds_bytes += u64::from(grid.lds_bytes);
        for wave in 0..grid.waves {
            self.start_in_slot(now, cu, group, wave, &launch);
        }
    }

    /// Puts a wavefront into the lowest free slot.
    fn start_in_slot(&mut self, now: Cycle, cu: u32, group: u32, wave: u32, launch: &Launch) {
        let Some(slot) = self.cus[cu as usize].free_slots.pop() else { return };
        let Some(number) = self.groups.get(group).map(|g| g.number) else { return };
        let at = Coords { work_group: number, wave, compute_unit: cu };
        let task = self.session.spawn(launch.kernel, at);
        let index = cu * self.system.cu.wavefront_slots + slot;
        let place = &mut self.waves[index as usize];
        place.task = Some(task);
        place.at = WaveAt { cu, slot, kernel: launch.kernel, work_group: number, wave };
        place.group = group;
        place.age = self.kernels.waves_started;
        place.stage = Stage::Idle;
        place.ended = false;
        debug_assert!(place.issue.is_idle() && place.outstanding == 0);
        place.issue = Issue::new(self.system.issue_rule.into());
        self.kernels.waves_started += 1;
        let skew = self.kernels.skew.as_mut().map_or(0, |rng| rng.below(SKEW_CYCLES));
        let start = now + u64::from(self.system.launch.wavefront_cycles) + skew;
        self.engine.at(start, Event::WaveStart(index));
    }

    /// The compute unit that takes the next work-group.
    fn find_room(&mut self, launch: &Launch) -> Option<u32> {
        let grid = launch.grid;
        let system = self.system;
        let cus = &self.cus;
        let has_room = |cu: &u32| {
            let unit = &cus[*cu as usize];
            unit.free_slots.len() >= grid.waves as usize
                && unit.groups < system.cu.work_group_slots
                && unit.lds_bytes + u64::from(grid.lds_bytes) <= system.lds.bytes
        };
        match grid.placement {
            Placement::Pack => (0..system.cu.count).find(has_room),
            Placement::Spread => {
                let order = &self.kernels.order;
                let first = self.kernels.next_cu;
                let at =
                    (0..order.len()).map(|i| (first + i) % order.len()).find(|&i| has_room(&order[i]))?;
                self.kernels.next_cu = (at + 1) % order.len();
                Some(self.kernels.order[at])
            }
        }
    }

    /// A wavefront has retired: its slot is free, and perhaps its work-group's place.
    pub(super) fn wave_left(&mut self, now: Cycle, at: WaveAt, number: u32) {
        let unit = &mut self.cus[at.cu as usize];
        unit.free(at.slot);
        let Some(group) = self.groups.get_mut(number) else { return };
        group.ended += 1;
        let Some(current) = &mut self.kernels.current else { return };
        if group.ended == group.waves {
            unit.groups -= 1;
            unit.lds_bytes -= group.lds.len() as u64;
            self.groups.remove(number);
            current.live_groups -= 1;
        }
        if current.next_group < current.launch.grid.work_groups {
            if !current.is_dispatching {
                current.is_dispatching = true;
                self.engine.at(now, Event::Dispatch);
            }
        } else if current.live_groups == 0 {
            if let Err(why) = self.reports.times.kernel_ran(now) {
                return self.engine.fail(RunError::Unreconciled(why));
            }
            self.boundary(now, Boundary::EndCus, false);
        }
    }
}
