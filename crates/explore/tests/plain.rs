//! An independent engine over the same controllers: it clones and compares whole
//! states, remembers no step, and merges none. It finds as many states.

use explore::{Asked, Bounds, Explorer, Limits, Placement};
use litmus::program::{
    Access, BinaryOp, Builder, Dialect, Expr, Instr, Level, LocId, Order, Program, Prop, Scopes, Term,
    ThreadId, ThreadSet,
};
use proto::{
    Agent, ByteMask, Effects, Hints, Homes, Issuer, Key, LineAddr, LineData, MemoryAccess, MemoryOp,
    MemoryReply, Node as _, Op, Protocol, Request, Scope, SetIndex, Shape, Slot, Station, Symbol, TimerClass,
    Way, Width, World, WritePolicy,
};
use std::collections::{BTreeMap, BTreeSet, VecDeque};

#[derive(Clone, PartialEq, Eq, Hash)]
struct State<P: Protocol> {
    stations: Vec<Station<P>>,
    timers: Vec<BTreeSet<usize>>,
    channels: BTreeMap<(usize, usize), VecDeque<P::Msg>>,
    asked: BTreeMap<(usize, u64), VecDeque<MemoryOp>>,
    answered: BTreeMap<(usize, u64), VecDeque<MemoryReply>>,
    memory: Vec<LineData>,
    /// Place, whether it waits, and registers.
    threads: Vec<(usize, bool, Vec<i64>)>,
}

struct Plain<'a, P: Protocol> {
    program: &'a Program,
    placement: &'a Placement,
    shape: Shape,
    params: P::Params,
    homes: Homes,
    nodes: Vec<proto::NodeId>,
    evictions: bool,
}

type Told<'t, P> = &'t dyn Fn(&mut Station<P>, World<'_, P>, &mut Effects<<P as Protocol>::Msg>);

impl<P: Protocol> Plain<'_, P> {
    fn node(&self, id: proto::NodeId) -> usize {
        self.nodes.iter().position(|&n| n == id).expect("a node of the machine")
    }

    fn entry(&self, thread: usize) -> usize {
        self.node(P::entry(self.placement.agents[thread]))
    }

    /// Two words a line.
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
        let op = match instr {
            Instr::Store { value: Expr::Const(value), .. } => {
                data.write(offset, Width::W4, *value as u64);
                Op::Store
            }
            _ => Op::Load,
        };
        let scope = access.scope.map(|scope| self.program.scopes.get(scope));
        let scope = scope.map_or(Scope::DEVICE, |s| match s.level {
            Level::Device => Scope::DEVICE,
            level => Scope { level, instance: s.instance },
        });
        Request {
            op,
            order: access.order,
            scope,
            issuer: Issuer { work_item: 0, wavefront: 0, work_group: thread as u32 },
            hints: Hints::default(),
            array: proto::ArrayId(0),
            line: LineAddr(line),
            mask: ByteMask::range(offset, 4),
            data,
        }
    }

    fn tell(&self, state: &mut State<P>, node: usize, told: Told<'_, P>) {
        let world = World::<P> { params: &self.params, homes: &self.homes, kernels: &[], mutation: None };
        let mut fx = Effects::default();
        told(&mut state.stations[node], world, &mut fx);
        assert_eq!(fx.violation, None);
        state.stations[node].node.canonicalize();
        for (to, msg) in fx.sends.drain(..) {
            state.channels.entry((node, self.node(to))).or_default().push_back(msg);
        }
        for op in fx.memory.drain(..) {
            state.asked.entry((node, op.line.0)).or_default().push_back(op);
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
            Instr::Load { dst, .. } => registers[usize::from(dst.0)] = read(),
            Instr::Await { value: Expr::Const(value), .. } if read() != *value => return,
            _ => {}
        }
        *pc += 1;
    }

    fn successors(&self, state: &State<P>) -> Option<Vec<State<P>>> {
        let mut all = Vec::new();
        let mut make = |change: &dyn Fn(&mut State<P>)| {
            let mut next = state.clone();
            change(&mut next);
            next.channels.retain(|_, queue| !queue.is_empty());
            next.asked.retain(|_, queue| !queue.is_empty());
            next.answered.retain(|_, queue| !queue.is_empty());
            all.push(next);
        };
        for (thread, (pc, waits, _)) in state.threads.iter().enumerate() {
            if !waits && *pc < self.program.threads[thread].code.len() {
                make(&|next| {
                    next.threads[thread].1 = true;
                    let request = self.request(thread, *pc);
                    let slot = Slot(8 * thread as u32);
                    self.tell(next, self.entry(thread), &|s, world, fx| s.request(slot, &request, world, fx));
                });
            }
        }
        for &(from, to) in state.channels.keys() {
            make(&|next| {
                let msg =
                    next.channels.get_mut(&(from, to)).and_then(VecDeque::pop_front).expect("a message");
                let sender = self.nodes[from];
                self.tell(next, to, &|s, world, fx| s.message(sender, msg.clone(), world, fx));
            });
        }
        for place in state.asked.keys() {
            make(&|next| {
                let op = next.asked.get_mut(place).and_then(VecDeque::pop_front).expect("an operation");
                let bytes = &mut next.memory[place.1 as usize];
                let data = match op.access {
                    MemoryAccess::Read => *bytes,
                    MemoryAccess::Write { mask, data } => {
                        bytes.merge(&data, mask);
                        LineData::default()
                    }
                    MemoryAccess::Rmw { rmw, mask, data } => rmw.perform(bytes, &data, mask),
                };
                next.answered.entry(*place).or_default().push_back(MemoryReply { op, data });
            });
        }
        for place in state.answered.keys() {
            make(&|next| {
                let reply = next.answered.get_mut(place).and_then(VecDeque::pop_front).expect("an answer");
                self.tell(next, place.0, &|s, world, fx| s.memory(&reply, world, fx));
            });
        }
        for (node, classes) in state.timers.iter().enumerate() {
            for &class in classes {
                make(&|next| {
                    next.timers[node].remove(&class);
                    self.tell(next, node, &|s, world, fx| s.timer(TimerClass::ALL[class], world, fx));
                });
            }
        }
        let victims = |node: usize| {
            let mut victims = Vec::new();
            state.stations[node].node.victims(SetIndex(0), &mut victims);
            victims
        };
        for needed in [true, false] {
            if !needed && all.is_empty() {
                let lengths = self.program.threads.iter().map(|t| t.code.len());
                assert!(state.threads.iter().map(|t| t.0).eq(lengths), "the program is over");
                return None;
            }
            let mut make = |change: &dyn Fn(&mut State<P>)| {
                let mut next = state.clone();
                change(&mut next);
                all.push(next);
            };
            for node in 0..self.nodes.len() {
                let needs = state.stations[node].parked_count(Key::Way(SetIndex(0))) > 0;
                if needs == needed && (needs || self.evictions) {
                    for (Way(way), _) in victims(node) {
                        make(&|next| {
                            self.tell(next, node, &|s, world, fx| s.evict(Way(way), world, fx));
                        });
                    }
                }
            }
        }
        Some(all)
    }

    fn start(&self) -> State<P> {
        let lines = self.placement.lines.iter().max().map_or(0, |&line| usize::from(line) + 1);
        State {
            stations: self.nodes.iter().map(|&id| Station::new(id, &self.params)).collect(),
            timers: vec![BTreeSet::new(); self.nodes.len()],
            channels: BTreeMap::new(),
            asked: BTreeMap::new(),
            answered: BTreeMap::new(),
            memory: vec![LineData::default(); lines],
            threads: self.program.threads.iter().map(|t| (0, false, vec![0; t.registers.len()])).collect(),
        }
    }
}

/// How many states there are, and which registers they end with.
fn plain<P: Protocol>(program: &Program, placement: &Placement, bounds: Bounds) -> (u64, BTreeSet<Vec<i64>>) {
    let shape = bounds.shape(placement.compute_units(), 8);
    let engine = Plain::<P> {
        program,
        placement,
        shape,
        params: P::params(&shape).expect("a sound shape"),
        homes: Homes::new(&shape, 1),
        nodes: proto::nodes::<P>(&shape).collect(),
        evictions: bounds.evictions,
    };
    assert_eq!(engine.shape.line_bytes, 8);
    let start = engine.start();
    let mut seen: rustc_hash::FxHashSet<State<P>> = [start.clone()].into_iter().collect();
    let mut open = vec![start];
    let mut ends = BTreeSet::new();
    while let Some(state) = open.pop() {
        match engine.successors(&state) {
            None => {
                ends.insert(state.threads.iter().flat_map(|t| t.2.iter().copied()).collect());
            }
            Some(all) => open.extend(all.into_iter().filter(|next| seen.insert(next.clone()))),
        }
    }
    (seen.len() as u64, ends)
}

/// A message passes from one work-group to another, whose cache has a stale copy.
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

fn same_counts<P: Protocol>() {
    let mut total = 0;
    for order in [true, false] {
        let program = message_passing(order);
        let placement = Placement { agents: vec![Agent::Cu(0), Agent::Cu(1)], lines: vec![0, 0, 1] };
        for policy in [WritePolicy::Combining, WritePolicy::Through, WritePolicy::ThroughInvalidate] {
            for bounds in [Bounds::new(policy, policy).evicting(), Bounds::new(policy, policy).tight()] {
                let bounds = bounds.in_full();
                let (states, ends) = plain::<P>(&program, &placement, bounds);
                let mut explorer = Explorer::<P>::new(bounds, None);
                let found = explorer
                    .explore(&program, &placement, &Asked::default(), &mut Limits::default())
                    .expect("a supported program");
                assert!(found.incomplete.is_none() && !found.throttled);
                assert_eq!(found.states, states, "{} {bounds:?}", P::INFO.name);
                assert_eq!(found.outcomes, ends, "{} {bounds:?}", P::INFO.name);
                total += states;
            }
        }
    }
    assert!(total > 5000, "{total}");
}

#[test]
fn an_independent_engine_finds_as_many_states_of_vi() {
    same_counts::<zoo::vi::Vi>();
}

#[test]
fn an_independent_engine_finds_as_many_states_of_no_l1() {
    same_counts::<zoo::no_l1::NoL1>();
}
