//! Finds machines by name: built-in machines and the user's own files.
//!
//! A name is first searched in the user's folder (`NAME.toml`), then among the built-in machines.
//! So a file replaces a built-in machine of the same name. A name with a slash or with the
//! extension `.toml` is a path.

mod change;
mod read;

use std::fs;
use std::io::Read as _;
use std::path::{Path, PathBuf};

use sim::config::System;

use crate::error::{Error, printable};
pub use change::{Change, ChangeError, Changes};
pub(crate) use change::{TABLES, parameters, suffixed, text_of};
pub(crate) use read::explain;
pub use read::{parse, parse_for};

/// The built-in machines. Each entry has the name of a machine and the text of its description.
const BUILT_IN: [(&str, &str); 9] = [
    ("apu", include_str!("../../../systems/apu.toml")),
    ("hlrc-128cu", include_str!("../../../systems/hlrc-128cu.toml")),
    ("hlrc-8cu", include_str!("../../../systems/hlrc-8cu.toml")),
    ("hrf-8cu", include_str!("../../../systems/hrf-8cu.toml")),
    ("mttop", include_str!("../../../systems/mttop.toml")),
    ("stc-8cu", include_str!("../../../systems/stc-8cu.toml")),
    ("stc-16cu", include_str!("../../../systems/stc-16cu.toml")),
    ("stc-32cu", include_str!("../../../systems/stc-32cu.toml")),
    ("titan-v", include_str!("../../../systems/titan-v.toml")),
];

/// The maximum size of a machine description.
const FILE_BYTES_MAX: u64 = 1 << 20;

/// The machines that users can name: the built-in machines, and the machines in the user's folder.
#[derive(Clone, Debug)]
pub struct Systems {
    folder: PathBuf,
}

/// The properties of a machine that the command `list systems` shows.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct SystemEntry {
    /// The name of the machine.
    pub name: String,
    /// A summary of the machine. If its file cannot be read, the reason for that.
    pub summary: String,
    /// The source of the numbers in the machine's description.
    pub source: String,
    /// The file of the machine. `None` for a built-in machine.
    pub path: Option<PathBuf>,
}

impl Default for Systems {
    fn default() -> Self {
        Systems::with_folder("systems")
    }
}

impl Systems {
    /// The built-in machines and the machines in `folder`. The folder need not exist.
    #[must_use]
    pub fn with_folder(folder: impl Into<PathBuf>) -> Systems {
        Systems { folder: folder.into() }
    }

    /// Loads a machine by its name or by the path of its file.
    ///
    /// # Errors
    /// If the name is unknown, if the file cannot be read, or if the description of the machine is
    /// not allowed.
    pub fn load(&self, name: &str) -> Result<System, Error> {
        let Source { path, text } = self.source(name)?;
        parse(&path, &text)
    }

    /// The text of a machine's description and its path. `name` is the name of the machine or the
    /// path of its file.
    fn source(&self, name: &str) -> Result<Source, Error> {
        if is_path(name) {
            return Source::read(PathBuf::from(name));
        }
        if let Some(path) = self.own_files().into_iter().find(|path| stem(path) == name) {
            return Source::read(path);
        }
        match BUILT_IN.iter().find(|(built_in, _)| *built_in == name) {
            Some((_, text)) => {
                Ok(Source { path: format!("<built-in>/{name}.toml").into(), text: (*text).to_owned() })
            }
            None => Err(self.unknown(name)),
        }
    }

    /// The error for an unknown name. The error also says how to give the path of the user's own
    /// machine file, with an example. The example path contains `name` if `name` can be a file
    /// name.
    fn unknown(&self, name: &str) -> Error {
        let unknown = Error::unknown("system", name, &self.names());
        let name = printable(name);
        let is_stem = !name.is_empty() && name.chars().all(|c| c.is_alphanumeric() || "-_".contains(c));
        let path = match Path::new(&name).is_file() {
            true => name,
            false if is_stem => format!("{name}.toml"),
            false => "my-gpu.toml".to_owned(),
        };
        Error::Impossible(
            unknown.and(&format!("To use your own machine, give its path, for example `./{path}`")),
        )
    }

    /// The text of the description of the machine with this name. Users copy it to a file and
    /// change the copy.
    ///
    /// # Errors
    /// If the name is unknown or the file cannot be read.
    pub fn text(&self, name: &str) -> Result<String, Error> {
        if let Some(path) = self.own_files().into_iter().find(|path| stem(path) == name) {
            return read_text(&path);
        }
        match BUILT_IN.iter().find(|(built_in, _)| *built_in == name) {
            Some((_, text)) => Ok((*text).to_owned()),
            None => Err(self.unknown(name)),
        }
    }

    /// The names of all machines, sorted.
    #[must_use]
    pub fn names(&self) -> Vec<String> {
        let mut names: Vec<String> = BUILT_IN.iter().map(|(name, _)| (*name).to_owned()).collect();
        names.extend(self.own_files().iter().map(|path| stem(path)));
        names.sort();
        names.dedup();
        names
    }

    /// All machines, sorted by name. If the file of a machine cannot be read, its entry has the
    /// reason in place of the summary.
    #[must_use]
    pub fn list(&self) -> Vec<SystemEntry> {
        let own = self.own_files();
        self.names()
            .into_iter()
            .map(|name| {
                let path = own.iter().find(|path| stem(path) == name).cloned();
                let (summary, source) = match self.load(&name) {
                    Ok(system) => (system.summary, system.source),
                    Err(error) => (error.to_string(), String::new()),
                };
                SystemEntry { name, summary, source, path }
            })
            .collect()
    }

    /// The machine files in the user's folder, sorted. Empty if the folder cannot be read.
    fn own_files(&self) -> Vec<PathBuf> {
        let Ok(entries) = fs::read_dir(&self.folder) else { return Vec::new() };
        let mut files: Vec<PathBuf> = entries
            .filter_map(|entry| entry.ok().map(|entry| entry.path()))
            .filter(|path| path.extension().is_some_and(|ending| ending == "toml") && path.is_file())
            .collect();
        files.sort();
        files
    }
}

/// Returns true if `name` has the form of a path of a machine file, and not of a machine's name.
pub(crate) fn is_path(name: &str) -> bool {
    name.ends_with(".toml") || name.contains(['/', std::path::MAIN_SEPARATOR])
}

fn stem(path: &Path) -> String {
    path.file_stem().map(|stem| stem.to_string_lossy().into_owned()).unwrap_or_default()
}

/// The text of a machine description, with the path that error messages show.
struct Source {
    path: PathBuf,
    text: String,
}

impl Source {
    fn read(path: PathBuf) -> Result<Source, Error> {
        let text = read_text(&path)?;
        Ok(Source { path, text })
    }
}

pub(crate) fn read_text(path: &Path) -> Result<String, Error> {
    let unreadable =
        |reason: String| Error::Unreadable { path: printable(&path.to_string_lossy()).into(), reason };
    let metadata = fs::metadata(path).map_err(|error| unreadable(error.to_string()))?;
    if !metadata.is_file() {
        return Err(unreadable(String::from("the path is not a file")));
    }
    let file = fs::File::open(path).map_err(|error| unreadable(error.to_string()))?;
    let mut bytes = Vec::new();
    file.take(FILE_BYTES_MAX + 1).read_to_end(&mut bytes).map_err(|error| unreadable(error.to_string()))?;
    if bytes.len() as u64 > FILE_BYTES_MAX {
        return Err(unreadable(format!("the file is longer than {FILE_BYTES_MAX} bytes")));
    }
    String::from_utf8(bytes)
        .map_err(|error| unreadable(format!("byte {} is not UTF-8 text", error.utf8_error().valid_up_to())))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_built_in_machine_is_sound_and_named_as_its_file() {
        let systems = Systems::with_folder("no such folder");
        for (name, _) in BUILT_IN {
            let system = systems.load(name).unwrap_or_else(|error| panic!("{error}"));
            assert_eq!(system.name, name);
            assert!(!system.source.is_empty() && !system.summary.is_empty());
        }
    }

    #[test]
    fn every_number_of_a_built_in_machine_names_its_source() {
        for (name, text) in BUILT_IN {
            for block in text.split("\n\n") {
                let explained = block.lines().any(|line| line.starts_with("# "));
                for line in block.lines() {
                    let number = line.split_once(" = ").is_some_and(|(_, value)| {
                        value.starts_with(|c: char| c.is_ascii_digit() || c == '{')
                    });
                    assert!(!number || explained || line.contains(" # "), "{name}: `{line}` has no source");
                }
            }
        }
    }
}
