//! Tests of the protocols.
//!
//! All of them are modules of one binary, because each binary is compiled and linked with all
//! protocols.

mod apu;
mod conformance;
mod declared;
mod gpu_vi;
mod moesi;
mod progress;
mod quick_release;
mod stc;
mod table3;
mod tc;
