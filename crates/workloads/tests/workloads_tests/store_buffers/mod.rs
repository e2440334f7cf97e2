//! A test machine in which each wavefront has a store buffer. A read may be performed before older
//! stores of its wavefront, unless the memory order forbids it. The machine records all atomic
//! accesses.
//!
//! The machine performs one operation or one buffered store at a time, in a random order. A
//! sequentially consistent access, a read-modify-write and the end of a wavefront drain the buffer
//! first.

use std::collections::VecDeque;

use kernel::rng::Rng;
use kernel::{
    Action, Answer, Coords, OpId, Polled, Posted, Program, Semantics, Session, Shape, Space, WaveTask,
};
use proto::{Order, Width};

/// An atomic access that a wavefront performed.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Atomic {
    pub(crate) kernel: u16,
    pub(crate) at: Coords,
    pub(crate) action: Action,
    pub(crate) semantics: Semantics,
    pub(crate) addr: u64,
}

struct Wave {
    task: WaveTask,
    group: usize,
    queue: VecDeque<OpId>,
    waits_for: Option<OpId>,
    ended: bool,
    buffer: VecDeque<(u64, Width, u64)>,
    at_barrier: Option<OpId>,
}

/// The test machine: its memory, its wavefronts and its record of atomic accesses.
pub(crate) struct Machine {
    session: Session,
    memory: Vec<u8>,
    waves: Vec<Wave>,
    lds: Vec<Vec<u8>>,
    host: VecDeque<OpId>,
    launch: Option<(OpId, u32)>,
    buffers: bool,
    rng: Rng,
    pub(crate) atomics: Vec<Atomic>,
}

fn read(memory: &[u8], addr: u64, width: Width) -> u64 {
    let mut word = [0; 8];
    let at = addr as usize;
    if at < memory.len() {
        word[..width.bytes()].copy_from_slice(&memory[at..at + width.bytes()]);
    }
    u64::from_le_bytes(word)
}

fn write(memory: &mut Vec<u8>, addr: u64, bytes: &[u8]) {
    let end = addr as usize + bytes.len();
    memory.resize(memory.len().max(end.next_multiple_of(8)), 0);
    memory[addr as usize..end].copy_from_slice(bytes);
}

/// Performs the accesses of all lanes of one operation on `memory`.
fn perform(op: &mut Posted, memory: &mut Vec<u8>) {
    for lane in op.exec.iter() {
        let (addr, width) = (op.addr(lane).0, op.width);
        let old = read(memory, addr, width);
        let new = match op.action {
            Action::Load => old,
            Action::Store => op.value(lane),
            _ => op.rmw(lane).map_or(old, |rmw| rmw.apply(old, op.value(lane))),
        };
        if op.action != Action::Load {
            write(memory, addr, &new.to_le_bytes()[..width.bytes()]);
        }
        if op.action != Action::Store {
            op.set_value(lane, old);
        }
    }
}

/// Runs a program on the test machine. Returns the answer of the program, and the machine with its
/// record of atomic accesses. `buffers` says whether wavefronts have store buffers.
pub(crate) fn run(program: Program, shape: Shape, buffers: bool, seed: u64) -> (Answer, Machine) {
    let mut machine = Machine {
        session: Session::new(program, shape),
        memory: Vec::new(),
        waves: Vec::new(),
        lds: Vec::new(),
        host: VecDeque::new(),
        launch: None,
        buffers,
        rng: Rng::new(seed),
        atomics: Vec::new(),
    };
    machine.poll_host();
    loop {
        if let Some(id) = machine.host.pop_front() {
            machine.host_op(id);
        } else if machine.waves.is_empty() {
            let answer = machine.session.answer().cloned();
            return (answer.unwrap_or_default(), machine);
        } else {
            machine.step();
        }
    }
}

impl Machine {
    fn poll_host(&mut self) {
        if let Polled::Faulted(fault) = self.session.poll_host() {
            panic!("{fault}");
        }
        let mut ops = self.session.ops();
        self.host.extend(ops.posted());
        ops.clear_posted();
    }

    fn host_op(&mut self, id: OpId) {
        let mut ops = self.session.ops();
        let op = ops.get_mut(id);
        let (base, action) = (op.base().0, op.action);
        match action {
            Action::HostWrite => write(&mut self.memory, base, &op.bulk),
            Action::HostRead => {
                let end = base as usize + op.bulk.len();
                self.memory.resize(self.memory.len().max(end), 0);
                op.bulk.copy_from_slice(&self.memory[base as usize..end]);
            }
            Action::Launch(kernel) => {
                drop(ops);
                let grid = self.session.launch(kernel).grid;
                self.launch = Some((id, grid.work_groups * grid.waves));
                self.lds = vec![vec![0; grid.lds_bytes as usize]; grid.work_groups as usize];
                for (work_group, wave) in
                    (0..grid.work_groups).flat_map(|g| (0..grid.waves).map(move |w| (g, w)))
                {
                    let task =
                        self.session.spawn(kernel, Coords { work_group, wave, compute_unit: work_group });
                    self.waves.push(Wave {
                        task,
                        group: work_group as usize,
                        queue: VecDeque::new(),
                        waits_for: None,
                        ended: false,
                        buffer: VecDeque::new(),
                        at_barrier: None,
                    });
                    self.poll(self.waves.len() - 1);
                }
                return;
            }
            other => panic!("the host does {other:?}"),
        }
        ops.complete(id);
        drop(ops);
        self.poll_host();
    }

    fn poll(&mut self, index: usize) {
        let wave = &mut self.waves[index];
        wave.waits_for = None;
        match wave.task.poll() {
            Polled::Waiting(id) => wave.waits_for = Some(id),
            Polled::Ended => wave.ended = true,
            Polled::Faulted(fault) => panic!("{fault}"),
        }
        let mut ops = self.session.ops();
        wave.queue.extend(ops.posted());
        ops.clear_posted();
    }

    fn complete(&mut self, index: usize, id: OpId) {
        self.session.ops().complete(id);
        if self.waves[index].waits_for == Some(id) {
            self.poll(index);
        }
    }

    /// Picks a random wavefront, and performs one of its buffered stores or operations, if it has
    /// any.
    fn step(&mut self) {
        let index = self.rng.below(self.waves.len() as u64) as usize;
        let wave = &mut self.waves[index];
        let drains = wave.queue.is_empty() || self.rng.below(8) == 0;
        if drains && let Some((addr, width, value)) = wave.buffer.pop_front() {
            return write(&mut self.memory, addr, &value.to_le_bytes()[..width.bytes()]);
        }
        match wave.queue.pop_front() {
            Some(id) => self.operation(index, id),
            None if wave.ended => self.retire(index),
            None => {}
        }
    }

    fn retire(&mut self, index: usize) {
        self.waves.swap_remove(index);
        let Some((id, left)) = self.launch.take() else { return };
        if left > 1 {
            self.launch = Some((id, left - 1));
            return;
        }
        self.session.ops().complete(id);
        self.poll_host();
    }

    fn operation(&mut self, index: usize, id: OpId) {
        let wave = &mut self.waves[index];
        let mut ops = self.session.ops();
        let op = ops.get_mut(id);
        match (op.action, op.space) {
            (Action::Barrier, _) => {
                drop(ops);
                return self.barrier(index, id);
            }
            (_, Space::Lds) => perform(op, &mut self.lds[wave.group]),
            (Action::Load | Action::Store | Action::Rmw { .. }, Space::Global) => {
                let (action, semantics) = (op.action, op.semantics);
                if semantics.order.is_atomic() {
                    let (kernel, at) = (wave.task.kernel().0, wave.task.at());
                    let addr = op.addr(op.exec.first().unwrap_or(0)).0;
                    self.atomics.push(Atomic { kernel, at, action, semantics, addr });
                }
                let waits = semantics.order == Order::SeqCst || matches!(action, Action::Rmw { .. });
                if action == Action::Store && self.buffers && !waits {
                    let lanes = op.exec.iter().map(|lane| (op.addr(lane).0, op.width, op.value(lane)));
                    wave.buffer.extend(lanes);
                } else if waits || wave.buffer.is_empty() {
                    for (addr, width, value) in wave.buffer.drain(..) {
                        write(&mut self.memory, addr, &value.to_le_bytes()[..width.bytes()]);
                    }
                    perform(op, &mut self.memory);
                } else {
                    for lane in op.exec.iter() {
                        let (addr, width) = (op.addr(lane).0, op.width);
                        let own = wave.buffer.iter().rev().find(|b| (b.0, b.1) == (addr, width));
                        op.set_value(lane, own.map_or_else(|| read(&self.memory, addr, width), |b| b.2));
                    }
                }
            }
            other => panic!("a wavefront does {other:?}"),
        }
        drop(ops);
        self.complete(index, id);
    }

    fn barrier(&mut self, index: usize, id: OpId) {
        self.waves[index].at_barrier = Some(id);
        let group = self.waves[index].group;
        let mates: Vec<usize> = (0..self.waves.len()).filter(|&i| self.waves[i].group == group).collect();
        if mates.iter().any(|&i| self.waves[i].at_barrier.is_none()) {
            return;
        }
        for mate in mates {
            if let Some(id) = self.waves[mate].at_barrier.take() {
                self.complete(mate, id);
            }
        }
    }
}
