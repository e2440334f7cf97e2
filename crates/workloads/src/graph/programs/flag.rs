//! The flag by which a kernel tells the host whether to go on.

use kernel::prelude::*;
use kernel::{Accepted, Use};

/// A word that a kernel sets if the host must launch another round of kernels. The host clears it
/// before the kernel and loads it after the kernel. These accesses take simulated time.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Flag(Array<u32>);

impl Flag {
    pub(crate) fn alloc(host: &Host, name: &str) -> Flag {
        Flag(host.alloc(name, 1))
    }

    /// The use of the flag's array that a kernel must declare if it sets the flag.
    pub(crate) fn raised(&self) -> Use {
        self.0.write()
    }

    /// Sets the flag if the wavefront has an active lane.
    #[track_caller]
    pub(crate) fn raise(&self, w: &Wave) -> Accepted {
        w.atomic_store(self.0, 0, 1, relaxed(Level::Device))
    }

    pub(crate) async fn clear(&self, host: &Host) {
        host.store(self.0, 0, 0).await;
    }

    pub(crate) async fn is_raised(&self, host: &Host) -> bool {
        host.load(self.0, 0).await != 0
    }
}
