//! The file format of a counterexample.
//!
//! The file has one field on each line, in the order below, then the program's text, then the
//! moves. An optional line `seeded NAME` after the protocol names a seeded fault. An optional line
//! `sets N M` before `ways` gives the numbers of sets of each private cache and of each bank. After
//! `merge-memory`, an optional line `skew N` gives the maximum number of ticks between the clocks
//! of nodes, an optional line `preemptions N` the maximum number of preemptions of a run, and an
//! optional line `overtaking yes` lets messages of a channel overtake one another. After `lines`,
//! an optional line `widths` gives the width of each location in bytes, an optional line `lanes
//! yes` combines accesses to a line into one request, and an optional line `stages` gives the
//! kernel of each thread.
//!
//! ```text
//! fencepost trace 1
//! test hlrc.litmus
//! protocol hlrc
//! models drf
//! l1 Combining
//! l2 Combining
//! ways 2 2
//! misses 2 2
//! store-buffer 2
//! banks 2
//! evictions no
//! core InOrder
//! queue 4
//! merge-memory yes
//! agents cu0
//! lines 0
//! changes none
//! fault Outcome
//! why it ends with 0:r0=0;
//! program
//! | OPENCL hlrc-word-of-two-kinds
//! | ...
//! moves
//! issue 0
//! deliver 0 1 0
//! ```

pub mod chart;
mod read;

use core::fmt;
use std::collections::BTreeSet;

use litmus::program::Program;
use proto::{Agent, Hosts, SeededFault, Symbol as _};

use crate::machine::bounds::Bounds;
use crate::machine::kernels::{StagedKernel, Steps};
use crate::machine::outcome::Outcome;
use crate::machine::placement::{Placement, Unsupported};
use crate::mutants::Mutant;
use crate::programs::claim::{Claim, NoPromise, Promise};
use crate::programs::test::Test;
use crate::programs::transform::Transform;
use crate::search::engine::Limits;
use crate::search::replay::{End, Replay};
use crate::search::{Explorer, Fault, Requirements, Violation};
use crate::subject::Subject;
use crate::verify::Finding;
use crate::verify::reason;
use crate::verify::run;

/// A counterexample, with everything that its replay needs.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Trace {
    /// The name of the test.
    pub test: String,
    /// The name of the protocol.
    pub protocol: String,
    /// The seeded fault, if the trace belongs to a mutant.
    pub mutant: Option<Mutant>,
    /// The models of the claims that the counterexample violates.
    pub models: Vec<String>,
    /// The bounds of the machine.
    pub bounds: Bounds,
    /// The placement of the program.
    pub placement: Placement,
    /// The fault, and the moves that lead to it.
    pub violation: Violation,
    text: String,
    program: Program,
    transform: Transform,
}

/// The error of a file whose text is not a trace.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct TraceError {
    /// The number of the line, counted from one.
    pub line: usize,
    /// The description of the error: the text found and the text expected.
    pub what: String,
}

impl fmt::Display for TraceError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "line {}: {}", self.line, self.what)
    }
}

impl core::error::Error for TraceError {}

/// The result of the replay of a trace.
#[derive(Clone, Debug)]
pub struct Replayed {
    /// The steps of the replayed trace.
    pub replay: Replay,
    /// Whether the fault of the trace reproduces.
    pub verdict: Verdict,
    /// The description of the end of the replay.
    pub end: String,
}

/// Whether the fault of a trace reproduces.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Verdict {
    /// The replay shows the fault of the trace.
    Same,
    /// The replay shows another fault than the trace.
    Another,
    /// The program ends as allowed, or the controllers agree again, so the fault no longer
    /// reproduces.
    Gone,
    /// The machine does not offer the moves, or the moves end before the program does.
    Misfit,
}

/// The reason why a trace cannot be replayed.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Obstacle {
    /// The machine, the program or a model of the trace does not exist, as described.
    Unfit(String),
    /// The exploration that the replay needs is incomplete, for this reason.
    Incomplete(String),
}

impl fmt::Display for Obstacle {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Obstacle::Unfit(why) | Obstacle::Incomplete(why) => f.write_str(why),
        }
    }
}

impl core::error::Error for Obstacle {}

impl From<String> for Obstacle {
    fn from(why: String) -> Obstacle {
        Obstacle::Unfit(why)
    }
}

/// The description of the end of a replay without the violation of a rule about the lines of
/// several controllers.
const IN_AGREEMENT: &str = "the lines of the controllers violate no rule of the protocol";
/// The first line of the file of a trace.
const HEAD: &str = "fencepost trace 1";
/// The largest number that a file may give for a size of the machine, such as its banks.
const SIZE_MAX: u32 = 64;
/// The maximum number of moves of a trace.
const MOVES_MAX: usize = 1 << 20;

impl Trace {
    /// The trace of a counterexample (`finding`) that `protocol` has in `test`.
    #[must_use]
    pub fn of(protocol: &str, test: &Test, finding: &Finding) -> Trace {
        let (text, transform) = test.text();
        let text: String = text.lines().map(|line| format!("{line}\n")).collect();
        // This is the program that a reader of the file parses.
        let program = litmus::parse::parse(&text).map_or_else(
            |_| test.program().into_owned(),
            |mut program| {
                transform.apply(&mut program);
                program
            },
        );
        Trace {
            // The name must be a single line, whatever the name of the file.
            test: test.name.split_whitespace().collect::<Vec<_>>().join(" "),
            protocol: protocol.to_owned(),
            mutant: None,
            models: finding.models.clone(),
            bounds: finding.bounds,
            placement: test.placements[finding.placement].clone(),
            violation: finding.violation.clone(),
            text,
            program,
            transform,
        }
    }

    /// This trace, but for the protocol with a seeded fault.
    #[must_use]
    pub fn seeded(self, mutant: Mutant) -> Trace {
        Trace { mutant: Some(mutant), ..self }
    }

    /// This trace, but with words of four bytes and one word for each request.
    #[must_use]
    pub fn with_plain_words(&self) -> Trace {
        Trace { placement: self.placement.clone().plain(), ..self.clone() }
    }

    /// The seeded fault of the trace, if it belongs to a mutant.
    #[must_use]
    pub fn seeded_fault(&self) -> Option<SeededFault> {
        self.mutant.as_ref().map(|mutant| mutant.seeded_fault)
    }

    /// The program of the counterexample.
    #[must_use]
    pub fn program(&self) -> &Program {
        &self.program
    }

    /// The kernels of the program, if its threads are divided into stages (kernels and steps of the
    /// host).
    ///
    /// # Errors
    /// If the machine lacks a feature that the program needs.
    pub fn kernels(&self) -> Result<Vec<StagedKernel>, Unsupported> {
        let (words, _) = self.placement.layout(&self.program)?;
        let cus = self.bounds.compute_units(self.placement.compute_units());
        Ok(Steps::of(&self.program, &self.placement, &words, cus)?.staged())
    }

    /// The title of the trace in three lines: the name of the test with the fault, the machine, and
    /// the placement.
    #[must_use]
    pub fn title(&self) -> String {
        let Trace { test, bounds, placement, violation, .. } = self;
        format!("{test}: {}\n{bounds}\n{placement}", violation.why)
    }

    /// Replays the moves of the trace, for a chart.
    ///
    /// # Errors
    /// If the machine lacks a feature that the program needs.
    pub fn draw(&self, subject: &Subject) -> Result<Replay, Obstacle> {
        let mut explorer = Explorer::new(subject, self.bounds, self.seeded_fault());
        let replay = explorer.replay(&self.program, &self.placement, &self.violation.moves);
        replay.map_err(|error| Obstacle::Unfit(error.to_string()))
    }

    /// The lines of a text that explains why the violated models forbid these outcomes. `hosts` says
    /// how the hosts of the protocol reach memory. If `stop` returns true, the evaluation of the
    /// models ends.
    ///
    /// # Errors
    /// If a model does not exist, or the evaluation was stopped.
    pub fn reasons(
        &self,
        outcomes: &BTreeSet<Outcome>,
        hosts: Hosts,
        stop: &dyn Fn() -> bool,
    ) -> Result<Vec<String>, Obstacle> {
        let promises = self.promises(hosts, stop)?;
        let program = self.placement.for_models(&self.program);
        Ok(outcomes.iter().flat_map(|outcome| reason::of(&program, outcome, &promises, stop)).collect())
    }

    /// The promises of the violated models for the program. A fault other than a forbidden outcome
    /// violates all claims. For such a fault, claims that do not hold for this core or placement
    /// are skipped.
    fn promises(&self, hosts: Hosts, stop: &dyn Fn() -> bool) -> Result<Vec<(Claim, Promise)>, Obstacle> {
        let mut promises = Vec::new();
        for model in &self.models {
            let claim = Claim::of(model).map_err(Obstacle::Unfit)?;
            let claim = claim.with_cores(&[self.bounds.core]).with_hosts(hosts);
            let applies = claim.covers_core(&self.program, self.bounds.core)
                && claim.covers(&self.program, core::slice::from_ref(&self.placement));
            if !applies && self.violation.fault != Fault::Outcome {
                continue;
            }
            match claim.promise_in_stages(&self.program, &self.placement.stages, &mut || stop()) {
                Ok(promise) => promises.push((claim, promise)),
                Err(NoPromise::Undefined(_)) => {}
                Err(NoPromise::Incomplete(why)) => {
                    return Err(Obstacle::Incomplete(format!("{model}: {why}")));
                }
            }
        }
        Ok(promises)
    }

    /// Replays the moves, and compares the fault that occurs with the fault of the trace. Some
    /// faults are not visible in one run. For these faults the program is explored again, within
    /// `memory_bytes` bytes.
    ///
    /// # Errors
    /// If the trace does not fit its machine, a model does not exist, the evaluation was stopped,
    /// or the exploration is incomplete.
    pub fn replay(
        &self,
        subject: &Subject,
        memory_bytes: u64,
        stop: &dyn Fn() -> bool,
    ) -> Result<Replayed, Obstacle> {
        let mut replay = self.draw(subject)?;
        if let End::Over(outcomes) = &replay.end {
            replay.reasons = self.reasons(outcomes, subject.info.hosts, stop)?;
        }
        if self.violation.fault == Fault::Disagreement {
            return Ok(self.replayed_disagreement(replay));
        }
        let (end, is_forbidden) = (replay.end.why(&self.program), !replay.reasons.is_empty());
        if self.concerns_all_runs() && !matches!(replay.end, End::Closed(_)) {
            return self.explore(replay, subject, memory_bytes, stop);
        }
        let verdict = self.verdict(replay.end.fault(), is_forbidden, end == self.violation.why);
        Ok(Replayed { replay, verdict, end })
    }

    /// The result of a replay for a trace that ends where the lines of several controllers violate a
    /// rule. The program need not have ended there.
    fn replayed_disagreement(&self, replay: Replay) -> Replayed {
        let fault = match &replay.disagreement {
            Some(why) => Some((Fault::Disagreement, why.clone())),
            None => replay.end.fault().map(|fault| (fault, replay.end.why(&self.program))),
        };
        let is_forbidden = !replay.reasons.is_empty();
        let (verdict, end) = match (fault, &replay.end) {
            (None, End::Closed(why)) => (Verdict::Misfit, why.clone()),
            (None, _) => (Verdict::Gone, IN_AGREEMENT.to_owned()),
            (Some((fault, why)), _) => {
                (self.verdict(Some(fault), is_forbidden, why == self.violation.why), why)
            }
        };
        Replayed { replay, verdict, end }
    }

    /// Whether the fault concerns all runs of the program rather than one run.
    #[must_use]
    pub fn concerns_all_runs(&self) -> bool {
        matches!(self.violation.fault, Fault::Livelock | Fault::ThinAir)
    }

    /// The verdict for a run that ends with a fault of this kind, or without a fault for `None`.
    /// `is_forbidden` says whether the run's outcome is forbidden, and `is_same` whether the fault
    /// has the same description as in the trace.
    #[must_use]
    pub fn verdict(&self, fault: Option<Fault>, is_forbidden: bool, is_same: bool) -> Verdict {
        match fault {
            None => Verdict::Misfit,
            Some(Fault::Outcome) if !is_forbidden => Verdict::Gone,
            Some(fault) if fault == self.violation.fault && is_same => Verdict::Same,
            Some(_) => Verdict::Another,
        }
    }

    /// Searches all runs of the program for the fault.
    fn explore(
        &self,
        mut replay: Replay,
        subject: &Subject,
        memory_bytes: u64,
        stop: &dyn Fn() -> bool,
    ) -> Result<Replayed, Obstacle> {
        let mut limits = Limits { memory_bytes, stop: Box::new(stop), ..Limits::default() };
        let mut explorer = Explorer::new(subject, self.bounds, self.seeded_fault());
        // A search for thin-air values ignores deadlock and livelock.
        let may_block = self.violation.fault == Fault::ThinAir;
        let requirements = Requirements { may_block, ..Requirements::default() };
        let found = explorer.explore(&self.program, &self.placement, &requirements, &mut limits);
        let found = found.map_err(|error| Obstacle::Unfit(error.to_string()))?;
        if let Some(violation) = found.violation {
            let verdict = if violation == self.violation { Verdict::Same } else { Verdict::Another };
            return Ok(Replayed { replay, verdict, end: violation.why });
        }
        let gap = found.incomplete.map(|incomplete| incomplete.to_string());
        if let Some(gap) = gap.or_else(|| found.throttled.then(|| String::from(run::THROTTLED))) {
            return Err(Obstacle::Incomplete(format!(
                "the search for the fault of the trace is incomplete: {gap}"
            )));
        }
        replay.reasons = self.reasons(&found.outcomes, subject.info.hosts, stop)?;
        let (verdict, end) = match replay.reasons.is_empty() {
            true => (Verdict::Gone, "no run shows the fault of the trace"),
            false => (
                Verdict::Another,
                "no run shows the fault of the trace, but some runs end with an outcome that the memory \
                 model forbids",
            ),
        };
        Ok(Replayed { replay, verdict, end: end.to_owned() })
    }
}

fn agent_name(agent: Agent) -> String {
    match agent {
        Agent::Cu(cu) => format!("cu{cu}"),
        Agent::CommandProcessor => "command-processor".to_owned(),
        Agent::Host(0) => "host".to_owned(),
        Agent::Host(host) => format!("host{host}"),
    }
}

fn yes(is: bool) -> &'static str {
    if is { "yes" } else { "no" }
}

fn list<T>(items: &[T], name: impl Fn(&T) -> String) -> String {
    items.iter().map(name).collect::<Vec<_>>().join(" ")
}

impl fmt::Display for Trace {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Bounds { l1, l2, sets, ways, misses, store_buffer, banks, chiplets, pages, .. } = self.bounds;
        let Bounds { evictions, core, queue_max, merge_memory, skew_ticks, preemptions, overtaking, .. } =
            self.bounds;
        writeln!(f, "{HEAD}\ntest {}\nprotocol {}", self.test, self.protocol)?;
        if let Some(mutant) = &self.mutant {
            writeln!(f, "seeded {}", mutant.name)?;
        }
        writeln!(f, "models {}", list(&self.models, String::clone))?;
        writeln!(f, "l1 {}\nl2 {}", l1.name(), l2.name())?;
        if sets != (1, 1) {
            writeln!(f, "sets {} {}", sets.0, sets.1)?;
        }
        writeln!(f, "ways {} {}\nmisses {} {}", ways.0, ways.1, misses.0, misses.1)?;
        writeln!(f, "store-buffer {store_buffer}\nbanks {banks}\nevictions {}", yes(evictions))?;
        writeln!(f, "core {}\nqueue {queue_max}\nmerge-memory {}", core.name(), yes(merge_memory))?;
        for (name, count) in [("skew", skew_ticks), ("preemptions", preemptions)] {
            if count > 0 {
                writeln!(f, "{name} {count}")?;
            }
        }
        if overtaking {
            writeln!(f, "overtaking yes")?;
        }
        if chiplets > 1 {
            writeln!(f, "chiplets {chiplets}\npages {} {}", pages.0, pages.1)?;
        }
        writeln!(f, "agents {}", list(&self.placement.agents, |&agent| agent_name(agent)))?;
        writeln!(f, "lines {}", list(&self.placement.lines, ToString::to_string))?;
        if !self.placement.widths.is_empty() {
            writeln!(f, "widths {}", list(&self.placement.widths, |width| width.bytes().to_string()))?;
        }
        if self.placement.lanes {
            writeln!(f, "lanes yes")?;
        }
        if !self.placement.stages.is_empty() {
            writeln!(f, "stages {}", list(&self.placement.stages, ToString::to_string))?;
        }
        writeln!(
            f,
            "changes {}\nfault {:?}\nwhy {}",
            self.transform, self.violation.fault, self.violation.why
        )?;
        writeln!(f, "program")?;
        for line in self.text.lines() {
            writeln!(f, "{}{line}", if line.is_empty() { "|" } else { "| " })?;
        }
        writeln!(f, "moves")?;
        self.violation.moves.iter().try_for_each(|mv| writeln!(f, "{mv}"))
    }
}
