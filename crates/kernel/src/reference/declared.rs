//! The check that a kernel accesses only the arrays that it declares.

use proto::AccessMode;

use super::RunError;
use crate::Use;
use crate::fault::{Fault, FaultKind, Issuer};
use crate::launch::Launch;
use crate::op::{Action, Posted};
use crate::session::Session;
use crate::wave::Coords;

/// Checks that a kernel's access of global memory is within the uses that the kernel declares, for
/// each active lane.
pub(super) fn check(launch: &Launch, at: &Coords, op: &Posted, session: &Session) -> Result<(), RunError> {
    let (mode, access) = match op.action {
        Action::Load => (AccessMode::Read, "reads"),
        Action::Store => (AccessMode::Write, "writes"),
        _ => (AccessMode::ReadWrite, "updates"),
    };
    let of_array = |used: &&Use| used.array == op.array;
    let is_declared = |lane: usize| {
        let mut uses = launch.declared.iter().filter(of_array);
        uses.any(|used| used.allows(at.work_group, op.addr(lane), mode))
    };
    let Some(lane) = op.exec.iter().find(|&lane| !is_declared(lane)) else { return Ok(()) };
    let arrays = session.arrays();
    let info = usize::from(op.array.0).checked_sub(1).and_then(|index| arrays.get(index));
    let (array, base) = info.map_or((String::new(), 0), |info| (info.name.clone(), info.base.0));
    let index = (op.addr(lane).0 - base) / op.width.bytes() as u64;
    let kind = FaultKind::Undeclared { array, lane, index, access };
    let issuer = Issuer::Wave { kernel: launch.name.clone(), work_group: at.work_group, wave: at.wave };
    Err(RunError::Fault(Box::new(Fault { issuer, kind, site: op.site })))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::prelude::*;
    use crate::reference::{Options, run};

    /// A kernel of two work-groups that copies `from` to `to`. Each element moves by `shift`
    /// places.
    async fn copy(w: Wave, from: Array<u32>, to: Array<u32>, shift: u64) {
        let base = w.first_item();
        let values = w.load(from, Unit((base + shift) % from.len())).await;
        w.store(to, Unit(base), values).await;
    }

    /// The text of the fault that the kernel `copy` makes with these declarations. `None` if it
    /// makes no fault.
    fn fault(shift: u64, uses: fn(Array<u32>, Array<u32>) -> Vec<Use>) -> Option<String> {
        let program = Program::new("copy", move |host| async move {
            let (from, to) = (host.alloc::<u32>("from", 128), host.alloc::<u32>("to", 128));
            let kernel = Kernel::new("copy", move |w| copy(w, from, to, shift)).uses(uses(from, to));
            host.launch(kernel, Grid::new(2, 1)).await;
            Answer::new().with_array("to", &host, to).await
        });
        run(program, &Options { checks_uses: true, ..Options::default() })
            .err()
            .map(|error| error.to_string())
    }

    #[test]
    fn an_access_that_a_kernel_does_not_declare_is_a_fault() {
        assert_eq!(fault(0, |from, to| vec![from.read(), to.write()]), None);
        let missing = fault(0, |_, to| vec![to.write()]).unwrap_or_default();
        assert!(missing.contains("lane 0 reads element 0 of `from`, which the kernel does not"), "{missing}");
        let mode = fault(0, |from, to| vec![from.read(), to.read()]).unwrap_or_default();
        assert!(mode.contains("lane 0 writes element 0 of `to`"), "{mode}");
    }

    #[test]
    fn an_access_outside_the_tile_of_its_work_group_is_a_fault() {
        let tiles =
            |from: Array<u32>, to: Array<u32>| vec![from.read().in_parts(64), to.write().in_parts(64)];
        assert_eq!(fault(0, tiles), None);
        let moved = fault(64, tiles).unwrap_or_default();
        assert!(moved.contains("work-group 0, wavefront 0: lane 0 reads element 64 of `from`"), "{moved}");
        let halo =
            |from: Array<u32>, to: Array<u32>| vec![from.read().in_parts_with_halo(64, 64), to.write()];
        assert_eq!(fault(64, halo), None);
    }

    #[test]
    fn an_atomic_update_needs_a_declaration_of_both_modes() {
        let used = Array::<u32>::new(proto::Addr(64), 4, proto::ArrayId(1)).write();
        assert!(!used.allows(0, proto::Addr(64), AccessMode::ReadWrite));
    }
}
