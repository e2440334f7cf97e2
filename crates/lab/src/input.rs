//! The graph that an application runs on: a file, or a stand-in by name.

use std::sync::Arc;

use serde::Serialize;
use workloads::graph::stand_in::Scale;
use workloads::graph::{GraphSource, OpenedGraph, ReadOptions, Repairs};

use crate::error::{Error, printable};

/// The seed of all generated inputs. The seed of a run perturbs the machine and
/// does not change the input.
pub(crate) const INPUT_SEED: u64 = 1;

/// A graph with the name under which it was requested.
#[derive(Clone, Debug)]
pub struct GraphInput {
    /// The name as the user gave it.
    pub name: String,
    /// The graph, its source and its repairs.
    pub opened: Arc<OpenedGraph>,
}

/// The description of a graph in a record.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct GraphRecord {
    /// The source, in one line.
    pub origin: String,
    /// The number of vertices of the graph.
    pub vertices: u64,
    /// The number of arcs. An undirected edge is two arcs.
    pub arcs: u64,
    /// The repairs that the reader made to the graph of the file, such as removed duplicate edges.
    pub repairs: Repairs,
}

impl GraphInput {
    /// Generates or reads a graph. Only a stand-in takes a scale.
    ///
    /// # Errors
    /// An unknown name, a file without a graph, a bad scale.
    pub fn open(name: &str, scale: Option<&str>) -> Result<GraphInput, Error> {
        let scale = scale.map_or(Ok(Scale::FULL), parse_scale)?;
        let opened = GraphSource::of(name).open(scale, INPUT_SEED, &ReadOptions::default())?;
        Ok(GraphInput { name: printable(name), opened: Arc::new(opened) })
    }

    /// The description for a record.
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

/// Reads a scale such as `1/16`.
///
/// # Errors
/// Anything but a fraction from 1/1024 to 1.
pub fn parse_scale(text: &str) -> Result<Scale, Error> {
    text.parse().map_err(|error: workloads::graph::stand_in::BadScale| Error::Impossible(error.to_string()))
}
