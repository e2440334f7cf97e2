//! A toy protocol with epochs (periods of time). A manager begins each epoch: it has a start input,
//! a periodic timer, and a handshake with every gate (the port of a compute unit). A store waits
//! for the next epoch.

#![allow(unreachable_pub, missing_docs, reason = "the macro of the contract writes public items")]

use crate::toys;
use proto::parts::Host;
use proto::{
    Agent, Controller, Cx, Disposition, Info, Input, Key, Kind, Levels, NodeId, Op, Per, PlanKey, Protocol,
    RequestInput, Settings, TimerClass, protocol_nodes,
};

const GATE: u8 = 0;
const MANAGER: u8 = 1;
const HOST: u8 = 2;
/// The key under which inputs are parked (wait) until the next epoch (period of time). When the
/// controller wakes this key, it gets these inputs again.
const EPOCH: Key = Key::Other(0);

/// The levels of the machine, and whether the manager fails to end the handshake (a fault).
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct Params {
    cus: u16,
    forgets: bool,
}

proto::messages! {
    /// A message of the manager to a gate (the port of a compute unit).
    #[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
    pub enum ToGate {
        /// The epoch (period of time) is about to change.
        Prepare [name("ToGate")],
        /// The epoch (period of time) has changed.
        Change [name("ToGate")],
    }
}

proto::messages! {
    /// A message of a gate (the port of a compute unit) to the manager.
    #[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
    pub enum ToManager {
        /// A gate (the port of a compute unit) is ready for the change of the epoch.
        Ready,
    }
}

/// The port of a compute unit: every access is performed in memory.
#[derive(Clone, Debug, Default, PartialEq, Eq, Hash)]
pub struct Gate {
    epoch: bool,
}

/// The stage (index of a plan's step) of a store that waits for the next epoch (period of time). No
/// other stage at a port has this number.
const AWAITS_EPOCH: u8 = u8::MAX;

impl Gate {
    fn request<P: Protocol>(ask: RequestInput<'_>, cx: &mut Cx<'_, P>) -> Disposition {
        match cx.stage {
            0 if ask.req.op == Op::Store => {
                cx.stage = AWAITS_EPOCH;
                return Disposition::Stall(EPOCH);
            }
            AWAITS_EPOCH => cx.stage = 0,
            _ => {}
        }
        Host.step(Input::Request(ask), cx)
    }
}

impl<P: Protocol<Msg: From<ToManager>>> Controller<P> for Gate {
    type Msg = ToGate;

    fn step(&mut self, input: Input<'_, ToGate>, cx: &mut Cx<'_, P>) -> Disposition {
        match input {
            Input::Request(ask) => return Gate::request(ask, cx),
            Input::Message { from, msg: ToGate::Prepare } => cx.fx.send(from, ToManager::Ready),
            Input::Message { msg: ToGate::Change, .. } => {
                self.epoch = !self.epoch;
                cx.fx.wake(EPOCH);
            }
            Input::Memory(reply) => return Host.step(Input::Memory(reply), cx),
            Input::Evict(_) | Input::Timer(_) => return Disposition::Impossible("nobody asked for it"),
            Input::Tick { .. } => {}
        }
        Disposition::Done
    }

    fn is_quiet(&self) -> bool {
        true
    }
}

/// The manager: a controller that begins each epoch (period of time).
#[derive(Clone, Debug, Default, PartialEq, Eq, Hash)]
pub struct Manager {
    /// The number of gates (ports of compute units) that are not yet ready for the change of the
    /// epoch (period of time).
    due: u32,
}

fn tell_gates<P: Protocol<Params = Params, Msg: From<ToGate>>>(msg: ToGate, cx: &mut Cx<'_, P>) {
    (0..cx.world.params.cus).for_each(|index| cx.fx.send(NodeId { kind: GATE, index }, msg));
}

impl<P: Protocol<Params = Params, Msg: From<ToGate>>> Controller<P> for Manager {
    type Msg = ToManager;

    fn start(&mut self, cx: &mut Cx<'_, P>) {
        cx.fx.timer(TimerClass::Epoch);
    }

    fn step(&mut self, input: Input<'_, ToManager>, cx: &mut Cx<'_, P>) -> Disposition {
        match input {
            Input::Timer(TimerClass::Epoch) if self.due == 0 => {
                self.due = u32::from(cx.world.params.cus);
                tell_gates(ToGate::Prepare, cx);
            }
            Input::Message { .. } => {
                cx.count_down(&mut self.due, "nobody was asked");
                if self.due == 0 {
                    cx.fx.timer(TimerClass::Epoch);
                    if !cx.world.params.forgets {
                        tell_gates(ToGate::Change, cx);
                    }
                }
            }
            Input::Tick { .. } => {}
            Input::Request(_) | Input::Memory(_) | Input::Evict(_) | Input::Timer(_) => {
                return Disposition::Impossible("nobody asked for it");
            }
        }
        Disposition::Done
    }

    fn is_quiet(&self) -> bool {
        self.due == 0
    }
}

macro_rules! toy {
    ($module:ident::$toy:ident, forgets: $forgets:literal) => {
        pub mod $module {
            use super::*;

            #[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
            pub struct $toy;

            protocol_nodes! { $toy: Gate(Gate, ToGate), Manager(Manager, ToManager), Host(Host) }

            impl Protocol for $toy {
                type Node = Node;
                type Msg = Msg;
                type Params = Params;
                const INFO: Info = Info {
                    name: "epochs",
                    summary: "stores wait for the next epoch, and everything is in memory",
                    ..toys::INFO
                };
                const KINDS: &'static [Kind] = &[
                    Kind::port("Gate", "l1", Per::Cu),
                    Kind::port("Manager", "manager", Per::Machine),
                    Kind::port("Host", "host", Per::Host),
                ];

                fn params(levels: &Levels, _: &Settings) -> Result<Params, String> {
                    Ok(Params { cus: levels.cus, forgets: $forgets })
                }

                fn node(id: NodeId, _: &Levels, _: &Params) -> Node {
                    match id.kind {
                        GATE => Node::Gate(Gate::default()),
                        MANAGER => Node::Manager(Manager::default()),
                        _ => Node::Host(Host),
                    }
                }

                fn entry(_: &Params, agent: Agent, _: PlanKey) -> NodeId {
                    agent.enters(GATE, HOST)
                }

                toys::no_tables! {}
            }
        }
    };
}

toy! { sound::Epochs, forgets: false }
toy! { forgetful::Forgetful, forgets: true }
