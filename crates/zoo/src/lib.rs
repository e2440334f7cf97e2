//! The protocols, one directory each.
//!
//! Everything here is pure: no time, no I/O, no randomness. A protocol is its
//! messages, one file a controller, and tables that are data. To add one, write
//! its directory and name it in `protocols!` below.

use proto::{Info, Protocol};

pub mod parts;
pub mod registration;

/// Something that is done with a protocol chosen by name.
pub trait Visit {
    /// What comes out.
    type Output;
    /// Does it.
    fn visit<P: Protocol>(self) -> Self::Output;
}

/// Each line names a module of this crate and the protocols that it holds.
macro_rules! protocols {
    ($($module:ident :: {$($protocol:ident),+ $(,)?}),+ $(,)?) => {
        $(pub mod $module;)+

        /// What all protocols say of themselves.
        pub const ALL: &[Info] = &[$($(<$module::$protocol as Protocol>::INFO),+),+];

        /// Does something with the protocol of that name; `None` if there is none.
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
}
