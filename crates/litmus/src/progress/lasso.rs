//! Searches for runs that do not terminate. The search builds the graph of all interleavings over
//! one memory. In this graph it looks for a cycle in which the scheduler keeps its guarantees.

use std::collections::BTreeMap;

use super::machine::{Machine, State};
use super::scheduler::Scheduler;
use super::{InfiniteRun, RunStep};

/// The maximum number of distinct states of a search.
const STATES_MAX: usize = 400_000;
/// The number of explored states between two calls of the function `stop`, which says whether the
/// search must end.
const STOP_INTERVAL: usize = 1024;

/// The result of a search for a run that does not terminate.
pub(super) struct Search {
    pub(super) run: Option<InfiniteRun>,
    /// Whether the search visited all states.
    pub(super) complete: bool,
}

/// The graph of the states that interleavings of the threads reach.
struct Graph {
    states: Vec<State>,
    /// For each state, the possible steps: the number of the thread that takes the step, and the
    /// number of the state after the step.
    edges: Vec<Vec<(usize, usize)>>,
    /// For each state, the first step that reached it: the number of the state before the step, and
    /// the number of the thread that took the step. `None` for the initial state.
    parent: Vec<Option<(usize, usize)>>,
    complete: bool,
}

/// Looks for a run that does not terminate although the scheduler keeps its guarantees.
pub(super) fn search(machine: &Machine<'_>, scheduler: Scheduler, stop: &mut dyn FnMut() -> bool) -> Search {
    let graph = explore(machine, stop);
    let part = parts(&graph.edges);
    let count = part.iter().max().map_or(0, |last| last + 1);
    let mut members: Vec<Vec<usize>> = vec![Vec::new(); count];
    for (state, &part) in part.iter().enumerate() {
        members[part].push(state);
    }
    // States are numbered in the order in which the search reaches them. The component with the
    // lowest state number therefore has the shortest path from the initial state.
    members.sort_by_key(|members| members.first().copied());
    let found =
        members.iter().find(|members| has_guaranteed_cycle(machine, scheduler, &graph, &part, members));
    Search { run: found.map(|members| graph.run(&part, members)), complete: graph.complete }
}

fn explore(machine: &Machine<'_>, stop: &mut dyn FnMut() -> bool) -> Graph {
    let start = machine.start();
    let mut known = BTreeMap::from([(start.clone(), 0usize)]);
    let mut graph = Graph { states: vec![start], edges: Vec::new(), parent: vec![None], complete: true };
    while graph.edges.len() < graph.states.len() {
        let at = graph.edges.len();
        if graph.states.len() > STATES_MAX || (at.is_multiple_of(STOP_INTERVAL) && stop()) {
            graph.complete = false;
            graph.edges.resize(graph.states.len(), Vec::new());
            break;
        }
        let mut edges = Vec::new();
        for thread in 0..graph.states[at].threads.len() {
            let Some(next) = machine.step(&graph.states[at], thread) else { continue };
            let to = *known.entry(next).or_insert_with_key(|next| {
                graph.states.push(next.clone());
                graph.parent.push(Some((at, thread)));
                graph.states.len() - 1
            });
            edges.push((thread, to));
        }
        graph.edges.push(edges);
    }
    graph
}

/// Whether a run may stay for ever in the states `members` (one strongly connected component of the
/// graph) although the scheduler keeps its guarantees. For this, the component must contain a step
/// of each thread that the scheduler guarantees to make progress. The only exception is a thread
/// that cannot step in any of these states because it waits at a barrier.
fn has_guaranteed_cycle(
    machine: &Machine<'_>,
    scheduler: Scheduler,
    graph: &Graph,
    part: &[usize],
    members: &[usize],
) -> bool {
    let own = part[members[0]];
    let (mut stepping, mut able) = (0u64, 0u64);
    for &state in members {
        for &(thread, to) in &graph.edges[state] {
            able |= 1 << thread;
            stepping |= u64::from(part[to] == own) << thread;
        }
    }
    // In all states of a component the same threads have ended, and the same threads have taken a
    // step.
    let state = &graph.states[members[0]];
    let promised = scheduler.guaranteed(machine.unfinished(state), state.stepped);
    stepping != 0 && promised & able & !stepping == 0
}

/// For each state of the graph, the number of its strongly connected component. Uses Tarjan's
/// algorithm without recursion.
fn parts(edges: &[Vec<(usize, usize)>]) -> Vec<usize> {
    const NONE: usize = usize::MAX;
    let n = edges.len();
    let (mut part, mut index, mut low) = (vec![NONE; n], vec![NONE; n], vec![0; n]);
    let (mut stack, mut work) = (Vec::new(), Vec::new());
    let (mut clock, mut count) = (0, 0);
    for root in 0..n {
        if index[root] != NONE {
            continue;
        }
        work.push((root, 0));
        while let Some((at, edge)) = work.pop() {
            if edge == 0 {
                index[at] = clock;
                low[at] = clock;
                clock += 1;
                stack.push(at);
            }
            if let Some(&(_, to)) = edges[at].get(edge) {
                work.push((at, edge + 1));
                if index[to] == NONE {
                    work.push((to, 0));
                } else if part[to] == NONE {
                    low[at] = low[at].min(index[to]);
                }
                continue;
            }
            if low[at] == index[at] {
                while let Some(member) = stack.pop() {
                    part[member] = count;
                    if member == at {
                        break;
                    }
                }
                count += 1;
            }
            if let Some(&(parent, _)) = work.last() {
                low[parent] = low[parent].min(low[at]);
            }
        }
    }
    part
}

impl Graph {
    /// The run that leads to the states `members` of a strongly connected component, and then
    /// repeats a cycle in this component. The cycle includes a step of each thread that can step
    /// within the component.
    fn run(&self, part: &[usize], members: &[usize]) -> InfiniteRun {
        let own = part[members[0]];
        let begin = members[0];
        let mut prefix = Vec::new();
        let mut at = begin;
        while let Some((from, thread)) = self.parent[at] {
            prefix.push(self.step(from, thread));
            at = from;
        }
        prefix.reverse();
        let mut round = Vec::new();
        let mut at = begin;
        let mut done = 0u64;
        // Goes to the nearest step of a thread that has no step in the cycle yet, until there is no
        // such thread.
        while let Some(steps) = self.shortest_path(part, own, at, |_, (thread, _)| done >> thread & 1 == 0) {
            for &(from, (thread, to)) in &steps {
                round.push(self.step(from, thread));
                done |= 1 << thread;
                at = to;
            }
        }
        if at != begin
            && let Some(steps) = self.shortest_path(part, own, at, |_, (_, to)| to == begin)
        {
            round.extend(steps.iter().map(|&(from, (thread, _))| self.step(from, thread)));
        }
        InfiniteRun { prefix, round }
    }

    fn step(&self, from: usize, thread: usize) -> RunStep {
        RunStep { thread, pc: self.states[from].threads[thread].pc }
    }

    /// The shortest path within one strongly connected component that begins at the state `start`
    /// and ends with a step that `wanted` accepts. `None` if there is no such path.
    fn shortest_path(
        &self,
        part: &[usize],
        own: usize,
        start: usize,
        wanted: impl Fn(usize, (usize, usize)) -> bool,
    ) -> Option<Vec<(usize, (usize, usize))>> {
        let mut from: BTreeMap<usize, (usize, (usize, usize))> = BTreeMap::new();
        let mut queue = std::collections::VecDeque::from([start]);
        while let Some(at) = queue.pop_front() {
            for &edge in self.edges[at].iter().filter(|(_, to)| part[*to] == own) {
                if wanted(at, edge) {
                    let mut steps = vec![(at, edge)];
                    let mut back = at;
                    while back != start {
                        let step = from[&back];
                        steps.push(step);
                        back = step.0;
                    }
                    steps.reverse();
                    return Some(steps);
                }
                if edge.1 != start && !from.contains_key(&edge.1) {
                    from.insert(edge.1, (at, edge));
                    queue.push_back(edge.1);
                }
            }
        }
        None
    }
}
