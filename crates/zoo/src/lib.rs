//! The protocols, one directory each.
//!
//! Everything here is pure: no time, no I/O, no randomness. A protocol is its
//! messages, one file a controller, and tables that are data. To add one, write
//! its directory and name it in `protocols!` below.

use proto::{Info, Protocol};

pub mod denovo;
pub mod hlrc;
pub mod no_l1;
pub mod parts;
pub mod registration;
pub mod rsp;
pub mod vi;
pub mod vi_targeted;

/// Something that is done with a protocol chosen by name.
pub trait Visit {
    /// What comes out.
    type Output;
    /// Does it.
    fn visit<P: Protocol>(self) -> Self::Output;
}

macro_rules! protocols {
    ($($protocol:ty),+ $(,)?) => {
        /// What all protocols say of themselves.
        pub const ALL: &[Info] = &[$(<$protocol as Protocol>::INFO),+];

        /// Does something with the protocol of that name; `None` if there is none.
        pub fn with<V: Visit>(name: &str, visit: V) -> Option<V::Output> {
            $(
                if name == <$protocol as Protocol>::INFO.name {
                    return Some(visit.visit::<$protocol>());
                }
            )+
            None
        }
    };
}

protocols! {
    vi::Vi,
    vi_targeted::ViTargeted,
    no_l1::NoL1,
    rsp::Rsp,
    rsp::RspRepaired,
    hlrc::Hlrc,
    hlrc::HlrcNoprio,
    hlrc::HlrcRepaired,
    denovo::DenovoB,
    denovo::DenovoRprio,
}
