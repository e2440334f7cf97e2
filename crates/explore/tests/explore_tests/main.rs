//! The tests of the explorer. They are one binary, so that the explorer is linked once and long tests
//! run at the same time.
#![allow(unreachable_pub, reason = "the macro of the contract writes public items")]

mod apu;
mod channels;
mod claims;
mod clocks;
mod cores;
mod epochs;
mod findings;
mod gpu_vi;
mod hits;
mod kernels;
mod lease;
mod levels;
mod moesi;
mod one_door;
mod owned;
mod plain;
mod ptx;
mod quick_release;
mod search;
mod stages;
mod stc;
mod stress;
mod stress_faults;
mod tc;
mod toys;
mod traces;
mod waits;
mod walks;
mod ways;
