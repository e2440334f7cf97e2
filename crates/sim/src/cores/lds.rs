//! Local memory: its contents after an access, and the number of turns that the access takes at the
//! banks.

use kernel::{Action, Addressing, Posted};

use crate::cores::coalesce::bank_turns;

/// The number of turns that the banks of local memory need for an access. Lanes that access the
/// same bank take turns.
pub(super) fn turns(op: &Posted, banks: u32) -> u32 {
    let words = op.width.bytes().div_ceil(4) as u32;
    match op.addressing {
        Addressing::None | Addressing::Single(_) => words.div_ceil(banks).max(1),
        // Consecutive words lie in consecutive banks, so one turn serves as many words as there are
        // banks.
        Addressing::Unit(_) if op.width.bytes() >= 4 => (op.exec.count() * words).div_ceil(banks),
        Addressing::Unit(_) | Addressing::Gather => {
            let offsets = core::array::from_fn(|lane| op.addr(lane).0);
            let shares = matches!(op.action, Action::Load);
            bank_turns(&offsets, op.exec.0, op.width, banks, shares)
        }
    }
}

/// Performs an access to local memory, lane by lane from the lowest. Returns true if a byte
/// changed.
pub(super) fn perform(op: &mut Posted, lds: &mut [u8]) -> bool {
    let mut changed = false;
    let bytes = op.width.bytes();
    for lane in op.exec.iter() {
        let at = op.addr(lane).0 as usize;
        // An access beyond the end has no effect. It is never made, because the handle of the array
        // checks indices.
        let Some(place) = lds.get_mut(at..at + bytes) else { continue };
        let mut word = [0u8; 8];
        word[..bytes].copy_from_slice(place);
        let old = u64::from_le_bytes(word);
        let new = match op.action {
            Action::Store => op.value(lane),
            Action::Rmw { .. } => op.rmw(lane).map_or(old, |rmw| rmw.apply(old, op.value(lane))),
            _ => old,
        };
        if new != old {
            changed = true;
            place.copy_from_slice(&new.to_le_bytes()[..bytes]);
        }
        if !matches!(op.action, Action::Store) {
            op.set_value(lane, old);
        }
    }
    changed
}
