//! Tests of properties of all graph programs. Faults are planted that their checks must find.

use kernel::reference::{self, Options};

use super::*;
use crate::fault::{Fault, finds};
use crate::graph::{Weights, power_law};
use crate::pagerank::PAGERANK_PUSH;

/// Graphs that are edge cases: a single vertex, no arc, self loops, parallel arcs, a path longer
/// than a work-group, and two components.
fn odd_graphs() -> Vec<Csr> {
    let path = (0..299).flat_map(|v| [(v, v + 1), (v + 1, v)]).collect();
    let mut weighted = Csr::from_edges(6, vec![(0, 1), (0, 1), (1, 2), (2, 2), (2, 0), (4, 5), (5, 4)]);
    weighted.weights = Some(Weights::Real(vec![0.5, 2.0, 1.0, 3.5, 0.25, 1.0, 9.0]));
    vec![
        Csr::from_edges(1, Vec::new()),
        Csr::from_edges(300, Vec::new()),
        Csr::from_edges(300, path),
        weighted,
        power_law(257, 2000, 3),
    ]
}

#[test]
fn every_program_is_right_on_odd_graphs_under_every_policy() {
    for (workload, program) in &PROGRAMS[3..] {
        let mut choices = vec![""];
        for setting in workload.settings {
            if let crate::SettingKind::Policy(all) = setting.kind {
                choices.extend(all.iter().map(|choice| choice.0));
            }
        }
        for (graph, number) in odd_graphs().iter().zip(0..) {
            for choice in &choices {
                let mut settings = workload.defaults();
                if !choice.is_empty() {
                    settings.set_policy(choice).unwrap();
                }
                let has_sources = workload.settings.iter().any(|setting| setting.name == "sources");
                if has_sources && graph.vertices() > 5 {
                    settings.set("sources", "5").unwrap();
                }
                let (name, seed) = (workload.name, 7);
                let instance = program(graph, &settings, seed).unwrap_or_else(|error| panic!("{error}"));
                let (program, check) = instance.into_parts();
                let options = Options { checks_uses: true, ..Options::default() };
                let answer =
                    reference::run(program, &options).unwrap_or_else(|e| panic!("{name}: {e}")).answer;
                assert_eq!(check(&answer), Ok(()), "{name} on graph {number} with `{choice}`");
            }
        }
    }
}

#[test]
fn a_graph_without_vertices_and_a_source_beyond_it_are_refused() {
    for (workload, program) in &PROGRAMS[3..] {
        let refusal = program(&Csr::from_edges(0, Vec::new()), &workload.defaults(), 1);
        let message = refusal.err().map(|error| error.to_string()).unwrap_or_default();
        assert!(message.contains("the graph has"), "{}: {message}", workload.name);
    }
    let mut settings = BFS.defaults();
    assert_eq!(settings.set("source", "9"), Ok(()));
    let message = bfs::on_graph(&Csr::from_edges(9, Vec::new()), &settings, 1).err().map(|e| e.to_string());
    let want = "workload `bfs`: `source` is vertex 9, but the graph has 9 vertices";
    assert_eq!(message.as_deref(), Some(want));
}

#[test]
fn more_sources_than_vertices_and_too_many_paths_are_refused() {
    for (workload, program) in [(&APSP, apsp::on_graph as GraphProgram), (&DIJKSTRA, dijkstra::on_graph)] {
        let refusal = |vertices, sources| {
            let mut settings = workload.defaults();
            assert_eq!(settings.set("sources", sources), Ok(()));
            let graph = Csr::from_edges(vertices, Vec::new());
            program(&graph, &settings, 1).map(|_| ()).map_err(|error| error.to_string())
        };
        let want = |sources, vertices| {
            Err(format!(
                "workload `{}`: {sources} sources of paths to {vertices} vertices, expected at most as many \
                 sources as vertices and at most 67108864 paths: set `sources`",
                workload.name
            ))
        };
        assert_eq!(refusal(9, "9"), Ok(()));
        assert_eq!(refusal(9, "10"), want(10, 9));
        assert_eq!(refusal(1 << 20, "64"), Ok(()));
        assert_eq!(refusal(1 << 20, "65"), want(65, 1 << 20));
    }
}

#[test]
fn the_checks_find_a_wrong_index_and_an_update_that_is_not_atomic() {
    assert!(finds(&BFS, Fault::WrongIndex));
    assert!(finds(&PAGERANK_PUSH, Fault::SplitUpdate));
}

#[test]
fn a_workload_takes_a_graph_only_if_it_has_the_settings_of_one() {
    for workload in crate::all() {
        let has = |names: &[&str]| names.iter().all(|name| workload.settings.iter().any(|s| s.name == *name));
        let has_settings = has(settings_of_graph(workload));
        assert_eq!(program_of(workload).is_some(), has_settings, "{}", workload.name);
    }
}
