//! The reader of the file of a trace.

use litmus::program::Program;
use proto::{Agent, Symbol, Width};

use super::{HEAD, MOVES_MAX, SIZE_MAX, Trace, TraceError};
use crate::machine::bounds::Bounds;
use crate::machine::moves::Move;
use crate::machine::placement::Placement;
use crate::mutants::{self, Mutant};
use crate::programs::transform::Transform;
use crate::search::{Fault, Violation};
use crate::subject::Subject;

/// The maximum number of lines of a cache.
const WAYS_MAX: u32 = 255;

/// The lines of a file, with the current position.
struct Lines<'a> {
    lines: core::iter::Peekable<core::iter::Enumerate<core::str::Lines<'a>>>,
    /// The number of the last line read.
    line: usize,
}

impl<'a> Lines<'a> {
    fn next(&mut self) -> Option<&'a str> {
        let (at, line) = self.lines.next()?;
        self.line = at + 1;
        Some(line)
    }

    fn refuse<T>(&self, what: impl Into<String>) -> Result<T, TraceError> {
        Err(TraceError { line: self.line, what: what.into() })
    }

    fn expected<T>(&self, found: &str, expected: &str) -> Result<T, TraceError> {
        let shown: String = found.chars().take(60).filter(|c| !c.is_control()).collect();
        self.refuse(format!("found `{shown}`, expected {expected}"))
    }

    /// Whether the next line is the field of this name.
    fn peeks(&mut self, name: &str) -> bool {
        self.lines.peek().is_some_and(|(_, line)| line.split(' ').next() == Some(name))
    }

    /// The value of the field that must come next.
    fn field(&mut self, name: &str) -> Result<&'a str, TraceError> {
        let Some(line) = self.next() else {
            self.line += 1;
            return self.refuse(format!("the text ends, expected `{name}`"));
        };
        match line.strip_prefix(name) {
            Some("") => Ok(""),
            Some(rest) if rest.starts_with(' ') => Ok(&rest[1..]),
            _ => self.expected(line, &format!("`{name}` and its value")),
        }
    }

    fn number(&self, text: &str) -> Result<u32, TraceError> {
        match text.parse() {
            Ok(number @ 1..=SIZE_MAX) => Ok(number),
            _ => self.expected(text, &format!("a number from 1 to {SIZE_MAX}")),
        }
    }

    fn one(&mut self, name: &str) -> Result<u32, TraceError> {
        let text = self.field(name)?;
        self.number(text)
    }

    fn two(&mut self, name: &str) -> Result<(u32, u32), TraceError> {
        let text = self.field(name)?;
        match text.split_once(' ') {
            Some((first, second)) => Ok((self.number(first)?, self.number(second)?)),
            None => self.expected(text, "two numbers: one for private caches, one for banks"),
        }
    }

    /// Reads the number of ways in a set, for the private caches and for the banks. `sets` gives
    /// the number of sets of a private cache and of a bank.
    fn ways(&mut self, sets: (u32, u32)) -> Result<(u32, u32), TraceError> {
        let ways = self.two("ways")?;
        if sets.0 * ways.0 > WAYS_MAX || sets.1 * ways.1 > WAYS_MAX {
            let found = format!("{} {}", ways.0, ways.1);
            return self
                .expected(&found, &format!("numbers of ways that give at most {WAYS_MAX} lines in a cache"));
        }
        Ok(ways)
    }

    fn symbol<S: Symbol>(&mut self, name: &str) -> Result<S, TraceError> {
        let text = self.field(name)?;
        let found = S::ALL.iter().find(|symbol| symbol.name() == text);
        let names = || S::ALL.iter().map(|symbol| symbol.name()).collect::<Vec<_>>().join(", ");
        found.copied().map_or_else(|| self.expected(text, &format!("one of {}", names())), Ok)
    }

    fn is(&mut self, name: &str) -> Result<bool, TraceError> {
        match self.field(name)? {
            "yes" => Ok(true),
            "no" => Ok(false),
            other => self.expected(other, "`yes` or `no`"),
        }
    }

    /// The seeded fault, if the next line names one. `subject` gives the protocol with a name.
    fn mutant(
        &mut self,
        protocol: &str,
        subject: fn(&str) -> Option<Subject>,
    ) -> Result<Option<Mutant>, TraceError> {
        if !self.peeks("seeded") {
            return Ok(None);
        }
        let Some(subject) = subject(protocol) else {
            return self.expected(protocol, "the name of a protocol");
        };
        let name = self.field("seeded")?;
        match mutants::all(&subject).into_iter().find(|mutant| mutant.name == name) {
            Some(mutant) => Ok(Some(mutant)),
            None => self.expected(name, &format!("a fault that can be seeded into `{protocol}`")),
        }
    }

    fn bounds(&mut self) -> Result<Bounds, TraceError> {
        let (l1, l2) = (self.symbol("l1")?, self.symbol("l2")?);
        let sets = if self.peeks("sets") { self.two("sets")? } else { (1, 1) };
        let mut bounds = Bounds {
            chiplets: 1,
            pages: (0, 0),
            l1,
            l2,
            sets,
            ways: self.ways(sets)?,
            misses: self.two("misses")?,
            store_buffer: self.one("store-buffer")?,
            banks: self.one("banks")? as u16,
            evictions: self.is("evictions")?,
            core: self.symbol("core")?,
            queue_max: self.one("queue")? as u8,
            merge_memory: self.is("merge-memory")?,
            skew_ticks: self.count("skew")?,
            preemptions: self.count("preemptions")?,
            overtaking: false,
        };
        if self.peeks("overtaking") {
            bounds.overtaking = self.is("overtaking")?;
        }
        // The file has a line about chiplets only if the machine has several.
        if self.peeks("chiplets") {
            bounds.chiplets = self.one("chiplets")? as u16;
            if !bounds.banks.is_multiple_of(bounds.chiplets) {
                let expected = format!("a divisor of the number of banks, {}", bounds.banks);
                return self.expected(&bounds.chiplets.to_string(), &expected);
            }
            bounds.pages = self.pages(bounds.chiplets)?;
        }
        Ok(bounds)
    }

    fn pages(&mut self, chiplets: u16) -> Result<(u16, u16), TraceError> {
        let text = self.field("pages")?;
        let chiplet = |word: &str| word.parse().ok().filter(|&chiplet: &u16| chiplet < chiplets);
        match text.split_once(' ').map(|(first, second)| (chiplet(first), chiplet(second))) {
            Some((Some(first), Some(second))) => Ok((first, second)),
            _ => self.expected(text, &format!("two chiplets, each from 0 to {}", chiplets - 1)),
        }
    }

    /// The number in the line of this field, or zero if the line is missing.
    fn count(&mut self, name: &str) -> Result<u8, TraceError> {
        if self.peeks(name) { self.one(name).map(|count| count as u8) } else { Ok(0) }
    }

    /// The width of each location. Empty if the next line gives no widths.
    fn widths(&mut self) -> Result<Vec<Width>, TraceError> {
        if !self.peeks("widths") {
            return Ok(Vec::new());
        }
        let text = self.field("widths")?;
        let width = |word: &str| {
            let found = Width::ALL.into_iter().find(|width| width.bytes().to_string() == word);
            found.map_or_else(|| self.expected(word, "a width of 1, 2, 4 or 8 bytes"), Ok)
        };
        text.split_whitespace().map(width).collect()
    }

    /// The stage of each thread, if the program has several stages (kernels and steps of the host
    /// between them).
    fn stages(&mut self) -> Result<Vec<u8>, TraceError> {
        if !self.peeks("stages") {
            return Ok(Vec::new());
        }
        let text = self.field("stages")?;
        let number = |word: &str| word.parse().or_else(|_| self.expected(word, "a stage's number"));
        text.split_whitespace().map(number).collect()
    }

    fn agents(&mut self) -> Result<Vec<Agent>, TraceError> {
        let text = self.field("agents")?;
        let number = |word: &str, prefix: &str| {
            let number = word.strip_prefix(prefix)?.parse::<u16>().ok()?;
            (u32::from(number) < SIZE_MAX).then_some(number)
        };
        let agent = |word: &str| match (word, number(word, "cu"), number(word, "host")) {
            ("host", ..) => Ok(Agent::Host(0)),
            ("command-processor", ..) => Ok(Agent::CommandProcessor),
            (_, Some(cu), _) => Ok(Agent::Cu(cu)),
            (_, _, Some(host)) => Ok(Agent::Host(host)),
            _ => self.expected(word, "an agent such as `cu0`, `command-processor` or `host`"),
        };
        text.split(' ').map(agent).collect()
    }

    fn fault(&mut self) -> Result<Fault, TraceError> {
        let text = self.field("fault")?;
        let found = Fault::ALL.into_iter().find(|fault| format!("{fault:?}") == text);
        let names = Fault::ALL.map(|fault| format!("{fault:?}")).join(", ");
        found.map_or_else(|| self.expected(text, &format!("one of {names}")), Ok)
    }

    fn program(&mut self) -> Result<(String, Program), TraceError> {
        let rest = self.field("program")?;
        if !rest.is_empty() {
            return self.expected(rest, "nothing after `program`");
        }
        let (first, mut text) = (self.line + 1, String::new());
        while let Some((_, line)) = self.lines.peek()
            && let Some(line) = line.strip_prefix('|')
        {
            text.push_str(line.strip_prefix(' ').unwrap_or(line));
            text.push('\n');
            self.next();
        }
        let program = litmus::parse::parse(&text).map_err(|error| {
            let what = error.to_string();
            let line = first + error.place.line.max(1) as usize - 1;
            TraceError { line, what: format!("in the program, {what}") }
        })?;
        Ok((text, program))
    }
}

impl Trace {
    /// Reads the text of the file of a trace. `subject` gives the protocol with a name. It is called
    /// only if the trace has a seeded fault.
    ///
    /// # Errors
    /// If the text is not a trace. The error names the line.
    pub fn read(text: &str, subject: fn(&str) -> Option<Subject>) -> Result<Trace, TraceError> {
        let mut lines = Lines { lines: text.lines().enumerate().peekable(), line: 0 };
        let head = lines.next().unwrap_or_default();
        if head != HEAD {
            lines.line = 1;
            return lines.expected(head, &format!("`{HEAD}`"));
        }
        let test = lines.field("test")?.to_owned();
        let protocol = lines.field("protocol")?.to_owned();
        let mutant = lines.mutant(&protocol, subject)?;
        let models = lines.field("models")?.split_whitespace().map(str::to_owned).collect();
        let bounds = lines.bounds()?;
        let agents = lines.agents()?;
        let numbers = lines.field("lines")?;
        let number = |word: &str| word.parse().or_else(|_| lines.expected(word, "a line's number"));
        let line_of = numbers.split_whitespace().map(number).collect::<Result<_, _>>()?;
        let widths = lines.widths()?;
        let has_lanes = lines.peeks("lanes") && lines.is("lanes")?;
        let stages = lines.stages()?;
        let placement = Placement { agents, lines: line_of, stages, widths, lanes: has_lanes };
        let changes = lines.field("changes")?;
        let transform: Transform = changes.parse().or_else(|what: String| lines.expected(changes, &what))?;
        let changes_line = lines.line;
        let fault = lines.fault()?;
        let why = lines.field("why")?.to_owned();
        let (text, mut program) = lines.program()?;
        if !transform.apply(&mut program) {
            let what = format!("the change `{transform}` does not apply to the program");
            return Err(TraceError { line: changes_line, what });
        }
        let rest = lines.field("moves")?;
        if !rest.is_empty() {
            return lines.expected(rest, "nothing after `moves`");
        }
        let mut moves = Vec::new();
        while let Some(line) = lines.next() {
            let mv: Move = line.parse().or_else(|what: String| lines.refuse(what))?;
            moves.push(mv);
            if moves.len() > MOVES_MAX {
                return lines.refuse(format!("the trace has more than {MOVES_MAX} moves"));
            }
        }
        let violation = Violation { fault, why, moves };
        Ok(Trace { test, protocol, mutant, models, bounds, placement, violation, text, program, transform })
    }
}
