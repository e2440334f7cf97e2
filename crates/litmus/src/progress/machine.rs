//! Executes the threads of a test step by step over one memory.

use crate::exec::live::live_registers;
use crate::program::{Access, Barrier, Expr, Instr, Program, Reg, ScopeId, ThreadId, Value, value_address};

/// The maximum number of instructions without memory access (assignments, branches and jumps) that
/// one call of `settle` executes. The function `settle` runs a thread up to its next memory
/// instruction.
const LOCAL_MAX: usize = 64;

/// A barrier, given by the scope instance whose threads meet, its number in the test, and the
/// number of its barrier resource.
type BarrierKey = (ScopeId, Value, Value);

/// A state of a run: the positions and registers of all threads, the memory, and the arrivals at
/// barriers.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(super) struct State {
    pub(super) threads: Vec<ThreadState>,
    pub(super) memory: Vec<Value>,
    /// For each barrier, the threads that have arrived, as a bit set.
    barriers: Vec<(BarrierKey, u64)>,
    /// The threads that have taken a step, as a bit set.
    pub(super) stepped: u64,
}

#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(super) struct ThreadState {
    pub(super) pc: usize,
    registers: Vec<Value>,
    /// Whether the thread waits at a barrier.
    pub(super) waits: bool,
}

/// Executes the threads of a program over one memory.
pub(super) struct Machine<'p> {
    program: &'p Program,
    live: Vec<Vec<Vec<bool>>>,
}

/// An error: a thread has undefined behaviour. The search then ignores the run.
struct Fault;

impl<'p> Machine<'p> {
    pub(super) fn new(program: &'p Program) -> Machine<'p> {
        let threads = (0..program.threads.len()).map(|t| ThreadId(t as u8));
        Machine { program, live: threads.map(|thread| live_registers(program, thread)).collect() }
    }

    pub(super) fn start(&self) -> State {
        let thread = |thread: &crate::program::Thread| ThreadState {
            pc: 0,
            registers: thread.registers.iter().map(|r| r.init).collect(),
            waits: false,
        };
        State {
            threads: self.program.threads.iter().map(thread).collect(),
            memory: self.program.locations.iter().map(|l| l.init).collect(),
            barriers: Vec::new(),
            stepped: 0,
        }
    }

    fn ended(&self, thread: usize, pc: usize) -> bool {
        pc >= self.program.threads[thread].code.len()
    }

    /// The threads that have not ended, as a bit set.
    pub(super) fn unfinished(&self, state: &State) -> u64 {
        let threads = state.threads.iter().enumerate();
        threads.filter(|&(t, s)| !self.ended(t, s.pc)).fold(0, |set, (t, _)| set | 1 << t)
    }

    /// The state after a step of the thread. `None` if the thread cannot take a step, or if the
    /// step has undefined behaviour.
    pub(super) fn step(&self, from: &State, thread: usize) -> Option<State> {
        let here = &from.threads[thread];
        if here.waits || self.ended(thread, here.pc) {
            return None;
        }
        let mut next = from.clone();
        next.stepped |= 1 << thread;
        // Instructions that only compute or jump are executed together with the memory instruction
        // before or after them.
        self.settle(&mut next.threads[thread], thread).ok()?;
        if !self.ended(thread, next.threads[thread].pc) {
            self.instruction(&mut next, thread).ok()?;
            for t in 0..next.threads.len() {
                if next.stepped >> t & 1 == 1 && !next.threads[t].waits {
                    self.settle(&mut next.threads[t], t).ok()?;
                }
            }
        }
        for (t, state) in next.threads.iter_mut().enumerate() {
            let live = &self.live[t][state.pc.min(self.program.threads[t].code.len())];
            let registers = state.registers.iter_mut().zip(live);
            registers.filter(|(_, live)| !**live).for_each(|(value, _)| *value = 0);
        }
        Some(next)
    }

    /// Executes instructions of a thread that only compute or jump, up to the next memory
    /// instruction.
    fn settle(&self, state: &mut ThreadState, thread: usize) -> Result<(), Fault> {
        let code = &self.program.threads[thread].code;
        for _ in 0..LOCAL_MAX {
            match code.get(state.pc) {
                Some(Instr::Assign { dst, value }) => {
                    state.registers[usize::from(dst.0)] = eval(value, &state.registers)?;
                    state.pc += 1;
                }
                Some(Instr::Jump { target }) => state.pc = *target,
                Some(Instr::Branch { cond, target, .. }) => {
                    let taken = eval(cond, &state.registers)? != 0;
                    state.pc = if taken { *target } else { state.pc + 1 };
                }
                _ => return Ok(()),
            }
        }
        Ok(())
    }

    fn instruction(&self, state: &mut State, thread: usize) -> Result<(), Fault> {
        let pc = state.threads[thread].pc;
        let registers = state.threads[thread].registers.clone();
        let value = |expr: &Expr| eval(expr, &registers);
        match &self.program.threads[thread].code[pc] {
            Instr::Load { dst, access } => {
                let read = state.memory[self.word(access, &registers)?];
                state.threads[thread].registers[usize::from(dst.0)] = read;
            }
            Instr::Store { access, value: stored } => {
                let word = self.word(access, &registers)?;
                state.memory[word] = value(stored)?;
            }
            Instr::Rmw { dst, access, op, operand } => {
                let word = self.word(access, &registers)?;
                let old = state.memory[word];
                state.memory[word] = op.apply(old, value(operand)?);
                set(&mut state.threads[thread], *dst, old);
            }
            Instr::Cas(cas) => {
                let word = self.word(&cas.access, &registers)?;
                let old = state.memory[word];
                let succeeds = old == value(&cas.expected)?;
                if succeeds {
                    state.memory[word] = value(&cas.desired)?;
                }
                set(&mut state.threads[thread], cas.success, Value::from(succeeds));
                set(&mut state.threads[thread], cas.dst, old);
            }
            Instr::Await { dst, access, cmp, value: wanted } => {
                let read = state.memory[self.word(access, &registers)?];
                let holds = Expr::binary(*cmp, Expr::Const(read), Expr::Const(value(wanted)?));
                if eval(&holds, &registers)? == 0 {
                    // The condition of the `await` does not hold, so the thread reads the word
                    // again in its next step.
                    return Ok(());
                }
                set(&mut state.threads[thread], *dst, read);
            }
            Instr::Barrier(barrier) => return self.arrive(state, thread, barrier, &registers),
            Instr::Fence(_) => {}
            // The thread has executed `LOCAL_MAX` instructions without a memory access. It may be
            // in an infinite loop, so the step ends here.
            Instr::Assign { .. } | Instr::Branch { .. } | Instr::Jump { .. } => return Ok(()),
        }
        state.threads[thread].pc += 1;
        Ok(())
    }

    fn word(&self, access: &Access, registers: &[Value]) -> Result<usize, Fault> {
        let loc = value_address(eval(&access.address, registers)?).ok_or(Fault)?;
        let location = self.program.locations.get(usize::from(loc.0)).ok_or(Fault)?;
        Ok(usize::from(location.physical.0))
    }

    fn arrive(
        &self,
        state: &mut State,
        thread: usize,
        barrier: &Barrier,
        registers: &[Value],
    ) -> Result<(), Fault> {
        let id = eval(&barrier.id, registers)?;
        let key = (barrier.group, barrier.instance, id);
        if barrier.arrive {
            state.threads[thread].pc += 1;
        } else {
            state.threads[thread].waits = true;
        }
        let at = state.barriers.iter().position(|(own, _)| *own == key).unwrap_or_else(|| {
            state.barriers.push((key, 0));
            state.barriers.len() - 1
        });
        state.barriers[at].1 |= 1 << thread;
        let came = state.barriers[at].1;
        let met = match &barrier.quorum {
            Some(count) => i64::from(came.count_ones()) >= eval(count, registers)?,
            None => self.expected(barrier, id) & !came == 0,
        };
        if met {
            state.barriers.remove(at);
            for (other, of) in state.threads.iter_mut().enumerate() {
                if came >> other & 1 == 1 && of.waits && self.waits_at(other, of, key) {
                    of.waits = false;
                    of.pc += 1;
                }
            }
        }
        // Sorting gives equal states the same representation.
        state.barriers.sort_unstable();
        Ok(())
    }

    fn waits_at(&self, thread: usize, state: &ThreadState, key: BarrierKey) -> bool {
        match self.program.threads[thread].code.get(state.pc) {
            Some(Instr::Barrier(b)) => {
                let id = eval(&b.id, &state.registers).ok();
                (b.group, b.instance) == (key.0, key.1) && id == Some(key.2)
            }
            _ => false,
        }
    }

    /// The threads for which a barrier without a `quorum` (a thread count) waits, as a bit set: the
    /// threads of its group (a scope instance) whose code has this barrier with the resource number
    /// `id`, or with a resource number that is not a constant.
    fn expected(&self, barrier: &Barrier, id: Value) -> u64 {
        let may_come = |thread: ThreadId| {
            self.program.thread(thread).code.iter().any(|instr| match instr {
                Instr::Barrier(own) => {
                    let same = (own.group, own.instance) == (barrier.group, barrier.instance);
                    same && own.id.as_const().is_none_or(|number| number == id)
                }
                _ => false,
            })
        };
        let members = self.program.scopes.get(barrier.group).members;
        members.iter().filter(|&t| may_come(t)).fold(0, |set, t| set | 1 << t.0)
    }
}

fn set(state: &mut ThreadState, dst: Option<Reg>, value: Value) {
    if let Some(dst) = dst {
        state.registers[usize::from(dst.0)] = value;
    }
}

/// The value of an expression over the registers. The address of a location is a value too. Fails
/// if the expression divides by zero.
fn eval(expr: &Expr, registers: &[Value]) -> Result<Value, Fault> {
    expr.eval(registers).map_err(|_| Fault)
}
