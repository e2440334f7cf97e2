//! Programs that pass messages between any number of compute units.
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
//! **Closure.** The closure proves that further listeners add nothing. It is the smallest set of
//! views that contains the first view and is closed under two kinds of steps. The first kind is a
//! step of a view itself. The second kind is a message from another listener; the other listener
//! must be able to send the message in some view of the set that has the same shared part. By
//! induction, the set contains each view of each reachable state with any number of listeners. The
//! literature calls this method view abstraction; here each view has one process (the listener).
//!
//! The induction needs some properties of the protocol. The computation checks each property at
//! each step. If a property does not hold, the result names this property as the obstacle:
//!
//! * The shared part after a step does not depend on the inputs of listeners that wait at a
//!   controller. So the computation need not know how many of these inputs a step wakes. A station
//!   (a controller with its queues) presents them one after another, and its controller does not see
//!   the inputs that wait.
//! * The shared part does not depend on which listener sent a message. So no controller remembers
//!   the identity of a listener, except with an input that waits.
//! * No controller sends a message to a listener that does not wait for the message. So no
//!   controller counts listeners.
//! * No core waits because a channel is full.
//!
//! The closure shows safety: no listener acquires a flag without the data, and no step is
//! impossible. The closure does not show that each request is answered. The exploration looks for
//! deadlocks with up to three listeners.

mod listening;
mod program;

use core::fmt;

use proto::WritePolicy::{Combining, Through, ThroughInvalidate};
use proto::issue::IssueRule;
use proto::words::counted;
use proto::{SeededFault, Sharing, Symbol as _, WritePolicy};
use rustc_hash::FxHashSet;

use crate::machine::bounds::Bounds;
use crate::machine::placement::Unsupported;
use crate::parallel::in_parallel;
use crate::programs::corpus;
use crate::subject::Subject;
use listening::{Halt, Listening};
use program::{LAYOUTS, LISTENERS, LISTENERS_MAX, Layout, Listener};

/// The largest number of compute units for which views (states with one listener) are counted: one
/// unit for the sender of data, and one for each listener, which receives the data.
pub const UNITS_MAX: usize = LISTENERS_MAX + 1;

/// The counts of one exploration with a fixed number of listeners (compute units that receive data
/// from the sender).
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Growth {
    /// The number of listeners (compute units that receive data).
    pub listeners: usize,
    /// The number of explored states of the machine.
    pub states: usize,
    /// The number of views of the first listener (states without the other receiving compute
    /// units), or `None` if the exploration reached its limit of states.
    pub views: Option<usize>,
}

/// The result of the attempt to compute the closure: a set that contains the views (states with one
/// listener) for any number of listeners (compute units that receive data).
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Closure {
    /// The set of views (states with one listener, a receiving compute unit) is closed: no step
    /// leads out of the set. No view in the set shows a fault.
    Closed {
        /// The number of views of one listener (states without the other receiving compute units).
        views: usize,
        /// The number of different shared parts. A shared part is a view (a state with one
        /// listener, a receiving compute unit) without its listener.
        shared: usize,
    },
    /// A run with a small number of listeners (compute units that receive data) shows a fault.
    Refuted {
        /// The number of listeners (compute units that receive data) of the run.
        listeners: usize,
        /// The description of the fault.
        why: String,
    },
    /// The closure (a set of states that covers any number of compute units) could not be computed,
    /// for the reason in the text. The protocol may still be correct.
    Obstacle(String),
    /// The computation was stopped before its end.
    Stopped,
}

/// The results for one program, with one layout of its words and one scope, on one machine: the
/// growth (the numbers of views with one, two and three listeners) and the closure (the set of
/// views that covers any number of listeners). A view is a state in which all listeners (receiving
/// compute units) except one are left out.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Cutoff {
    /// The name of the flag's path: the flag goes from the sender to each listener (receiving
    /// compute unit), or from listener to listener.
    pub program: &'static str,
    /// The scope of all atomics, by its name in OpenCL.
    pub scope: &'static str,
    /// The name of the layout (the assignment of words to lines). The name says where the words lie
    /// that the listeners (receiving compute units) write, such as beside the data.
    pub layout: &'static str,
    /// The bounds of the machine.
    pub bounds: Bounds,
    /// The numbers of views of the programs with one, two and three listeners (receiving compute
    /// units). A view is a state of such a program, of which only one listener is kept.
    pub growth: Vec<Growth>,
    /// The result for the closure: the set of views (states with one listener) that covers any
    /// number of listeners (receiving compute units).
    pub closure: Closure,
}

impl Cutoff {
    /// Whether the closure (a set of states) proves that the program is safe with any number of
    /// listeners (compute units that receive data).
    #[must_use]
    pub fn is_closed(&self) -> bool {
        matches!(self.closure, Closure::Closed { .. })
    }

    /// The number of views of the first listener (states without the other receiving compute units)
    /// on a machine with this number of compute units. `None` if the number was not computed.
    #[must_use]
    pub fn views(&self, units: usize) -> Option<usize> {
        self.growth.iter().find(|growth| growth.listeners + 1 == units).and_then(|growth| growth.views)
    }

    /// The description of the machine, and of the scope of all atomics, as text.
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

/// The options of [`cutoffs`], which examines programs with any number of compute units: limits,
/// the number of parallel jobs, a seeded fault and a stop condition.
#[derive(Clone, Copy)]
pub struct Options<'a> {
    /// The largest number of states of one exploration.
    pub states_max: usize,
    /// The largest number of views in the computation of one closure (a set of views that covers
    /// any number of compute units). A view is a state with one listener (receiving compute unit).
    pub views_max: usize,
    /// The number of programs that are examined at the same time.
    pub jobs: usize,
    /// The seeded fault of the protocol. `None` for the protocol as written.
    pub seeded_fault: Option<SeededFault>,
    /// Returns true if the computation must stop early.
    pub stop: &'a (dyn Fn() -> bool + Sync),
}

impl Options<'_> {
    /// The options with the limits that the command line uses, and without a seeded fault.
    #[must_use]
    pub fn new(jobs: usize, stop: &(dyn Fn() -> bool + Sync)) -> Options<'_> {
        Options { states_max: 200_000, views_max: 1_000_000, jobs, seeded_fault: None, stop }
    }
}

/// The machines on which the programs run. A private cache holds one line, and the shared cache
/// holds all lines. The shared cache is write-combining, because a write-through shared cache can
/// have an unbounded number of writes to memory under way.
fn machines() -> Vec<Bounds> {
    let ample = |l1: WritePolicy, l2: WritePolicy| Bounds { ways: (1, 4), ..Bounds::new(l1, l2) };
    vec![
        ample(Combining, Combining),
        ample(Combining, Combining).core(IssueRule::Gpu),
        ample(Through, Combining).core(IssueRule::Gpu),
        ample(ThroughInvalidate, Combining),
    ]
}

/// The scopes of the atomics that are tried: device scope and, if the protocol treats scopes only
/// as hints, also work-group scope. In such a protocol, atomics of work-group scope also
/// synchronize compute units, but the protocol may perform them in another way than atomics of
/// device scope.
fn scopes(subject: &Subject) -> &'static [&'static str] {
    let are_hints = subject.info.sharing == Sharing::Unscoped && corpus::scopes_matter(subject);
    if are_hints { &["device", "work_group"] } else { &["device"] }
}

/// Computes the growth and the closure (see [`Growth`] and [`Closure`]) of each program under a
/// protocol, in each layout of words and on each machine.
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

/// Computes the growth (the numbers of views) and the closure (the set of views for any number of
/// listeners) of one program, in one layout and on one machine. A view is a state with one listener
/// (receiving compute unit).
fn cutoff(
    subject: &Subject,
    (bounds, scope, layout, listener): (Bounds, &'static str, &Layout, &Listener),
    options: Options<'_>,
) -> Result<Cutoff, Unsupported> {
    let mut listening = Listening::new(subject, (bounds, options.seeded_fault), (listener, scope, layout))?;
    let mut growth = Vec::new();
    let closure = grow_and_close(&mut listening, options, &mut growth).unwrap_or_else(|halt| match halt {
        // An exploration (growth) meets only states of runs, so its faults refute the program. The
        // closure may contain views that no run has, so a fault in it proves nothing.
        Halt::Fault(why)
            if growth.last().is_none_or(|last| last.views.is_some() && last.listeners < LISTENERS_MAX) =>
        {
            Closure::Refuted { listeners: growth.len() + 1, why }
        }
        Halt::Fault(why) => Closure::Obstacle(format!(
            "the computed set of views (states with one listener) contains a view in which {why}"
        )),
        Halt::Obstacle(why) => Closure::Obstacle(why),
        Halt::Stopped => Closure::Stopped,
    });
    Ok(Cutoff { program: listener.name, scope, layout: layout.name, bounds, growth, closure })
}

/// Computes the growth (the numbers of views with one, two and three listeners), then the closure
/// (the set of views for any number of listeners). A view is a state with one listener (receiving
/// compute unit). Adds the counts of each exploration to `growth`.
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
