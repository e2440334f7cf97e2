//! A test: a program, where it is to run, and on which machines.

use std::borrow::Cow;

use litmus::generate::{Generated, Skeleton};
use litmus::parse::TextError;
use litmus::program::Program;

use crate::placement::Placement;
use crate::stages;
use crate::twist::Twist;

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
    Made { skeleton: Skeleton, twist: Twist },
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

    /// The same in several kernels as well: in each of its placements, with its
    /// threads spread over 2 to so many of them.
    #[must_use]
    pub fn in_kernels(mut self, kernels_max: u8) -> Test {
        if kernels_max < 2 {
            return self;
        }
        let program = self.program();
        let in_kernels = |placement: &Placement| {
            let all = stages::spread(&program, placement, kernels_max).into_iter();
            let placement = placement.clone();
            all.map(move |stages| Placement { stages, ..placement.clone() })
        };
        let more: Vec<Placement> = self.placements.iter().flat_map(in_kernels).collect();
        self.placements.extend(more);
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
