//! Builds programs in Rust code instead of parsing them.

use super::{
    Access, Condition, Dialect, Expr, Instr, LocId, Location, Order, Program, Prop, Quantifier, Reg, Region,
    Register, Scopes, Thread, ThreadId, Value, scope::ScopeId,
};

/// Builds a [`Program`] step by step.
///
/// ```
/// use litmus::program::{Builder, Dialect, Level, Order, Prop, Scopes, Term, ThreadId, ThreadSet};
/// let mut scopes = Scopes::flat(2);
/// let device = scopes.add(Level::Device, "device", 0, ThreadSet::first(2));
/// let mut b = Builder::new("MP", Dialect::OpenCl, scopes, 2);
/// let (x, flag) = (b.location("x", 0), b.location("flag", 0));
/// let (p0, p1) = (ThreadId(0), ThreadId(1));
/// b.store(p0, x, 1);
/// b.store_atomic(p0, flag, 1, Order::Release, device);
/// let r0 = b.load_atomic(p1, "r0", flag, Order::Acquire, device);
/// let r1 = b.load(p1, "r1", x);
/// let program = b.exists(Prop::And(vec![
///     Prop::equals(Term::Reg(p1, r0), 1),
///     Prop::equals(Term::Reg(p1, r1), 0),
/// ]));
/// assert_eq!(program.threads[1].code.len(), 2);
/// ```
#[derive(Clone, Debug)]
pub struct Builder {
    program: Program,
}

impl Builder {
    /// Begins a program with `threads` threads. The threads have no instructions yet.
    #[must_use]
    pub fn new(name: &str, dialect: Dialect, scopes: Scopes, threads: usize) -> Builder {
        Builder {
            program: Program {
                name: name.to_owned(),
                dialect,
                locations: Vec::new(),
                scopes,
                threads: vec![Thread::default(); threads],
                system_order: Vec::new(),
                filter: None,
                condition: Condition { quantifier: Quantifier::Exists, prop: Prop::True },
                observed: Vec::new(),
            },
        }
    }

    /// Adds a word of global memory with an initial value. Returns its location.
    pub fn location(&mut self, name: &str, init: Value) -> LocId {
        let id = LocId(self.program.locations.len() as u16);
        self.program.locations.push(Location {
            name: name.to_owned(),
            init,
            region: Region::Global,
            atomic: true,
            physical: id,
            generic: id,
            object: id.0,
        });
        id
    }

    /// The register of the thread with this name. Adds the register if it is new.
    pub fn register(&mut self, thread: ThreadId, name: &str) -> Reg {
        let thread = &mut self.program.threads[usize::from(thread.0)];
        thread.register(name).unwrap_or_else(|| {
            thread.registers.push(Register { name: name.to_owned(), init: 0 });
            Reg((thread.registers.len() - 1) as u16)
        })
    }

    /// Appends an instruction to the code of the thread, and returns its position in the code.
    pub fn push(&mut self, thread: ThreadId, instr: Instr) -> usize {
        let thread = &mut self.program.threads[usize::from(thread.0)];
        thread.code.push(instr);
        thread.lines.push(0);
        thread.code.len() - 1
    }

    /// Appends a plain store of a number.
    pub fn store(&mut self, thread: ThreadId, loc: LocId, value: Value) {
        let access = Access::plain(Expr::Addr(loc));
        self.push(thread, Instr::Store { access, value: Expr::Const(value) });
    }

    /// Appends an atomic store of a number.
    pub fn store_atomic(&mut self, thread: ThreadId, loc: LocId, value: Value, order: Order, scope: ScopeId) {
        let access = Access::atomic(Expr::Addr(loc), order, scope);
        self.push(thread, Instr::Store { access, value: Expr::Const(value) });
    }

    /// Appends a plain load into the register with this name. Returns the register.
    pub fn load(&mut self, thread: ThreadId, name: &str, loc: LocId) -> Reg {
        let dst = self.register(thread, name);
        self.push(thread, Instr::Load { dst, access: Access::plain(Expr::Addr(loc)) });
        dst
    }

    /// Appends an atomic load into the register with this name. Returns the register.
    pub fn load_atomic(
        &mut self,
        thread: ThreadId,
        name: &str,
        loc: LocId,
        order: Order,
        scope: ScopeId,
    ) -> Reg {
        let dst = self.register(thread, name);
        self.push(thread, Instr::Load { dst, access: Access::atomic(Expr::Addr(loc), order, scope) });
        dst
    }

    /// Finishes the program and returns it. The condition of the program is that some final state
    /// has the property `prop`.
    #[must_use]
    pub fn exists(mut self, prop: Prop) -> Program {
        self.program.condition = Condition { quantifier: Quantifier::Exists, prop };
        self.program
    }
}
