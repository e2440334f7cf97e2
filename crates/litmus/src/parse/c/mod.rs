//! The parser of the two formats that are based on C: OpenCL C and herd's C11.
//!
//! The parser lowers statements to instructions with jumps. Each load inside an expression becomes
//! a separate instruction, in the order from left to right. The destination register of such a load
//! has a name that begins with `$`.

mod call;
mod expr;
mod kernel;
mod macros;
mod stmt;

pub use macros::Macros;

use crate::program::{
    BinaryOp, Condition, Dialect, Expr, Instr, LocId, Program, Prop, Quantifier, Reg, Region, Register,
    Scopes, Thread, ThreadId,
};

use super::condition;
use super::cursor::{Cursor, thread_number};
use super::error::TextError;
use super::init::{self, Locations};
use super::lexer::{Kind, Lexed};
use super::scopes::Placement;
use super::table::Labels;

/// A placeholder for the target of a jump to the end of the thread, while the position of the end
/// is not known yet.
const END: usize = usize::MAX;

/// The default placement of threads in OpenCL: each thread has its own work-group, and all threads
/// are on one device.
const OPENCL_ALONE: [(&str, bool); 2] = [("work_group", false), ("device", true)];

/// Reads an OpenCL C or a C11 test.
pub(super) fn parse(lexed: Lexed, dialect: Dialect, macros: &Macros) -> Result<Program, TextError> {
    let mut cursor = Cursor::new(lexed.tokens);
    let start = cursor.place();
    let (placement, count) = survey(&mut cursor)?;
    let fallback: &[(&str, bool)] = if dialect == Dialect::OpenCl { &OPENCL_ALONE } else { &[] };
    let scopes = placement.scopes(count, fallback, start)?;
    let mut locations = Locations::new();
    let registers = init::block(&mut cursor, dialect, &mut locations)?;
    let mut program = Program {
        name: lexed.name,
        dialect,
        locations: Vec::new(),
        scopes,
        threads: init::threads(&registers, count)?,
        system_order: Vec::new(),
        filter: None,
        condition: Condition { quantifier: Quantifier::Exists, prop: Prop::True },
        observed: Vec::new(),
    };
    let mut expanded = 0;
    for number in 0..count {
        skip_placement(&mut cursor)?;
        let thread = core::mem::take(&mut program.threads[number]);
        let id = init::thread_id(number);
        let mut function = Function::new(&mut cursor, dialect, id, &program.scopes, &mut locations, thread);
        (function.macros, function.expanded) = (macros, expanded);
        (program.threads[number], expanded) = function.read()?;
    }
    placement.set_regions(&mut locations)?;
    program.locations = locations.list;
    init::finish(&mut program);
    skip_placement(&mut cursor)?;
    condition::closing(&mut cursor, &mut program)?;
    Ok(program)
}

/// Reads all tokens once to find the placement and the number of threads.
fn survey(cursor: &mut Cursor) -> Result<(Placement, usize), TextError> {
    let begin = cursor.position();
    let mut placement = Placement::default();
    let mut count = 0;
    let mut depth = 0usize;
    while !cursor.at_end() {
        let thread = match cursor.peek() {
            Kind::Word(word) if depth == 0 => thread_number(word),
            _ => None,
        };
        if let (Some(number), Kind::Mark("(" | "@")) = (thread, cursor.peek_at(1)) {
            count = next_thread(cursor, number, count)?;
            cursor.advance();
            if cursor.is("@") {
                placement.header(cursor, number)?;
            }
            continue;
        }
        if depth == 0 && tree_clause(cursor, &mut placement)? {
            continue;
        }
        match cursor.peek() {
            Kind::Mark("{") => depth += 1,
            Kind::Mark("}") => depth = depth.saturating_sub(1),
            _ => {}
        }
        cursor.advance();
    }
    cursor.seek(begin);
    Ok((placement, count))
}

/// Checks that threads are numbered in order from `P0` on.
pub(super) fn next_thread(cursor: &Cursor, number: usize, count: usize) -> Result<usize, TextError> {
    if number != count || count >= crate::program::THREADS_MAX {
        return Err(cursor.expected(if count < crate::program::THREADS_MAX {
            format!("`P{count}`: threads are numbered in order")
        } else {
            format!("at most {} threads", crate::program::THREADS_MAX)
        }));
    }
    Ok(count + 1)
}

/// Reads a clause on the placement of threads or memory if it comes next: `scopeTree (...)`,
/// `scopes: (...)`, `regions: ...` or `namedScope S (...)`. Returns whether it has read a clause.
pub(super) fn tree_clause(cursor: &mut Cursor, placement: &mut Placement) -> Result<bool, TextError> {
    if cursor.is_word("scopeTree") || cursor.is_word("scopes") {
        cursor.advance();
        cursor.eat(":");
        placement.trees(cursor)?;
        return Ok(true);
    }
    if cursor.is_word("regions") && *cursor.peek_at(1) == Kind::Mark(":") {
        cursor.advance();
        cursor.advance();
        placement.memory(cursor)?;
        return Ok(true);
    }
    if cursor.eat_word("namedScope") {
        placement.named(cursor)?;
        return Ok(true);
    }
    Ok(false)
}

/// Skips the clauses on the placement of threads and memory, which [`survey`] has already read.
pub(super) fn skip_placement(cursor: &mut Cursor) -> Result<(), TextError> {
    let mut ignored = Placement::default();
    while tree_clause(cursor, &mut ignored)? {}
    Ok(())
}

/// The state of the parser while it parses one thread.
pub(super) struct Function<'p> {
    cursor: &'p mut Cursor,
    dialect: Dialect,
    id: ThreadId,
    scopes: &'p Scopes,
    locations: &'p mut Locations,
    thread: Thread,
    /// The pointer parameters of this thread, by name.
    parameters: Vec<(String, LocId)>,
    labels: Labels,
    temporaries: usize,
    depth: usize,
    macros: &'p Macros,
    /// The number of tokens in all macro expansions so far.
    expanded: usize,
}

impl<'p> Function<'p> {
    fn new(
        cursor: &'p mut Cursor,
        dialect: Dialect,
        id: ThreadId,
        scopes: &'p Scopes,
        locations: &'p mut Locations,
        thread: Thread,
    ) -> Function<'p> {
        Function {
            cursor,
            dialect,
            id,
            scopes,
            locations,
            thread,
            parameters: Vec::new(),
            labels: Labels::default(),
            temporaries: 0,
            depth: 0,
            macros: Macros::kernel(),
            expanded: 0,
        }
    }

    /// Parses a thread, `P0@... (parameters) { statements }`. Returns the thread, and the number of
    /// tokens in all macro expansions so far.
    fn read(mut self) -> Result<(Thread, usize), TextError> {
        let header = format!("`P{}`", self.id.0);
        if !self.cursor.eat_word(&format!("P{}", self.id.0)) {
            return Err(self.cursor.expected(header));
        }
        if self.cursor.is("@") {
            Placement::default().header(self.cursor, 0)?;
        }
        self.cursor.expect("(")?;
        while !self.cursor.eat(")") {
            self.parameter()?;
            if !self.cursor.is(")") {
                self.cursor.expect(",")?;
            }
        }
        self.block()?;
        core::mem::take(&mut self.labels).resolve(self.id, &mut self.thread.code)?;
        let end = self.thread.code.len();
        for instr in &mut self.thread.code {
            if let Instr::Jump { target } = instr
                && *target == END
            {
                *target = end;
            }
        }
        Ok((self.thread, self.expanded))
    }

    fn parameter(&mut self) -> Result<(), TextError> {
        let words = init::type_words(self.cursor);
        if !words.any {
            return Err(self.cursor.expected("a pointer's type such as `global atomic_int*`, or `)`"));
        }
        let place = self.cursor.place();
        let name = self.cursor.word("a parameter's name")?;
        if !words.pointer {
            let sentence = format!("parameter `{name}` is not a pointer: give its type a `*`");
            return Err(TextError::meaning(place, sentence));
        }
        let loc = self.locations.find_or_add(&name, place)?;
        if words.atomic {
            self.locations.object_mut(loc).for_each(|l| l.atomic = true);
        }
        match words.region {
            Some(region) => self.locations.place_in(loc, region),
            None if self.dialect != Dialect::OpenCl => self.locations.place_in(loc, Region::Global),
            None => {}
        }
        self.parameters.push((name, loc));
        Ok(())
    }

    fn emit(&mut self, line: u32, instr: Instr) -> usize {
        self.thread.code.push(instr);
        self.thread.lines.push(line);
        self.thread.code.len() - 1
    }

    fn here(&self) -> usize {
        self.thread.code.len()
    }

    /// Changes the jump instruction at position `at`: sets its target to `to`, and sets the
    /// position where its control dependency ends to `joined`.
    fn patch(&mut self, at: usize, to: usize, joined: Option<usize>) {
        match &mut self.thread.code[at] {
            Instr::Branch { target, join, .. } => (*target, *join) = (to, joined),
            Instr::Jump { target } => *target = to,
            _ => {}
        }
    }

    fn temporary(&mut self) -> Reg {
        let name = format!("${}", self.temporaries);
        self.temporaries += 1;
        self.declare(&name)
    }

    fn is_temporary(&self, reg: Reg) -> bool {
        self.thread.registers[usize::from(reg.0)].name.starts_with('$')
    }

    fn declare(&mut self, name: &str) -> Reg {
        self.thread.registers.push(Register { name: name.to_owned(), init: 0 });
        Reg((self.thread.registers.len() - 1) as u16)
    }

    /// Emits the assignment of `value` to `dst`. If the last instruction loads this value into a
    /// temporary register, the function emits nothing, and changes that instruction to load into
    /// `dst` instead.
    fn assign(&mut self, line: u32, dst: Reg, value: Expr) {
        if let Expr::Reg(temporary) = value {
            let fresh = self.is_temporary(temporary);
            match self.thread.code.last_mut() {
                Some(Instr::Load { dst: to, .. }) if fresh && *to == temporary => return *to = dst,
                Some(Instr::Rmw { dst: Some(to), .. }) if fresh && *to == temporary => return *to = dst,
                Some(Instr::Await { dst: Some(to), .. }) if fresh && *to == temporary => return *to = dst,
                _ => {}
            }
        }
        self.emit(line, Instr::Assign { dst, value });
    }

    fn truth(value: Expr) -> Expr {
        match value {
            Expr::Binary(
                BinaryOp::Eq | BinaryOp::Ne | BinaryOp::Lt | BinaryOp::Le | BinaryOp::Gt | BinaryOp::Ge,
                ..,
            ) => value,
            other => Expr::binary(BinaryOp::Ne, other, Expr::Const(0)),
        }
    }

    fn enter(&mut self) -> Result<(), TextError> {
        self.depth += 1;
        if self.depth > super::cursor::DEPTH_MAX {
            return Err(self.cursor.too_deep("code"));
        }
        Ok(())
    }
}
