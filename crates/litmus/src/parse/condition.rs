//! Parses the clauses at the end of a test: `locations`, `filter`, `exists`, `~exists`, `forall`.

use crate::program::{
    BinaryOp, Condition, Dialect, LocId, Program, Prop, Quantifier, Register, Term, ThreadId, address_value,
};

use super::cursor::{Cursor, DEPTH_MAX};
use super::error::TextError;
use super::lexer::Kind;

/// Whether the next token begins one of the clauses at the end of a test.
pub(super) fn begins(cursor: &Cursor) -> bool {
    match cursor.peek() {
        Kind::Word(word) => matches!(word.as_str(), "exists" | "forall" | "filter" | "locations" | "final"),
        Kind::Mark("~") => matches!(cursor.peek_at(1), Kind::Word(word) if word == "exists"),
        _ => false,
    }
}

/// Parses the clauses at the end of a test into `program`, which already has all threads and
/// locations.
pub(super) fn closing(cursor: &mut Cursor, program: &mut Program) -> Result<(), TextError> {
    name_parameters(cursor, program);
    let mut has_condition = false;
    while !cursor.at_end() {
        let quantifier = match cursor.peek() {
            Kind::Word(word) if word == "exists" => Quantifier::Exists,
            Kind::Word(word) if word == "forall" => Quantifier::Forall,
            Kind::Mark("~") if matches!(cursor.peek_at(1), Kind::Word(w) if w == "exists") => {
                cursor.advance();
                Quantifier::NotExists
            }
            Kind::Word(word) if word == "filter" => {
                cursor.advance();
                program.filter = Some(proposition(cursor, program, 0)?);
                continue;
            }
            Kind::Word(word) if word == "locations" => {
                cursor.advance();
                observed(cursor, program)?;
                continue;
            }
            _ => return Err(cursor.expected("`exists`, `~exists`, `forall`, `filter` or `locations`")),
        };
        if has_condition {
            return Err(cursor.expected("the end of the file: a test has one condition"));
        }
        has_condition = true;
        cursor.advance();
        program.condition = Condition { quantifier, prop: proposition(cursor, program, 0)? };
    }
    if !has_condition && program.filter.is_none() {
        program.condition = Condition { quantifier: Quantifier::Forall, prop: Prop::True };
    }
    Ok(())
}

/// Adds a register for each pointer parameter that a clause names, as in `0:x`. The register holds
/// the address of the parameter's location.
fn name_parameters(cursor: &mut Cursor, program: &mut Program) {
    if !matches!(program.dialect, Dialect::C11 | Dialect::OpenCl) {
        return;
    }
    let begin = cursor.position();
    while !cursor.at_end() {
        match (cursor.thread_colon(), cursor.peek()) {
            (Some(thread), Kind::Word(name)) => {
                let loc = program.location(name);
                let entry = program.threads.get_mut(thread).filter(|t| t.register(name).is_none());
                if let (Some(loc), Some(entry)) = (loc, entry) {
                    entry.registers.push(Register { name: name.clone(), init: address_value(loc) });
                }
            }
            _ => cursor.advance(),
        }
    }
    cursor.seek(begin);
}

/// Reads a list of terms (registers and locations) that the report shows, such as `[x; 1:r0;]`. The
/// semicolons are optional.
fn observed(cursor: &mut Cursor, program: &mut Program) -> Result<(), TextError> {
    cursor.expect("[")?;
    while !cursor.eat("]") {
        if cursor.eat(";") || cursor.eat(",") {
            continue;
        }
        let term = term(cursor, program)?;
        // Some tests mark a pointer with a trailing `*`.
        cursor.eat("*");
        program.observed.push(term);
    }
    Ok(())
}

fn proposition(cursor: &mut Cursor, program: &Program, depth: usize) -> Result<Prop, TextError> {
    if depth > DEPTH_MAX {
        return Err(cursor.too_deep("a condition"));
    }
    let left = disjunction(cursor, program, depth)?;
    if cursor.eat("=>") {
        let right = proposition(cursor, program, depth + 1)?;
        return Ok(Prop::Implies(Box::new(left), Box::new(right)));
    }
    Ok(left)
}

fn disjunction(cursor: &mut Cursor, program: &Program, depth: usize) -> Result<Prop, TextError> {
    let mut props = vec![conjunction(cursor, program, depth)?];
    while cursor.eat("\\/") || cursor.eat("||") {
        props.push(conjunction(cursor, program, depth)?);
    }
    Ok(if props.len() == 1 { props.remove(0) } else { Prop::Or(props) })
}

fn conjunction(cursor: &mut Cursor, program: &Program, depth: usize) -> Result<Prop, TextError> {
    let mut props = vec![negation(cursor, program, depth)?];
    while cursor.eat("/\\") || cursor.eat("&&") {
        props.push(negation(cursor, program, depth)?);
    }
    Ok(if props.len() == 1 { props.remove(0) } else { Prop::And(props) })
}

fn negation(cursor: &mut Cursor, program: &Program, depth: usize) -> Result<Prop, TextError> {
    if depth > DEPTH_MAX {
        return Err(cursor.too_deep("a condition"));
    }
    if cursor.eat("~") || cursor.eat("!") || cursor.eat_word("not") {
        return Ok(Prop::Not(Box::new(negation(cursor, program, depth + 1)?)));
    }
    if cursor.eat("(") {
        let prop = proposition(cursor, program, depth + 1)?;
        cursor.expect(")")?;
        return Ok(prop);
    }
    if cursor.eat_word("true") {
        return Ok(Prop::True);
    }
    if cursor.eat_word("false") {
        return Ok(Prop::False);
    }
    let left = term(cursor, program)?;
    let op = match cursor.peek() {
        Kind::Mark("=" | "==") => BinaryOp::Eq,
        Kind::Mark("!=") => BinaryOp::Ne,
        Kind::Mark("<") => BinaryOp::Lt,
        Kind::Mark("<=") => BinaryOp::Le,
        Kind::Mark(">") => BinaryOp::Gt,
        Kind::Mark(">=") => BinaryOp::Ge,
        _ => return Err(cursor.expected("a comparison such as `==` or `!=`")),
    };
    cursor.advance();
    // The lexer splits the operator `<>` into two marks.
    let op = if op == BinaryOp::Lt && cursor.eat(">") { BinaryOp::Ne } else { op };
    let right = term(cursor, program)?;
    Ok(Prop::Compare(left, op, right))
}

/// Parses a term of a condition: `P1:r0`, `1:r0`, `x`, `[x]`, `*x`, `a[1]`, `&x` or a number.
fn term(cursor: &mut Cursor, program: &Program) -> Result<Term, TextError> {
    let place = cursor.place();
    if let Some(thread) = cursor.thread_colon() {
        if thread >= program.threads.len() {
            return Err(TextError::meaning(place, format!("the test has no thread P{thread}")));
        }
        let thread_id = ThreadId(thread as u8);
        let name_place = cursor.place();
        let name = cursor.word("a register's name")?;
        return match program.threads[thread].register(&name) {
            Some(reg) => Ok(Term::Reg(thread_id, reg)),
            None => {
                let sentence = format!("thread P{thread} has no register `{name}`");
                Err(TextError::meaning(name_place, sentence))
            }
        };
    }
    if cursor.eat("&") {
        return location(cursor, program).map(|loc| Term::Const(address_value(loc)));
    }
    if cursor.eat("*") {
        return location(cursor, program).map(Term::Loc);
    }
    if cursor.eat("[") {
        let loc = location(cursor, program)?;
        cursor.expect("]")?;
        return Ok(Term::Loc(loc));
    }
    match cursor.peek() {
        Kind::Word(_) => location(cursor, program).map(Term::Loc),
        _ => cursor.number("a register, a location or a number").map(Term::Const),
    }
}

fn location(cursor: &mut Cursor, program: &Program) -> Result<LocId, TextError> {
    let place = cursor.place();
    let mut name = cursor.word("a location's name")?;
    if cursor.is("[") {
        cursor.advance();
        let index = cursor.number("an index")?;
        cursor.expect("]")?;
        name = format!("{name}[{index}]");
    }
    let first = format!("{name}[0]");
    match program.location(&name).or_else(|| program.location(&first)) {
        Some(loc) => Ok(loc),
        None => Err(TextError::meaning(place, format!("the test has no location `{name}`"))),
    }
}
