//! Parses Vulkan tests, with instructions such as `st.atom.rel.wg.sc0.semsc0 y, 1` and
//! `cbar.acq_rel.wg.semsc0 1`.
//!
//! The modifiers of an instruction are the operands that SPIR-V has: the scope, the memory
//! semantics with their storage classes, and the memory operands.

use crate::program::{
    Access, Barrier, Cas, Dialect, Expr, Fence, Instr, Level, Order, Program, RmwOp, ScopeId, ThreadId,
    ThreadSet,
};

use super::columns::{self, Column, Form};
use super::cursor::Cursor;
use super::error::{Place, TextError};
use super::init::{self, Locations};
use super::lexer::{Kind, Lexed};
use super::table::Labels;

/// The default placement of threads. The flag of a level says whether all threads share one
/// instance of the level (`true`) or each thread has its own instance (`false`). Each thread is
/// alone in its sub-group and its work-group. All threads are in one queue family on one device.
const ALONE: [(&str, bool); 4] = [("sg", false), ("wg", false), ("qf", true), ("dv", true)];

/// Modifiers that become sets in a model: the storage classes, the memory semantics (`sem...`), the
/// availability and visibility operations (`av`, `vis`), and `nonpriv`.
const MARKS: [&str; 13] = [
    "sc0", "sc1", "sc2", "sc3", "semsc0", "semsc1", "semsc2", "semsc3", "semav", "semvis", "av", "vis",
    "nonpriv",
];

/// Reads a Vulkan test.
pub(super) fn parse(lexed: Lexed) -> Result<Program, TextError> {
    let mut cursor = Cursor::new(lexed.tokens);
    let mut locations = Locations::new();
    let inits = init::block(&mut cursor, Dialect::Vulkan, &mut locations)?;
    let mut order = Vec::new();
    while cursor.is("{") {
        system_order(&mut cursor, &mut order)?;
    }
    let place = cursor.place();
    let (placement, count) = columns::header(&mut cursor)?;
    let mut scopes = placement.scopes(count, &ALONE, place)?;
    if !scopes.iter().any(|(_, scope)| scope.level == Level::Device) {
        scopes.add(Level::Device, "device", 0, ThreadSet::first(count));
    }
    let mut system_order = Vec::new();
    for (thread, place) in order.iter().flat_map(|pair: &[(usize, Place); 2]| pair) {
        if *thread >= count {
            return Err(TextError::meaning(*place, format!("the test has no thread P{thread}")));
        }
    }
    for [(first, _), (later, _)] in order {
        system_order.push((ThreadId(first as u8), ThreadId(later as u8)));
    }
    let form = Form { dialect: Dialect::Vulkan, locations, inits, scopes };
    let mut program = columns::columns(cursor, lexed.name, form, instruction)?;
    program.system_order = system_order;
    Ok(program)
}

/// Reads pairs of threads, such as `{ ssw 0 1; ssw 1 2; }`. These pairs form Vulkan's relation
/// system-synchronizes-with.
fn system_order(cursor: &mut Cursor, order: &mut Vec<[(usize, Place); 2]>) -> Result<(), TextError> {
    cursor.expect("{")?;
    while !cursor.eat("}") {
        if cursor.eat(";") {
            continue;
        }
        if !cursor.eat_word("ssw") {
            return Err(cursor.expected("`ssw` and two threads, or `}`"));
        }
        order.push([thread(cursor)?, thread(cursor)?]);
        if !cursor.is("}") && !cursor.eat(";") {
            return Err(cursor.expected("`;` or `}`"));
        }
    }
    Ok(())
}

/// Reads the number of a thread, `0` or `P0`.
fn thread(cursor: &mut Cursor) -> Result<(usize, Place), TextError> {
    let place = cursor.place();
    let number = match cursor.peek() {
        Kind::Number(number) => usize::try_from(*number).ok(),
        Kind::Word(word) => super::cursor::thread_number(word),
        _ => None,
    };
    match number {
        Some(number) => {
            cursor.advance();
            Ok((number, place))
        }
        None => Err(cursor.expected("a thread's number")),
    }
}

/// The parts of an opcode. For example, `st.atom.rel.wg.sc0.semsc0` has an operation, a memory
/// order, a scope and further modifiers.
struct Opcode {
    word: String,
    place: Place,
    atomic: bool,
    order: Option<Order>,
    scope: Option<String>,
    marks: Vec<String>,
    function: Option<String>,
}

fn opcode(text: &str, place: Place) -> Result<Opcode, TextError> {
    let mut parts = text.split('.');
    let mut of = Opcode {
        word: parts.next().unwrap_or_default().to_owned(),
        place,
        atomic: false,
        order: None,
        scope: None,
        marks: Vec::new(),
        function: None,
    };
    for part in parts {
        let twice = match part {
            "atom" => core::mem::replace(&mut of.atomic, true),
            "acq" => of.order.replace(Order::Acquire).is_some(),
            "rel" => of.order.replace(Order::Release).is_some(),
            "acq_rel" => of.order.replace(Order::AcqRel).is_some(),
            "rlx" => of.order.replace(Order::Relaxed).is_some(),
            "sg" | "wg" | "qf" | "dv" => of.scope.replace(part.to_owned()).is_some(),
            _ if MARKS.contains(&part) => {
                let mark = part.to_ascii_uppercase();
                let twice = of.marks.contains(&mark);
                of.marks.push(mark);
                twice
            }
            _ => of.function.replace(part.to_owned()).is_some(),
        };
        if twice {
            let expected = "at most one order, at most one scope, and no modifier twice";
            return Err(TextError::expected(place, format!("`.{part}` in `{text}`"), expected));
        }
    }
    Ok(of)
}

impl Opcode {
    fn has(&self, mark: &str) -> bool {
        self.marks.iter().any(|own| own == mark)
    }

    fn expected(&self, found: impl Into<String>, expected: impl Into<String>) -> TextError {
        TextError::expected(self.place, found, expected)
    }

    /// Fails if the opcode has a function (the operation of a read-modify-write), such as `.add`.
    /// The parser stores an unknown modifier as a function, so this check also rejects unknown
    /// modifiers.
    fn no_function(&self) -> Result<(), TextError> {
        match &self.function {
            None => Ok(()),
            Some(other) => Err(self.expected(
                format!("`.{other}`"),
                format!("modifiers of `{}` such as `.atom`, `.wg` or `.sc0`", self.word),
            )),
        }
    }

    /// The scope instance that contains the column's thread and has the level that the opcode
    /// names, such as `.wg`.
    fn scope(&self, column: &Column<'_>) -> Result<ScopeId, TextError> {
        let Some(name) = &self.scope else {
            let expected = "a scope: `.sg`, `.wg`, `.qf` or `.dv`";
            return Err(self.expected(format!("`{}` without a scope", self.word), expected));
        };
        column.scopes.around(column.id, name).ok_or_else(|| {
            TextError::meaning(self.place, format!("thread P{} is in no `{name}`", column.id.0))
        })
    }
}

fn instruction(column: &mut Column<'_>, labels: &mut Labels) -> Result<(), TextError> {
    let place = column.cursor.place();
    let text = column.cursor.word("an instruction such as `ld.sc0`")?;
    let op = opcode(&text, place)?;
    let instr = match op.word.as_str() {
        "ld" => load(column, &op)?,
        "st" => store(column, &op)?,
        "rmw" => read_modify_write(column, &op)?,
        "membar" => memory_barrier(column, &op)?,
        "cbar" => control_barrier(column, &op)?,
        "avdevice" | "visdevice" => device_operation(&op)?,
        word => {
            let local = if text == word { column.local(word, labels)? } else { None };
            local.ok_or_else(|| {
                op.expected(
                    format!("`{text}`"),
                    "an instruction such as `ld`, `st`, `rmw`, `membar` or `cbar`",
                )
            })?
        }
    };
    column.emit(place.line, instr);
    Ok(())
}

/// The access that an instruction with the opcode `op` makes. `orders` lists the memory orders that
/// the instruction allows. `not` lists the modifiers that the instruction does not allow. Fails if
/// the opcode has an order or a modifier that is not allowed.
fn access(
    column: &Column<'_>,
    op: &Opcode,
    address: Expr,
    orders: &[Order],
    not: &[&str],
) -> Result<Access, TextError> {
    if let Some(mark) = not.iter().find(|mark| op.has(mark)) {
        let sentence = format!("`{}` takes no `.{}`", op.word, mark.to_ascii_lowercase());
        return Err(TextError::meaning(op.place, sentence));
    }
    let classes = ["SC0", "SC1", "SC2", "SC3"];
    let given = classes.iter().filter(|class| op.has(class)).count();
    if given > 1 {
        return Err(op.expected("two storage classes", "one of `.sc0` to `.sc3`"));
    }
    let mut access = Access::plain(address);
    access.tags.clone_from(&op.marks);
    if given == 0 {
        access.tags.push("SC0".to_owned());
    }
    match op.order {
        Some(order) if !op.atomic => {
            let word = if order == Order::Relaxed { "rlx" } else { "acq or .rel" };
            return Err(op.expected(format!("`.{word}` without `.atom`"), "`.atom` before it"));
        }
        Some(order) if !orders.contains(&order) => {
            let sentence = format!("`{}` cannot have this memory order", op.word);
            return Err(TextError::meaning(op.place, sentence));
        }
        order if op.atomic => access.order = order.unwrap_or(Order::Relaxed),
        _ => {}
    }
    let scoped = op.atomic || op.has("AV") || op.has("VIS");
    if scoped || op.scope.is_some() {
        access.scope = Some(op.scope(column)?);
    }
    Ok(access)
}

/// Parses a load. Also parses `ld r0, 2`, which only sets a register.
fn load(column: &mut Column<'_>, op: &Opcode) -> Result<Instr, TextError> {
    op.no_function()?;
    let dst = column.register()?;
    column.comma()?;
    if matches!(column.cursor.peek(), Kind::Number(_) | Kind::Mark("-")) {
        return Ok(Instr::Assign { dst, value: column.value()? });
    }
    let address = column.address()?;
    let access = access(column, op, address, &[Order::Relaxed, Order::Acquire], &["AV"])?;
    Ok(Instr::Load { dst, access })
}

fn store(column: &mut Column<'_>, op: &Opcode) -> Result<Instr, TextError> {
    op.no_function()?;
    let address = column.address()?;
    column.comma()?;
    let value = column.value()?;
    let access = access(column, op, address, &[Order::Relaxed, Order::Release], &["VIS"])?;
    Ok(Instr::Store { access, value })
}

/// Parses a read-modify-write, such as `rmw.atom.wg.sc0.add r0, x, 1`. If the opcode has no
/// function such as `.add`, the read-modify-write is an exchange.
fn read_modify_write(column: &mut Column<'_>, op: &Opcode) -> Result<Instr, TextError> {
    const ORDERS: [Order; 4] = [Order::Relaxed, Order::Acquire, Order::Release, Order::AcqRel];
    if !op.atomic {
        return Err(op.expected("`rmw` without `.atom`", "`rmw.atom`"));
    }
    let dst = column.register()?;
    column.comma()?;
    let address = column.address()?;
    let access = access(column, op, address, &ORDERS, &[])?;
    column.comma()?;
    let operand = column.value()?;
    let function = match op.function.as_deref().unwrap_or("exch") {
        "cas" => {
            column.comma()?;
            let desired = column.value()?;
            let order_failure = match access.order {
                Order::Release => Order::Relaxed,
                Order::AcqRel => Order::Acquire,
                order => order,
            };
            let expected = operand;
            let (dst, success, weak) = (Some(dst), None, false);
            let cas = Cas { dst, success, access, expected, desired, order_failure, weak };
            return Ok(Instr::Cas(Box::new(cas)));
        }
        "add" => RmwOp::Add,
        "sub" => RmwOp::Sub,
        "mul" => RmwOp::Mul,
        "div" => RmwOp::Div,
        "and" => RmwOp::And,
        "or" => RmwOp::Or,
        "xor" => RmwOp::Xor,
        "min" => RmwOp::Min,
        "max" => RmwOp::Max,
        "inc" => RmwOp::Inc,
        "dec" => RmwOp::Dec,
        "exch" => RmwOp::Exchange,
        other => {
            return Err(op.expected(format!("`.{other}`"), "an operation such as `.add`, `.exch` or `.cas`"));
        }
    };
    Ok(Instr::Rmw { dst: Some(dst), access, op: function, operand })
}

/// The modifiers of an instruction that makes no access, such as a fence. Fails if a modifier is
/// not a part of the memory semantics.
fn semantics(op: &Opcode) -> Result<Vec<String>, TextError> {
    op.no_function()?;
    match op.marks.iter().find(|mark| !mark.starts_with("SEM")) {
        None if !op.atomic => Ok(op.marks.clone()),
        found => {
            let mark = found.map_or_else(|| "atom".to_owned(), |mark| mark.to_ascii_lowercase());
            Err(op.expected(format!("`.{mark}`"), format!("semantics of `{}` such as `.semsc0`", op.word)))
        }
    }
}

fn memory_barrier(column: &mut Column<'_>, op: &Opcode) -> Result<Instr, TextError> {
    let tags = semantics(op)?;
    let Some(order) = op.order.filter(|order| *order != Order::Relaxed) else {
        return Err(op.expected("`membar` without an order", "`.acq`, `.rel` or `.acq_rel`"));
    };
    let scope = Some(op.scope(column)?);
    Ok(Instr::Fence(Fence {
        order,
        scope,
        global: true,
        local: true,
        proxy: None,
        remote: false,
        tags,
        section: None,
    }))
}

/// Parses a control barrier, such as `cbar.acq_rel.wg.semsc0 instance [, id [, count]]`.
fn control_barrier(column: &mut Column<'_>, op: &Opcode) -> Result<Instr, TextError> {
    let tags = semantics(op)?;
    let order = op.order.unwrap_or(Order::Relaxed);
    let group = op.scope(column)?;
    let (instance, id, quorum) = column.barrier_operands(op.place)?;
    Ok(Instr::Barrier(Barrier {
        group,
        scope: group,
        order,
        instance,
        id,
        quorum,
        arrive: false,
        global: true,
        local: true,
        tags,
    }))
}

/// Parses `avdevice` or `visdevice`. `avdevice` is an availability operation and `visdevice` is a
/// visibility operation for the whole device. Memory dependencies of the Vulkan API perform such
/// operations.
fn device_operation(op: &Opcode) -> Result<Instr, TextError> {
    let bare = op.marks.is_empty() && op.order.is_none() && op.scope.is_none() && !op.atomic;
    op.no_function()?;
    if !bare {
        return Err(op.expected(format!("`{}` with a modifier", op.word), "none"));
    }
    Ok(Instr::Fence(Fence {
        order: Order::Plain,
        scope: None,
        global: true,
        local: true,
        proxy: None,
        remote: false,
        tags: vec![op.word.to_ascii_uppercase()],
        section: None,
    }))
}
