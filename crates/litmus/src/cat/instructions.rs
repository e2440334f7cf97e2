//! The statement `instructions R[{'once, 'acquire}]` of a model, which declares the annotations
//! that the instructions of a test may have.

use std::collections::BTreeMap;

use crate::parse::{Place, TextError};
use crate::program::{Fence, Instr, Program};

use super::Model;
use super::ast::{Expr, Infix, Name, Node, Statement};

/// The annotations declared for one kind of instruction.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Allowed {
    /// The kind of instruction: `R`, `W`, `RMW`, `F` or `SRCU`.
    kind: String,
    tags: Vec<String>,
    /// The file that contains the declaration.
    file: String,
    /// The place of the declaration in the file.
    place: Place,
}

/// The declarations in `statements`: those of `instructions` statements, including the statements
/// in conditional branches that are not taken.
pub(super) fn declared(statements: &[Statement], files: &[String]) -> Vec<Allowed> {
    let mut found = Declarations::default();
    found.take(statements, files);
    found.list
}

#[derive(Default)]
struct Declarations {
    enums: BTreeMap<Name, Vec<String>>,
    file: String,
    list: Vec<Allowed>,
}

impl Declarations {
    fn take(&mut self, statements: &[Statement], files: &[String]) {
        for statement in statements {
            match statement {
                Statement::InFile(own) => self.file.clone_from(&files[*own]),
                Statement::Enum(name, tags) => {
                    self.enums.insert(*name, tags.clone());
                }
                Statement::If(_, then, other) => {
                    self.take(then, files);
                    self.take(other, files);
                }
                Statement::Block(statements) => self.take(statements, files),
                Statement::Instructions(place, kind, sets) => {
                    let mut tags = Vec::new();
                    // The tags of a computed set are unknown here, so such a declaration is
                    // ignored.
                    if sets.iter().all(|set| self.tags(set, &mut tags)) {
                        let (kind, file) = (kind.to_ascii_uppercase(), self.file.clone());
                        self.list.push(Allowed { kind, tags, file, place: *place });
                    }
                }
                _ => {}
            }
        }
    }

    /// Adds the tags of a set that consists of tags, unions and names of enums. Returns false for a
    /// set of another form: its tags are known only after its evaluation.
    fn tags(&self, set: &Expr, into: &mut Vec<String>) -> bool {
        match &*set.node {
            Node::Tag(tag) => into.push(tag.clone()),
            Node::Nothing => {}
            Node::Set(list) => return list.iter().all(|tag| self.tags(tag, into)),
            Node::Infix(Infix::Union, a, b) => return self.tags(a, into) && self.tags(b, into),
            Node::Name(name) => match self.enums.get(name) {
                Some(tags) => into.extend(tags.iter().cloned()),
                None => return false,
            },
            _ => return false,
        }
        true
    }
}

impl Model {
    /// Checks that all annotations of the test are declared.
    ///
    /// # Errors
    /// The first undeclared annotation, with the line of its instruction.
    pub(crate) fn check_annotations(&self, program: &Program) -> Result<(), TextError> {
        for thread in &program.threads {
            for (at, instr) in thread.code.iter().enumerate() {
                let Some((kind, tags)) = annotated(instr) else { continue };
                for tag in tags {
                    if let Some(allowed) = self.forbids(kind, tag) {
                        let line = thread.lines.get(at).copied().unwrap_or(1);
                        return Err(undeclared(tag, allowed, line));
                    }
                }
            }
        }
        Ok(())
    }

    /// The first declaration for the instruction kind `kind`, if the annotation `tag` is forbidden.
    /// It is forbidden if the model declares the kind, but no declaration of this kind allows the
    /// tag. `None` if the annotation is allowed.
    fn forbids(&self, kind: &str, tag: &str) -> Option<&Allowed> {
        let allows = |kind: &str, tag: &str| {
            let own = || self.instructions.iter().filter(move |of| of.kind == kind);
            let has = |of: &Allowed| of.tags.iter().any(|known| known.eq_ignore_ascii_case(tag));
            match own().next() {
                Some(first) if !own().any(has) => Err(first),
                _ => Ok(()),
            }
        };
        let first = allows(kind, tag).err()?;
        // In the Linux kernel's model some annotations of read-modify-writes stand for several
        // operations. Such an annotation is allowed if the annotation of each operation is allowed.
        let parts: &[(&str, &str)] = match (kind, tag) {
            ("RMW", "mb") => &[("RMW", "once"), ("F", "mb")],
            ("RMW", "noreturn") => &[("R", "noreturn"), ("W", "once")],
            (_, "LKR" | "LKW" | "UL" | "LF") => return None,
            _ => return Some(first),
        };
        let refused = parts.iter().any(|(kind, tag)| allows(kind, tag).is_err());
        refused.then_some(first)
    }
}

/// The kind of an instruction (such as `R` or `RMW`) and its annotations. `None` for an instruction
/// that cannot have annotations.
fn annotated(instr: &Instr) -> Option<(&'static str, &[String])> {
    Some(match instr {
        Instr::Load { access, .. } | Instr::Await { access, .. } => ("R", &access.tags),
        Instr::Store { access, .. } => ("W", &access.tags),
        Instr::Rmw { access, .. } => ("RMW", &access.tags),
        Instr::Cas(cas) => ("RMW", &cas.access.tags),
        Instr::Fence(Fence { section: Some(_), tags, .. }) => ("SRCU", tags),
        Instr::Fence(fence) => ("F", &fence.tags),
        _ => return None,
    })
}

fn undeclared(tag: &str, allowed: &Allowed, line: u32) -> TextError {
    let Allowed { kind, tags, file, place } = allowed;
    let known: Vec<String> = tags.iter().map(|tag| format!("`{tag}`")).collect();
    let known = if known.is_empty() { String::from("none") } else { known.join(", ") };
    let sentence = format!(
        "annotation `{tag}` is not declared for `{kind}`: `{file}` allows {known} (line {})",
        place.line
    );
    TextError::meaning(Place { line, column: 1 }, sentence)
}
