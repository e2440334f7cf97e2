//! The STC protocols, on a machine that moves step by step and against Table 1 of the paper.

mod bench;
mod figure7;
mod lazy;
mod table1;
mod turns;
