//! The protocols, by name, in the forms that the explorer and the simulator run.
//!
//! The code of the explorer, of the random tester and of the simulator that depends on the type of
//! a protocol is generated for every protocol in this crate, and in no other library. So one more
//! protocol costs one compilation of this code, and the compiler does not generate the code again
//! for the unit tests of the crates that use it.
//!
//! **Use it** to run a protocol of which only the name is known.
//!
//! **Do not** use it for a protocol of which the type is known: [`explore::Subject::of`] and
//! [`sim::Subject::of`] accept every type of protocol, also one that is not registered.

mod explored;
mod timed;

pub use explored::explored;
pub use timed::timed;
