//! The boundaries of kernels: the order in which the agents (compute units and the command
//! processor) request the acquires and releases of a kernel's beginning and end.
//!
//! A driver (such as the simulator) makes the requests of one step at once or one after the other.
//! It begins the next step when all requests of the step are answered.

use crate::line::{ByteMask, LineAddr, LineData};
use crate::node::Agent;
use crate::request::{ArrayId, Hints, Issuer, KernelId, Op, Order, Request, Scope};

/// A step of the beginning or of the end of a kernel, in which agents make requests.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Boundary {
    /// At the beginning of a kernel, the command processor acquires for the whole GPU.
    BeginMachine,
    /// At the beginning of a kernel, each compute unit acquires.
    BeginCus,
    /// At the end of a kernel, each compute unit releases.
    EndCus,
    /// At the end of a kernel, the command processor releases to the host, for the whole GPU.
    EndMachine,
}

impl Boundary {
    /// The two steps of the beginning of a kernel, in order.
    pub const BEGIN: [Boundary; 2] = [Boundary::BeginMachine, Boundary::BeginCus];
    /// The two steps of the end of a kernel, in order.
    pub const END: [Boundary; 2] = [Boundary::EndCus, Boundary::EndMachine];
    /// The memory order of every request at the beginning or the end of a kernel.
    pub const ORDER: Order = Order::AcqRel;

    /// The agents that make a request in this step of a kernel's beginning or end, on a machine
    /// with `cus` compute units.
    pub fn agents(self, cus: u16) -> impl Iterator<Item = Agent> {
        let cus = match self {
            Boundary::BeginCus | Boundary::EndCus => cus,
            Boundary::BeginMachine | Boundary::EndMachine => 0,
        };
        let machine = (cus == 0).then_some(Agent::CommandProcessor);
        (0..cus).map(Agent::Cu).chain(machine)
    }

    /// The scope of the requests in this step of a kernel's beginning or end. The request of
    /// `EndMachine` has system scope. The request of `BeginMachine` has system scope if the host
    /// has written memory since the previous kernel (`host_has_written`). All other requests have
    /// device scope.
    #[must_use]
    pub const fn scope(self, host_has_written: bool) -> Scope {
        match self {
            Boundary::BeginMachine if host_has_written => Scope::SYSTEM,
            Boundary::BeginMachine | Boundary::BeginCus | Boundary::EndCus => Scope::DEVICE,
            Boundary::EndMachine => Scope::SYSTEM,
        }
    }

    /// The operation of the requests in this step of a kernel's beginning or end: `KernelBegin` or
    /// `KernelEnd`, with the number of the kernel.
    #[must_use]
    pub const fn op(self, kernel: KernelId) -> Op {
        match self {
            Boundary::BeginMachine | Boundary::BeginCus => Op::KernelBegin(kernel),
            Boundary::EndCus | Boundary::EndMachine => Op::KernelEnd(kernel),
        }
    }

    /// The request that each agent makes in this step of a kernel's beginning or end.
    #[must_use]
    pub fn request(self, kernel: KernelId, host_has_written: bool) -> Request {
        Request {
            op: self.op(kernel),
            order: Boundary::ORDER,
            scope: self.scope(host_has_written),
            issuer: Issuer::default(),
            hints: Hints::default(),
            array: ArrayId(0),
            line: LineAddr(0),
            mask: ByteMask::NONE,
            data: LineData::default(),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_kernel_begins_on_the_machine_first_and_ends_there_last() {
        let requested = |steps: [Boundary; 2], written: bool| {
            let requests = steps.into_iter().flat_map(|step| {
                step.agents(2).map(move |agent| (agent, step.request(KernelId(1), written).scope))
            });
            requests.collect::<Vec<_>>()
        };
        let cus = [(Agent::Cu(0), Scope::DEVICE), (Agent::Cu(1), Scope::DEVICE)];
        let machine = |scope| (Agent::CommandProcessor, scope);
        assert_eq!(requested(Boundary::BEGIN, true), [machine(Scope::SYSTEM), cus[0], cus[1]]);
        assert_eq!(requested(Boundary::BEGIN, false), [machine(Scope::DEVICE), cus[0], cus[1]]);
        assert_eq!(requested(Boundary::END, true), [cus[0], cus[1], machine(Scope::SYSTEM)]);
    }
}
