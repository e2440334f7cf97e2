//! Liveness: searches for executions of a test that do not terminate, although the scheduler is
//! fair to all or to some threads.
//!
//! There are two searches. The first search executes the threads step by step over one memory, and
//! looks for cycles of states. Every model allows the runs of this search. The second search
//! examines the executions that the model allows, including those that no interleaving produces. It
//! looks for threads whose last loop iteration makes no write, and whose reads in this iteration
//! return the final values of memory.

mod lasso;
mod machine;
mod report;
mod scheduler;

pub use report::Report;
pub use scheduler::Scheduler;

use crate::cat::Model;
use crate::check::{self, Execution, Options};
use crate::parse::TextError;
use crate::program::Program;

use machine::Machine;

/// A step of a thread: one memory instruction, with the instructions around it that only compute or
/// jump.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct RunStep {
    /// The number of the thread that takes the step.
    pub thread: usize,
    /// The position of the instruction in the thread's code.
    pub pc: usize,
}

/// A run that does not terminate.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct InfiniteRun {
    /// The steps before the cycle, which are taken once.
    pub prefix: Vec<RunStep>,
    /// The steps of the cycle, which repeats for ever.
    pub round: Vec<RunStep>,
}

/// Evidence that some execution of a test does not terminate.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Witness {
    /// A run of the threads over one memory that does not terminate.
    Run(InfiniteRun),
    /// An execution that the model allows, and the threads that spin at its end.
    Execution(Box<Execution>, Vec<usize>),
}

/// Looks for an execution of the program that does not terminate, although the scheduler keeps its
/// guarantees.
///
/// # Errors
/// If the model does not fit the test.
pub fn liveness(
    program: &Program,
    model: &Model,
    scheduler: Scheduler,
    options: &mut Options<'_>,
) -> Result<Report, TextError> {
    let machine = Machine::new(program);
    let found = lasso::search(&machine, scheduler, &mut *options.stop);
    let mut witness = found.run.map(Witness::Run);
    let mut gaps = Vec::new();
    if witness.is_none() {
        if !found.complete {
            gaps.push(String::from("the state limit or the time limit was reached"));
        }
        let spins = check::spinning(program, model, scheduler, options)?;
        gaps.extend(spins.gap);
        witness = spins.found.map(|(execution, threads)| Witness::Execution(Box::new(execution), threads));
    }
    Ok(report::report(program, model, scheduler, witness, &gaps))
}
