//! A functional executor: it runs programs without time and without caches.
//!
//! One flat memory performs one operation at a time, so every run is sequentially consistent.
//! Agents take turns, or the next agent is drawn from a seed. Work-groups for which the machine has
//! no room start when others end. Use the executor to develop and test workloads. It gives no
//! information about protocols or cost.

mod declared;
mod error;
mod memory;
mod observer;

use std::collections::VecDeque;
use std::rc::Rc;

use proto::KernelId;

pub use error::{Awaited, RunError, Stuck, StuckCause, Wait};
use memory::FlatMemory;
pub use observer::{Issue, Observer};

use crate::answer::Answer;
use crate::fault::Issuer;
use crate::host::Program;
use crate::launch::{Launch, Placement, Shape};
use crate::op::{Action, OpId, Site, Space};
use crate::rng::Rng;
use crate::session::{Polled, Session, WaveTask};
use crate::wave::Coords;
use crate::work::Work;

/// The rule that chooses the agent (the host or a wavefront) that performs the next operation.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Schedule {
    /// All agents that can perform an operation take turns.
    #[default]
    RoundRobin,
    /// The next agent is drawn at random, with this seed.
    Seeded(u64),
}

/// The options of a run.
#[derive(Clone, Copy, Debug)]
pub struct Options {
    /// The parameters of the machine that programs can read.
    pub shape: Shape,
    /// The rule that chooses the agent that performs the next operation.
    pub schedule: Schedule,
    /// The number of operations without progress after which the run counts as stuck. Progress is a
    /// change of a byte of memory, a write or a launch by the host, or the end of a wavefront or of
    /// the host code.
    pub idle_steps_max: u64,
    /// The maximum number of operations of the run.
    pub steps_max: u64,
    /// Whether an access that its kernel has not declared is a fault.
    pub checks_uses: bool,
}

impl Default for Options {
    fn default() -> Self {
        Options {
            shape: Shape::default(),
            schedule: Schedule::RoundRobin,
            idle_steps_max: 4_000_000,
            steps_max: 1_000_000_000,
            checks_uses: false,
        }
    }
}

/// The result of a run that reached the end of its program.
#[derive(Clone, Debug, PartialEq)]
pub struct Outcome {
    /// The program's answer.
    pub answer: Answer,
    /// The number of performed operations.
    pub steps: u64,
    /// The sum of the arithmetic of all wavefronts.
    pub work: Work,
}

/// Runs a program to its end.
///
/// # Errors
/// If the program has an error or makes no progress.
pub fn run(program: Program, options: &Options) -> Result<Outcome, RunError> {
    run_observed(program, options, &mut ())
}

/// Runs a program to its end. The observer sees its launches and operations.
///
/// # Errors
/// If the program has an error or makes no progress.
pub fn run_observed(
    program: Program,
    options: &Options,
    observer: &mut dyn Observer,
) -> Result<Outcome, RunError> {
    Run::new(program, options, observer).run()
}

/// An agent: the host or a wavefront.
#[derive(Debug)]
struct Agent {
    /// The wavefront, until it has ended. `None` for the host.
    task: Option<WaveTask>,
    /// The index of the agent's work-group in `Run::groups`, and the coordinates of the wavefront.
    /// `None` for the host.
    place: Option<(usize, Coords)>,
    /// The operations that the agent has posted and that are not performed yet.
    queue: VecDeque<OpId>,
    waits_for: Option<OpId>,
    /// The barrier operation at which the agent waits, and its place in the source.
    held: Option<(OpId, Site)>,
    last_site: Option<Site>,
    ended: bool,
}

/// A work-group that was dispatched and has not ended.
#[derive(Debug)]
struct Group {
    launch: Rc<Launch>,
    cu: usize,
    lds: FlatMemory,
    /// The indices of the agents that wait at the barrier of the work-group.
    at_barrier: Vec<usize>,
    ended: u32,
}

/// A kernel, some of whose wavefronts have not ended.
#[derive(Debug)]
struct RunningKernel {
    launch: Rc<Launch>,
    dispatched: u32,
    ended: u32,
}

#[derive(Clone, Copy, Debug, Default)]
struct Cu {
    groups: u32,
    waves: u32,
    lds_bytes: u32,
}

struct Run<'a> {
    options: &'a Options,
    observer: &'a mut dyn Observer,
    session: Session,
    memory: FlatMemory,
    agents: Vec<Agent>,
    /// The indices of the agents that have not ended, in the order of dispatch.
    live: Vec<usize>,
    free_agents: Vec<usize>,
    groups: Vec<Option<Group>>,
    running: Vec<RunningKernel>,
    cus: Vec<Cu>,
    cu_next: usize,
    rng: Option<Rng>,
    turn: usize,
    steps: u64,
    idle_steps: u64,
    /// Whether a dispatch may be possible: a work-group has ended since the last attempt, or a
    /// kernel was launched.
    may_dispatch: bool,
    work: Work,
}

const HOST: usize = 0;

/// The wavefront at `place` in the form that observers see. `None` stands for the host.
fn issue(groups: &[Option<Group>], place: Option<(usize, Coords)>) -> Option<Issue> {
    let (slot, at) = place?;
    let kernel = groups[slot].as_ref()?.launch.kernel;
    Some(Issue { kernel, at })
}

impl<'a> Run<'a> {
    fn new(program: Program, options: &'a Options, observer: &'a mut dyn Observer) -> Self {
        let host = Agent {
            task: None,
            place: None,
            queue: VecDeque::new(),
            waits_for: None,
            held: None,
            last_site: None,
            ended: false,
        };
        Run {
            options,
            observer,
            session: Session::new(program, options.shape),
            memory: FlatMemory::default(),
            agents: vec![host],
            live: vec![HOST],
            free_agents: Vec::new(),
            groups: Vec::new(),
            running: Vec::new(),
            cus: vec![Cu::default(); options.shape.compute_units as usize],
            cu_next: 0,
            rng: match options.schedule {
                Schedule::RoundRobin => None,
                Schedule::Seeded(seed) => Some(Rng::new(seed)),
            },
            turn: 0,
            steps: 0,
            idle_steps: 0,
            may_dispatch: false,
            work: Work::default(),
        }
    }

    fn run(mut self) -> Result<Outcome, RunError> {
        self.poll(HOST)?;
        while let Some(agent) = self.next_agent() {
            self.step(agent)?;
            if core::mem::take(&mut self.may_dispatch) {
                self.dispatch()?;
            }
            if self.idle_steps > self.options.idle_steps_max {
                return Err(self.stuck(StuckCause::NoProgress { steps: self.idle_steps }));
            }
            if self.steps > self.options.steps_max {
                return Err(self.stuck(StuckCause::TooLong { steps: self.steps }));
            }
        }
        match self.session.answer() {
            Some(answer) if self.live.is_empty() => {
                Ok(Outcome { answer: answer.clone(), steps: self.steps, work: self.work })
            }
            _ => Err(self.stuck(StuckCause::Deadlock)),
        }
    }

    /// The next agent with an operation that can be performed. `None` if there is no such agent.
    fn next_agent(&mut self) -> Option<usize> {
        let count = self.live.len();
        let start = match &mut self.rng {
            Some(rng) => rng.below(count as u64) as usize,
            None => self.turn,
        };
        for offset in 0..count {
            let position = (start + offset) % count;
            let agent = &self.agents[self.live[position]];
            if agent.held.is_none() && !agent.queue.is_empty() {
                self.turn = position + 1;
                return Some(self.live[position]);
            }
        }
        None
    }

    /// Performs the next operation of an agent. Resumes the agent if it was waiting for this
    /// operation.
    fn step(&mut self, index: usize) -> Result<(), RunError> {
        let Some(id) = self.agents[index].queue.pop_front() else { return Ok(()) };
        self.steps += 1;
        self.idle_steps += 1;
        let mut ops = self.session.ops();
        let op = ops.get_mut(id);
        self.agents[index].last_site = Some(op.site);
        for (to, from) in self.work.0.iter_mut().zip(op.work.0) {
            *to = to.saturating_add(from);
        }
        let place = self.agents[index].place;
        self.observer.issue(issue(&self.groups, place), op);
        match op.action {
            Action::Load | Action::Store | Action::Rmw { .. } => {
                if let (true, Space::Global, Some((slot, at))) = (self.options.checks_uses, op.space, place)
                    && let Some(launch) = self.groups[slot].as_ref().map(|group| &group.launch)
                {
                    declared::check(launch, &at, op, &self.session)?;
                }
                let group = place.and_then(|(group, _)| self.groups[group].as_mut());
                let changed = match (op.space, group) {
                    (Space::Lds, Some(group)) => group.lds.perform(op),
                    _ => self.memory.perform(op),
                };
                if changed {
                    self.idle_steps = 0;
                }
            }
            Action::Fence => {}
            Action::HostWrite => {
                self.memory.host_write(op);
                self.idle_steps = 0;
            }
            Action::HostRead => self.memory.host_read(op),
            Action::Barrier => {
                self.agents[index].held = Some((id, op.site));
                drop(ops);
                return self.arrive(index);
            }
            Action::Launch(kernel) => {
                drop(ops);
                return self.launch(index, id, kernel);
            }
        }
        ops.complete(id);
        drop(ops);
        self.completed(index, id)
    }

    /// Continues after the operation `id` of an agent is complete: resumes the agent if it waited
    /// for this operation, and retires the agent if it has ended.
    fn completed(&mut self, index: usize, id: OpId) -> Result<(), RunError> {
        if self.agents[index].waits_for == Some(id) {
            self.poll(index)?;
        }
        self.retire(index)
    }

    fn poll(&mut self, index: usize) -> Result<(), RunError> {
        let agent = &mut self.agents[index];
        let polled = match &mut agent.task {
            Some(task) => task.poll(),
            None => self.session.poll_host(),
        };
        if let Some(task) = &agent.task {
            let tail = task.tail_work();
            for (to, from) in self.work.0.iter_mut().zip(tail.0) {
                *to = to.saturating_add(from);
            }
            if let Some(issue) = issue(&self.groups, agent.place) {
                self.observer.tail(issue, tail);
            }
        }
        agent.waits_for = None;
        match polled {
            Polled::Waiting(id) => agent.waits_for = Some(id),
            Polled::Ended => agent.ended = true,
            Polled::Faulted(fault) => return Err(RunError::Fault(fault)),
        }
        let mut ops = self.session.ops();
        agent.queue.extend(ops.posted());
        ops.clear_posted();
        Ok(())
    }

    fn arrive(&mut self, index: usize) -> Result<(), RunError> {
        let Some((slot, _)) = self.agents[index].place else { return Ok(()) };
        let Some(group) = &mut self.groups[slot] else { return Ok(()) };
        group.at_barrier.push(index);
        if group.at_barrier.len() < group.launch.grid.waves as usize {
            return Ok(());
        }
        for index in core::mem::take(&mut group.at_barrier) {
            if let Some((id, _)) = self.agents[index].held.take() {
                self.session.ops().complete(id);
                self.completed(index, id)?;
            }
        }
        Ok(())
    }

    fn launch(&mut self, index: usize, id: OpId, kernel: KernelId) -> Result<(), RunError> {
        let launch = self.session.launch(kernel);
        self.observer.launch(&launch);
        self.idle_steps = 0;
        if launch.grid.work_groups == 0 || launch.grid.waves == 0 {
            self.session.ops().complete(id);
            return self.completed(index, id);
        }
        self.running.push(RunningKernel { launch, dispatched: 0, ended: 0 });
        self.may_dispatch = true;
        Ok(())
    }

    /// Dispatches work-groups while compute units have room. The work-groups of the oldest kernel
    /// come first.
    fn dispatch(&mut self) -> Result<(), RunError> {
        let waits = |r: &RunningKernel| r.dispatched < r.launch.grid.work_groups;
        while let Some(running) = self.running.iter_mut().find(|r| waits(r)) {
            let (launch, work_group) = (running.launch.clone(), running.dispatched);
            let Some(cu) = self.find_cu(&launch) else { break };
            if let Some(running) = self.running.iter_mut().find(|r| waits(r)) {
                running.dispatched += 1;
            }
            self.place_group(launch, work_group, cu)?;
        }
        self.may_dispatch = false;
        Ok(())
    }

    fn find_cu(&mut self, launch: &Launch) -> Option<usize> {
        let (shape, grid) = (&self.options.shape, &launch.grid);
        let start = match grid.placement {
            Placement::Spread => self.cu_next,
            Placement::Pack => 0,
        };
        let count = self.cus.len();
        let found = (0..count).map(|offset| (start + offset) % count).find(|&cu| {
            let cu = &self.cus[cu];
            cu.groups < shape.work_groups_per_cu
                && cu.waves + grid.waves <= shape.waves_per_cu
                && cu.lds_bytes + grid.lds_bytes <= shape.lds_bytes_per_cu
        })?;
        if grid.placement == Placement::Spread {
            self.cu_next = (found + 1) % count;
        }
        Some(found)
    }

    fn place_group(&mut self, launch: Rc<Launch>, work_group: u32, cu: usize) -> Result<(), RunError> {
        let grid = launch.grid;
        self.cus[cu].groups += 1;
        self.cus[cu].waves += grid.waves;
        self.cus[cu].lds_bytes += grid.lds_bytes;
        let kernel = launch.kernel;
        let lds = FlatMemory::zeros(grid.lds_bytes as usize);
        let group = Some(Group { launch, cu, lds, at_barrier: Vec::new(), ended: 0 });
        let slot = match self.groups.iter().position(Option::is_none) {
            Some(slot) => {
                self.groups[slot] = group;
                slot
            }
            None => {
                self.groups.push(group);
                self.groups.len() - 1
            }
        };
        for wave in 0..grid.waves {
            let at = Coords { work_group, wave, compute_unit: cu as u32 };
            let index = self.new_agent(slot, at, self.session.spawn(kernel, at));
            self.poll(index)?;
            self.retire(index)?;
        }
        Ok(())
    }

    fn new_agent(&mut self, slot: usize, at: Coords, task: WaveTask) -> usize {
        let agent = Agent {
            task: Some(task),
            place: Some((slot, at)),
            queue: VecDeque::new(),
            waits_for: None,
            held: None,
            last_site: None,
            ended: false,
        };
        let index = match self.free_agents.pop() {
            Some(index) => {
                self.agents[index] = agent;
                index
            }
            None => {
                self.agents.push(agent);
                self.agents.len() - 1
            }
        };
        self.live.push(index);
        index
    }

    /// Removes an agent that has ended and has no operation left.
    fn retire(&mut self, index: usize) -> Result<(), RunError> {
        let agent = &mut self.agents[index];
        if !agent.ended || !agent.queue.is_empty() || agent.held.is_some() {
            return Ok(());
        }
        self.live.retain(|&live| live != index);
        self.idle_steps = 0;
        agent.task = None;
        let Some((slot, _)) = agent.place.take() else { return Ok(()) };
        self.free_agents.push(index);
        let Some(group) = &mut self.groups[slot] else { return Ok(()) };
        group.ended += 1;
        if group.ended < group.launch.grid.waves {
            return Ok(());
        }
        let (grid, cu, kernel) = (group.launch.grid, group.cu, group.launch.kernel);
        self.groups[slot] = None;
        self.cus[cu].groups -= 1;
        self.cus[cu].waves -= grid.waves;
        self.cus[cu].lds_bytes -= grid.lds_bytes;
        self.may_dispatch = true;
        self.group_ended(kernel)
    }

    fn group_ended(&mut self, kernel: KernelId) -> Result<(), RunError> {
        let Some(at) = self.running.iter().position(|r| r.launch.kernel == kernel) else { return Ok(()) };
        self.running[at].ended += 1;
        if self.running[at].ended < self.running[at].launch.grid.work_groups {
            return Ok(());
        }
        let launch = self.running.remove(at).launch;
        self.session.ops().complete(launch.op);
        self.completed(HOST, launch.op)
    }

    fn stuck(&self, cause: StuckCause) -> RunError {
        let waits = self.live.iter().filter_map(|&index| self.wait_of(index)).collect();
        let undispatched = self.running.iter().filter_map(|r| {
            let left = r.launch.grid.work_groups - r.dispatched;
            (left > 0).then(|| (r.launch.name.clone(), left))
        });
        RunError::Stuck(Box::new(Stuck { cause, waits, undispatched: undispatched.collect() }))
    }

    fn wait_of(&self, index: usize) -> Option<Wait> {
        let agent = &self.agents[index];
        let Some((slot, at)) = agent.place else {
            let issuer = Issuer::Host { program: self.session.program().to_owned() };
            let kernel = self.running.iter().find(|r| agent.waits_for == Some(r.launch.op));
            return match kernel {
                Some(r) => {
                    Some(Wait { issuer, what: Awaited::Kernel(r.launch.name.clone()), site: r.launch.site })
                }
                None => agent.last_site.map(|site| Wait { issuer, what: Awaited::Spins, site }),
            };
        };
        let group = self.groups[slot].as_ref()?;
        let kernel = group.launch.name.clone();
        let issuer = Issuer::Wave { kernel, work_group: at.work_group, wave: at.wave };
        if let Some((_, site)) = agent.held {
            let (arrived, waves) = (group.at_barrier.len() as u32, group.launch.grid.waves);
            let what = Awaited::Barrier { arrived, ended: group.ended, waves };
            return Some(Wait { issuer, what, site });
        }
        agent.last_site.map(|site| Wait { issuer, what: Awaited::Spins, site })
    }
}
