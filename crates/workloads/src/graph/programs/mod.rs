//! Graph programs that the host drives round by round: it launches a kernel or
//! several, reads a flag, and decides whether another round follows.
//!
//! Every program runs on a generated graph or on a given one, see
//! [`program_of`]. A kernel visits a vertex with each work-item, and the arcs of
//! the vertex one after another. Where wavefronts write one word in one kernel,
//! they use relaxed atomics at device scope.

mod apsp;
mod bc;
mod bellman_ford;
mod bfs;
mod cc;
mod cca;
mod color_max;
mod components;
mod flag;
mod input;
mod mis;
mod pagerank_pull;
mod rows;

use super::Csr;
use crate::dense;
use crate::instance::{Instance, Workload};
use crate::settings::{BadSetting, Settings};
use crate::stealing::{self, App};

pub(crate) use apsp::APSP;
pub(crate) use bc::BC;
pub(crate) use bellman_ford::SSSP_BELLMAN_FORD;
pub(crate) use bfs::BFS;
pub(crate) use cc::CC;
pub(crate) use cca::CCA;
pub(crate) use color_max::COLOR_MAX;
pub(crate) use input::{EDGES, SOURCE, VERTICES, generated, source_of};
pub(crate) use mis::MIS;
pub(crate) use pagerank_pull::PAGERANK_PULL;

/// Makes an instance on a given graph, from the settings of the workload and a
/// seed. The settings in [`GRAPH_SETTINGS`] have no effect.
pub type GraphProgram = fn(&Csr, &Settings, u64) -> Result<Instance, BadSetting>;

/// The settings of the generated graph. They have no effect on a given graph.
pub const GRAPH_SETTINGS: [&str; 2] = [VERTICES.name, EDGES.name];

/// The workloads that run on a given graph.
static PROGRAMS: [(&Workload, GraphProgram); 14] = [
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
    (&dense::FW, dense::floyd_on_graph),
];

/// The program of a workload on a given graph, or `None` if the workload takes
/// no graph.
#[must_use]
pub fn program_of(workload: &Workload) -> Option<GraphProgram> {
    PROGRAMS.iter().find(|(known, _)| known.name == workload.name).map(|(_, program)| *program)
}

/// The workloads that take a graph.
pub fn workloads() -> impl Iterator<Item = &'static Workload> {
    PROGRAMS.iter().map(|(workload, _)| *workload)
}

/// The instance of a program on the graph that the settings describe.
fn on_generated(program: GraphProgram, settings: &Settings, seed: u64) -> Result<Instance, BadSetting> {
    program(&generated(settings, seed)?, settings, seed)
}

#[cfg(test)]
mod tests;
