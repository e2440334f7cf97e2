//! The roles of the threads of a litmus program on the timed machine. Each thread is executed by a
//! wavefront or by the host.

use explore::Trace;
use kernel::prelude::{Grid, Level};
use litmus::program::{Instr, ThreadId};
use proto::Agent;
use sim::follow::MoveIssuer;

use crate::litmus::check;

/// The roles of all threads of a program: which wavefront or host executes each thread, and in
/// which stage (a kernel or a step of the host).
#[derive(Clone, Debug)]
pub(super) struct ThreadRoles {
    pub(super) compute_units: u32,
    /// The number of work-groups of each kernel. Work-group `n` runs on the compute unit whose
    /// number is `n` modulo the number of compute units.
    work_groups: u32,
    waves: u32,
    /// For each thread, the issuer of its operations: a wavefront, or the host.
    pub(super) issuers: Vec<MoveIssuer>,
    /// For each thread, the stage that contains the thread. A stage is a kernel or a step of the
    /// host. Stages have numbers in their order in the program.
    pub(super) stages: Vec<u8>,
    /// Whether the trace may preempt work-groups. If so, every compute unit needs room for all
    /// work-groups.
    preempts: bool,
}

impl ThreadRoles {
    pub(super) fn of(trace: &Trace) -> Result<ThreadRoles, String> {
        let (test, placement) = (trace.program(), &trace.placement);
        check(test).map_err(|error| error.to_string())?;
        let compute_units = u32::from(trace.bounds.compute_units(placement.compute_units()));
        let scope = |thread: usize| test.scopes.enclosing(ThreadId(thread as u8), Level::WorkGroup);
        // For each work-group: its scope, its compute unit, its number of
        // threads, and the number of work-groups before it on the compute unit.
        let mut groups: Vec<(_, u16, u32, u32)> = Vec::new();
        let mut issuers = Vec::new();
        let stages = match placement.stages.len() == placement.agents.len() {
            true => placement.stages.clone(),
            false => vec![0; placement.agents.len()],
        };
        for (thread, &agent) in placement.agents.iter().enumerate() {
            let cu = match agent {
                Agent::Cu(cu) => cu,
                Agent::Host(1..) => {
                    return Err(String::from("the timed machine has one host; the program has several"));
                }
                Agent::Host(0) => {
                    let mut others = (0..thread).filter(|&other| issuers[other] == MoveIssuer::Host);
                    if others.any(|other| stages[other] == stages[thread]) {
                        return Err(String::from(
                            "the host of the timed machine runs one thread at a time; the program has \
                             several threads on the host",
                        ));
                    }
                    issuers.push(issues(agent, 0, 0));
                    continue;
                }
                Agent::CommandProcessor => {
                    return Err(format!("P{thread} is on the command processor, which runs no program"));
                }
            };
            let of = scope(thread);
            let at = groups.iter().position(|(other, ..)| of.is_some() && *other == of);
            let at = at.unwrap_or_else(|| {
                let before = groups.iter().filter(|(_, other, ..)| *other == cu).count();
                groups.push((of, cu, 0, before as u32));
                groups.len() - 1
            });
            let (_, there, waves, before) = &mut groups[at];
            if *there != cu {
                return Err(format!(
                    "P{thread} is on a different compute unit than the rest of its work-group"
                ));
            }
            issuers.push(issues(agent, *before * compute_units + u32::from(cu), *waves));
            *waves += 1;
        }
        let work_groups = groups.iter().map(|(.., before)| (before + 1) * compute_units).max();
        let waves = groups.iter().map(|(_, _, waves, _)| *waves).max().unwrap_or(1);
        let meets =
            |thread: usize| test.threads[thread].code.iter().any(|instr| matches!(instr, Instr::Barrier(_)));
        for (of, _, members, _) in &groups {
            let has_barrier = (0..issuers.len()).any(|thread| scope(thread) == *of && meets(thread));
            if has_barrier && *members != waves {
                return Err(String::from("work-groups have different sizes, and one of them has a barrier"));
            }
        }
        let work_groups = work_groups.unwrap_or(compute_units);
        let preempts = trace.bounds.preemptions > 0;
        Ok(ThreadRoles { compute_units, work_groups, waves, issuers, stages, preempts })
    }

    /// The number of wavefronts that a compute unit must hold.
    pub(super) fn waves_per_cu(&self) -> u32 {
        let work_groups =
            if self.preempts { self.work_groups } else { self.work_groups.div_ceil(self.compute_units) };
        self.waves * work_groups
    }

    /// The grid of each kernel. The grid has a wavefront for every thread that runs on a compute
    /// unit. A thread belongs to one kernel. In all other kernels, its wavefront does nothing.
    pub(super) fn grid(&self) -> Grid {
        Grid::new(self.work_groups, self.waves)
    }

    /// A grid with one wavefront on each compute unit.
    pub(super) fn one_wave_per_cu(&self) -> Grid {
        Grid::new(self.compute_units, 1)
    }

    /// The numbers of the stages (kernels and steps of the host), in the order of execution.
    pub(super) fn order(&self) -> Vec<u8> {
        let mut order = self.stages.clone();
        order.sort_unstable();
        order.dedup();
        order
    }

    /// The thread that the issuer `role` (a wavefront or the host) executes in this stage (a kernel
    /// or a step of the host). `None` if the issuer executes no thread in this stage.
    pub(super) fn thread(&self, role: MoveIssuer, stage: u8) -> Option<usize> {
        (0..self.issuers.len()).find(|&thread| self.issuers[thread] == role && self.stages[thread] == stage)
    }

    /// The work-group of a thread in the grid. `None` for a thread of the host.
    pub(super) fn work_group(&self, thread: u8) -> Option<u32> {
        match self.issuers.get(usize::from(thread)) {
            Some(&MoveIssuer::Wave { work_group, .. }) => Some(work_group),
            _ => None,
        }
    }
}

/// The issuer of a thread's operations: the host if `agent` is a host, otherwise the wavefront
/// `wave` of `work_group`.
fn issues(agent: Agent, work_group: u32, wave: u32) -> MoveIssuer {
    match agent {
        Agent::Host(_) => MoveIssuer::Host,
        _ => MoveIssuer::Wave { work_group, wave },
    }
}
