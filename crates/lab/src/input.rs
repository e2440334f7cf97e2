//! The input of a program: a graph from a file, a stand-in (a generated graph), or numbers from
//! files.

use std::path::PathBuf;
use std::sync::Arc;

use proto::words::counted;
use serde::Serialize;
use workloads::Settings;
use workloads::files::numbers::{self, Table};
use workloads::graph::stand_in::Scale;
use workloads::graph::{GraphSource, OpenedGraph, Repairs};
use workloads::inputs::{NumberFile, NumberProgram};

use crate::error::{Error, printable};

pub use workloads::graph::programs::Content;

/// The seed of all generated inputs. The seed of a run changes the machine's timing, but not the
/// input.
pub(crate) const INPUT_SEED: u64 = 1;

/// An input graph, with the name by which the user requested it.
#[derive(Clone, Debug)]
pub struct GraphInput {
    /// The name of the graph, as the user gave it.
    pub name: String,
    /// The graph, the description of its source, and the repairs that its reader made.
    pub opened: Arc<OpenedGraph>,
}

/// The description of an input graph in the record of a run.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct GraphRecord {
    /// The source of the graph, in one line.
    pub origin: String,
    /// The number of vertices of the graph.
    pub vertices: u64,
    /// The number of arcs. An undirected edge is two arcs.
    pub arcs: u64,
    /// The repairs that the reader made to the graph of the file, such as removed duplicate edges.
    pub repairs: Repairs,
}

impl GraphInput {
    /// Reads a graph from a file, or generates a stand-in (a generated graph of the size and kind
    /// of a well-known graph). `content` says whether the file has a graph or a sparse matrix,
    /// which is read as a graph. Only a stand-in may have a scale.
    ///
    /// # Errors
    /// If the name is unknown, if the file has no graph, or if the scale is not allowed.
    pub fn open(name: &str, scale: Option<&str>, content: Content) -> Result<GraphInput, Error> {
        let scale = scale.map_or(Ok(Scale::FULL), parse_scale)?;
        let opened = GraphSource::of(name).open(scale, INPUT_SEED, &content.options())?;
        Ok(GraphInput { name: printable(name), opened: Arc::new(opened) })
    }

    /// The description of the graph for the record of a run.
    #[must_use]
    pub fn record(&self) -> GraphRecord {
        GraphRecord {
            origin: self.opened.origin.clone(),
            vertices: u64::from(self.opened.graph.vertices()),
            arcs: self.opened.graph.targets.len() as u64,
            repairs: self.opened.repairs,
        }
    }
}

/// Tables of numbers from files, with the names by which the user requested them.
#[derive(Clone, Debug)]
pub struct NumbersInput {
    /// The paths of the files as the user gave them, separated by commas.
    pub name: String,
    /// The tables of numbers, one for each input file of the program.
    pub tables: Vec<Arc<Table>>,
    /// The description of each table.
    pub records: Vec<TableRecord>,
}

/// The description of a table of input numbers in the record of a run.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct TableRecord {
    /// A word for the meaning of the numbers in the table, such as `places`.
    pub content: &'static str,
    /// The file of the table and the format of the file, in one line.
    pub origin: String,
    /// The number of rows of the table.
    pub rows: u64,
    /// The number of numbers in each row.
    pub columns: u64,
}

impl NumbersInput {
    /// Reads the tables of numbers that a program needs, one from each path. `files` describes the
    /// expected content of each file.
    ///
    /// # Errors
    /// If the number of paths is wrong, or if the content of a file is not the expected content.
    fn open(
        (name, paths): (&str, &[PathBuf]),
        program: &NumberProgram,
        files: &[NumberFile],
    ) -> Result<NumbersInput, Error> {
        if paths.len() != files.len() {
            let contents: Vec<&str> = files.iter().map(|file| file.content).collect();
            return Err(Error::Impossible(format!(
                "workload `{}` takes {}, separated by commas ({}), but the input `{}` names {}",
                program.workload.name,
                counted(files.len() as u64, "file"),
                contents.join(", "),
                printable(name),
                paths.len()
            )));
        }
        let mut input = NumbersInput { name: printable(name), tables: Vec::new(), records: Vec::new() };
        for (file, path) in files.iter().zip(paths) {
            let table = numbers::read(path, &file.expected)?;
            input.records.push(TableRecord {
                content: file.content,
                origin: numbers::origin(path),
                rows: table.rows(),
                columns: table.columns(),
            });
            input.tables.push(Arc::new(table));
        }
        Ok(input)
    }
}

/// The paths that an input's name consists of. Commas separate them.
pub(crate) fn paths_in(name: &str) -> impl Iterator<Item = &str> {
    name.split(',')
}

/// The input that several runs share, so that it is read only once.
#[derive(Clone, Debug, Default)]
pub(crate) struct Opened {
    /// The folder that relative paths of number files start from. If empty, they start from the
    /// working directory.
    pub(crate) folder: PathBuf,
    /// The input graph. `None` if no graph has been opened yet.
    pub(crate) graph: Option<GraphInput>,
    /// The files of numbers that have been read.
    pub(crate) numbers: OpenedNumbers,
}

impl Opened {
    /// The tables of numbers that a program uses with these settings. Reads the files if they have
    /// not been read yet.
    pub(crate) fn numbers(
        &mut self,
        name: &str,
        program: &NumberProgram,
        settings: &Settings,
    ) -> Result<NumbersInput, Error> {
        let paths: Vec<PathBuf> = paths_in(name).map(|path| self.folder.join(path)).collect();
        self.numbers.get((name, &paths), program, settings)
    }
}

/// The tables of numbers of one input. The settings of a program determine the shape (such as the
/// number of columns) that each file must have, so the files are read once for each shape.
#[derive(Clone, Debug, Default)]
pub(crate) struct OpenedNumbers(Vec<(Vec<NumberFile>, NumbersInput)>);

impl OpenedNumbers {
    /// The tables of numbers in the shape that the settings require. Reads the files if they have
    /// not been read in this shape.
    pub(crate) fn get(
        &mut self,
        input: (&str, &[PathBuf]),
        program: &NumberProgram,
        settings: &Settings,
    ) -> Result<NumbersInput, Error> {
        let files = (program.files)(settings);
        if let Some((_, known)) = self.0.iter().find(|(known, _)| *known == files) {
            return Ok(known.clone());
        }
        let opened = NumbersInput::open(input, program, &files)?;
        self.0.push((files, opened.clone()));
        Ok(opened)
    }

    /// The tables of numbers in every shape in which they have been read.
    pub(crate) fn all(&self) -> impl Iterator<Item = &NumbersInput> {
        self.0.iter().map(|(_, input)| input)
    }
}

/// Reads a scale such as `1/16`.
///
/// # Errors
/// If the text is not a fraction from 1/1024 to 1.
pub fn parse_scale(text: &str) -> Result<Scale, Error> {
    text.parse().map_err(|error: workloads::graph::stand_in::BadScale| Error::Impossible(error.to_string()))
}
