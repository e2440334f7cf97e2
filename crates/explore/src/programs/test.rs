//! A test: a program, where it is to run, and on which machines.

use std::borrow::Cow;

use litmus::generate::{Generated, ProgramSkeleton};
use litmus::parse::TextError;
use litmus::program::{Instr, Level, Program};

use crate::machine::placement::Placement;
use crate::machine::stages;
use crate::programs::claim;
use crate::programs::twist::Twist;

/// On which of the machines a test is explored.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Machines {
    /// On every one.
    All,
    /// On one of them, each in turn.
    InTurn,
}

/// A program, or what it is made from.
#[derive(Clone, Debug)]
enum Source {
    Whole { text: String, program: Box<Program> },
    Made { skeleton: ProgramSkeleton, twist: Twist },
}

/// A test: a program, and where it is to run.
#[derive(Clone, Debug)]
pub struct Test {
    /// Its name in reports.
    pub name: String,
    source: Source,
    /// The placements in which it is explored.
    pub placements: Vec<Placement>,
    /// The machines on which it is explored.
    pub machines: Machines,
    /// Tests that were made in the same way have one number; zero is for those
    /// that were not.
    pub(crate) group: usize,
}

/// The kernels and hosts that programs use.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Spread {
    /// Over how many kernels at most, one after the other.
    pub kernels: u8,
    /// Over how many hosts.
    pub hosts: u16,
}

impl Default for Spread {
    /// One of each.
    fn default() -> Spread {
        Spread { kernels: 1, hosts: 1 }
    }
}

/// The placements on several hosts: those with several threads on the host, and, of a
/// program without a device, all with every thread on a host.
fn on_hosts(program: &Program, placements: &[Placement], hosts: u16) -> Vec<Placement> {
    let has_device = program.scopes.iter().any(|(_, scope)| scope.level == Level::Device);
    let meets = |instr: &Instr| matches!(instr, Instr::Barrier(_));
    let has_barrier = program.threads.iter().any(|thread| thread.code.iter().any(meets));
    let is_for_hosts = !has_device && !has_barrier && claim::is_for_hosts(program);
    let mut all: Vec<Placement> = Vec::new();
    for placement in placements {
        let placement = if is_for_hosts { placement.clone().hosted() } else { placement.clone() };
        let placement = placement.on_hosts(hosts);
        if placement.hosts() > 1 && !all.contains(&placement) {
            all.push(placement);
        }
    }
    all
}

/// The work-groups of programs of more threads share two compute units, and are
/// explored on one machine.
const APART_THREADS_MAX: usize = 3;

impl Test {
    /// A test in the placements that matter: its work-groups apart and
    /// together, its words on lines of their own, side by side, and all but the
    /// first on one line.
    ///
    /// # Errors
    /// If the text is no test.
    pub fn read(name: &str, text: &str) -> Result<Test, TextError> {
        let program = litmus::parse::parse(text)?;
        let apart = Placement::spread(&program);
        let is_large = program.threads.len() > APART_THREADS_MAX;
        let (apart, machines) =
            if is_large { (apart.folded(), Machines::InTurn) } else { (apart, Machines::All) };
        let mut placements = vec![apart.clone()];
        let more = [
            apart.clone().paired(&program),
            apart.clone().crowded(),
            apart.clone().together(),
            apart.together().paired(&program),
        ];
        for placement in more.into_iter().filter(|_| !is_large) {
            if !placements.contains(&placement) {
                placements.push(placement);
            }
        }
        let source = Source::Whole { text: text.to_owned(), program: Box::new(program) };
        Ok(Test { name: name.to_owned(), source, placements, machines, group: 0 })
    }

    /// A made program as a test, where it was made to run. It is made again when
    /// it is needed: there may be very many.
    #[must_use]
    pub(crate) fn made(
        name: String,
        generated: Generated,
        twist: Twist,
        machines: Machines,
        group: usize,
    ) -> Test {
        let placement = Placement {
            agents: twist.agents(&generated.compute_units),
            lines: generated.lines,
            stages: Vec::new(),
        };
        let source = Source::Made { skeleton: generated.skeleton, twist };
        Test { name, source, placements: vec![placement], machines, group }
    }

    /// The same on several hosts and in several kernels as well, behind its own
    /// placements.
    #[must_use]
    pub fn spread(mut self, spread: Spread) -> Test {
        if spread == Spread::default() {
            return self;
        }
        let program = self.program();
        let mut all = self.placements.clone();
        if spread.hosts > 1 {
            all.extend(on_hosts(&program, &self.placements, spread.hosts));
        }
        let in_kernels = |placement: &Placement| {
            let stages = stages::spread(&program, &placement.agents, spread.kernels).into_iter();
            let placement = placement.clone();
            stages.map(move |stages| Placement { stages, ..placement.clone() })
        };
        let more: Vec<Placement> = all.iter().flat_map(in_kernels).collect();
        all.extend(more);
        self.placements = all;
        self
    }

    /// The program.
    #[must_use]
    pub fn program(&self) -> Cow<'_, Program> {
        match &self.source {
            Source::Whole { program, .. } => Cow::Borrowed(program),
            Source::Made { skeleton, twist } => {
                let mut program = skeleton.clone().build(&self.name).program;
                twist.apply(&mut program);
                Cow::Owned(program)
            }
        }
    }

    /// The text, and how the program that it says is changed.
    pub(crate) fn text(&self) -> (String, Twist) {
        match &self.source {
            Source::Whole { text, .. } => (text.clone(), Twist::NONE),
            Source::Made { skeleton, twist } => (skeleton.clone().build(&self.name).to_text(), *twist),
        }
    }
}
