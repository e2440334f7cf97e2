//! Shared parts of protocols with a private cache or port in each compute unit, and banks
//! of a shared cache below.
//!
//! * [`ToBank`] and [`ToL1`] are the messages of all these protocols. A protocol with
//!   further messages wraps them in its own enumerations.
//! * [`LowerLevel`] holds the outstanding operations of a compute unit at the banks. [`FirstLevel`]
//!   adds the lines of a cache, and the actions on them.
//! * [`BankLines`] holds the lines of a bank over memory or over a [`NextLevel`].
//! * `first_lines!` and `first_views!` generate methods that delegate to a [`FirstLevel`].
//! * `protocol!` generates a protocol from its controllers and tables.
//!
//! These parts make no decisions. The tables, plans and guards of a protocol make them.

mod first;
mod lower;
mod msg;
mod protocol;
mod store;

pub use first::{FirstLevel, Operand, ResourceNeeds, performed};
pub(crate) use first::{first_lines, first_views};
pub use lower::{LowerLevel, answer};
pub(crate) use msg::operand_bytes;
pub use msg::{AccessSite, Answer, ToBank, ToL1};
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

/// The claim of sequential consistency for programs without data races, at any scope
/// below the system.
pub const DRF: Claim = Claim {
    model: "drf",
    cores: IssueRule::GPUS,
    mapping: "each operation as a request of the same order, at any scope below the system, because \
              scopes are ignored; sequential consistency for programs without data races",
};

/// The claim of the memory model of OpenCL.
pub const OPENCL: Claim = Claim {
    model: "opencl",
    cores: IssueRule::GPUS,
    mapping: "each OpenCL operation as a request of the same order and scope: \
              memory_scope_work_group, memory_scope_device, memory_scope_all_svm_devices as system; \
              a seq_cst access is issued when all before it are complete",
};

/// The claim of the memory model of PTX.
pub const PTX: Claim = Claim {
    model: "ptx-7.5",
    cores: IssueRule::GPUS,
    mapping: "each PTX operation as a request of the same order and scope: cta as work_group, gpu as \
              device, sys as system; weak accesses as ordinary ones, fence.sc as a seq_cst fence",
};

/// A protocol with messages from its controllers to banks.
pub trait HasBankMessages: Protocol<Msg: Wrap<ToBank>> {}
impl<P: Protocol<Msg: Wrap<ToBank>>> HasBankMessages for P {}

/// A protocol with messages from banks to first-level caches or ports.
pub trait HasL1Messages: Protocol<Msg: Wrap<ToL1>> {}
impl<P: Protocol<Msg: Wrap<ToL1>>> HasL1Messages for P {}
