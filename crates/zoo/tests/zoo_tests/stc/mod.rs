//! The STC protocols, on a machine that moves step by step.

mod bench;
mod figure7;
mod turns;
