//! What the tests of the HRF family share: programs made at random, and the
//! definitions of the paper applied word by word to every linearisation.

#![allow(dead_code, missing_docs, unreachable_pub)]

pub mod oracle;
pub mod random;
