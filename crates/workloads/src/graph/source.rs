//! The source of a graph: a file or a stand-in (a generated graph that replaces a published one).

use core::fmt;
use std::path::{Path, PathBuf};

use super::options::{Format, ReadOptions};
use super::stand_in::{self, Scale, StandIn};
use super::{Csr, GraphInfo, Repairs, read};
use crate::files::FileError;

/// The source of a graph, as a user names it.
#[derive(Clone, Debug)]
pub enum GraphSource {
    /// A stand-in: a generated graph that replaces a published one.
    StandIn(&'static StandIn),
    /// A file with a graph.
    File(PathBuf),
}

/// A graph that was generated or read, with its origin.
#[derive(Clone, Debug)]
pub struct OpenedGraph {
    /// The graph that was generated or read.
    pub graph: Csr,
    /// A text of one line that says where the graph comes from.
    pub origin: String,
    /// The format of the file. `None` if the graph was generated.
    pub format: Option<Format>,
    /// The numbers of changes that the reader of a file made to the graph.
    pub repairs: Repairs,
}

/// The content of the report of `graph info`: the origin, the statistics and the repairs of a
/// graph.
#[derive(Clone, Debug, serde::Serialize)]
pub struct GraphDescription {
    /// A text of one line that says where the graph comes from.
    pub origin: String,
    /// The statistics of the graph.
    #[serde(flatten)]
    pub info: GraphInfo,
    /// The numbers of changes that the reader of a file made to the graph.
    pub repairs: Repairs,
}

impl GraphSource {
    /// The stand-in (generated graph) with this name. If there is no such stand-in, the file at
    /// this path.
    #[must_use]
    pub fn of(name: &str) -> GraphSource {
        match stand_in::find(name) {
            Ok(stand_in) => GraphSource::StandIn(stand_in),
            Err(_) => GraphSource::File(PathBuf::from(name)),
        }
    }

    /// Generates the graph or reads it. `scale` and `seed` apply to a stand-in, `options` to a
    /// file.
    ///
    /// # Errors
    /// If the file cannot be read, or if `scale` is not 1 for a file.
    pub fn open(&self, scale: Scale, seed: u64, options: &ReadOptions) -> Result<OpenedGraph, FileError> {
        match self {
            GraphSource::StandIn(stand_in) => Ok(OpenedGraph {
                graph: stand_in.generate(scale, seed),
                origin: format!(
                    "stand-in for {} ({}), scale {scale}, seed {seed}",
                    stand_in.name, stand_in.kind
                ),
                format: None,
                repairs: Repairs::default(),
            }),
            GraphSource::File(path) if scale != Scale::FULL => {
                Err(FileError::Scaled { path: path.clone(), scale: scale.to_string() })
            }
            GraphSource::File(path) => open_file(path, options),
        }
    }
}

fn open_file(path: &Path, options: &ReadOptions) -> Result<OpenedGraph, FileError> {
    let name = path.to_string_lossy();
    if let (false, Err(hint)) = (path.exists(), stand_in::find(&name)) {
        return Err(FileError::Missing { path: path.to_owned(), hint });
    }
    let loaded = read(path, options)?;
    Ok(OpenedGraph {
        graph: loaded.graph,
        origin: format!("{}, {}", crate::files::printable_path(path), loaded.format.title()),
        format: Some(loaded.format),
        repairs: loaded.repairs,
    })
}

impl OpenedGraph {
    /// The description of the graph for reports.
    #[must_use]
    pub fn describe(&self) -> GraphDescription {
        GraphDescription {
            origin: self.origin.clone(),
            info: GraphInfo::of(&self.graph),
            repairs: self.repairs,
        }
    }
}

impl fmt::Display for GraphDescription {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        writeln!(f, "from        {}", self.origin)?;
        write!(f, "{}", self.info)?;
        for repair in self.repairs.iter() {
            writeln!(f, "repaired    {repair}")?;
        }
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_name_is_a_stand_in_or_a_file_and_a_misspelling_gets_a_hint() {
        let open = |name: &str, scale| GraphSource::of(name).open(scale, 1, &ReadOptions::default());
        let small: Scale = "1/100".parse().expect("a scale");
        let opened = open("dictionary28", small).expect("a stand-in");
        assert_eq!(opened.graph.vertices(), 527);
        let text = opened.describe().to_string();
        let want = "from        stand-in for dictionary28 (words one letter apart, many components), scale 1/100, seed 1\n";
        assert!(text.starts_with(want), "{text}");
        let error = open("dictionary82", Scale::FULL).expect_err("a slip").to_string();
        let want = "cannot read dictionary82: there is no such file, and there is no stand-in for a graph \
                    `dictionary82`; did you mean `dictionary28`?";
        assert!(error.starts_with(want), "{error}");
        let error = open("Cargo.toml", small).expect_err("a part of a file").to_string();
        assert_eq!(
            error,
            "Cargo.toml is a file and has no scale 1/100, expected scale 1 or the name of a stand-in"
        );
    }

    #[test]
    fn repairs_follow_the_statistics() {
        let text = b"p sp 2 4\na 1 2 9\na 1 2 3\na 2 1 1\na 2 2 1\n";
        let loaded =
            super::super::read_from(&text[..], Path::new("x.gr"), &ReadOptions::default()).expect("a graph");
        let opened =
            OpenedGraph { graph: loaded.graph, origin: String::new(), format: None, repairs: loaded.repairs };
        let text = opened.describe().to_string();
        let want =
            "repaired    1 self loop removed\nrepaired    1 duplicate merged into the arc of least weight\n";
        assert!(text.ends_with(want), "{text}");
    }
}
