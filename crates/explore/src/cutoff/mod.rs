//! Message programs with any number of compute units.
//!
//! A program of this module has one sender and any number of equal listeners, each on a compute
//! unit of its own. A *view* of a listener is a state of the machine in which all other listeners
//! are left out: their caches, their messages, and their inputs that wait at other controllers. The
//! *shared part* of a view is the view without its listener.
//!
//! **Growth.** The program is explored with one, two and three listeners (two to four compute
//! units), and the views of the first listener are counted. If the number stops growing, further
//! listeners seem to add nothing.
//!
//! **Closure.** The closure is a proof of it. It is the smallest set of views that contains the
//! first view and is closed under two kinds of steps: a step of the view itself, and a message from
//! another listener of which some view in the set has the same shared part. By induction, each view
//! of each reachable state with any number of listeners is in the set. The literature calls this
//! method view abstraction; here each view has one process.
//!
//! The induction needs some properties of the protocol. Each of them is checked at each step, and a
//! property that does not hold is the obstacle that the result names:
//!
//! * The shared part after a step does not depend on the inputs of listeners that wait at a
//!   controller, so one step may wake any number of them. A station presents them one after
//!   another, and its controllers do not see the waiting inputs.
//! * The shared part does not depend on the listener that sent a message. So no controller
//!   remembers the identity of a listener, except with an input that waits.
//! * No controller sends a message to a listener that does not wait for it. So no controller
//!   counts listeners.
//! * No core waits because a channel is full.
//!
//! The closure shows safety: no listener acquires a flag without the data, and no step is
//! impossible. It does not show that a request is answered. Deadlocks are looked for with up to
//! three listeners.

mod listening;
mod program;

use core::fmt;

use proto::WritePolicy::{Combining, Through, ThroughInvalidate};
use proto::issue::IssueRule;
use proto::words::counted;
use proto::{Mutation, Sharing, Symbol as _, WritePolicy};
use rustc_hash::FxHashSet;

use crate::machine::bounds::Bounds;
use crate::machine::placement::Unsupported;
use crate::parallel::in_parallel;
use crate::programs::corpus;
use crate::subject::Subject;
use listening::{Halt, Listening};
use program::{LAYOUTS, LISTENERS, LISTENERS_MAX, Layout, Listener};

/// The largest number of compute units of which the views are counted: those of the sender and of
/// the listeners.
pub const UNITS_MAX: usize = LISTENERS_MAX + 1;

/// The number of views with some number of listeners.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Growth {
    /// The number of listeners.
    pub listeners: usize,
    /// The number of explored states of the machine.
    pub states: usize,
    /// The number of views of the first listener, or `None` if the exploration reached its limit of
    /// states.
    pub views: Option<usize>,
}

/// The result for the set of views with any number of listeners.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Closure {
    /// The set is closed, and none of its views shows a fault.
    Closed {
        /// The number of views of one listener.
        views: usize,
        /// The number of different shared parts.
        shared: usize,
    },
    /// A run with a small number of listeners shows a fault.
    Refuted {
        /// The number of listeners of the run.
        listeners: usize,
        /// The fault.
        why: String,
    },
    /// The set could not be computed, for this reason. The protocol may be right.
    Obstacle(String),
    /// The computation was stopped before its end.
    Stopped,
}

/// The result for one program, layout and machine.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Cutoff {
    /// The way of the flag: from the sender to each listener, or from listener to listener.
    pub program: &'static str,
    /// The scope of all atomics, as in OpenCL.
    pub scope: &'static str,
    /// The place of the words that the listeners write.
    pub layout: &'static str,
    /// The bounds of the machine.
    pub bounds: Bounds,
    /// The numbers of views with one, two and three listeners.
    pub growth: Vec<Growth>,
    /// The set of views with any number of listeners.
    pub closure: Closure,
}

impl Cutoff {
    /// Whether the program is safe with any number of listeners.
    #[must_use]
    pub fn is_closed(&self) -> bool {
        matches!(self.closure, Closure::Closed { .. })
    }

    /// The number of views with this number of compute units, if it was computed.
    #[must_use]
    pub fn views(&self, units: usize) -> Option<usize> {
        self.growth.iter().find(|growth| growth.listeners + 1 == units).and_then(|growth| growth.views)
    }

    /// The machine and the scope, as text.
    #[must_use]
    pub fn machine(&self) -> String {
        let Bounds { l1, l2, core, .. } = self.bounds;
        format!("{}/{}, {} cores, {} scope", l1.name(), l2.name(), core.label(), self.scope)
    }
}

impl fmt::Display for Closure {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Closure::Closed { views, shared } => {
                let shared = counted(*shared as u64, "shared part");
                write!(f, "closed: {}, {shared}", counted(*views as u64, "view"))
            }
            Closure::Refuted { listeners, why } => {
                write!(f, "refuted with {}: {why}", counted(*listeners as u64, "listener"))
            }
            Closure::Obstacle(why) => write!(f, "not proved: {why}"),
            Closure::Stopped => f.write_str("stopped before the end"),
        }
    }
}

/// The bounds and the other conditions of a computation of cutoffs.
#[derive(Clone, Copy)]
pub struct Options<'a> {
    /// The largest number of states of one exploration.
    pub states_max: usize,
    /// The largest number of views of one closure.
    pub views_max: usize,
    /// The number of programs that are computed at the same time.
    pub jobs: usize,
    /// A seeded fault.
    pub mutation: Option<Mutation>,
    /// Whether to stop early.
    pub stop: &'a (dyn Fn() -> bool + Sync),
}

impl Options<'_> {
    /// The bounds of the command line, without a seeded fault.
    #[must_use]
    pub fn new(jobs: usize, stop: &(dyn Fn() -> bool + Sync)) -> Options<'_> {
        Options { states_max: 200_000, views_max: 1_000_000, jobs, mutation: None, stop }
    }
}

/// The machines on which the programs run. A private cache holds one line, the shared cache holds
/// all lines. The shared cache is write-combining: in front of a write-through one, the writes to
/// memory are not bounded.
fn machines() -> Vec<Bounds> {
    let ample = |l1: WritePolicy, l2: WritePolicy| Bounds { ways: (1, 4), ..Bounds::new(l1, l2) };
    vec![
        ample(Combining, Combining),
        ample(Combining, Combining).core(IssueRule::Gpu),
        ample(Through, Combining).core(IssueRule::Gpu),
        ample(ThroughInvalidate, Combining),
    ]
}

/// The scopes of the atomics. Where scopes are hints, atomics of work-group scope synchronize compute
/// units too, and the protocol may perform them in another way.
fn scopes(subject: &Subject) -> &'static [&'static str] {
    let are_hints = subject.info.sharing == Sharing::Unscoped && corpus::scopes_matter(subject);
    if are_hints { &["device", "work_group"] } else { &["device"] }
}

/// Computes growth and closure of each program of a protocol, in each layout and on each machine.
///
/// # Errors
/// If a machine cannot run a program.
pub fn cutoffs(subject: &Subject, options: Options<'_>) -> Result<Vec<Cutoff>, Unsupported> {
    let mut places = Vec::new();
    for bounds in machines() {
        for scope in scopes(subject) {
            let programs = LAYOUTS.iter().flat_map(|layout| LISTENERS.iter().map(move |code| (layout, code)));
            places.extend(programs.map(|(layout, listener)| (bounds, *scope, layout, listener)));
        }
    }
    let all = in_parallel(options.jobs, places.len(), || |at: usize| cutoff(subject, places[at], options));
    all.into_iter().collect()
}

/// Computes growth and closure of one program, in one layout and on one machine.
fn cutoff(
    subject: &Subject,
    (bounds, scope, layout, listener): (Bounds, &'static str, &Layout, &Listener),
    options: Options<'_>,
) -> Result<Cutoff, Unsupported> {
    let mut listening = Listening::new(subject, (bounds, options.mutation), (listener, scope, layout))?;
    let mut growth = Vec::new();
    let closure = grow_and_close(&mut listening, options, &mut growth).unwrap_or_else(|halt| match halt {
        // The set may contain views that no run has, but the growth counts states of runs.
        Halt::Fault(why)
            if growth.last().is_none_or(|last| last.views.is_some() && last.listeners < LISTENERS_MAX) =>
        {
            Closure::Refuted { listeners: growth.len() + 1, why }
        }
        Halt::Fault(why) => Closure::Obstacle(format!("the set contains a view in which {why}")),
        Halt::Obstacle(why) => Closure::Obstacle(why),
        Halt::Stopped => Closure::Stopped,
    });
    Ok(Cutoff { program: listener.name, scope, layout: layout.name, bounds, growth, closure })
}

/// Computes the closure after the growth. Adds each number of the growth to `growth`.
fn grow_and_close(
    listening: &mut Listening,
    options: Options<'_>,
    growth: &mut Vec<Growth>,
) -> Result<Closure, Halt> {
    listening.warm_up()?;
    let mut explored = FxHashSet::default();
    for listeners in 1..=LISTENERS_MAX {
        let counts = listening.explore(listeners, options, &mut explored)?;
        let is_complete = counts.views.is_some();
        growth.push(counts);
        if !is_complete {
            break;
        }
    }
    let (views, shared) = listening.close(options, &explored)?;
    Ok(Closure::Closed { views, shared })
}
