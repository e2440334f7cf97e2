//! Kernels. They run one at a time, in launch order. The command processor dispatches a work-group
//! as soon as a compute unit has room.
//!
//! A kernel begins with an acquire for the whole GPU, and then one on each compute unit. It ends
//! with a release on each compute unit. Its writes are then released to the host: at once, or when
//! the host next accesses memory. The machine description selects one of the two.

pub(crate) mod host;

use std::collections::VecDeque;
use std::rc::Rc;

use kernel::rng::Rng;
use kernel::{Launch, OpId, Placement, Session};
use proto::{Agent, Boundary, KernelId};

use crate::config::{EndOfKernel, System};
use crate::cores::Cores;
use crate::engine::{Engine, Event};
use crate::queue::Cycle;
use crate::reports::Reports;
use crate::reports::attribution::Cause;
use crate::reports::outcome::KernelTime;
use crate::reports::probe::Probe;
use crate::reports::progress::BUSY_LAUNCH;

/// The phase of the kernel that is launched, runs or ends now.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum KernelPhase {
    /// The launch latency has not passed yet.
    Launching,
    /// The kernel is in this step of its beginning or end: some acquire or release request of the
    /// step is not answered yet.
    Boundary(Boundary),
    /// Work-groups of the kernel run.
    Running,
}

/// The kernel that is launched, runs or ends now.
#[derive(Debug)]
pub(crate) struct CurrentKernel {
    pub(crate) launch: Rc<Launch>,
    pub(crate) phase: KernelPhase,
    next_group: u32,
    live_groups: u32,
    /// The number of acquire or release requests of the kernel's current step that are not answered
    /// yet.
    due: u32,
    is_dispatching: bool,
    from: Cycle,
}

impl CurrentKernel {
    /// The phase of the kernel as text, for the diagnosis of a run that does not finish.
    pub(crate) fn describe(&self) -> &'static str {
        match self.phase {
            KernelPhase::Launching => "is being launched",
            KernelPhase::Boundary(Boundary::BeginMachine | Boundary::BeginCus) => {
                "waits for the acquire at its beginning"
            }
            KernelPhase::Running => "runs",
            KernelPhase::Boundary(Boundary::EndCus | Boundary::EndMachine) => {
                "waits for the release at its end"
            }
        }
    }

    /// The number of work-groups that are not dispatched yet.
    pub(crate) fn groups_left(&self) -> u32 {
        self.launch.grid.work_groups - self.next_group
    }
}

/// The step that follows the current phase of a kernel.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum NextPhase {
    /// No step follows yet: the kernel must wait.
    Wait,
    /// The requests of this step of the kernel's beginning or end come next.
    Boundary(Boundary),
    /// The kernel has ended, which completes this operation of the host: the launch.
    Ended(OpId),
}

/// The kernels of a run and their dispatch.
#[derive(Debug)]
pub(crate) struct Kernels<'a> {
    system: &'a System,
    queue: VecDeque<Rc<Launch>>,
    current: Option<CurrentKernel>,
    times: Vec<KernelTime>,
    /// The order in which compute units are tried for the next work-group. The seed of the run
    /// shuffles this order.
    order: Vec<u32>,
    next_cu: usize,
    waves_started: u64,
    /// A source of random numbers for the extra cycles before a wavefront starts. `None` if the
    /// seed of the run is 0: no wavefront then starts late.
    skew: Option<Rng>,
    /// The last kernel that has ended, unless its writes have been released to the host.
    unreleased: Option<KernelId>,
}

/// The number of extra cycles before a wavefront starts is below this limit. The seed of the run
/// determines the number for each wavefront.
const SKEW_CYCLES: u64 = 16;

impl<'a> Kernels<'a> {
    pub(crate) fn new(system: &'a System, seed: u64) -> Kernels<'a> {
        let mut order: Vec<u32> = (0..system.cu.count).collect();
        let mut rng = Rng::new(seed);
        if seed != 0 {
            for last in (1..order.len()).rev() {
                order.swap(last, rng.below(last as u64 + 1) as usize);
            }
        }
        Kernels {
            system,
            queue: VecDeque::new(),
            current: None,
            times: Vec::new(),
            order,
            next_cu: 0,
            waves_started: 0,
            skew: (seed != 0).then_some(rng),
            unreleased: None,
        }
    }

    /// Whether no kernel runs and none is queued.
    pub(crate) fn is_idle(&self) -> bool {
        self.current.is_none() && self.queue.is_empty()
    }

    /// The kernel that is launched, runs or ends now. `None` if there is no such kernel.
    pub(crate) fn current(&self) -> Option<&CurrentKernel> {
        self.current.as_ref()
    }

    /// The number of the kernel that is launched, runs or ends now. `None` if there is no such
    /// kernel.
    pub(crate) fn number(&self) -> Option<KernelId> {
        self.current.as_ref().map(|current| current.launch.kernel)
    }

    /// The launched kernels that wait for the end of the current one.
    pub(crate) fn waiting(&self) -> impl Iterator<Item = &Launch> {
        self.queue.iter().map(|launch| &**launch)
    }

    /// The times of the kernels that have ended, in the order in which they ran.
    pub(crate) fn into_times(self) -> Vec<KernelTime> {
        self.times
    }

    /// The last kernel that has ended, unless its writes have been released to the host.
    pub(crate) fn unreleased(&self) -> Option<KernelId> {
        self.unreleased
    }

    /// Returns the last kernel that has ended, unless its writes have been released to the host.
    /// The caller begins this release now, so the kernel no longer counts as unreleased.
    pub(crate) fn take_unreleased(&mut self) -> Option<KernelId> {
        self.unreleased.take()
    }

    /// Queues a kernel. It runs after the kernels that were launched before it.
    pub(crate) fn launch<Pr: Probe>(
        &mut self,
        engine: &mut Engine,
        reports: &mut Reports<'_, Pr>,
        launch: Rc<Launch>,
    ) {
        self.queue.push_back(launch);
        if self.current.is_none() {
            self.begin_next(engine, reports);
        }
    }

    fn begin_next<Pr: Probe>(&mut self, engine: &mut Engine, reports: &mut Reports<'_, Pr>) {
        let Some(launch) = self.queue.pop_front() else { return };
        let now = engine.now();
        self.current = Some(CurrentKernel {
            launch,
            phase: KernelPhase::Launching,
            next_group: 0,
            live_groups: 0,
            due: 0,
            is_dispatching: false,
            from: now,
        });
        reports.watch.progress(now);
        reports.times.launching(now);
        let launch = u64::from(self.system.launch.kernel_cycles);
        reports.watch.busy(now, BUSY_LAUNCH, launch);
        engine.at(now + launch, Event::Launch);
    }

    /// Moves the current kernel to a step of its beginning or end. Returns the kernel, and the
    /// agents that make the acquire or release requests of that step.
    pub(crate) fn enter_boundary(&mut self, step: Boundary) -> Option<(KernelId, Vec<Agent>)> {
        let current = self.current.as_mut()?;
        current.phase = KernelPhase::Boundary(step);
        let agents: Vec<_> = step.agents(self.system.cu.count as u16).collect();
        current.due = agents.len() as u32;
        Some((current.launch.kernel, agents))
    }

    /// Records the answer to an acquire or release request at the kernel's beginning or end.
    /// Returns true if no other request is outstanding.
    pub(crate) fn answered(&mut self) -> bool {
        let Some(current) = &mut self.current else { return false };
        current.due -= 1;
        current.due == 0
    }

    /// Ends the current phase of the kernel, whose requests are all answered. Returns the next
    /// step.
    pub(crate) fn phase_done<Pr: Probe>(
        &mut self,
        engine: &mut Engine,
        reports: &mut Reports<'_, Pr>,
    ) -> NextPhase {
        let Some(current) = &mut self.current else { return NextPhase::Wait };
        let now = engine.now();
        match current.phase {
            KernelPhase::Launching | KernelPhase::Running => NextPhase::Wait,
            KernelPhase::Boundary(Boundary::BeginMachine) => NextPhase::Boundary(Boundary::BeginCus),
            KernelPhase::Boundary(Boundary::BeginCus) => {
                reports.times.phase_done(now, Cause::Acquire);
                let grid = current.launch.grid;
                current.phase = KernelPhase::Running;
                if grid.work_groups == 0 || grid.waves == 0 {
                    return NextPhase::Boundary(Boundary::EndCus);
                }
                current.is_dispatching = true;
                engine.at(now, Event::Dispatch);
                NextPhase::Wait
            }
            KernelPhase::Boundary(Boundary::EndCus)
                if self.system.launch.end_of_kernel == EndOfKernel::System =>
            {
                NextPhase::Boundary(Boundary::EndMachine)
            }
            KernelPhase::Boundary(Boundary::EndCus) => {
                self.unreleased = Some(current.launch.kernel);
                self.end(engine, reports)
            }
            KernelPhase::Boundary(Boundary::EndMachine) => self.end(engine, reports),
        }
    }

    fn end<Pr: Probe>(&mut self, engine: &mut Engine, reports: &mut Reports<'_, Pr>) -> NextPhase {
        let Some(current) = self.current.take() else { return NextPhase::Wait };
        let now = engine.now();
        reports.times.phase_done(now, Cause::Release);
        let name = current.launch.name.clone();
        reports.tally.counts.kernels += 1;
        reports.watch.progress(now);
        reports.probe.kernel(&name, current.from, now);
        self.times.push(KernelTime { name, from: current.from, until: now });
        self.begin_next(engine, reports);
        NextPhase::Ended(current.launch.op)
    }

    /// Places the next work-group on a compute unit, if one has room.
    #[inline(never)]
    pub(crate) fn dispatch<Pr: Probe>(
        &mut self,
        engine: &mut Engine,
        reports: &mut Reports<'_, Pr>,
        session: &Session,
        cores: &mut Cores<'_>,
    ) {
        let Some(current) = &mut self.current else { return };
        current.is_dispatching = false;
        let launch = current.launch.clone();
        let grid = launch.grid;
        if current.next_group == grid.work_groups {
            return;
        }
        let number = current.next_group;
        let Some(cu) = self.find_room(cores, &launch) else { return };
        let Some(current) = &mut self.current else { return };
        current.next_group += 1;
        current.live_groups += 1;
        let now = engine.now();
        if current.next_group < grid.work_groups {
            current.is_dispatching = true;
            let interval = u64::from(self.system.launch.work_group_interval_cycles);
            engine.at(now + interval, Event::Dispatch);
        }
        reports.tally.counts.work_groups += 1;
        let group = cores.admit(cu, number, &grid);
        for wave in 0..grid.waves {
            let placed = cores.place(session, &launch, (cu, group), wave, self.waves_started);
            let Some(slot) = placed else { return };
            self.waves_started += 1;
            let skew = self.skew.as_mut().map_or(0, |rng| rng.below(SKEW_CYCLES));
            let start = now + u64::from(self.system.launch.wavefront_cycles) + skew;
            engine.at(start, Event::WaveStart(slot));
        }
    }

    /// Finds a compute unit that has room for the next work-group of `launch`. `None` if no unit
    /// has room.
    fn find_room(&mut self, cores: &Cores<'_>, launch: &Launch) -> Option<u32> {
        let has_room = |cu: u32| cores.has_room(cu, &launch.grid);
        match launch.grid.placement {
            Placement::Pack => (0..self.system.cu.count).find(|&cu| has_room(cu)),
            Placement::Spread => {
                let count = self.order.len();
                let mut tried = (0..count).map(|i| (self.next_cu + i) % count);
                let at = tried.find(|&at| has_room(self.order[at]))?;
                self.next_cu = (at + 1) % count;
                Some(self.order[at])
            }
        }
    }

    /// Records that a wavefront has retired. `has_group_ended` tells whether its work-group has
    /// ended. Returns true if all wavefronts of the kernel have retired.
    pub(crate) fn wave_left(&mut self, engine: &mut Engine, has_group_ended: bool) -> bool {
        let Some(current) = &mut self.current else { return false };
        current.live_groups -= u32::from(has_group_ended);
        if current.groups_left() == 0 {
            return current.live_groups == 0;
        }
        if !current.is_dispatching {
            current.is_dispatching = true;
            engine.at(engine.now(), Event::Dispatch);
        }
        false
    }
}
