//! Liveness: is there an execution that goes on for ever, although the scheduler
//! keeps its promise?
//!
//! Two searches share the work. One runs the threads step by step over one memory and
//! looks for cycles, whatever a loop reads and writes: every model allows these runs.
//! The other takes the executions that the model allows and that no interleaving may
//! show, and looks for threads whose last round of a loop only reads, and reads what
//! memory holds at the end.

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

/// A step of a thread: an instruction with what is computed around it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Step {
    /// Whose.
    pub thread: usize,
    /// The position of the instruction in its code.
    pub pc: usize,
}

/// A run that never ends.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Run {
    /// How it begins.
    pub prefix: Vec<Step>,
    /// What it does again and again.
    pub round: Vec<Step>,
}

/// What shows that a test may go on for ever.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Witness {
    /// A run over one memory.
    Run(Run),
    /// An execution of the model, with the threads that spin at its end.
    Execution(Box<Execution>, Vec<usize>),
}

/// Looks for an execution that goes on for ever.
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
            gaps.push(String::from("there are too many states, or the time was up"));
        }
        let spins = check::spinning(program, model, scheduler, options)?;
        gaps.extend(spins.gap);
        witness = spins.found.map(|(execution, threads)| Witness::Execution(Box::new(execution), threads));
    }
    Ok(report::report(program, model, scheduler, witness, &gaps))
}
