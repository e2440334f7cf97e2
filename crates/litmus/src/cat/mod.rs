//! Memory models in the `.cat` language.
//!
//! A [`Model`] is read once and then applied to each skeleton of a test. The
//! language is that of herd's models: `let`, `let rec ... and`, functions,
//! tags, `match`, set and relation operators with herd's precedence, checks
//! and flags, `include`, procedures, `forall`, `with ... from`.

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

use ast::Step;
use instructions::Allowed;
use parser::Names;

/// How deeply files may include one another.
const INCLUDES_MAX: usize = 16;
/// How many files a model may include.
const FILES_MAX: usize = 256;

/// A file that is read before a model, such as a `.bell` file.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Prelude<'a> {
    /// Its name.
    pub file: &'a str,
    /// Its text.
    pub text: &'a str,
}

/// A memory model.
#[derive(Clone, Debug)]
pub struct Model {
    /// The name by which it was asked for.
    pub name: String,
    /// The file it came from.
    pub file: String,
    /// The title in its first line.
    pub title: Option<String>,
    /// May writes to one word stay unordered?
    pub partial_coherence: bool,
    /// The variants that are asked for: what `if "name"` tests in the model.
    pub variants: BTreeSet<String>,
    /// Is a read-modify-write of a C test one event, as herd has it? So it is
    /// for models that never name the relation between its halves.
    pub(crate) merges_rmw: bool,
    pub(crate) names: Names,
    pub(crate) steps: Vec<Step>,
    /// The files that the steps come from.
    pub(crate) files: Vec<String>,
    /// The annotations that tests may use.
    pub(crate) instructions: Vec<Allowed>,
}

impl Model {
    /// Reads a model. `include` gives the text of a file that it names, or
    /// says why it cannot.
    ///
    /// # Errors
    /// The first thing in the text that is not a model, with its place.
    pub fn parse(
        name: &str,
        file: &str,
        text: &str,
        include: &mut dyn FnMut(&str) -> Result<String, String>,
    ) -> Result<Model, TextError> {
        Model::parse_after(&[], name, file, text, include)
    }

    /// The same, behind files whose definitions the model uses.
    ///
    /// # Errors
    /// The first thing in the texts that is not a model, with its place.
    pub fn parse_after(
        preludes: &[Prelude<'_>],
        name: &str,
        file: &str,
        text: &str,
        include: &mut dyn FnMut(&str) -> Result<String, String>,
    ) -> Result<Model, TextError> {
        let mut reader = Reader { names: Names::default(), branches: 0, files: Vec::new(), include };
        let mut steps = Vec::new();
        reader.file("stdlib.cat", library::STDLIB, 0, &mut steps)?;
        for prelude in preludes {
            reader.file(prelude.file, prelude.text, 0, &mut steps)?;
        }
        let (title, options) = reader.file(file, text, 0, &mut steps)?;
        // Models titled `PTX` expect a coherence order that is partial.
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
            instructions: instructions::declared(&steps, &reader.files),
            steps,
            files: reader.files,
        })
    }

    /// Does it declare that tag in an `enum`? Then there is a set of its name,
    /// even if the test has no such annotation.
    pub(crate) fn declares(&self, tag: &str) -> bool {
        let fits = |own: &String| own.eq_ignore_ascii_case(tag);
        let here = |step: &Step| matches!(step, Step::Enum(_, tags) if tags.iter().any(fits));
        self.steps.iter().any(here)
    }

    /// Does it distinguish remote operations: does it name their set?
    #[must_use]
    pub fn knows_remote(&self) -> bool {
        ["REM", "REMOTE"].iter().any(|set| self.names.has(set))
    }

    /// Has it flags, such as that of a data race?
    pub(crate) fn has_flags(&self) -> bool {
        any_flag(&self.steps, &|_| true)
    }

    /// Does the model tell of races? It does so by flags with `race` in their
    /// names, and herd's models by `Dr` and `Ur`; without any, no program has a
    /// race.
    #[must_use]
    pub fn defines_races(&self) -> bool {
        any_flag(&self.steps, &|name| name.is_some_and(names_race))
    }
}

/// Reads the files of a model, each into the place where it is included.
struct Reader<'i> {
    names: Names,
    /// In how many branches that may not be taken the reader is.
    branches: usize,
    files: Vec<String>,
    include: &'i mut dyn FnMut(&str) -> Result<String, String>,
}

impl Reader<'_> {
    /// Appends the steps of a file; gives its title and its options.
    fn file(
        &mut self,
        file: &str,
        text: &str,
        depth: usize,
        into: &mut Vec<Step>,
    ) -> Result<(Option<String>, Vec<String>), TextError> {
        let parsed = parser::parse(text, &mut self.names).map_err(|e| e.in_file(file))?;
        let own = self.files.len();
        self.files.push(file.to_owned());
        into.push(Step::InFile(own));
        self.resolve(parsed.steps, own, depth, into)?;
        Ok((parsed.title, parsed.options))
    }

    /// Puts included files in their places. In a branch that may not be taken
    /// a missing file is no error yet.
    fn resolve(
        &mut self,
        steps: Vec<Step>,
        own: usize,
        depth: usize,
        into: &mut Vec<Step>,
    ) -> Result<(), TextError> {
        let inner = |reader: &mut Self, steps: Vec<Step>| {
            let mut resolved = Vec::new();
            reader.resolve(steps, own, depth, &mut resolved).map(|()| resolved)
        };
        let branch = |reader: &mut Self, steps: Vec<Step>| {
            reader.branches += 1;
            let resolved = inner(reader, steps)?;
            reader.branches -= 1;
            Ok(resolved)
        };
        for step in steps {
            let step = match step {
                Step::Include(place, name) => {
                    self.included(place, &name, own, depth, into)?;
                    continue;
                }
                Step::If(condition, then, other) => {
                    Step::If(condition, branch(self, then)?, branch(self, other)?)
                }
                Step::Procedure(name, pattern, steps) => Step::Procedure(name, pattern, inner(self, steps)?),
                Step::ForAll(place, name, set, steps) => Step::ForAll(place, name, set, inner(self, steps)?),
                Step::Steps(steps) => Step::Steps(inner(self, steps)?),
                Step::Match(subject, arms) => {
                    let arms = arms.into_iter().map(|(tag, steps)| Ok((tag, branch(self, steps)?)));
                    Step::Match(subject, arms.collect::<Result<_, TextError>>()?)
                }
                other => other,
            };
            into.push(step);
        }
        Ok(())
    }

    fn included(
        &mut self,
        place: Place,
        name: &str,
        own: usize,
        depth: usize,
        into: &mut Vec<Step>,
    ) -> Result<(), TextError> {
        let refuse = |sentence: String| Err(TextError::meaning(place, sentence).in_file(&self.files[own]));
        if depth >= INCLUDES_MAX {
            return refuse(format!("files include one another more than {INCLUDES_MAX} deep"));
        }
        if self.files.len() >= FILES_MAX {
            return refuse(format!("the model includes more than {FILES_MAX} files"));
        }
        // The tool has its own library and makes coherence orders itself.
        if !matches!(name, "stdlib.cat" | "cross.cat") {
            let locks = if name == library::LOCKS { library::herds(name) } else { None };
            let text = locks.map_or_else(|| (self.include)(name), Ok);
            match text.or_else(|why| library::herds(name).ok_or(why)) {
                Ok(text) => {
                    self.file(name, &text, depth + 1, into)?;
                }
                Err(why) => {
                    let sentence = format!("cannot include `{name}`: {why}");
                    if self.branches == 0 {
                        return Err(TextError::meaning(place, sentence).in_file(&self.files[own]));
                    }
                    into.push(Step::Missing(place, sentence));
                }
            }
            if name == "x86fences.cat" {
                self.file(library::X86_FILE, library::X86, depth + 1, into)?;
            }
        }
        into.push(Step::InFile(own));
        Ok(())
    }
}

/// Does a flag of that name tell of a race?
pub(crate) fn names_race(name: &str) -> bool {
    name.to_ascii_lowercase().contains("race")
        || ["dr", "ur"].iter().any(|own| name.eq_ignore_ascii_case(own))
}

/// Is there a flag whose name is one of those wanted?
fn any_flag(steps: &[Step], wanted: &dyn Fn(Option<&str>) -> bool) -> bool {
    steps.iter().any(|step| match step {
        Step::Check(check) => check.flag && wanted(check.name.as_deref()),
        Step::Procedure(_, _, steps) | Step::ForAll(_, _, _, steps) | Step::Steps(steps) => {
            any_flag(steps, wanted)
        }
        Step::Match(_, arms) => arms.iter().any(|(_, steps)| any_flag(steps, wanted)),
        Step::If(_, then, other) => any_flag(then, wanted) || any_flag(other, wanted),
        _ => false,
    })
}
