//! An independent engine over the same controllers: the checker of `stateright`. Its model clones
//! whole states, caches no step, and merges no states; the checker visits the states and counts
//! them. Both engines must find the same number of states and the same end states.
//!
//! The checker identifies a state by a fingerprint of 64 bits. Two states with the same fingerprint
//! would count once. If both engines reach the same states, such a coincidence makes their counts
//! differ, and the test fails. A coincidence could hide an error only if one engine reaches exactly
//! one state more than the other.

use explore::{Bounds, Explorer, Limits, Placement, Requirements, Subject};
use litmus::generate::{self, Bound, Kind};
use litmus::program::{
    Access, BinaryOp, Builder, Dialect, Expr, Instr, Level, LocId, Order, Program, Prop, RmwOp, Scopes, Term,
    ThreadId, ThreadSet,
};
use proto::{
    Agent, ByteMask, Effects, Hints, Issuer, Key, LineAddr, LineData, MemoryAccess, MemoryOp, MemoryReply,
    Node as _, Op, Protocol, Request, Rmw, RmwKind, Scope, SetIndex, Setup, Slot, Station, Symbol,
    TimerClass, Way, Width, World, WritePolicy,
};
use stateright::{Checker as _, Model, Property};
use std::collections::{BTreeMap, BTreeSet, VecDeque};
use std::sync::Mutex;

#[derive(Clone, Debug, PartialEq, Eq, Hash)]
struct State<P: Protocol> {
    stations: Vec<Station<P>>,
    timers: Vec<BTreeSet<usize>>,
    channels: BTreeMap<(usize, usize), VecDeque<P::Msg>>,
    memory_ops: BTreeMap<(usize, u64), VecDeque<MemoryOp>>,
    answered: BTreeMap<(usize, u64), VecDeque<MemoryReply>>,
    memory: Vec<LineData>,
    /// For each thread: its position, whether it waits, and its registers.
    threads: Vec<(usize, bool, Vec<i64>)>,
}

/// A possible move. Nodes and threads are given by number.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Move {
    Issue(usize),
    Deliver(usize, usize),
    Serve(usize, u64),
    Answer(usize, u64),
    Timer(usize, usize),
    Evict(usize, Way),
}

struct Plain<P: Protocol> {
    program: Program,
    placement: Placement,
    setup: Setup<P>,
    nodes: Vec<proto::NodeId>,
    evictions: bool,
    /// The registers in the end states that were visited.
    ends: Mutex<BTreeSet<Vec<i64>>>,
}

type StationInput<'t, P> = &'t dyn Fn(&mut Station<P>, World<'_, P>, &mut Effects<<P as Protocol>::Msg>);

impl<P: Protocol> Plain<P> {
    fn node(&self, id: proto::NodeId) -> usize {
        self.nodes.iter().position(|&n| n == id).expect("a node of the machine")
    }

    fn entry(&self, thread: usize, request: &Request) -> usize {
        let (agent, key) = (self.placement.agents[thread], proto::PlanKey::of(request));
        self.node(P::entry(&self.setup.params, agent, key))
    }

    /// The line of a location and its offset there: a line has two words.
    fn place(&self, loc: LocId) -> (u64, usize) {
        let line = self.placement.lines[usize::from(loc.0)];
        let before = self.placement.lines[..usize::from(loc.0)].iter().filter(|&&l| l == line).count();
        (u64::from(line), 4 * before)
    }

    fn request(&self, thread: usize, pc: usize) -> Request {
        let instr = &self.program.threads[thread].code[pc];
        let access = instr.access().expect("these programs only load, store and wait");
        let loc = access.address.as_location().expect("at known places");
        let (line, offset) = self.place(loc);
        let mut data = LineData::default();
        let mut put = |value: &Expr| match value {
            Expr::Const(value) => data.write(offset, Width::W4, *value as u64),
            _ => panic!("these programs write constants only"),
        };
        let op = match instr {
            Instr::Store { value, .. } => {
                put(value);
                Op::Store
            }
            Instr::Rmw { dst, op: RmwOp::Exchange, operand, .. } => {
                put(operand);
                Op::Rmw(Rmw { kind: RmwKind::Exchange, width: Width::W4, uses_value: dst.is_some() })
            }
            _ => Op::Load,
        };
        let scope = access.scope.map(|scope| self.program.scopes.get(scope));
        let scope = scope.map_or(Scope::DEVICE, |s| match s.level {
            Level::Device => Scope::DEVICE,
            level => Scope { level, instance: s.instance },
        });
        let agents = &self.placement.agents;
        let group = self.program.scopes.enclosing(ThreadId(thread as u8), Level::WorkGroup);
        let issuer = Issuer {
            work_item: 0,
            wavefront: agents[..thread].iter().filter(|&agent| *agent == agents[thread]).count() as u32,
            work_group: group.map_or(thread as u32, |group| self.program.scopes.get(group).instance),
        };
        Request {
            op,
            order: access.order,
            scope,
            issuer,
            hints: Hints { remote: access.remote, commutative: access.commutative },
            array: proto::ArrayId(0),
            line: LineAddr(line),
            mask: ByteMask::range(offset, 4),
            data,
        }
    }

    fn deliver(&self, state: &mut State<P>, node: usize, input: StationInput<'_, P>) {
        let world = self.setup.world();
        let mut fx = Effects::default();
        input(&mut state.stations[node], world, &mut fx);
        assert_eq!(fx.violation, None);
        state.stations[node].node.canonicalize();
        for (to, msg) in fx.sends.drain(..) {
            state.channels.entry((node, self.node(to))).or_default().push_back(msg);
        }
        for op in fx.memory.drain(..) {
            state.memory_ops.entry((node, op.line.0)).or_default().push_back(op);
        }
        state.timers[node].extend(fx.timers.drain(..).map(Symbol::index));
        for (slot, data) in fx.replies.drain(..) {
            self.answer(state, slot.0 as usize / 8, data);
        }
    }

    fn answer(&self, state: &mut State<P>, thread: usize, data: Option<LineData>) {
        let (pc, waits, registers) = &mut state.threads[thread];
        assert!(core::mem::take(waits));
        let instr = &self.program.threads[thread].code[*pc];
        let loc = instr.access().and_then(|a| a.address.as_location()).expect("an access");
        let read = || i64::from(data.expect("bytes").read(self.place(loc).1, Width::W4) as i32);
        match instr {
            Instr::Load { dst, .. } | Instr::Rmw { dst: Some(dst), .. } => {
                registers[usize::from(dst.0)] = read()
            }
            Instr::Await { value: Expr::Const(value), .. } if read() != *value => return,
            _ => {}
        }
        *pc += 1;
    }

    /// The ways that a node can evict.
    fn victims(&self, state: &State<P>, node: usize) -> Vec<Way> {
        let mut victims = Vec::new();
        state.stations[node].node.victims(SetIndex(0), &mut victims);
        victims.into_iter().map(|(way, _)| way).collect()
    }

    /// The moves that must happen eventually. If the list is empty, the program is over.
    fn musts(&self, state: &State<P>) -> Vec<Move> {
        let mut moves = Vec::new();
        for (thread, (pc, waits, _)) in state.threads.iter().enumerate() {
            if !waits && *pc < self.program.threads[thread].code.len() {
                moves.push(Move::Issue(thread));
            }
        }
        moves.extend(state.channels.keys().map(|&(from, to)| Move::Deliver(from, to)));
        moves.extend(state.memory_ops.keys().map(|&(node, line)| Move::Serve(node, line)));
        moves.extend(state.answered.keys().map(|&(node, line)| Move::Answer(node, line)));
        for (node, classes) in state.timers.iter().enumerate() {
            moves.extend(classes.iter().map(|&class| Move::Timer(node, class)));
        }
        for node in (0..self.nodes.len()).filter(|&node| needs_way(state, node)) {
            moves.extend(self.victims(state, node).into_iter().map(|way| Move::Evict(node, way)));
        }
        moves
    }

    fn is_over(&self, state: &State<P>) -> bool {
        let lengths = self.program.threads.iter().map(|t| t.code.len());
        state.threads.iter().map(|t| t.0).eq(lengths) && state.threads.iter().all(|t| !t.1)
    }

    fn serve(&self, state: &mut State<P>, place: (usize, u64)) {
        let op = pop(&mut state.memory_ops, place);
        let bytes = &mut state.memory[place.1 as usize];
        let data = match op.access {
            MemoryAccess::Read => *bytes,
            MemoryAccess::Write { mask, data } => {
                bytes.merge(&data, mask);
                LineData::default()
            }
            MemoryAccess::Rmw { rmw, mask, data } => rmw.perform(bytes, &data, mask),
        };
        state.answered.entry(place).or_default().push_back(MemoryReply { op, data });
    }
}

/// Removes and returns the oldest element of a queue, and removes the queue if it is then empty.
fn pop<K: Ord, T>(queues: &mut BTreeMap<K, VecDeque<T>>, key: K) -> T {
    let queue = queues.get_mut(&key).expect("a queue");
    let thing = queue.pop_front().expect("it is not empty");
    if queue.is_empty() {
        queues.remove(&key);
    }
    thing
}

fn needs_way<P: Protocol>(state: &State<P>, node: usize) -> bool {
    state.stations[node].parked_count(Key::Way(SetIndex(0))) > 0
}

impl<P: Protocol> Model for Plain<P> {
    type State = State<P>;
    type Action = Move;

    fn init_states(&self) -> Vec<State<P>> {
        let lines = self.placement.lines.iter().max().map_or(0, |&line| usize::from(line) + 1);
        vec![State {
            stations: self.setup.stations(),
            timers: vec![BTreeSet::new(); self.nodes.len()],
            channels: BTreeMap::new(),
            memory_ops: BTreeMap::new(),
            answered: BTreeMap::new(),
            memory: vec![LineData::default(); lines],
            threads: self.program.threads.iter().map(|t| (0, false, vec![0; t.registers.len()])).collect(),
        }]
    }

    fn actions(&self, state: &State<P>, moves: &mut Vec<Move>) {
        moves.extend(self.musts(state));
        if moves.is_empty() {
            let registers = state.threads.iter().flat_map(|t| t.2.iter().copied()).collect();
            self.ends.lock().expect("no thread panicked").insert(registers);
        } else if self.evictions {
            for node in (0..self.nodes.len()).filter(|&node| !needs_way(state, node)) {
                moves.extend(self.victims(state, node).into_iter().map(|way| Move::Evict(node, way)));
            }
        }
    }

    fn next_state(&self, state: &State<P>, mv: Move) -> Option<State<P>> {
        let mut next = state.clone();
        match mv {
            Move::Issue(thread) => {
                let request = self.request(thread, next.threads[thread].0);
                next.threads[thread].1 = true;
                let slot = Slot(8 * thread as u32);
                self.deliver(&mut next, self.entry(thread, &request), &|s, world, fx| {
                    s.request(slot, &request, world, fx)
                });
            }
            Move::Deliver(from, to) => {
                let msg = pop(&mut next.channels, (from, to));
                let sender = self.nodes[from];
                self.deliver(&mut next, to, &|s, world, fx| s.message(sender, &msg, world, fx));
            }
            Move::Serve(node, line) => self.serve(&mut next, (node, line)),
            Move::Answer(node, line) => {
                let reply = pop(&mut next.answered, (node, line));
                self.deliver(&mut next, node, &|s, world, fx| s.memory(&reply, world, fx));
            }
            Move::Timer(node, class) => {
                next.timers[node].remove(&class);
                self.deliver(&mut next, node, &|s, world, fx| s.timer(TimerClass::ALL[class], world, fx));
            }
            Move::Evict(node, way) => self.deliver(&mut next, node, &|s, world, fx| s.evict(way, world, fx)),
        }
        Some(next)
    }

    fn properties(&self) -> Vec<Property<Plain<P>>> {
        vec![Property::always(OVER, |model, state| !model.musts(state).is_empty() || model.is_over(state))]
    }
}

const OVER: &str = "where nothing moves, the program is over";

/// A protocol with states that threads of the checker can share.
trait Shared: Protocol<Node: Send + Sync, Msg: Send + Sync, Params: Send + Sync> + Send + Sync {}
impl<P: Protocol<Node: Send + Sync, Msg: Send + Sync, Params: Send + Sync> + Send + Sync> Shared for P {}

/// Searches with the independent engine. Returns the number of states, and the registers in the end
/// states.
fn plain<P: Shared>(program: &Program, placement: &Placement, bounds: Bounds) -> (u64, BTreeSet<Vec<i64>>) {
    let setup = Setup::new(&bounds.topology(placement.compute_units(), 8)).expect("a sound machine");
    let model = Plain::<P> {
        program: program.clone(),
        placement: placement.clone(),
        nodes: setup.levels.nodes().collect(),
        setup,
        evictions: bounds.evictions,
        ends: Mutex::default(),
    };
    let checker = model.checker().spawn_bfs().join();
    checker.assert_no_discovery(OVER);
    let ends = checker.model().ends.lock().expect("no thread panicked").clone();
    (checker.unique_state_count() as u64, ends)
}

/// A program that passes a message from one work-group to another, which has a stale copy in its
/// cache.
fn message_passing(order: bool) -> Program {
    let mut scopes = Scopes::flat(2);
    let device = scopes.add(Level::Device, "device", 0, ThreadSet::first(2));
    for t in 0..2 {
        scopes.add(Level::WorkGroup, "work_group", u32::from(t), ThreadSet::only(ThreadId(t)));
    }
    let mut b = Builder::new("MP", Dialect::OpenCl, scopes, 2);
    let (x, z, f) = (b.location("x", 0), b.location("z", 0), b.location("f", 0));
    let (p0, p1) = (ThreadId(0), ThreadId(1));
    let (release, acquire) =
        if order { (Order::Release, Order::Acquire) } else { (Order::Relaxed, Order::Relaxed) };
    b.store(p0, x, 1);
    b.store_atomic(p0, f, 1, release, device);
    let r0 = b.load(p1, "r0", z);
    let address = Expr::Addr(f);
    b.push(
        p1,
        Instr::Await {
            dst: None,
            access: Access::atomic(address, acquire, device),
            cmp: BinaryOp::Eq,
            value: Expr::Const(1),
        },
    );
    let r1 = b.load(p1, "r1", x);
    let mut program = b.exists(Prop::True);
    program.observed = vec![Term::Reg(p1, r0), Term::Reg(p1, r1)];
    program
}

/// Compares the results of the two engines on a program. Returns the number of states.
fn compare<P: Shared>(program: &Program, placement: &Placement, bounds: Bounds) -> u64 {
    // Queues are unlimited: the model has no wait for a shorter queue.
    let bounds = Bounds { queue_max: 64, ..bounds.in_full() };
    let (states, ends) = plain::<P>(program, placement, bounds);
    // Threads that wait for one another may wait for ever.
    let requirements = Requirements { allowed: None, may_block: true };
    let mut explorer = Explorer::new(&Subject::of::<P>(), bounds, None);
    let found = explorer
        .explore(program, placement, &requirements, &mut Limits::default())
        .expect("a supported program");
    assert!(found.incomplete.is_none() && !found.throttled);
    let what = || format!("{}, {bounds}, {placement}\n{program:?}", P::INFO.name);
    assert_eq!(found.violation, None, "{}", what());
    assert_eq!(found.states, states, "{}", what());
    assert_eq!(found.outcomes, ends, "{}", what());
    states
}

/// The fraction of generated programs that is compared: one in this number.
const ONE_IN: usize = 61;

/// The generated programs without features that the model of the independent engine lacks:
/// branches, fences and barriers. In every second program the synchronization is remote.
fn generated() -> impl Iterator<Item = (Program, Placement)> {
    let kinds = [Kind::Load, Kind::Store, Kind::SyncLoad, Kind::SyncStore, Kind::Await, Kind::Exchange];
    let bound =
        Bound { kinds: kinds.to_vec(), words_of_line_max: 2, compute_units_max: 2, ..Bound::new(2, 3, 2) };
    generate::programs(&bound).step_by(ONE_IN).enumerate().map(|(turn, generated)| {
        let mut program = generated.program;
        for instr in program.threads.iter_mut().flat_map(|thread| &mut thread.code) {
            if let Instr::Load { access, .. }
            | Instr::Store { access, .. }
            | Instr::Rmw { access, .. }
            | Instr::Await { access, .. } = instr
            {
                access.remote = turn % 2 == 1 && access.order.is_atomic();
            }
        }
        program.observed.retain(|term| matches!(term, Term::Reg(..)));
        let agents = generated.compute_units.iter().map(|&cu| Agent::Cu(u16::from(cu)));
        (program, Placement::new(agents.collect(), generated.lines))
    })
}

const POLICIES: [WritePolicy; 3] =
    [WritePolicy::Combining, WritePolicy::Through, WritePolicy::ThroughInvalidate];

fn same_counts<P: Shared>() {
    let (mut total, mut programs) = (0, 0);
    let machines = POLICIES.map(|policy| Bounds::new(policy, policy));
    for order in [true, false] {
        let placement = Placement::new(vec![Agent::Cu(0), Agent::Cu(1)], vec![0, 0, 1]);
        let program = message_passing(order);
        total += compare::<P>(&program, &placement, machines[0].evicting());
        // A bank with several lines writes one of them to memory and fetches another.
        total += compare::<P>(&program, &placement, Bounds { banks: 1, ..machines[0] }.tight());
        total +=
            machines.iter().map(|bounds| compare::<P>(&program, &placement, bounds.tight())).sum::<u64>();
    }
    for (turn, (program, placement)) in generated().enumerate() {
        let bounds = machines[turn % machines.len()];
        let bounds = if turn % 4 < 2 { bounds.evicting() } else { bounds.tight() };
        total += compare::<P>(&program, &placement, bounds);
        programs += 1;
    }
    assert!(programs > 10 && total > 5000, "{programs} {total}");
}

macro_rules! same_counts {
    ($($name:ident: $protocol:ty;)+) => {
        $(
            #[test]
            fn $name() {
                same_counts::<$protocol>();
            }
        )+
    };
}

same_counts! {
    stateright_finds_as_many_states_of_vi: zoo::vi::Vi;
    stateright_finds_as_many_states_of_vi_targeted: zoo::vi_targeted::ViTargeted;
    stateright_finds_as_many_states_of_no_l1: zoo::no_l1::NoL1;
    stateright_finds_as_many_states_of_rsp: zoo::rsp::Rsp;
    stateright_finds_as_many_states_of_hlrc_repaired: zoo::hlrc::HlrcRepaired;
    stateright_finds_as_many_states_of_denovo_b: zoo::denovo::DenovoB;
}
