//! The protocols, one directory for each.
//!
//! All code here is pure: no time, no I/O, no randomness. A protocol has messages, one file for
//! each controller, and tables as data. To add a protocol, write its directory and name it in
//! `protocols!` below.

use proto::{Info, Protocol};

pub mod parts;
pub mod registration;

/// A generic function of a protocol, which [`with`] calls for a protocol given by name.
pub trait Visit {
    /// The result of the function.
    type Output;
    /// Calls the function for the protocol `P`.
    fn visit<P: Protocol>(self) -> Self::Output;
}

/// Declares modules of this crate, each with its protocols.
macro_rules! protocols {
    ($($module:ident :: {$($protocol:ident),+ $(,)?}),+ $(,)?) => {
        $(pub mod $module;)+

        /// The descriptions of all protocols.
        pub const ALL: &[Info] = &[$($(<$module::$protocol as Protocol>::INFO),+),+];

        /// Calls a visitor for the protocol called `name`. Returns `None` if no protocol has this
        /// name.
        pub fn with<V: Visit>(name: &str, visit: V) -> Option<V::Output> {
            $($(
                if name == <$module::$protocol as Protocol>::INFO.name {
                    return Some(visit.visit::<$module::$protocol>());
                }
            )+)+
            None
        }
    };
}

protocols! {
    vi::{Vi},
    vi_targeted::{ViTargeted},
    no_l1::{NoL1},
    rsp::{Rsp, RspRepaired},
    hlrc::{Hlrc, HlrcNoprio, HlrcRepaired},
    denovo::{DenovoB, DenovoRprio},
    lease::{Rcc, RccWo, GTsc, GTscRepaired},
    stc::{StcNv, StcNvRepaired, StcEs, StcEsRepaired, StcAb, StcAbRepaired, StcMb, StcMbRepaired},
}
