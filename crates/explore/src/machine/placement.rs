//! Placement of a program: the assignment of its threads to compute units and of its words to
//! lines.

use core::fmt;
use std::borrow::Cow;
use std::collections::BTreeMap;

use litmus::program::{Dialect, Expr, Instr, Level, Program, Proxy, Region, RmwOp, ThreadId, Value};
use proto::{Agent, ByteMask, LineAddr, LineData, Width};

use crate::machine::stages;

/// The description of a feature that a program needs and a machine lacks. Neither the program nor
/// the machine is at fault.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Unsupported(pub String);

impl fmt::Display for Unsupported {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.0)
    }
}

impl core::error::Error for Unsupported {}

/// The placement of the threads and the words of a program.
#[derive(Clone, Debug, Default, PartialEq, Eq, Hash)]
pub struct Placement {
    /// The agent (compute unit or host) of each thread.
    pub agents: Vec<Agent>,
    /// The number of the line of each location.
    pub lines: Vec<u8>,
    /// The number of the stage of each thread. A stage is a kernel or a step of the host between
    /// kernels. Empty for a program of one kernel.
    pub stages: Vec<u8>,
    /// The width of each location. Empty if each location has four bytes.
    pub widths: Vec<Width>,
    /// Whether a core combines consecutive accesses of a thread to words of one line into one
    /// request, as a wavefront does with its lanes.
    pub lanes: bool,
}

/// The maximum number of lines of a program.
pub(crate) const LINES_MAX: u8 = 64;

impl Placement {
    /// The placement with each work-group on its own compute unit and each location on its own
    /// line. Threads outside every device run on the host.
    #[must_use]
    pub fn spread(program: &Program) -> Placement {
        let device = program.scopes.iter().find(|(_, s)| s.level == Level::Device).map(|(id, _)| id);
        let mut groups = Vec::new();
        let agents = (0..program.threads.len() as u8).map(ThreadId).map(|thread| {
            let is_inside = |device| program.scopes.get(device).members.contains(thread);
            if !device.is_none_or(is_inside) {
                return Agent::Host(0);
            }
            let inner = program.scopes.enclosing(thread, Level::WorkGroup);
            let group = inner.or_else(|| program.scopes.enclosing(thread, Level::WorkItem));
            let cu = groups.iter().position(|&g| g == group).unwrap_or_else(|| {
                groups.push(group);
                groups.len() - 1
            });
            Agent::Cu(cu as u16)
        });
        let agents = agents.collect();
        Placement::new(agents, (0..program.locations.len() as u8).collect())
    }

    /// The placement of the threads on these agents (compute units or hosts) and of the locations
    /// in these lines, with locations of four bytes.
    #[must_use]
    pub fn new(agents: Vec<Agent>, lines: Vec<u8>) -> Placement {
        Placement { agents, lines, ..Placement::default() }
    }

    /// This placement, but with locations of different widths: one, two, four and eight bytes in
    /// turn for the locations of a line. A location alone in its line keeps four bytes. The widths
    /// do not change if a value of the program may need more than one byte.
    #[must_use]
    pub fn mixed(self, program: &Program) -> Placement {
        if !has_small_values(program) {
            return self;
        }
        let line = |at: usize| self.lines.get(at);
        let mut widths: Vec<Width> = Vec::new();
        for (at, location) in program.locations.iter().enumerate() {
            let physical = usize::from(location.physical.0);
            let is_beside = |&other: &usize| {
                usize::from(program.locations[other].physical.0) == other && line(other) == line(physical)
            };
            let beside = (0..program.locations.len()).filter(is_beside).count();
            let before = (0..physical).filter(is_beside).count();
            widths.push(match (physical < at, beside) {
                (true, _) => widths[physical],
                (false, 1) => Width::W4,
                (false, _) => Width::ALL[before % Width::ALL.len()],
            });
        }
        if widths.iter().all(|&width| width == Width::W4) {
            return self;
        }
        Placement { widths, ..self }
    }

    /// This placement, but with a core that combines accesses into requests of several words.
    #[must_use]
    pub fn in_lanes(self) -> Placement {
        Placement { lanes: true, ..self }
    }

    /// This placement, but with locations of four bytes and without requests of several words.
    #[must_use]
    pub fn plain(self) -> Placement {
        Placement { widths: Vec::new(), lanes: false, ..self }
    }

    /// The width of a location.
    fn width(&self, location: usize) -> Width {
        self.widths.get(location).copied().unwrap_or(Width::W4)
    }

    /// Whether each location has four bytes and each request accesses one location.
    #[must_use]
    pub fn is_plain(&self) -> bool {
        !self.lanes && self.widths.iter().all(|&width| width == Width::W4)
    }

    /// This placement, but with the first location on one line, and all other locations together on
    /// another line.
    #[must_use]
    pub fn crowded(self) -> Placement {
        let lines = (0..self.lines.len()).map(|at| u8::from(at > 0)).collect();
        Placement { lines, ..self }
    }

    /// This placement, but with the work-groups distributed over two compute units.
    #[must_use]
    pub fn folded(self) -> Placement {
        let agents = self.agents.iter().map(|&agent| match agent {
            Agent::Cu(cu) => Agent::Cu(cu % 2),
            agent => agent,
        });
        Placement { agents: agents.collect(), ..self }
    }

    /// This placement, but with all work-groups on one compute unit.
    #[must_use]
    pub fn together(self) -> Placement {
        let agents = self.agents.iter().map(|&agent| match agent {
            Agent::Cu(_) => Agent::Cu(0),
            agent => agent,
        });
        Placement { agents: agents.collect(), ..self }
    }

    /// This placement, but with two locations in each line: the first two, the next two, and so on.
    #[must_use]
    pub fn paired(self, program: &Program) -> Placement {
        let mut lines = self.lines;
        let mut next = 0u8;
        for (at, location) in program.locations.iter().enumerate() {
            if usize::from(location.physical.0) == at {
                lines[at] = next / 2;
                next += 1;
            }
        }
        Placement { lines, ..self }
    }

    /// The program that the memory models evaluate. If the placement has stages (kernels and steps
    /// of the host), the threads of each stage wait for the threads of the stage before.
    #[must_use]
    pub fn for_models<'a>(&self, program: &'a Program) -> Cow<'a, Program> {
        stages::in_turn(program, &self.stages)
    }

    /// The line and offset of every location, and the size of a line in bytes.
    ///
    /// # Errors
    /// If a location has no line, or a line would be too long.
    pub fn layout(&self, program: &Program) -> Result<(Vec<Word>, u16), Unsupported> {
        layout(program, self)
    }

    /// This placement, but with the threads of the host spread over this number of hosts.
    #[must_use]
    pub fn on_hosts(self, hosts: u16) -> Placement {
        let mut next = (0..hosts.max(1)).cycle();
        let agents = self.agents.iter().map(|&agent| match agent {
            Agent::Host(_) => Agent::Host(next.next().unwrap_or_default()),
            agent => agent,
        });
        Placement { agents: agents.collect(), ..self }
    }

    /// This placement, but with all threads on the host.
    #[must_use]
    pub fn hosted(self) -> Placement {
        Placement { agents: vec![Agent::Host(0); self.agents.len()], ..self }
    }

    /// The number of hosts of the machine for this placement.
    #[must_use]
    pub fn hosts(&self) -> u16 {
        let hosts = self.agents.iter().filter_map(|agent| match agent {
            Agent::Host(host) => Some(host + 1),
            _ => None,
        });
        hosts.max().unwrap_or(1)
    }

    /// The number of compute units of the machine for this placement.
    #[must_use]
    pub fn compute_units(&self) -> u16 {
        let units = self.agents.iter().filter_map(|agent| match agent {
            Agent::Cu(cu) => Some(cu + 1),
            _ => None,
        });
        units.max().unwrap_or(1)
    }
}

impl fmt::Display for Placement {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        for (thread, agent) in self.agents.iter().enumerate() {
            let comma = if thread > 0 { ", " } else { "" };
            match agent {
                Agent::Cu(cu) => write!(f, "{comma}P{thread} on CU {cu}")?,
                Agent::CommandProcessor => write!(f, "{comma}P{thread} on the command processor")?,
                Agent::Host(0) => write!(f, "{comma}P{thread} on the host")?,
                Agent::Host(host) => write!(f, "{comma}P{thread} on host {host}")?,
            }
        }
        write!(f, "; lines {:?}", self.lines)?;
        if !self.widths.is_empty() {
            write!(f, "; widths {:?}", self.widths.iter().map(|width| width.bytes()).collect::<Vec<_>>())?;
        }
        if self.lanes {
            write!(f, "; accesses to one line are combined into one request")?;
        }
        if self.stages.is_empty() { Ok(()) } else { write!(f, "; {}", in_words(self)) }
    }
}

/// A text that lists the threads of each stage (kernel or step of the host), as traces and reports
/// show it.
fn in_words(placement: &Placement) -> String {
    let mut stages: BTreeMap<u8, Vec<String>> = BTreeMap::new();
    for (thread, &stage) in placement.stages.iter().enumerate() {
        stages.entry(stage).or_default().push(format!("P{}", ThreadId(thread as u8).0));
    }
    stages.into_values().map(|threads| threads.join(" and ")).collect::<Vec<_>>().join(", then ")
}

/// The place of a word in memory: its line, its offset in that line, and its width.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Word {
    /// The line that contains the word.
    pub line: LineAddr,
    /// The offset of the word's first byte in the line.
    pub offset: usize,
    /// The width of the word.
    pub width: Width,
}

impl Word {
    /// The mask of the word's bytes in its line.
    #[must_use]
    pub fn mask(&self) -> ByteMask {
        ByteMask::range(self.offset, self.width.bytes())
    }

    /// The value of the word in the bytes of its line.
    #[must_use]
    pub fn read(&self, line: &LineData) -> Value {
        value(line.read(self.offset, self.width), self.width)
    }

    /// Writes the bits of a value into the bytes of the word's line.
    pub fn write(&self, line: &mut LineData, bits: u64) {
        line.write(self.offset, self.width, bits);
    }

    /// The bits that represent a value in the word. Fails if the value does not fit into the word.
    pub(crate) fn bits(&self, value: Value) -> Result<u64, String> {
        let bits = value.cast_unsigned();
        if self::value(bits, self.width) == value {
            Ok(bits)
        } else {
            Err(format!("the value {value} does not fit into a {}-bit word", 8 * self.width.bytes()))
        }
    }
}

/// The signed value of the bits of a word.
pub(crate) fn value(bits: u64, width: Width) -> Value {
    let unused = 64 - 8 * width.bytes() as u32;
    (bits << unused).cast_signed() >> unused
}

/// The largest constant that a program may contain if its values must fit into one byte. The limit
/// leaves room for some additions.
const SMALL_MAX: Value = 31;

/// Whether all constants of the program are so small ([`SMALL_MAX`]) that its values fit into one
/// byte. An address does not fit into one byte.
fn has_small_values(program: &Program) -> bool {
    let is_small = |value: Value| (-SMALL_MAX..=SMALL_MAX).contains(&value);
    let has_small = |expr: &Expr| {
        let mut small = true;
        expr.for_each_constant(&mut |value| small &= is_small(value));
        small
    };
    let of_instr = |instr: &Instr| match instr {
        Instr::Store { value, .. } | Instr::Assign { value, .. } => has_small(value),
        Instr::Rmw { operand, .. } => has_small(operand),
        Instr::Cas(cas) => has_small(&cas.expected) && has_small(&cas.desired),
        _ => true,
    };
    program.locations.iter().all(|location| is_small(location.init))
        && program.threads.iter().all(|thread| {
            thread.registers.iter().all(|register| is_small(register.init))
                && thread.code.iter().all(of_instr)
        })
}

/// The line and offset of every location, and the size of a line in bytes.
pub(crate) fn layout(program: &Program, placement: &Placement) -> Result<(Vec<Word>, u16), Unsupported> {
    let mut used = [0usize; LINES_MAX as usize];
    let mut words: Vec<Word> = Vec::new();
    for (at, location) in program.locations.iter().enumerate() {
        let physical = usize::from(location.physical.0);
        if physical < at {
            words.push(words[physical]);
            continue;
        }
        let line = placement.lines.get(at).copied().filter(|&line| line < LINES_MAX);
        let line = line.ok_or_else(|| {
            Unsupported(format!("the placement must give {} a line number below {LINES_MAX}", location.name))
        })?;
        let (used, width) = (&mut used[usize::from(line)], placement.width(at));
        let offset = used.next_multiple_of(width.bytes());
        words.push(Word { line: LineAddr(u64::from(line)), offset, width });
        *used = offset + width.bytes();
    }
    let longest = used.iter().copied().max().unwrap_or(0).max(8).next_multiple_of(8);
    if longest > proto::LINE_BYTES_MAX {
        let most = proto::LINE_BYTES_MAX;
        return Err(Unsupported(format!(
            "a line of {longest} bytes is too long, expected at most {most} bytes"
        )));
    }
    Ok((words, longest as u16))
}

/// Checks that a machine has all features that the program needs.
pub(crate) fn supports(program: &Program, placement: &Placement) -> Result<(), Unsupported> {
    let refuse = |what: String| Err(Unsupported(what));
    let has_widths = placement.widths.is_empty() || placement.widths.len() == program.locations.len();
    if placement.agents.len() != program.threads.len()
        || placement.lines.len() != program.locations.len()
        || !has_widths
    {
        return refuse(String::from(
            "the placement does not fit the program: it has another number of threads, locations or widths",
        ));
    }
    if program.dialect == Dialect::Vulkan {
        return refuse(String::from("no protocol makes writes available and visible by storage class"));
    }
    for location in &program.locations {
        if location.region != Region::Global {
            return refuse(format!("{} lies in local memory, which no cache contains", location.name));
        }
    }
    for (t, thread) in program.threads.iter().enumerate() {
        for instr in &thread.code {
            if instr.access().is_some_and(|a| a.proxy != Proxy::Generic) {
                return refuse(format!("P{t} accesses memory through a proxy other than the generic proxy"));
            }
            match instr {
                Instr::Rmw {
                    op: RmwOp::Mul | RmwOp::Div | RmwOp::Inc | RmwOp::Dec | RmwOp::AddUnless(_),
                    ..
                } => {
                    return refuse(format!("P{t} has a read-modify-write that no cache performs"));
                }
                Instr::Barrier(barrier) => {
                    let members = program.scopes.get(barrier.group).members;
                    let here = placement.agents[t];
                    if members.iter().any(|m| placement.agents.get(usize::from(m.0)) != Some(&here)) {
                        return refuse(format!("P{t} has a barrier with threads of another compute unit"));
                    }
                    if barrier.quorum.is_some() || barrier.arrive {
                        return refuse(format!(
                            "P{t} has a barrier that waits for a given number of threads (a quorum), or that \
                             does not wait (an arrival)"
                        ));
                    }
                }
                _ => {}
            }
        }
    }
    Ok(())
}
