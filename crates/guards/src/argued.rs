//! Reads arguments that a mutant (a protocol with one seeded fault) is equivalent to the protocol:
//! no case (a program on a machine, or episodes) can detect its fault. Files beside the code contain
//! the arguments.
//!
//! A file `equivalent-guards.txt` has one line for each argument: the name of the mutant, in which
//! `*` stands for any text, then ` # `, and the reason. A name has no line number, so it survives
//! edits elsewhere in the file.

use std::path::Path;

use crate::schema::{files, read};

/// The name of the files with the arguments that certain mutants are equivalent to the protocol.
/// The files lie in the source folders of `proto` and `zoo`.
pub const FILE: &str = "equivalent-guards.txt";

/// An argument that certain mutants are equivalent to the protocol: no program can detect their
/// faults.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Argument {
    name: String,
    /// The reason why no program can detect the faults of the mutants.
    pub reason: String,
}

/// All arguments that certain mutants are equivalent to the protocol, from the files
/// `equivalent-guards.txt` of the workspace at `root`.
///
/// # Errors
/// If a file cannot be read, or a line of it names mutants but no reason.
pub fn all(root: &Path) -> Result<Vec<Argument>, String> {
    let mut all = Vec::new();
    for folder in ["crates/proto/src", "crates/zoo/src"] {
        for path in files(&root.join(folder), "txt")? {
            if path.file_name().is_some_and(|name| name == FILE) {
                all.extend(parse(&read(&path)?).map_err(|why| format!("{}:{why}", path.display()))?);
            }
        }
    }
    Ok(all)
}

fn parse(text: &str) -> Result<Vec<Argument>, String> {
    let line = |(at, line): (usize, &str)| match line.split_once(" # ") {
        Some((name, reason)) if !reason.trim().is_empty() => {
            Ok(Argument { name: name.to_owned(), reason: reason.to_owned() })
        }
        _ => Err(format!("{}: expected the name of a mutant, ` # ` and a reason, found `{line}`", at + 1)),
    };
    text.lines().enumerate().map(line).collect()
}

impl Argument {
    /// Whether this argument says that the mutant with the name `mutant` is equivalent to the
    /// protocol.
    #[must_use]
    pub fn is_about(&self, mutant: &str) -> bool {
        is_named(&self.name, mutant)
    }

    /// The pattern of the names of the mutants that this argument calls equivalent to the protocol.
    /// In the pattern, `*` stands for any text.
    #[must_use]
    pub fn name(&self) -> &str {
        &self.name
    }
}

/// Whether `name`, in which `*` stands for any text, matches `mutant`, the full name of a mutant.
fn is_named(name: &str, mutant: &str) -> bool {
    match name.split_once('*') {
        None => name == mutant,
        Some((start, rest)) => mutant.strip_prefix(start).is_some_and(|mutant| {
            mutant.char_indices().any(|(at, _)| is_named(rest, &mutant[at..])) || is_named(rest, "")
        }),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::schema::Schema;

    #[test]
    fn each_line_has_a_name_and_a_reason() {
        let arguments =
            parse("a, f: `x` to `y` # it is never y\nb, *: * # only names").expect("two arguments");
        assert!(arguments[0].is_about("a, f: `x` to `y`") && !arguments[0].is_about("a, f: `x` to `z`"));
        assert!(arguments[1].is_about("b, g: without `h()`"));
        assert_eq!(
            parse("a # r\nb").expect_err("no reason"),
            "2: expected the name of a mutant, ` # ` and a reason, found `b`"
        );
    }

    #[test]
    fn arguments_name_only_existing_mutants() {
        let root = Path::new(env!("CARGO_MANIFEST_DIR")).join("../..");
        let schema = Schema::of(&root).expect("the sources parse");
        for argument in all(&root).expect("they have reasons") {
            let is_there = schema.mutants.iter().any(|mutant| argument.is_about(&mutant.name));
            assert!(is_there, "no mutant is called `{}`", argument.name());
        }
    }
}
