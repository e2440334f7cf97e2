//! The protocols, one directory for each.
//!
//! All code here is pure: no time, no I/O, no randomness. A protocol has messages, one file for
//! each controller, and tables as data. To add a protocol, write its directory and name it in
//! `protocols!` below.

use proto::{Info, Protocol};

pub mod apu;
pub mod parts;
pub mod registration;

/// A function that is generic over the protocol. [`with`] finds the protocol by its name, and calls
/// the function for this protocol.
pub trait Visit {
    /// The type of the result of `visit`.
    type Output;
    /// Calls the function for the protocol `P`.
    fn visit<P: Protocol>(self) -> Self::Output;
}

/// Declares the module of each protocol, and generates `ALL` and `with` for the protocols of these
/// modules.
macro_rules! protocols {
    ($($module:ident :: {$($protocol:ident),+ $(,)?}),+ $(,)?) => {
        $(pub mod $module;)+

        /// The descriptions of all protocols.
        pub const ALL: &[Info] = &[$($(<$module::$protocol as Protocol>::INFO),+),+];

        /// Calls [`Visit::visit`] for the protocol with this name, and returns the result. Returns
        /// `None` if no protocol has this name.
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
    gpu_vi::{GpuVi},
    stc::{StcNv, StcNvRepaired, StcEs, StcEsRepaired, StcAb, StcAbRepaired, StcMb, StcMbRepaired},
    tc::{TcStrong, TcWeak, TcWeakRepaired},
    lease::{Rcc, RccRepaired, GTsc, GTscRepaired},
    moesi::{Moesi, Rfo},
    wt::{Wt, ApuNoL1},
    quick_release::{QuickRelease, QuickReleaseRepaired, QuickReleaseSplit, QuickReleaseGroups},
}

/// Whether the protocol is a published one that reads stale copies in many programs.
#[must_use]
pub fn reads_stale_copies(name: &str) -> bool {
    let all = [&stc::REFUTED[..], &tc::REFUTED, &lease::REFUTED, &quick_release::REFUTED];
    all.iter().any(|refuted| refuted.contains(&name))
}
