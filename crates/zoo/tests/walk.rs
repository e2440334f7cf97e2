//! Walks every interleaving of small programs over bounded machines: the same
//! controllers that are timed, under every order of issue, delivery, memory,
//! timers and evictions.

#![allow(
    clippy::disallowed_types,
    reason = "this set has a hasher without a seed, and nothing iterates over it"
)]

use proto::{
    Agent, Effects, Homes, LineAddr, LineData, MemoryAccess, MemoryOp, MemoryReply, Mutation, NodeId,
    Protocol, Request, SetIndex, Shape, Slot, Station, TimerClass, World, WritePolicy,
};
use std::collections::hash_map::DefaultHasher;
use std::collections::{BTreeMap, BTreeSet, HashSet, VecDeque};
use std::hash::BuildHasherDefault;

/// One operation of a thread.
#[derive(Clone, Copy, Debug)]
enum Do {
    /// Write a word.
    Store(u64, u32, Sync),
    /// Read a word into the next register.
    Load(u64, Sync),
    /// Read a word until it has this value.
    Await(u64, u32, Sync),
    /// Add to a word, and read the old value into the next register.
    Add(u64, u32, Sync),
    /// A fence.
    Fence(Sync),
}

/// Order and level of an operation.
type Sync = (proto::Order, proto::Level);

/// A thread: where it runs (`None` is the host), and what it does.
#[derive(Clone, Debug)]
struct Thread {
    cu: Option<u16>,
    ops: Vec<Do>,
}

#[derive(Clone, PartialEq, Eq, Hash)]
struct State<P: Protocol> {
    stations: BTreeMap<NodeId, Station<P>>,
    channels: BTreeMap<(NodeId, NodeId), VecDeque<P::Msg>>,
    memory: BTreeMap<LineAddr, LineData>,
    memory_queue: BTreeMap<(NodeId, LineAddr), VecDeque<MemoryOp>>,
    timers: BTreeSet<(NodeId, usize)>,
    pc: Vec<usize>,
    waiting: Vec<bool>,
    regs: Vec<Vec<u32>>,
}

/// What a walk found.
#[derive(Debug, Default)]
struct Found {
    /// The registers of all threads, in every way they came out.
    outcomes: BTreeSet<Vec<Vec<u32>>>,
    states: usize,
    violation: Option<String>,
}

#[derive(Clone, Copy, Debug)]
enum Move {
    Issue(usize),
    Deliver(NodeId, NodeId),
    Memory(NodeId, LineAddr),
    Timer(NodeId, TimerClass),
    Evict(NodeId, SetIndex, proto::Way),
}

struct Walk<'a, P: Protocol> {
    threads: &'a [Thread],
    shape: Shape,
    params: P::Params,
    homes: Homes,
    mutation: Option<Mutation>,
    evictions: bool,
}

/// Words are four bytes; a line of the bounded machine holds two.
fn place(address: u64, shape: &Shape) -> (LineAddr, usize) {
    let line = u64::from(shape.line_bytes);
    (LineAddr(address / line), (address % line) as usize)
}

impl<P: Protocol> Walk<'_, P> {
    fn world(&self) -> World<'_, P> {
        World { params: &self.params, homes: &self.homes, kernels: &[], mutation: self.mutation }
    }

    fn request(&self, thread: usize, op: Do) -> Request {
        use proto::{ByteMask, Op, Rmw, RmwKind, Width};
        let (kind, address, value, (order, level)) = match op {
            Do::Store(a, v, s) => (Op::Store, a, v, s),
            Do::Load(a, s) | Do::Await(a, _, s) => (Op::Load, a, 0, s),
            Do::Add(a, v, s) => {
                (Op::Rmw(Rmw { kind: RmwKind::Add, width: Width::W4, uses_value: true }), a, v, s)
            }
            Do::Fence(s) => (Op::Fence, 0, 0, s),
        };
        let (line, offset) = place(address, &self.shape);
        let mut data = LineData::default();
        data.write(offset, Width::W4, u64::from(value));
        let instance = u32::from(self.threads[thread].cu.unwrap_or(0));
        let scope = match level {
            proto::Level::WorkGroup => proto::Scope::work_group(instance),
            level => proto::Scope { level, instance: 0 },
        };
        Request {
            op: kind,
            order,
            scope,
            issuer: proto::Issuer::default(),
            hints: proto::Hints::default(),
            array: proto::ArrayId(0),
            line,
            mask: ByteMask::range(offset, 4),
            data,
        }
    }

    fn moves(&self, state: &State<P>) -> Vec<Move> {
        let ready = |t: &usize| !state.waiting[*t] && state.pc[*t] < self.threads[*t].ops.len();
        let mut moves: Vec<_> = (0..self.threads.len()).filter(ready).map(Move::Issue).collect();
        moves.extend(state.channels.keys().map(|&(from, to)| Move::Deliver(from, to)));
        moves.extend(state.memory_queue.keys().map(|&(node, line)| Move::Memory(node, line)));
        let classes = <TimerClass as proto::Symbol>::ALL;
        moves.extend(state.timers.iter().map(|&(node, class)| Move::Timer(node, classes[class])));
        let mut victims = Vec::new();
        for (&id, station) in &state.stations {
            let needed: BTreeSet<_> = station
                .parked_keys()
                .filter_map(|(key, _)| match key {
                    proto::Key::Way(set) => Some(set),
                    _ => None,
                })
                .collect();
            let sets = self.shape.l1.sets.max(self.shape.l2.sets);
            for set in (0..sets).map(SetIndex).filter(|s| self.evictions || needed.contains(s)) {
                victims.clear();
                proto::Node::victims(&station.node, set, &mut victims);
                moves.extend(victims.iter().map(|&(way, _)| Move::Evict(id, set, way)));
            }
        }
        moves
    }

    fn apply(&self, state: &State<P>, mv: Move) -> Result<State<P>, String> {
        let mut next = state.clone();
        let mut fx = Effects::default();
        let world = self.world();
        let parked =
            |s: &State<P>| s.stations.values().flat_map(Station::parked_keys).map(|(_, n)| n).sum::<usize>();
        let id = match mv {
            Move::Issue(thread) => {
                let op = self.threads[thread].ops[next.pc[thread]];
                let agent = self.threads[thread].cu.map_or(Agent::Host, Agent::Cu);
                let id = P::entry(agent);
                next.waiting[thread] = true;
                let station = next.stations.get_mut(&id).expect("the entry exists");
                station.request(Slot(thread as u32), &self.request(thread, op), world, &mut fx);
                id
            }
            Move::Deliver(from, to) => {
                let queue = next.channels.get_mut(&(from, to)).expect("a channel with a message");
                let msg = queue.pop_front().expect("a channel with a message");
                if queue.is_empty() {
                    next.channels.remove(&(from, to));
                }
                next.stations.get_mut(&to).expect("the receiver exists").message(from, msg, world, &mut fx);
                to
            }
            Move::Memory(node, line) => {
                let queue = next.memory_queue.get_mut(&(node, line)).expect("an operation");
                let op = queue.pop_front().expect("an operation");
                if queue.is_empty() {
                    next.memory_queue.remove(&(node, line));
                }
                let bytes = next.memory.entry(line).or_default();
                let data = match op.access {
                    MemoryAccess::Read => *bytes,
                    MemoryAccess::Write { mask, data } => {
                        bytes.merge(&data, mask);
                        LineData::default()
                    }
                    MemoryAccess::Rmw { rmw, mask, data } => rmw.perform(bytes, &data, mask),
                };
                let station = next.stations.get_mut(&node).expect("the asker exists");
                station.memory(&MemoryReply { op, data }, world, &mut fx);
                node
            }
            Move::Timer(node, class) => {
                next.timers.remove(&(node, class as usize));
                next.stations.get_mut(&node).expect("the asker exists").timer(class, world, &mut fx);
                node
            }
            Move::Evict(node, set, way) => {
                next.stations.get_mut(&node).expect("the node exists").evict(set, way, world, &mut fx);
                node
            }
        };
        if let Some(why) = fx.violation.take() {
            return Err(why);
        }
        let one_row = match mv {
            Move::Issue(t) => !self.request(t, self.threads[t].ops[state.pc[t]]).order.is_atomic(),
            _ => true,
        };
        if one_row && parked(&next) > parked(state) && fx.is_empty() {
            assert!(
                next.stations[&id].node == state.stations[&id].node,
                "{mv:?} must wait, and changed something"
            );
        }
        self.carry_out(&mut next, id, &mut fx);
        let station = next.stations.get_mut(&id).expect("the node exists");
        if station.parked_keys().next().is_none() {
            proto::Node::canonicalize(&mut station.node);
        }
        Ok(next)
    }

    fn carry_out(&self, next: &mut State<P>, id: NodeId, fx: &mut Effects<P::Msg>) {
        for (to, msg) in fx.sends.drain(..) {
            next.channels.entry((id, to)).or_default().push_back(msg);
        }
        for op in fx.memory.drain(..) {
            next.memory_queue.entry((id, op.line)).or_default().push_back(op);
        }
        next.timers.extend(fx.timers.drain(..).map(|class| (id, class as usize)));
        for (slot, data) in fx.replies.drain(..) {
            let thread = slot.0 as usize;
            assert!(next.waiting[thread], "a request is answered once");
            next.waiting[thread] = false;
            let op = self.threads[thread].ops[next.pc[thread]];
            let read = |address| {
                let (_, offset) = place(address, &self.shape);
                data.expect("a read is answered with bytes").read(offset, proto::Width::W4) as u32
            };
            match op {
                Do::Load(a, _) | Do::Add(a, _, _) => next.regs[thread].push(read(a)),
                Do::Await(a, value, _) if read(a) != value => continue,
                _ => {}
            }
            next.pc[thread] += 1;
        }
    }

    fn walk(&self) -> Found {
        let stations = proto::nodes::<P>(&self.shape).map(|id| (id, Station::new(id, &self.params)));
        let n = self.threads.len();
        let first = State {
            stations: stations.collect(),
            channels: BTreeMap::new(),
            memory: BTreeMap::new(),
            memory_queue: BTreeMap::new(),
            timers: BTreeSet::new(),
            pc: vec![0; n],
            waiting: vec![false; n],
            regs: vec![Vec::new(); n],
        };
        let mut found = Found::default();
        let mut seen: HashSet<State<P>, BuildHasherDefault<DefaultHasher>> = HashSet::default();
        let mut stack = vec![first.clone()];
        seen.insert(first);
        while let Some(state) = stack.pop() {
            let done = (0..n).all(|t| state.pc[t] == self.threads[t].ops.len());
            if done {
                found.outcomes.insert(state.regs.clone());
            }
            let moves = self.moves(&state);
            let only_evictions = moves.iter().all(|m| matches!(m, Move::Evict(..)));
            if only_evictions && !(done && state.stations.values().all(Station::is_quiet)) {
                let stuck = moves.is_empty();
                if stuck {
                    found.violation = Some(format!("deadlock at {:?} with {:?}", state.pc, state.regs));
                    break;
                }
            }
            if done && only_evictions {
                continue;
            }
            for mv in moves {
                match self.apply(&state, mv) {
                    Ok(next) => {
                        if seen.insert(next.clone()) {
                            stack.push(next);
                        }
                    }
                    Err(why) => {
                        found.violation = Some(format!("{mv:?}: {why}"));
                        found.states = seen.len();
                        return found;
                    }
                }
            }
        }
        found.states = seen.len();
        found
    }
}

/// Walks a program over a protocol.
fn walk<P: Protocol>(
    threads: &[Thread],
    l1: WritePolicy,
    l2: WritePolicy,
    evictions: bool,
    mutation: Option<Mutation>,
) -> Found {
    let mut shape = Shape::bounded(l1, l2);
    shape.cus = threads.iter().filter_map(|t| t.cu).max().map_or(1, |cu| cu + 1);
    let params = P::params(&shape).expect("a bounded shape is sound");
    let homes = Homes::new(&shape, 1);
    Walk::<P> { threads, shape, params, homes, mutation, evictions }.walk()
}

mod programs {
    use super::*;
    use proto::Level::{Device, System, WorkGroup};
    use proto::Order::{AcqRel, Acquire, Plain, Relaxed, Release, SeqCst};
    use zoo::{no_l1::NoL1, vi::Vi};

    const PLAIN: Sync = (Plain, Device);
    const POLICIES: [WritePolicy; 3] =
        [WritePolicy::Combining, WritePolicy::Through, WritePolicy::ThroughInvalidate];
    /// Words: X and Y on different lines and banks, Z beside X.
    const X: u64 = 0;
    const Y: u64 = 8;
    const Z: u64 = 4;

    fn on(cu: u16, ops: &[Do]) -> Thread {
        Thread { cu: Some(cu), ops: ops.to_vec() }
    }

    /// Walks under every pair of write policies, and with evictions.
    fn outcomes<P: Protocol>(threads: &[Thread]) -> BTreeSet<Vec<Vec<u32>>> {
        let mut all = BTreeSet::new();
        for l1 in POLICIES {
            for l2 in POLICIES {
                let evictions = l1 == l2;
                let found = walk::<P>(threads, l1, l2, evictions, None);
                assert_eq!(found.violation, None, "{l1:?} over {l2:?}: {threads:?}");
                assert!(!found.outcomes.is_empty());
                all.extend(found.outcomes);
            }
        }
        all
    }

    fn both(threads: &[Thread]) -> BTreeSet<Vec<Vec<u32>>> {
        let vi = outcomes::<Vi>(threads);
        let mut all = outcomes::<NoL1>(threads);
        all.extend(vi);
        all
    }

    fn only(all: BTreeSet<Vec<Vec<u32>>>, want: &[&[&[u32]]]) {
        let want = want.iter().map(|w| w.iter().map(|r| r.to_vec()).collect()).collect();
        assert_eq!(all, want);
    }

    /// The reader has a stale copy of the data before it acquires.
    fn message_passing(level: proto::Level, writer: u16, reader: u16) -> [Thread; 2] {
        [
            on(writer, &[Do::Store(X, 1, PLAIN), Do::Store(Y, 1, (Release, level))]),
            on(reader, &[Do::Load(Z, PLAIN), Do::Await(Y, 1, (Acquire, level)), Do::Load(X, PLAIN)]),
        ]
    }

    #[test]
    fn a_released_store_is_seen_after_the_acquire() {
        only(both(&message_passing(Device, 0, 1)), &[&[&[], &[0, 1]]]);
        only(both(&message_passing(WorkGroup, 0, 0)), &[&[&[], &[0, 1]]]);
    }

    #[test]
    fn a_released_store_is_seen_by_the_host_and_the_hosts_by_the_gpu() {
        let mut threads = message_passing(System, 0, 1);
        threads[1].cu = None;
        only(both(&threads), &[&[&[], &[0, 1]]]);
        let mut threads = message_passing(System, 0, 1);
        threads[0].cu = None;
        only(both(&threads), &[&[&[], &[0, 1]]]);
    }

    #[test]
    fn work_group_scope_between_cus_shows_stale_data_on_vi_and_not_without_an_l1() {
        // The flag may never arrive at work-group scope; so it goes at device
        // scope, and only the order is too narrow.
        let threads = [
            on(0, &[Do::Store(X, 1, PLAIN), Do::Store(Y, 1, (Relaxed, Device))]),
            on(1, &[Do::Load(Z, PLAIN), Do::Await(Y, 1, (Relaxed, Device)), Do::Load(X, PLAIN)]),
        ];
        assert!(outcomes::<Vi>(&threads).contains(&vec![vec![], vec![0, 0]]));
    }

    #[test]
    fn fences_with_relaxed_atomics_order_as_release_and_acquire_do() {
        let threads = [
            on(
                0,
                &[Do::Store(X, 1, PLAIN), Do::Fence((Release, Device)), Do::Store(Y, 1, (Relaxed, Device))],
            ),
            on(
                1,
                &[
                    Do::Load(Z, PLAIN),
                    Do::Await(Y, 1, (Relaxed, Device)),
                    Do::Fence((Acquire, Device)),
                    Do::Load(X, PLAIN),
                ],
            ),
        ];
        only(both(&threads), &[&[&[], &[0, 1]]]);
    }

    #[test]
    fn a_device_release_carries_what_a_peer_released_to_the_work_group() {
        // Figure 6 of the HRF paper: the writer's own release is narrow.
        let threads = [
            on(0, &[Do::Store(X, 1, PLAIN), Do::Store(Y, 1, (Release, WorkGroup))]),
            on(0, &[Do::Await(Y, 1, (Acquire, WorkGroup)), Do::Store(Y + 4, 1, (Release, Device))]),
            on(1, &[Do::Await(Y + 4, 1, (Acquire, Device)), Do::Load(X, PLAIN)]),
        ];
        for (l1, l2) in [(POLICIES[0], POLICIES[0]), (POLICIES[1], POLICIES[2])] {
            for found in
                [walk::<Vi>(&threads, l1, l2, false, None), walk::<NoL1>(&threads, l1, l2, false, None)]
            {
                assert_eq!(found.violation, None);
                only(found.outcomes, &[&[&[], &[], &[1]]]);
            }
        }
    }

    #[test]
    fn store_buffering_is_forbidden_among_seq_cst_accesses_of_one_scope_and_of_two() {
        for (a, b, cu) in [(Device, Device, 1), (WorkGroup, Device, 0), (WorkGroup, WorkGroup, 0)] {
            let threads = [
                on(0, &[Do::Store(X, 1, (SeqCst, a)), Do::Load(Y, (SeqCst, b))]),
                on(cu, &[Do::Store(Y, 1, (SeqCst, b)), Do::Load(X, (SeqCst, a))]),
            ];
            let all = both(&threads);
            assert!(!all.contains(&vec![vec![0], vec![0]]), "{a:?} {b:?}");
            assert!(all.len() == 3, "the other three are all seen: {all:?}");
        }
    }

    #[test]
    fn atomic_additions_of_one_scope_are_never_lost() {
        for (level, cu) in [(WorkGroup, 0), (Device, 0), (Device, 1), (System, 1)] {
            let add = Do::Add(X, 1, (AcqRel, level));
            let all = both(&[on(0, &[add, add]), on(cu, &[add])]);
            only(all, &[&[&[0, 1], &[2]], &[&[0, 2], &[1]], &[&[1, 2], &[0]]]);
        }
    }

    #[test]
    fn work_group_atomics_on_different_cus_lose_updates_on_vi_and_not_without_an_l1() {
        let add = Do::Add(X, 1, (AcqRel, WorkGroup));
        let threads = [on(0, &[add]), on(1, &[add])];
        assert!(outcomes::<Vi>(&threads).contains(&vec![vec![0], vec![0]]));
        only(outcomes::<NoL1>(&threads), &[&[&[0], &[1]], &[&[1], &[0]]]);
    }

    #[test]
    fn a_thread_sees_its_own_writes_at_every_level() {
        for first in [PLAIN, (Relaxed, WorkGroup), (Relaxed, Device), (Relaxed, System)] {
            for second in [PLAIN, (Relaxed, WorkGroup), (Relaxed, Device)] {
                let all = both(&[on(0, &[Do::Load(Z, PLAIN), Do::Store(X, 7, first), Do::Load(X, second)])]);
                only(all, &[&[&[0, 7]]]);
            }
        }
    }

    #[test]
    fn a_plan_without_its_flush_or_its_invalidation_is_caught() {
        use proto::{Change, Plans, Symbol};
        let broken = |table, step| Some(Mutation { table, change: Change::DropStep { step } });
        let id = zoo::vi::L1Plans::ID;
        let steps = [zoo::vi::Step::Flush, zoo::vi::Step::Invalidate];
        for step in steps {
            let threads = message_passing(Device, 0, 1);
            let policy = WritePolicy::Combining;
            let found = walk::<Vi>(&threads, policy, policy, false, broken(id, step.index() as u8));
            assert!(
                found.violation.is_some() || found.outcomes.contains(&vec![vec![], vec![0, 0]]),
                "{} is left out and nobody notices",
                step.name()
            );
        }
    }

    #[test]
    fn a_retry_always_does_something_first_or_it_would_spin() {
        for view in Vi::tables() {
            for row in view.rows {
                if let proto::RowView::Do(actions, next, proto::After::Retry) = row {
                    assert!(!actions.is_empty() && next.is_some());
                }
            }
        }
    }
}
