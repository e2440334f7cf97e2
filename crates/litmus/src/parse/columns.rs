//! The common parts of the parsers for PTX tests and Vulkan tests. In these formats, the code of
//! each thread is in its own column.

use crate::program::{
    BinaryOp, Condition, Dialect, Expr, Instr, Program, Prop, Quantifier, Reg, Scopes, Thread, ThreadId,
    Value,
};

use super::condition;
use super::cursor::{Cursor, thread_number};
use super::error::{Place, TextError};
use super::init::{self, Locations};
use super::lexer::Kind;
use super::scopes::Placement;
use super::table::{self, Labels};

/// The parts of a test before the code of the threads.
pub(super) struct Form {
    pub(super) dialect: Dialect,
    pub(super) locations: Locations,
    pub(super) inits: Vec<init::RegisterInit>,
    pub(super) scopes: Scopes,
}

/// A function that parses one instruction in a column.
pub(super) type Reader = fn(&mut Column<'_>, &mut Labels) -> Result<(), TextError>;

/// Parses the columns with the code of the threads, and the condition after the columns.
pub(super) fn columns(
    mut cursor: Cursor,
    name: String,
    form: Form,
    reader: Reader,
) -> Result<Program, TextError> {
    let Form { dialect, mut locations, inits, scopes } = form;
    let count = scopes.threads();
    let mut threads = init::threads(&inits, count)?;
    let table = table::cells(&mut cursor, count)?;
    let after = cursor.position();
    for (number, column) in table.columns.iter().enumerate() {
        let thread = core::mem::take(&mut threads[number]);
        let id = init::thread_id(number);
        let column_reader =
            Column { cursor: &mut cursor, id, scopes: &scopes, locations: &mut locations, thread };
        threads[number] = column_reader.read(column, reader)?;
    }
    cursor.seek(after);
    let mut program = Program {
        name,
        dialect,
        locations: locations.list,
        scopes,
        threads,
        system_order: Vec::new(),
        filter: None,
        condition: Condition { quantifier: Quantifier::Exists, prop: Prop::True },
        observed: Vec::new(),
    };
    init::finish(&mut program);
    condition::closing(&mut cursor, &mut program)?;
    Ok(program)
}

/// Reads the header of the columns, such as `P0@cta 0,gpu 0 | P1@cta 1,gpu 0 ;`.
pub(super) fn header(cursor: &mut Cursor) -> Result<(Placement, usize), TextError> {
    let mut placement = Placement::default();
    let mut count = 0;
    loop {
        let number = match cursor.peek() {
            Kind::Word(word) => thread_number(word),
            _ => None,
        };
        let Some(number) = number else { return Err(cursor.expected(format!("`P{count}`"))) };
        count = super::c::next_thread(cursor, number, count)?;
        cursor.advance();
        if cursor.is("@") {
            placement.header(cursor, number)?;
        }
        if cursor.eat(";") {
            return Ok((placement, count));
        }
        if !cursor.eat("|") {
            return Err(cursor.expected("`|` or `;`"));
        }
    }
}

/// The state of the parser while it parses the column of one thread.
pub(super) struct Column<'p> {
    pub(super) cursor: &'p mut Cursor,
    pub(super) id: ThreadId,
    pub(super) scopes: &'p Scopes,
    pub(super) locations: &'p mut Locations,
    pub(super) thread: Thread,
}

impl Column<'_> {
    fn read(mut self, cells: &[usize], reader: Reader) -> Result<Thread, TextError> {
        let mut labels = Labels::default();
        for &cell in cells {
            self.cursor.seek(cell);
            labels.read(self.cursor, self.thread.code.len())?;
            if !table::at_cell_end(self.cursor) {
                reader(&mut self, &mut labels)?;
            }
            table::cell_end(self.cursor)?;
        }
        labels.resolve(self.id, &mut self.thread.code)?;
        Ok(self.thread)
    }

    /// Parses an instruction that only computes or jumps. `None` if `word` begins no such
    /// instruction.
    pub(super) fn local(&mut self, word: &str, labels: &mut Labels) -> Result<Option<Instr>, TextError> {
        Ok(Some(match word {
            "mov" => {
                let dst = self.register()?;
                self.comma()?;
                Instr::Assign { dst, value: self.value()? }
            }
            "add" | "sub" | "mul" | "div" | "and" | "or" | "xor" => self.arithmetic(word)?,
            "goto" | "bra" => {
                labels.jump(self.cursor, self.thread.code.len())?;
                Instr::Jump { target: 0 }
            }
            "beq" | "bne" | "blt" | "bgt" | "ble" | "bge" => {
                let cmp = comparison(word);
                let left = self.value()?;
                self.comma()?;
                let right = self.value()?;
                self.comma()?;
                labels.jump(self.cursor, self.thread.code.len())?;
                Instr::Branch { cond: Expr::binary(cmp, left, right), target: 0, join: None }
            }
            _ => return Ok(None),
        }))
    }

    pub(super) fn emit(&mut self, line: u32, instr: Instr) -> usize {
        self.thread.code.push(instr);
        self.thread.lines.push(line);
        self.thread.code.len() - 1
    }

    pub(super) fn comma(&mut self) -> Result<(), TextError> {
        self.cursor.expect(",")
    }

    pub(super) fn register(&mut self) -> Result<Reg, TextError> {
        let name = self.cursor.word("a register")?;
        Ok(init::register(&mut self.thread, &name))
    }

    /// Reads a number, or a register of the column's thread.
    pub(super) fn value(&mut self) -> Result<Expr, TextError> {
        if let Kind::Word(name) = self.cursor.peek().clone() {
            let place = self.cursor.place();
            self.cursor.advance();
            return match self.thread.register(&name) {
                Some(reg) => Ok(Expr::Reg(reg)),
                None => Err(TextError::meaning(
                    place,
                    format!("thread P{} has no register `{name}` here", self.id.0),
                )),
            };
        }
        self.cursor.number("a number or a register").map(Expr::Const)
    }

    /// Reads an address: `x`, `[x]`, or a register that holds an address.
    pub(super) fn address(&mut self) -> Result<Expr, TextError> {
        let bracket = self.cursor.eat("[");
        let place = self.cursor.place();
        let name = self.cursor.word("a location")?;
        let address = match (self.locations.find(&name), self.thread.register(&name)) {
            (Some(loc), _) => Expr::Addr(loc),
            (None, Some(reg)) => Expr::Reg(reg),
            (None, None) => Expr::Addr(table::new_location(self.locations, self.id, &name, place)?),
        };
        if bracket {
            self.cursor.expect("]")?;
        }
        Ok(address)
    }

    /// Reads the operands of a barrier: `instance [, id [, quorum]]`.
    pub(super) fn barrier_operands(
        &mut self,
        place: Place,
    ) -> Result<(Value, Expr, Option<Expr>), TextError> {
        let first = self.value()?;
        let (mut id, mut quorum) = (None, None);
        if self.cursor.eat(",") {
            id = Some(self.value()?);
        }
        if self.cursor.eat(",") {
            let place = self.cursor.place();
            let count = self.value()?;
            if let Some(number) = count.as_const().filter(|&number| number < 1) {
                let expected = "a number of threads, 1 or more, or a register";
                return Err(TextError::expected(place, format!("`{number}`"), expected));
            }
            quorum = Some(count);
        }
        // If there is only one operand, a register is the barrier resource, and a number is both
        // the barrier and its resource.
        let (instance, id) = match (first.as_const(), id) {
            (Some(instance), Some(id)) => (instance, id),
            (Some(instance), None) => (instance, Expr::Const(instance)),
            (None, None) => (-1, first),
            (None, Some(_)) => {
                let sentence = "the first operand of a barrier with several operands must be a number";
                return Err(TextError::meaning(place, sentence));
            }
        };
        Ok((instance, id, quorum))
    }

    fn arithmetic(&mut self, word: &str) -> Result<Instr, TextError> {
        let dst = self.register()?;
        self.comma()?;
        let left = self.value()?;
        self.comma()?;
        let right = self.value()?;
        let operator = match word {
            "add" => BinaryOp::Add,
            "sub" => BinaryOp::Sub,
            "mul" => BinaryOp::Mul,
            "div" => BinaryOp::Div,
            "and" => BinaryOp::And,
            "or" => BinaryOp::Or,
            _ => BinaryOp::Xor,
        };
        Ok(Instr::Assign { dst, value: Expr::binary(operator, left, right) })
    }
}

fn comparison(text: &str) -> BinaryOp {
    match text {
        "beq" => BinaryOp::Eq,
        "bne" => BinaryOp::Ne,
        "blt" => BinaryOp::Lt,
        "bgt" => BinaryOp::Gt,
        "ble" => BinaryOp::Le,
        _ => BinaryOp::Ge,
    }
}
