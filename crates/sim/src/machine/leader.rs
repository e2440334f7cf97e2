//! What waits for a move and is no event of the queue: the requests at the
//! boundaries of kernels, what a core keeps back, and work-groups that have left.
//! See [`crate::follow`].

use proto::issue::IssueId;
use proto::{Agent, Boundary, PlanKey};

use super::access::{Instr, Phase};
use super::kernels::Step;
use super::preempt::Away;
use super::wave::{Stage, Wave};
use super::{Machine, Owner};
use crate::engine::Event;
use crate::follow::{Issues, LedKernel, Move};
use crate::queue::Cycle;
use crate::reports::probe::Probe;

/// What the moves are about beside events.
#[derive(Debug, Default)]
pub(super) struct Leader {
    /// The kernels, if moves name their boundaries.
    kernels: Option<Vec<LedKernel>>,
    /// Requests at a boundary, each with the number of its agent and the agent.
    boundary: Vec<(u32, Agent, u32)>,
    /// Requests that cores have kept back, on their way to another station.
    pub(super) kept: Vec<u32>,
    /// Work-groups that are not at work, for they change their compute unit.
    pub(super) away: Vec<Away>,
    /// A step of the program has ended, and the next one has not been let begin.
    turns: bool,
}

/// What crosses from a core to another station than that of its plain loads, or
/// back.
#[derive(Clone, Copy, Debug)]
pub(super) struct Crossing {
    from: u32,
    to: u32,
    issues: Issues,
    age: IssueId,
}

impl Leader {
    pub(super) fn new(kernels: Option<&[LedKernel]>) -> Box<Leader> {
        Box::new(Leader { kernels: kernels.map(<[_]>::to_vec), ..Leader::default() })
    }

    /// Do moves name the boundaries of kernels?
    pub(super) fn is_staged(&self) -> bool {
        self.kernels.is_some()
    }
}

impl<Pr: Probe> Machine<'_, Pr> {
    fn led_kernels(&self) -> Option<&[LedKernel]> {
        self.leader.as_ref().and_then(|leader| leader.kernels.as_deref())
    }

    /// A step of the program has ended: nothing of the next one happens before it is
    /// let begin.
    pub(super) fn turn(&mut self, turns: bool) {
        if let Some(leader) = self.leader.as_mut().filter(|leader| leader.is_staged()) {
            leader.turns = turns;
        }
    }

    pub(super) fn turns(&self) -> bool {
        self.leader.as_ref().is_some_and(|leader| leader.turns)
    }

    /// Has the host written since the last kernel began? A leader says whether it
    /// may have.
    pub(super) fn host_has_written(&mut self) -> bool {
        let written = core::mem::take(&mut self.kernels.host_has_written);
        let number = self.kernels.current.as_ref().map(|current| usize::from(current.launch.kernel.0));
        let led = self.led_kernels().zip(number).and_then(|(kernels, number)| kernels.get(number));
        led.map_or(written, |kernel| kernel.host_has_written)
    }

    /// Is the last kernel not released to the host although the host is next to
    /// look?
    pub(super) fn stays_unreleased(&self) -> bool {
        let last = self.kernels.unreleased.map(|kernel| usize::from(kernel.0));
        let led = self.led_kernels().zip(last).and_then(|(kernels, last)| kernels.get(last));
        led.is_some_and(|kernel| !kernel.is_released)
    }

    /// Is this the kernel behind the program?
    pub(super) fn is_behind_all(&self) -> bool {
        let current = self.kernels.current.as_ref();
        let number = current.map(|current| usize::from(current.launch.kernel.0));
        self.led_kernels().zip(number).is_some_and(|(kernels, number)| number >= kernels.len())
    }

    /// Queues a request at a boundary, or keeps it until its move.
    pub(super) fn ask_led(&mut self, now: Cycle, number: u32, agent: Agent, instr: u32) {
        match self.leader.as_mut().filter(|leader| leader.is_staged()) {
            Some(leader) => leader.boundary.push((number, agent, instr)),
            None => self.ask_order(now, agent, instr),
        }
    }

    /// Makes the request of an agent at the boundary of a kernel.
    pub(super) fn make_boundary(&mut self, now: Cycle, number: u32) -> Option<&'static str> {
        let leader = self.leader.as_mut().filter(|leader| !leader.turns)?;
        let at = leader.boundary.iter().position(|&(other, ..)| other == number)?;
        let (_, agent, instr) = leader.boundary.remove(at);
        self.ask_order(now, agent, instr);
        Some("")
    }

    /// Lets the next step of the program begin.
    pub(super) fn make_next(&mut self, now: Cycle, held: &mut Vec<Event>) -> Option<&'static str> {
        if self.turns() {
            self.turn(false);
            return Some("");
        }
        if !self.may_end_kernel() {
            return None;
        }
        let (last, rest) = held.drain(..).partition(|&event| self.is_last(event));
        *held = rest;
        let last: Vec<Event> = last;
        last.into_iter().for_each(|event| self.happen(now, event));
        Some("")
    }

    /// May threads issue?
    pub(super) fn may_issue(&self) -> bool {
        let current = self.kernels.current.as_ref();
        let is_staged = self.leader.as_ref().is_some_and(|leader| leader.is_staged());
        !is_staged || !self.turns() && current.is_none_or(|current| current.step == Step::Running)
    }

    /// Have all of a kernel's threads come to their end, and does a step follow?
    fn may_end_kernel(&self) -> bool {
        let Some(current) = &self.kernels.current else { return false };
        let number = usize::from(current.launch.kernel.0);
        let led = self.led_kernels().and_then(|kernels| kernels.get(number));
        let is_followed = led.is_some_and(|kernel| kernel.is_followed);
        is_followed && current.step == Step::Running && self.are_threads_done()
    }

    /// Has the program come to its last step, with nothing left to do in it?
    pub(super) fn is_program_over(&self) -> bool {
        let step = self.kernels.current.as_ref().map(|current| current.step);
        let is_at_boundary = matches!(step, Some(Step::Boundary(_)));
        self.are_threads_done() && !is_at_boundary
    }

    /// Have all threads that run come to their end?
    fn are_threads_done(&self) -> bool {
        let is_done = |wave: &Wave| {
            let is_live = wave.task.is_some() || wave.ended;
            let is_last = wave.stage == Stage::Arithmetic(None) && wave.pending.is_empty();
            !is_live || is_last && wave.outstanding == 0
        };
        let is_away = self.leader.as_ref().is_some_and(|leader| !leader.away.is_empty());
        self.waves.iter().all(is_done) && !self.host.is_at_work() && !is_away
    }

    /// The moves that are about no event.
    pub(super) fn open_beside_events(&self) -> Vec<Move> {
        let Some(leader) = &self.leader else { return Vec::new() };
        let mut open = Vec::new();
        if leader.turns || self.may_end_kernel() {
            open.push(Move::Next);
        } else {
            open.extend(leader.boundary.iter().map(|&(agent, ..)| Move::Boundary { agent }));
        }
        open.extend(self.resumes());
        open
    }

    /// Does the request of this instruction enter another station than plain loads
    /// of the same agent do? So from that one to the other.
    fn apart(&self, instr: &Instr) -> Option<(Issues, u32, u32)> {
        let (issues, agent) = match instr.owner {
            Owner::Wave(wave) => {
                let at = self.waves[wave as usize].at;
                (Issues::Wave { work_group: at.work_group, wave: at.wave }, Agent::Cu(at.cu as u16))
            }
            Owner::Host(_) => (Issues::Host, Agent::Host(0)),
            Owner::Group(group) => {
                let work_group = self.groups.get(group)?.number;
                (Issues::Wave { work_group, wave: 0 }, Agent::Cu(self.cu_of(group)? as u16))
            }
            Owner::Kernel(_) | Owner::Release => return None,
        };
        let home = self.stations.entry(agent, PlanKey::PLAIN_LOAD).ok()?;
        let asked = self.stations.entry(agent, instr.ask.key()).ok()?;
        (home != asked).then_some((issues, home, asked))
    }

    /// The way of an answer from another station.
    pub(super) fn crossing(&self, event: Event) -> Option<Crossing> {
        let Event::Complete(number) = event else { return None };
        let instr = self.instrs.get(number).filter(|instr| instr.phase != Phase::BarrierWait)?;
        let (issues, home, asked) = self.apart(instr)?;
        Some(Crossing { from: asked, to: home, issues, age: instr.issue })
    }

    /// The way of a request to another station.
    fn crossing_of_kept(&self, number: u32) -> Option<Crossing> {
        let instr = self.instrs.get(number)?;
        let (issues, home, asked) = self.apart(instr)?;
        Some(Crossing { from: home, to: asked, issues, age: instr.issue })
    }

    /// A request that its core has kept back goes out. Does it wait for its move?
    pub(super) fn keeps_back(&mut self, number: u32) -> bool {
        if self.leader.is_none() || self.crossing_of_kept(number).is_none() {
            return false;
        }
        self.leader.as_mut().is_some_and(|leader| {
            leader.kept.push(number);
            true
        })
    }

    /// The moves of what crosses. Those of one thread on one way are numbered by age.
    pub(super) fn crossings(&self, held: &[Event]) -> Vec<(Move, Crosser)> {
        let Some(leader) = &self.leader else { return Vec::new() };
        let answers = held.iter().enumerate();
        let answers = answers.filter_map(|(at, &event)| Some((self.crossing(event)?, Crosser::Answer(at))));
        let kept = leader.kept.iter().enumerate();
        let kept = kept.filter_map(|(at, &n)| Some((self.crossing_of_kept(n)?, Crosser::Request(at))));
        let mut all: Vec<(Crossing, Crosser)> = answers.chain(kept).collect();
        all.sort_by_key(|(crossing, _)| crossing.age.0);
        let way = |c: &Crossing| (c.from, c.to, c.issues);
        let moves = all.iter().enumerate().map(|(at, (crossing, crosser))| {
            let nth = all[..at].iter().filter(|(other, _)| way(other) == way(crossing)).count() as u32;
            let Crossing { from, to, issues, .. } = *crossing;
            (Move::Cross { from, to, issues, nth }, *crosser)
        });
        moves.collect()
    }

    /// Makes a move by which something crosses.
    pub(super) fn make_cross(&mut self, now: Cycle, mv: Move, held: &mut Vec<Event>) -> Option<&'static str> {
        let (_, crosser) = self.crossings(held).into_iter().find(|(other, _)| *other == mv)?;
        match crosser {
            Crosser::Answer(at) => {
                let event = held.remove(at);
                self.happen(now, event);
            }
            Crosser::Request(at) => {
                let instr = self.leader.as_mut()?.kept.remove(at);
                self.send_kept(now, instr);
            }
        }
        Some("")
    }

    /// Asks for a work-group what a compute unit is asked at that boundary.
    pub(super) fn ask_for_group(&mut self, now: Cycle, group: u32, boundary: Boundary) {
        let Some(kernel) = self.kernels.current.as_ref().map(|current| current.launch.kernel) else { return };
        let Some(cu) = self.cu_of(group) else { return };
        let (op, scope) = (boundary.op(kernel), boundary.scope(false));
        let instr = self.boundary_instr(now, Owner::Group(group), op, scope);
        if !self.keeps_back(instr) {
            self.ask_order(now, Agent::Cu(cu as u16), instr);
        }
    }
}

/// Where what crosses is held.
#[derive(Clone, Copy, Debug)]
pub(super) enum Crosser {
    /// Among the events.
    Answer(usize),
    /// Among the requests that cores have kept back.
    Request(usize),
}
