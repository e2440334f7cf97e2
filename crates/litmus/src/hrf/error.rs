//! The errors of a check. A program with such an error gets no verdict.

use core::fmt;

use super::Model;
use crate::program::{EvalError, Program, ThreadId};

/// An instruction of a program.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct InstrPlace {
    /// The thread that executes the instruction.
    pub thread: ThreadId,
    /// The position of the instruction in the code of its thread.
    pub pc: u16,
    /// The source line of the instruction, or 0 if the line is unknown.
    pub line: u32,
}

impl InstrPlace {
    /// The place of the instruction at position `pc` of a thread.
    #[must_use]
    pub fn new(program: &Program, thread: ThreadId, pc: usize) -> InstrPlace {
        let line = program.thread(thread).lines.get(pc).copied().unwrap_or(0);
        InstrPlace { thread, pc: pc as u16, line }
    }
}

impl fmt::Display for InstrPlace {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self.line {
            0 => write!(f, "P{}, instruction {}", self.thread.0, self.pc + 1),
            line => write!(f, "P{}, line {line}", self.thread.0),
        }
    }
}

/// The reason why a check of a program gives no verdict.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum CheckError {
    /// The program uses a construct that the model does not define.
    Undefined {
        /// The model that does not define the construct.
        model: Model,
        /// The instruction that uses the undefined construct.
        place: InstrPlace,
        /// The undefined construct in words, with a suggestion of what to use instead.
        what: String,
    },
    /// A thread synchronizes at a scope that it is not in.
    NotMember {
        /// The instruction that synchronizes.
        place: InstrPlace,
        /// The name of the scope at which the thread synchronizes.
        scope: String,
    },
    /// The program is too large.
    TooLarge {
        /// The kind of elements of which the program has too many, such as instructions.
        what: &'static str,
        /// The number of elements of the kind `what` in the program.
        found: usize,
        /// The limit on the number of elements of the kind `what`.
        max: usize,
    },
    /// An expression of an instruction has no value.
    Eval {
        /// The place of the instruction with the expression.
        place: InstrPlace,
        /// The reason why the expression has no value.
        error: EvalError,
    },
    /// An instruction accesses an address at which there is no location.
    NotAnAddress {
        /// The place of the instruction that accesses the address.
        place: InstrPlace,
        /// The value of the address expression.
        value: String,
    },
}

impl CheckError {
    /// The instruction that causes the error. `None` if the error concerns the whole program.
    #[must_use]
    pub fn place(&self) -> Option<InstrPlace> {
        match *self {
            CheckError::Undefined { place, .. }
            | CheckError::NotMember { place, .. }
            | CheckError::Eval { place, .. }
            | CheckError::NotAnAddress { place, .. } => Some(place),
            CheckError::TooLarge { .. } => None,
        }
    }
}

impl fmt::Display for CheckError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            CheckError::Undefined { model, place, what } => {
                write!(f, "{place}: {model} does not define {what}")
            }
            CheckError::NotMember { place, scope } => write!(
                f,
                "{place}: an operation synchronizes at {scope}, which does not hold P{}; expected a scope \
                 that holds this thread",
                place.thread.0
            ),
            CheckError::TooLarge { what, found, max } => {
                write!(f, "the test has {found} {what}; expected at most {max}")
            }
            CheckError::Eval { place, error } => write!(f, "{place}: {error}"),
            CheckError::NotAnAddress { place, value } => {
                write!(f, "{place}: found the address {value}, expected the address of a location")
            }
        }
    }
}

impl core::error::Error for CheckError {}
