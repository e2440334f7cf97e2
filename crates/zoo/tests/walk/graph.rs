//! The graph of all states: does every run come to an end?

/// What leads from a state to another.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Edge {
    pub(crate) to: u32,
    /// Which move this is; one that can be made in two states has one label.
    pub(crate) label: u16,
    /// Need it never be made?
    pub(crate) whim: bool,
}

/// States by number, with their moves.
#[derive(Debug, Default)]
pub(crate) struct Graph {
    edges: Vec<Edge>,
    /// First edge, and one behind the last.
    ranges: Vec<(u32, u32)>,
    ends: Vec<u32>,
}

const NONE: u32 = u32::MAX;

/// Where a move leads that must wait for room: it is offered, and nothing more.
pub(crate) const WAITS: u32 = u32::MAX;

impl Graph {
    pub(crate) fn add(&mut self, state: u32, edges: &[Edge]) {
        let state = state as usize;
        if self.ranges.len() <= state {
            self.ranges.resize(state + 1, (0, 0));
        }
        let first = self.edges.len() as u32;
        self.edges.extend_from_slice(edges);
        self.ranges[state] = (first, self.edges.len() as u32);
    }

    /// The program has come to rest here.
    pub(crate) fn end(&mut self, state: u32) {
        self.add(state, &[]);
        self.ends.push(state);
    }

    fn edges(&self, state: u32) -> &[Edge] {
        let (first, last) = self.ranges[state as usize];
        &self.edges[first as usize..last as usize]
    }

    /// Why some run does not come to an end, if there is one: states that lead
    /// to no end, or a circle in which every move that can always be made is
    /// made again and again, so that no scheduler is to blame.
    pub(crate) fn never_ends(&self) -> Option<&'static str> {
        let (parts, component) = self.components();
        for part in parts {
            let is_end = part.len() == 1 && self.ends.binary_search(&part[0]).is_ok();
            let inside = |e: &Edge| e.to != WAITS && component[e.to as usize] == component[part[0] as usize];
            if !is_end && part.iter().all(|&s| self.edges(s).iter().all(|e| e.to == WAITS || inside(e))) {
                return Some("some state cannot come to an end any more");
            }
            if part.iter().any(|&s| self.edges(s).iter().any(inside)) && self.is_fair(&part, &inside) {
                return Some("some thread starves: a circle that is fair to every move never ends");
            }
        }
        None
    }

    fn is_fair(&self, part: &[u32], inside: &impl Fn(&Edge) -> bool) -> bool {
        let labels = part.iter().flat_map(|&s| self.edges(s)).map(|e| usize::from(e.label) + 1).max();
        let mut offered = vec![0; labels.unwrap_or(0)];
        let mut made = vec![false; labels.unwrap_or(0)];
        for edge in part.iter().flat_map(|&s| self.edges(s)).filter(|e| !e.whim) {
            offered[usize::from(edge.label)] += 1;
            made[usize::from(edge.label)] |= inside(edge);
        }
        offered.iter().zip(&made).all(|(&offered, &made)| made || offered < part.len())
    }

    /// The sets of states that lead to one another (Tarjan's), and the number
    /// of the set of each state.
    fn components(&self) -> (Vec<Vec<u32>>, Vec<u32>) {
        let n = self.ranges.len();
        let (mut order, mut low) = (vec![NONE; n], vec![NONE; n]);
        let mut component = vec![NONE; n];
        let (mut open, mut path): (Vec<u32>, Vec<(u32, u32)>) = (Vec::new(), Vec::new());
        let mut parts = Vec::new();
        let mut count = 0;
        for root in 0..n as u32 {
            if order[root as usize] != NONE {
                continue;
            }
            path.push((root, self.ranges[root as usize].0));
            while let Some((state, next)) = path.last_mut() {
                let at = *state as usize;
                if order[at] == NONE {
                    (order[at], low[at]) = (count, count);
                    count += 1;
                    open.push(*state);
                }
                if *next < self.ranges[at].1 {
                    let to = self.edges[*next as usize].to;
                    *next += 1;
                    if to == WAITS {
                        continue;
                    }
                    if order[to as usize] == NONE {
                        path.push((to, self.ranges[to as usize].0));
                    } else if component[to as usize] == NONE {
                        low[at] = low[at].min(order[to as usize]);
                    }
                    continue;
                }
                path.pop();
                if let Some(&(parent, _)) = path.last() {
                    low[parent as usize] = low[parent as usize].min(low[at]);
                }
                if low[at] == order[at] {
                    let first = open.iter().rposition(|&s| s as usize == at).unwrap_or(0);
                    let part = open.split_off(first);
                    part.iter().for_each(|&s| component[s as usize] = parts.len() as u32);
                    parts.push(part);
                }
            }
        }
        (parts, component)
    }

    /// To be called when all states are known.
    pub(crate) fn close(&mut self) {
        self.ends.sort_unstable();
    }
}
