//! A test: a program with its placements and machines.

use std::borrow::Cow;

use litmus::generate::{Generated, ProgramSkeleton};
use litmus::parse::TextError;
use litmus::program::{Instr, Level, Program, Thread};
use proto::{Agent, Hosts, Info};

use crate::machine::bounds::Shape;
use crate::machine::placement::Placement;
use crate::machine::stages;
use crate::programs::claim;
use crate::programs::transform::Transform;

/// The machines on which a test is explored.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Machines {
    /// All machines of the verification.
    All,
    /// One machine of the verification, a different one for each test in turn.
    InTurn,
    /// The machine with this number. Numbers beyond the last machine start again at the first
    /// machine.
    Nth(u8),
}

/// The maximum number of instructions of a short program, and of a small one with up to two threads of
/// the device.
const SHORT_MAX: usize = 8;
/// The maximum number of instructions of a small program with three threads of the device.
const SMALL_OF_THREE_MAX: usize = 5;

/// A size of tests. Each size includes the sizes before it. A larger program has many more states.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord)]
pub enum TestSize {
    /// Programs of at most eight instructions by two threads of the device, or five by three. Barriers
    /// and threads of hosts do not count.
    Small,
    /// Programs of at most eight instructions. Barriers do not count.
    Short,
    /// All programs.
    #[default]
    All,
}

impl TestSize {
    /// The name of the size in reports.
    #[must_use]
    pub const fn name(self) -> &'static str {
        match self {
            TestSize::Small => "small",
            TestSize::Short => "short",
            TestSize::All => "all",
        }
    }
}

/// The number of instructions of the program without barriers. A barrier adds few states, because it
/// orders the instructions around it.
fn instructions(program: &Program) -> usize {
    let code = program.threads.iter().flat_map(|thread| &thread.code);
    code.filter(|instr| !matches!(instr, Instr::Barrier(_))).count()
}

/// Whether a line of the program may be evicted at any time. In a larger program, a line is evicted
/// only when its way is needed.
pub(crate) fn evicts_at_any_time(program: &Program) -> bool {
    program.threads.len() <= 2 && instructions(program) <= SHORT_MAX
}

/// The source of a test's program: the program itself, or the generator's input.
#[derive(Clone, Debug)]
enum Source {
    Whole { text: String, program: Box<Program> },
    Generated { skeleton: ProgramSkeleton, transform: Transform },
}

/// A test of the verification: a program with its placements and machines.
#[derive(Clone, Debug)]
pub struct Test {
    /// The name of the test in reports.
    pub name: String,
    source: Source,
    /// The placements (of threads on compute units, and of words in lines) in which the test is
    /// explored.
    pub placements: Vec<Placement>,
    /// The machines on which the test is explored.
    pub machines: Machines,
    /// The shape of the machines (banks, sets and ways). `None` if the test runs on the machines of
    /// the verification as they are.
    pub shape: Option<Shape>,
    /// The number of the test's group. All tests that are generated in the same way have the same
    /// number. Tests that are not generated have the number zero.
    pub(crate) group: usize,
}

/// The numbers of kernels and hosts over which programs are spread.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Spread {
    /// The maximum number of kernels in sequence.
    pub kernels: u8,
    /// The number of hosts.
    pub hosts: u16,
}

impl Spread {
    /// The number of hosts of the machines on which the claims of a protocol are checked. If a
    /// protocol keeps the caches of hosts coherent, an access of one host may need another host.
    #[must_use]
    pub fn hosts_of(info: &Info) -> u16 {
        if info.hosts == Hosts::Cached { 2 } else { 1 }
    }
}

impl Default for Spread {
    /// One kernel and one host.
    fn default() -> Spread {
        Spread { kernels: 1, hosts: 1 }
    }
}

/// The placements of a program in which several hosts run its threads. If the program can run
/// without a device, all its threads run on hosts. Otherwise only the threads that the given
/// placements put on the host are spread over the hosts.
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

/// The maximum number of threads of a program in which each work-group gets its own compute unit.
/// In a larger program, the work-groups share two compute units, and the program runs on one
/// machine only.
const APART_THREADS_MAX: usize = 3;

impl Test {
    /// Reads a test from its text, with the placements that matter. The work-groups are on several
    /// compute units or on one. The words are on separate lines, or in pairs on a line, or the
    /// first word is on one line and all other words are on another. Words that share a line have
    /// different widths.
    ///
    /// # Errors
    /// If the text cannot be parsed.
    pub fn read(name: &str, text: &str) -> Result<Test, TextError> {
        let program = litmus::parse::parse(text)?;
        let apart = Placement::spread(&program);
        let is_large = program.threads.len() > APART_THREADS_MAX;
        let (apart, machines) =
            if is_large { (apart.folded(), Machines::InTurn) } else { (apart, Machines::All) };
        let mut placements = vec![apart.clone()];
        let more = [
            apart.clone().paired(&program).mixed(&program),
            apart.clone().crowded().mixed(&program),
            apart.clone().together(),
            apart.together().paired(&program).mixed(&program),
        ];
        for placement in more.into_iter().filter(|_| !is_large) {
            if !placements.contains(&placement) {
                placements.push(placement);
            }
        }
        let source = Source::Whole { text: text.to_owned(), program: Box::new(program) };
        Ok(Test { name: name.to_owned(), source, placements, machines, shape: None, group: 0 })
    }

    /// The test of a generated program. The program itself is built when it is needed, because
    /// there can be very many generated programs.
    #[must_use]
    pub(crate) fn from_generated(
        name: String,
        generated: Generated,
        transform: Transform,
        machines: Machines,
        group: usize,
    ) -> Test {
        let placement = Placement::new(transform.agents(&generated.compute_units), generated.lines);
        let placement = placement.mixed(&generated.program);
        let source = Source::Generated { skeleton: generated.skeleton, transform };
        Test { name, source, placements: vec![placement], machines, shape: None, group }
    }

    /// This test, with additional placements on several hosts and in several kernels.
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

    /// The program of the test.
    #[must_use]
    pub fn program(&self) -> Cow<'_, Program> {
        match &self.source {
            Source::Whole { program, .. } => Cow::Borrowed(program),
            Source::Generated { skeleton, transform } => {
                let mut program = skeleton.clone().build(&self.name).program;
                transform.apply(&mut program);
                Cow::Owned(program)
            }
        }
    }

    /// The smallest size that includes the program.
    #[must_use]
    pub fn size(&self) -> TestSize {
        let agents = self.placements.first().map_or(&[][..], |placement| &placement.agents);
        let of_device = agents.iter().filter(|agent| !matches!(agent, Agent::Host(_))).count();
        let small_max = match of_device {
            0..=2 => SHORT_MAX,
            3 => SMALL_OF_THREE_MAX,
            _ => 0,
        };
        match instructions(&self.program()) {
            count if count <= small_max => TestSize::Small,
            count if count <= SHORT_MAX => TestSize::Short,
            _ => TestSize::All,
        }
    }

    /// A measure of the number of states of the program: the number of combinations of places at which
    /// its threads can be.
    #[must_use]
    pub fn weight(&self) -> u64 {
        let places = |thread: &Thread| thread.code.len() as u64 + 1;
        self.program().threads.iter().map(places).fold(1, u64::saturating_mul)
    }

    /// The text of the program before its transformation, and the transformation.
    pub(crate) fn text(&self) -> (String, Transform) {
        match &self.source {
            Source::Whole { text, .. } => (text.clone(), Transform::NONE),
            Source::Generated { skeleton, transform } => {
                (skeleton.clone().build(&self.name).to_text(), *transform)
            }
        }
    }
}
