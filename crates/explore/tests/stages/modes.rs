//! A toy that refuses an access unless a kernel has begun on the compute unit
//! and declares the array and the mode.

#![allow(unreachable_pub, missing_docs, reason = "the macro of the contract writes public items")]

use explore::{Asked, Bounds, Explorer, Explores as _, Limits, Placement};
use litmus::program::Program;
use proto::issue::IssueRule;
use proto::parts::Host;
use proto::{
    AccessMode, Agent, Ask, Channels, Claim, Controller, Cx, Disposition, Info, Input, KernelId, Key, Kind,
    Levels, MemoryAccess, MemoryOp, MemoryTag, NoMessage, NodeId, Op, Per, PlanKey, PlansView, Protocol,
    Settings, Sharing, TableView, WritePolicy, protocol_nodes,
};

const GATE: u8 = 0;
const HOST: u8 = 1;
const SENT: u8 = 1;

/// The port of a compute unit: every access is performed in memory.
#[derive(Clone, Debug, Default, PartialEq, Eq, Hash)]
pub struct Gate {
    kernel: Option<KernelId>,
}

impl Gate {
    fn request<P: Protocol>(&mut self, ask: Ask<'_>, cx: &mut Cx<'_, P>) -> Disposition {
        let (mask, data) = (ask.req.mask, ask.req.data);
        let (access, modes) = match ask.req.op {
            Op::KernelBegin(_) | Op::KernelEnd(_) | Op::Fence => {
                self.kernel = match ask.req.op {
                    Op::KernelBegin(kernel) => Some(kernel),
                    Op::KernelEnd(_) => None,
                    _ => self.kernel,
                };
                cx.fx.accept(ask.slot);
                return Disposition::Done;
            }
            Op::Load => (MemoryAccess::Read, [AccessMode::Read, AccessMode::ReadWrite]),
            Op::Store => (MemoryAccess::Write { mask, data }, [AccessMode::Write, AccessMode::ReadWrite]),
            Op::Rmw(rmw) => (MemoryAccess::Rmw { rmw, mask, data }, [AccessMode::ReadWrite; 2]),
        };
        if cx.stage == SENT {
            match ask.req.reads() {
                true => cx.fx.reply(ask.slot, *ask.data),
                false => cx.fx.accept(ask.slot),
            }
            return Disposition::Done;
        }
        let Some(kernel) = self.kernel else { return Disposition::Impossible("no kernel has begun here") };
        let mut uses = cx.world.kernels.get(usize::from(kernel.0)).into_iter().flatten();
        if !uses.any(|of| of.array == ask.req.array && of.first == ask.req.line && modes.contains(&of.mode)) {
            return Disposition::Impossible("the kernel does not declare that access");
        }
        cx.fx.uses.bypasses += 1;
        let tag = MemoryTag { node: cx.me, slot: ask.slot, note: 0 };
        cx.fx.memory.push(MemoryOp { line: ask.req.line, access, tag });
        cx.stage = SENT;
        Disposition::Stall(Key::Slot(ask.slot))
    }
}

impl<P: Protocol> Controller<P> for Gate {
    type Msg = NoMessage;

    fn step(&mut self, input: Input<'_, NoMessage>, cx: &mut Cx<'_, P>) -> Disposition {
        match input {
            Input::Request(ask) => return self.request(ask, cx),
            Input::Memory(reply) => cx.fx.resume_with(reply.op.tag.slot, reply.data),
            Input::Message { msg, .. } => match *msg {},
            Input::Evict(_) | Input::Timer(_) => return Disposition::Impossible("nobody asked for it"),
            Input::Tick { .. } => {}
        }
        Disposition::Done
    }

    fn is_quiet(&self) -> bool {
        true
    }
}

#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct Declared;

protocol_nodes! { Declared: Gate(Gate, NoMessage), Host(Host) }

impl Protocol for Declared {
    type Node = Node;
    type Msg = Msg;
    type Params = ();
    const INFO: Info = Info {
        name: "declared",
        summary: "kernels say which arrays they use, and everything is in memory",
        source: "this test",
        claims: &[Claim {
            model: "drf",
            cores: IssueRule::GPUS,
            mapping: "each operation as a request of the same order",
        }],
        channels: Channels::Fifo,
        sharing: Sharing::Unscoped,
        equivalent: &[],
    };
    const KINDS: &'static [Kind] =
        &[Kind::port("Gate", "l1", Per::Cu), Kind::port("Host", "host", Per::Host)];

    fn params(_: &Levels, _: &Settings) -> Result<(), String> {
        Ok(())
    }

    fn node(id: NodeId, _: &Levels, (): &()) -> Node {
        match id.kind {
            GATE => Node::Gate(Gate::default()),
            _ => Node::Host(Host),
        }
    }

    fn entry((): &(), agent: Agent, _: PlanKey) -> NodeId {
        match agent {
            Agent::Cu(index) => NodeId { kind: GATE, index },
            Agent::CommandProcessor => NodeId { kind: GATE, index: 0 },
            Agent::Host(index) => NodeId { kind: HOST, index },
        }
    }

    fn tables() -> Vec<TableView> {
        Vec::new()
    }

    fn plans() -> Vec<PlansView> {
        Vec::new()
    }
}

/// A kernel writes, the host reads and writes, and a kernel reads.
const PASSED_ON: &str = "OPENCL passed-on
{ }

P0@wg 0, dev 0 (global int* x, global int* y) {
  *x = 1;
  int r0 = *y;
}

P1@wg 1, dev 0 (global int* x) {
  int r0 = *x;
  *x = 2;
}

P2@wg 2, dev 0 (global int* x) {
  int r0 = atomic_fetch_add_explicit(x, 1, memory_order_relaxed, memory_scope_device);
}

exists (1:r0=1 /\\ 2:r0=2 /\\ x=3)
";

fn explore(stages: &[u8]) -> Option<String> {
    let program: Program = litmus::parse::parse(PASSED_ON).expect("it is a test");
    let agents = vec![Agent::Cu(0), Agent::Host(0), Agent::Cu(1)];
    let placement = Placement { agents, stages: stages.to_vec(), ..Placement::spread(&program) };
    let bounds = Bounds::new(WritePolicy::Through, WritePolicy::Through);
    let mut explorer = Explorer::<Declared>::new(bounds, None);
    let found = explorer.explore(&program, &placement, &Asked::default(), &mut Limits::default());
    let found = found.expect("the machine has all that the program needs");
    if found.violation.is_none() {
        assert_eq!(found.outcomes.len(), 1, "stages follow one another: {:?}", found.outcomes);
    }
    found.violation.map(|violation| violation.why)
}

#[test]
fn a_kernel_begins_before_its_accesses_and_declares_them() {
    assert_eq!(explore(&[0, 1, 2]), None);
}

#[test]
fn without_stages_no_kernel_begins() {
    let why = explore(&[]).expect("accesses come outside of kernels");
    assert!(why.contains("no kernel has begun here"), "{why}");
}
