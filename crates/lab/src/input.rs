//! The graph that an application runs on: a file, or a stand-in by name.

use std::sync::Arc;

use serde::Serialize;
use workloads::graph::stand_in::Scale;
use workloads::graph::{GraphSource, OpenedGraph, ReadOptions, Repairs};

use crate::error::{Error, printable};

/// The seed of everything that is made for a workload. The seed of a run
/// perturbs the machine and leaves the input as it is.
pub(crate) const INPUT_SEED: u64 = 1;

/// A graph by its name.
#[derive(Clone, Debug)]
pub struct GraphInput {
    /// As it was asked for.
    pub name: String,
    /// The graph, where it is from and what was done to it.
    pub opened: Arc<OpenedGraph>,
}

/// What a record says about a graph.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct GraphRecord {
    /// Where it is from, in a line.
    pub origin: String,
    /// Its vertices.
    pub vertices: u64,
    /// Its arcs; an undirected edge is two.
    pub arcs: u64,
    /// What was repaired.
    pub repairs: Repairs,
}

impl GraphInput {
    /// Makes or reads a graph. A scale is for a stand-in only.
    ///
    /// # Errors
    /// An unknown name, a file without a graph, a bad scale.
    pub fn open(name: &str, scale: Option<&str>) -> Result<GraphInput, Error> {
        let scale = scale.map_or(Ok(Scale::FULL), parse_scale)?;
        let opened = GraphSource::of(name).open(scale, INPUT_SEED, &ReadOptions::default())?;
        Ok(GraphInput { name: printable(name), opened: Arc::new(opened) })
    }

    /// What a record says about it.
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

/// Reads a scale, as `1/16`.
///
/// # Errors
/// Anything but a fraction from 1/1024 to 1.
pub fn parse_scale(text: &str) -> Result<Scale, Error> {
    text.parse().map_err(|error: workloads::graph::stand_in::BadScale| Error::Impossible(error.to_string()))
}
