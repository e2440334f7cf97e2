//! What is run on a machine: programs, each with a host reference.
//!
//! A workload is a name, its settings and a function that makes an
//! [`Instance`]: a program written against `kernel`, and the check of its
//! answer. Nothing here knows a protocol or a time. [`all`] lists them.
//!
//! To add one, see the guide below; its code is compiled and run as a test.
#![doc = include_str!("../../../docs/add-a-workload.md")]

pub mod data;
pub mod graph;
pub mod nearest;
pub mod stealing;
pub mod tasks;

mod diagnosis;
mod histogram;
mod host_flag;
mod instance;
mod locks;
mod messages;
mod pagerank;
mod policy;
mod races;
mod reduce;
mod settings;
mod stencil;
mod stress;
mod vectors;
mod words;

pub use instance::{Instance, NamedInput, Purpose, Workload, all, find, grid_over};
pub use settings::{BadSetting, Kind, Setting, Settings};
pub use words::{counted, plural};
