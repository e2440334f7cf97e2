//! Memory models in the `.cat` language.
//!
//! A [`Model`] is read once and then applied to each skeleton of a test. The
//! language is that of herd's models: `let`, `let rec ... and`, functions,
//! tags, `match`, set and relation operators with herd's precedence, checks
//! and flags, `include`, procedures, `forall`, `with ... from`.

pub(crate) mod ast;
mod base;
pub(crate) mod graph;
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
use parser::{Item, Names};

/// How deeply files may include one another.
const INCLUDES_MAX: usize = 16;

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
    pub(crate) names: Names,
    pub(crate) steps: Vec<Step>,
    /// The files that the steps come from.
    pub(crate) files: Vec<String>,
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
        let mut model = Model {
            name: name.to_owned(),
            file: file.to_owned(),
            title: None,
            partial_coherence: false,
            variants: BTreeSet::new(),
            names: Names::default(),
            steps: Vec::new(),
            files: Vec::new(),
        };
        model.add("stdlib.cat", library::STDLIB, include, 1)?;
        model.add(file, text, include, 0)?;
        Ok(model)
    }

    /// Does it declare that tag in an `enum`? Then there is a set of its name,
    /// even if the test has no such annotation.
    pub(crate) fn declares(&self, tag: &str) -> bool {
        let here = |step: &Step| matches!(step, Step::Enum(_, tags) if tags.iter().any(|own| own == tag));
        self.steps.iter().any(here)
    }

    /// Has it flags, such as that of a data race?
    pub(crate) fn has_flags(&self) -> bool {
        any_flag(&self.steps, &|_| true)
    }

    /// Does the model tell of races? It does so by flags with `race` in their
    /// names; without any, no program has a race.
    #[must_use]
    pub fn tells_races(&self) -> bool {
        any_flag(&self.steps, &|name| name.is_some_and(|name| name.contains("race")))
    }

    fn add(
        &mut self,
        file: &str,
        text: &str,
        include: &mut dyn FnMut(&str) -> Result<String, String>,
        depth: usize,
    ) -> Result<(), TextError> {
        let parsed = parser::parse(text, &mut self.names).map_err(|e| e.in_file(file))?;
        if depth == 0 {
            // Models titled `PTX` expect a coherence order that is partial.
            let titled = parsed.title.as_deref().is_some_and(|title| title.eq_ignore_ascii_case("PTX"));
            self.partial_coherence = titled || parsed.options.iter().any(|option| option == "partialco");
            self.title = parsed.title;
        }
        let own = self.files.len();
        self.files.push(file.to_owned());
        self.steps.push(Step::InFile(own));
        for item in parsed.steps {
            match item {
                Item::Step(step) => self.steps.push(step),
                Item::Include(place, name) => {
                    let text = read_include(&name, place, file, include, depth)?;
                    if let Some(text) = text {
                        self.add(&name, &text, include, depth + 1)?;
                        self.steps.push(Step::InFile(own));
                    }
                }
            }
        }
        Ok(())
    }
}

/// Is there a flag whose name is one of those wanted?
fn any_flag(steps: &[Step], wanted: &dyn Fn(Option<&str>) -> bool) -> bool {
    steps.iter().any(|step| match step {
        Step::Check(check) => check.flag && wanted(check.name.as_deref()),
        Step::Procedure(_, _, steps) | Step::ForAll(_, _, _, steps) => any_flag(steps, wanted),
        Step::If(_, then, other) => any_flag(then, wanted) || any_flag(other, wanted),
        _ => false,
    })
}

/// Files of herd's own that say nothing the tool does not know.
const KNOWN_FILES: [&str; 6] =
    ["basic.cat", "stdlib.cat", "cos.cat", "cos-opt.cat", "filters.cat", "fences.cat"];

fn read_include(
    name: &str,
    place: Place,
    file: &str,
    include: &mut dyn FnMut(&str) -> Result<String, String>,
    depth: usize,
) -> Result<Option<String>, TextError> {
    if depth >= INCLUDES_MAX {
        let sentence = format!("files include one another more than {INCLUDES_MAX} deep");
        return Err(TextError::meaning(place, sentence).in_file(file));
    }
    match include(name) {
        Ok(text) => Ok(Some(text)),
        Err(_) if KNOWN_FILES.contains(&name) => Ok(None),
        Err(why) => Err(TextError::meaning(place, format!("cannot include `{name}`: {why}")).in_file(file)),
    }
}
