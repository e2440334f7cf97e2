//! The errors for faults in the user's input: command-line values, machine files and experiment
//! files.

use std::path::PathBuf;

use crate::place::Place;
use workloads::graph::programs;
use workloads::inputs;
use workloads::nearest::nearest;

/// An error in the user's input. Its text is one sentence that names the fault, its place, and the
/// expected value.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
pub enum Error {
    /// A file with an invalid value.
    #[error("{place}: {message}")]
    File {
        /// The place of the fault in the file.
        place: Place,
        /// The text of the error: the value found and the value expected.
        message: String,
    },
    /// A file cannot be read.
    #[error("cannot read {}: {reason}", path.display())]
    Unreadable {
        /// The path of the file.
        path: PathBuf,
        /// The reason why the file cannot be read, in the words of the operating system.
        reason: String,
    },
    /// Results cannot be written to a file or folder.
    #[error("cannot write to {}: {reason}", path.display())]
    Unwritable {
        /// The path of the file or folder.
        path: PathBuf,
        /// The reason why the operation failed.
        reason: String,
    },
    /// The user gave a name that does not exist.
    #[error("unknown {what} `{name}`{}", hint(.suggestion.as_deref(), .known))]
    Unknown {
        /// The kind of thing that the name should denote, such as a system or a protocol.
        what: &'static str,
        /// The unknown name that the user gave.
        name: String,
        /// The known name that is most similar to the given name. `None` if no known name is
        /// similar.
        suggestion: Option<String>,
        /// All known names of the kind `what`, such as the names of all systems.
        known: Vec<String>,
    },
    /// The user named an input for a workload that generates its input from its settings.
    #[error(
        "workload `{workload}` has no input `{input}`, because it generates its input from its settings; \
         graphs are the input of {}; numbers are the input of {}",
        programs::workloads().map(|known| known.name).collect::<Vec<_>>().join(", "),
        inputs::workloads().map(|known| known.name).collect::<Vec<_>>().join(", ")
    )]
    UnknownInput {
        /// The name of the workload.
        workload: &'static str,
        /// The name of the input that the user gave.
        input: String,
    },
    /// An input file that cannot be read, or a graph that cannot be generated.
    #[error(transparent)]
    Input(#[from] workloads::files::FileError),
    /// Values that are each valid but cannot be combined. The text is the message.
    #[error("{0}")]
    Impossible(String),
}

fn hint(suggestion: Option<&str>, known: &[String]) -> String {
    match suggestion {
        Some(name) => format!(", did you mean `{name}`?"),
        None if known.is_empty() => String::from(", none exists"),
        None => format!(", expected one of {}", known.join(", ")),
    }
}

impl Error {
    /// The error for an unknown name. It suggests the known name that is most similar, if one is
    /// similar.
    #[must_use]
    pub fn unknown<S: AsRef<str>>(what: &'static str, name: &str, known: &[S]) -> Error {
        let known: Vec<String> = known.iter().map(|known| known.as_ref().to_owned()).collect();
        let suggestion = nearest(name, &known).map(str::to_owned);
        Error::Unknown { what, name: printable(name), suggestion, known }
    }

    /// The text of the error, followed by `sentence`.
    #[must_use]
    pub fn and(&self, sentence: &str) -> String {
        let first = self.to_string();
        let stop = if first.ends_with('?') { "" } else { "." };
        format!("{first}{stop} {sentence}")
    }

    /// The error for an input that the workload does not have. The name of the input may be any
    /// text of the user.
    #[must_use]
    pub fn unknown_input(workload: &'static str, input: &str) -> Error {
        Error::UnknownInput { workload, input: printable(input) }
    }
}

/// A name for use in a message: without control characters, and of limited length.
pub(crate) fn printable(name: &str) -> String {
    const CHARACTERS_MAX: usize = 80;
    let mut text: String = name
        .chars()
        .take(CHARACTERS_MAX)
        .map(|c| if c.is_control() { char::REPLACEMENT_CHARACTER } else { c })
        .collect();
    if name.chars().nth(CHARACTERS_MAX).is_some() {
        text.push('…');
    }
    text
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_near_name_is_suggested_and_a_far_one_lists_all() {
        let known = ["hlrc-8cu", "titan-v"];
        let near = Error::unknown("system", "titanv", &known);
        assert_eq!(near.to_string(), "unknown system `titanv`, did you mean `titan-v`?");
        let far = Error::unknown("system", "x", &known);
        assert_eq!(far.to_string(), "unknown system `x`, expected one of hlrc-8cu, titan-v");
        assert!(far.and("So.").ends_with("titan-v. So.") && near.and("So.").ends_with("`titan-v`? So."));
    }

    #[test]
    fn a_hostile_name_stays_on_one_short_line() {
        let text = Error::unknown("system", &format!("a\n\u{1b}[2J{}", "b".repeat(500)), &["vi"]).to_string();
        assert!(text.chars().count() < 200 && !text.chars().any(char::is_control), "{text:?}");
    }
}
