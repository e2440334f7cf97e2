//! Shared parts of protocols with a private cache or port in each compute unit, and banks
//! of a shared cache below.
//!
//! * [`ToBank`] and [`ToL1`] are the messages of all these protocols. A protocol with further
//!   messages wraps these two types in its own enumerations.
//! * [`LowerLevel`] holds the outstanding operations of a compute unit at the banks. [`FirstLevel`]
//!   adds the lines of a first-level cache, and the actions on these lines.
//! * [`ResourceNeeds`] checks whether a register or a way is free for an access.
//! * [`BankLines`] holds the lines of a bank. Below the bank is memory, or another level of caches
//!   ([`NextLevel`]).
//! * `first_lines!` and `first_views!` generate methods that delegate to a [`FirstLevel`].
//! * `protocol!` generates a protocol from its controllers and tables.
//!
//! These parts make no decisions. The decisions are made by the tables and plans of a protocol, and
//! by the conditions that its controllers evaluate.

mod first;
mod lower;
mod msg;
mod needs;
mod protocol;
mod store;

pub use first::{FirstLevel, Operand, performed};
pub(crate) use first::{first_lines, first_views};
pub use lower::{LowerLevel, answer};
pub(crate) use msg::operand_bytes;
pub use msg::{AccessSite, Answer, ToBank, ToL1};
pub use needs::ResourceNeeds;
pub(crate) use protocol::protocol;
pub use store::{
    BackingStore, BankAccess, BankLines, Memory, NextLevel, answer_bytes, forward, passed_on, reply,
};

use proto::issue::IssueRule;
use proto::{Claim, Protocol, Wrap};

/// The index of the first-level caches or ports in the [`Protocol::KINDS`] of a protocol that
/// `protocol!` generates.
pub const FIRST: u8 = 0;
/// The index of the banks in the `Protocol::KINDS` of a protocol that `protocol!` generates.
pub const BANK: u8 = 1;
/// The index of the host's port in the `Protocol::KINDS` of a protocol that `protocol!` generates.
pub const HOST: u8 = 2;

/// The claim that programs without data races are sequentially consistent, at any scope below
/// system scope.
pub const DRF: Claim = Claim {
    model: "drf",
    cores: IssueRule::GPUS,
    widening: true,
    mapping: "each operation becomes a request with its memory order, at any scope below system scope, \
              because these scopes make no difference; programs without data races are sequentially \
              consistent",
};

/// The claim that every program is sequentially consistent on in-order cores.
pub const SC: Claim = Claim {
    model: "sc",
    cores: &[IssueRule::InOrder],
    widening: true,
    mapping: "each operation becomes a request, at any scope; every program that does not run on the host \
              is sequentially consistent, with or without data races",
};

/// The claim that a protocol obeys the memory model of OpenCL.
pub const OPENCL: Claim = Claim {
    model: "opencl",
    cores: IssueRule::GPUS,
    widening: true,
    mapping: "each OpenCL operation becomes a request with its memory order and scope, where \
              memory_scope_all_svm_devices is system scope; a seq_cst access is issued when all earlier \
              accesses are complete",
};

/// The mapping of PTX operations to requests.
macro_rules! from_ptx {
    () => {
        "each PTX operation becomes a request with its memory order and scope, where cta is work-group \
         scope, gpu is device scope and sys is system scope; a weak access becomes a plain access, and \
         fence.sc becomes a seq_cst fence"
    };
}

/// The claim that a protocol obeys the memory model of PTX.
pub const PTX: Claim =
    Claim { model: "ptx-7.5", cores: IssueRule::GPUS, widening: true, mapping: from_ptx!() };

/// The claim that a protocol obeys the memory model of PTX, except for atomics that widen. The
/// protocol flushes caches before an atomic that releases, so the atomic does not release what it
/// acquires itself.
pub const PTX_WITHOUT_WIDENING: Claim = Claim {
    widening: false,
    mapping: concat!(
        from_ptx!(),
        "; an atomic does not both acquire and release at a wider scope than another release of the program"
    ),
    ..PTX
};

/// A protocol whose messages include [`ToBank`], the messages from controllers to banks.
pub trait HasBankMessages: Protocol<Msg: Wrap<ToBank>> {}
impl<P: Protocol<Msg: Wrap<ToBank>>> HasBankMessages for P {}

/// A protocol whose messages include [`ToL1`], the messages from banks to first-level caches or
/// ports.
pub trait HasL1Messages: Protocol<Msg: Wrap<ToL1>> {}
impl<P: Protocol<Msg: Wrap<ToL1>>> HasL1Messages for P {}
