//! Graph programs that the host drives round by round: the host launches one or more kernels, reads
//! a flag, and decides whether another round follows.
//!
//! Every program runs on a generated graph or on a given one: see [`program_of`]. In a kernel, each
//! work-item visits one vertex, and the arcs of the vertex one after another. If several wavefronts
//! write the same word in a kernel, they use relaxed atomics at device scope. The exception is
//! `dijkstra`: it has one launch, in which a work-group computes all paths from its source, with
//! ordinary accesses and barriers.

mod apsp;
mod bc;
mod bellman_ford;
mod bfs;
mod cc;
mod cca;
mod color_max;
mod components;
mod dijkstra;
mod flag;
mod input;
mod mis;
mod pagerank_pull;
mod rows;

use super::{Csr, DefectPolicy, ReadOptions};
use crate::dense;
use crate::instance::{Instance, Workload};
use crate::physics::spmv;
use crate::settings::{BadSetting, Settings};
use crate::stealing::{self, App};

pub(crate) use apsp::APSP;
pub(crate) use bc::BC;
pub(crate) use bellman_ford::SSSP_BELLMAN_FORD;
pub(crate) use bfs::BFS;
pub(crate) use cc::CC;
pub(crate) use cca::CCA;
pub(crate) use color_max::COLOR_MAX;
pub(crate) use dijkstra::DIJKSTRA;
pub(crate) use input::{EDGES, SOURCE, VERTICES, generated, source_of};
pub(crate) use mis::MIS;
pub(crate) use pagerank_pull::PAGERANK_PULL;

/// A function that makes a program and its check for a given graph, from the settings of the
/// workload and a seed. The settings in [`settings_of_graph`] have no effect.
pub type GraphProgram = fn(&Csr, &Settings, u64) -> Result<Instance, BadSetting>;

/// The names of the settings that describe the graph or matrix that a workload generates. They have
/// no effect if the workload runs on a given graph.
#[must_use]
pub fn settings_of_graph(workload: &Workload) -> &'static [&'static str] {
    match content_of(workload) {
        Content::Graph => &[VERTICES.name, EDGES.name],
        Content::Matrix => &spmv::SETTINGS_OF_MATRIX,
    }
}

/// The kind of content that a workload expects in a graph file.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum Content {
    /// A graph. The reader removes self loops and duplicate arcs.
    Graph,
    /// A sparse matrix. The reader keeps elements on the diagonal and duplicate elements; the
    /// program adds up duplicates.
    Matrix,
}

impl Content {
    /// The options for the reader of a file with this content.
    #[must_use]
    pub fn options(self) -> ReadOptions {
        match self {
            Content::Graph => ReadOptions::default(),
            Content::Matrix => ReadOptions {
                self_loops: DefectPolicy::Keep,
                duplicates: DefectPolicy::Keep,
                ..ReadOptions::default()
            },
        }
    }
}

/// The kind of content that a workload expects in a graph file.
#[must_use]
pub fn content_of(workload: &Workload) -> Content {
    if workload.name == spmv::SPMV.name { Content::Matrix } else { Content::Graph }
}

/// The workloads that can run on a given graph, each with its program.
static PROGRAMS: [(&Workload, GraphProgram); 16] = [
    (&stealing::SSSP, |graph, settings, seed| App::Sssp.instance(graph, settings, seed)),
    (&stealing::COLOR, |graph, settings, seed| App::Color.instance(graph, settings, seed)),
    (&stealing::PAGERANK, |graph, settings, seed| App::PageRank.instance(graph, settings, seed)),
    (&crate::pagerank::PAGERANK_PUSH, crate::pagerank::on_graph),
    (&BFS, bfs::on_graph),
    (&SSSP_BELLMAN_FORD, bellman_ford::on_graph),
    (&COLOR_MAX, color_max::on_graph),
    (&PAGERANK_PULL, pagerank_pull::on_graph),
    (&BC, bc::on_graph),
    (&CC, cc::on_graph),
    (&CCA, cca::on_graph),
    (&MIS, mis::on_graph),
    (&APSP, apsp::on_graph),
    (&DIJKSTRA, dijkstra::on_graph),
    (&dense::FW, dense::floyd_on_graph),
    (&spmv::SPMV, spmv::on_matrix),
];

/// The program of a workload that can run on a given graph. `None` if the workload takes no graph.
#[must_use]
pub fn program_of(workload: &Workload) -> Option<GraphProgram> {
    PROGRAMS.iter().find(|(known, _)| known.name == workload.name).map(|(_, program)| *program)
}

/// The workloads that can run on a given graph.
pub fn workloads() -> impl Iterator<Item = &'static Workload> {
    PROGRAMS.iter().map(|(workload, _)| *workload)
}

/// Makes the program and its check for the graph that the settings describe.
fn on_generated(program: GraphProgram, settings: &Settings, seed: u64) -> Result<Instance, BadSetting> {
    program(&generated(settings, seed)?, settings, seed)
}

#[cfg(test)]
mod tests;
