//! Memory models in the `.cat` language.
//!
//! A [`Model`] is parsed once and then applied to each skeleton of a test (the events of one path
//! through each thread). The language is that of herd's models: `let`, `let rec ... and`,
//! functions, tags, `match`, set and relation operators with herd's precedence, checks and flags,
//! `include`, procedures, `forall`, `with ... from`.

pub(crate) mod ast;
mod base;
pub(crate) mod graph;
mod instructions;
mod lexer;
mod library;
mod parser;
pub(crate) mod stage;
mod value;
mod vulkan;

pub use ast::CheckKind;
pub use library::{Shipped, shipped, shipped_file, shipped_names};

use std::collections::BTreeSet;

use crate::parse::{Place, TextError};

use ast::Statement;
use instructions::Allowed;
use parser::Names;

/// The maximum nesting depth of included files.
const INCLUDES_MAX: usize = 16;
/// The maximum number of files of one model.
const FILES_MAX: usize = 256;

/// A file that is parsed before a model, such as a `.bell` file.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Prelude<'a> {
    /// The name of the file.
    pub file: &'a str,
    /// The text of the file.
    pub text: &'a str,
}

/// A memory model, read from a `.cat` file.
#[derive(Clone, Debug)]
pub struct Model {
    /// The name by which the user selected the model.
    pub name: String,
    /// The file of the model.
    pub file: String,
    /// The title of the model, which stands at the start of the file. `None` if the file has no
    /// title.
    pub title: Option<String>,
    /// Whether the model allows a coherence order that leaves writes of a word unordered.
    pub partial_coherence: bool,
    /// The variants that the user selected: the model tests them with `if "name"`.
    pub variants: BTreeSet<String>,
    /// Whether a read-modify-write of a C test is one event, as in herd. True for a model that
    /// never uses the relation between the read and the write of a read-modify-write.
    pub(crate) merges_rmw: bool,
    pub(crate) names: Names,
    pub(crate) statements: Vec<Statement>,
    /// The names of the files that the statements come from.
    pub(crate) files: Vec<String>,
    /// The annotations that the instructions of a test may have.
    pub(crate) instructions: Vec<Allowed>,
}

impl Model {
    /// Parses a model. `include` returns the text of an included file, or an error
    /// message.
    ///
    /// # Errors
    /// The first error in the text, with its place.
    pub fn parse(
        name: &str,
        file: &str,
        text: &str,
        include: &mut dyn FnMut(&str) -> Result<String, String>,
    ) -> Result<Model, TextError> {
        Model::parse_after(&[], name, file, text, include)
    }

    /// Parses a model. The files in `preludes` are parsed first, because the model uses their
    /// definitions.
    ///
    /// # Errors
    /// The first error in the texts, with its place.
    pub fn parse_after(
        preludes: &[Prelude<'_>],
        name: &str,
        file: &str,
        text: &str,
        include: &mut dyn FnMut(&str) -> Result<String, String>,
    ) -> Result<Model, TextError> {
        let mut reader = Reader { names: Names::default(), branches: 0, files: Vec::new(), include };
        let mut statements = Vec::new();
        reader.file("stdlib.cat", library::STDLIB, 0, &mut statements)?;
        for prelude in preludes {
            reader.file(prelude.file, prelude.text, 0, &mut statements)?;
        }
        let (title, options) = reader.file(file, text, 0, &mut statements)?;
        // Models with the title `PTX` expect a partial coherence order.
        let titled = options.iter().chain(&title).any(|title| title.eq_ignore_ascii_case("PTX"));
        let halves = ["rmw", "amo", "lxsx"].iter().any(|name| reader.names.contains(name));
        Ok(Model {
            name: name.to_owned(),
            file: file.to_owned(),
            partial_coherence: titled || options.iter().any(|option| option == "partialco"),
            title,
            variants: BTreeSet::new(),
            merges_rmw: !halves,
            names: reader.names,
            instructions: instructions::declared(&statements, &reader.files),
            statements,
            files: reader.files,
        })
    }

    /// Whether an `enum` of the model declares the tag. The set of the events with a declared tag
    /// is defined even if no instruction of the test has this tag.
    pub(crate) fn declares(&self, tag: &str) -> bool {
        let fits = |own: &String| own.eq_ignore_ascii_case(tag);
        let here =
            |statement: &Statement| matches!(statement, Statement::Enum(_, tags) if tags.iter().any(fits));
        self.statements.iter().any(here)
    }

    /// Whether the model distinguishes remote operations: it does if its text uses the set of
    /// remote operations.
    #[must_use]
    pub fn knows_remote(&self) -> bool {
        ["REM", "REMOTE"].iter().any(|set| self.names.contains(set))
    }

    /// Whether the model has flags, such as one for data races.
    pub(crate) fn has_flags(&self) -> bool {
        any_flag(&self.statements, &|_| true)
    }

    /// Whether the model defines races, by flags with `race` in their names or by
    /// herd's flags `Dr` and `Ur`. Without such a flag no program has a race.
    #[must_use]
    pub fn defines_races(&self) -> bool {
        any_flag(&self.statements, &|name| name.is_some_and(is_race_name))
    }
}

/// Parses the files of a model and replaces each `include` by the statements of the included file.
struct Reader<'i> {
    names: Names,
    /// The number of enclosing conditional branches. A file that is included inside a branch may be
    /// missing.
    branches: usize,
    files: Vec<String>,
    include: &'i mut dyn FnMut(&str) -> Result<String, String>,
}

impl Reader<'_> {
    /// Parses `text`, the text of the file `file`, and appends its statements to `into`. Returns
    /// the title and the options of the file.
    fn file(
        &mut self,
        file: &str,
        text: &str,
        depth: usize,
        into: &mut Vec<Statement>,
    ) -> Result<(Option<String>, Vec<String>), TextError> {
        let parsed = parser::parse(text, &mut self.names).map_err(|e| e.in_file(file))?;
        let own = self.files.len();
        self.files.push(file.to_owned());
        into.push(Statement::InFile(own));
        self.resolve(parsed.statements, own, depth, into)?;
        Ok((parsed.title, parsed.options))
    }

    /// Replaces each `include` by the statements of the included file. A missing file is an error,
    /// except inside a conditional branch: there the error is reported only when the branch is
    /// taken.
    fn resolve(
        &mut self,
        statements: Vec<Statement>,
        own: usize,
        depth: usize,
        into: &mut Vec<Statement>,
    ) -> Result<(), TextError> {
        let inner = |reader: &mut Self, statements: Vec<Statement>| {
            let mut resolved = Vec::new();
            reader.resolve(statements, own, depth, &mut resolved).map(|()| resolved)
        };
        let branch = |reader: &mut Self, statements: Vec<Statement>| {
            reader.branches += 1;
            let resolved = inner(reader, statements)?;
            reader.branches -= 1;
            Ok(resolved)
        };
        for statement in statements {
            let statement = match statement {
                Statement::Include(place, name) => {
                    self.included(place, &name, own, depth, into)?;
                    continue;
                }
                Statement::If(condition, then, other) => {
                    Statement::If(condition, branch(self, then)?, branch(self, other)?)
                }
                Statement::Procedure(name, pattern, statements) => {
                    Statement::Procedure(name, pattern, inner(self, statements)?)
                }
                Statement::ForAll(place, name, set, statements) => {
                    Statement::ForAll(place, name, set, inner(self, statements)?)
                }
                Statement::Block(statements) => Statement::Block(inner(self, statements)?),
                Statement::Match(subject, arms) => {
                    let arms = arms.into_iter().map(|(tag, statements)| Ok((tag, branch(self, statements)?)));
                    Statement::Match(subject, arms.collect::<Result<_, TextError>>()?)
                }
                other => other,
            };
            into.push(statement);
        }
        Ok(())
    }

    fn included(
        &mut self,
        place: Place,
        name: &str,
        own: usize,
        depth: usize,
        into: &mut Vec<Statement>,
    ) -> Result<(), TextError> {
        let refuse = |sentence: String| Err(TextError::meaning(place, sentence).in_file(&self.files[own]));
        if depth >= INCLUDES_MAX {
            return refuse(format!("more than {INCLUDES_MAX} nested includes"));
        }
        if self.files.len() >= FILES_MAX {
            return refuse(format!("the model includes more than {FILES_MAX} files"));
        }
        // These two files are not read: the tool has its own `stdlib.cat`, and the search does the
        // work of `cross.cat`, which enumerates coherence orders.
        if !matches!(name, "stdlib.cat" | "cross.cat") {
            let locks = if name == library::LOCKS { library::herd_substitute(name) } else { None };
            let text = locks.map_or_else(|| (self.include)(name), Ok);
            match text.or_else(|why| library::herd_substitute(name).ok_or(why)) {
                Ok(text) => {
                    self.file(name, &text, depth + 1, into)?;
                }
                Err(why) => {
                    let sentence = format!("cannot include `{name}`: {why}");
                    if self.branches == 0 {
                        return Err(TextError::meaning(place, sentence).in_file(&self.files[own]));
                    }
                    into.push(Statement::Missing(place, sentence));
                }
            }
            if name == "x86fences.cat" {
                self.file(library::X86_FILE, library::X86, depth + 1, into)?;
            }
        }
        into.push(Statement::InFile(own));
        Ok(())
    }
}

/// Whether a flag with this name reports a race.
pub(crate) fn is_race_name(name: &str) -> bool {
    name.to_ascii_lowercase().contains("race")
        || ["dr", "ur"].iter().any(|own| name.eq_ignore_ascii_case(own))
}

/// Whether one of the statements is a flag whose name `wanted` accepts.
fn any_flag(statements: &[Statement], wanted: &dyn Fn(Option<&str>) -> bool) -> bool {
    statements.iter().any(|statement| match statement {
        Statement::Check(check) => check.flag && wanted(check.name.as_deref()),
        Statement::Procedure(_, _, statements)
        | Statement::ForAll(_, _, _, statements)
        | Statement::Block(statements) => any_flag(statements, wanted),
        Statement::Match(_, arms) => arms.iter().any(|(_, statements)| any_flag(statements, wanted)),
        Statement::If(_, then, other) => any_flag(then, wanted) || any_flag(other, wanted),
        _ => false,
    })
}
