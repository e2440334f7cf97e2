//! Programs of several kernels, with steps of the host between them.
//!
//! The threads of such a program are divided into stages. The threads of one stage run at the same
//! time, and the stages follow one another. A stage with threads on compute units is a kernel. The
//! requests of `proto::Boundary` come before and after the kernel. Each agent (a compute unit or
//! the command processor) makes its request in a move of its own, and these moves may happen in any
//! order. The program continues when all these requests are answered. After the last stage, the
//! program ends in the same way as a program with one kernel.

use std::collections::BTreeMap;

use litmus::program::{Instr, Program};
use proto::{AccessMode, Agent, ArrayId, ArrayUse, Boundary, KernelId, LineAddr, PlanKey, Slot};

use crate::machine::controllers::{Controllers, StationInput};
use crate::machine::known::{Effect, PartMove};
use crate::machine::moves::Move;
use crate::machine::placement::{Placement, Unsupported, Word};
use crate::machine::{Machine, Part, PartResult};
use crate::subject::Subject;

/// The maximum number of stages (kernels and steps of the host) of a program.
const STAGES_MAX: usize = 16;
/// The maximum number of compute units of a program with stages (kernels and steps of the host),
/// because a mask of 16 bits has one bit for each of them.
const CUS_MAX: u16 = 16;

/// A step of a program. A step ends on all nodes before the next step begins.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) enum ProgramStep {
    /// The threads of this stage (a kernel or a step of the host) run. The kernel number is
    /// meaningful only if the stage is a kernel.
    Run(u8, KernelId),
    /// The agents (compute units and the command processor) make the requests of a kernel's
    /// beginning or end. At the beginning, the flag says whether the host may have written since
    /// the previous kernel. At the end, the flag is false.
    Boundary(Boundary, KernelId, bool),
}

/// A kernel of a program with several kernels, and the facts that its beginning and end depend on.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct StagedKernel {
    /// The number of the stage (kernel or step of the host) whose threads run in the kernel.
    pub stage: u8,
    /// The lines that the kernel uses; each line is an array of its own.
    pub uses: Vec<ArrayUse>,
    /// Whether the host may have written since the previous kernel.
    pub host_has_written: bool,
    /// Whether the kernel's writes are released to the host before the host's next read.
    pub is_released: bool,
    /// Whether another stage (kernel or step of the host) follows the kernel.
    pub is_followed: bool,
}

/// The steps of a program (runs of threads, and beginnings and ends of kernels), and the arrays of
/// its kernels.
#[derive(Clone, Debug)]
pub(crate) struct Steps {
    /// The steps of the program, in order.
    pub(crate) steps: Vec<ProgramStep>,
    /// The arrays that each kernel uses. The last entry is the kernel that runs after the program
    /// and reads all lines.
    pub(crate) kernels: Vec<Vec<ArrayUse>>,
    /// The numbers of the last kernel of the program and of the kernel after the program.
    pub(crate) last: (KernelId, KernelId),
}

impl Steps {
    /// The steps of a program with this placement.
    pub(crate) fn of(
        program: &Program,
        placement: &Placement,
        words: &[Word],
        cus: u16,
    ) -> Result<Steps, Unsupported> {
        if placement.stages.is_empty() {
            let last = (KernelId(0), KernelId(0));
            return Ok(Steps { steps: vec![ProgramStep::Run(0, KernelId(0))], kernels: Vec::new(), last });
        }
        let mut stages = placement.stages.clone();
        stages.sort_unstable();
        stages.dedup();
        if placement.stages.len() != program.threads.len() || stages.len() > STAGES_MAX || cus > CUS_MAX {
            let what = format!(
                "the placement gives {} threads {} stages (kernels or steps of the host) on {cus} compute \
                 units, expected a stage for each of the program's {} threads, and at most {STAGES_MAX} \
                 stages on {CUS_MAX} compute units",
                placement.stages.len(),
                stages.len(),
                program.threads.len()
            );
            return Err(Unsupported(what));
        }
        let threads = |stage: u8| (0..program.threads.len()).filter(move |&t| placement.stages[t] == stage);
        let is_on_gpu = |&t: &usize| matches!(placement.agents[t], Agent::Cu(_));
        let is_kernel = |stage: u8| threads(stage).any(|t| is_on_gpu(&t));
        let (mut steps, mut kernels) = (Vec::new(), Vec::new());
        let mut host_has_written = false;
        for (at, &stage) in stages.iter().enumerate() {
            let kernel = KernelId(kernels.len() as u16);
            if is_kernel(stage) {
                let begin = |step| ProgramStep::Boundary(step, kernel, host_has_written);
                steps.extend(Boundary::BEGIN.map(begin));
                kernels.push(uses(program, threads(stage).filter(is_on_gpu), words));
                host_has_written = false;
            }
            steps.push(ProgramStep::Run(stage, kernel));
            host_has_written |= threads(stage).any(|t| !is_on_gpu(&t) && writes(program, t));
            let Some(&next) = stages.get(at + 1).filter(|_| is_kernel(stage)) else { continue };
            let [cus, machine] = Boundary::END.map(|step| ProgramStep::Boundary(step, kernel, false));
            steps.push(cus);
            // The release to the host comes just before the host's next stage.
            steps.extend((!is_kernel(next)).then_some(machine));
        }
        let last = KernelId((kernels.len() as u16).saturating_sub(1));
        let behind = KernelId(kernels.len() as u16);
        let mut lines: Vec<LineAddr> = words.iter().map(|word| word.line).collect();
        lines.sort_unstable();
        lines.dedup();
        kernels.push(lines.into_iter().map(|line| array(line, AccessMode::Read)).collect());
        Ok(Steps { steps, kernels, last: (last, behind) })
    }

    /// The kernels of the program, in order.
    pub(crate) fn staged(&self) -> Vec<StagedKernel> {
        let begins = |step: &ProgramStep| matches!(step, ProgramStep::Boundary(Boundary::BeginMachine, ..));
        let firsts = (0..self.steps.len()).filter(|&at| begins(&self.steps[at]));
        let kernel = |first: usize| {
            let ProgramStep::Boundary(_, kernel, host_has_written) = self.steps[first] else { return None };
            let of_it = |step: &&ProgramStep| match step {
                ProgramStep::Run(_, other) | ProgramStep::Boundary(_, other, _) => *other == kernel,
            };
            let mut of_it = self.steps[first..].iter().filter(of_it);
            let Some(ProgramStep::Run(stage, _)) =
                of_it.clone().find(|step| matches!(step, ProgramStep::Run(..)))
            else {
                return None;
            };
            let is_last = kernel == self.last.0;
            let is_end = |step: &ProgramStep| matches!(step, ProgramStep::Boundary(Boundary::EndCus, ..));
            let is_released =
                |step: &ProgramStep| matches!(step, ProgramStep::Boundary(Boundary::EndMachine, ..));
            Some(StagedKernel {
                stage: *stage,
                uses: self.kernels[usize::from(kernel.0)].clone(),
                host_has_written,
                is_followed: of_it.clone().any(is_end),
                is_released: is_last || of_it.any(is_released),
            })
        };
        firsts.filter_map(kernel).collect()
    }

    /// Whether a thread of `stage` (a kernel or a step of the host) issues in this step. If `stage`
    /// is `None`, the program has no stages.
    pub(crate) fn runs(&self, step: u8, stage: Option<&u8>) -> bool {
        match self.steps[usize::from(step)] {
            ProgramStep::Run(running, _) => stage.is_none_or(|&stage| stage == running),
            ProgramStep::Boundary(..) => false,
        }
    }

    /// The description of a step of the program in words.
    pub(crate) fn name(&self, step: u8) -> String {
        match self.steps.get(usize::from(step)) {
            None => "no step".to_owned(),
            Some(ProgramStep::Run(stage, _)) => format!("stage {stage} runs"),
            Some(ProgramStep::Boundary(step, kernel, _)) => {
                let what = match step {
                    Boundary::BeginMachine => "begins on the machine",
                    Boundary::BeginCus => "begins on the compute units",
                    Boundary::EndCus => "ends on the compute units",
                    Boundary::EndMachine => "ends on the machine",
                };
                format!("kernel {} {what}", kernel.0)
            }
        }
    }

    /// Whether the program has another step after the step with this number.
    pub(crate) fn has_more(&self, step: u8) -> bool {
        usize::from(step) + 1 < self.steps.len()
    }
}

/// An array that consists of one line. The mode says whether the kernel reads or writes the array.
fn array(line: LineAddr, mode: AccessMode) -> ArrayUse {
    ArrayUse { array: array_of(line), first: line, lines: 1, mode }
}

/// The number of the array that consists of this line. In a program with several kernels, each line
/// is an array.
pub(crate) fn array_of(line: LineAddr) -> ArrayId {
    ArrayId(line.0 as u16)
}

/// Whether the instruction reads memory, and whether it writes memory.
fn access(instr: &Instr) -> (bool, bool) {
    match instr {
        Instr::Load { .. } | Instr::Await { .. } => (true, false),
        Instr::Store { .. } => (false, true),
        Instr::Rmw { .. } | Instr::Cas(_) => (true, true),
        _ => (false, false),
    }
}

fn writes(program: &Program, thread: usize) -> bool {
    program.threads[thread].code.iter().any(|instr| access(instr).1)
}

/// The arrays that these threads use. A thread with a computed address may use all arrays.
fn uses(program: &Program, threads: impl Iterator<Item = usize>, words: &[Word]) -> Vec<ArrayUse> {
    let mut used: BTreeMap<LineAddr, (bool, bool)> = BTreeMap::new();
    for instr in threads.flat_map(|t| &program.threads[t].code) {
        let Some(to) = instr.access() else { continue };
        let (reads, writes) = access(instr);
        let known = to.address.as_location().and_then(|loc| words.get(usize::from(loc.0)));
        for word in known.map_or(words, core::slice::from_ref) {
            let use_of = used.entry(word.line).or_default();
            *use_of = (use_of.0 | reads, use_of.1 | writes);
        }
    }
    let mode = |of| match of {
        (true, false) => AccessMode::Read,
        (false, true) => AccessMode::Write,
        _ => AccessMode::ReadWrite,
    };
    used.into_iter().map(|(line, of)| array(line, mode(of))).collect()
}

impl Part {
    /// Whether this agent (a compute unit or the command processor) must still make a request to
    /// this node for the beginning or end of a kernel.
    pub(crate) fn asks(&self, agent: u8) -> bool {
        self.todo.checked_shr(agent.into()).is_some_and(|agents| agents & 1 == 1)
    }
}

impl Machine {
    /// The part (the state of one node) at the beginning of its current step. If the step belongs
    /// to the beginning or end of a kernel, `todo` marks each agent (compute unit or command
    /// processor) that must make a request to the node.
    pub(crate) fn enter_step(&self, mut part: Part) -> Result<Part, String> {
        if let ProgramStep::Boundary(step, kernel, written) = self.steps.steps[usize::from(part.step)] {
            let requests = self.controllers.boundary(step, kernel, written)?;
            for (agent, (_, at, _)) in requests.iter().enumerate() {
                part.todo |= u16::from(*at == u32::from(part.node)) << agent;
            }
        }
        Ok(part)
    }

    /// The part (the state of one node) in the next step, after its current step has ended on all
    /// nodes.
    pub(crate) fn next_step(&mut self, part: u32) -> PartResult<u32> {
        let part = self.part(part).clone();
        let part = self.enter_step(Part { step: part.step + 1, ..part })?;
        self.settled(part)
    }

    /// Appends, as moves, the requests that agents (compute units and the command processor) can
    /// make to the node of a part (the state of one node) now, at the beginning or end of a kernel.
    pub(crate) fn boundary_moves(&mut self, part: &Part, part_moves: &mut Vec<PartMove>) {
        for agent in (0..CUS_MAX as u8).filter(|&agent| part.asks(agent)) {
            let effect = match self.ask_boundary(part, agent) {
                Ok(to) => Effect::Go(to),
                Err(why) => Effect::Fault(self.known.fault(&why)),
            };
            part_moves.push(PartMove { mv: Move::Boundary { agent }, is_optional: false, effect });
        }
    }

    pub(crate) fn ask_boundary(&mut self, part: &Part, agent: u8) -> PartResult<u32> {
        let ProgramStep::Boundary(step, kernel, written) = self.steps.steps[usize::from(part.step)] else {
            return Err(std::sync::Arc::from(
                "a request for the beginning or the end of a kernel is made, but the program is in a \
                 step of another kind",
            ));
        };
        let request = step.request(kernel, written);
        self.note_key(PlanKey::of(&request));
        let request = self.controllers.request(request);
        let bit = 1 << agent;
        let part = Part { todo: part.todo & !bit, due: part.due | bit, ..part.clone() };
        let slot = Slot(self.slots.of_boundaries() + u32::from(agent));
        let part = self.deliver(part, StationInput::Request { slot, request })?;
        self.settled(part)
    }

    /// Whether the threads of the part (the state of one node) have completed the current step of
    /// the program, and the requests of all agents (compute units and the command processor) to the
    /// node are answered.
    pub(crate) fn has_done_step(&self, part: &Part) -> bool {
        let stages = &self.code.placement.stages;
        part.todo == 0
            && part.due == 0
            && part.threads.iter().all(|&(t, state)| {
                let t = usize::from(t);
                !self.steps.runs(part.step, stages.get(t)) || self.code.is_done(t, self.thread(state))
            })
    }
}

/// The controllers of a machine for a program with these kernels. If `learnt` contains such
/// controllers, the function takes them from there.
pub(crate) fn controllers(
    subject: &Subject,
    topology: &proto::Topology,
    homes: proto::Homes,
    steps: &Steps,
    seeded_fault: Option<proto::SeededFault>,
    learnt: &mut Vec<Controllers>,
) -> Result<Controllers, Unsupported> {
    let is_it =
        |learnt: &Controllers| learnt.topology() == topology && learnt.kernels() == steps.kernels.as_slice();
    match learnt.iter().position(is_it) {
        Some(at) => Ok(learnt.swap_remove(at)),
        None => Controllers::new(subject, topology, homes, seeded_fault, &steps.kernels).map_err(Unsupported),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const TEXT: &str = "OPENCL kernels
{ }
P0@wg 0, dev 0 (global int* x) { *x = 1; }
P1@wg 1, dev 0 (global int* x, global int* y) { int r0 = *x; *y = 1; }
P2@wg 2, dev 0 (global int* y) { int r0 = *y; *y = 2; }
exists (x=1)
";

    #[test]
    fn kernels_acquire_after_host_writes_and_release_before_host_reads() {
        let program = litmus::parse::parse(TEXT).expect("a test");
        let agents = vec![Agent::Host(0), Agent::Cu(0), Agent::Cu(1)];
        let spread = Placement { agents, ..Placement::spread(&program) };
        let kernels = |stages: [u8; 3]| {
            let placement = Placement { stages: stages.to_vec(), ..spread.clone() };
            let (words, _) = placement.layout(&program).expect("two words");
            Steps::of(&program, &placement, &words, 2).expect("it fits").staged()
        };
        let flags = |stages| {
            let kernels = kernels(stages).into_iter();
            kernels.map(|kernel| (kernel.host_has_written, kernel.is_released)).collect::<Vec<_>>()
        };
        assert_eq!(flags([0, 1, 2]), [(true, false), (false, true)]);
        assert_eq!(flags([1, 0, 2]), [(false, true), (true, true)]);
        let modes = |kernel: &StagedKernel| kernel.uses.iter().map(|of| of.mode).collect::<Vec<_>>();
        let modes: Vec<_> = kernels([0, 1, 2]).iter().map(modes).collect();
        assert_eq!(modes, [vec![AccessMode::Read, AccessMode::Write], vec![AccessMode::ReadWrite]]);
    }
}
