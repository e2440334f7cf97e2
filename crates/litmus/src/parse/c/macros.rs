//! Macros for tests in C, in the format of herd's `.def` files. A call of a macro stands for an
//! expression or for a block of statements.

use std::sync::LazyLock;

use crate::parse::cursor::Cursor;
use crate::parse::error::{Place, TextError};
use crate::parse::lexer::{self, Kind, Token, Words};

/// The maximum number of tokens in the expansions of all macro calls of a test.
const TOKENS_MAX: usize = 1 << 16;

/// The macros that define the Linux kernel's functions, for tests without a macro file. The list is
/// parsed when a test first looks up a macro, so that a run without such a test does not spend this
/// time.
static KERNEL_LIST: LazyLock<Vec<Macro>> = LazyLock::new(|| {
    let macros = Macros::parse(include_str!("../../../models/kernel.def"));
    macros.ok().and_then(|macros| macros.list).unwrap_or_default()
});
static KERNEL_MACROS: Macros = Macros { list: None };

/// The macros of a test, by name.
#[derive(Clone, Debug)]
pub struct Macros {
    /// The macros of the user's file. `None` selects the macros of the Linux kernel's functions.
    list: Option<Vec<Macro>>,
}

#[derive(Clone, Debug)]
struct Macro {
    name: String,
    parameters: Vec<String>,
    body: Vec<Token>,
}

impl Macros {
    /// Reads the macros of a `.def` file, herd's format for macros.
    ///
    /// # Errors
    /// The first error in the text, with its place.
    pub fn parse(text: &str) -> Result<Macros, TextError> {
        let mut cursor = Cursor::new(lexer::tokens(text, Words::C)?);
        let mut list: Vec<Macro> = Vec::new();
        while !cursor.at_end() {
            let place = cursor.place();
            let name = cursor.word("a macro such as `smp_mb() { __fence{mb}; }`")?;
            if list.iter().any(|of| of.name == name) {
                return Err(TextError::meaning(place, format!("macro `{name}` is defined twice")));
            }
            let parameters = parameters(&mut cursor)?;
            let body = body(&mut cursor)?;
            list.push(Macro { name, parameters, body });
        }
        Ok(Macros { list: Some(list) })
    }

    /// The macros that stand for functions of the Linux kernel.
    #[must_use]
    pub fn kernel() -> &'static Macros {
        &KERNEL_MACROS
    }

    fn find(&self, name: &str) -> Option<&Macro> {
        match &self.list {
            Some(list) => list.iter().find(|of| of.name == name),
            // A name with this ending is a C11 function, which the Linux kernel does not have.
            None if name.ends_with("_explicit") => None,
            None => KERNEL_LIST.iter().find(|of| of.name == name),
        }
    }

    /// Whether there is a macro with this name.
    pub(super) fn has(&self, name: &str) -> bool {
        self.find(name).is_some()
    }

    /// Replaces the macro call at the cursor with its expansion. If the expansion is an expression,
    /// puts it into parentheses. Adds the number of new tokens to `expanded`.
    pub(super) fn expand(&self, cursor: &mut Cursor, expanded: &mut usize) -> Result<(), TextError> {
        let (begin, place) = (cursor.position(), cursor.place());
        let name = cursor.word("a macro")?;
        let Some(of) = self.find(&name) else { return Err(cursor.expected("a macro")) };
        cursor.expect("(")?;
        let arguments = arguments(cursor)?;
        if arguments.len() != of.parameters.len() {
            let (wanted, found) = (of.parameters.len(), arguments.len());
            let sentence = format!("macro `{name}` takes {wanted} arguments, found {found}");
            return Err(TextError::meaning(place, sentence));
        }
        let block = of.body.first().is_some_and(|token| token.kind == Kind::Mark("{"));
        let mark = |mark: &'static str| Token { kind: Kind::Mark(mark), place };
        let mut tokens = Vec::new();
        if !block {
            tokens.push(mark("("));
        }
        for token in &of.body {
            let parameter = match &token.kind {
                Kind::Word(word) => of.parameters.iter().position(|parameter| parameter == word),
                _ => None,
            };
            match parameter {
                Some(at) if arguments[at].len() == 1 => tokens.push(arguments[at][0].clone()),
                Some(at) => {
                    tokens.push(mark("("));
                    tokens.extend(arguments[at].iter().cloned());
                    tokens.push(mark(")"));
                }
                None => tokens.push(Token { kind: token.kind.clone(), place }),
            }
        }
        if !block {
            tokens.push(mark(")"));
        }
        *expanded += tokens.len();
        if *expanded > TOKENS_MAX {
            let sentence = format!("the macros of this test expand to more than {TOKENS_MAX} tokens");
            return Err(TextError::meaning(place, sentence));
        }
        cursor.replace(begin, tokens);
        Ok(())
    }
}

/// Reads the parameters of a macro, such as `(X, V)`.
fn parameters(cursor: &mut Cursor) -> Result<Vec<String>, TextError> {
    let mut names = Vec::new();
    cursor.expect("(")?;
    while !cursor.eat(")") {
        names.push(cursor.word("a parameter or `)`")?);
        if !cursor.is(")") {
            cursor.expect(",")?;
        }
    }
    Ok(names)
}

/// Reads the body of a macro: a block in braces, or an expression up to the end of its line.
fn body(cursor: &mut Cursor) -> Result<Vec<Token>, TextError> {
    let block = cursor.is("{");
    let begin = cursor.position();
    let line = cursor.line();
    let mut depth = 0usize;
    loop {
        match cursor.peek() {
            Kind::End if depth > 0 => return Err(cursor.expected("`}` or `)`")),
            Kind::End => break,
            Kind::Mark("{" | "(") => depth += 1,
            Kind::Mark("}" | ")") if depth == 0 => return Err(cursor.expected("an expression")),
            Kind::Mark("}" | ")") => depth -= 1,
            _ if depth == 0 && cursor.line() != line => break,
            _ => {}
        }
        cursor.advance();
        if block && depth == 0 {
            break;
        }
    }
    let body = cursor.slice(begin);
    if body.is_empty() { Err(cursor.expected("an expression or a block in braces")) } else { Ok(body) }
}

/// Reads the arguments of a macro call. The cursor must be after the opening bracket of the call.
fn arguments(cursor: &mut Cursor) -> Result<Vec<Vec<Token>>, TextError> {
    let place: Place = cursor.place();
    let mut list: Vec<Vec<Token>> = Vec::new();
    let mut depth = 0usize;
    let mut own: Vec<Token> = Vec::new();
    loop {
        match cursor.peek() {
            Kind::End => {
                return Err(TextError::expected(
                    place,
                    "the end of the file",
                    "`)` to close these arguments",
                ));
            }
            Kind::Mark(")") if depth == 0 => {
                cursor.advance();
                if !own.is_empty() || !list.is_empty() {
                    list.push(own);
                }
                return Ok(list);
            }
            Kind::Mark(",") if depth == 0 => {
                list.push(core::mem::take(&mut own));
                cursor.advance();
                continue;
            }
            Kind::Mark("(" | "{" | "[") => depth += 1,
            Kind::Mark(")" | "}" | "]") => depth = depth.saturating_sub(1),
            _ => {}
        }
        own.push(Token { kind: cursor.peek().clone(), place: cursor.place() });
        cursor.advance();
    }
}

#[cfg(test)]
mod tests {
    use super::Macros;

    #[test]
    fn the_kernels_functions_are_read() {
        let text = include_str!("../../../models/kernel.def");
        let lines = text.lines().filter(|line| line.contains('('));
        let lines: Vec<_> = lines.filter(|line| !line.starts_with("//")).collect();
        let macros = Macros::parse(text).expect("it is a file of macros");
        assert_eq!(macros.list.as_ref().map(Vec::len), Some(lines.len()));
        let own = Macros::kernel();
        assert!(lines.iter().all(|line| line.split('(').next().is_some_and(|name| own.has(name))));
        assert!(!own.has("smp_nothing") && !own.has("atomic_load_explicit"));
    }

    #[test]
    fn errors_have_places() {
        for (text, message) in [
            ("a() { __fence{mb};", "line 1, column 19"),
            ("a(X) 1\na(Y) 2", "line 2, column 1"),
            ("a(X Y) 1", "line 1, column 5"),
            ("a(X)\n", "line 2, column 1"),
            ("a() 1 )", "line 1, column 7"),
            ("3", "line 1, column 1"),
        ] {
            let error = Macros::parse(text).expect_err(text).to_string();
            assert!(error.contains(message), "{text}: {error}");
        }
    }
}
