//! The verdict of an HRF model on a program: whether the program is race-free in all sequentially
//! consistent executions, and the outcomes of the program.

use core::fmt;
use std::collections::BTreeSet;

use proto::words::counted;

use super::explain::{self, Gap};
use super::plan::{Plan, RaceKind};
use super::search::{self, Effort, Pair, SearchResult};
use super::state::State;
use super::trace::{self, Execution};
use super::{CheckError, InstrPlace, Options, Reading};
use crate::program::{LocId, Program, Term, ThreadId, Value};

/// The reason why a search is incomplete.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum Incomplete {
    /// A thread has taken the same backward jump this number of times, which is the limit, and has
    /// not ended.
    Unroll(u16),
    /// A thread has made this many accesses, which is the limit, and has not ended.
    Accesses(usize),
    /// The search has visited this many states, which is the limit.
    States(u64),
    /// The caller stopped the search.
    Stopped,
}

impl Incomplete {
    pub(crate) const fn ends_search(self) -> bool {
        !matches!(self, Incomplete::Unroll(_) | Incomplete::Accesses(_))
    }
}

impl fmt::Display for Incomplete {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Incomplete::Unroll(bound) => {
                write!(f, "some loop runs more than {}", counted(u64::from(*bound), "time"))
            }
            Incomplete::Accesses(bound) => {
                write!(f, "some thread makes more than {}", counted(*bound as u64, "access"))
            }
            Incomplete::States(bound) => write!(f, "the search has more than {}", counted(*bound, "state")),
            Incomplete::Stopped => f.write_str("the search was stopped"),
        }
    }
}

/// Two instructions whose accesses conflict.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct Conflicting {
    /// Of the two conflicting instructions, the instruction of the thread with the lower number.
    pub first: InstrPlace,
    /// Of the two conflicting instructions, the instruction of the thread with the higher number.
    pub second: InstrPlace,
    /// The kind of the conflict.
    pub kind: RaceKind,
}

/// A race: two conflicting accesses that happens-before does not order.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Race {
    /// The two accesses that race.
    pub pair: Conflicting,
    /// The word that both racing accesses use.
    pub location: LocId,
    /// The steps of an execution up to the race. The last step makes the second of the two racing
    /// accesses.
    pub execution: Execution,
    /// The numbers of the two steps of `execution` that make the racing accesses.
    pub steps: (usize, usize),
    /// The reasons why no chain of synchronization orders the two racing accesses.
    pub gaps: Vec<Gap>,
}

/// The verdict of an HRF model on a program.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Verdict {
    /// The reading (interpretation) of the model: the model, and a decision for each question that
    /// the paper leaves open.
    pub reading: Reading,
    /// The registers and locations (terms) whose values form a final state.
    pub terms: Vec<Term>,
    /// The final states of all sequentially consistent executions. If there is a race,
    /// the model also allows all other states.
    pub states: BTreeSet<Vec<Value>>,
    /// The pairs of instructions that race in some execution. Each pair occurs once.
    pub races: Vec<Race>,
    /// The pairs of instructions whose accesses conflict and are ordered by synchronization in some
    /// execution. If a race-free program has no such pair, it does not test synchronization.
    pub ordered: Vec<Conflicting>,
    /// An execution that ends with a thread that waits for ever. `None` if there is no such
    /// execution.
    pub blocked: Option<Execution>,
    /// The reason why the search is incomplete. `None` if it is complete.
    pub incomplete: Option<Incomplete>,
    /// The effort of the search.
    pub effort: Effort,
}

impl Verdict {
    /// Whether no race was found.
    #[must_use]
    pub fn is_race_free(&self) -> bool {
        self.races.is_empty()
    }

    /// Whether, in some execution, synchronization orders a conflict that involves an ordinary data
    /// access.
    #[must_use]
    pub fn orders_data(&self) -> bool {
        self.ordered.iter().any(|pair| pair.kind == RaceKind::Ordinary)
    }

    /// Whether a final state has the property of the program's condition.
    pub(crate) fn satisfies(&self, program: &Program, state: &[Value]) -> bool {
        let mut value = |term| match term {
            Term::Const(value) => value,
            _ => self.terms.iter().position(|&t| t == term).map_or(0, |at| state[at]),
        };
        program.condition.prop.holds(&mut value)
    }

    /// Whether the outcomes of the sequentially consistent executions meet the program's condition.
    #[must_use]
    pub fn condition_met(&self, program: &Program) -> bool {
        let holds = |state: &Vec<Value>| self.satisfies(program, state);
        program.condition.verdict(self.states.iter().any(holds), self.states.iter().all(holds))
    }
}

/// Checks the program against the model that `options` selects, and returns the verdict.
///
/// # Errors
/// If the program has a construct that the model does not define, or an expression
/// without a value.
pub fn check(program: &Program, options: &Options) -> Result<Verdict, CheckError> {
    check_until(program, options, &mut || true)
}

/// Checks a program like [`check`], but stops with the results so far if `keep_going` returns
/// false. The search calls `keep_going` every few thousand states.
///
/// # Errors
/// The errors of [`check`].
pub fn check_until(
    program: &Program,
    options: &Options,
    keep_going: &mut dyn FnMut() -> bool,
) -> Result<Verdict, CheckError> {
    let (found, accesses) = search::search(program, *options, keep_going)?;
    let SearchResult { finals, races, ordered, blocked, incomplete, effort } = found;
    let pair = |(a, b): Pair, kind| {
        let place = |access: u16| {
            let (t, pc) = accesses[usize::from(access)];
            InstrPlace::new(program, ThreadId(t), usize::from(pc))
        };
        Conflicting { first: place(a), second: place(b), kind }
    };
    let plan = Plan::new(program, *options)?;
    let races = races.into_iter().map(|(accesses, (kind, path))| {
        let pair = pair(accesses, kind);
        let path = trace::causes(&plan, &path)?;
        let execution = trace::replay(&plan, &path)?;
        Ok(explain::race(program, options.reading, pair, execution))
    });
    Ok(Verdict {
        reading: options.reading,
        terms: plan.terms.clone(),
        states: finals,
        races: races.collect::<Result<Vec<_>, CheckError>>()?,
        ordered: ordered.into_iter().map(|(accesses, kind)| pair(accesses, kind)).collect(),
        blocked: blocked.map(|path| trace::replay(&plan, &path)).transpose()?,
        incomplete,
        effort,
    })
}

/// The value of a term (a register, a location or a constant) in a state.
pub(crate) fn term_value(plan: &Plan<'_>, state: &State, term: Term) -> Value {
    match term {
        Term::Const(value) => value,
        Term::Loc(loc) => state.memory[super::plan::physical(plan.program, loc)],
        Term::Reg(thread, reg) => {
            let thread = &plan.threads[usize::from(thread.0)];
            state.registers[thread.registers_base + usize::from(reg.0)]
        }
    }
}
