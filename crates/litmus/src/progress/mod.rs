//! Liveness: a search for executions that do not terminate under a fair or partly fair scheduler.
//!
//! There are two searches. The first one runs the threads step by step over one memory and looks
//! for cycles. Every model allows the runs of this search. The second one takes the executions that
//! the model allows, including those that no interleaving produces. It looks for threads whose last
//! loop iteration consists only of reads, and whose reads return the final values of memory.

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

/// A step of a thread: one memory instruction and the computations around it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct RunStep {
    /// The number of the thread.
    pub thread: usize,
    /// The position of the instruction in the thread's code.
    pub pc: usize,
}

/// A run that does not terminate.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct InfiniteRun {
    /// The steps before the cycle.
    pub prefix: Vec<RunStep>,
    /// The steps of the cycle.
    pub round: Vec<RunStep>,
}

/// Evidence that a test may not terminate.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Witness {
    /// A run over one memory.
    Run(InfiniteRun),
    /// An execution of the model, and the threads that spin at its end.
    Execution(Box<Execution>, Vec<usize>),
}

/// Looks for a non-terminating execution.
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
