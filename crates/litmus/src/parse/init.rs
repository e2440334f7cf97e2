//! Parses the initial state, such as `{ x = 0; atomic_int y[2] = {0, 1}; 0:r1 = x; }`.

use proto::words::counted;

use super::cursor::Cursor;
use super::error::{Place, TextError};
use super::lexer::Kind;
use crate::program::{
    Dialect, Expr, LocId, Location, Program, Proxy, Reg, Region, Register, Thread, ThreadId, Value,
    address_value,
};

/// The maximum number of words of memory in a test.
const LOCATIONS_MAX: usize = 4096;

/// An initial value. It may name a location that is declared later.
enum Initial {
    Number(Value),
    Address(String, Place),
}

/// The initial value of a register. The parser keeps it until the number of threads is known.
pub(super) struct RegisterInit {
    thread: usize,
    name: String,
    value: Value,
    place: Place,
}

/// The locations of a test by name. The parser adds locations as it finds them.
pub(super) struct Locations {
    pub(super) list: Vec<Location>,
    objects: u16,
    /// The locations whose memory region (global or local) the test specifies.
    placed: Vec<LocId>,
}

impl Locations {
    pub(super) fn new() -> Locations {
        Locations { list: Vec::new(), objects: 0, placed: Vec::new() }
    }

    /// The location with this name, or the first element of the array with this name.
    pub(super) fn find(&self, name: &str) -> Option<LocId> {
        let first = format!("{name}[0]");
        let at = self.list.iter().position(|l| l.name == name || l.name == first)?;
        Some(LocId(at as u16))
    }

    /// The location with this name. Adds the location if it is new.
    pub(super) fn find_or_add(&mut self, name: &str, place: Place) -> Result<LocId, TextError> {
        match self.find(name) {
            Some(loc) => Ok(loc),
            None => self.add(name, 1, place),
        }
    }

    fn add(&mut self, name: &str, count: usize, place: Place) -> Result<LocId, TextError> {
        if self.list.len() + count > LOCATIONS_MAX {
            let sentence = format!("a test may have at most {LOCATIONS_MAX} words of memory");
            return Err(TextError::meaning(place, sentence));
        }
        let first = LocId(self.list.len() as u16);
        for index in 0..count {
            let id = LocId(self.list.len() as u16);
            self.list.push(Location {
                name: if count == 1 { name.to_owned() } else { format!("{name}[{index}]") },
                init: 0,
                region: Region::Unqualified,
                atomic: false,
                physical: id,
                generic: id,
                object: self.objects,
            });
        }
        self.objects += 1;
        Ok(first)
    }

    /// All locations of the array that `loc` belongs to.
    pub(super) fn object_mut(&mut self, loc: LocId) -> impl Iterator<Item = &mut Location> {
        let object = self.list[usize::from(loc.0)].object;
        self.list.iter_mut().filter(move |l| l.object == object)
    }

    /// Sets the memory region of the array that `loc` belongs to, unless the region is already set.
    pub(super) fn place_in(&mut self, loc: LocId, region: Region) {
        if !self.placed.contains(&loc) {
            self.placed.push(loc);
            self.object_mut(loc).for_each(|l| l.region = region);
        }
    }
}

/// Parses the initial state, a block in braces. Adds the locations of the block to `locations`, and
/// returns the initial values of registers.
pub(super) fn block(
    cursor: &mut Cursor,
    dialect: Dialect,
    locations: &mut Locations,
) -> Result<Vec<RegisterInit>, TextError> {
    let mut pending: Vec<(Target, Initial)> = Vec::new();
    cursor.expect("{")?;
    while !cursor.eat("}") {
        if cursor.eat(";") {
            continue;
        }
        declaration(cursor, dialect, locations, &mut pending)?;
        if !cursor.is("}") && !cursor.eat(";") {
            return Err(cursor.expected("`;` or `}`"));
        }
    }
    cursor.eat(";");
    let mut registers = Vec::new();
    for (target, initial) in pending {
        let value = match initial {
            Initial::Number(value) => value,
            Initial::Address(name, place) => address_value(locations.find_or_add(&name, place)?),
        };
        match target {
            Target::Loc(loc) => locations.list[usize::from(loc.0)].init = value,
            Target::Reg(thread, name, place) => {
                registers.push(RegisterInit { thread, name, value, place });
            }
        }
    }
    Ok(registers)
}

enum Target {
    Loc(LocId),
    Reg(usize, String, Place),
}

/// Whether the word can be part of a C type.
fn type_word(word: &str) -> bool {
    matches!(
        word,
        "int"
            | "uint"
            | "unsigned"
            | "signed"
            | "long"
            | "short"
            | "char"
            | "bool"
            | "atomic_int"
            | "atomic_uint"
            | "atomic_long"
            | "atomic_flag"
            | "atomic_bool"
            | "atomic_t"
            | "spinlock_t"
            | "volatile"
            | "const"
            | "global"
            | "__global"
            | "local"
            | "__local"
            | "intptr_t"
            | "uintptr_t"
            | "uint32_t"
            | "uint64_t"
            | "int32_t"
            | "int64_t"
            | "size_t"
    ) || word.starts_with("atomic_int")
        || word.starts_with("atomic_uint")
}

/// The properties that the words of a C type (such as `global` and `atomic_int`) give to the type.
#[derive(Clone, Copy, Default)]
pub(super) struct TypeWords {
    pub(super) any: bool,
    pub(super) atomic: bool,
    pub(super) region: Option<Region>,
    pub(super) pointer: bool,
}

/// Reads the words and stars of a C type. If the next token does not begin a type, the field `any`
/// of the result is false.
pub(super) fn type_words(cursor: &mut Cursor) -> TypeWords {
    let mut of = TypeWords::default();
    loop {
        match cursor.peek() {
            Kind::Word(word) if type_word(word) => {
                of.any = true;
                match word.as_str() {
                    "global" | "__global" => of.region = Some(Region::Global),
                    "local" | "__local" => of.region = Some(Region::Local),
                    word if word.starts_with("atomic_") => of.atomic = true,
                    _ => {}
                }
            }
            Kind::Word(word) if word == "_Atomic" => {
                (of.any, of.atomic) = (true, true);
                // In `_Atomic(int *)` the brackets hold the type of the value.
                if *cursor.peek_at(1) == Kind::Mark("(") {
                    cursor.advance();
                    cursor.advance();
                    while matches!(cursor.peek(), Kind::Word(word) if type_word(word)) || cursor.is("*") {
                        cursor.advance();
                    }
                    if !cursor.is(")") {
                        return of;
                    }
                }
            }
            Kind::Word(word) if word == "struct" && matches!(cursor.peek_at(1), Kind::Word(_)) => {
                of.any = true;
                cursor.advance();
            }
            Kind::Mark("*") if of.any => of.pointer = true,
            _ => return of,
        }
        cursor.advance();
    }
}

fn declaration(
    cursor: &mut Cursor,
    dialect: Dialect,
    locations: &mut Locations,
    pending: &mut Vec<(Target, Initial)>,
) -> Result<(), TextError> {
    let words = type_words(cursor);
    if let Some(thread) = cursor.thread_colon() {
        let place = cursor.place();
        let name = cursor.word("a register's name")?;
        let initial = if cursor.eat("=") { initial(cursor)? } else { Initial::Number(0) };
        pending.push((Target::Reg(thread, name, place), initial));
        return Ok(());
    }
    let bracket = cursor.eat("[");
    let place = cursor.place();
    let name = cursor.word("a location, a register such as `0:r1`, or `}`")?;
    if bracket {
        cursor.expect("]")?;
    }
    if dialect == Dialect::Ptx && cursor.is("@") {
        return alias(cursor, locations, &name, place);
    }
    if dialect == Dialect::Vulkan && cursor.is_word("aliases") {
        return add_alias(cursor, locations, &name, place, Proxy::Generic);
    }
    let index = if !bracket && cursor.eat("[") { Some(array_size(cursor)?) } else { None };
    if cursor.eat("=") {
        if cursor.is("{") {
            return array(cursor, locations, pending, &name, index.flatten(), place, words);
        }
        if let Some(Some(element)) = index.filter(|_| !words.any) {
            let full = format!("{name}[{element}]");
            let loc = locations.find_or_add(&full, place)?;
            pending.push((Target::Loc(loc), initial(cursor)?));
            return Ok(());
        }
        let loc = declare(locations, &name, index.flatten().unwrap_or(1), place, words)?;
        pending.push((Target::Loc(loc), initial(cursor)?));
    } else {
        declare(locations, &name, index.flatten().unwrap_or(1), place, words)?;
    }
    Ok(())
}

/// Reads the rest of `[n]` or `[]` after the opening bracket. `None` if no size is given.
fn array_size(cursor: &mut Cursor) -> Result<Option<usize>, TextError> {
    if cursor.eat("]") {
        return Ok(None);
    }
    let place = cursor.place();
    let size = cursor.number("the number of elements")?;
    cursor.expect("]")?;
    match usize::try_from(size) {
        Ok(size) if size <= LOCATIONS_MAX => Ok(Some(size)),
        _ => {
            let expected = format!("a number of elements from 0 to {LOCATIONS_MAX}");
            Err(TextError::expected(place, format!("`{size}`"), expected))
        }
    }
}

fn declare(
    locations: &mut Locations,
    name: &str,
    count: usize,
    place: Place,
    words: TypeWords,
) -> Result<LocId, TextError> {
    let loc = match locations.find(name) {
        Some(_) if words.any => {
            return Err(TextError::meaning(place, format!("location `{name}` is declared twice")));
        }
        Some(loc) => loc,
        None if count == 0 => {
            return Err(TextError::meaning(place, format!("array `{name}` has no elements")));
        }
        None => locations.add(name, count, place)?,
    };
    if words.atomic {
        locations.object_mut(loc).for_each(|l| l.atomic = true);
    }
    if let Some(region) = words.region {
        locations.place_in(loc, region);
    }
    Ok(loc)
}

fn array(
    cursor: &mut Cursor,
    locations: &mut Locations,
    pending: &mut Vec<(Target, Initial)>,
    name: &str,
    size: Option<usize>,
    place: Place,
    words: TypeWords,
) -> Result<(), TextError> {
    cursor.expect("{")?;
    let mut values = Vec::new();
    while !cursor.eat("}") {
        values.push(initial(cursor)?);
        if !cursor.is("}") {
            cursor.expect(",")?;
        }
    }
    if let Some(size) = size.filter(|&size| size < values.len()) {
        let sentence = format!(
            "array `{name}` has {}, but {} initial values",
            counted(size as u64, "element"),
            values.len()
        );
        return Err(TextError::meaning(place, sentence));
    }
    let first = declare(locations, name, size.unwrap_or(values.len()), place, words)?;
    for (index, value) in values.into_iter().enumerate() {
        pending.push((Target::Loc(LocId(first.0 + index as u16)), value));
    }
    Ok(())
}

fn initial(cursor: &mut Cursor) -> Result<Initial, TextError> {
    if cursor.eat("(") {
        let inner = initial(cursor)?;
        cursor.expect(")")?;
        return Ok(inner);
    }
    cursor.eat("&");
    let place = cursor.place();
    // A macro such as `ATOMIC_VAR_INIT(0)` stands for its argument.
    if matches!((cursor.peek(), cursor.peek_at(1)), (Kind::Word(_), Kind::Mark("("))) {
        cursor.advance();
        return initial(cursor);
    }
    match cursor.peek() {
        Kind::Word(_) => Ok(Initial::Address(cursor.word("a location")?, place)),
        _ => cursor.number("a number or a location").map(Initial::Number),
    }
}

/// Parses the rest of a declaration `name @ surface aliases x`, which makes `name` a further name
/// of the word `x` with its own path to memory (proxy).
fn alias(cursor: &mut Cursor, locations: &mut Locations, name: &str, place: Place) -> Result<(), TextError> {
    cursor.expect("@")?;
    let proxy_place = cursor.place();
    let word = cursor.word("`generic`, `texture`, `surface` or `constant`")?;
    let Some(proxy) = proxy_of(&word) else {
        let expected = "`generic`, `texture`, `surface` or `constant`";
        return Err(TextError::expected(proxy_place, format!("`{word}`"), expected));
    };
    add_alias(cursor, locations, name, place, proxy)
}

/// Parses the rest of a declaration `name aliases x`, which makes `name` a further name of the word
/// `x`.
fn add_alias(
    cursor: &mut Cursor,
    locations: &mut Locations,
    name: &str,
    place: Place,
    proxy: Proxy,
) -> Result<(), TextError> {
    if !cursor.eat_word("aliases") {
        return Err(cursor.expected("`aliases`"));
    }
    let of_place = cursor.place();
    let of_name = cursor.word("the name of the aliased location")?;
    let Some(of) = locations.find(&of_name) else {
        return Err(TextError::meaning(of_place, format!("the test has no location `{of_name}`")));
    };
    if locations.find(name).is_some() {
        return Err(TextError::meaning(place, format!("location `{name}` is declared twice")));
    }
    let (physical, generic) = {
        let of = &locations.list[usize::from(of.0)];
        (of.physical, of.generic)
    };
    let loc = locations.add(name, 1, place)?;
    let entry = &mut locations.list[usize::from(loc.0)];
    entry.physical = physical;
    if proxy != Proxy::Generic {
        entry.generic = generic;
    }
    Ok(())
}

/// The proxy (the path to memory) with this name.
pub(super) fn proxy_of(word: &str) -> Option<Proxy> {
    match word {
        "generic" => Some(Proxy::Generic),
        "texture" => Some(Proxy::Texture),
        "surface" => Some(Proxy::Surface),
        "constant" => Some(Proxy::Constant),
        _ => None,
    }
}

/// Creates `count` threads, with the registers that the initial state sets.
pub(super) fn threads(inits: &[RegisterInit], count: usize) -> Result<Vec<Thread>, TextError> {
    let mut threads = vec![Thread::default(); count];
    for init in inits {
        let Some(thread) = threads.get_mut(init.thread) else {
            let sentence = format!("the test has no thread P{}", init.thread);
            return Err(TextError::meaning(init.place, sentence));
        };
        let entry = Register { name: init.name.clone(), init: init.value };
        match thread.register(&init.name) {
            Some(reg) => thread.registers[usize::from(reg.0)] = entry,
            None => thread.registers.push(entry),
        }
    }
    Ok(threads)
}

/// The register of the thread with this name. Adds the register if it is new.
pub(super) fn register(thread: &mut Thread, name: &str) -> Reg {
    thread.register(name).unwrap_or_else(|| {
        thread.registers.push(Register { name: name.to_owned(), init: 0 });
        Reg((thread.registers.len() - 1) as u16)
    })
}

/// Completes the locations of the program. In formats other than OpenCL, a location without a
/// memory region gets the global region. A location that is a further name of a word gets the
/// initial value of the word.
pub(super) fn finish(program: &mut Program) {
    for location in &mut program.locations {
        if program.dialect != Dialect::OpenCl && location.region == Region::Unqualified {
            location.region = Region::Global;
        }
    }
    for at in 0..program.locations.len() {
        let physical = program.locations[at].physical;
        program.locations[at].init = program.locations[usize::from(physical.0)].init;
    }
}

/// The identifier of a thread.
pub(super) fn thread_id(thread: usize) -> ThreadId {
    ThreadId(thread as u8)
}

/// The address of `loc` as an expression.
pub(super) fn address(loc: LocId) -> Expr {
    Expr::Addr(loc)
}
