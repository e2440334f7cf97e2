//! Preemption: a work-group leaves its compute unit and continues on another one.
//!
//! A runtime that preempts a work-group waits until the memory operations of the work-group's
//! wavefronts are complete. The old compute unit makes a release, and the runtime then saves the
//! state of the wavefronts. The new compute unit makes an acquire before the wavefronts continue.
//! Both requests are those of a kernel's boundary (`proto::Boundary`): the old compute unit makes
//! the request of [`Boundary::EndCus`], the new one that of [`Boundary::BeginCus`]. The command
//! processor makes no request, and the saved state does not pass through the caches.
//!
//! A work-group may be preempted whenever it has no request under way. This also covers a runtime
//! that stops the wavefronts from issuing and then waits for their requests: the exploration also
//! tries the schedules in which the wavefronts issue nothing until these requests are complete. The
//! work-group may continue on every other compute unit, and does so eventually.
//! `Bounds::preemptions` limits the preemptions of a run.

use std::sync::Arc;

use litmus::program::{Instr, Level, Program, ThreadId, ThreadSet};
use proto::{Agent, Boundary, ByteMask, PlanKey, Request};
use smallvec::SmallVec;

use crate::machine::controllers::{StationInput, Word};
use crate::machine::kernels::ProgramStep;
use crate::machine::known::{Effect, PartMove};
use crate::machine::moves::Move;
use crate::machine::placement::{Placement, Unsupported};
use crate::machine::thread::{Pending, ResidencyState, ThreadState};
use crate::machine::threads::Issued;
use crate::machine::{Machine, Part, PartResult};

/// For each thread: the set of threads that are preempted together with it. These are the threads
/// of its work-group on its compute unit. Threads of the host are never preempted.
pub(crate) fn groups(
    program: &Program,
    placement: &Placement,
    preemptions: u8,
) -> Result<Vec<ThreadSet>, Unsupported> {
    let count = if preemptions > 0 { program.threads.len() } else { 0 };
    let key = |t: usize| (placement.agents[t], program.scopes.enclosing(ThreadId(t as u8), Level::WorkGroup));
    let group = |t: usize| match key(t) {
        (Agent::Cu(_), None) => ThreadSet::only(ThreadId(t as u8)),
        (Agent::Cu(_), Some(_)) => (0..count)
            .filter(|&u| key(u) == key(t))
            .fold(ThreadSet::NONE, |set, u| set.union(ThreadSet::only(ThreadId(u as u8)))),
        _ => ThreadSet::NONE,
    };
    let groups: Vec<ThreadSet> = (0..count).map(group).collect();
    for (t, group) in groups.iter().enumerate() {
        for instr in &program.threads[t].code {
            let Instr::Barrier(barrier) = instr else { continue };
            let members = program.scopes.get(barrier.group).members;
            if let Some(other) = members.iter().find(|&member| !group.contains(member)) {
                return Err(Unsupported(format!(
                    "P{t} has a barrier with P{} of another work-group, which is preempted separately",
                    other.0
                )));
            }
        }
    }
    Ok(groups)
}

impl Machine {
    /// Whether the thread at this index of the part (the state of one node) may issue now. It may
    /// issue if the program's current step runs its stage (kernel or step of the host), and if its
    /// work-group is on a compute unit.
    pub(crate) fn runs(&self, part: &Part, at: usize) -> bool {
        let (thread, state) = part.threads[at];
        let stage = self.code.placement.stages.get(usize::from(thread));
        self.steps.runs(part.step, stage) && self.thread(state).residency.state == ResidencyState::Runs
    }

    /// The node at which a thread runs, and the thread's index among the threads there.
    pub(crate) fn location_of(&self, state: &[u32], thread: u8) -> Option<(usize, usize)> {
        (0..self.known.nodes).find_map(|node| {
            let at = self.part(state[node]).threads.iter().position(|(t, _)| *t == thread);
            at.map(|at| (node, at))
        })
    }

    /// Appends the moves that preempt and resume the work-groups of the part (the state of one
    /// node).
    pub(crate) fn preemptions(&mut self, part: &Part, part_moves: &mut Vec<PartMove>) {
        for at in 0..part.threads.len() {
            let (thread, state) = part.threads[at];
            if !self.is_first(thread) {
                continue;
            }
            let residency = self.thread(state).residency;
            if self.may_be_preempted(part, at) {
                let preempted = self.preempt(part, at);
                let effect = self.effect_of(preempted);
                part_moves.extend(effect.map(|effect| PartMove {
                    mv: Move::Preempt { thread },
                    is_optional: true,
                    effect,
                }));
            }
            if residency.state == ResidencyState::Off {
                for cu in (0..self.slots.units()).filter(|&cu| residency.agent != Agent::Cu(cu)) {
                    let effect = match self.resume(part, at, cu) {
                        Ok((rest, to, word)) => Effect::Send { rest, to, input: self.words.number(word) },
                        Err(why) => Effect::Fault(self.known.fault(&why)),
                    };
                    let mv = Move::Resume { thread, cu: cu as u8 };
                    part_moves.push(PartMove { mv, is_optional: false, effect });
                }
            }
        }
    }

    /// The total number of preemptions so far of the work-groups in the part (the state of one
    /// node).
    pub(crate) fn preempted(&self, part: &Part) -> u8 {
        let firsts = part.threads.iter().filter(|(thread, _)| self.is_first(*thread));
        firsts.map(|&(_, state)| self.thread(state).residency.preempted).sum()
    }

    /// Whether the thread is the first thread of a work-group that may be preempted.
    fn is_first(&self, thread: u8) -> bool {
        self.groups
            .get(usize::from(thread))
            .is_some_and(|group| group.iter().next() == Some(ThreadId(thread)))
    }

    fn is_of_group(&self, first: u8, thread: u8) -> bool {
        self.groups[usize::from(first)].contains(ThreadId(thread))
    }

    /// Whether the work-group of this thread may be preempted now: it has no request under way and
    /// has not ended.
    fn may_be_preempted(&self, part: &Part, at: usize) -> bool {
        let first = part.threads[at].0;
        let of_group = |&at: &usize| self.is_of_group(first, part.threads[at].0);
        let mut has_ended = true;
        let is_at_rest = (0..part.threads.len()).filter(of_group).all(|at| {
            let (thread, state) = part.threads[at];
            has_ended &= self.code.has_ended(usize::from(thread), self.thread(state));
            self.runs(part, at) && self.thread(state).pending.is_empty()
        });
        is_at_rest && !has_ended
    }

    /// The part (the state of one node) after a work-group begins to leave its compute unit: the
    /// compute unit makes a release request.
    pub(crate) fn preempt(&mut self, part: &Part, at: usize) -> PartResult<Issued> {
        let mut part = part.clone();
        let first = part.threads[at].0;
        self.preempted = true;
        self.change_group(&mut part, first, |_, state| {
            state.residency.state = ResidencyState::Saves;
            state.residency.preempted += 1;
        });
        match self.ask_boundary_of(&mut part, first, Boundary::EndCus)? {
            Some(input) => {
                let part = self.deliver(part, input)?;
                self.settled(part).map(Issued::Here)
            }
            None => self.settled(part).map(Issued::Here),
        }
    }

    /// Moves a work-group to a new compute unit. Returns the part (the state of one node) without
    /// the work-group, the node of the new compute unit, and the threads as they arrive there.
    pub(crate) fn resume(&mut self, part: &Part, at: usize, cu: u16) -> PartResult<(u32, u8, Word)> {
        let mut rest = part.clone();
        let first = part.threads[at].0;
        let to = self.slots.unit(cu).ok_or_else(|| Arc::from(format!("there is no CU {cu}")))?;
        let threads: SmallVec<_> =
            part.threads.iter().copied().filter(|(t, _)| self.is_of_group(first, *t)).collect();
        rest.threads.retain(|(t, _)| !self.is_of_group(first, *t));
        self.settled(rest).map(|rest| (rest, to, Word::Group { cu, threads }))
    }

    /// Adds an arriving work-group to the part (the state of one node). The work-group's compute
    /// unit makes an acquire request. Returns the request if it enters the part's own controller.
    pub(crate) fn arrive(
        &mut self,
        part: &mut Part,
        cu: u16,
        threads: &[(u8, u32)],
    ) -> PartResult<Option<StationInput>> {
        let agent = Agent::Cu(cu);
        let mut taken: Vec<u32> = Vec::new();
        for &(t, state) in &part.threads {
            let state = self.thread(state);
            let is_here = state.residency.agent == agent && state.residency.state != ResidencyState::Off;
            if is_here && !self.code.is_done(usize::from(t), state) {
                taken.push(state.residency.wavefront);
            }
        }
        part.threads.extend(threads.iter().copied());
        part.threads.sort_unstable();
        let Some(&(first, _)) = threads.first() else { return Ok(None) };
        self.change_group(part, first, |_, state| {
            // The lowest wavefront number that no other running thread of the compute unit has.
            let free = (0..).find(|wavefront| !taken.contains(wavefront)).unwrap_or_default();
            taken.push(free);
            state.residency.agent = agent;
            state.residency.wavefront = free;
            state.residency.state = ResidencyState::Restores;
        });
        self.ask_boundary_of(part, first, Boundary::BeginCus)
    }

    /// Updates a work-group after the answer to its release or acquire: it has left its compute
    /// unit, or runs on the new one.
    pub(crate) fn has_moved(&mut self, part: &mut Part, first: u8) {
        self.change_group(part, first, |_, state| {
            state.pending.clear();
            state.residency.state = match state.residency.state {
                ResidencyState::Saves => ResidencyState::Off,
                _ => ResidencyState::Runs,
            };
        });
    }

    fn change_group(&mut self, part: &mut Part, first: u8, mut change: impl FnMut(u8, &mut ThreadState)) {
        for at in 0..part.threads.len() {
            let (thread, state) = part.threads[at];
            if self.is_of_group(first, thread) {
                let mut state = self.thread(state).clone();
                change(thread, &mut state);
                part.threads[at].1 = self.threads.number(state);
            }
        }
    }

    /// Makes the request that the compute unit of `thread` makes at this boundary (beginning or
    /// end) of the running kernel. Returns the request if it enters the controller of this part
    /// (the state of one node).
    fn ask_boundary_of(
        &mut self,
        part: &mut Part,
        thread: u8,
        boundary: Boundary,
    ) -> PartResult<Option<StationInput>> {
        let kernel = match self.steps.steps[usize::from(part.step)] {
            ProgramStep::Run(_, kernel) | ProgramStep::Boundary(_, kernel, _) => kernel,
        };
        let request: Request = boundary.request(kernel, false);
        self.note_key(PlanKey::of(&request));
        let request = self.controllers.request(request);
        self.change_group(part, thread, |t, state| {
            if t == thread {
                let (pc, mask) = (state.pc, ByteMask::NONE);
                state.pending.push(Pending { id: 0, pc, lanes: 1, request, mask, value: 0 });
            }
        });
        self.ask_for(part, thread, 0, request)
    }
}
