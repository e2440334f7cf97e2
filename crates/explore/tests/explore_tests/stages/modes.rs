//! A toy protocol that rejects an access unless a kernel has begun on the compute unit and declares
//! the accessed array with a suitable mode.

#![allow(unreachable_pub, missing_docs, reason = "the macro of the contract writes public items")]

use crate::toys;
use explore::{Bounds, Explorer, Limits, Placement, Requirements, Subject};
use litmus::program::Program;
use proto::parts::Host;
use proto::{
    AccessMode, Agent, Controller, Cx, Disposition, Info, Input, KernelId, Kind, Levels, NoMessage, NodeId,
    Op, Per, PlanKey, Protocol, RequestInput, Settings, WritePolicy, protocol_nodes,
};

const GATE: u8 = 0;
const HOST: u8 = 1;

/// The port of a compute unit: every access is performed in memory.
#[derive(Clone, Debug, Default, PartialEq, Eq, Hash)]
pub struct Gate {
    kernel: Option<KernelId>,
}

impl Gate {
    fn request<P: Protocol>(&mut self, ask: RequestInput<'_>, cx: &mut Cx<'_, P>) -> Disposition {
        let modes = match ask.req.op {
            Op::KernelBegin(kernel) => {
                self.kernel = Some(kernel);
                None
            }
            Op::KernelEnd(_) => {
                self.kernel = None;
                None
            }
            Op::Fence => None,
            Op::Load => Some([AccessMode::Read, AccessMode::ReadWrite]),
            Op::Store => Some([AccessMode::Write, AccessMode::ReadWrite]),
            Op::Rmw(_) => Some([AccessMode::ReadWrite; 2]),
        };
        if let (0, Some(modes)) = (cx.stage, modes) {
            let Some(kernel) = self.kernel else {
                return Disposition::Impossible("no kernel has begun here");
            };
            let mut uses = cx.world.kernels.get(usize::from(kernel.0)).into_iter().flatten();
            let (array, line) = (ask.req.array, ask.req.line);
            if !uses.any(|of| of.array == array && of.first == line && modes.contains(&of.mode)) {
                return Disposition::Impossible("the kernel does not declare that access");
            }
        }
        Host.step(Input::Request(ask), cx)
    }
}

impl<P: Protocol> Controller<P> for Gate {
    type Msg = NoMessage;

    fn step(&mut self, input: Input<'_, NoMessage>, cx: &mut Cx<'_, P>) -> Disposition {
        match input {
            Input::Request(ask) => self.request(ask, cx),
            other => Host.step(other, cx),
        }
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
        ..toys::INFO
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
        agent.enters(GATE, HOST)
    }

    toys::no_tables! {}
}

/// A program in which a kernel writes, the host reads and writes, and another kernel reads.
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
    let mut explorer = Explorer::new(&Subject::of::<Declared>(), bounds, None);
    let found = explorer.explore(&program, &placement, &Requirements::default(), &mut Limits::default());
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
    let why = explore(&[]).expect("accesses are outside kernels");
    assert!(why.contains("no kernel has begun here"), "{why}");
}
