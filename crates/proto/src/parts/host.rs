//! The port of a host: an in-order processor without caches, which accesses memory at
//! system scope.

use crate::contract::{
    Controller, Cx, Disposition, Input, MemoryAccess, MemoryOp, MemoryTag, NoMessage, Protocol,
};
use crate::line::LineData;
use crate::node::Key;
use crate::request::Op;

/// The host's port to memory. It has no state, because its outstanding requests are parked at its
/// station (the controller with its parked inputs).
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash)]
pub struct Host;

impl<P: Protocol> Controller<P> for Host {
    type Msg = NoMessage;

    fn step(&mut self, input: Input<'_, NoMessage>, cx: &mut Cx<'_, P>) -> Disposition {
        match input {
            Input::Request(ask) if cx.stage == 0 => {
                let (mask, data) = (ask.req.mask, ask.req.data);
                let access = match ask.req.op {
                    Op::Load => MemoryAccess::Read,
                    Op::Store => MemoryAccess::Write { mask, data },
                    Op::Rmw(rmw) => MemoryAccess::Rmw { rmw, mask, data },
                    Op::Fence | Op::KernelBegin(_) | Op::KernelEnd(_) => {
                        cx.fx.accept(ask.slot);
                        return Disposition::Done;
                    }
                };
                cx.fx.uses.bypasses += 1;
                let tag = MemoryTag { node: cx.me, slot: ask.slot, note: 0 };
                cx.fx.memory.push(MemoryOp { line: ask.req.line, access, tag });
                cx.stage = 1;
                Disposition::Stall(Key::Slot(ask.slot))
            }
            Input::Request(ask) => {
                match ask.req.reads() {
                    true => cx.fx.reply(ask.slot, *ask.data),
                    false => cx.fx.accept(ask.slot),
                }
                Disposition::Done
            }
            Input::Memory(reply) => {
                let data = match reply.op.access {
                    MemoryAccess::Write { .. } => LineData::default(),
                    MemoryAccess::Read | MemoryAccess::Rmw { .. } => reply.data,
                };
                cx.fx.resume_with(reply.op.tag.slot, data);
                Disposition::Done
            }
            Input::Message { msg, .. } => match *msg {},
            Input::Evict(_) => Disposition::Impossible("the host's port holds no lines"),
            Input::Timer(_) => Disposition::Impossible("the host's port arms no timer"),
            Input::Tick { .. } => Disposition::Done,
        }
    }

    fn is_quiet(&self) -> bool {
        true
    }
}
